"""Candidates that are named, and rectangular matrices of candidates and points, against plain loops and brute force."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import oracle
from medoids import KMedoids, certify, k_medoids, k_path, report
from medoids.algorithms import ALGORITHMS
from medoids.settings import RECTANGULAR
from pmedian import draw

RANDOM = np.random.default_rng(0)
X, WEIGHTS = RANDOM.normal(size=(60, 2)), RANDOM.integers(0, 3, 60).astype(float)
NAMED = np.flatnonzero(RANDOM.random(60) < 0.4)
D = cdist(X, X)
# The oracle takes no row without weight.
LITTLE = 1e-9
PAMS = ("auto", "pam", "fastpam1", "pairedpam")


def test_some_named_rows_have_no_weight() -> None:
    assert (WEIGHTS[NAMED] == 0).sum() > 3


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_named_rows_alone_become_medoids_also_without_weight(algorithm: str) -> None:
    keywords: dict[str, Any] = {"algorithm": algorithm, "random_state": 0, "sample_weight": WEIGHTS}
    found = k_medoids(X, 4, candidates=NAMED, **keywords)
    assert set(found.medoid_indices.tolist()) <= set(NAMED.tolist())
    assert found.inertia == pytest.approx(WEIGHTS @ D[found.medoid_indices].min(axis=0))
    if algorithm in PAMS:
        # As a medoid a row that is no candidate is too far from everything to be chosen.
        far = np.where(np.isin(np.arange(60), NAMED)[:, None], D, 1e3)
        assert sorted(found.medoid_indices.tolist()) == sorted(oracle.pam(far, 4, np.maximum(WEIGHTS, LITTLE))[0])
    if algorithm == "optimal":
        assert found.proved
        best = min(WEIGHTS @ D[list(chosen)].min(axis=0) for chosen in combinations(NAMED.tolist(), 4))
        assert found.inertia == pytest.approx(best)


def test_a_site_without_demand_is_chosen_only_if_it_is_named() -> None:
    rows, weights = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 0.0, 1.0])
    assert k_medoids(rows, 1, sample_weight=weights).medoid_indices.tolist() == [0]
    found = k_medoids(rows, 1, sample_weight=weights, candidates=[1])
    assert (found.medoid_indices.tolist(), found.inertia) == ([1], 2.0)
    assert certify(found, rows).swap is None
    assert KMedoids(1, init=[1], candidates=[1, 2]).fit(rows, sample_weight=weights).medoid_indices_.tolist() == [1]


def test_what_cannot_be_named() -> None:
    for candidates, message in [
        ([60], r"candidates\[0\]=60 is not a row of X, which has rows 0 to 59"),
        ([3, 3], "candidates repeats row 3; candidates must be different rows"),
        ([1, 2], "n_clusters=3 is more than the number of candidates, 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            k_medoids(X, 3, candidates=candidates)


def test_a_path_takes_named_rows() -> None:
    path = k_path(X, range(2, 5), candidates=NAMED)
    for found in path.clusterings.values():
        assert set(found.medoid_indices.tolist()) <= set(NAMED.tolist())


# --- a rectangular matrix ------------------------------------------------------------------------------------------

WIDE, TALL = cdist(X[:25], X), cdist(X, X[:25])


def square_of(matrix: np.ndarray) -> np.ndarray:
    """The same problem as a square matrix: rows and points are objects, and only rows are near enough to be medoids."""
    m, n = matrix.shape
    whole = np.full((m + n, m + n), 1e6)
    whole[:m, :m], whole[:m, m:] = 0, matrix
    return whole


@pytest.mark.parametrize("algorithm", RECTANGULAR)
@pytest.mark.parametrize("matrix", [WIDE, TALL], ids=["wide", "tall"])
@pytest.mark.parametrize("restarts", [0, 5])
def test_a_rectangular_matrix(algorithm: str, matrix: np.ndarray, restarts: int) -> None:
    m, n = matrix.shape
    weights = np.arange(1.0, n + 1)
    keywords: dict[str, Any] = {"metric": "precomputed", "algorithm": algorithm, "n_restarts": restarts}
    found = k_medoids(matrix, 4, sample_weight=weights, random_state=0, **keywords)
    assert found.labels.shape == found.distances.shape == (n,)
    near = matrix[found.medoid_indices]
    assert found.labels.tolist() == near.argmin(axis=0).tolist()
    assert found.inertia == pytest.approx(weights @ near.min(axis=0))
    if algorithm in PAMS and not restarts:
        whole = np.concatenate([np.full(m, LITTLE), weights])
        assert found.medoid_indices.tolist() == oracle.pam(square_of(matrix), 4, whole)[0]
    best = certify(found, matrix)
    assert best.swap is None
    assert best.lower_bound <= found.loss
    assert not found.to_frame()["is_medoid"].any()


@pytest.mark.parametrize("init", ["random", "k-medoids++", "lab", [3, 1, 20, 7]])
def test_all_starts_of_a_rectangular_matrix(init: Any) -> None:
    found = k_medoids(WIDE, 4, metric="precomputed", init=init, frozen_medoids=[3], random_state=0)
    assert 3 in found.medoid_indices
    assert certify(found, WIDE).swap is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:number of distinct medoids")
def test_the_optimum_of_300_random_problems() -> None:
    tried = 0
    for number in range(300):
        small = draw(number)
        weights = np.ones(small.D.shape[1]) if small.weights is None else small.weights
        if small.D.shape[0] == small.D.shape[1] and not (weights > 0).all():
            continue  # where rows are points, those of weight 0 are no candidates: see tests/algorithms/test_optimal.py
        named = None if small.allowed is None else np.flatnonzero(small.allowed)
        found = k_medoids(
            small.D,
            small.k,
            sample_weight=small.weights,
            metric="precomputed",
            algorithm="optimal",
            candidates=named,
            frozen_medoids=small.frozen or None,
            random_state=0,
        )
        best = small.optimum()
        assert found.inertia == pytest.approx(best, rel=1e-9, abs=1e-12), number
        assert found.lower_bound is not None
        assert found.lower_bound * weights.sum() <= best + 1e-12, number
        assert found.proved
        tried += 1
    assert tried > 200


def test_predict_takes_distances_from_all_candidates() -> None:
    model = KMedoids(3, metric="precomputed").fit(WIDE)
    assert model.labels_.shape == (60,)
    queries = cdist(np.array([[0.0, 0.0], [3.0, 3.0]]), X[:25])
    assert model.predict(queries).tolist() == queries[:, model.medoid_indices_].argmin(axis=1).tolist()
    np.testing.assert_array_equal(model.predict(WIDE.T), model.labels_)
    with pytest.raises(ValueError, match="60 features"):
        model.predict(WIDE)


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - set(RECTANGULAR)))
def test_algorithms_whose_medoids_are_points_refuse_it(algorithm: str) -> None:
    with pytest.raises(ValueError, match=r"25 x 60 matrix .* which algorithm='.*' does not take"):
        k_medoids(WIDE, 3, metric="precomputed", algorithm=algorithm)


def test_what_a_rectangular_matrix_cannot_do(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="25 candidates and 60 points, for which the number of clusters must be given"):
        k_path(WIDE, range(2, 4), metric="precomputed")
    with pytest.raises(ValueError, match="sample_weight has 25 entries, but X has 60 columns"):
        k_medoids(WIDE, 3, metric="precomputed", sample_weight=np.ones(25))
    found = k_medoids(WIDE, 3, metric="precomputed")
    with pytest.raises(ValueError, match="distances among the points are needed"):
        report(found, WIDE, tmp_path / "r.html")


def test_a_fit_of_a_rectangular_matrix_resumes(tmp_path: Any) -> None:
    keywords: dict[str, Any] = {"metric": "precomputed", "checkpoint": tmp_path / "fit", "random_state": 0}

    def stop(step: Any) -> None:
        if step.phase == "swap" or len(seen) == 3:
            raise KeyboardInterrupt
        seen.append(step)

    for algorithm in ("pairedpam", "optimal"):
        seen: list[Any] = []
        (tmp_path / "fit").unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            k_medoids(WIDE, 4, algorithm=algorithm, callback=stop, **keywords)
        found = k_medoids(WIDE, 4, algorithm=algorithm, resume=True, **keywords)
        plain = k_medoids(WIDE, 4, algorithm=algorithm, metric="precomputed", random_state=0)
        assert found.inertia == plain.inertia
