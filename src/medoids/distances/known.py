"""Euclidean distances of rows with gaps, as scikit-learn's nan_euclidean_distances.

d(x, y) = sqrt(p / (columns known in both) * sum over these of (x_f - y_f)^2)    for p columns
"""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.distances.encoded import Encoded
from medoids.distances.protocol import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS

__all__ = ["NanEuclidean"]

# Values, 0 where they are missing, and 1 where they are known: of shape (2, n, p).
_Objects = Float64s


class NanEuclidean(Encoded):
    """Rows of numbers, NaN where they are missing.

    Parameters
    ----------
    X : array of shape (n, p)
    """

    symmetric = True

    def __init__(self, X: Floats) -> None:
        self.cost = COSTS["difference, float64"].of(X.shape[1])
        self._store(self._encode(X))

    def _store(self, objects: _Objects) -> None:
        self._objects, self.n = objects, objects.shape[1]

    def _select(self, numbers: Rows) -> _Objects:
        return np.ascontiguousarray(self._objects[:, numbers])  # the layout decides the order of sums

    def _encode(self, queries: Any) -> _Objects:
        known = ~np.isnan(queries)
        return np.stack([np.where(known, queries, 0.0), known.astype(np.float64)])

    def _compare(self, objects: _Objects, i: Rows, others: _Objects, j: Rows) -> Float64s:
        from medoids.distances.kernels.known import known_block

        out = np.empty((len(i), len(j)))
        known_block(*objects, i, *others, j, out)
        if out.min(initial=0) < 0:
            a, b = np.argwhere(out < 0)[0]
            word = "row" if others is self._objects else "query"
            raise ValueError(
                f"row {i[a]} and {word} {j[b]} of X have no column with a value in both, so they have no distance "
                "under metric='nan_euclidean'; fill values, or remove rows with few of them"
            )
        return out
