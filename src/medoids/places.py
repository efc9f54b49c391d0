"""Points of GeoPandas as rows of numbers: by their CRS, degrees on the Earth or coordinates on a plane.

Only attributes of what is passed are used, so that GeoPandas is imported by those who have places. It keeps longitude
in x and latitude in y, whatever order of axes a CRS has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.distances import Degrees
from medoids.engine.arrays import Float64s

__all__ = ["crs_of", "is_places", "points_of"]

# Metrics of degrees: the default, which is the distance on the ground, and angles or any radius by name.
_METRICS_OF_DEGREES = ("euclidean", "l2", "haversine")
_REPROJECT = "pass X.to_crs('EPSG:4326'), or X.to_crs(...) with a projection of your region"
# Radii of ellipsoids in metres that are taken for the Earth's.
_EARTH = 6.3e6, 6.4e6


def is_places(X: Any) -> bool:
    """Whether this is a GeoDataFrame or a GeoSeries."""
    return hasattr(X, "geometry") and hasattr(X, "crs")


def crs_of(X: Any) -> str:
    """Return the CRS of places as text, from which it can be made again."""
    return str(X.crs.to_wkt())


def points_of(X: Any, metric: Any, crs: str | None = None) -> Any:
    """Return points as an array of two columns, or, for a function, the geometries themselves.

    Parameters
    ----------
    X : GeoDataFrame or GeoSeries
    metric : str or callable
    crs : str, optional
        That of the fit, to which new points are converted.

    Returns
    -------
    Degrees, ndarray or list
        Latitude and longitude for a geographic CRS; x and y for others; a list for a function.
    """
    if callable(metric):
        return list(X.geometry)
    if X.crs is None:
        raise ValueError(
            f"X is a {type(X).__name__} without CRS, which would say whether its points are in degrees or metres; pass "
            "X.set_crs('EPSG:4326') for longitude and latitude, X.set_crs(...) with that of your projection, or "
            "numpy.column_stack([X.geometry.x, X.geometry.y]) to take the numbers as they are"
        )
    points = X.geometry
    _check_points(points)
    if crs is not None and points.crs != crs:
        points = points.to_crs(crs)
    if points.crs.is_geographic:
        return _degrees(points, metric)
    if points.crs.is_geocentric:
        raise ValueError(f"the CRS of X, {points.crs.name}, has coordinates from the centre of the Earth; {_REPROJECT}")
    if metric in ("haversine", "gower", "precomputed"):
        raise ValueError(
            f"X holds points on a plane, in {points.crs.axis_info[0].unit_name} ({points.crs.name}), which "
            f"metric={metric!r} does not take; leave metric out, or pass other data"
        )
    return _columns(points.x, points.y)


def _check_points(points: Any) -> None:
    missing = np.flatnonzero(points.isna() | points.is_empty)
    if len(missing):
        raise ValueError(
            f"row {missing[0]} of X has no point; remove it, as X[~(X.geometry.isna() | X.geometry.is_empty)]"
        )
    other = np.flatnonzero(points.geom_type != "Point")
    if len(other):
        raise ValueError(
            f"row {other[0]} of X is a {points.geom_type.iloc[other[0]]}, and only points have coordinates to compare; "
            "pass X.geometry.representative_point(), or a function of two geometries as metric"
        )


def _degrees(points: Any, metric: Any) -> Degrees:
    if metric not in _METRICS_OF_DEGREES:
        raise ValueError(
            f"X holds longitude and latitude ({points.crs.name}), which metric={metric!r} does not take; leave metric "
            "out for metres on the ground, or pass X.to_crs(...) with a projection of your region"
        )
    radius = points.crs.ellipsoid.semi_major_metre
    if not _EARTH[0] < radius < _EARTH[1]:
        raise ValueError(
            f"the CRS of X, {points.crs.name}, is not of the Earth (its radius is {radius:,.0f} m); pass metric="
            "'haversine' with numpy.column_stack([X.geometry.y, X.geometry.x]) and metric_params={'degrees': True, "
            f"'radius': {radius:.0f}}}"
        )
    if any(axis.unit_name != "degree" for axis in points.crs.axis_info[:2]):
        points = points.to_crs("EPSG:4326")
    return _columns(points.y, points.x).view(Degrees)


def _columns(first: Any, second: Any) -> Float64s:
    return np.column_stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)])
