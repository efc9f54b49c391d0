"""PairedPAM with eager swaps: other local optima than PAM's, as good on average, for less.

What costs most on PAM's path is certainty about *which* step is best, where thousands of candidates are nearly as good.
Eager swaps ask only for steps that help:

1. The start are the best medoids of a sample, after several restarts (``paired/start.py``).
2. A search ends as soon as some arms are known to lower the loss. They form a pool, from which the best exact swaps are
   made until none helps. Then the search goes on, with the arms that it had left.
3. When these are used up, it begins again with all arms. The fit ends when such a search finds nothing, with bounds as
   wide as at the end of PAM's path: no swap helps.
"""

from __future__ import annotations

import numpy as np

from medoids.algorithms.pairedpam import PairedPAM, without_store
from medoids.core.assignment import Assignment
from medoids.core.initialization import initialize
from medoids.core.local_search import descend
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.paired.search import Found, ShardLost
from medoids.paired.start import close_in, medoids_of_sample, sample_size

__all__ = ["EagerPAM", "eagerpam"]


class EagerPAM(PairedPAM):
    """One fit."""

    _further = False  # whether the last search had arms left
    _settled = False  # whether no swap has been made since a search over all arms began
    _seen = Found(np.zeros(0, dtype=np.intp), 1, 1)

    def solve(self) -> Solution:
        assignment = self._start()
        self._mark = self.run.position.get("pool") or self.search.describe(further=False)
        if "pool" in self.run.position:
            self._further = self.search.restore(*self._mark)
        self._began = False
        return descend(self.problem, self.run, assignment, lambda most: self._swap_repeatedly(assignment, most))

    def _start(self) -> Assignment:
        problem, run, places = self.problem, self.run, self.places
        if not problem.starts_with_build:
            return initialize(places.rows)
        resumed = run.resume(places.rows.assign)
        if resumed is not None and len(resumed.medoids) == problem.k:
            return resumed
        with run.phase("build"):
            size = sample_size(places.n, problem.k)
            points, weights = next(places.samples(size, size, run.random))
            medoids = medoids_of_sample(problem, run, points, weights)
            assignment = places.rows.assign(close_in(problem, places, medoids))
        run.step("build", assignment, references=len(points), candidates=problem.k)
        return assignment

    def _swap_repeatedly(self, assignment: Assignment, most: int) -> int:
        """Make swaps; if a shard is lost, go on from the last one."""
        trace, before = self.run.trace, len(self.run.trace)
        while True:
            try:
                if not self._began:
                    self.begin(assignment, swaps=True)
                    self._began = True
                self._swap_some(assignment, most - len(trace) + before)
                return len(trace) - before
            except ShardLost as lost:
                self.places.recover(lost)
                self._further = self.search.restore(*self._mark)
                self._began = self._settled = False

    def _swap_some(self, assignment: Assignment, most: int) -> int:
        """Make swaps from the pool, or look for arms that help; return how many were made."""
        while True:
            made = self._use_pool(assignment, most)
            if made or self.run.stopped:
                return made
            self.search.forget(self.places.most_known)
            self._settled |= not self._further
            with self.run.phase("swap"):
                self._seen = self.search.find(self.widths[-1], report=self.foresee, eager=True, further=self._further)
            if len(self._seen.rows):
                self._further = True
            elif self._settled:
                return 0
            else:
                self._further = False

    def foresee(self, left: int, lowest: float) -> None:
        if self._settled:  # else some arms were dropped beside other medoids
            super().foresee(left, lowest)

    def _use_pool(self, assignment: Assignment, most: int) -> int:
        """Make the best swap of the known candidates, and so on until none helps."""
        made = 0
        while made < most and not self.run.stopped and len(helpful := self.search.helpful()):
            i = int(helpful[0])
            with self.run.phase("exact"):
                losses, magnitudes = self.places.exact_losses(assignment, np.array([i]), swaps=True)
            slot = int(losses.argmin())
            if not assignment.improves(float(losses[slot, 0]), float(magnitudes[slot, 0])):
                self.search.reject(i)
                continue
            mark = self._mark
            if self.run.journal is not None or not self.places.lasting:  # else there is nothing to go back to
                mark = self.search.describe(self._further)
            self.make_step(assignment, i, slot, self._seen, {"pool": mark})
            self._mark = mark
            self.begin(assignment, swaps=True)
            self._settled = False
            made += 1
        return made


def eagerpam(problem: Problem, run: Run) -> Solution:
    """A local optimum that no swap improves with high probability, for less than PAM's own."""
    return without_store(problem, run, EagerPAM(problem, run).solve())
