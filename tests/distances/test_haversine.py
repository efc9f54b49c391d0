"""Great-circle distances against scikit-learn and known places."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import haversine_distances

from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity
from medoids.inputs import check_data

WHOLE = slice(None)


def places(n: int = 50) -> np.ndarray:
    random = np.random.default_rng(0)
    rows = np.column_stack([random.uniform(-90, 90, n), random.uniform(-180, 360, n)])
    rows[:4] = [[90, 0], [-90, 77], [0, 0], [0, 180]]  # poles and opposite places
    rows[5] = rows[4]
    return rows


def test_haversine_is_scikit_learns() -> None:
    X = np.radians(places())
    found = dissimilarity(check_data(X, "haversine"), "haversine").block(WHOLE, WHOLE)
    np.testing.assert_allclose(found, haversine_distances(X), rtol=1e-12, atol=1e-15)
    assert found[0, 1] == found[2, 3] == np.pi
    assert found[4, 5] == 0


def test_haversine_in_degrees_and_kilometres() -> None:
    # Paris and Berlin are some 878 km apart, Paris and New York some 5,837 km.
    cities = [[48.8566, 2.3522], [52.52, 13.405], [40.7128, -74.006]]
    model = KMedoids(2, metric="haversine", metric_params={"degrees": True, "radius": 6371.0088}).fit(cities)
    assert model.inertia_ == pytest.approx(878, abs=1)
    assert model.transform([cities[2]]).max() == pytest.approx(5837, abs=3) or 2 in model.medoid_indices_
    distance = dissimilarity(np.array(cities), "haversine", {"degrees": True, "radius": 6371.0088})
    assert distance.block(WHOLE, WHOLE)[0, 2] == pytest.approx(5837, abs=3)


def test_bad_places() -> None:
    with pytest.raises(ValueError, match=r"latitude of row 1 of X is 52\.5, beyond pi / 2.*'degrees': True"):
        k_medoids([[1.0, 2.0], [52.5, 13.4]], 1, metric="haversine")
    with pytest.raises(ValueError, match=r"latitude of row 0 of X is 91\.0, beyond 90 degrees"):
        k_medoids([[91.0, 2.0]], 1, metric="haversine", metric_params={"degrees": True})
    with pytest.raises(ValueError, match=r"two columns, latitude and longitude; X has 3 columns"):
        k_medoids([[1.0, 2.0, 3.0]], 1, metric="haversine")
    with pytest.raises(ValueError, match=r"radius.*number > 0"):
        k_medoids([[1.0, 2.0]], 1, metric="haversine", metric_params={"radius": 0})
