"""Alternating k-medoids: assign points, then take the best medoid of each cluster; as k-means does.

Park and Jun 2009. Fast and often much worse than PAM: a medoid never leaves its own cluster.
"""

from __future__ import annotations

import numpy as np

from medoids.core.assignment import Assignment, lowest
from medoids.core.problem import Problem, Solution
from medoids.engine.arrays import Rows
from medoids.exact.matrix import Matrix
from medoids.exact.start import start

__all__ = ["alternate"]


def alternate(problem: Problem) -> Solution:
    matrix, _, assignment = start(problem)
    n_swaps, first, improved = problem.position.get("swaps", 0), problem.position.get("next", 0), True
    while improved:
        # A fit that goes on does so in the middle of a round, which has changed something already.
        labels, improved = assignment.labels(), first > 0
        for slot in range(first, problem.k):
            if problem.stopped:
                return Solution(assignment, n_swaps, converged=False)
            if slot in assignment.fixed:
                continue
            cluster = np.flatnonzero(labels == slot)
            best = _best_medoid(problem, matrix, assignment, slot, cluster)
            if best is None:
                continue
            if n_swaps == problem.max_iter:
                return Solution(assignment, n_swaps, converged=False)
            out, i = assignment.medoids[slot], best
            assignment.swap(slot, i, matrix.row(i, assignment.d2))
            labels = assignment.labels()  # at once: with stale labels a later change could raise the loss
            size, position = len(cluster), {"next": slot + 1}
            problem.record("swap", assignment, i, out, references=size, candidates=size, position=position)
            n_swaps, improved = n_swaps + 1, True
        first = 0
    return Solution(assignment, n_swaps, converged=True)


def _best_medoid(
    problem: Problem,
    matrix: Matrix,
    assignment: Assignment,
    slot: int,
    cluster: Rows,
) -> int | None:
    """Return the member with the lowest sum of distances within the cluster, if it is lower than the medoid's."""
    weights = problem.weights[cluster]
    members = cluster[problem.eligible[cluster] & ~np.isin(cluster, assignment.medoids)]
    if len(members) == 0:
        return None
    now = float(assignment.d1[cluster] @ weights)
    losses, magnitudes = np.empty(len(members)), np.empty(len(members))
    for lot in np.array_split(np.arange(len(members)), 1 + len(members) // 256):
        problem.check()
        block = matrix.values[np.ix_(members[lot], cluster)]
        losses[lot], magnitudes[lot] = block @ weights, np.abs(block) @ weights
    if not matrix.exact:
        near = losses <= min(losses.min(), now) * (1 + matrix.margin)
        losses[~near] = np.inf
        for finalist in np.flatnonzero(near).tolist():
            losses[finalist] = problem.measure(members[finalist : finalist + 1], cluster, "exact")[0] @ weights
    _, at = lowest(losses[None], magnitudes[None])
    others = assignment.magnitude - float(np.abs(assignment.d1[cluster]) @ weights)
    helps = assignment.improves(assignment.loss - now + losses[at], others + magnitudes[at])
    return int(members[at]) if helps else None
