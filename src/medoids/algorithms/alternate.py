"""Alternating k-medoids: assign points, then take the best medoid of each cluster; as k-means does.

Park and Jun 2009. Fast and often much worse than PAM: a medoid never leaves its own cluster.
"""

from __future__ import annotations

import numpy as np

from medoids.core.assignment import Assignment, lowest
from medoids.core.local_search import accept
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.engine.arrays import Rows
from medoids.exact.matrix import MatrixRows
from medoids.exact.start import start

__all__ = ["alternate"]


def alternate(problem: Problem, run: Run) -> Solution:
    rows, _, assignment = start(problem, run)
    n_swaps, first, improved = run.position.get("swaps", 0), run.position.get("next", 0), True
    while improved:
        # A fit that is resumed is in the middle of a round, which has changed something already.
        labels, improved = assignment.labels(), first > 0
        for slot in range(first, problem.k):
            if run.stopped:
                return Solution(assignment, n_swaps, converged=False)
            if slot in assignment.fixed:
                continue
            cluster = np.flatnonzero(labels == slot)
            i = _best_medoid(rows, assignment, cluster)
            if i is None:
                continue
            if n_swaps == problem.max_iter:
                return Solution(assignment, n_swaps, converged=False)
            row, size, position = rows.row(i, assignment.d2), len(cluster), {"next": slot + 1}
            accept(run, assignment, slot, i, row, references=size, candidates=size, position=position)
            labels = assignment.labels()  # at once: with stale labels a later change could raise the loss
            n_swaps, improved = n_swaps + 1, True
        first = 0
    return Solution(assignment, n_swaps, converged=True)


def _best_medoid(rows: MatrixRows, assignment: Assignment, cluster: Rows) -> int | None:
    """Return the member with the lowest sum of distances within the cluster, if it is lower than the medoid's."""
    problem, matrix = rows.problem, rows.matrix
    weights = problem.weights[cluster]
    members = cluster[problem.eligible[cluster] & ~np.isin(cluster, assignment.medoids)]
    if len(members) == 0:
        return None
    now = float(assignment.d1[cluster] @ weights)
    losses, magnitudes = np.empty(len(members)), np.empty(len(members))
    for chunk in np.array_split(np.arange(len(members)), 1 + len(members) // 256):
        rows.run.check()
        block = matrix.values[np.ix_(members[chunk], cluster)]
        losses[chunk], magnitudes[chunk] = block @ weights, np.abs(block) @ weights
    if not matrix.exact:
        near = losses <= min(losses.min(), now) * (1 + matrix.margin)
        losses[~near] = np.inf
        for finalist in np.flatnonzero(near).tolist():
            losses[finalist] = rows.measure(members[finalist : finalist + 1], cluster, "exact")[0] @ weights
    _, at = lowest(losses[None], magnitudes[None])
    others = assignment.magnitude - float(np.abs(assignment.d1[cluster]) @ weights)
    helps = assignment.improves(assignment.loss - now + losses[at], others + magnitudes[at])
    return int(members[at]) if helps else None
