"""A matrix computed by the user: entry [i, s] is d(i, s), with i as the medoid."""

from __future__ import annotations

import numpy as np

from medoids.distances.protocol import Dissimilarity, Floats, Index
from medoids.engine.arrays import Float64s
from medoids.engine.budget import COSTS

__all__ = ["Precomputed"]


class Precomputed(Dissimilarity):
    """An array, possibly memory-mapped, of floats or integers; never copied as a whole.

    It is square, or has a row for each candidate and a column for each point, which are then different objects. It
    counts as asymmetric: finding out costs as much as reading it, and would only save reading it.
    """

    cost = COSTS["precomputed"].pair

    def __init__(self, matrix: Floats) -> None:
        # A memory map as a plain array: the same pages, of a type that kernels accept.
        self.matrix = np.asarray(matrix)
        self.n = self.matrix.shape[1]
        self.dtype = self.matrix.dtype

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    def block(self, rows: Index, columns: Index) -> Floats:
        if isinstance(rows, slice) or isinstance(columns, slice):
            return self.matrix[rows, columns]
        return self.matrix[np.ix_(rows, columns)]

    def take(self, rows: Index) -> Precomputed:
        # Medoids that are no points have no distances among themselves: they are for `cross`.
        return Precomputed(self.matrix[rows, :0] if self.n_rows != self.n else self.block(rows, rows))

    def cross(self, queries: Floats) -> Float64s:
        """Return entry [q, i] of ``queries`` as d(i, q), as scikit-learn orients precomputed kernels."""
        return np.asarray(queries, dtype=np.float64).T
