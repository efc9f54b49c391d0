"""The objects that one worker can see: its own rows, and copies of other workers' rows that it was sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.cluster.messages import Copies
from medoids.distances import Counted, Dissimilarity, Facts, Floats, Index, Tally
from medoids.distances.protocol import Wrapper, numbers_of
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads

__all__ = ["Host", "Seen", "empty_like"]

# Room for copies at the start; it doubles when it is full.
_ROOM = 4096


def empty_like(objects: Floats, count: int) -> Floats:
    """Return room for objects of the same kind: rows of numbers, or anything."""
    shape = (count, *objects.shape[1:])
    return np.full(shape, "", dtype=object) if objects.dtype == object else np.zeros(shape, objects.dtype)


class Host:
    """Own rows, then copies: the `Points` of a worker's shard.

    The distance that ``kind`` is among any objects is hosted for these, which have the numbers ``rows`` in X.
    """

    def __init__(
        self, kind: Dissimilarity, objects: Floats, rows: Rows, facts: Facts, tally: Tally, threads: Threads
    ) -> None:
        self._kind, self._facts, self._tally, self._threads = kind, facts, tally, threads
        self.own, self._used = len(objects), len(objects)
        self._places = dict(zip(rows.tolist(), range(len(rows)), strict=True))
        self.positions: Rows = np.zeros(0, dtype=np.intp)  # of the references
        self._build(objects, rows, _ROOM)

    def _build(self, objects: Floats, rows: Rows, room: int) -> None:
        size = len(objects) + room
        self.objects, self._numbers = empty_like(objects, size), np.zeros(size, dtype=np.intp)
        self.objects[: len(objects)], self._numbers[: len(rows)] = objects, rows
        self._hosted = self._kind.hosting(self.objects, self._numbers, self._facts)
        self._hosted.prepare(self._threads)
        self.distance: Dissimilarity = Counted(self._hosted, self._tally)

    def welcome(self, copies: Copies) -> None:
        """Take in copies of rows that are not here."""
        new = np.array([i not in self._places for i in copies.rows.tolist()], dtype=bool)
        rows, objects = copies.rows[new], copies.objects[new]
        at = slice(self._used, self._used + len(rows))
        if at.stop > len(self.objects):
            self._build(self.objects[: self._used], self._numbers[: self._used], at.stop)
        if len(rows):
            self.objects[at], self._numbers[at] = objects, rows
            self._hosted.put(at, objects, rows)
        self._places.update(zip(rows.tolist(), range(at.start, at.stop), strict=True))
        self._used = at.stop

    def references(self, columns: slice | Rows) -> Rows:
        return self.positions[columns]

    def candidates(self, rows: Rows) -> Rows:
        return np.array([self._places[i] for i in rows.tolist()], dtype=np.intp)


class Seen(Wrapper):
    """Distances from any rows of X that are here, by their row numbers, to the own rows, by their places."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.distance)
        self._host, self.n = host, host.own

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._host.distance.block(self._host.candidates(numbers_of(rows, self.n)), columns)

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        return self._host.distance.exact_block(self._host.candidates(numbers_of(rows, self.n)), columns)

    def take(self, rows: Index) -> Dissimilarity:
        raise NotImplementedError

    def cross(self, queries: Any) -> Float64s:
        raise NotImplementedError
