"""Where the exact algorithms begin: the matrix, its carried sums, and the initial medoids."""

from __future__ import annotations

from medoids.core.assignment import Assignment
from medoids.core.initialization import initialize
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.engine.arrays import Float64s
from medoids.exact.carried_sums import CarriedSums
from medoids.exact.matrix import MatrixRows

__all__ = ["start"]


def start(
    problem: Problem, run: Run, known: dict[int, Float64s] | None = None
) -> tuple[MatrixRows, CarriedSums, Assignment]:
    """Compute the matrix and the initial medoids."""
    rows = MatrixRows(problem, run, known)
    sums = CarriedSums(rows, problem.eligible, problem.k, run.threads)
    return rows, sums, _build(rows, sums) if problem.starts_with_build else initialize(rows)


def _build(rows: MatrixRows, sums: CarriedSums) -> Assignment:
    """PAM's greedy start: each medoid is the row that lowers the loss most (Eq. 4 of the paper)."""
    assignment = rows.start()
    while len(assignment.medoids) < rows.problem.k:
        references = sums.follow(assignment, swaps=False)
        i, compared = sums.best_addition(assignment)
        rows.add(assignment, i)
        rows.run.step("build", assignment, i, references=references, candidates=compared)
    return assignment
