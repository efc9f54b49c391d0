"""PairedPAM: PAM's path from few distances.

As in BanditPAM++ every step of PAM is a search for the best arm, in which points are arms with k faces and all arms see
the same references. Three things go beyond it: references come from strata of a tree of the points, so that few of them
say much (``paired/order.py``); arms are compared with pivots, whose changes are known exactly, on the same references,
so that near-ties fall early (``paired/search.py``); and sums are carried from step to step (``paired/shard.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medoids.core.assignment import TOLERANCE, Assignment, EstimatedRows, MeasuredRows, lowest
from medoids.core.initialization import initialize
from medoids.core.local_search import descend
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.engine.arrays import Float64s
from medoids.exact.matrix import MARGIN
from medoids.paired.local import OneShard
from medoids.paired.places import Places
from medoids.paired.search import Found, Search, ShardLost, widths_of
from medoids.result import Outlook

__all__ = ["PairedPAM", "pairedpam", "without_store"]


class PairedPAM:
    """One fit.

    Parameters
    ----------
    problem : Problem
    run : Run
    make : callable
        Returns where the points are.
    """

    def __init__(self, problem: Problem, run: Run, make: Callable[[Problem, Run], Places] = OneShard) -> None:
        self.problem, self.run = problem, run
        self.places = make(problem, run)
        noise = TOLERANCE if problem.distance.exact else MARGIN
        with run.phase("build"):
            self.search = Search(self.places, self.places.strata, noise, problem.tol)
        self.widths = widths_of(problem.delta)

    def solve(self) -> Solution:
        assignment = self.build() if self.problem.starts_with_build else initialize(self.places.rows)
        return descend(self.problem, self.run, assignment, lambda _: self._repeat(assignment, self._swap))

    def continue_with(self, problem: Problem, run: Run, known: dict[int, Float64s]) -> Solution:
        """Solve for another number of medoids or start, with the same points, references and stored distances."""
        assert isinstance(self.places, OneShard)
        self.problem, self.run = problem, run
        self.places.serve(problem, run, known)
        return self.solve()

    def build(self) -> Assignment:
        assignment = self.places.rows.start()
        while len(assignment.medoids) < self.problem.k:
            self._repeat(assignment, self._add)
        return assignment

    def _repeat(self, assignment: Assignment, step: Callable[[Assignment], bool]) -> bool:
        """Do a step; if a shard is lost in it, again from the last medoids."""
        before = self.search.describe(further=False)
        while True:
            try:
                return step(assignment)
            except ShardLost as lost:
                self.places.recover(lost)
                self.search.restore(*before)

    def begin(self, assignment: Assignment, *, swaps: bool) -> None:
        """Bring the search to a state."""
        self.places.follow(assignment)
        scale = assignment.magnitude / self.problem.total_weight if assignment.medoids else 0.0
        self.run.check_scale(scale)
        self.search.begin(assignment.medoids, assignment.fixed, scale, swaps=swaps)

    def _find(self, assignment: Assignment, width: float, *, swaps: bool) -> Found:
        with self.run.phase("swap" if swaps else "build"):
            self.begin(assignment, swaps=swaps)
            return self.search.find(width, report=self.foresee)

    def foresee(self, left: int, lowest: float) -> None:
        """Take note of what bounds say of the swaps of the current medoids."""
        self.run.outlook = Outlook(left, max(0.0, -lowest))

    def _add(self, assignment: Assignment) -> bool:
        """Add the best medoid."""
        found = self._find(assignment, self.widths[0], swaps=False)
        decided = self._decide(assignment, found, swaps=False)
        assert decided is not None
        self.make_step(assignment, decided[1], None, found)
        return True

    def _swap(self, assignment: Assignment) -> bool:
        """Make the best swap, if one helps: before none is said to, bounds are wider."""
        for width in self.widths:
            found = self._find(assignment, width, swaps=True)
            best = self._decide(assignment, found, swaps=True)
            if best is not None and assignment.improves(*best[2:]):
                self.make_step(assignment, best[1], best[0], found)
                return True
        return False

    def best_swap(self, assignment: Assignment) -> tuple[int, int, float] | None:
        """Return (slot, row, loss) of the best swap, or None if none lowers the loss; nothing is changed."""
        found = self._find(assignment, self.widths[0], swaps=True)
        best = self._decide(assignment, found, swaps=True)
        return None if best is None or not assignment.improves(*best[2:]) else best[:3]

    def _decide(self, assignment: Assignment, found: Found, *, swaps: bool) -> tuple[int, int, float, float] | None:
        """Compare arms on exact distances; ties go to the lowest row. Return slot, row, loss and magnitude."""
        if not len(found.rows):
            return None
        with self.run.phase("exact"):
            losses, magnitudes = self.places.exact_losses(assignment, found.rows, swaps=swaps)
        slot, at = lowest(losses, magnitudes)
        return slot, int(found.rows[at]), float(losses[slot, at]), float(magnitudes[slot, at])

    def make_step(
        self, assignment: Assignment, i: int, slot: int | None, found: Found, position: dict[str, Any] | None = None
    ) -> None:
        """Make a row a medoid, and record it."""
        out = None if slot is None else assignment.medoids[slot]
        with self.run.phase("exact"):
            self.places.enter(assignment, i, slot)
        seen = {"references": found.references, "candidates": found.candidates}
        self.run.step("build" if slot is None else "swap", assignment, i, out, **seen, position=position)


def without_store(problem: Problem, run: Run, solution: Solution) -> Solution:
    """Return a solution that no longer knows the stored distances, for which the next start has no room."""
    if isinstance(solution.assignment.lookup, EstimatedRows):
        solution.assignment.lookup = MeasuredRows(RowSource(problem, run).measure)
    return solution


def pairedpam(problem: Problem, run: Run) -> Solution:
    """PAM's medoids with high probability, from a fraction of the distances."""
    return without_store(problem, run, PairedPAM(problem, run).solve())
