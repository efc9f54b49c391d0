"""Rows that all shards have copies of, because they are or were candidates, finalists or medoids."""

from __future__ import annotations

import numpy as np

from medoids.cluster.messages import Copies
from medoids.cluster.pool import Pool
from medoids.cluster.shard import GUESTS
from medoids.engine.arrays import Rows

__all__ = ["Guests"]


class Guests:
    """The driver's list of them; it keeps no rows, only their numbers.

    Parameters
    ----------
    pool : Pool
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._places: dict[int, int] = {}

    def clear(self) -> None:
        """Let the shards forget all of them."""
        self._pool.ask("forget_guests")
        self._places = {}

    def of(self, numbers: Rows) -> Rows:
        """Return the guests' numbers of rows that are."""
        return np.array([self._places[i] for i in numbers.tolist()], dtype=np.intp)

    def invite(self, numbers: Rows) -> Rows:
        """Return the guests' numbers of some rows; those that are not yet are fetched from the shards that own them."""
        missing = np.array([i for i in numbers.tolist() if i not in self._places], dtype=np.intp)
        if len(missing):
            found: list[Copies] = self._pool.ask("give", missing)
            rows = np.concatenate([some.numbers for some in found])
            objects = np.concatenate([some.objects for some in found if len(some.numbers)])
            self.welcome(Copies(rows, objects))
        return self.of(numbers)

    def welcome(self, copies: Copies) -> None:
        """Send rows to all shards, but for those that are there already."""
        new = np.array([i not in self._places for i in copies.numbers.tolist()], dtype=bool)
        if len(self._places) + int(new.sum()) > GUESTS:
            self.clear()
            new[:] = True
        if new.any():
            self._pool.ask("welcome", Copies(copies.numbers[new], copies.objects[new]))
            for i in copies.numbers[new].tolist():
                self._places[i] = len(self._places)
