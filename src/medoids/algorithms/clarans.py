"""CLARANS: random swaps, taken when they help (Ng and Han 2002). No n x n matrix.

A local search ends after ``max(250, 1.25% of k (n - k))`` tries in a row that do not help; the better of two is kept.
"""

from __future__ import annotations

import numpy as np

from medoids.algorithms.clara import draw
from medoids.algorithms.fastpam1 import fastpam1
from medoids.core.assignment import Assignment
from medoids.core.initialization import RANDOM_INITS
from medoids.core.problem import Problem, Solution
from medoids.engine.arrays import Rows

__all__ = ["clarans"]

# Ng and Han's own figures.
_SEARCHES = 2
_LEAST_TRIES = 250
_SHARE = 0.0125


def clarans(problem: Problem) -> Solution:
    resumed = problem.resume()
    first, n_swaps, converged, made, kept = problem.position.get("search", (0, 0, True, 0, None))
    best = None if kept is None else problem.assign(kept)
    for number in range(first, _SEARCHES):
        if best is not None and (problem.stopped or not isinstance(problem.init, str)):
            break
        assignment, made, ended = _search(problem, best, (number, n_swaps, converged), resumed, made)
        n_swaps, converged = n_swaps + made, converged and ended
        if best is None or best.improves(assignment.loss, assignment.magnitude):
            best = assignment
        resumed, made = None, 0
    assert best is not None
    return Solution(best, n_swaps, converged)


def _start(problem: Problem) -> Rows:
    if not isinstance(problem.init, str):
        return problem.init
    if problem.init != "build":
        with problem.distance.tally.phase("build"):
            return RANDOM_INITS[problem.init](problem)
    # BUILD on all points would cost what CLARANS is there to avoid: n^2 distances. As CLARA does, on a sample.
    sample = draw(problem, [])
    part = problem.part(sample, init="build", max_iter=0)
    found = fastpam1(part)
    part.let_go()
    return sample[found.assignment.medoids]


def _search(
    problem: Problem,
    best: Assignment | None,
    where: tuple[int, int, bool],
    resumed: Assignment | None,
    n_swaps: int,
) -> tuple[Assignment, int, bool]:
    """One local search; the trace and the kept state only ever show the best of all searches.

    ``where`` tells a checkpoint which search it is and what those before it came to; a search that goes on has a state
    and swaps already.
    """
    kept = None if best is None else best.medoids
    assignment = problem.assign(_start(problem)) if resumed is None else resumed
    if best is None and resumed is None:
        position = {"search": (*where, 0, kept)}
        problem.record("build", assignment, None, None, references=problem.n, candidates=problem.k, position=position)
    candidates = problem.candidates
    free = np.setdiff1d(np.arange(problem.k), assignment.fixed)
    limit = max(_LEAST_TRIES, int(_SHARE * len(free) * (len(candidates) - problem.k)))
    tries = 0
    while tries < limit and len(candidates) > problem.k and len(free):
        if n_swaps == problem.max_iter or problem.stopped:
            return assignment, n_swaps, False
        i = int(problem.random.choice(candidates))
        slot = int(free[problem.random.randint(len(free))])
        if i in assignment.medoids:
            continue
        tries += 1
        with problem.distance.tally.phase("swap"):
            row = problem.exact_rows(np.array([i]))[0]
        if assignment.improves(assignment.swap_losses(row)[slot], assignment.swap_magnitudes(row)[slot]):
            out = assignment.medoids[slot]
            assignment.swap(slot, i, row)
            n_swaps, tries = n_swaps + 1, 0
            if best is None or assignment.loss < best.loss:
                position = {"search": (*where, n_swaps, kept)}
                problem.record("swap", assignment, i, out, references=problem.n, candidates=1, position=position)
    return assignment, n_swaps, True
