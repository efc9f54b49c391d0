"""Rows of the medoids in the precision of blocks, made exact where that precision cannot tell which one is nearest.

A search that has found its best arm knows that arm's distances to all points already. Exact ones matter where they may
be below the second nearest medoid's, for about 2/k of the points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from medoids.core.assignment import Assignment, EstimatedRows, Lookup
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.distances import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import CHEAP_NS

__all__ = ["MedoidRows", "make_rows"]

Whole = Callable[[int], Floats]


class MedoidRows(RowSource):
    """Rows of distances that are kept for the medoids.

    Parameters
    ----------
    problem : Problem
    run : Run
    whole : callable
        ``whole(i)`` returns the distances from row i to all points, in the precision of blocks.
    known : dict, optional
        Exact distances from some rows.
    """

    def __init__(self, problem: Problem, run: Run, whole: Whole, known: dict[int, Float64s] | None = None) -> None:
        super().__init__(problem, run, known)
        self._whole = whole
        self._kept: dict[int, Floats] = {}

    def row(self, i: int, below: Float64s) -> Float64s:
        return self.sharpen(i, self._of(i).astype(np.float64), below)

    def add_all(self, assignment: Assignment, medoids: Rows) -> None:
        for i in medoids.tolist():
            self.add(assignment, i)

    def lookup(self) -> Lookup:
        return EstimatedRows(self.measure, self._estimate)

    def _estimate(self, medoids: Rows, points: Rows) -> Float64s:
        self._kept = {i: self._of(i) for i in medoids.tolist()}
        return np.array([row[points] for row in self._kept.values()], dtype=np.float64)

    def _of(self, i: int) -> Floats:
        if i not in self._kept:
            self._kept[i] = self._whole(i).astype(self.problem.distance.dtype)
        return self._kept[i]


def make_rows(problem: Problem, run: Run, whole: Whole, known: dict[int, Float64s] | None = None) -> RowSource:
    """Return where rows of the medoids come from: estimates first, unless exact ones are as cheap, or too many."""
    distance = problem.distance
    if distance.exact or distance.cost < CHEAP_NS or not problem.has_room(distance.dtype.itemsize):
        return RowSource(problem, run, known)
    return MedoidRows(problem, run, whole, known)
