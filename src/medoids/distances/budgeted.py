"""A budget of distances: what would exceed it is refused before it is computed.

A block is refused as a whole, so that the budget holds to the last distance, and whether the blocks of one piece of
work fit does not depend on the order in which threads ask for them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from threading import Lock
from typing import Any

from medoids.distances.protocol import Dissimilarity, Floats, Index, Wrapper, numbers_of
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.interrupts import BudgetSpent

__all__ = ["Allowance", "Budgeted"]


class Allowance:
    """How many distances a fit may compute.

    Parameters
    ----------
    most : int or None
        None sets no limit.

    Attributes
    ----------
    spent : int
        Distances that were granted so far.
    reserve : callable
        Returns the number of distances to keep for the end of the fit.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most: float = inf if most is None else most
        self._lock = Lock()
        self.spent = 0
        self.reserve: Callable[[], int] = int

    @property
    def left(self) -> float:
        """Number of distances that may still be computed, without the reserve; infinite without a limit."""
        return self._most - self.spent - self.reserve() if self._most < inf else inf

    def claim(self, count: int) -> None:
        """Grant this number of distances, or raise `BudgetSpent`.

        >>> allowance = Allowance(10)
        >>> allowance.claim(8)
        >>> allowance.left
        2
        """
        with self._lock:
            if count > self.left:
                raise BudgetSpent
            self.spent += count

    def lift(self) -> None:
        """Let the remaining work finish: what it needs was reserved."""
        self._most = inf


class Budgeted(Wrapper):
    """A dissimilarity that computes only what an allowance grants, and is the same otherwise."""

    def __init__(self, inner: Dissimilarity, allowance: Allowance) -> None:
        super().__init__(inner)
        self._allowance, self.spill = allowance, inner.spill

    @property
    def inner(self) -> Dissimilarity:
        """The dissimilarity itself."""
        return self._inner

    def _size(self, rows: Index, columns: Index) -> int:
        # Where values are remembered, `Calls` claims those that it has to compute.
        return 0 if self.remembers else len(numbers_of(rows, self.n)) * len(numbers_of(columns, self.n))

    def block(self, rows: Index, columns: Index) -> Floats:
        self._allowance.claim(self._size(rows, columns))
        return self._inner.block(rows, columns)

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        self._allowance.claim(self._size(rows, columns))
        return self._inner.exact_block(rows, columns)

    def take(self, rows: Index) -> Budgeted:
        return Budgeted(self._inner.take(rows), self._allowance)

    def reordered(self, order: Rows) -> Budgeted:
        return Budgeted(self._inner.reordered(order), self._allowance)

    def cross(self, queries: Any) -> Float64s:
        return self._inner.cross(queries)

    def copy_bytes(self) -> int:
        return self._inner.copy_bytes()

    def complete(self) -> Bools | None:
        return self._inner.complete()
