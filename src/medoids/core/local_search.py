"""Descending swap by swap: what all swap algorithms share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medoids.core.assignment import Assignment
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.engine.arrays import Float64s

__all__ = ["accept", "descend"]


def descend(problem: Problem, run: Run, assignment: Assignment, swap: Callable[[int], int]) -> Solution:
    """Make swaps until none improves, ``max_iter`` is reached, or the callback stops.

    ``swap`` is called with the number of swaps that it may make at most, and returns the number that it made.
    """
    n_swaps = run.position.get("swaps", 0)
    while n_swaps < problem.max_iter and not run.stopped:
        made = 0 if len(assignment.fixed) == problem.k else swap(problem.max_iter - n_swaps)
        if not made:
            return Solution(assignment, n_swaps, converged=True)
        n_swaps += made
    return Solution(assignment, n_swaps, converged=False)


def accept(
    run: Run,
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
    run.step("swap", assignment, i, out, references=references, candidates=candidates, position=position)
