"""Great-circle distances between places given by latitude and longitude."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.distances.encoded import Encoded
from medoids.distances.protocol import Facts, Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS

__all__ = ["EARTH_RADIUS", "Degrees", "Haversine"]

# Mean radius in metres: great-circle distances are then within 0.6% of those on the ellipsoid.
EARTH_RADIUS = 6_371_008.8


class Degrees(np.ndarray[Any, np.dtype[np.float64]]):
    """Latitude and longitude in degrees, of which "euclidean" is the distance on the ground in metres."""


class Haversine(Encoded):
    """2 r asin sqrt(sin^2((a - b) / 2) + cos a cos b sin^2((l - m) / 2)) for latitudes a, b and longitudes l, m.

    Parameters
    ----------
    X : array of shape (n, 2)
        Latitude and longitude.
    degrees : bool
        Whether they are in degrees; radians, as in scikit-learn, if not. `Degrees` are in any case.
    radius : float
        Of the sphere, in the unit of the distances; the Earth's mean radius is 6371.0088 km.
    """

    symmetric = triangle = True
    cost = COSTS["haversine"].pair

    def __init__(self, X: Floats, *, degrees: bool, radius: Any) -> None:
        if not isinstance(radius, (int, float, np.number)) or not 0 < radius < np.inf:
            raise ValueError(f"metric_params={{'radius': {radius!r}}}: haversine needs a number > 0")
        self._degrees, self._radius = bool(degrees) or isinstance(X, Degrees), float(radius)
        self._store(self._radians(X, "row"))

    def _radians(self, X: Floats, word: str) -> Float64s:
        if X.shape[1] != 2:
            raise ValueError(
                f"metric='haversine' takes two columns, latitude and longitude; X has {X.shape[1]} columns"
            )
        X = np.asarray(X)
        places = np.radians(X) if self._degrees else X.astype(np.float64)
        beyond = np.abs(places[:, 0]) > np.pi / 2 + 1e-9
        if beyond.any():
            row = int(np.argmax(beyond))
            most = "90 degrees; latitude is the first column" if self._degrees else (
                "pi / 2: latitude is the first column, in radians, or in degrees with metric_params={'degrees': True}"
            )  # fmt: skip
            raise ValueError(f"the latitude of {word} {row} of X is {X[row, 0]}, beyond {most}")
        return places

    def _encode(self, queries: Any) -> Float64s:
        return self._radians(queries, "query")

    def _compare(self, objects: Float64s, i: Rows, others: Float64s, j: Rows) -> Float64s:
        places, others = objects[i], others[j]
        apart = np.sin((places[:, :1] - others[:, 0]) / 2) ** 2
        sideways = np.sin((places[:, 1:] - others[:, 1]) / 2) ** 2
        sideways *= np.cos(places[:, :1]) * np.cos(others[:, 0])
        apart += sideways
        # Rounding may exceed 1 for opposite places.
        out: Float64s = np.arcsin(np.sqrt(np.minimum(apart, 1, out=apart), out=apart), out=apart)
        out *= 2 * self._radius
        return out

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Haversine:
        return Haversine(objects, degrees=self._degrees, radius=self._radius)

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._objects[rows] = self._radians(objects, "row")
