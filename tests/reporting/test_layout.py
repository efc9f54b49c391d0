"""Where points lie on the map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from medoids import k_medoids
from medoids.distances.precomputed import Precomputed
from medoids.reporting.layout import drawn_rows, place


def placed(points: np.ndarray, size: float = 1.0) -> np.ndarray:
    """The map of the distances times ``size``."""
    D = cdist(points, points) * size
    found = k_medoids(D, 1, metric="precomputed")
    return place(found, D, Precomputed(D), "precomputed").xy


SIZES = [1e-170, 1e-8, 1.0, 1e8, 1e200]


@pytest.mark.parametrize("size", SIZES)
def test_distances_that_fit_on_a_line_lie_on_one(size: float) -> None:
    line = np.random.RandomState(0).uniform(size=(300, 1))
    xy = placed(line, size) / size
    assert np.abs(xy[:, 1]).max() <= 1e-9
    # The map has the distances of the data.
    np.testing.assert_allclose(pdist(xy), pdist(line), atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_distances_that_fit_on_a_plane_are_kept(size: float) -> None:
    plane = np.random.RandomState(0).uniform(size=(200, 2)) * [1, 1e-3]
    np.testing.assert_allclose(pdist(placed(plane, size) / size), pdist(plane), atol=1e-6)


def test_points_that_are_all_equal() -> None:
    assert not placed(np.ones((10, 2))).any()


def test_rows_of_every_cluster_are_drawn() -> None:
    labels = np.repeat([0, 1, 2], [600, 395, 5])
    drawn = drawn_rows(labels, np.array([10, 700, 996]), limit=100)
    assert {10, 700, 996} <= set(drawn.tolist())
    # Shares of 60, 39 and 0, but at least five, are 104 in total: one less of each, then one less of the largest.
    assert np.bincount(labels[drawn]).tolist() == [58, 38, 4]


def test_more_clusters_than_points_to_draw() -> None:
    medoids = np.arange(0, 40, 2)
    assert drawn_rows(np.repeat(np.arange(20), 2), medoids, limit=7).tolist() == medoids.tolist()
