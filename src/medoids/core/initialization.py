"""Where the search starts: LAB, k-medoids++, heuristic or random rows, or given ones. (BUILD is elsewhere.)"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from medoids.core.assignment import Assignment, lowest
from medoids.core.lowest_sums import LowestSums
from medoids.core.rows import RowSource
from medoids.engine.arrays import Rows

__all__ = ["RANDOM_INITS", "complete", "initialize"]


def _random(rows: RowSource) -> Rows:
    problem = rows.problem
    free = np.setdiff1d(problem.candidates, problem.frozen)
    drawn = rows.run.random.choice(free, problem.k - len(problem.frozen), replace=False)
    return np.concatenate([np.array(problem.frozen, dtype=np.intp), drawn])


def complete(rows: RowSource, medoids: Iterable[int]) -> Assignment:
    """Return the state with some medoids, and the others, up to k, as k-medoids++ draws them.

    Each with a probability in proportion to weight times distance to the nearest medoid so far; candidates that are no
    points have neither, and are drawn alike.
    """
    problem, assignment = rows.problem, rows.assign(medoids)
    eligible = problem.eligible
    weights = np.zeros(len(eligible)) if problem.rectangular else np.where(eligible, problem.weights, 0)
    while len(assignment.medoids) < problem.k:
        alike = problem.rectangular or not assignment.medoids
        chance = weights * (1.0 if alike else np.maximum(assignment.d1, 0))
        chance[assignment.medoids] = 0
        if not chance.any():  # only duplicates of medoids are left
            chance = eligible.astype(float)
            chance[assignment.medoids] = 0
        rows.add(assignment, int(rows.run.random.choice(len(eligible), p=chance / chance.sum())))
    return assignment


def _lab(rows: RowSource) -> Rows:
    """Linear approximative BUILD (Schubert and Rousseeuw 2019): each choice among and for 10 + sqrt(n) drawn rows."""
    problem, assignment = rows.problem, rows.assign(rows.problem.frozen)
    candidates = problem.candidates
    size = 10 + int(np.ceil(np.sqrt(len(candidates))))
    while len(assignment.medoids) < problem.k:
        free = np.setdiff1d(candidates, assignment.medoids)
        drawn = points = np.sort(rows.run.random.choice(free, min(size, len(free)), replace=False))
        if problem.allowed is not None:  # the points that the choice is for need not be candidates
            others = np.setdiff1d(problem.references, [] if problem.rectangular else assignment.medoids)
            points = np.sort(rows.run.random.choice(others, min(size, len(others)), replace=False))
        near, weights = np.minimum(rows.block(drawn, points), assignment.d1[points]), problem.weights[points]
        rows.add(assignment, int(drawn[lowest((near @ weights)[None], (np.abs(near) @ weights)[None])[1]]))
    return np.array(assignment.medoids)


def _heuristic(rows: RowSource) -> Rows:
    """The rows with the lowest sums of distances to all others, as in scikit-learn-extra."""
    problem, run = rows.problem, rows.run
    if problem.rectangular:
        raise ValueError(
            "init='heuristic' needs distances among all rows, and X is a matrix of candidates x points; use 'build'"
        )
    members = problem.references
    search = LowestSums(problem.distance, members, problem.weights[members], run.threads, run.tally)
    allowed = problem.eligible[members] & ~np.isin(members, problem.frozen)
    found, _ = search.find(problem.k - len(problem.frozen), allowed)
    return np.concatenate([np.array(problem.frozen, dtype=np.intp), members[found]])


RANDOM_INITS: dict[str, Callable[[RowSource], Rows]] = {
    "random": _random,
    "k-medoids++": lambda rows: np.array(complete(rows, rows.problem.frozen).medoids),
    "lab": _lab,
    "heuristic": _heuristic,
}


def initialize(rows: RowSource) -> Assignment:
    """Return the state at any start but BUILD, with its one record in the trace."""
    problem, run = rows.problem, rows.run
    if (resumed := run.resume(rows.assign)) is not None:
        return resumed
    with run.phase("build"):
        medoids = RANDOM_INITS[problem.init](rows) if isinstance(problem.init, str) else problem.init
    assignment = rows.assign(medoids)
    run.step("build", assignment, references=problem.n, candidates=problem.k)
    return assignment
