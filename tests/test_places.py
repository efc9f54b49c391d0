"""Points of GeoPandas: their CRS says what their distance is. Distances are compared with the geodesics of pyproj."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from medoids import KMedoids, certify, cluster_medoids, k_medoids, load, silhouette

geopandas = pytest.importorskip("geopandas", reason="needs the extra geo")
pyproj = pytest.importorskip("pyproj")

RANDOM = np.random.default_rng(0)
LONGITUDE, LATITUDE = RANDOM.uniform(5, 15, 40), RANDOM.uniform(47, 55, 40)
DEGREES = geopandas.GeoDataFrame(
    {"name": [f"place {i}" for i in range(40)]}, geometry=geopandas.points_from_xy(LONGITUDE, LATITUDE), crs="EPSG:4326"
)
METRES = DEGREES.to_crs("EPSG:25832")


@pytest.mark.parametrize("X", [DEGREES, DEGREES.geometry], ids=["frame", "series"])
def test_degrees_are_metres_on_the_ground(X: Any) -> None:
    model = KMedoids(3).fit(X)
    geod = pyproj.Geod(ellps="WGS84")
    for slot, row in enumerate(model.medoid_indices_):
        ground = geod.inv(LONGITUDE, LATITUDE, np.full(40, LONGITUDE[row]), np.full(40, LATITUDE[row]))[2]
        assert_allclose(model.transform(X)[:, slot], ground, rtol=0.006, atol=1e-6)
    haversine = {"metric": "haversine", "metric_params": {"degrees": True, "radius": 6371008.8}}
    expected = k_medoids(np.column_stack([LATITUDE, LONGITUDE]), 3, **haversine)
    assert_array_equal(model.medoid_indices_, expected.medoid_indices)
    assert model.inertia_ == pytest.approx(expected.inertia, rel=1e-12)
    angles = KMedoids(3, metric="haversine").fit(X)
    assert angles.inertia_ * 6371008.8 == pytest.approx(expected.inertia, rel=1e-12)


def test_a_projection_is_euclidean_in_its_unit() -> None:
    points = np.column_stack([METRES.geometry.x, METRES.geometry.y])
    model = KMedoids(3).fit(METRES)
    assert_allclose(model.transform(METRES), cdist(points, points[model.medoid_indices_]), rtol=1e-9, atol=1e-6)
    assert k_medoids(METRES, 3, metric="manhattan").loss == pytest.approx(k_medoids(points, 3, metric="l1").loss)
    feet = k_medoids(METRES.to_crs("+proj=utm +zone=32 +ellps=GRS80 +units=us-ft"), 3)
    assert feet.loss == pytest.approx(model.loss_ / 0.3048006096, rel=1e-6)


def test_new_points_are_converted_to_the_crs_of_the_fit(tmp_path: Path) -> None:
    for fitted, others in ((DEGREES, METRES), (METRES, DEGREES)):
        model = KMedoids(3).fit(fitted)
        model.export(tmp_path / "model")
        for each in (model, load(tmp_path / "model")):
            assert_array_equal(each.predict(fitted), model.labels_)
            assert_allclose(each.transform(others), model.transform(fitted), rtol=1e-6, atol=1e-3)
    model.fit(np.column_stack([LONGITUDE, LATITUDE]))
    assert not hasattr(model, "_crs")


def test_axes_and_units_of_a_crs() -> None:
    # EPSG:4326 has latitude first, OGC:CRS84 longitude; EPSG:4807 has grads from the meridian of Paris.
    expected = k_medoids(DEGREES, 3)
    for crs in ("OGC:CRS84", "EPSG:4807"):
        found = k_medoids(DEGREES.to_crs(crs), 3)
        assert_array_equal(found.medoid_indices, expected.medoid_indices)
        assert found.loss == pytest.approx(expected.loss, rel=1e-5)


def test_other_functions_take_places() -> None:
    model = KMedoids(3).fit(DEGREES)
    assert_array_equal(cluster_medoids(DEGREES, model.labels_).medoid_indices, model.medoid_indices_)
    assert certify(model, DEGREES).gap >= 0
    assert -1 < silhouette(model, DEGREES).value < 1
    found = k_medoids(DEGREES, 3, metric=lambda a, b: float(a.distance(b)))  # shapely's, of the geometries
    points = np.column_stack([LONGITUDE, LATITUDE])
    assert found.loss == pytest.approx(k_medoids(points, 3).loss, rel=1e-9)


@pytest.mark.parametrize(
    ("X", "keywords", "words"),
    [
        (
            DEGREES.set_crs(None, allow_override=True),
            {},
            r"without CRS, .* pass X.set_crs\('EPSG:4326'\) for longitude",
        ),
        (METRES.set_geometry(METRES.buffer(1)), {}, r"X is a Polygon, .* pass X.geometry.representative_point\(\)"),
        (DEGREES.set_geometry([None, *DEGREES.geometry[1:]], crs=4326), {}, "row 0 of X has no point; remove it"),
        (DEGREES, {"metric": "manhattan"}, "longitude and latitude .* metric='manhattan' does not take; leave metric"),
        (DEGREES, {"metric": "gower"}, "longitude and latitude .* metric='gower' does not take"),
        (METRES, {"metric": "haversine"}, "points on a plane, in metre .* metric='haversine' does not take"),
        (DEGREES.to_crs("EPSG:4978"), {}, r"from the centre of the Earth; pass X.to_crs\('EPSG:4326'\)"),
        (DEGREES.set_crs("IAU_2015:30100", allow_override=True), {}, "is not of the Earth .*'radius': 1737400"),
    ],
    ids=["no CRS", "polygons", "missing", "metric", "gower", "haversine", "geocentric", "Moon"],
)
def test_what_is_refused_says_what_to_pass(X: Any, keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        k_medoids(X, 3, **keywords)
