"""Counts of distances, against the calls of a metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from everything import ANY_METRIC
from medoids import KMedoids, k_medoids
from medoids.distances import Count, Counted, Tally, dissimilarity
from medoids.settings import NEEDS_MATRIX

WHOLE = slice(None)
X = np.random.default_rng(0).normal(size=(60, 3))
CITYBLOCK = cdist(X, X, "cityblock")


def manhattan(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).sum())


class Calls:
    """A metric that remembers which pairs it was called with."""

    def __init__(self, metric: Callable[..., float]) -> None:
        self.metric, self.pairs = metric, Counter[tuple[bytes, bytes]]()

    def __call__(self, a: np.ndarray, b: np.ndarray) -> float:
        self.pairs[a.tobytes(), b.tobytes()] += 1
        return self.metric(a, b)


def test_tally_by_hand() -> None:
    tally = Tally()
    distance = Counted(dissimilarity(X, "euclidean"), tally)
    distance.block(slice(0, 4), slice(0, 5))
    with tally.phase("build"):
        distance.exact_block(np.array([1]), WHOLE)
        with tally.phase("swap"):
            distance.take(np.arange(6)).block(WHOLE, slice(0, 2))
            tally.add(cached=100)
        distance.block(slice(0, 0), WHOLE)
    assert tally.counts["exact"] == Count(requested=20, computed=20)
    assert tally.counts["build"] == Count(requested=60, computed=60)
    assert tally.counts["swap"] == Count(requested=112, computed=12, cached=100)
    assert tally.computed == 20 + 60 + 12


def test_phase_ends_after_an_error() -> None:
    tally = Tally()
    with pytest.raises(KeyError), tally.phase("build"):
        raise KeyError
    tally.add(computed=1)
    assert list(tally.counts) == ["exact"]


def test_counted_is_the_dissimilarity_that_it_wraps() -> None:
    inner = dissimilarity(X, manhattan, {"symmetric": True})
    counted = Counted(inner, Tally())
    for name in ("n", "dtype", "exact", "symmetric", "cost", "threaded"):
        assert getattr(counted, name) == getattr(inner, name)
    np.testing.assert_array_equal(counted.cross(X[:2]), inner.cross(X[:2]))


@pytest.mark.parametrize("algorithm", ["auto", *sorted(ANY_METRIC)])
@pytest.mark.parametrize(
    ("init", "symmetric"),
    [("build", False), ("build", True), ("random", False), ("lab", True), ("k-medoids++", False), ([3, 1, 4], False)],
)
def test_evaluations_are_the_calls_of_the_metric(algorithm: str, init: Any, symmetric: bool) -> None:
    metric = Calls(manhattan)
    params = {"symmetric": symmetric}
    found = k_medoids(X[:25], 3, metric=metric, metric_params=params, algorithm=algorithm, init=init, random_state=0)
    assert found.n_evaluations == metric.pairs.total()
    assert found.n_evaluations == sum(count.computed for count in found.counts.values())
    for count in found.counts.values():
        assert count.requested == count.computed + count.cached
    so_far = [record.n_evaluations for record in found.trace]
    assert so_far == sorted(so_far)
    assert so_far[-1] <= found.n_evaluations


def test_estimator_counts_the_fit_only() -> None:
    metric = Calls(manhattan)
    model = KMedoids(3, metric=metric).fit(X)
    assert model.n_evaluations_ == metric.pairs.total()
    model.predict(X[:10])
    assert metric.pairs.total() == model.n_evaluations_ + 3 * 10


@pytest.mark.parametrize("algorithm", ["fastpam1", "alternate"])
@pytest.mark.parametrize("init", ["build", "random", "lab", "k-medoids++", [3, 1, 4]])
def test_a_callable_is_never_asked_twice_for_what_is_in_the_matrix(algorithm: str, init: Any) -> None:
    metric = Calls(manhattan)
    k_medoids(X, 3, metric=metric, algorithm=algorithm, init=init, random_state=0)
    assert metric.pairs.total() == len(metric.pairs)


def test_a_second_start_does_not_compute_the_matrix_again() -> None:
    metric = Calls(manhattan)
    k_medoids(X, 3, metric=metric, init="random", n_init=3, random_state=0)
    assert metric.pairs.total() == len(metric.pairs)


@pytest.mark.parametrize("algorithm", sorted(NEEDS_MATRIX))
def test_a_given_matrix_is_counted_as_read_once(algorithm: str) -> None:
    found = k_medoids(CITYBLOCK, 3, metric="precomputed", algorithm=algorithm)
    assert found.n_evaluations == CITYBLOCK.size
