"""FastPAM1: PAM's swaps, found k times faster (Schubert and Rousseeuw 2019), with sums carried from step to step.

The same path and the same answer as `pam`. The first search is one pass over the matrix, a later one about 3/k of one.
Where distances are cheap, there is no matrix (``exact/computed.py``).
"""

from __future__ import annotations

from medoids.core.local_search import accept, descend
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.engine.arrays import Float64s
from medoids.exact.start import start_without_matrix

__all__ = ["fastpam1"]


def fastpam1(problem: Problem, run: Run, known: dict[int, Float64s] | None = None) -> Solution:
    sums, assignment = start_without_matrix(problem, run, known)

    def swap(_: int) -> bool:
        references = sums.follow(assignment, swaps=True)
        best = sums.best_swap(assignment)
        if best is not None:
            slot, i, row, compared = best
            accept(run, assignment, slot, i, row, references=references, candidates=compared)
        return best is not None

    return descend(problem, run, assignment, swap)
