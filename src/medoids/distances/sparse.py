"""Sparse rows (CSR) without densifying them: euclidean, sqeuclidean, cosine, manhattan, jaccard.

Some rows at a time are spread out into a table of columns; a pair then costs the nonzeros of the other row,

    <x, y> = sum over y's nonzeros of x y        |x - y|_1 = |x|_1 + sum over y's nonzeros of |x - y| - |x|

and one look at the table serves all of them. Both cancel where rows are near, so near pairs are summed directly by
merging their sorted columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from medoids.distances.protocol import Dissimilarity, Index, by_lots
from medoids.engine.arrays import Float64s
from medoids.engine.threads import Threads

__all__ = ["SPARSE_METRICS", "Sparse"]

# What the kernels call them.
SPARSE_METRICS = {"euclidean": 1, "sqeuclidean": 2, "cosine": 0, "manhattan": 3, "jaccard": 4}
# Most rows that share a pass, and entries of the table that they are spread into.
_LANES, _TABLE = 16, 1 << 21


class Sparse(Dissimilarity):
    """Rows of a CSR array under one of `SPARSE_METRICS`, in float64.

    Parameters
    ----------
    X : sparse array of shape (n, p)
    metric : str
        jaccard looks at which columns are nonzero, not at their values.
    """

    dtype = np.dtype(np.float64)
    exact = True
    symmetric = True
    threaded = True

    def __init__(self, X: Any, metric: str) -> None:
        self._metric = metric
        self._rows = _prepare(X, metric)
        self.n, self._width = self._rows.shape
        self._norms = self._measure(self._rows)
        if not np.isfinite(self._norms).all():
            row = int(np.argmin(np.isfinite(self._norms)))
            raise ValueError(f"row {row} of X is too large: its distances overflow; rescale X before metric={metric!r}")
        self.cost = 10.0 + 0.6 * self._rows.nnz / max(1, self.n)

    def _measure(self, rows: Any) -> Float64s:
        """|x|_1 for manhattan, |x|^2 for the others; for jaccard that is the number of columns."""
        with np.errstate(over="ignore"):
            sizes = np.abs(rows.data) if self._metric == "manhattan" else rows.data**2
            starts = rows.indptr[:-1][np.diff(rows.indptr) > 0]
            norms = np.zeros(rows.shape[0])
            norms[np.diff(rows.indptr) > 0] = np.add.reduceat(sizes, starts) if len(starts) else 0
        return norms

    def prepare(self, threads: Threads | None = None) -> None:
        self.block(slice(0, 1), slice(0, 1))  # compile once, not in each thread

    def block(self, rows: Index, columns: Index) -> Float64s:
        numbers = np.arange(self.n)
        return self._fill(numbers[rows], self._rows, self._norms, numbers[columns], same=True)

    def _fill(
        self, i: npt.NDArray[np.intp], other: Any, norms: Float64s, j: npt.NDArray[np.intp], *, same: bool
    ) -> Float64s:
        from medoids.distances.kernels.sparse import finish, sum_absolute, sum_products

        mine = self._rows.data, self._rows.indices, self._rows.indptr, i
        theirs = other.data, other.indices, other.indptr, j
        out = np.empty((len(i), len(j)))
        add = sum_absolute if self._metric == "manhattan" else sum_products
        width = max(self._width, other.shape[1])
        table = np.zeros((width, int(np.clip(_TABLE // max(1, width), 1, _LANES))))
        add(*mine, *theirs, table, np.zeros(table.shape[1]), out)
        finish(*mine, self._norms, *theirs, norms, SPARSE_METRICS[self._metric], same, out)
        return out

    def take(self, rows: Index) -> Sparse:
        part: Sparse = object.__new__(Sparse)
        part.__dict__ = {**self.__dict__, "_rows": self._rows[rows], "_norms": self._norms[rows]}
        part.n = len(part._norms)
        return part

    def cross(self, queries: Any) -> Float64s:
        other = _prepare(queries, self._metric)
        norms, everyone = self._measure(other), np.arange(self.n)
        return by_lots(lambda j: self._fill(everyone, other, norms, j, same=False), self.n, other.shape[0], self.cost)


def _prepare(X: Any, metric: str) -> Any:
    """Return float64 rows whose columns are sorted and hold no zeros; of length 1 for cosine, of ones for jaccard."""
    rows = csr_array(X, copy=True).astype(np.float64)  # of its own: what follows works in place
    rows.sum_duplicates()  # and sorts
    rows.eliminate_zeros()
    if metric == "jaccard":
        rows.data[:] = 1
    elif metric == "cosine" and rows.nnz:
        counts = np.diff(rows.indptr)
        full, starts = counts > 0, rows.indptr[:-1][counts > 0]
        # By the largest entry first, so that squares neither overflow nor vanish.
        rows.data /= np.repeat(np.maximum.reduceat(np.abs(rows.data), starts), counts[full])
        rows.data /= np.repeat(np.sqrt(np.add.reduceat(rows.data**2, starts)), counts[full])
    return rows
