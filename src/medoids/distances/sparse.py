"""Sparse rows (CSR) without densifying them: euclidean, sqeuclidean, cosine, manhattan, jaccard; and jaccard of sets.

Some rows at a time are spread out into a table of columns; a pair then costs the nonzeros of the other row,

    <x, y> = sum over y's nonzeros of x y        |x - y|_1 = |x|_1 + sum over y's nonzeros of |x - y| - |x|

and one look at the table serves all of them. Both cancel where rows are near, so near pairs are summed directly by
merging their sorted columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from medoids.distances.encoded import Encoded, Vocabulary, starts_of
from medoids.distances.scaled import Scalable
from medoids.distances.scaling import UnitRule
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS, SPARSE_TABLE, VECTOR_LANES

__all__ = ["SPARSE_METRICS", "Sets", "Sparse"]

# Their numbers in the kernels.
SPARSE_METRICS = {"euclidean": 1, "sqeuclidean": 2, "cosine": 0, "manhattan": 3, "jaccard": 4}
# Whose rows have the same length or values in any unit.
_UNITLESS = frozenset({"cosine", "jaccard"})
# Rows and their norms.
_Normed = tuple[Any, Float64s]


class Sparse(Scalable, Encoded):
    """Rows of a CSR array under one of `SPARSE_METRICS`, in float64.

    Parameters
    ----------
    X : sparse array of shape (n, p)
    metric : str
        jaccard looks at which columns are nonzero, not at their values.
    """

    symmetric = True

    def __init__(self, X: Any, metric: str) -> None:
        self._metric = metric
        rows, norms = Sparse._encode(self, X)  # not that of a subclass: X are rows already
        if not np.isfinite(norms).all():
            raise ValueError(
                f"row {int(np.argmin(np.isfinite(norms)))} of X is too large: its distances overflow; rescale X before "
                f"metric={metric!r}"
            )
        self.cost = COSTS["sparse"].of(rows.nnz / max(1, rows.shape[0]))
        self._store((rows, norms))

    def _store(self, objects: _Normed) -> None:
        self._objects, self.n = objects, objects[0].shape[0]

    def _select(self, numbers: Rows) -> _Normed:
        rows, norms = self._objects
        return rows[numbers], norms[numbers]

    def _encode(self, queries: Any) -> _Normed:
        """Return sorted rows without zeros, of length 1 for cosine, of ones for jaccard; and |x|_1 or |x|^2."""
        rows = csr_array(queries, copy=True).astype(np.float64)  # a copy: what follows works in place
        rows.sum_duplicates()  # and sorts
        rows.eliminate_zeros()
        counts = np.diff(rows.indptr)
        full, starts = counts > 0, rows.indptr[:-1][counts > 0]
        norms = np.zeros(len(counts))
        if not len(starts):
            return rows, norms
        if self._metric == "jaccard":
            rows.data[:] = 1
        elif self._metric == "cosine":
            # Divided by the largest entry first, so that squares neither overflow nor underflow.
            rows.data /= np.repeat(np.maximum.reduceat(np.abs(rows.data), starts), counts[full])
            rows.data /= np.repeat(np.sqrt(np.add.reduceat(rows.data**2, starts)), counts[full])
        with np.errstate(over="ignore"):
            norms[full] = np.add.reduceat(np.abs(rows.data) if self._metric == "manhattan" else rows.data**2, starts)
        return rows, norms

    def _compare(self, objects: _Normed, i: Rows, others: _Normed, j: Rows) -> Float64s:
        from medoids.distances.kernels.sparse import finish, sum_absolute, sum_products

        (rows, norms), (rows_y, norms_y) = objects, others
        mine, theirs = (rows.data, rows.indices, rows.indptr, i), (rows_y.data, rows_y.indices, rows_y.indptr, j)
        out = np.empty((len(i), len(j)))
        add = sum_absolute if self._metric == "manhattan" else sum_products
        width = max(rows.shape[1], rows_y.shape[1])
        table = np.zeros((width, int(np.clip(SPARSE_TABLE // max(1, width), 1, VECTOR_LANES))))
        add(*mine, *theirs, table, np.zeros(table.shape[1]), out)
        finish(*mine, norms, *theirs, norms_y, SPARSE_METRICS[self._metric], objects is others, out)
        return out

    def scaling(self) -> tuple[Any, Callable[[Any], Scalable], UnitRule] | None:
        if self._metric in _UNITLESS:
            return None
        degree, power = 2 if self._metric == "sqeuclidean" else 1, 1 if self._metric == "manhattan" else 2
        return self._objects[0], partial(Sparse, metric=self._metric), UnitRule(self._metric, degree, power)

    def cross_unscaled(self, queries: Any) -> Float64s:
        return Encoded.cross(self, queries)


class Sets(Sparse):
    """Sets of anything hashable, under 1 - |a and b| / |a or b|, 0 for two empty sets: a column for each member.

    Parameters
    ----------
    sets : sequence of sets
    """

    def __init__(self, sets: Any) -> None:
        self._members = Vocabulary()
        super().__init__(_rows(sets, self._members), "jaccard")

    def _encode(self, queries: Any) -> _Normed:
        return super()._encode(_rows(queries, Vocabulary(self._members)))


def _rows(sets: Any, members: Vocabulary) -> Any:
    """Return a sparse array with a row for each set."""
    numbers = [members.numbers(one) for one in sets]
    columns = np.array([number for one in numbers for number in one], dtype=np.int64)
    return csr_array((np.ones(len(columns)), columns, starts_of(numbers)), shape=(len(numbers), max(1, len(members))))
