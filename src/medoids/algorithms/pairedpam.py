"""PairedPAM: PAM's path from few distances.

As in BanditPAM++ every step of PAM is a search for the best arm, in which points are arms with k faces and all arms see
the same references. Three things go beyond it: references come from strata of a tree of the points, so that few of them
say much (``paired/order.py``); arms are compared with pivots, whose changes are known exactly, on the same references,
so that near-ties fall early (``paired/search.py``); and sums are carried from step to step (``paired/shard.py``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from medoids.core.assignment import TOLERANCE, Assignment, EstimatedRows, MeasuredRows, lowest
from medoids.core.initialization import initialize
from medoids.core.local_search import accept, descend
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.engine.arrays import Float64s
from medoids.exact.matrix import MARGIN
from medoids.paired.local import OneShard
from medoids.paired.medoid_rows import MedoidRows
from medoids.paired.search import Found, Search, first_strata, widths_of

__all__ = ["PairedPAM", "pairedpam", "without_store"]

_After = Callable[[Float64s], tuple[Float64s, Float64s]]


class PairedPAM:
    """One fit."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run = problem, run
        self.shards = OneShard(problem, run, first_strata(problem.n, problem.distance.cost))
        noise = TOLERANCE if problem.distance.exact else MARGIN
        with run.phase("build"):
            self.search = Search(self.shards, self.shards.strata, noise, problem.tol)
        self.widths = widths_of(problem.delta)
        self.rows = self._make_rows()

    def _make_rows(self, known: dict[int, Float64s] | None = None) -> RowSource:
        distance = self.problem.distance
        if distance.exact or not self.problem.has_room(distance.dtype.itemsize):
            return RowSource(self.problem, self.run, known)
        return MedoidRows(self.problem, self.run, self.shards.whole, known)

    def solve(self) -> Solution:
        assignment = self.build() if self.problem.starts_with_build else initialize(self.rows)
        return descend(self.problem, self.run, assignment, lambda _: self._swap(assignment))

    def continue_with(self, problem: Problem, run: Run, known: dict[int, Float64s]) -> Solution:
        """Solve for another number of medoids or start, with the same points, references and stored distances."""
        self.problem, self.run = problem, run
        self.rows = self._make_rows(known)
        return self.solve()

    def build(self) -> Assignment:
        assignment = self.rows.start()
        while len(assignment.medoids) < self.problem.k:
            with self.run.phase("build"):
                found = self._find(assignment, self.widths[0], swaps=False)
            decided = self._decide(assignment, found, assignment.after_additions)
            assert decided is not None
            _, i, row, *_ = decided
            assignment.add(i, row)
            self.run.step("build", assignment, i, references=found.references, candidates=found.candidates)
        return assignment

    def begin(self, assignment: Assignment, *, swaps: bool) -> None:
        """Bring the search to a state."""
        self.shards.follow(assignment)
        scale = assignment.magnitude / self.problem.total_weight if assignment.medoids else 0.0
        self.run.check_scale(scale)
        self.search.begin(assignment.medoids, assignment.fixed, scale, swaps=swaps)

    def _find(self, assignment: Assignment, width: float, *, swaps: bool) -> Found:
        self.begin(assignment, swaps=swaps)
        return self.search.find(width)

    def _swap(self, assignment: Assignment) -> bool:
        """Make the best swap, if one helps: before none is said to, bounds are wider."""
        for width in self.widths:
            with self.run.phase("swap"):
                found = self._find(assignment, width, swaps=True)
            best = self._decide(assignment, found, assignment.after_swaps)
            if best is not None and assignment.improves(*best[3:]):
                slot, i, row, *_ = best
                references, candidates = found.references, found.candidates
                accept(self.run, assignment, slot, i, row, references=references, candidates=candidates)
                return True
        return False

    def best_swap(self, assignment: Assignment) -> tuple[int, int, float] | None:
        """Return (slot, row, loss) of the best swap, or None if none lowers the loss; nothing is changed."""
        with self.run.phase("swap"):
            found = self._find(assignment, self.widths[0], swaps=True)
        best = self._decide(assignment, found, assignment.after_swaps)
        return None if best is None or not assignment.improves(*best[3:]) else (best[0], best[1], best[3])

    def _decide(
        self, assignment: Assignment, found: Found, after: _After
    ) -> tuple[int, int, Float64s, float, float] | None:
        """Compare arms on exact distances; ties go to the lowest row. Return slot, row, distances, loss, magnitude."""
        if not len(found.rows):
            return None
        with self.run.phase("exact"):
            block = np.array([self.exact_row(i, assignment) for i in found.rows.tolist()])
        losses, magnitudes = after(block)
        slot, at = lowest(losses, magnitudes)
        return slot, int(found.rows[at]), block[at], float(losses[slot, at]), float(magnitudes[slot, at])

    def exact_row(self, i: int, assignment: Assignment) -> Float64s:
        """Return the distances from row i to all points: exact where they are at most the second nearest medoid's."""
        return self.shards.whole(i) if self.problem.distance.exact else self.rows.row(i, assignment.d2)


def without_store(problem: Problem, run: Run, solution: Solution) -> Solution:
    """Return a solution that no longer knows the stored distances, for which the next start has no room."""
    if isinstance(solution.assignment.lookup, EstimatedRows):
        solution.assignment.lookup = MeasuredRows(RowSource(problem, run).measure)
    return solution


def pairedpam(problem: Problem, run: Run) -> Solution:
    """PAM's medoids with high probability, from a fraction of the distances."""
    return without_store(problem, run, PairedPAM(problem, run).solve())
