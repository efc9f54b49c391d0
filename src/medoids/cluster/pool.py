"""Where the workers are: the driver asks all of them the same thing, and gets their answers in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from medoids.cluster.messages import size_of
from medoids.distances import Tally
from medoids.paired.search import ShardLost

__all__ = ["PATIENCE", "Pool"]

Answer = TypeVar("Answer")

# Losses of one worker after another before a fit gives up.
PATIENCE = 10


class Pool(ABC):
    """Workers, and what was sent to and fro: bytes down to them and up from them, and trips, which ask all of them."""

    def __init__(self) -> None:
        self.tally = Tally()  # of the distances that the workers compute
        self.down = self.up = self.trips = 0
        self.tell_again: Callable[[], None] = lambda: None  # what the others know, to workers that were made again

    def ask(self, name: str, *message: Any, **options: Any) -> list[Any]:
        """Send the same message to all workers; return their answers in order; `ShardLost` where one is gone."""
        answers = self._send(name, message, options)
        self.trips += 1
        self.down += size_of(message) * len(answers)
        self.up += sum(size_of(answer) for answer, _ in answers)
        self.tally.add(computed=sum(computed for _, computed in answers))
        return [answer for answer, _ in answers]

    def surely(self, work: Callable[[], Answer]) -> Answer:
        """Do work that can be repeated, until no worker is lost in it."""
        for _ in range(PATIENCE):
            try:
                return work()
            except ShardLost:
                self.recover()
        raise RuntimeError(f"workers were lost {PATIENCE} times in one step; the cluster does not hold")

    def recover(self) -> None:
        """Make the workers that are lost again, from their partitions, and tell them what they need to know."""
        for _ in range(PATIENCE):
            try:
                self._remake()
                self.tell_again()
                return
            except ShardLost as error:
                lost = error
        raise RuntimeError(f"workers made again were lost {PATIENCE} times; the cluster does not hold") from lost

    @abstractmethod
    def _send(self, name: str, message: tuple[Any, ...], options: dict[str, Any]) -> list[tuple[Any, int]]:
        """Let every worker do a message; raise `ShardLost` where one is gone."""

    @abstractmethod
    def _remake(self) -> None:
        """Make the workers that are lost again."""

    @abstractmethod
    def close(self) -> None:
        """Release the workers."""
