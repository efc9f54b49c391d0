"""Equal points are taken as one, and the answer is that of all of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from cluster.in_process import assert_same
from medoids import k_medoids
from medoids.core.problem import Problem
from medoids.distances import dissimilarity
from medoids.distances.objects import digests_of
from medoids.paired.merging import merge_equal


def repeated(n: int = 6_000, distinct: int = 400, seed: int = 0) -> np.ndarray:
    random = np.random.RandomState(seed)
    return random.standard_t(2, size=(distinct, 3))[random.randint(distinct, size=n)]


def problem_of(X, k: int = 3, metric: str = "euclidean", **settings) -> Problem:
    weights = settings.pop("weights", np.ones(len(X)))
    return Problem(dissimilarity(X, metric, None), weights, k, settings.pop("init", "build"), 300, 1 << 30, **settings)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_digests_are_those_of_equal_rows_only(dtype: type) -> None:
    X = np.indices((40, 50, 60)).reshape(3, -1).T.astype(dtype)
    digests = digests_of(X)
    assert len(np.unique(digests[:, 0])) == len(np.unique(digests[:, 1])) == len(np.unique(X, axis=0))
    assert (digests_of(X[::-1])[::-1] == digests).all()


def test_large_integers_that_floats_cannot_tell_apart_differ() -> None:
    digests = digests_of(np.array([[2**53], [2**53 + 1]]))
    assert (digests[0] != digests[1]).all()


def test_weights_add_up_at_the_first_of_equal_rows() -> None:
    X = np.array([[0.0], [1.0], [-0.0], [1.0], [5.0], [1.0], [0.0], [0.0]])
    points, weights, alike = merge_equal(problem_of(X, weights=np.arange(1.0, 9.0)), np.arange(8))
    assert points.tolist() == [0, 1, 4]
    assert weights.tolist() == [1 + 3 + 7 + 8, 2 + 4 + 6, 5]
    assert alike.tolist() == [0, 1, 0, 1, 2, 1, 0, 0]


def test_the_first_that_may_be_a_medoid_stays() -> None:
    allowed = np.array([False, True, True, True])
    points, _, alike = merge_equal(problem_of(np.array([[0.0], [1.0], [0.0], [0.0]]), 2, allowed=allowed), np.arange(4))
    assert points.tolist() == [1, 2]
    assert alike.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    "problem",
    [
        problem_of(np.array([[0.0], [1.0], [0.0], [1.0]]), 3),  # fewer than k would be left
        problem_of(np.array([[0.0], [1.0], [0.0], [1.0]]), 1, frozen=(2,)),
        problem_of(np.array([[0.0], [1.0], [0.0], [1.0]]), 1, init=np.array([3])),
        problem_of(np.arange(4.0)[:, None], 1),  # nothing is equal
        problem_of(np.zeros((4, 4)), 1, metric="precomputed"),
        problem_of(["", "", "a", "a"], 1, metric="jaro"),
    ],
)
def test_where_nothing_is_merged(problem: Problem) -> None:
    points, weights, alike = merge_equal(problem, np.arange(4))
    assert points.tolist() == alike.tolist() == [0, 1, 2, 3]
    assert weights.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_answer_is_exact_pams_on_the_rows_that_differ(metric: str, weighted: bool) -> None:
    X = repeated()
    weights = np.random.RandomState(1).pareto(1.2, size=len(X)) if weighted else None
    rows, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    exact = k_medoids(rows, 5, metric=metric, algorithm="fastpam1", sample_weight=np.bincount(group.ravel(), weights))
    found = k_medoids(X, 5, metric=metric, algorithm="pairedpam", swap="best", sample_weight=weights, random_state=0)
    assert sorted(found.medoid_indices) == sorted(first[exact.medoid_indices])
    np.testing.assert_allclose(found.loss, exact.loss, rtol=1e-12)
    # Of 400 rows that differ; the final assignment and what exact steps compute are for all rows.
    assert found.n_evaluations < 2 * 400**2 + 80 * len(X)


@pytest.mark.parametrize("swap", ["best", "eager"])
def test_words(swap: str) -> None:
    random = np.random.RandomState(0)
    words = ["".join(word) for word in random.choice(list("abcd"), size=(4_000, 4))]
    found = k_medoids(words, 4, metric="levenshtein", algorithm="pairedpam", swap=swap, random_state=0)
    assert all(words.index(words[i]) == i for i in found.medoid_indices)  # the first of equal ones
    assert found.n_evaluations < 0.1 * len(words) ** 2
    assert len(found.labels) == len(words)


def test_as_many_medoids_as_rows_that_differ() -> None:
    found = k_medoids(repeated(5_000, 12), 12, algorithm="pairedpam", random_state=0)
    assert found.inertia == 0
    assert len(set(found.labels)) == 12


def test_more_medoids_than_rows_that_differ() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = k_medoids(repeated(3_100, 5), 7, algorithm="pairedpam", random_state=0)
    assert found.inertia == 0
    assert "number of distinct medoids (5) is smaller" in str(caught[0].message)


def test_a_row_of_weight_zero_is_no_medoid_even_if_it_is_the_first() -> None:
    X, weights = repeated(5_000, 20), np.ones(5_000)
    weights[:1_000] = 0
    found = k_medoids(X, 5, algorithm="pairedpam", sample_weight=weights, random_state=0)
    assert min(found.medoid_indices) >= 1_000
    assert len(found.labels) == 5_000


@pytest.mark.dask
@pytest.mark.parametrize("swap", ["best", "eager"])
@pytest.mark.parametrize("weighted", [False, True])
def test_shards(swap: str, weighted: bool) -> None:
    weights = np.random.RandomState(1).pareto(1.2, size=6_000) if weighted else None
    assert_same(repeated(), 4, cuts=[100, 2_000, 2_001], shards=3, swap=swap, weights=weights)


@pytest.mark.dask
def test_shards_of_words() -> None:
    random = np.random.RandomState(0)
    words = np.array(["".join(word) for word in random.choice(list("abcd"), size=(2_000, 4))], dtype=object)
    assert_same(words, 4, metric="levenshtein", cuts=[300, 900])
