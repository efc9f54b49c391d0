"""Exact sums over distances that are computed as they are needed, beside those over a matrix."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from medoids import k_medoids
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.distances import Budgeted, Tally, dissimilarity
from medoids.engine.threads import Threads
from medoids.exact.computed import ComputedRows, ComputedSums, computes

NAMES = {"euclidean": "euclidean", "manhattan": "cityblock", "sqeuclidean": "sqeuclidean"}


def problem_of(X: np.ndarray, k: int = 4, metric: str = "euclidean", weights: np.ndarray | None = None) -> Problem:
    return Problem(dissimilarity(X, metric), np.ones(len(X)) if weights is None else weights, k, "build", 300, 2**31)


def tables() -> dict[str, np.ndarray]:
    random = np.random.RandomState(0)
    return {
        "clusters": random.normal(size=(4400, 2)) + 8 * random.randint(0, 3, (4400, 2)),
        "few values": random.randint(0, 12, (4400, 2)).astype(float),
        "outliers": random.standard_cauchy((4400, 5)),
    }


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("name", tables())
def test_sums_are_those_of_all_distances(name: str, metric: str) -> None:
    """Of squared distances, for which the triangle inequality does not hold, none is left out."""
    X, k = tables()[name], 4
    weights = np.random.RandomState(1).pareto(2, len(X)) * (np.arange(len(X)) % 7 > 0)
    problem, D = problem_of(X, k, metric, weights), cdist(X, X, NAMES[metric])
    assert computes(problem)
    with Threads() as threads:
        run = Run(problem, threads, np.random.RandomState(0), Tally())
        rows = ComputedRows(problem, run)
        sums, state = ComputedSums(rows, problem.eligible, k, threads), rows.start()

        def check(*, swaps: bool) -> None:
            sums.follow(state, swaps=swaps)
            d1, d2 = state.d1, state.d2
            base = weights @ np.minimum(D, d1[:, None])
            tolerance = 1e-5 * (weights @ np.where(np.isfinite(d2), d2, D.max()))
            np.testing.assert_allclose(sums._S, base, atol=tolerance)
            for slot in range(k if swaps else 0):
                own = weights * (state.nearest == slot)
                expected = own @ (np.minimum(D, d2[:, None]) - np.minimum(D, d1[:, None]))
                np.testing.assert_allclose(sums._T[slot], expected, atol=tolerance)

        for i in (11, 2001, 3002, 4003):
            check(swaps=False)
            rows.add(state, i)
        for slot, i in ((2, 77), (0, 1234), (2, 4001)):
            check(swaps=True)
            state.swap(slot, i, rows.row(i, state.d2))
        check(swaps=True)


def test_references_out_of_reach_need_no_distance() -> None:
    X, counts = np.random.RandomState(0).uniform(size=(12_000, 2)), {}
    for triangle in (True, False):
        problem = problem_of(X, 10)
        problem.distance.triangle = triangle
        with Threads() as threads:
            run = Run(problem, threads, np.random.RandomState(0), Tally())
            rows = ComputedRows(problem, run)
            assignment = rows.assign(range(10))
            ComputedSums(rows, problem.eligible, 10, threads).follow(assignment, swaps=True)
            counts[triangle] = run.tally.computed
    assert counts[False] >= 12_000**2
    assert counts[True] < 0.9 * counts[False]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_answer_is_exact_pams_in_little_memory(metric: str) -> None:
    random = np.random.RandomState(3)
    X = random.normal(size=(9000, 3)) + 6 * random.randint(0, 3, (9000, 3))
    weights = random.pareto(1.5, 9000) + 0.1
    given = k_medoids(cdist(X, X, NAMES[metric]), 9, metric="precomputed", sample_weight=weights, algorithm="fastpam1")
    k_medoids(X[:5000], 9, metric=metric, algorithm="fastpam1")  # compile
    tracemalloc.start()
    found = k_medoids(X, 9, metric=metric, sample_weight=weights, algorithm="fastpam1", memory_limit="30MB")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.medoid_indices.tolist() == given.medoid_indices.tolist()
    assert found.loss == pytest.approx(given.loss, rel=1e-12)
    assert [step.medoid_in for step in found.trace] == [step.medoid_in for step in given.trace]
    assert peak < 60 * 2**20  # a matrix of float32 takes 324 MB


def test_most_rows_may_have_no_weight() -> None:
    """Rows that do not count are no landmarks: here, only six do."""
    X, weights = np.random.RandomState(0).normal(size=(4400, 2)), np.zeros(4400)
    rows = np.array([1, 2, 3, 5, 6, 7])
    weights[rows] = 1
    found = k_medoids(X, 3, algorithm="fastpam1", sample_weight=weights)
    alone = k_medoids(X[rows], 3, algorithm="pam")
    assert found.medoid_indices.tolist() == rows[alone.medoid_indices].tolist()


def test_a_budget_of_distances_goes_to_a_matrix() -> None:
    """The number of its distances is known before the first one is computed."""
    problem = problem_of(np.random.RandomState(0).normal(size=(4400, 2)))
    assert computes(problem)
    with Threads() as threads:
        allowance = Run(problem, threads, np.random.RandomState(0), Tally()).allowance
    limited = Budgeted(problem.distance, allowance)
    assert not computes(Problem(limited, problem.weights, problem.k, "build", 300, 2**31))


@pytest.mark.parametrize(("n", "metric"), [(3500, "euclidean"), (4400, "cosine"), (4400, "precomputed")])
def test_small_or_costly_or_given_distances_go_to_a_matrix(n: int, metric: str) -> None:
    X = np.random.RandomState(0).normal(size=(n, 200))
    X = cdist(X, X) if metric == "precomputed" else X
    assert not computes(Problem(dissimilarity(X, metric), np.ones(n), 3, "build", 300, 2**31))


def test_auto_takes_it_where_it_is_the_cheapest() -> None:
    X = np.random.RandomState(0).uniform(size=(6000, 2))
    found = k_medoids(X, 5, memory_limit="40MB")
    assert found.algorithm == "fastpam1"
    assert "exact sums without a matrix are cheaper than sampling" in found.reason
    assert found.loss == k_medoids(X, 5, algorithm="pairedpam", swap="best", random_state=0).loss
