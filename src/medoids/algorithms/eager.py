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

from medoids.algorithms.pairedpam import PairedPAM, without_store
from medoids.core.assignment import Assignment, KeptRows
from medoids.core.initialization import initialize
from medoids.core.local_search import accept, descend
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.exact.kernels import lowest_face
from medoids.paired.moments import State
from medoids.paired.search import PairedArms

__all__ = ["EagerPAM", "eagerpam"]

# Minimum number of references of level 0 for each medoid.
_REFERENCES_PER_MEDOID = 8


class EagerPAM(PairedPAM):
    """One fit."""

    # PAM's path has one answer, whichever way a search goes. Here the way decides which swaps are sure first, and what
    # is stored must have no say in it: a fit that is resumed has stored nothing yet. Later most is.
    _missing = 1 / 8

    def _first(self) -> int:
        problem = self.problem
        most = problem.memory_limit // (2 * problem.n * problem.distance.dtype.itemsize)  # half for later levels
        return max(super()._first(), min(_REFERENCES_PER_MEDOID * problem.k, most))

    def solve(self) -> Solution:
        problem = self.problem
        assignment = self._start() if problem.starts_with_build else initialize(self._rows)
        position = self.run.position
        if "found" in position:  # in the middle of the swaps of one search
            found, *seen = position["found"]
            position["swaps"] += self._make(assignment, found, seen, problem.max_iter - position["swaps"])
        return descend(problem, self.run, assignment, lambda most: self._swap_some(assignment, most))

    def _start(self) -> Assignment:
        """Return the medoids that BUILD and single swaps find for the references of level 0."""
        run, rows = self.run, self._rows
        assignment = run.resume(rows.assign) or rows.assign([])
        if len(assignment.medoids) == self.problem.k:
            return assignment
        with run.phase("build"):
            medoids = self._solve_sample()
        for i in self.store.order[medoids].tolist()[len(assignment.medoids) :]:
            with run.phase("exact"):
                row = self._exact_row(i, assignment)
            assignment.add(i, row)
            run.step("build", assignment, i, references=self.store.levels[0].span.stop, candidates=1)
        return assignment

    def _solve_sample(self) -> list[int]:
        problem, span = self.problem, self.store.levels[0].span
        frozen = self.store.place[list(problem.frozen)].tolist()
        weights = problem.share_weights[self.store.order[span]]
        sample = Assignment(weights, KeptRows(problem.k, len(weights)), frozen)
        free = self._arms.copy()
        for i in frozen:
            self.store.levels.fill(0, np.array([i]))
            sample.add(i, self.store.levels.row(0, i))
            free[i] = False
        while len(sample.medoids) < problem.k:
            change = self._carry(State.of_sample(sample, swaps=False)).S
            i = int(np.argmin(np.where(free, change, np.inf)))
            sample.add(i, self.store.levels.row(0, i))
            free[i] = False
        best, face = np.empty(len(self.store.order)), np.zeros(len(self.store.order), dtype=np.intp)
        while True:
            moments = self._carry(State.of_sample(sample, swaps=True))
            lowest_face(moments.S, moments.T, 0, len(self.store.order), best, face)
            best[~free] = np.inf
            i = int(np.argmin(best))
            if best[i] == np.inf:  # every candidate is a medoid already
                return sample.medoids
            slot, row = int(face[i]), self.store.levels.row(0, i)
            if not sample.swap_improves(slot, row):
                return sample.medoids
            free[sample.medoids[slot]], free[i] = True, False
            sample.swap(slot, i, row)

    def _swap_some(self, assignment: Assignment, most: int) -> int:
        """Make the swaps that a search is sure of, or the best of those that are left at its end; return how many."""
        run = self.run
        found: list[int] = []

        def enough(arms: PairedArms) -> bool:
            found.extend(arms.improving(self.bounds))
            return len(found) > 0

        with run.phase("swap"):
            arms = self._search(assignment, swaps=True, enough=enough)
        if found:
            made = self._make(assignment, found, [arms.t, len(arms.left)], most)
            if made or run.stopped:
                return made
            with run.phase("swap"):  # to the end: the search was sure, and wrong
                arms = self._search(assignment, swaps=True)
        return int(self._swap_best(assignment, arms) or self._swap_overlooked(assignment))

    def _make(self, assignment: Assignment, found: list[int], seen: list[int], most: int) -> int:
        """Make those of the swaps found by a search that still help, at most ``most``; return their number."""
        run, made = self.run, 0
        for number, arm in enumerate(found):
            if made == most or run.stopped:
                break
            i = int(self.store.order[arm])
            with run.phase("exact"):
                row = self._exact_row(i, assignment)
            slot = int(np.argmin(assignment.swap_losses(row)))
            if assignment.swap_improves(slot, row):
                position = {"found": (found[number + 1 :], *seen)}
                accept(run, assignment, slot, i, row, references=seen[0], candidates=seen[1], position=position)
                made += 1
        return made


def eagerpam(problem: Problem, run: Run) -> Solution:
    """A local optimum that no swap improves with high probability, for less than PAM's own."""
    return without_store(problem, run, EagerPAM(problem, run).solve())
