"""The objects that one worker can see: its own rows, and copies of other workers' rows that it was sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances import Dissimilarity, Facts, Floats, Index
from medoids.engine.arrays import Rows
from medoids.engine.threads import Threads

__all__ = ["Facing", "Host", "empty_like"]

# Rooms for copies at the start; each doubles when it is full.
_ROOM = 4096


def empty_like(objects: Floats, count: int) -> Floats:
    """Return room for objects of the same kind: rows of numbers, or anything."""
    shape = (count, *objects.shape[1:])
    return np.full(shape, "", dtype=object) if objects.dtype == object else np.zeros(shape, objects.dtype)


class Host:
    """Own rows, then room for references, then room for guests: rows that are candidates, finalists or medoids.

    Parameters
    ----------
    kind : Dissimilarity
        Of any objects: says which distance it is.
    own : ndarray
        Rows of numbers, or a 1-D array of objects.
    numbers : ndarray
        Of the own rows in all of X, for messages.
    facts : Facts
    threads : Threads
    """

    def __init__(self, kind: Dissimilarity, own: Floats, numbers: Rows, facts: Facts, threads: Threads) -> None:
        self._kind, self._facts, self._threads = kind, facts, threads
        self.most = facts.most
        self.own = len(own)
        self._rooms = {"references": _ROOM, "guests": _ROOM}
        self.used = {"references": 0, "guests": 0}
        self._build(own, numbers)

    def _build(self, own: Floats, numbers: Rows) -> None:
        size = self.own + sum(self._rooms.values())
        self.objects = empty_like(own, size)
        self.objects[: self.own] = own
        self.numbers = np.zeros(size, dtype=np.intp)
        self.numbers[: self.own] = numbers
        self.distance = self._kind.hosting(self.objects, self.numbers, self._facts)
        self.distance.prepare(self._threads)

    def start(self, room: str) -> int:
        """Return where a room begins."""
        return self.own if room == "references" else self.own + self._rooms["references"]

    def append(self, room: str, objects: Floats, numbers: Rows) -> None:
        """Take copies of rows in, after those that are in a room."""
        need = self.used[room] + len(objects)
        if need > self._rooms[room]:
            self._grow(room, need)
        at = self.start(room) + self.used[room]
        self._put(slice(at, at + len(objects)), objects, numbers)
        self.used[room] = need

    def clear(self, room: str) -> None:
        """Forget the copies in a room."""
        self.used[room] = 0

    def _put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self.objects[rows], self.numbers[rows] = objects, numbers
        self.distance.put(rows, objects, numbers)

    def _grow(self, room: str, need: int) -> None:
        copies = {}
        for name, used in self.used.items():
            rows = slice(self.start(name), self.start(name) + used)
            copies[name] = self.objects[rows].copy(), self.numbers[rows].copy()
        while self._rooms[room] < need:
            self._rooms[room] *= 2
        self._build(self.objects[: self.own], self.numbers[: self.own])
        for name, (objects, numbers) in copies.items():
            at = self.start(name)
            self._put(slice(at, at + len(objects)), objects, numbers)


class Facing(Dissimilarity):
    """Arms on one side and references on the other, for ``Levels``, which numbers each by itself.

    Parameters
    ----------
    host : Host
    arms : str
        "own" if the worker's rows are the arms and the references are copies; "guests" if copies are the arms, and the
        worker's rows the references.
    count : int
        Arms, at most.
    """

    def __init__(self, host: Host, arms: str, count: int) -> None:
        self._host, self._guests = host, arms == "guests"
        inner = host.distance
        self.n, self.dtype, self.exact = count, inner.dtype, inner.exact
        self.symmetric, self.cost, self.threaded = inner.symmetric, inner.cost, inner.threaded

    def most(self) -> float:
        return self._host.most

    def block(self, rows: Index, columns: Index) -> Floats:
        # Levels asks for references first where it makes no difference.
        arms, references = (columns, rows) if self.symmetric else (rows, columns)
        a = _moved(arms, self._host.start("guests") if self._guests else 0)
        s = _moved(references, 0 if self._guests else self._host.start("references"))
        if self.symmetric:
            return self._host.distance.block(s, a)
        return self._host.distance.block(a, s)

    def take(self, rows: Index) -> Dissimilarity:
        raise NotImplementedError

    def cross(self, queries: Any) -> npt.NDArray[np.float64]:
        raise NotImplementedError


def _moved(index: Index, start: int) -> Index:
    if isinstance(index, slice):
        return slice(index.start + start, index.stop + start)
    return index + start
