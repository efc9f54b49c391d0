"""Where the exact algorithms begin: the matrix, its carried sums, and the initial medoids."""

from __future__ import annotations

from medoids.core.assignment import Assignment
from medoids.core.initialization import build, initialize
from medoids.core.problem import Problem
from medoids.exact.carried_sums import CarriedSums
from medoids.exact.matrix import Matrix

__all__ = ["start"]


def start(problem: Problem) -> tuple[Matrix, CarriedSums, Assignment]:
    """Compute the matrix and the initial medoids."""
    if problem.matrix is None:
        problem.matrix = Matrix(problem)
    matrix = problem.matrix
    sums = CarriedSums(matrix, problem.eligible, problem.k, problem.threads)
    if isinstance(problem.init, str) and problem.init == "build":
        return matrix, sums, build(problem, sums)
    return matrix, sums, initialize(problem)
