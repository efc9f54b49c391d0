"""Distances that PairedPAM has computed, kept by level for the arms that reached it.

References are numbered by the permutation, and a level is a run of them. Level 0 is computed for every arm; a later one
only for those that are still in question there, and these are mostly the same from step to step.

Within ``memory_limit`` nothing is ever computed twice. What does not fit is computed for the moment and forgotten: the
same numbers at the price of more distances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from medoids.distances import Dissimilarity, Floats, Tally
from medoids.engine.threads import Threads, spans

__all__ = ["LANES", "Level", "Levels", "Piece", "piece_of", "rounds"]

Rows = npt.NDArray[np.intp]
# Arms of a group: a cache line of float32.
LANES = 16
# Arms and references of a tile, which stays in a core's cache, and nanoseconds of work in one.
_ARMS, _REFERENCES = 512, 512
_MOST = 2048  # references, where arms are few
_WAIT = 1.5e8


def rounds(n: int, first: int) -> list[slice]:
    """Cut ``range(n)`` into levels: a first one, growth by a quarter up to four times it, then by half.

    >>> rounds(6000, 512)[:4]
    [slice(0, 512, None), slice(512, 640, None), slice(640, 800, None), slice(800, 1000, None)]
    """
    ends = [min(first, n)]
    while ends[-1] < n:
        ends.append(min(n, ends[-1] * 5 // 4 if ends[-1] < 4 * first else ends[-1] * 3 // 2))
    # A last level of a few references is not worth a round of its own.
    if len(ends) > 1 and n - ends[-2] < ends[-2] // 4:
        del ends[-2]
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@dataclass
class Piece:
    """Distances of a level: arm number ``at[g, lane]`` of those asked for has ``values[groups[g], :, lane]``."""

    values: Floats
    groups: Rows
    at: Rows  # (groups, lanes); -1 for a lane that nobody asked for


@dataclass
class Level:
    """One run of references, and the distances from arms to them that are stored."""

    span: slice
    place: Rows  # of each arm, group * LANES + lane; -1 where it is not stored
    values: Floats  # (groups, references, lanes)
    used: int = 0  # groups


class Levels:
    """The levels of a fit.

    Parameters
    ----------
    distance : Dissimilarity
        Numbered by the permutation.
    spans : list of slice
    memory_limit : int
    threads : Threads
    tally : Tally
    """

    def __init__(
        self, distance: Dissimilarity, spans: list[slice], memory_limit: int, threads: Threads, tally: Tally
    ) -> None:
        self.n = distance.n
        self._distance, self._threads, self._tally = distance, threads, tally
        self._budget = memory_limit
        self._bytes = 0
        self.levels = [
            Level(
                span,
                np.full(self.n, -1, dtype=np.intp),
                np.empty((0, span.stop - span.start, LANES), distance.dtype),
            )
            for span in spans
        ]
        distance.prepare(threads)
        self._spare = [np.empty(0, distance.dtype), np.empty(0, distance.dtype)]

    def __getitem__(self, l: int) -> Level:
        return self.levels[l]

    def __len__(self) -> int:
        return len(self.levels)

    def fill(self, l: int, arms: Rows) -> None:
        """Compute and store what is missing of a level for some arms, as far as memory allows."""
        level = self.levels[l]
        missing = arms[level.place[arms] < 0]
        width = level.span.stop - level.span.start
        known = len(arms) - len(missing)
        missing = missing[: self._reserve(level, len(missing))]
        self._tally.add(cached=known * width, computed=len(missing) * width)
        if len(missing):
            start = level.used
            level.used += -(-len(missing) // LANES)
            self._compute(level.values[start : level.used], missing, level.span)
            level.place[missing] = start * LANES + np.arange(len(missing))

    def _compute(self, values: Floats, arms: Rows, references: slice) -> None:
        """Fill groups with the distances from arms to a run of references."""
        from medoids.algorithms.kernels import store_lanes

        width = references.stop - references.start
        tall = min(_MOST, max(_REFERENCES, _ARMS * _REFERENCES // (LANES * len(values))))
        # Ctrl-C need not wait for a tile.
        groups = int(max(1, min(_ARMS, _WAIT / (self._distance.cost * min(tall, width))) // LANES))
        in_order = arms[-1] - arms[0] == len(arms) - 1  # then a slice will do, and no row is copied

        def work(tile: tuple[slice, slice]) -> None:
            lot, run = tile
            part = slice(lot.start * LANES, min(lot.stop * LANES, len(arms)))
            rows = slice(int(arms[part.start]), int(arms[part.stop - 1]) + 1) if in_order else arms[part]
            some = slice(references.start + run.start, references.start + run.stop)
            if self._distance.symmetric:
                block = self._distance.block(some, rows)
            else:
                block = self._distance.block(rows, some).T
            store_lanes(block, values[lot, run])

        tiles = [(lot, run) for lot in spans(len(values), groups) for run in spans(width, tall)]
        self._threads.map(work, tiles, threaded=self._distance.threaded)

    def _reserve(self, level: Level, more: int) -> int:
        """Make room for more arms; return for how many there is room."""
        size = self._distance.dtype.itemsize * LANES * level.values.shape[1]
        have, most = len(level.values), -(-self.n // LANES)
        need = level.used + -(-more // LANES)
        if need > have:
            free = self._budget - self._bytes
            want = min(max(need, min(most, have * 3 // 2)), have + free // size)
            if want > have:
                # In place: a copy would need the memory of both for a moment.
                level.values.resize((want, *level.values.shape[1:]), refcheck=False)
                self._bytes += (want - have) * size
        return int(min(more, (len(level.values) - level.used) * LANES))

    def pieces(self, l: int, arms: Rows) -> Iterator[Piece]:
        """Distances of a level for these arms: stored ones, then what there was no room for, computed again."""
        level = self.levels[l]
        place = level.place[arms]
        stored = np.flatnonzero(place >= 0)
        if len(stored):
            yield piece_of(level.values, place[stored], stored)
        forgotten = np.flatnonzero(place < 0)
        width = level.span.stop - level.span.start
        for lot in spans(len(forgotten), max(LANES, (1 << 22) // width)):
            some = forgotten[lot]
            values = np.empty((-(-len(some) // LANES), width, LANES), dtype=self._distance.dtype)
            self._compute(values, arms[some], level.span)
            self._tally.add(computed=len(some) * width)
            yield piece_of(values, np.arange(len(some)), some)

    def spare(self, size: int) -> Floats:
        """Return a buffer that stays as it is until the next but one is asked for.

        A new array of megabytes costs the system more (it hands out pages of zeros) than it takes to fill it.
        """
        self._spare.reverse()
        if len(self._spare[0]) < size:
            self._spare[0] = np.empty(size, self._distance.dtype)
        return self._spare[0][:size]

    def row(self, l: int, arm: int) -> npt.NDArray[np.float64]:
        """Distances from one arm to the references of a level."""
        level = self.levels[l]
        place = int(level.place[arm])
        if place >= 0:  # without the work of finding its neighbours
            stored: npt.NDArray[np.float64] = level.values[place // LANES, :, place % LANES].astype(np.float64)
            return stored
        piece = next(self.pieces(l, np.array([arm])))
        lane = int(np.argmax(piece.at[0] == 0))
        row: npt.NDArray[np.float64] = piece.values[piece.groups[0], :, lane].astype(np.float64)
        return row


def piece_of(values: Floats, place: Rows, numbers: Rows) -> Piece:
    """Return the groups in which some arms are placed; ``numbers`` are theirs among those asked for."""
    group = place // LANES
    used = np.zeros(len(values), dtype=bool)
    used[group] = True
    groups = np.flatnonzero(used)
    at = np.full((len(groups), LANES), -1, dtype=np.intp)
    at[(np.cumsum(used) - 1)[group], place % LANES] = numbers
    return Piece(values, groups, at)
