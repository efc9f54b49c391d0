"""CLARA: PAM on small samples, the best of which for all points is kept (Kaufman and Rousseeuw 1990).

Linear in n and no n x n matrix. Each later sample contains the best medoids so far.
"""

from __future__ import annotations

import numpy as np

from medoids.algorithms.fastpam1 import fastpam1
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.core.sampling import draw

__all__ = ["clara"]

# Kaufman and Rousseeuw's own figure.
_CLARA_SAMPLES = 5


def clara(problem: Problem, run: Run) -> Solution:
    rows = RowSource(problem, run)
    best = run.resume(rows.assign)
    first, n_swaps, converged = run.position.get("turn", (0, 0, True))
    given = problem.init if not isinstance(problem.init, str) else None
    for turn in range(first, _CLARA_SAMPLES):
        if run.stopped:
            converged = False
            break
        keep = best.medoids if best is not None else [] if given is None else given.tolist()
        sample, weights = draw(problem, run.random, keep)
        # The first sample starts as asked, the later ones from BUILD: the medoids that they keep are only a fallback.
        init = problem.init if given is None else np.searchsorted(sample, given) if turn == 0 else "build"
        part = problem.part(sample, weights, init=init, max_iter=problem.max_iter - n_swaps)
        found = fastpam1(part, run.part(part))
        n_swaps, converged = n_swaps + found.n_swaps, converged and found.converged
        medoids = sample[found.assignment.medoids]
        if best is None:
            run.medoids = tuple(medoids.tolist())  # what a time limit would keep
        assignment = rows.assign(medoids)
        if best is None or best.improves(assignment.loss, assignment.magnitude):
            best = assignment
            run.step(
                "swap" if turn else "build",
                best,
                references=len(sample),
                candidates=len(sample),
                position={"turn": (turn + 1, n_swaps, converged)},
            )
    assert best is not None
    return Solution(best, n_swaps, converged)
