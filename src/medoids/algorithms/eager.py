"""PairedPAM with eager swaps: other local optima than PAM's, about as good, for less.

What costs most on PAM's path is certainty about *which* step is best, of the last steps of BUILD above all, where
thousands of candidates are nearly as good. Eager swaps ask only for steps that surely help:

1. BUILD and then the best swaps until none helps, on the references of level 0 alone: all points are candidates, and
   the loss is estimated from the sample. No distances but level 0's are needed.
2. Searches over all candidates as on PAM's path, but each ends as soon as some swaps are sure to lower the loss: for
   each slot at most one. They are made in turn, the surest first, where the exact loss falls, after those before it.

The end is the same as on PAM's path: a search over all candidates, at the same delta, that finds no swap that helps.
"""

from __future__ import annotations

import numpy as np

from medoids.algorithms.pairedpam import PairedPAM
from medoids.core.assignment import Assignment
from medoids.core.initialization import initialize
from medoids.core.local_search import descend
from medoids.core.problem import Solution
from medoids.exact.kernels import lowest_face
from medoids.paired.moments import State
from medoids.paired.search import PairedArms

__all__ = ["EagerPAM"]

# References of level 0, at least, for each medoid.
_EACH = 8


class EagerPAM(PairedPAM):
    """One fit."""

    # PAM's path has one answer, whichever way a search goes. Here the way decides which swaps are sure first, and what
    # is stored must have no say in it: a fit that is resumed has stored nothing yet. Later most is.
    _missing = 1 / 8

    def _first(self) -> int:
        problem = self.problem
        most = problem.memory_limit // (2 * problem.n * problem.distance.inner.dtype.itemsize)  # half for later levels
        return max(super()._first(), min(_EACH * problem.k, most))

    def run(self) -> Solution:
        problem = self.problem
        build = isinstance(problem.init, str) and problem.init == "build"
        assignment = self._start() if build else initialize(problem)
        if "found" in problem.position:  # in the middle of the swaps of one search
            found, *seen = problem.position["found"]
            problem.position["swaps"] += self._make(
                assignment, found, seen, problem.max_iter - problem.position["swaps"]
            )
        return descend(problem, assignment, lambda most: self._swap_some(assignment, most))

    def _start(self) -> Assignment:
        """Return the medoids that BUILD and single swaps find for the references of level 0."""
        problem = self.problem
        assignment = problem.resume() or problem.assign([])
        if len(assignment.medoids) == problem.k:
            return assignment
        with problem.distance.tally.phase("build"):
            medoids = self._solve_sample()
        for i in self.order[medoids].tolist()[len(assignment.medoids) :]:
            with problem.distance.tally.phase("exact"):
                row = self._exact_row(i, assignment)
            assignment.add(i, row)
            span = self.levels[0].span
            problem.record("build", assignment, i, None, references=span.stop, candidates=1)
        return assignment

    def _solve_sample(self) -> list[int]:
        problem, span = self.problem, self.levels[0].span
        frozen = self.place[list(problem.frozen)].tolist()
        sample = Assignment(problem.share_weights[self.order[span]], problem.k, frozen)
        free = self._arms.copy()
        for i in frozen:
            self.levels.fill(0, np.array([i]))
            sample.add(i, self.levels.row(0, i))
            free[i] = False
        while len(sample.medoids) < problem.k:
            change = self._carry(State.of_sample(sample, swaps=False)).S
            i = int(np.argmin(np.where(free, change, np.inf)))
            sample.add(i, self.levels.row(0, i))
            free[i] = False
        best, face = np.empty(len(self.order)), np.zeros(len(self.order), dtype=np.intp)
        while True:
            moments = self._carry(State.of_sample(sample, swaps=True))
            lowest_face(moments.S, moments.T, 0, len(self.order), best, face)
            best[~free] = np.inf
            i = int(np.argmin(best))
            if best[i] == np.inf:  # every candidate is a medoid already
                return sample.medoids
            slot, row = int(face[i]), self.levels.row(0, i)
            if not sample.improves(sample.swap_losses(row)[slot], sample.swap_magnitudes(row)[slot]):
                return sample.medoids
            free[sample.medoids[slot]], free[i] = True, False
            sample.swap(slot, i, row)

    def _swap_some(self, assignment: Assignment, most: int) -> int:
        """Make the swaps that a search is sure of, or the best of those that are left at its end; return how many."""
        problem = self.problem
        found: list[int] = []

        def enough(arms: PairedArms) -> bool:
            found.extend(arms.improving(self.bounds))
            return len(found) > 0

        with problem.distance.tally.phase("swap"):
            arms = self._search(assignment, swaps=True, enough=enough)
        if found:
            made = self._make(assignment, found, [arms.t, len(arms.left)], most)
            if made or problem.stopped:
                return made
            with problem.distance.tally.phase("swap"):  # to the end: the search was sure, and wrong
                arms = self._search(assignment, swaps=True)
        return int(self._swap_best(assignment, arms) or self._swap_overlooked(assignment))

    def _make(self, assignment: Assignment, found: list[int], seen: list[int], most: int) -> int:
        """Make those of the swaps that a search found which still help, and at most so many; return how many."""
        problem, made = self.problem, 0
        for number, arm in enumerate(found):
            if made == most or problem.stopped:
                break
            i = int(self.order[arm])
            with problem.distance.tally.phase("exact"):
                row = self._exact_row(i, assignment)
            losses = assignment.swap_losses(row)
            slot = int(np.argmin(losses))
            if assignment.improves(losses[slot], assignment.swap_magnitudes(row)[slot]):
                out = assignment.medoids[slot]
                assignment.swap(slot, i, row)
                position = {"found": (found[number + 1 :], *seen)}
                problem.record("swap", assignment, i, out, references=seen[0], candidates=seen[1], position=position)
                made += 1
        return made
