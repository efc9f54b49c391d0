"""FastPAM2: one search finds the best candidate for each medoid, and as many of these swaps are made as still help.

Schubert and Rousseeuw 2019. Fewer searches than `fastpam1`, another path; it ends where no single swap helps.
"""

from __future__ import annotations

from medoids.core.local_search import accept
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.exact.start import start

__all__ = ["fastpam"]


def fastpam(problem: Problem, run: Run) -> Solution:
    rows, sums, assignment = start(problem, run)
    n_swaps = run.position.get("swaps", 0)
    proposals, references, count = run.position.get("round", ([], 0, 0))
    while n_swaps < problem.max_iter and not run.stopped:
        if not proposals:
            references = sums.follow(assignment, swaps=True)
            best = sums.best_swap(assignment)
            if best is None:
                return Solution(assignment, n_swaps, converged=True)
            proposals = [(best[0], best[1]), *sums.best_per_slot(assignment, but=best[0])]
            count = len(proposals)
        while proposals and n_swaps < problem.max_iter and not run.stopped:
            (slot, i), *proposals = proposals
            if i in assignment.medoids:
                continue
            # The swaps before this one changed the state: look again at this one alone, exactly. The first of a round
            # has passed already, so that every round makes progress.
            row = rows.row(i, assignment.d2)
            if assignment.swap_improves(slot, row):
                rest = {"round": (proposals, references, count)}
                accept(run, assignment, slot, i, row, references=references, candidates=count, position=rest)
                n_swaps += 1
    return Solution(assignment, n_swaps, converged=False)
