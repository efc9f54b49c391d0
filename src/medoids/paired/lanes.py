"""Where distances are stored: arms side by side in lanes, sixteen to a group, so that a loop over lanes is a vector's.

A level is a run of references. An arm that is stored there has a place, group * LANES + lane, and keeps it until it is
forgotten; the lanes of those that are make room for others without anything being moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances import Floats
from medoids.engine import LANES
from medoids.engine.arrays import Rows
from medoids.engine.threads import Threads, spans

__all__ = ["Level", "Order", "References", "Tile", "Work", "scan_stored"]

# Stored distances of a chunk, at least and at most: some hundredths of a millisecond of work, and some tenths. Each
# thread gets two: an arm's sums are the same in any chunk.
_LEAST, _MOST, _SHARES = 1 << 17, 1 << 20, 2
# References that are sorted together: their distances from a group of arms stay in a core's nearest cache.
_STRETCH = 1024
# References that make a group wider than a cache, and how many of them to ask for before they are read.
_WIDE, _SOON = 2048, 64
# References of a chunk when lanes move.
_COLUMNS = 128
# Memory of forgotten arms is given back from this share of a level on.
_SHRINK = 0.25


@dataclass
class Tile:
    """Some distances: arm number ``at[g, lane]`` of those asked for has ``values[groups[g], columns, lane]``.

    Attributes
    ----------
    values : ndarray of shape (groups, references, lanes)
    groups : ndarray
    at : ndarray of shape (groups, lanes)
        -1 for a lane that nobody asked for.
    columns : ndarray or None
        None if they are all there are, in order.
    run : slice
        Which of the references asked for these columns are.
    """

    values: Floats
    groups: Rows
    at: Rows
    columns: Rows | None
    run: slice

    @property
    def all_columns(self) -> Rows:
        """Columns as numbers in any case."""
        return np.arange(self.run.stop - self.run.start) if self.columns is None else self.columns


Work = Callable[[Tile], None]


class Order:
    """In which order kernels read references: see ``lane_kernels.py``.

    Parameters
    ----------
    slot : ndarray or None
        By which to sort them, so that the sums of a slot stay in registers until it is done; None leaves their order.
    times : int
        Entries for each reference.
    """

    def __init__(self, slot: Rows | None = None, times: int = 1) -> None:
        self._slot, self.times = slot, times
        self._runs: dict[tuple[int, int], tuple[Rows, Rows, Rows, int, tuple[Rows, ...]]] = {}

    def of(self, run: slice) -> tuple[Rows, Rows, Rows, int, tuple[Rows, ...]]:
        """Return the entries of a run in order; the references whose they are and which to ask for early; and more.

        That is of how many groups ahead to ask for them, and of the slots where they start and which they are.
        """
        key = run.start, run.stop
        if key not in self._runs:
            self._runs[key] = self._sort(slice(self.times * run.start, self.times * run.stop))
        return self._runs[key]

    def _sort(self, run: slice) -> tuple[Rows, Rows, Rows, int, tuple[Rows, ...]]:
        natural = np.arange(run.stop - run.start)
        if self._slot is None:
            return natural, *self._places(natural, natural), ()
        slot = self._slot[run]
        slots = int(slot.max(initial=0)) + 1
        stretches = -(-len(slot) // _STRETCH)
        # Two bytes, where they are enough, are sorted in a tenth of the time.
        kind = np.uint16 if stretches * slots < 1 << 16 else np.intp
        key = np.repeat(np.arange(0, stretches * slots, slots, dtype=kind), _STRETCH)[: len(slot)] + slot.astype(kind)
        order = np.argsort(key, kind="stable")
        sorted_key = key[order]
        starts = np.concatenate([[0], np.flatnonzero(sorted_key[1:] != sorted_key[:-1]) + 1])
        return order, *self._places(order, natural), (np.append(starts, len(order)), slot[order[starts]])

    def _places(self, order: Rows, natural: Rows) -> tuple[Rows, Rows, int]:
        """Return references to read, what to ask for before it is read, and of which group.

        That is the group after the next, from front to back, or where a group is more than a cache holds the next
        references of the same one.
        """
        early, ahead = (natural, 2) if len(order) <= _WIDE else (np.concatenate([order[_SOON:], order[:_SOON]]), 0)
        if self.times > 1:
            return order // self.times, early // self.times, ahead
        return order, early, ahead


class References:
    """References in order, with what is known of each.

    Parameters
    ----------
    order : Order
    facts : ndarray
        Each has one entry, or several if the order says so, for each reference.
    """

    def __init__(self, order: Order, *facts: Floats) -> None:
        self._order, self._facts = order, np.stack(facts, axis=1)
        self._runs: dict[tuple[int, int], Floats] = {}

    def of(self, tile: Tile) -> tuple[Any, ...]:
        """Return what kernels take of the references of a tile, from ``columns`` on."""
        order, read, early, ahead, slots = self._order.of(tile.run)
        key = tile.run.start, tile.run.stop
        if key not in self._runs:
            self._runs[key] = self._facts[self._order.times * tile.run.start :].take(order, axis=0)
        if tile.columns is not None:
            read, early = tile.columns[read], tile.columns[early]
        return read, early, ahead, *slots, self._runs[key]


@dataclass
class Level:
    """One run of references, and the distances from arms to them that are stored."""

    span: slice
    place: npt.NDArray[np.int32] | None  # of each arm; -1 where it is not stored; None if none is
    values: Floats  # (groups, references, lanes)
    used: int = 0  # lanes from the first on that are or were in use
    free: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))  # of these, ascending

    @property
    def width(self) -> int:
        """References."""
        return int(self.span.stop - self.span.start)

    @property
    def room(self) -> int:
        """Arms for which there is room."""
        return len(self.free) + len(self.values) * LANES - self.used

    @property
    def stored(self) -> int:
        """Arms that are stored."""
        return self.used - len(self.free)

    def places(self, arms: Rows) -> Rows:
        """Return where some arms are stored."""
        return np.full(len(arms), -1) if self.place is None else self.place[arms].astype(np.intp)

    def groups_for(self, more: int) -> int:
        """Return how many groups hold what is stored and so many arms more."""
        return -(-(self.used + more - min(more, len(self.free))) // LANES)

    def resize(self, groups: int) -> None:
        """Change how many groups there is memory for."""
        shape = (groups, *self.values.shape[1:])
        if len(self.values):
            # In place: a copy would need the memory of both for a moment. (But it means to write zeros first.)
            self.values.resize(shape, refcheck=False)
        else:
            self.values = np.empty(shape, self.values.dtype)

    def take(self, count: int) -> Rows:
        """Return places, ascending, that are nobody's from now on."""
        old, new = self.free[:count], max(0, count - len(self.free))
        places = np.concatenate([old, np.arange(self.used, self.used + new)]).astype(np.intp)
        self.free, self.used = self.free[len(old) :], self.used + new
        return places

    def keep(self, arms: Rows, more: int, threads: Threads) -> None:
        """Forget all arms but some, and give back memory that these and so many more do not need."""
        assert self.place is not None
        kept = arms[self.place[arms] >= 0]
        places = self.place[kept]
        groups = min(len(self.values), -(-(len(kept) + more) // LANES))
        if groups <= (1 - _SHRINK) * len(self.values):
            self.used = min(self.used, groups * LANES)
            last = np.flatnonzero(places >= self.used)
            target = self._others(places)[: len(last)]
            self._move(places[last], target, threads)
            places[last] = target
            self.resize(groups)
        self.place[:] = -1
        self.place[kept] = places
        self.free = self._others(places)

    def _others(self, places: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the lanes in use but some."""
        free = np.ones(self.used, dtype=bool)
        free[places[places < self.used]] = False
        return np.flatnonzero(free).astype(np.int32)

    def _move(self, origin: npt.NDArray[np.int32], target: npt.NDArray[np.int32], threads: Threads) -> None:
        from medoids.paired.lane_kernels import move_lanes

        values = self.values
        threads.map(lambda run: move_lanes(values[:, run], origin, target), spans(values.shape[1], _COLUMNS))


def scan_stored(
    values: Floats,
    place: npt.NDArray[np.int32],
    arms: Rows,
    first: int,
    columns: Rows | None,
    threads: Threads,
    work: Work,
) -> Rows:
    """Call ``work`` with what is stored of some arms, numbered from ``first`` on; return the numbers of the others.

    Of some columns, or of all.
    """
    from medoids.paired.lane_kernels import find_lanes

    others: Rows
    groups, at, others = find_lanes(place, arms, first, len(values))
    run = slice(0, values.shape[1] if columns is None else len(columns))
    share = len(groups) * LANES * run.stop // (_SHARES * threads.n_jobs)
    size = min(max(share, _LEAST), _MOST)
    chunks = spans(len(groups), max(1, -(-size // (LANES * max(1, run.stop)))))
    threads.map(lambda chunk: work(Tile(values, groups[chunk], at[chunk], columns, run)), chunks)
    return others
