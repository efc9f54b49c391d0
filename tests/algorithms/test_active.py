"""Active k-medoids: PAM's own steps, from fewer distances, each asked for once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import oracle
from medoids import k_medoids

RANDOM = np.random.default_rng(0)
CENTRES = RANDOM.uniform(0, 30, (6, 2))
X = RANDOM.permutation(np.concatenate([RANDOM.normal(centre, 1, (50, 2)) for centre in CENTRES]))
WORDS = (Path(__file__).parents[1] / "fixtures" / "words.txt").read_text().split()


class Counting:
    """The manhattan distance, which counts its calls."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, ...]] = []

    def __call__(self, a: Any, b: Any) -> float:
        self.pairs.append(tuple(sorted((tuple(a), tuple(b)))))
        return float(np.abs(a - b).sum())


def steps(found: Any) -> list[Any]:
    return [(step.phase, step.medoid_in, step.medoid_out) for step in found.trace]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"init": [0, 1, 2, 3, 4, 5]},
        {"frozen_medoids": [7, 9]},
        {"sample_weight": np.arange(300.0) % 4},
        {"init": "k-medoids++", "n_init": 2, "random_state": 1},
        {"candidates": np.arange(0, 300, 3)},
    ],
    ids=["build", "rows", "frozen", "weights", "starts", "candidates"],
)
def test_its_steps_are_pams_from_fewer_distances(metric: str, keywords: dict[str, Any]) -> None:
    exact, found = (k_medoids(X, 6, metric=metric, algorithm=name, **keywords) for name in ("fastpam1", "active"))
    assert steps(found) == steps(exact)
    assert found.medoid_indices.tolist() == exact.medoid_indices.tolist()
    assert found.labels.tolist() == exact.labels.tolist()
    assert found.loss == pytest.approx(exact.loss, rel=1e-12)
    assert (found.n_swaps, found.converged) == (exact.n_swaps, True)
    assert found.n_evaluations < 0.7 * 300 * 299 / 2


def test_against_the_plain_loop_oracle() -> None:
    for seed in range(8):
        rows = np.random.default_rng(seed).integers(0, 6, (25, 2)).astype(float)  # with many ties
        D = cdist(rows, rows, "cityblock")
        found = k_medoids(rows, 4, metric="manhattan", algorithm="active")
        assert (found.medoid_indices.tolist(), found.n_swaps) == oracle.pam(D, 4)


def test_words_take_fewer_edit_distances_than_a_matrix() -> None:
    words = WORDS[:200]
    exact, found = (k_medoids(words, 10, metric="levenshtein", algorithm=name) for name in ("fastpam1", "active"))
    assert found.medoid_indices.tolist() == exact.medoid_indices.tolist()
    assert steps(found) == steps(exact)
    assert found.n_evaluations < 200 * 199 / 2 <= exact.n_evaluations


def test_no_pair_is_asked_for_twice() -> None:
    metric = Counting()
    promise = {"symmetric": True, "triangle": True}
    found = k_medoids(X, 6, metric=metric, metric_params=promise, algorithm="active", memory_limit="1MB")
    assert len(metric.pairs) == len(set(metric.pairs)) == found.n_evaluations
    assert found.medoid_indices.tolist() == k_medoids(X, 6, metric="manhattan", algorithm="pam").medoid_indices.tolist()


@pytest.mark.parametrize(
    "metric", ["cosine", "sqeuclidean", "dtw", "normalized_levenshtein", "precomputed", Counting()]
)
def test_other_metrics_are_refused(metric: Any) -> None:
    rows: Any = cdist(X, X) if metric == "precomputed" else WORDS[:20] if "lev" in str(metric) else X
    with pytest.raises(ValueError, match="triangle inequality, which this metric is not known to satisfy; use 'euclid"):
        k_medoids(rows, 3, metric=metric, algorithm="active")


def test_a_budget_ends_it_with_a_proof() -> None:
    """The best of all swaps, by brute force, gains at most what is proved, and that is less than the loss."""
    D = cdist(X, X)
    free = k_medoids(X, 6, algorithm="active", init=np.arange(6))
    known = 0
    for share in (0.5, 0.7, 0.9, 0.95):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            budget = int(share * free.n_evaluations)
            found = k_medoids(X, 6, algorithm="active", init=np.arange(6), max_evaluations=budget)
        assert found.n_evaluations <= budget
        if found.outlook is None:
            continue
        known += 1
        medoids = found.medoid_indices
        after = [
            np.minimum(D, D[np.delete(medoids, slot)].min(axis=0)).sum(axis=1).min() for slot in range(len(medoids))
        ]
        assert found.loss - min(after) / 300 <= found.outlook.gain + 1e-9 < found.loss
        assert found.outlook.certain
        assert "it is proved that no single swap lowers the loss by more than" in str(caught[-1].message)
    assert known >= 2


def test_the_table_of_bounds_must_fit_into_memory() -> None:
    with pytest.raises(ValueError, match=r"algorithm='active' needs the 300 x 300 .* more than memory_limit"):
        k_medoids(X, 3, algorithm="active", memory_limit="100KB")
