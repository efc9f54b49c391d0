"""Distances of objects that are translated into arrays once: texts, series, trees, tables, sets, places."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sized
from copy import copy
from typing import Any, Self

import numpy as np

from medoids.distances.objects import count_rows
from medoids.distances.protocol import Dissimilarity, Index, numbers_of
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.budget import CHUNK_NS
from medoids.engine.threads import Threads, spans

__all__ = ["Encoded", "Vocabulary", "starts_of"]


class Encoded(Dissimilarity):
    """A distance that is defined by how objects are encoded and how encoded objects are compared.

    ``__init__`` encodes the objects, in an array or anything else, and passes the result to `_store`.
    """

    _objects: Any

    def _store(self, objects: Any) -> None:
        """Keep encoded objects, and set what depends on them."""
        self._objects, self.n = objects, len(objects)

    def _select(self, numbers: Rows) -> Any:
        """Return some of the encoded objects."""
        return self._objects[numbers]

    @abstractmethod
    def _encode(self, queries: Any) -> Any:
        """Return new objects in the encoding that was fitted, which stays as it is."""

    @abstractmethod
    def _compare(self, objects: Any, i: Rows, others: Any, j: Rows) -> Floats:
        """Return distances from objects i to others j."""

    def prepare(self, threads: Threads | None = None) -> None:
        self.block(slice(0, 1), slice(0, 1))  # compiles once, not in each thread

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._compare(self._objects, numbers_of(rows, self.n), self._objects, numbers_of(columns, self.n))

    def take(self, rows: Index) -> Self:
        part = copy(self)
        part._store(self._select(numbers_of(rows, self.n)))
        return part

    def cross(self, queries: Any) -> Float64s:
        return self._across(self._objects, self._encode(queries), count_rows(queries))

    def _across(self, objects: Any, others: Any, count: int) -> Float64s:
        """Return distances in chunks of `CHUNK_NS`: Ctrl-C acts between them."""
        out, everyone = np.empty((self.n, count)), np.arange(self.n)
        for chunk in spans(count, max(1, int(CHUNK_NS / (self.cost * max(1, self.n))))):
            out[:, chunk] = self._compare(objects, everyone, others, np.arange(chunk.start, chunk.stop))
        return out


def starts_of(parts: Iterable[Sized]) -> Rows:
    """Return where each part starts in the concatenation of all, and where the last one ends.

    >>> starts_of(["ape", "", "zebra"]).tolist()
    [0, 3, 3, 8]
    """
    return np.cumsum([0, *map(len, parts)], dtype=np.intp)


class Vocabulary(dict[Hashable, int]):
    """Consecutive numbers in the order in which objects first appear.

    Equality decides, not the hash: -1 and -2 have the same hash in Python. A vocabulary of another one is a copy, which
    may grow without the other: for new data.

    Examples
    --------
    >>> words = Vocabulary()
    >>> words.numbers(["to", "be", "or", "not", "to", "be"])
    [0, 1, 2, 3, 0, 1]
    >>> Vocabulary(words).numbers(["that", "is"]), len(words)
    ([4, 5], 4)
    """

    def numbers(self, objects: Iterable[Hashable]) -> list[int]:
        """Return the number of each object; new ones get new numbers."""
        return [self.setdefault(one, len(self)) for one in objects]
