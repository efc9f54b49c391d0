"""Distances that are a given matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from medoids import KMedoids, k_medoids
from medoids.distances import SMALL, dissimilarity
from medoids.distances.precomputed import Precomputed
from medoids.inputs import check_data

WHOLE = slice(None)
X = np.random.default_rng(0).normal(size=(60, 3))
CITYBLOCK = cdist(X, X, "cityblock")


def ahead(a: np.ndarray, b: np.ndarray) -> float:
    """Asymmetric: a step up costs three times a step down."""
    gap = b[0] - a[0]
    return float(3 * gap if gap > 0 else -gap)


KINDS = [np.float32, np.float64, np.int64, np.int32, np.uint8, np.uint16]


def by_matrix(D: np.ndarray, medoids: np.ndarray) -> float:
    return float(D[medoids].min(axis=0).sum(dtype=float))


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_is_never_copied(kind: type) -> None:
    D = np.rint(20 * CITYBLOCK).astype(kind)
    distance = dissimilarity(check_data(D, "precomputed"), "precomputed")
    assert isinstance(distance, Precomputed)
    assert np.shares_memory(distance.matrix, D)
    assert distance.dtype == D.dtype
    assert distance.exact
    assert not distance.symmetric
    np.testing.assert_array_equal(distance.block(slice(2, 5), np.array([7, 0])), D[2:5, [7, 0]])
    np.testing.assert_array_equal(distance.block(np.array([1, 3]), np.array([7, 0])), D[[[1], [3]], [7, 0]])
    assert distance.exact_block(slice(0, 2), slice(0, 2)).dtype == np.float64
    assert np.shares_memory(distance.block(slice(2, 5), WHOLE), D)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_of_any_type_gives_the_same_fit(kind: type, order: Any) -> None:
    D = np.rint(20 * CITYBLOCK).astype(kind, order=order)
    before = D.copy()
    expected = k_medoids(D.astype(float), 3, metric="precomputed")
    found = k_medoids(D, 3, metric="precomputed")
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert found.inertia == by_matrix(D, found.medoid_indices)
    np.testing.assert_array_equal(D, before)


@pytest.mark.slow
def test_a_large_matrix_of_small_integers() -> None:
    # Beyond SMALL the sums are compiled; they must not be taken in the matrix's own type, which holds 255 at most.
    points = np.random.default_rng(1).integers(0, 200, size=SMALL + 1)
    D = np.abs(points[:, None] - points[None]).astype(np.uint8)
    distance = dissimilarity(check_data(D, "precomputed"), "precomputed")
    assert np.shares_memory(distance.matrix, D)
    found = k_medoids(D, 2, metric="precomputed")
    assert found.inertia == by_matrix(D, found.medoid_indices)
    vectors = k_medoids(points[:, None], 2, metric="manhattan")
    assert found.inertia == vectors.inertia
    assert sorted(points[found.medoid_indices]) == sorted(points[vectors.medoid_indices])


def test_a_memory_mapped_matrix_is_never_copied(tmp_path: Path) -> None:
    path = tmp_path / "distances.npy"
    np.save(path, CITYBLOCK)
    mapped = np.load(path, mmap_mode="r")
    distance = dissimilarity(check_data(mapped, "precomputed"), "precomputed")
    assert np.shares_memory(distance.matrix, mapped)
    found = k_medoids(mapped, 3, metric="precomputed")
    assert found.medoid_indices.tolist() == k_medoids(X, 3, metric="manhattan").medoid_indices.tolist()
    model = KMedoids(3, metric="precomputed").fit(mapped)
    assert model.predict(mapped[:5]).tolist() == model.labels_[:5].tolist()
    del distance, mapped


def test_cross_of_a_matrix_turns_it() -> None:
    # Entry [q, i] is d(i, q); the answer has a row for each object and a column for each query.
    queries = np.array([[1, 2, 3], [4, 5, 6]])
    out = Precomputed(np.zeros((3, 3))).cross(queries)
    assert out.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert out.dtype == np.float64


def test_take_of_a_matrix() -> None:
    D = np.arange(16.0).reshape(4, 4)
    assert Precomputed(D).take(np.array([3, 1])).matrix.tolist() == [[15, 13], [7, 5]]
    assert Precomputed(D).take(slice(1, 3)).matrix.tolist() == [[5, 6], [9, 10]]


@pytest.mark.parametrize("metric", [ahead, "precomputed"])
def test_another_order_of_the_same_objects(metric: Any) -> None:
    rows = np.array([[0.0], [1.0], [4.0], [6.0]])
    D = np.array([[ahead(a, b) for b in rows] for a in rows])
    distance = dissimilarity(D if metric == "precomputed" else rows, metric)
    other = distance.reordered(np.array([3, 0, 2]))
    assert other.n == 3
    assert other.symmetric == distance.symmetric
    # From 6 down to 0 costs 6, to 4 costs 2; from 0 up to 6 costs 18, to 4 costs 12; from 4 to 6 costs 6, to 0 costs 4.
    expected = np.array([[0, 6, 2], [18, 0, 12], [6, 4, 0]])
    np.testing.assert_array_equal(other.block(WHOLE, WHOLE), expected)
    np.testing.assert_array_equal(other.block(np.array([2, 1]), slice(0, 2)), [[6, 4], [18, 0]])
    np.testing.assert_array_equal(other.take(np.array([2, 0])).block(WHOLE, WHOLE), [[0, 6], [2, 0]])
