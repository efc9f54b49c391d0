"""Counts of distances, kept per phase and per block, never per pair."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from medoids.distances.protocol import Dissimilarity, Floats, Index, Wrapper
from medoids.engine.arrays import Float64s, Rows

__all__ = ["Count", "Counted", "Tally"]


@dataclass
class Count:
    """Distances of one phase: requested, computed (or read from a given matrix), and found in a cache."""

    requested: int = 0
    computed: int = 0
    cached: int = 0

    def __sub__(self, other: Count) -> Count:
        return Count(self.requested - other.requested, self.computed - other.computed, self.cached - other.cached)


class Tally:
    """Counts per phase; the algorithm sets the current phase.

    Attributes
    ----------
    counts : dict of str to Count
    calls : int
        Calls of a metric that is a Python function, counted while a block is being computed.
    current : str
        The phase that is under way.
    """

    def __init__(self) -> None:
        self.counts: dict[str, Count] = {}
        self.calls = 0
        self.current = "exact"
        self._plans: dict[str, tuple[int, int]] = {}
        self._lock = Lock()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        before, self.current = self.current, name
        try:
            yield
        finally:
            self.current = before

    def add(self, *, computed: int = 0, cached: int = 0) -> None:
        with self._lock:
            count = self.counts.setdefault(self.current, Count())
            count.requested += computed + cached
            count.computed += computed
            count.cached += cached

    def plan(self, total: int) -> None:
        """Say how many distances the current phase is going to compute from here on."""
        self._plans[self.current] = (self.counts.get(self.current, Count()).computed, total)

    @property
    def share(self) -> float | None:
        """Share of what the current phase has planned that is done; None where it has no plan.

        >>> tally = Tally()
        >>> with tally.phase("matrix"):
        ...     tally.plan(200)
        ...     tally.add(computed=50)
        ...     tally.share
        0.25
        """
        if self.current not in self._plans:
            return None
        before, total = self._plans[self.current]
        return min(1.0, (self.counts.get(self.current, Count()).computed - before) / max(1, total))

    @property
    def computed(self) -> int:
        return sum(count.computed for count in self.counts.values())


class Counted(Wrapper):
    """A dissimilarity that reports the size of every block that it computes."""

    def __init__(self, inner: Dissimilarity, tally: Tally) -> None:
        super().__init__(inner)
        self._tally = tally

    def reordered(self, order: Rows) -> Counted:
        return Counted(self._inner.reordered(order), self._tally)

    def block(self, rows: Index, columns: Index) -> Floats:
        out = self._inner.block(rows, columns)
        self._tally.add(computed=out.size)
        return out

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        out = self._inner.exact_block(rows, columns)
        self._tally.add(computed=out.size)
        return out

    def take(self, rows: Index) -> Counted:
        return Counted(self._inner.take(rows), self._tally)

    def cross(self, queries: Any) -> Float64s:
        return self._inner.cross(queries)
