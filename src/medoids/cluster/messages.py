"""What travels between the driver and the shards."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from medoids.distances import Facts, Floats
from medoids.engine.arrays import Float64s, Rows

__all__ = [
    "Census",
    "Copies",
    "Drop",
    "Lead",
    "Left",
    "Meet",
    "Partial",
    "Plan",
    "References",
    "Survivors",
    "Task",
    "size_of",
]


@dataclass(frozen=True)
class Task:
    """What a shard is told when it is made: the settings that it needs."""

    metric: Any
    metric_params: dict[str, Any] | None
    k: int
    frozen: tuple[int, ...]
    memory_limit: int
    n_jobs: int | None


@dataclass(frozen=True)
class Census:
    """What a shard tells of its rows; sums of these over all shards decide how distances are computed."""

    rows: int
    candidates: list[int]  # rows of positive weight, of each partition
    weight: float
    columns: int
    dtype: str
    sums: Float64s  # of the columns, from which the centre is made
    longest: int = 0
    shortest: int = 0
    length: int = 0  # sum of lengths
    tokens: bool = False


@dataclass(frozen=True)
class Plan:
    """What a shard is told once all have counted: the facts, the permutation and its levels."""

    facts: Facts
    n: int  # references: rows of positive weight, those of large weight as several
    before: list[int]  # references in all earlier partitions, for each partition of the shard
    share: float  # the largest weight of a reference
    random: Any  # the state from which the permutation is drawn
    spans: list[slice]  # the levels


@dataclass
class References:
    """Some references: positions in the permutation, the medoids' side of them and, where asked for, their rows."""

    positions: Rows
    d1: Float64s
    d2: Float64s
    slot: Rows
    w: Float64s
    objects: Floats | None = None
    numbers: Rows | None = None
    removal: Float64s | None = None  # sums over all points, of each slot, of what removal costs

    def bare(self) -> References:
        """Return them without their rows."""
        return replace(self, objects=None, numbers=None, removal=None)

    @classmethod
    def together(cls, parts: list[References]) -> References:
        """Put the references of several shards in the order of the permutation."""
        positions = np.concatenate([part.positions for part in parts])
        at = np.argsort(positions)

        def joined(name: str) -> Any:
            values = [getattr(part, name) for part in parts]
            return None if values[0] is None else np.concatenate(values)[at]

        removals = [part.removal for part in parts if part.removal is not None]
        names = [field.name for field in fields(cls) if field.name != "removal"]
        return cls(**{name: joined(name) for name in names}, removal=np.sum(removals, axis=0) if removals else None)


@dataclass
class Copies:
    """Rows that a shard does not know yet, by their numbers in X."""

    numbers: Rows
    objects: Floats


@dataclass
class Lead:
    """A shard's arm with the lowest mean, and how many are left."""

    mean: float
    position: int
    number: int  # row of X; to its arms, of the shard
    face: int
    left: int


@dataclass
class Partial:
    """Moments of arms, and what goes with them: sums over some references, or of some arms."""

    S: Float64s
    Q: Float64s
    T: Float64s
    R: Float64s
    P: Float64s
    own: Float64s | None = None  # what the arms' own losses do
    removals: Float64s | None = None  # sums over the references of what removal costs, and of its squares


@dataclass
class Meet:
    """A pivot to meet: its face, the guest that it is, and its mean change over all references."""

    arm: int
    face: int
    mean: float
    guest: int


@dataclass
class Drop:
    """How to drop arms: by the lowest mean that is known, and beside a pivot."""

    least: float
    best: int  # position of the arm that has it and stays in any case; -1 for none
    width: float
    slack: float
    meet: Meet | None = None
    ahead: int = -1  # a level whose references come back with the answer
    fresh: bool = False  # whether with their rows
    share: float = 0.0  # unless no more arms are left in a shard than this


@dataclass
class Left:
    """How many arms an order has left in a shard, and the one that leads."""

    count: int
    lead: Lead
    gap: float = 0.0  # its spread beside the pivot
    met: bool = False  # whether arms met the pivot, for which they had reason
    ahead: References | None = None


@dataclass
class Survivors:
    """The arms that are left in a shard, with all that is known of them."""

    positions: Rows
    copies: Copies
    moments: Partial


def size_of(message: Any) -> int:
    """Bytes of a message, but for the envelope.

    >>> size_of([np.zeros(4), 1.5, "abc"])
    43
    """
    if isinstance(message, np.ndarray):
        return sum(map(size_of, message.flat)) if message.dtype == object else message.nbytes
    if is_dataclass(message):
        return sum(size_of(getattr(message, field.name)) for field in fields(message))
    if isinstance(message, dict):
        return sum(map(size_of, message.values()))
    if isinstance(message, (list, tuple)):
        return sum(map(size_of, message))
    return len(message) if isinstance(message, (str, bytes)) else 8
