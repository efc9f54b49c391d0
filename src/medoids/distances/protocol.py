"""What the rest of the package may know of a distance: blocks of numbers between numbered objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from medoids.engine.arrays import Bools, Float64s, Floats, Rows
from medoids.engine.threads import Threads, spans

__all__ = ["Dissimilarity", "Facts", "Floats", "Index", "Reordered", "by_lots", "fits_float32", "numbers_of"]

# Which objects: a slice (no copy is made) or an array of row numbers.
Index = slice | Rows
# Nanoseconds of work that cannot be interrupted.
_WAIT = 1.5e8


@dataclass(frozen=True)
class Facts:
    """What is true of all objects together, where each worker holds some, and decides how distances are computed.

    Attributes
    ----------
    small : bool
        Whether there are so few objects that everything runs in float64 and without Numba.
    centre : ndarray
        Mean of the vectors.
    top : float
        Largest absolute value after centring.
    most : float
        A bound on all distances, where it was asked for; else infinite.
    longest, length : int, float
        Largest and mean length of texts.
    tokens : bool
        Whether some texts are sequences of tokens rather than strings.
    """

    small: bool
    centre: Float64s = field(default_factory=lambda: np.zeros(0))
    top: float = 0.0
    most: float = np.inf
    longest: int = 0
    length: float = 0.0
    tokens: bool = False


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
    timed : bool
        Whether ``cost`` is a guess, and only a measurement tells: of a callable's.
    threaded : bool
        Whether `block` may run in several threads at once and gains from it.
    triangle : bool
        Whether d(a, c) <= d(a, b) + d(b, c) is known to hold.
    spill : bool
        Whether a working copy of X goes into a temporary file, for an X that is on disk itself.
    remembers : bool
        Whether every distance that was computed is kept, so that asking for it again costs nothing.
    """

    n: int
    dtype: np.dtype[Any]
    exact: bool
    symmetric: bool
    cost: float
    threaded: bool
    triangle: bool = False
    spill: bool = False
    timed: bool = False
    remembers: bool = False

    @abstractmethod
    def block(self, rows: Index, columns: Index) -> Floats:
        """Distances d(row, column) as an array of shape (rows, columns)."""

    def prepare(self, threads: Threads | None = None) -> None:  # noqa: B027 (most have nothing to do)
        """Do now, and in threads, what the first block would have to do; called before blocks run in several."""

    def most(self) -> float:
        """Return a bound on all distances; infinite where none is known."""
        return np.inf

    def steps(self, rows: Index, columns: Index, step: float, places: Rows, values: Floats) -> bool:
        """Fill lanes, by their places, with distances in whole numbers of a step; False if there is only `block`.

        ``values[place // LANES, row, place % LANES]`` is d(row, column), for the place of each column.
        """
        return False

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        """Return the same distances in float64 from the original data; decisions and losses rest on it."""
        return np.asarray(self.block(rows, columns), dtype=np.float64)

    def complete(self) -> Bools | None:
        """Return which objects have no gaps, in a new array; None where objects cannot have any."""
        return None

    def copy_bytes(self) -> int:
        """Return the size of the working copy of X that `prepare` makes; 0 where there is none."""
        return 0

    def release(self) -> None:  # noqa: B027
        """Give back what was read of an X that is on disk."""

    def reordered(self, order: Rows) -> Dissimilarity:
        """Return the same distances with object ``order[i]`` as number i, for `block` only; the data are shared.

        A search that looks at objects in a fixed random order then takes slices, where it would have to gather rows.
        """
        return Reordered(self, order)

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Dissimilarity:
        """Return the same distance among objects that are part of a larger whole, and that `put` may replace.

        ``numbers`` are theirs in the whole, for messages.
        """
        raise ValueError(f"{type(self).__name__} distances cannot be shared by several workers; fit on one machine")

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        """Put other objects, by whatever number they have in the whole, in the place of some; see `hosting`."""
        raise NotImplementedError

    @abstractmethod
    def take(self, rows: Index) -> Dissimilarity:
        """Return the same distance among some of the objects only, with whatever was fitted to all of them."""

    @abstractmethod
    def cross(self, queries: Any) -> Float64s:
        """Distances d(object, query) from all objects here to other data, of shape (n, queries)."""


def fits_float32(top: float, columns: int, p: float = 1.0) -> bool:
    """Whether squares and p-th powers of values up to ``top`` in size neither overflow nor vanish in float32."""
    if not 1e-15 < top < 1e15:
        return False
    # From a thousandth of the norms on, a distance is made of powers in float32; a sum over columns must fit, too.
    low, high = p * np.log10(1e-3 * top), p * np.log10(2 * top) + np.log10(columns)
    return bool(low > -37 and high < 38)


def numbers_of(index: Index, n: int) -> Rows:
    """Row numbers that an index stands for, at the cost of those rows only, however many there are.

    >>> numbers_of(slice(2, None), 5)
    array([2, 3, 4])
    """
    return np.arange(*index.indices(n)) if isinstance(index, slice) else index


def by_lots(fill: Callable[[Rows], Floats], n: int, queries: int, cost: float) -> Float64s:
    """Distances from n objects to queries, in lots of some tenths of a second: Ctrl-C comes between them."""
    out = np.empty((n, queries))
    for lot in spans(queries, max(1, int(_WAIT / (cost * max(1, n))))):
        out[:, lot] = fill(np.arange(lot.start, lot.stop))
    return out


class Reordered(Dissimilarity):
    """Another numbering of the same objects."""

    def __init__(self, inner: Dissimilarity, order: Rows) -> None:
        self._inner, self._order = inner, order
        self.n, self.dtype, self.exact = len(order), inner.dtype, inner.exact
        self.symmetric, self.cost, self.threaded = inner.symmetric, inner.cost, inner.threaded
        self.triangle = inner.triangle

    def prepare(self, threads: Threads | None = None) -> None:
        self._inner.prepare(threads)

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._inner.block(self._order[rows], self._order[columns])

    def take(self, rows: Index) -> Dissimilarity:
        return self._inner.take(self._order[rows])

    def cross(self, queries: Any) -> Float64s:
        return self._inner.cross(queries)[self._order]
