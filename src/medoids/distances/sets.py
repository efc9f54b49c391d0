"""Jaccard's distance of sets of anything hashable."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from medoids.distances.protocol import Dissimilarity, Index
from medoids.distances.sparse import Sparse
from medoids.distances.vocabulary import Vocabulary
from medoids.engine.arrays import Float64s
from medoids.engine.threads import Threads

__all__ = ["Sets"]


class Sets(Dissimilarity):
    """1 - |a and b| / |a or b|, and 0 for two empty sets: sparse rows with a column for each member.

    Parameters
    ----------
    sets : sequence of sets
    """

    dtype = np.dtype(np.float64)
    exact = True
    symmetric = True
    threaded = True

    def __init__(self, sets: Any) -> None:
        self._members = Vocabulary()
        self._sparse = Sparse(_rows(sets, self._members), "jaccard")
        self.n, self.cost = self._sparse.n, self._sparse.cost

    def prepare(self, threads: Threads | None = None) -> None:
        self._sparse.prepare(threads)

    def block(self, rows: Index, columns: Index) -> Float64s:
        return self._sparse.block(rows, columns)

    def take(self, rows: Index) -> Sets:
        part: Sets = object.__new__(Sets)
        part._members, part._sparse = self._members, self._sparse.take(rows)
        part.n, part.cost = part._sparse.n, part._sparse.cost
        return part

    def cross(self, queries: Any) -> Float64s:
        return self._sparse.cross(_rows(queries, self._members.copy()))


def _rows(sets: Any, members: Vocabulary) -> Any:
    numbers = [members.numbers(one) for one in sets]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in numbers])])
    columns = np.array([number for one in numbers for number in one], dtype=np.int64)
    return csr_array((np.ones(len(columns)), columns, starts), shape=(len(numbers), max(1, len(members))))
