"""What the rest of the package may know of a distance: blocks of numbers between numbered objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Dissimilarity", "Floats", "Index", "length"]

Floats = npt.NDArray[Any]
# Which objects: a slice (no copy is made) or an array of row numbers.
Index = slice | npt.NDArray[np.intp]


def length(index: Index, n: int) -> int:
    """How many objects an index names.

    >>> length(slice(2, 5), 10), length(np.array([7, 1]), 10)
    (3, 2)
    """
    return len(range(*index.indices(n))) if isinstance(index, slice) else len(index)


class Dissimilarity(ABC):
    """Distances among ``n`` objects, oriented as d(medoid, point).

    Attributes
    ----------
    n : int
        Number of objects.
    dtype : numpy.dtype
        Of what `block` returns.
    exact : bool
        Whether `block` is as accurate as `exact_block`. If not, `block` serves to find candidates and `exact_block` to
        decide among them.
    symmetric : bool
        Whether d(a, b) = d(b, a), so that half a matrix is enough.
    cost : float
        A rough price of one distance in nanoseconds; sets how much work goes into one interruptible chunk.
    threaded : bool
        Whether `block` may run in several threads at once and gains from it.
    """

    n: int
    dtype: np.dtype[Any]
    exact: bool
    symmetric: bool
    cost: float
    threaded: bool

    @abstractmethod
    def block(self, rows: Index, columns: Index) -> Floats:
        """Distances d(row, column) as an array of shape (rows, columns)."""

    def exact_block(self, rows: Index, columns: Index) -> npt.NDArray[np.float64]:
        """Return the same distances in float64 from the original data; decisions and losses rest on it."""
        return np.asarray(self.block(rows, columns), dtype=np.float64)

    @abstractmethod
    def take(self, rows: Index) -> Dissimilarity:
        """Return the same distance among some of the objects only, with whatever was fitted to all of them."""

    @abstractmethod
    def cross(self, queries: Any) -> npt.NDArray[np.float64]:
        """Distances d(object, query) from all objects here to other data, of shape (n, queries)."""
