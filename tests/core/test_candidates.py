"""Rows that may become medoids: no algorithm and no start takes another, and all rows count in the loss."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import oracle
from everything import ANY_METRIC
from medoids import KMedoids, certify, k_medoids, k_path
from medoids.algorithms import ALGORITHMS
from medoids.core.problem import Solution
from medoids.pipeline import prepare
from medoids.settings import Settings

INITS = ["build", "lab", "random", "k-medoids++"]
PAMS = ["pam", "fastpam1", "pairedpam", "banditpam", "banditpam+va", "banditpam+pic", "banditpam++"]
# These end where no single swap helps; the others need not.
LOCAL = [*PAMS, "fastpam", "fasterpam", "eager"]


def solve(X: Any, k: int, allowed: np.ndarray, algorithm: str, **keywords: Any) -> Solution:
    swap = "eager" if algorithm == "eager" else "best"
    algorithm = "pairedpam" if algorithm == "eager" else algorithm
    settings = Settings(algorithm=algorithm, swap=swap, random_state=0, **keywords)
    weights = keywords.pop("sample_weight", None)
    with prepare(X, k, weights, settings) as (problem, run):
        return ALGORITHMS[algorithm](replace(problem, allowed=allowed), run)


def table(n: int, gaps: float, seed: int = 0) -> pd.DataFrame:
    """Three groups of rows; a share of them lacks one column."""
    random = np.random.default_rng(seed)
    group = random.integers(3, size=n)
    frame = pd.DataFrame({
        "size": 3.0 * group + random.normal(size=n),
        "colour": np.array(["red", "green", "blue"], dtype=object)[np.where(random.random(n) < 0.8, group, 0)],
        "age": 20.0 * group + 10 * random.normal(size=n),
    })  # fmt: skip
    frame.loc[random.random(n) < gaps, "age"] = np.nan
    return frame


# --- the mask ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "eager"])
def test_every_algorithm_takes_candidates_alone(algorithm: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    X, allowed = random.normal(size=(70, 2)), random.random(70) < 0.3
    D = cdist(X, X)
    found = solve(X, 4, allowed, algorithm).assignment
    assert allowed[found.medoids].all()
    assert found.loss == pytest.approx(D[found.medoids].min(axis=0).sum())
    if algorithm in PAMS:
        # As a medoid a row that is no candidate is too far from everything to be chosen.
        far = np.where(allowed[:, None], D, 1e3)
        assert sorted(found.medoids) == sorted(oracle.pam(far, 4)[0])
    if algorithm in LOCAL:
        for slot, i in itertools.product(range(4), np.flatnonzero(allowed)):
            other = [*found.medoids[:slot], int(i), *found.medoids[slot + 1 :]]
            assert D[other].min(axis=0).sum() >= found.loss - 1e-9


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("algorithm", ["fastpam1", "pairedpam", "banditpam++", "clara", "clarans"])
def test_every_start_takes_candidates_alone(algorithm: str, init: str) -> None:
    random = np.random.default_rng(4)
    X, allowed = random.normal(size=(90, 2)), random.random(90) < 0.2
    assert allowed[solve(X, 5, allowed, algorithm, init=init, max_iter=0).assignment.medoids].all()
    assert allowed[solve(X, 5, allowed, algorithm, init=init).assignment.medoids].all()


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "eager"])
def test_as_many_candidates_as_medoids(algorithm: str, init: str) -> None:
    # There is one answer, however good a swap with another row would be; and copies of them leave nothing to gain.
    X = np.random.default_rng(5).normal(size=(40, 2))
    X[30:] = X[:10]
    allowed = np.isin(np.arange(40), [3, 17, 31])
    found = solve(X, 3, allowed, algorithm, init=init)
    assert sorted(found.assignment.medoids) == [3, 17, 31]
    assert found.converged


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.005, 0.5])
@pytest.mark.parametrize("memory_limit", ["100kB", "2GiB"])
def test_candidates_among_many_points(memory_limit: str, share: float) -> None:
    # In several levels, in single precision; and without memory for the first of them.
    random = np.random.default_rng(8)
    X, allowed = random.normal(size=(3500, 3)), random.random(3500) < share
    expected = solve(X, 5, allowed, "fastpam1").assignment
    far = np.where(allowed[:, None], cdist(X, X), 1e3)
    assert sorted(expected.medoids) == sorted(oracle.pam_by_columns(far, 5))
    for algorithm in ("pairedpam", "banditpam++"):
        found = solve(X, 5, allowed, algorithm, memory_limit=memory_limit).assignment
        assert sorted(found.medoids) == sorted(expected.medoids)
    eager = solve(X, 5, allowed, "eager", memory_limit=memory_limit).assignment
    assert allowed[eager.medoids].all()


@pytest.mark.parametrize("memory_limit", [1, "2GiB"])
def test_rows_of_weight_zero_are_no_candidates(memory_limit: Any) -> None:
    random = np.random.default_rng(6)
    X, allowed = random.normal(size=(60, 2)), random.random(60) < 0.4
    weights = np.where(random.random(60) < 0.3, 0.0, 1.0)
    D = cdist(X, X)
    far = np.where((allowed & (weights > 0))[:, None], D, 1e3)
    expected = sorted(oracle.pam(far, 3, weights)[0])
    for algorithm in ("fastpam1", "pairedpam"):
        if algorithm == "pairedpam" or memory_limit != 1:
            settings = Settings(algorithm=algorithm, memory_limit=memory_limit, random_state=0)
            with prepare(X, 3, weights, settings) as (problem, run):
                found = ALGORITHMS[algorithm](replace(problem, allowed=allowed & (weights > 0)), run)
                assert sorted(found.assignment.medoids) == expected


# --- rows with gaps under gower ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["auto", *ANY_METRIC])
def test_rows_with_gaps_are_no_candidates(algorithm: str) -> None:
    frame = table(300, gaps=0.03)
    gap = frame["age"].isna().to_numpy()
    assert 3 < gap.sum() < 20
    keywords = {"metric": "gower", "algorithm": algorithm, "random_state": 0}
    found = k_medoids(frame, 6, **keywords)
    assert not gap[found.medoid_indices].any()
    assert len(found.labels) == 300
    everyone = k_medoids(frame, 6, candidates="all", **keywords)
    if algorithm in PAMS:
        # What is missing costs nothing: incomplete rows, one in thirty, are taken for most medoids.
        assert gap[everyone.medoid_indices].mean() > 0.5
        assert everyone.inertia < found.inertia


def test_fewer_complete_rows_than_medoids_leave_all_rows() -> None:
    frame = table(40, gaps=0.0)
    frame.loc[4:, "age"] = None
    assert (k_medoids(frame, 4, metric="gower").medoid_indices < 4).all()
    five = k_medoids(frame, 5, metric="gower")
    assert five.medoid_indices.tolist() == k_medoids(frame, 5, metric="gower", candidates="all").medoid_indices.tolist()
    assert (five.medoid_indices >= 4).any()
    weights = np.ones(40)
    weights[0] = 0  # which leaves three complete rows
    four = k_medoids(frame, 4, metric="gower", sample_weight=weights)
    assert (four.medoid_indices >= 4).any()


def test_only_gaps_that_count_make_a_row_incomplete() -> None:
    # A column of weight 0 or without any value says nothing of a row.
    frame = table(60, gaps=0.0)
    frame["nothing"], frame["note"] = None, None
    frame.loc[5:, "note"] = "x"
    keywords = {"metric": "gower", "metric_params": {"weights": {"note": 0}}}
    found, everyone = k_medoids(frame, 3, **keywords), k_medoids(frame, 3, candidates="all", **keywords)
    assert found.medoid_indices.tolist() == everyone.medoid_indices.tolist()
    assert (k_medoids(frame, 3, metric="gower").medoid_indices >= 5).all()


def test_named_rows_are_candidates() -> None:
    frame = table(80, gaps=0.1)
    gap = np.flatnonzero(frame["age"].isna())
    kept = k_medoids(frame, 3, metric="gower", frozen_medoids=[gap[0]])
    assert gap[0] in kept.medoid_indices
    assert len(np.intersect1d(gap, kept.medoid_indices)) == 1
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        started = k_medoids(frame, 3, metric="gower", init=gap[:3], max_iter=0, algorithm="fasterpam")
    assert sorted(started.medoid_indices) == sorted(gap[:3])
    # Of the rows with gaps a fit may keep those it began with, and takes no other.
    found = k_medoids(frame, 3, metric="gower", init=gap[:3])
    assert set(found.medoid_indices) & set(gap.tolist()) <= set(gap[:3].tolist())


def test_a_certificate_is_about_the_candidates() -> None:
    frame = table(120, gaps=0.05)
    found = k_medoids(frame, 3, metric="gower")
    certificate = certify(frame, found.medoid_indices, metric="gower")
    assert certificate.swap is None
    everyone = certify(frame, found.medoid_indices, metric="gower", candidates="all")
    assert everyone.swap is not None
    assert np.isnan(frame["age"].iloc[everyone.swap[1]])
    assert everyone.lower_bound < certificate.lower_bound


def test_a_path_takes_candidates_alone_on_halves_of_the_data_too() -> None:
    frame = table(60, gaps=0.7)
    gap = frame["age"].isna().to_numpy()
    ks = range(2, int((~gap).sum()) // 2 + 4)
    path = k_path(frame, ks, metric="gower", random_state=0)
    for found in path.clusterings.values():
        assert not gap[found.medoid_indices].any()
    assert all(-0.5 <= path.stability[k] <= 1 for k in ks if k <= 30)
    everyone = k_path(frame, ks, metric="gower", candidates="all", random_state=0)
    assert gap[everyone.clusterings[2].medoid_indices].any()


def test_the_estimator_and_its_choice_of_k() -> None:
    frame = table(90, gaps=0.1)
    gap = frame["age"].isna().to_numpy()
    model = KMedoids("auto", metric="gower").fit(frame)
    assert not gap[model.medoid_indices_].any()
    other = KMedoids(3, metric="gower", candidates="all").fit(frame)
    assert gap[other.medoid_indices_].any()
    assert other.get_params()["candidates"] == "all"


@pytest.mark.parametrize("candidates", ["some", "", 3, [0.5, 1.0], True, [[0, 1]]])
def test_other_values_are_refused(candidates: Any) -> None:
    for metric in ("euclidean", "gower"):
        with pytest.raises(ValueError, match=r"candidates=.* is unknown; it must be None .*, 'all' .*, or a 1-D array"):
            k_medoids(np.eye(5), 2, metric=metric, candidates=candidates)


def test_a_checkpoint_of_other_candidates_is_refused(tmp_path: Path) -> None:
    frame, file = table(60, gaps=0.1), tmp_path / "state"
    first = k_medoids(frame, 3, metric="gower", checkpoint=file, random_state=0)
    with pytest.raises(ValueError, match="candidates"):
        k_medoids(frame, 3, metric="gower", candidates="all", checkpoint=file, resume=True, random_state=0)
    again = k_medoids(frame, 3, metric="gower", checkpoint=file, resume=True, random_state=0)
    assert again.medoid_indices.tolist() == first.medoid_indices.tolist()


def test_other_metrics_have_no_gaps() -> None:
    X = np.random.default_rng(7).normal(size=(50, 3))
    found, everyone = k_medoids(X, 4), k_medoids(X, 4, candidates="all")
    assert found.medoid_indices.tolist() == everyone.medoid_indices.tolist()
