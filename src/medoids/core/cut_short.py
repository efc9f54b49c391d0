"""The result of a fit that ends early, by Ctrl-C or a time limit: the best medoids so far, with an exact assignment.

While BUILD has chosen fewer than k medoids, the others are drawn as k-medoids++ draws them: a quick start. The final
assignment takes k n distances, and a time limit leaves time for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from medoids.core.initialization import complete
from medoids.core.problem import Problem, Solution

__all__ = ["cut_short", "time_to_finish"]


def cut_short(problem: Problem) -> Solution:
    """Return the best solution there is, of a problem whose algorithm was interrupted anywhere."""
    problem.threads.interrupts.forget()
    # Stored distances may have been caught in the middle of a change, and a checkpoint must stay at the last step, from
    # which the search can go on.
    problem.medoid_rows = problem.checkpoint = None
    problem.resume()  # a checkpoint that the algorithm did not get to
    best = problem.best
    if best is None or len(problem.medoids) == problem.k:
        solution = _finish(problem)
        if best is None or solution.assignment.loss < best.assignment.loss:
            return solution
    return replace(best, converged=False)


def _finish(problem: Problem) -> Solution:
    medoids = problem.medoids
    if len(medoids) == problem.k:
        assignment = problem.assign(medoids)
    else:
        given = problem.frozen if isinstance(problem.init, str) else problem.init.tolist()
        chosen = list(dict.fromkeys([*medoids, *given]))
        problem.drawn = problem.k - len(chosen)
        assignment = complete(problem, chosen)
        problem.record("build", assignment, None, None, references=problem.n, candidates=problem.k - len(medoids))
    swaps = sum(step.phase == "swap" for step in problem.trace)
    return Solution(assignment, swaps, converged=False, trace=problem.trace)


def time_to_finish(problem: Problem) -> Callable[[], float]:
    """Return what estimates the seconds that `cut_short` would take now."""
    each = problem.seconds_per_distance() * problem.n

    def estimate() -> float:
        if problem.matrix is not None:
            return 0.0
        known = len(problem.medoids) if problem.distance.remembers else 0
        return each * (problem.k - known)

    return estimate
