"""Where points lie on the map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from medoids import k_medoids
from medoids.distances.precomputed import Precomputed
from medoids.reporting.layout import place


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
