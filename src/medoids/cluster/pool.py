"""Where the shards are: the driver asks all of them the same thing, and gets their answers in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from medoids.cluster.messages import size_of
from medoids.cluster.shard import Shard
from medoids.distances import Tally

__all__ = ["InProcess", "Pool", "ShardLost"]


class ShardLost(Exception):
    """A worker is gone, and with it what its shard knew."""


class Pool(ABC):
    """Shards, and what was sent to and fro.

    Attributes
    ----------
    tally : Tally
        Told of the distances that the shards computed.
    down, up, trips : int
        Bytes to and from the shards, and how often all of them were asked.
    """

    def __init__(self) -> None:
        self.tally = Tally()
        self.down = self.up = self.trips = 0

    def ask(self, name: str, *message: Any) -> list[Any]:
        """Send the same message to all shards; return their answers in the order of the shards."""
        answers = self._send(name, message)
        self.trips += 1
        self.down += size_of(message) * len(answers)
        self.up += sum(size_of(answer) for answer, _, _ in answers)
        self.tally.add(computed=sum(c for _, c, _ in answers), cached=sum(c for _, _, c in answers))
        return [answer for answer, _, _ in answers]

    @abstractmethod
    def _send(self, name: str, message: tuple[Any, ...]) -> list[tuple[Any, int, int]]:
        """Let every shard do a message; raise `ShardLost` where a worker is gone."""

    @abstractmethod
    def settle(self, plans: list[Any]) -> None:
        """Tell each shard its plan, and remember it for those that are made again."""

    @abstractmethod
    def recover(self) -> None:
        """Make the shards that are lost again, from their partitions and plans."""

    @abstractmethod
    def close(self) -> None:
        """Let the shards go."""


class InProcess(Pool):
    """Shards in this process, one after the other: for tests, and to see what a cluster would send."""

    def __init__(self, shards: list[Shard]) -> None:
        super().__init__()
        self.shards = shards

    def _send(self, name: str, message: tuple[Any, ...]) -> list[tuple[Any, int, int]]:
        return [shard.ask(name, *message) for shard in self.shards]

    def settle(self, plans: list[Any]) -> None:
        for shard, plan in zip(self.shards, plans, strict=True):
            shard.settle(plan)

    def recover(self) -> None:
        raise AssertionError("nothing is lost in one process")

    def close(self) -> None:
        for shard in reversed(self.shards):
            shard.close()
