"""Distances of rows of truth values: dice, yule and others; what is not 0 is true.

All of them are functions of four counts of columns: true in both rows, in the first only, in the second only, in none.
The first is a matrix product, and the others follow from it and the number of true columns of each row. A share of no
column at all is 0: rows that are false throughout are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from medoids.distances.encoded import Encoded
from medoids.distances.protocol import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS

__all__ = ["BOOLEAN", "Booleans"]

_Counts = Float64s


def _share(part: Any, whole: Any) -> Float64s:
    shares: Float64s = np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
    return shares


# name -> (formula of the counts both, one, other, none; the same in words)
BOOLEAN: dict[str, tuple[Callable[[_Counts, _Counts, _Counts, _Counts], Float64s], str]] = {
    "dice": (lambda tt, tf, ft, ff: _share(tf + ft, 2 * tt + tf + ft), "(tf + ft) / (2 tt + tf + ft)"),
    "rogerstanimoto": (
        lambda tt, tf, ft, ff: _share(2 * (tf + ft), tt + ff + 2 * (tf + ft)),
        "2 (tf + ft) / (tt + ff + 2 (tf + ft))",
    ),
    "kulsinski": (
        lambda tt, tf, ft, ff: _share(2 * (tf + ft) + ff, tt + 2 * (tf + ft) + ff),
        "(tf + ft - tt + columns) / (tf + ft + columns)",
    ),
    "russellrao": (lambda tt, tf, ft, ff: _share(tf + ft + ff, tt + tf + ft + ff), "(tf + ft + ff) / columns"),
    "sokalsneath": (
        lambda tt, tf, ft, ff: _share(2 * (tf + ft), tt + 2 * (tf + ft)),
        "2 (tf + ft) / (tt + 2 (tf + ft))",
    ),
    "yule": (lambda tt, tf, ft, ff: _share(2 * tf * ft, tt * ff + tf * ft), "2 tf ft / (tt ff + tf ft)"),
}


class Booleans(Encoded):
    """Rows of truth values under a metric of `BOOLEAN`.

    Parameters
    ----------
    X : array of shape (n, p)
    metric : str
    """

    symmetric = True

    def __init__(self, X: Floats, metric: str) -> None:
        self._metric = metric
        self.cost = COSTS["boolean"].of(X.shape[1])
        self._store(self._encode(X))

    def _encode(self, queries: Any) -> Floats:
        # Counts up to 2^24 are exact in float32.
        return np.asarray(queries != 0, dtype=np.float32 if queries.shape[1] < 1 << 24 else np.float64)

    def _compare(self, objects: Floats, i: Rows, others: Floats, j: Rows) -> Float64s:
        rows, columns = objects[i], others[j]
        both = (rows @ columns.T).astype(np.float64)
        one = rows.sum(axis=1, dtype=np.float64)[:, None] - both
        other = columns.sum(axis=1, dtype=np.float64) - both
        return BOOLEAN[self._metric][0](both, one, other, objects.shape[1] - both - one - other)
