"""What travels between the driver and the workers, beside what a search sends to its shards."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from medoids.distances import Facts, Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.paired.order import Tree

__all__ = ["Census", "Copies", "Plan", "Standing", "Task", "size_of"]


@dataclass(frozen=True)
class Task:
    """What a worker is told at first: the settings that it needs."""

    metric: Any
    metric_params: dict[str, Any] | None
    k: int
    frozen: tuple[int, ...]
    memory_limit: int
    n_jobs: int | None


@dataclass(frozen=True)
class Census:
    """What a worker tells of its rows; sums of these over all workers decide how distances are computed."""

    rows: int
    candidates: int  # rows of positive weight
    columns: int
    dtype: str
    sums: Float64s  # of the columns, from which the centre is made
    longest: int = 0
    shortest: int = 0
    length: int = 0  # sum of lengths
    tokens: bool = False


@dataclass(frozen=True)
class Copies:
    """Rows of X, by their numbers."""

    rows: Rows
    objects: Floats

    @classmethod
    def together(cls, parts: list[Copies]) -> Copies:
        """Put what several workers gave into the order of the rows."""
        some = [part for part in parts if len(part.rows)] or parts[:1]
        rows = np.concatenate([part.rows for part in some])
        at = np.argsort(rows)
        return cls(rows[at], np.concatenate([part.objects for part in some])[at])


@dataclass(frozen=True)
class Plan:
    """What a worker is told once the tree is made.

    Attributes
    ----------
    marks : Copies
        The landmarks.
    tree : Tree
    borders : ndarray of shape (regions, 2)
        Leaf and row with which the regions of the order begin, but for the first; some may be none.
    n, weight : int, float
        Of all points.
    facts : Facts
    merged : tuple of ndarray or None
        Points, in ascending order, and their weights, if equal ones are taken as one.
    """

    marks: Copies
    tree: Tree
    borders: Rows
    n: int
    weight: float
    facts: Facts
    merged: tuple[Rows, Float64s] | None = None


@dataclass(frozen=True)
class Standing:
    """A worker's part of what is summed over all points: loss, magnitude, and the costs of removing each medoid."""

    loss: float
    magnitude: float
    removal: Float64s


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
