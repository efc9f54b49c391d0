"""PAM's medoids on small real data that is part of the repository: the tests of correctness that run everywhere."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

import data
import oracle
from medoids import k_medoids

# Data, metric and number of medoids.
PROBLEMS = {
    "letter": ("l2", 8),
    "pbmc": ("l1", 5),
    "sparse": ("l1", 5),
    "words": ("levenshtein", 6),
    "table": ("gower", 4),
}


@cache
def problem(name: str) -> tuple[Any, np.ndarray]:
    """Return the data, and their distances as scipy, rapidfuzz or plain arithmetic gives them."""
    if name == "letter":
        X = np.load(data.FIXTURES / "letter.npz")["X"].astype(float)
        return X, cdist(X, X)
    if name in ("pbmc", "sparse"):
        X = scipy.sparse.load_npz(data.FIXTURES / "pbmc.npz")
        dense = X.toarray().astype(float)
        return X if name == "sparse" else dense, cdist(dense, dense, "cityblock")
    if name == "words":
        process = pytest.importorskip("rapidfuzz.process")
        distance = pytest.importorskip("rapidfuzz.distance").Levenshtein.distance
        words = (data.FIXTURES / "words.txt").read_text(encoding="utf-8").split()
        return words, process.cdist(words, words, scorer=distance).astype(float)
    frame = pd.read_csv(data.FIXTURES / "covertype.csv")
    total = np.zeros((len(frame), len(frame)))
    for column in frame:
        values = frame[column].to_numpy()
        if values.dtype.kind in "iuf":
            total += np.abs(values[:, None] - values) / (values.max() - values.min())
        else:
            total += values[:, None] != values
    return frame, total / frame.shape[1]


@cache
def pam(name: str) -> list[int]:
    return oracle.pam_by_columns(problem(name)[1], PROBLEMS[name][1])


@pytest.mark.parametrize("algorithm", ["fastpam1", "pairedpam", "banditpam++", "auto"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_medoids_are_those_of_pam(name: str, algorithm: str) -> None:
    (X, D), (metric, k) = problem(name), PROBLEMS[name]
    found = k_medoids(X, k, metric=metric, algorithm=algorithm, random_state=0)
    assert found.medoid_indices.tolist() == pam(name)
    assert found.inertia == pytest.approx(D[pam(name)].min(axis=0).sum(), rel=1e-9)


@pytest.mark.parametrize("name", ["pbmc", "table"])
def test_the_textbook_algorithm_agrees(name: str) -> None:
    metric, k = PROBLEMS[name]
    assert k_medoids(problem(name)[0], k, metric=metric, algorithm="pam").medoid_indices.tolist() == pam(name)


def test_the_fixtures_are_small() -> None:
    assert sum(file.stat().st_size for file in data.FIXTURES.iterdir()) < 300_000
