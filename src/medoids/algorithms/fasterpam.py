"""FasterPAM: candidates one after the other, and a swap as soon as one helps (Schubert and Rousseeuw 2021).

Ends when a full round over all candidates finds nothing: no single swap lowers the loss.
"""

from __future__ import annotations

import numpy as np

from medoids.core.local_search import accept
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.exact.start import start

__all__ = ["fasterpam"]


def fasterpam(problem: Problem, run: Run) -> Solution:
    rows, _, assignment = start(problem, run)
    matrix = rows.matrix
    candidates = problem.candidates
    n_swaps, at, since = run.position.get("swaps", 0), run.position.get("at", 0), 0
    while since < len(candidates) and not run.stopped:
        run.check()
        i = int(candidates[at])
        at, since = (at + 1) % len(candidates), since + 1
        if i in assignment.medoids:
            continue
        row = matrix.values[i]
        losses = assignment.swap_losses(row)
        if losses.min() >= assignment.loss + matrix.margin * assignment.magnitude:
            continue
        if not matrix.exact:
            row = rows.row(i, assignment.d2)
            losses = assignment.swap_losses(row)
        slot = int(np.argmin(losses))
        if assignment.improves(losses[slot], assignment.swap_magnitudes(row)[slot]):
            if n_swaps == problem.max_iter:
                return Solution(assignment, n_swaps, converged=False)
            accept(run, assignment, slot, i, row, references=problem.n, candidates=1, position={"at": at})
            n_swaps, since = n_swaps + 1, 0
    return Solution(assignment, n_swaps, converged=not run.stopped)
