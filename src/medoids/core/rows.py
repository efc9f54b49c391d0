"""Distances from the medoids, in the precision of blocks, and exact where that cannot tell who is nearest.

A search that has found its best arm knows that arm's distances to all points already. Exact ones matter where they may
be below the second nearest medoid's, for about 2/k of the points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from medoids.core.problem import Problem
from medoids.distances import Floats
from medoids.engine.arrays import Float64s, Rows

__all__ = ["MedoidRows"]


class MedoidRows:
    """Rows of distances, kept for the medoids.

    Parameters
    ----------
    problem : Problem
    whole : callable
        ``whole(i)`` returns the distances from row i to all points, in the precision of blocks.
    """

    exact = False

    def __init__(self, problem: Problem, whole: Callable[[int], Floats]) -> None:
        self._problem, self._whole = problem, whole
        self._kept: dict[int, Floats] = {}

    def row(self, i: int, below: Float64s) -> Float64s:
        """Distances from i to all points: exact where they are up to the limits given."""
        return self._problem.sharpen(i, self._of(i).astype(np.float64), below)

    def estimate(self, medoids: Rows, points: Rows) -> Float64s:
        """Distances from all medoids to some points."""
        self._kept = {i: self._of(i) for i in medoids.tolist()}
        return np.array([row[points] for row in self._kept.values()], dtype=np.float64)

    def _of(self, i: int) -> Floats:
        if i not in self._kept:
            self._kept[i] = self._whole(i).astype(self._problem.distance.dtype)
        return self._kept[i]
