"""What a distance is: blocks of numbers between numbered objects, and facts about them.

A new distance subclasses `Dissimilarity` and writes ``block``, ``take`` and ``cross``; the rest has defaults. (One that
first translates its objects into arrays is shorter still as an ``encoded.Encoded``.) What only some distances can do
stands apart, in `Searchable` and `Shareable`, with defaults for those that cannot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from medoids.engine.arrays import Bools, Digests, Float64s, Floats, Rows
from medoids.engine.threads import Threads

__all__ = ["Dissimilarity", "Facts", "Floats", "Index", "Searchable", "Shareable", "Wrapper", "numbers_of"]

# Which objects: a slice (no copy is made) or an array of row numbers.
Index = slice | Rows


class Searchable:
    """What a distance may offer to algorithms that compute many blocks of it; all of it is optional.

    Attributes
    ----------
    spill : bool
        Whether the working copy of X goes into a temporary file, for an X that is on disk itself.
    timed : bool
        Whether ``cost`` is a guess that a measurement should replace: for callables.
    remembers : bool
        Whether every computed distance is kept, so that computing it again costs nothing.
    wide_range : bool
        Whether distances may be so large or small that their squares overflow or underflow.
    least_accurate : float
        Smaller distances, except 0, have lost digits or stand for even smaller ones.
    """

    spill: bool = False
    timed: bool = False
    remembers: bool = False
    wide_range: bool = False
    least_accurate: float = 0.0

    def prepare(self, threads: Threads | None = None) -> None:
        """Do what the first block would otherwise have to do, in threads; called before blocks run in several."""

    def release(self) -> None:
        """Return memory that holds pages of an X on disk."""

    def copy_bytes(self) -> int:
        """Return the size of the working copy of X that `prepare` makes; 0 if there is none."""
        return 0

    def least_sums(self, weights: Float64s) -> Float64s | None:
        """Return lower bounds on the sum over s of weights[s] d(i, s) for each object i; None if none is cheap."""
        return None

    def digests(self, rows: Rows) -> Digests | None:
        """Return 16 bytes for each of some objects, the same for equal ones and for hardly any others.

        None where equal objects may be at a distance from each other, or where that is not known.
        """
        return None

    def complete(self) -> Bools | None:
        """Return a new array that marks the objects without missing values; None if no value can be missing."""
        return None


@dataclass(frozen=True)
class Facts:
    """What workers that hold parts of X need to know about all of it, to compute the same distances.

    Attributes
    ----------
    small : bool
        Whether there are few enough objects to compute everything in float64 and without Numba.
    centre : ndarray
        Mean of the vectors.
    top : float
        Largest absolute value after centring.
    longest, length : int, float
        Largest and mean length of texts.
    tokens : bool
        Whether some texts are sequences of tokens rather than strings.
    """

    small: bool
    centre: Float64s = field(default_factory=lambda: np.zeros(0))
    top: float = 0.0
    longest: int = 0
    length: float = 0.0
    tokens: bool = False


class Shareable:
    """What a distance needs so that workers of a cluster can compute it, each with rows of its own and of others."""

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Dissimilarity:
        """Return the same distance among objects that are part of a larger whole, and that `put` may replace.

        ``numbers`` are their row numbers in the whole, for messages.
        """
        raise ValueError(f"{type(self).__name__} distances cannot be shared by several workers; fit on one machine")

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        """Replace some of the objects of a distance that `hosting` returned by others."""
        raise NotImplementedError


class Dissimilarity(Searchable, Shareable, ABC):
    """Distances among ``n`` objects, oriented as d(medoid, point).

    Attributes
    ----------
    n : int
        Number of objects.
    cost : float
        Rough cost of one distance in nanoseconds; determines how much work goes into one interruptible chunk.
    dtype : numpy.dtype
        Of what `block` returns.
    exact : bool
        Whether `block` is as accurate as `exact_block`. If not, `block` serves to find candidates and `exact_block` to
        decide among them.
    symmetric : bool
        Whether d(a, b) = d(b, a), so that half a matrix is enough.
    triangle : bool
        Whether d(a, c) <= d(a, b) + d(b, c) is known to hold.
    threaded : bool
        Whether `block` may run in several threads at once and is faster for it.
    """

    n: int
    cost: float
    dtype: np.dtype[Any] = np.dtype(np.float64)
    exact: bool = True
    symmetric: bool = False
    triangle: bool = False
    threaded: bool = True

    @property
    def n_rows(self) -> int:
        """Number of objects that may be medoids: those of the points, except in a rectangular matrix."""
        return self.n

    @abstractmethod
    def block(self, rows: Index, columns: Index) -> Floats:
        """Return distances d(row, column) as an array of shape (rows, columns)."""

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        """Return the same distances in float64 from the original data; decisions and losses rest on these."""
        return np.asarray(self.block(rows, columns), dtype=np.float64)

    @abstractmethod
    def take(self, rows: Index) -> Dissimilarity:
        """Return the same distance among some of the objects, with everything that was fitted to all of them."""

    def fitted(self) -> dict[str, Any]:
        """Return what was fitted to all objects and does not follow from some of them, as parameters of plain values.

        The same distance among some of the objects is made of these, the metric and its parameters: by ``restored``.
        """
        return {}

    @abstractmethod
    def cross(self, queries: Any) -> Float64s:
        """Return distances d(object, query) from all objects to new data, of shape (n, queries)."""

    def reordered(self, order: Rows) -> Dissimilarity:
        """Return the same distances with object ``order[i]`` as number i, for `block` only; the data are shared.

        A search that visits objects in a fixed random order then reads slices instead of gathering rows.
        """
        return _Reordered(self, order)


class Wrapper(Dissimilarity):
    """A distance made from another one, with the same facts."""

    def __init__(self, inner: Dissimilarity) -> None:
        self._inner = inner
        self.n, self.cost, self.dtype, self.exact = inner.n, inner.cost, inner.dtype, inner.exact
        self.symmetric, self.triangle, self.threaded = inner.symmetric, inner.triangle, inner.threaded
        self.timed, self.remembers = inner.timed, inner.remembers
        self.wide_range, self.least_accurate = inner.wide_range, inner.least_accurate

    @property
    def n_rows(self) -> int:
        return self._inner.n_rows

    def fitted(self) -> dict[str, Any]:
        return self._inner.fitted()

    def digests(self, rows: Rows) -> Digests | None:
        return self._inner.digests(rows)

    def prepare(self, threads: Threads | None = None) -> None:
        self._inner.prepare(threads)

    def release(self) -> None:
        self._inner.release()


class _Reordered(Wrapper):
    """Another numbering of the same objects."""

    def __init__(self, inner: Dissimilarity, order: Rows) -> None:
        super().__init__(inner)
        self.n, self._order = len(order), order

    @property
    def n_rows(self) -> int:
        return self.n

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._inner.block(self._order[rows], self._order[columns])

    def take(self, rows: Index) -> Dissimilarity:
        return self._inner.take(self._order[rows])

    def digests(self, rows: Rows) -> Digests | None:
        return self._inner.digests(self._order[rows])

    def cross(self, queries: Any) -> Float64s:
        return self._inner.cross(queries)[self._order]


def numbers_of(index: Index, n: int) -> Rows:
    """Return the row numbers that an index of ``n`` rows stands for; the cost does not depend on ``n``.

    >>> numbers_of(slice(2, None), 5)
    array([2, 3, 4])
    """
    return np.arange(*index.indices(n)) if isinstance(index, slice) else index
