"""Distances are computed in tiles, which stay in a core's cache: to be stored, or for the moment and forgotten.

Where memory is full they are computed again and again, so then only those that may matter: landmarks tell, where the
triangle inequality holds, which are above all that their references ask about (``landmarks.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances import Dissimilarity, Floats, Index, Tally
from medoids.distances.protocol import numbers_of
from medoids.engine import LANES
from medoids.engine.arrays import Rows
from medoids.engine.threads import Threads, spans
from medoids.paired.landmarks import Landmarks
from medoids.paired.lanes import Level, Tile, Work

__all__ = ["Tiles"]

# Distances of a tile, which stays in a core's cache; its arms (a product needs some to be fast) and references.
_TILE = 1 << 18
_FEWEST, _ARMS, _REFERENCES = 64, 4096, 2048
# Tiles that there are at least, unless these take fewer than so many nanoseconds; none takes more than so many.
_SHARES, _LEAST, _WAIT = 8, 2e5, 1.5e8
# Landmarks that leave so large a share of distances cost more than they save. One scan does without them then, two if
# they fail again, and so on up to so many.
_HOPELESS, _PAUSE = 0.9, 64


class Tiles:
    """What computes the distances of `Levels`.

    Parameters
    ----------
    distance : Dissimilarity
    step : float
        The unit of distances: 1 if they are not coarse.
    dtype : dtype
    threads : Threads
    tally : Tally
    """

    def __init__(
        self, distance: Dissimilarity, step: float, dtype: np.dtype[Any], threads: Threads, tally: Tally
    ) -> None:
        self._distance, self._step, self._dtype = distance, step, dtype
        self._threads, self._tally = threads, tally
        self._top = np.iinfo(dtype).max if dtype.kind in "iu" else np.inf
        self._landmarks: Landmarks | None = None
        self._pause, self._next = 0, 1  # scans that do without them, now and when they fail next

    def fill(self, level: Level, arms: Rows, places: Rows) -> None:
        """Store the distances from arms to the references of a level."""
        few, tall = self._shape(len(arms), level.width)

        def work(tile: tuple[slice, slice]) -> None:
            lot, run = tile
            some = slice(level.span.start + run.start, level.span.start + run.stop)
            self._store(_index(arms[lot]), some, places[lot], level.values[:, run])

        tiles = [(lot, run) for lot in spans(len(arms), few) for run in spans(level.width, tall)]
        self._threads.map(work, tiles, threaded=self._distance.threaded)

    def _shape(self, arms: int, width: int) -> tuple[int, int]:
        """Return how many arms and references make a tile: one that stays in cache, and enough of them for all cores.

        Ctrl-C need not wait for a tile.
        """
        cost = self._distance.cost
        size = min(max(arms * width // _SHARES, _LEAST / cost), _TILE, _WAIT / cost)
        few = max(_FEWEST, size // min(width, _REFERENCES))
        few = int(min(_ARMS, few, max(1, size))) // LANES * LANES or LANES
        return few, int(max(1, min(_REFERENCES, size // min(few, arms))))

    def block(self, arms: Index, references: Index) -> Floats:
        """Distances from arms to references, by reference."""
        distance = self._distance
        return distance.block(references, arms) if distance.symmetric else distance.block(arms, references).T

    def _store(self, arms: Index, references: Index, places: Rows, values: Floats) -> None:
        """Fill lanes, by their places, with the distances from arms to references."""
        from medoids.paired.lane_kernels import store_lanes, store_steps

        block = self.block(arms, references)
        if self._step == 1.0:
            store_lanes(block, places, values)
        else:
            store_steps(block, places, self._step, values)

    def scan(
        self,
        arms: Rows,
        forgotten: Rows,
        references: Index,
        limit: npt.NDArray[np.float64] | None,
        width: int,
        work: Work,
    ) -> None:
        """Call ``work`` with the distances of the arms that are forgotten, by their numbers, to so many references.

        ``limit`` as in `Levels.scan`.
        """
        few, tall = self._shape(len(forgotten), width)
        runs = spans(width, tall)
        marks = None if limit is None else self._marks()
        computed: list[int] = []
        if marks is not None and limit is not None:
            forgotten = forgotten[marks.together(arms[forgotten])]
            if self._step != 1.0:
                limit = limit + self._step  # what is rounded to whole steps is above it, too

        def look(lot: slice) -> None:
            some = forgotten[lot]
            at = np.full((-(-len(some) // LANES), LANES), -1, dtype=np.intp)
            at.reshape(-1)[: len(some)] = some
            rows, lanes, groups = arms[some], np.arange(len(some)), np.arange(len(at))
            index = _index(rows)
            for run in runs:
                part, columns = _part(references, run), np.arange(run.stop - run.start)
                count = len(columns)
                if marks is not None and limit is not None:
                    near = marks.within(rows, part, limit[run])
                    count = len(near)
                    if count < len(columns):
                        columns[:] = count  # all others share one column
                        columns[near] = np.arange(count)
                        part = numbers_of(part, self._distance.n)[near]
                values = np.empty((len(at), count + 1, LANES), dtype=self._dtype)
                values[:, count] = self._top
                if count:
                    # By a kernel for few references, where there is one: for many it is not worth compiling.
                    if self._step == 1.0 or not self._distance.steps(part, index, self._step, lanes, values):
                        self._store(index, part, lanes, values)
                    computed.append(len(some) * count)
                work(Tile(values, groups, at, columns, run))

        self._threads.map(look, spans(len(forgotten), few), threaded=self._distance.threaded)
        self._tally.add(computed=sum(computed))
        if marks is not None:
            failed = sum(computed) > _HOPELESS * len(forgotten) * width
            self._pause, self._next = (self._next, min(2 * self._next, _PAUSE)) if failed else (0, 1)

    def _marks(self) -> Landmarks | None:
        """Return landmarks, where there can be some and they have not told too little of late.

        Not where rows come from a disk, which serves neighbours badly: they may be anywhere.
        """
        distance = self._distance
        if not (distance.triangle and distance.symmetric) or distance.spill:
            return None
        if self._pause:
            self._pause -= 1
            return None
        if self._landmarks is None:
            self._landmarks = Landmarks(distance, self._threads)
            self._tally.add(computed=self._landmarks.computed)
        return self._landmarks


def _part(references: Index, run: slice) -> Index:
    """Return some of the references."""
    if isinstance(references, slice):
        return slice(references.start + run.start, references.start + run.stop)
    return references[run]


def _index(rows: Rows) -> Index:
    """Return a slice where rows follow each other: then no data are copied."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if (rows[1:] - rows[:-1] == 1).all() else rows
