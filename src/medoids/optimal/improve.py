"""Restarts after a converged fit: perturb the best medoids, descend, and keep what is better.

On a matrix, restarts look at all points. Without one, they look at a sample of the points, with all candidates, and
what they find is then improved on all points, so that the sample is not fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.local_search import accept
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.exact.carried_sums import MatrixSums
from medoids.exact.matrix import MatrixRows, matrix_bytes
from medoids.optimal.instance import instance_of
from medoids.optimal.restarts import restart

__all__ = ["improve_by_restarts"]

# Maximum number of points of the sample; their distances to all rows are stored.
_SAMPLED_POINTS = 2048

Algorithm = Callable[[Problem, Run], Solution]


def improve_by_restarts(problem: Problem, run: Run, best: Solution, n_restarts: int, algorithm: Algorithm) -> Solution:
    """Return the solution after restarts, or the given one if none is better."""
    run.journal = None  # a checkpoint stays at the last step before, from which the same restarts follow
    seed = int(run.random.randint(2**31 - 1))
    if matrix_bytes(problem) <= problem.memory_limit:
        return _on_matrix(MatrixRows(problem, run), best, n_restarts, seed)
    return _on_sample(problem, run, best, n_restarts, seed, algorithm)


def _on_matrix(rows: MatrixRows, best: Solution, n_restarts: int, seed: int) -> Solution:
    problem, run = rows.problem, rows.run
    instance = instance_of(problem, run, rows.matrix.by_reference, problem.weights)
    found = restart(instance, np.array(best.assignment.medoids), n_restarts, seed, max_iter=problem.max_iter)
    if not found.improved:
        return replace(best, n_swaps=best.n_swaps + found.n_swaps)
    assignment = rows.assign(found.medoids)
    if not best.assignment.improves(assignment.loss, assignment.magnitude):
        return replace(best, n_swaps=best.n_swaps + found.n_swaps)
    run.step("restart", assignment, references=problem.n, candidates=found.improved[-1][0])
    # What restarts compare in float32 is decided on exact losses at the end.
    sums = MatrixSums(rows, problem.eligible, problem.k, run.threads)
    polished = 0
    while polished < problem.max_iter and not run.stopped and len(assignment.fixed) < problem.k:
        references = sums.follow(assignment, swaps=True)
        swap = sums.best_swap(assignment)
        if swap is None:
            break
        slot, i, row, compared = swap
        accept(run, assignment, slot, i, row, references=references, candidates=compared)
        polished += 1
    return Solution(assignment, best.n_swaps + found.n_swaps + polished, best.converged, run.trace)


def _on_sample(
    problem: Problem, run: Run, best: Solution, n_restarts: int, seed: int, algorithm: Algorithm
) -> Solution:
    weights = problem.weights
    affordable = problem.memory_limit // (2 * problem.n * problem.distance.dtype.itemsize)
    size = int(min(_SAMPLED_POINTS, max(1, affordable), len(problem.references)))
    chance = weights / problem.total_weight
    # Drawn in proportion to their weights, so that each counts as often as it was drawn.
    points, counts = np.unique(run.random.choice(problem.n, size, p=chance), return_counts=True)
    by_point = RowSource(problem, run).to_points(points, "restart")
    instance = instance_of(problem, run, by_point, counts.astype(np.float64))
    found = restart(instance, np.array(best.assignment.medoids), n_restarts, seed, max_iter=problem.max_iter)
    if not found.improved:
        return replace(best, n_swaps=best.n_swaps + found.n_swaps)
    part = replace(problem, init=found.medoids)
    again = algorithm(part, run.part(part))
    swaps = best.n_swaps + found.n_swaps + again.n_swaps
    assignment: Assignment = again.assignment
    if not best.assignment.improves(assignment.loss, assignment.magnitude):
        return replace(best, n_swaps=swaps)
    run.step("restart", assignment, references=problem.n, candidates=found.improved[-1][0])
    return Solution(assignment, swaps, again.converged, run.trace)
