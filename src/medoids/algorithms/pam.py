"""PAM, the textbook: try every pair of a medoid and a candidate, make the best swap, repeat.

Kaufman and Rousseeuw 1987. O(k n^2) a swap; here to be read and compared with, not to be used.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.local_search import accept, descend
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.distances import Floats
from medoids.engine.arrays import Float64s
from medoids.engine.threads import spans
from medoids.exact.matrix import MatrixRows
from medoids.exact.start import start

__all__ = ["pam"]


def pam(problem: Problem, run: Run) -> Solution:
    rows, _, assignment = start(problem, run)

    def swap(_: int) -> bool:
        best = _best_swap(rows, assignment)
        if best is not None:
            slot, i, row, compared = best
            accept(run, assignment, slot, i, row, references=problem.n, candidates=compared)
        return best is not None

    return descend(problem, run, assignment, swap)


def _best_swap(rows: MatrixRows, assignment: Assignment) -> tuple[int, int, Float64s, int] | None:
    """Eq. 5 of the paper: the loss of each swap, summed over all points."""
    problem, run = rows.problem, rows.run
    losses = np.full((problem.k, problem.n_rows), np.inf)
    for slot in range(problem.k):
        remaining = np.where(assignment.nearest == slot, assignment.d2, assignment.d1)
        work = partial(_sum_rows, rows.matrix.values, remaining, problem.weights, losses[slot])
        run.threads.map(work, spans(problem.n_rows, max(1, (1 << 20) // problem.n)))
    losses[:, ~problem.eligible] = np.inf
    losses[:, assignment.medoids] = np.inf
    losses[assignment.fixed] = np.inf
    return rows.best_swap(assignment, losses.min(axis=0))


def _sum_rows(
    values: Floats,  # IN  (n_rows, n)
    remaining: Float64s,  # IN  (n,)
    weights: Float64s,  # IN  (n,)
    losses: Float64s,  # OUT (n_rows,)
    rows: slice,
) -> None:
    losses[rows] = np.minimum(values[rows], remaining) @ weights
