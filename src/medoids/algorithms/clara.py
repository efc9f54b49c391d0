"""CLARA: PAM on small samples, the best of which for all points is kept (Kaufman and Rousseeuw 1990).

Linear in n and no n x n matrix. Each later sample contains the best medoids so far.
"""

from __future__ import annotations

import numpy as np

from medoids.algorithms.fastpam1 import fastpam1
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.core.sampling import with_candidates
from medoids.engine.arrays import Rows

__all__ = ["clara", "draw"]

# Kaufman and Rousseeuw's own figure.
_CLARA_SAMPLES = 5


def draw(problem: Problem, run: Run, keep: list[int]) -> Rows:
    """Return 40 + 2k rows in ascending order, with ``keep``, the frozen rows and at least k candidates among them."""
    keep = list(dict.fromkeys([*keep, *problem.frozen]))
    free = np.setdiff1d(problem.references, keep)
    size = min(40 + 2 * problem.k - len(keep), len(free))
    drawn = np.concatenate([keep, run.random.choice(free, size, replace=False)]).astype(np.intp)
    return with_candidates(problem, run.random, drawn, problem.k)


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
        sample = draw(problem, run, keep)
        # The first sample starts as asked, the later ones from BUILD: the medoids that they keep are only a fallback.
        init = problem.init if given is None else np.searchsorted(sample, given) if turn == 0 else "build"
        part = problem.part(sample, init=init, max_iter=problem.max_iter - n_swaps)
        found = fastpam1(part, run.part(part))
        n_swaps, converged = n_swaps + found.n_swaps, converged and found.converged
        assignment = rows.assign(sample[found.assignment.medoids])
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
