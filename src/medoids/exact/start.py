"""Where the exact algorithms begin: carried sums, over a matrix or distances that are computed, and initial medoids."""

from __future__ import annotations

from medoids.core.assignment import Assignment
from medoids.core.initialization import initialize
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.engine.arrays import Float64s
from medoids.exact.carried_sums import CarriedSums, MatrixSums
from medoids.exact.computed import ComputedRows, ComputedSums, computes
from medoids.exact.matrix import ExactRows, MatrixRows

__all__ = ["start", "start_without_matrix"]


def start(
    problem: Problem, run: Run, known: dict[int, Float64s] | None = None
) -> tuple[MatrixRows, CarriedSums, Assignment]:
    """Compute the matrix and the initial medoids."""
    rows = MatrixRows(problem, run, known)
    sums = MatrixSums(rows, problem.eligible, problem.k, run.threads)
    return rows, sums, _build(rows, sums) if problem.starts_with_build else initialize(rows)


def start_without_matrix(
    problem: Problem, run: Run, known: dict[int, Float64s] | None = None
) -> tuple[CarriedSums, Assignment]:
    """Do without a matrix where distances are cheap."""
    if not computes(problem):
        return start(problem, run, known)[1:]
    rows = ComputedRows(problem, run, known)
    sums = ComputedSums(rows, problem.eligible, problem.k, run.threads)
    return sums, _build(rows, sums) if problem.starts_with_build else initialize(rows)


def _build(rows: ExactRows, sums: CarriedSums) -> Assignment:
    """PAM's greedy start: each medoid is the row that lowers the loss most (Eq. 4 of the paper)."""
    assignment = rows.start()
    while len(assignment.medoids) < rows.problem.k:
        references = sums.follow(assignment, swaps=False)
        i, compared = sums.best_addition(assignment)
        rows.add(assignment, i)
        rows.run.step("build", assignment, i, references=references, candidates=compared)
    return assignment
