"""Where the search starts: BUILD, LAB, k-medoids++, random rows, or given ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from medoids.core.assignment import Assignment, lowest
from medoids.engine.arrays import Rows

if TYPE_CHECKING:  # the algorithms import this module
    from medoids.core.problem import Problem
    from medoids.exact.carried_sums import CarriedSums

__all__ = ["INITS", "RANDOM_INITS", "build", "complete", "initialize"]


def build(problem: Problem, sums: CarriedSums) -> Assignment:
    """PAM's greedy start: each medoid is the row that lowers the loss most (Eq. 4 of the paper)."""
    assignment = problem.begin()
    while len(assignment.medoids) < problem.k:
        references = sums.follow(assignment, swaps=False)
        i, compared = sums.best_addition(assignment)
        problem.add(assignment, i)
        problem.record("build", assignment, i, None, references=references, candidates=compared)
    return assignment


def _random(problem: Problem) -> Rows:
    free = np.setdiff1d(problem.candidates, problem.frozen)
    drawn = problem.random.choice(free, problem.k - len(problem.frozen), replace=False)
    return np.concatenate([np.array(problem.frozen, dtype=np.intp), drawn])


def complete(problem: Problem, medoids: Iterable[int]) -> Assignment:
    """Return the state with some medoids, and the others, up to k, as k-medoids++ draws them.

    Each with a probability in proportion to weight times distance to the nearest medoid so far.
    """
    assignment = problem.assign(list(medoids))
    eligible = problem.eligible
    weights = np.where(eligible, problem.weights, 0)
    chance = weights * np.maximum(assignment.d1, 0) if assignment.medoids else weights.copy()
    while len(assignment.medoids) < problem.k:
        chance[assignment.medoids] = 0
        if not chance.any():  # only duplicates of medoids are left
            chance = eligible.astype(float)
            chance[assignment.medoids] = 0
        i = int(problem.random.choice(problem.n, p=chance / chance.sum()))
        problem.add(assignment, i)
        chance = weights * np.maximum(assignment.d1, 0)
    return assignment


def _plus_plus(problem: Problem) -> Rows:
    return np.array(complete(problem, problem.frozen).medoids)


def _lab(problem: Problem) -> Rows:
    """Linear approximative BUILD (Schubert and Rousseeuw 2019): each choice among and for 10 + sqrt(n) drawn rows."""
    assignment = problem.assign(problem.frozen)
    rows = problem.candidates
    size = 10 + int(np.ceil(np.sqrt(len(rows))))
    while len(assignment.medoids) < problem.k:
        free = np.setdiff1d(rows, assignment.medoids)
        drawn = points = np.sort(problem.random.choice(free, min(size, len(free)), replace=False))
        if problem.allowed is not None:  # the points that the choice is for need not be candidates
            others = np.setdiff1d(problem.references, assignment.medoids)
            points = np.sort(problem.random.choice(others, min(size, len(others)), replace=False))
        if problem.matrix is not None and problem.matrix.exact:
            block = np.asarray(problem.matrix.values[np.ix_(drawn, points)], dtype=np.float64)
        else:
            with problem.distance.tally.phase("build"):
                block = problem.distance.exact_block(drawn, points)
        near, weights = np.minimum(block, assignment.d1[points]), problem.weights[points]
        i = int(drawn[lowest((near @ weights)[None], (np.abs(near) @ weights)[None])[1]])
        problem.add(assignment, i)
    return np.array(assignment.medoids)


RANDOM_INITS: dict[str, Callable[[Problem], Rows]] = {"random": _random, "k-medoids++": _plus_plus, "lab": _lab}
INITS = ("build", *RANDOM_INITS)


def initialize(problem: Problem) -> Assignment:
    """Return the state at any start but BUILD, with its one record in the trace."""
    resumed = problem.resume()
    if resumed is not None:
        return resumed
    with problem.distance.tally.phase("build"):
        rows = RANDOM_INITS[problem.init](problem) if isinstance(problem.init, str) else problem.init
    assignment = problem.assign(rows)
    problem.record("build", assignment, None, None, references=problem.n, candidates=problem.k)
    return assignment
