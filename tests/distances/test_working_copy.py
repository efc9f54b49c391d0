"""Columns that are the same in all rows: left out of products, and never missed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from medoids import KMedoids, k_medoids
from medoids.distances.inner_product import InnerProduct
from medoids.distances.working_copy import column_runs, varying_columns

KEPT = [1, 2, 3, 6, 9]


def margins(n: int = 600) -> np.ndarray:
    """Ten columns, of which five are constant; one of them is large."""
    X = np.zeros((n, 10))
    X[:, 4], X[:, 5] = 7.1, -1e6
    X[:, KEPT] = np.random.default_rng(0).normal(size=(n, len(KEPT)))
    return X


def test_constant_columns_are_found() -> None:
    assert varying_columns(margins()).tolist() == KEPT


def test_a_column_that_differs_in_its_last_row_varies() -> None:
    X = margins()
    X[-1, 4] = 7.2
    assert varying_columns(X).tolist() == sorted([*KEPT, 4])


def test_few_constant_columns_are_kept() -> None:
    X = np.random.default_rng(0).normal(size=(600, 100))
    X[:, :2] = 1.0
    assert len(varying_columns(X)) == 100
    X[:, :5] = 1.0
    assert varying_columns(X).tolist() == list(range(5, 100))


def test_equal_rows_keep_their_columns() -> None:
    X = np.ones((600, 4))
    assert len(varying_columns(X)) == 4
    assert not InnerProduct(X, "euclidean", compiled=True).block(slice(0, 5), slice(0, 5)).any()


@pytest.mark.parametrize("columns", [[0], [3], [0, 1, 2], [0, 2, 4], [1, 2, 5, 6, 7, 9]])
def test_runs_hold_the_columns(columns: list[int]) -> None:
    runs = column_runs(np.array(columns))
    assert [f for start, stop in runs for f in range(start, stop)] == columns
    assert all(later > stop for (_, stop), (later, _) in pairwise(runs))


@pytest.mark.parametrize("spill", [False, True])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_distances_do_without_them(metric: str, spill: bool) -> None:
    X = margins()
    distance = InnerProduct(X, metric, compiled=True).reordered(np.arange(len(X))[::-1])
    distance.spill = spill
    distance.prepare()
    assert distance.copy_bytes() == len(X) * len(KEPT) * 4
    wanted = cdist(X[::-1], X[::-1], metric)
    np.testing.assert_allclose(distance.block(slice(None), slice(None)), wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(distance.exact_block(slice(0, 40), slice(None)), wanted[:40], rtol=1e-9, atol=1e-9)


def test_angles_need_them() -> None:
    X = margins()
    X[:, 5] = 1.0
    distance = InnerProduct(X, "cosine", compiled=True)
    wanted = cdist(X, X, "cosine")
    np.testing.assert_allclose(distance.block(slice(None), slice(None)), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["fastpam1", "pairedpam"])
def test_medoids_are_the_same(algorithm: str) -> None:
    X = margins(3000)
    with_them = k_medoids(X, 4, algorithm=algorithm, random_state=0)
    without = k_medoids(X[:, KEPT], 4, algorithm=algorithm, random_state=0)
    assert with_them.medoid_indices.tolist() == without.medoid_indices.tolist()
    assert with_them.loss == pytest.approx(without.loss, rel=1e-12)


def test_new_rows_may_differ_where_those_of_the_fit_do_not() -> None:
    X, new = margins(3000), margins(3)
    new[:, 4] += 3
    model = KMedoids(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(new), cdist(new, model.cluster_centers_), rtol=1e-9)
