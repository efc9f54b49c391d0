"""Distances from arms to references: computed in tiles, stored as far as memory allows.

The first level is stored for all arms, in tiles of arms side by side, so that a loop over arms is a vector's. Later
levels are stored by arm, for those that reach them. Distances that are computed faster than they are read are not
stored, unless all of the first level stay in a cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from medoids.distances import Dissimilarity, Floats
from medoids.engine.arrays import Rows
from medoids.engine.budget import ARMS_PER_CHUNK, CHEAP_NS, KEPT_BYTES
from medoids.engine.threads import Threads, spans

__all__ = ["LANES", "Points", "Store"]

# Arms side by side: their sums for one slot stay in a core's nearest cache.
LANES = 256


class Points(Protocol):
    """The rows of a shard, and whatever else it computes distances to.

    Attributes
    ----------
    distance : Dissimilarity
        Its first ``own`` objects are the rows of the shard.
    own : int
    """

    distance: Dissimilarity
    own: int

    def references(self, columns: slice | Rows) -> Rows:
        """Return the numbers of some references among the objects."""

    def candidates(self, rows: Rows) -> Rows:
        """Return the numbers of some rows of X among the objects."""


class Store:
    """Distances from the rows of a shard to the references."""

    def __init__(self, points: Points, budget: int, threads: Threads) -> None:
        self._points, self._threads, self._budget = points, threads, budget * 3 // 4
        self._limit = budget
        self._stored = points.distance.cost >= CHEAP_NS or points.distance.exact
        self.kind = np.dtype(np.float32 if points.distance.dtype == np.float32 else np.float64)
        self.lanes = LANES  # of a chunk of all arms
        self._stops: list[int] = []
        self._tiles: Floats | None = None
        self._places: list[Rows] = []
        self._rows: list[Floats] = []
        self._used: list[int] = []
        points.distance.prepare(threads)

    def add_level(self, stop: int) -> None:
        """Take note of another level, which has the references up to ``stop``."""
        self._stops.append(stop)
        width = stop - self._columns(len(self._stops) - 1).start
        size = self._points.own * width * self.kind.itemsize
        whole = len(self._stops) == 1 and size <= min(self._budget, self._budget if self._stored else KEPT_BYTES)
        if len(self._stops) == 1 and not (whole or self._stored):
            self.lanes = ARMS_PER_CHUNK  # 0.4 ns for a distance instead of 0.5
        if whole:
            self._tiles = np.empty((len(self.chunks), width, LANES), self.kind)
            self._budget -= self._tiles.nbytes
            self._fill_tiles()
        room = 0
        if self._stored and not whole:
            room = min(self._points.own, self._budget // 2 // max(1, width * self.kind.itemsize))
            self._budget -= room * width * self.kind.itemsize
        self._rows.append(np.empty((room, width), self.kind))
        self._places.append(np.full(self._points.own if room else 0, -1, dtype=np.int32))
        self._used.append(0)

    @property
    def chunks(self) -> list[slice]:
        """Chunks of all arms."""
        return spans(self._points.own, self.lanes)

    def carries(self, k: int) -> bool:
        """Whether sums over the first level are worth keeping, and there is room for those of k slots."""
        room = self._points.own * 5 * k * self.kind.itemsize <= self._limit // 4
        return self._tiles is not None or (not self._stored and room)

    @property
    def first_is_stored(self) -> bool:
        """Whether the distances of all arms to the first level are stored."""
        return self._tiles is not None

    def _columns(self, depth: int) -> slice:
        return slice(self._stops[depth - 1] if depth else 0, self._stops[depth])

    def _block(self, columns: slice | Rows, arms: Rows | slice) -> Floats:
        """Compute distances, by reference."""
        distance, references = self._points.distance, self._points.references(columns)
        return distance.block(references, arms) if distance.symmetric else distance.block(arms, references).T

    def _map(self, work: object, chunks: Sequence[object]) -> None:
        self._threads.map(work, chunks, threaded=self._points.distance.threaded)  # type: ignore[arg-type]
        self._points.distance.release()

    def _fill_tiles(self) -> None:
        tiles = self._tiles
        assert tiles is not None

        def work(group: slice) -> None:
            start = group.start * LANES
            block = self._block(self._columns(0), slice(start, min(group.stop * LANES, self._points.own)))
            for number in range(group.start, group.stop):
                part = block[:, number * LANES - start : (number + 1) * LANES - start]
                tiles[number, :, : part.shape[1]] = part

        self._map(work, spans(len(self.chunks), ARMS_PER_CHUNK // LANES))

    def first(self, number: int, columns: Rows) -> Floats:
        """Return distances of one chunk of all arms to the first level if it is stored, else to some of its columns."""
        chunk = slice(number * self.lanes, min((number + 1) * self.lanes, self._points.own))
        if self._tiles is not None:
            return self._tiles[number, :, : chunk.stop - chunk.start]
        return self._block(columns, chunk)

    def fill(self, depth: int, arms: Rows) -> None:
        """Store the levels up to a depth for some arms, as far as there is room."""
        for q in range(depth + 1):
            if len(self._rows[q]):
                self._fill(q, arms)

    def _fill(self, q: int, arms: Rows) -> None:
        place, rows = self._places[q], self._rows[q]
        missing = arms[place[arms] < 0]
        if len(missing) > len(rows) - self._used[q] and 2 * len(missing) > len(arms):
            place[:] = -1  # what was asked for before makes way
            self._used[q], missing = 0, arms
        missing = missing[: len(rows) - self._used[q]]
        start = self._used[q]

        first = self._columns(q).start

        def work(tile: tuple[slice, slice]) -> None:
            few, some = tile
            columns = slice(first + some.start, first + some.stop)
            rows[start + few.start : start + few.stop, some] = self._block(columns, missing[few]).T

        # Also by references: where five arms are left of MNIST, those of a deep level are 40 MB, which one thread would
        # copy into new memory.
        tiles = [(a, b) for a in spans(len(missing), LANES) for b in spans(rows.shape[1], ARMS_PER_CHUNK)]
        self._map(work, tiles)
        place[missing] = np.arange(start, start + len(missing))
        self._used[q] += len(missing)

    def tile(self, arms: Rows, depth: int) -> Floats:
        """Return the distances to all references up to a level, as (references, arms); arms ascend."""
        from medoids.paired.kernels import gather_rows, gather_tiles

        some = slice(int(arms[0]), int(arms[-1]) + 1) if arms[-1] - arms[0] + 1 == len(arms) else arms
        if not self._stored and self._tiles is None:
            return self._block(slice(0, self._stops[depth]), some)
        out = np.empty((self._stops[depth], len(arms)), self.kind)
        for q in range(depth + 1):
            columns = self._columns(q)
            if q == 0 and self._tiles is not None:
                gather_tiles(self._tiles, arms, columns.stop, out)
            elif len(self._rows[q]):
                place = self._places[q][arms]
                lost = np.flatnonzero(place < 0)
                if len(lost) == len(arms):  # fancy indices would take a third as long as the distances
                    out[columns] = self._block(columns, arms)
                    continue
                gather_rows(self._rows[q], place, out[columns])
                if len(lost):
                    out[columns, lost] = self._block(columns, arms[lost])
            else:
                out[columns] = self._block(columns, some)
        return out

    def recall(self, arm: int) -> tuple[Rows, Floats]:
        """Return the references to which the distances of an arm are stored, and these."""
        found, values = [np.zeros(0, dtype=np.intp)], [np.zeros(0, self.kind)]
        for q in range(len(self._stops)):
            columns = self._columns(q)
            if q == 0 and self._tiles is not None:
                row = self._tiles[arm // LANES, :, arm % LANES]
            elif len(self._places[q]) and self._places[q][arm] >= 0:
                row = self._rows[q][self._places[q][arm]]
            else:
                continue
            found.append(np.arange(columns.start, columns.stop))
            values.append(row)
        return np.concatenate(found), np.concatenate(values)
