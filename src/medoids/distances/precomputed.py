"""A matrix that somebody else computed: entry [i, s] is d(i, s), with i as the medoid."""

from __future__ import annotations

import numpy as np

from medoids.distances.protocol import Dissimilarity, Floats, Index
from medoids.engine.arrays import Float64s

__all__ = ["Precomputed"]


class Precomputed(Dissimilarity):
    """A square array, possibly memory-mapped, of floats or integers; never copied as a whole.

    Whether it is symmetric is not asked: finding out costs as much as reading it, and only saves reading it.
    """

    exact = True
    symmetric = False
    threaded = True
    cost = 1.0

    def __init__(self, matrix: Floats) -> None:
        # A memory map as a plain array: the same pages, and a type that kernels know.
        self.matrix = np.asarray(matrix)
        self.n = self.matrix.shape[0]
        self.dtype = self.matrix.dtype

    def block(self, rows: Index, columns: Index) -> Floats:
        if isinstance(rows, slice) or isinstance(columns, slice):
            return self.matrix[rows, columns]
        return self.matrix[np.ix_(rows, columns)]

    def take(self, rows: Index) -> Precomputed:
        return Precomputed(self.block(rows, rows))

    def cross(self, queries: Floats) -> Float64s:
        """Return entry [q, i] of ``queries`` as d(i, q), as scikit-learn orients precomputed kernels."""
        return np.asarray(queries, dtype=np.float64).T
