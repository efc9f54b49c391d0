"""Great-circle distances between places given by latitude and longitude."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index
from medoids.engine.arrays import Float64s, Rows

__all__ = ["Haversine"]


class Haversine(Dissimilarity):
    """2 r asin sqrt(sin^2((a - b) / 2) + cos a cos b sin^2((l - m) / 2)) for latitudes a, b and longitudes l, m.

    Parameters
    ----------
    X : array of shape (n, 2)
        Latitude and longitude.
    degrees : bool
        Whether they are in degrees; radians, as in scikit-learn, if not.
    radius : float
        Of the sphere, in the unit that distances shall have; the Earth's mean radius is 6371.0088 km.
    """

    dtype = np.dtype(np.float64)
    exact = True
    symmetric = True
    threaded = True
    cost = 60.0

    def __init__(self, X: Floats, *, degrees: bool, radius: float) -> None:
        self._degrees, self._radius = degrees, radius
        self._places = self._radians(X, "row")
        self.n = len(X)

    def _radians(self, X: Floats, word: str) -> Float64s:
        if X.shape[1] != 2:
            raise ValueError(
                f"metric='haversine' takes two columns, latitude and longitude; X has {X.shape[1]} columns"
            )
        places = np.radians(X) if self._degrees else X.astype(np.float64)
        beyond = np.abs(places[:, 0]) > np.pi / 2 + 1e-9
        if beyond.any():
            row = int(np.argmax(beyond))
            most = "90 degrees; latitude is the first column" if self._degrees else (
                "pi / 2: latitude is the first column, in radians, or in degrees with metric_params={'degrees': True}"
            )  # fmt: skip
            raise ValueError(f"the latitude of {word} {row} of X is {X[row, 0]}, beyond {most}")
        return places

    def block(self, rows: Index, columns: Index) -> Float64s:
        return self._fill(self._places[rows], self._places[columns])

    def _fill(self, places: Float64s, others: Float64s) -> Float64s:
        apart = np.sin((places[:, :1] - others[:, 0]) / 2) ** 2
        sideways = np.sin((places[:, 1:] - others[:, 1]) / 2) ** 2
        sideways *= np.cos(places[:, :1]) * np.cos(others[:, 0])
        apart += sideways
        # Rounding may lead beyond 1 for opposite places.
        out: Float64s = np.arcsin(np.sqrt(np.minimum(apart, 1, out=apart), out=apart), out=apart)
        out *= 2 * self._radius
        return out

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Haversine:
        return Haversine(objects, degrees=self._degrees, radius=self._radius)

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._places[rows] = self._radians(objects, "row")

    def take(self, rows: Index) -> Haversine:
        part: Haversine = object.__new__(Haversine)
        part.__dict__ = {**self.__dict__, "_places": self._places[rows]}
        part.n = len(part._places)
        return part

    def cross(self, queries: Any) -> Float64s:
        return self._fill(self._places, self._radians(queries, "query"))
