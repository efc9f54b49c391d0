"""What the algorithms share: descending swap by swap and, on a full matrix, the start, the best swap, and making it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.algorithms.carried import CarriedSums
from medoids.algorithms.matrix import Matrix
from medoids.algorithms.problem import Problem, Solution
from medoids.assignment import Assignment
from medoids.initialization import build, initialize

__all__ = ["accept", "descend", "start"]

Float64s = npt.NDArray[np.float64]


def descend(problem: Problem, assignment: Assignment, swap: Callable[[int], int]) -> Solution:
    """Make swaps until there is none that helps, ``max_iter`` is reached, or the callback stops.

    ``swap`` is told how many it may make at most, and tells how many it made.
    """
    n_swaps = problem.position.get("swaps", 0)
    while n_swaps < problem.max_iter and not problem.stopped:
        made = 0 if len(assignment.fixed) == problem.k else swap(problem.max_iter - n_swaps)
        if not made:
            return Solution(assignment, n_swaps, converged=True)
        n_swaps += made
    return Solution(assignment, n_swaps, converged=False)


def start(problem: Problem) -> tuple[Matrix, CarriedSums, Assignment]:
    """Compute the matrix and the initial medoids."""
    if problem.matrix is None:
        problem.matrix = Matrix(problem)
    matrix = problem.matrix
    sums = CarriedSums(matrix, problem.eligible, problem.k, problem.threads)
    if isinstance(problem.init, str) and problem.init == "build":
        return matrix, sums, build(problem, sums)
    return matrix, sums, initialize(problem)


def accept(
    problem: Problem,
    assignment: Assignment,
    slot: int,
    i: int,
    row: Float64s,
    *,
    references: int,
    candidates: int,
    position: dict[str, Any] | None = None,
) -> None:
    """Make a swap that `Assignment.improves` has accepted, and record it; ``row`` are the distances from i."""
    out = assignment.medoids[slot]
    assignment.swap(slot, i, row)
    problem.record("swap", assignment, i, out, references=references, candidates=candidates, position=position)
