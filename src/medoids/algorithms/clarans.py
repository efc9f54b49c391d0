"""CLARANS: random swaps, taken when they help (Ng and Han 2002). No n x n matrix.

A local search ends after ``max(250, 1.25% of k (n - k))`` tries in a row that do not help; the better of two is kept.
With weights, a row is tried the more often the heavier it is.
"""

from __future__ import annotations

import numpy as np

from medoids.algorithms.fastpam1 import fastpam1
from medoids.core.assignment import Assignment
from medoids.core.initialization import RANDOM_INITS
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.core.sampling import draw
from medoids.engine.arrays import Rows

__all__ = ["clarans"]

# Ng and Han's own figures.
_LOCAL_SEARCHES = 2
_LEAST_TRIES = 250
_TRIED_SHARE = 0.0125


def clarans(problem: Problem, run: Run) -> Solution:
    rows = RowSource(problem, run)
    resumed = run.resume(rows.assign)
    first, n_swaps, converged, made, kept = run.position.get("search", (0, 0, True, 0, None))
    best = None if kept is None else rows.assign(kept)
    for number in range(first, _LOCAL_SEARCHES):
        if best is not None and (run.stopped or not isinstance(problem.init, str)):
            break
        assignment, made, ended = _search(rows, best, (number, n_swaps, converged), resumed, made)
        n_swaps, converged = n_swaps + made, converged and ended
        if best is None or best.improves(assignment.loss, assignment.magnitude):
            best = assignment
        resumed, made = None, 0
    assert best is not None
    return Solution(best, n_swaps, converged)


def _initial_rows(rows: RowSource) -> Rows:
    problem, run = rows.problem, rows.run
    if not isinstance(problem.init, str):
        return problem.init
    if problem.init != "build":
        with run.phase("build"):
            return RANDOM_INITS[problem.init](rows)
    # BUILD on all points would cost what CLARANS is there to avoid: n^2 distances. As CLARA does, on a sample.
    sample, weights = draw(problem, run.random, [])
    part = problem.part(sample, weights, init="build", max_iter=0)
    return sample[fastpam1(part, run.part(part)).assignment.medoids]


def _search(
    rows: RowSource,
    best: Assignment | None,
    where: tuple[int, int, bool],
    resumed: Assignment | None,
    n_swaps: int,
) -> tuple[Assignment, int, bool]:
    """Run one local search; the trace and the stored state only ever show the best of all searches.

    ``where`` records in the checkpoint which search it is and what those before it came to; a search that is resumed
    has a state and swaps already.
    """
    problem, run = rows.problem, rows.run
    kept = None if best is None else best.medoids
    assignment = rows.assign(_initial_rows(rows)) if resumed is None else resumed
    if best is None and resumed is None:
        position = {"search": (*where, 0, kept)}
        run.step("build", assignment, references=problem.n, candidates=problem.k, position=position)
    candidates = problem.candidates
    drawn_from = np.repeat(candidates, problem.shares[candidates])
    free = np.setdiff1d(np.arange(problem.k), assignment.fixed)
    limit = max(_LEAST_TRIES, int(_TRIED_SHARE * len(free) * (len(candidates) - problem.k)))
    tries = 0
    while tries < limit and len(candidates) > problem.k and len(free):
        if n_swaps == problem.max_iter or run.stopped:
            return assignment, n_swaps, False
        i = int(run.random.choice(drawn_from))
        slot = int(free[run.random.randint(len(free))])
        if i in assignment.medoids:
            continue
        tries += 1
        with run.phase("swap"):
            row = rows.rows(np.array([i]))[0]
        if assignment.swap_improves(slot, row):
            out = assignment.medoids[slot]
            assignment.swap(slot, i, row)
            n_swaps, tries = n_swaps + 1, 0
            if best is None or assignment.loss < best.loss:
                position = {"search": (*where, n_swaps, kept)}
                run.step("swap", assignment, i, out, references=problem.n, candidates=1, position=position)
    return assignment, n_swaps, True
