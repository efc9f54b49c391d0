"""What travels between the driver and the workers, beside what a search sends to its shards."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from medoids.core.tree import Tree
from medoids.distances import Facts, Floats
from medoids.engine.arrays import Float64s, Rows

__all__ = ["Census", "Copies", "Plan", "Task", "in_row_order", "size_of"]


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
    """What a worker tells of its rows; those of all workers together decide how distances are computed."""

    rows: int
    candidates: int  # rows of positive weight
    weighed: tuple[Rows, Float64s] | None  # these rows and their weights; None where all rows count alike
    sample: Copies  # a row, for what it is; none if there are no candidates
    columns: int
    sums: Float64s  # of the columns, from which the centre is made
    longest: int
    shortest: int
    length: int  # sum of lengths
    tokens: bool


@dataclass(frozen=True)
class Copies:
    """Rows of X, by their numbers."""

    rows: Rows
    objects: Floats


def in_row_order(parts: list[tuple[Rows, Floats]]) -> tuple[Rows, Floats]:
    """Put what several workers gave, some rows and a value for each, into the order of the rows."""
    some = [part for part in parts if len(part[0])] or parts[:1]  # others may be of another type
    rows = np.concatenate([rows for rows, _ in some])
    at = np.argsort(rows)
    return rows[at], np.concatenate([values for _, values in some])[at]


@dataclass(frozen=True)
class Plan:
    """What a worker is told once the tree is made."""

    marks: Copies  # the landmarks
    tree: Tree
    borders: Rows  # leaf and row with which each region of the order begins, but for the first; there may be none
    weight: float  # of all points
    facts: Facts
    merged: tuple[Rows, Float64s] | None  # points, ascending, and their weights, if equal ones are taken as one


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
