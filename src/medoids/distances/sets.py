"""Jaccard's distance of sets of anything hashable."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from medoids.distances.encoded import starts_of
from medoids.distances.sparse import Sparse
from medoids.distances.vocabulary import Vocabulary
from medoids.engine.arrays import Float64s

__all__ = ["Sets"]


class Sets(Sparse):
    """1 - |a and b| / |a or b|, and 0 for two empty sets: sparse rows with a column for each member.

    Parameters
    ----------
    sets : sequence of sets
    """

    def __init__(self, sets: Any) -> None:
        self._members = Vocabulary()
        super().__init__(_rows(sets, self._members), "jaccard")

    def _encode(self, queries: Any) -> tuple[Any, Float64s]:
        return super()._encode(_rows(queries, self._members.copy()))


def _rows(sets: Any, members: Vocabulary) -> Any:
    """Return a sparse array with a row for each set."""
    numbers = [members.numbers(one) for one in sets]
    columns = np.array([number for one in numbers for number in one], dtype=np.int64)
    return csr_array((np.ones(len(columns)), columns, starts_of(numbers)), shape=(len(numbers), max(1, len(members))))
