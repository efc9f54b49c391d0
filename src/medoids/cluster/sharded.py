"""The points of a fit with the workers of a pool: `Places` for the search and the steps of one machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from medoids.algorithms.eager import EagerPAM
from medoids.algorithms.pairedpam import PairedPAM
from medoids.cluster.messages import Copies, Plan, in_row_order
from medoids.cluster.pool import PATIENCE, Pool
from medoids.cluster.survey import Survey, give
from medoids.core.assignment import Assignment, KeptRows
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import SMALLEST_LOSS, TOO_SMALL, Run
from medoids.core.tree import Layout, Tree
from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.paired.order import Level
from medoids.paired.places import Places
from medoids.paired.shard import REPORTED
from medoids.result import TraceRecord
from medoids.settings import format_bytes

__all__ = ["solve"]

# Mean distances above the first are normal numbers in float32. Differences above the second, as a share of the largest
# value, may be rounding errors, which are accepted.
_SMALLEST_FLOAT32_LOSS, _ROUNDING_DIFFERENCE = 1e-36, 1e-20


def solve(problem: Problem, run: Run, pool: Pool, survey: Survey, verbose: int = 0) -> Solution:
    """Fit by the steps of one machine; with ``verbose`` the traffic of each is told."""
    kind = EagerPAM if problem.swap == "eager" else PairedPAM
    if verbose:
        run.watch(Traffic(pool))
    return kind(problem, run, partial(Sharded, pool, survey)).solve()


class _DriversRows(RowSource):
    """Assignments of which the driver knows medoids and loss; whose points they are nearest to, the workers know."""

    def __init__(self, places: Sharded) -> None:
        super().__init__(places.problem, places.run)
        self._places = places

    def assign(self, medoids: Iterable[int]) -> Assignment:
        problem, places = self.problem, self._places
        assignment = Assignment(np.zeros(0), KeptRows(problem.k, 0), problem.frozen, tol=problem.tol)
        places.assignment = assignment
        for i in medoids:
            assignment.open_slot(int(i))
        with self.run.phase("assignment"):
            places.pool.surely(places.assign)
        return assignment

    def add(self, assignment: Assignment, i: int) -> None:
        with self.run.phase("assignment"):
            self._places.pool.surely(lambda: self._places.enter(assignment, i, None))


class Sharded(Places):
    """Points that are with the workers of a pool, which are brought to the last assignment."""

    def __init__(self, pool: Pool, survey: Survey, problem: Problem, run: Run) -> None:
        self.pool, self._survey = pool, survey
        self._plan: Plan | None = None
        self.assignment: Assignment | None = None
        pool.tell_again = self._tell_again
        self._levels: list[tuple[int, Rows]] = []
        self._sent: set[int] = set()  # rows of which all workers have copies
        self._removal = np.zeros(0)
        self._losses = 0  # of workers, in this step
        self._drawn: Copies | None = None
        self._marked: list[int] = []
        super().__init__(problem, run)
        self.rows = _DriversRows(self)
        # The first point of each region of the order but the first, by leaf and row.
        starts = -(-np.arange(1, REPORTED) * self.n // REPORTED)
        starts = starts[starts < self.n]
        borders = np.stack([self._leaf[starts].astype(np.intp), self.order[starts]], axis=1)
        self._plan = Plan(self._marks, self._tree, borders, problem.total_weight, survey.facts, self._merged)
        pool.surely(lambda: pool.ask("settle", self._plan))

    # --- the order of the points --------------------------------------------------------------------------------------

    def _merge(self, points: Rows) -> tuple[Rows, Float64s, Rows]:
        kept, weights, alike = super()._merge(points)
        self._merged = (kept, weights) if len(kept) < len(points) else None
        return kept, weights, alike

    def _measure(self, mark: int, points: Rows, drawn: Rows) -> Float64s:
        """Measure the distances to what is drawn; workers measure all points from all landmarks at once."""
        if self._drawn is None:
            self._drawn = self.pool.surely(lambda: give(self.pool, points[drawn]))
        rows = self._drawn.rows
        at = np.searchsorted(rows, [mark])
        self._marked.append(int(at[0]))
        distance = self._survey.distance.among(self._drawn)
        found: Float64s = distance.exact_block(at, slice(0, len(rows)))[0].astype(self.kind).astype(np.float64)
        return found

    def _coordinates(self, points: Rows, sample: Rows) -> Floats:
        assert self._drawn is not None
        self._marks = Copies(self._drawn.rows[self._marked], self._drawn.objects[self._marked])
        self._drawn = None
        message = self._marks, self._survey.facts, points[sample]
        return in_row_order(self.pool.surely(lambda: self.pool.ask("coordinates", *message)))[1].T

    def _layout(self, tree: Tree, points: Rows) -> Layout:
        self._tree = tree
        found = self.pool.surely(lambda: self.pool.ask("lay_out", self._marks, self._survey.facts, tree))
        rows = np.concatenate([rows for rows, _ in found])
        at = np.argsort(rows)
        return Layout.joined([layout for _, layout in found], at[np.searchsorted(rows, points, sorter=at)])

    def gather(self, rows: Rows) -> tuple[Dissimilarity, Rows]:
        copied = np.unique(rows)
        return self.run.distance.take(copied), np.searchsorted(copied, rows)

    # --- for the search -----------------------------------------------------------------------------------------------

    def ask(self, name: str, *arguments: Any, **options: Any) -> list[Any]:
        if name == "learn":
            self._invite(arguments[0])
        return self.pool.ask(name, *arguments, **options)

    def add_level(self, level: Level, positions: Rows) -> None:
        self._levels.append((level.stop, self.order[positions]))
        self.pool.surely(lambda: self._send_level(len(self._levels) - 1))

    def _send_level(self, number: int) -> None:
        """Send the references of a level to all workers, but for those that they have."""
        stop, rows = self._levels[number]
        self.pool.ask("add_level", number, stop, rows, give(self.pool, self._new(rows)))

    def _new(self, rows: Rows) -> Rows:
        """Return those of some rows of which not all workers have copies: they get them now, or after a loss."""
        new = np.unique(np.array([i for i in rows.tolist() if i not in self._sent], dtype=np.intp))
        self._sent.update(new.tolist())
        return new

    def _invite(self, rows: Rows) -> None:
        """Send candidates to all workers, but for those that they have."""
        if len(new := self._new(rows)):
            self.pool.ask("welcome", give(self.pool, new))

    def states(self, columns: Rows) -> tuple[Float64s, Float64s, Rows]:
        d1, d2, slot = np.empty(len(columns)), np.empty(len(columns)), np.empty(len(columns), dtype=np.intp)
        for here, *values in self.pool.ask("states_of", columns):
            d1[here], d2[here], slot[here] = values
        return d1, d2, slot

    def removal(self, slots: int) -> Float64s:
        return self._removal

    def to_references(self, rows: list[int], columns: Rows) -> Float64s:
        out = np.empty((len(rows), len(columns)))
        for here, distances in self.pool.ask("to_references", rows, columns):
            out[:, here] = distances
        return out

    # --- medoids ------------------------------------------------------------------------------------------------------

    def follow(self, assignment: Assignment) -> None:
        """Do nothing: workers are told of each medoid as it enters."""

    def assign(self) -> None:
        """Bring the workers to the last assignment, and its loss to what they tell."""
        if (assignment := self.assignment) is not None:
            self._invite(np.array(assignment.medoids, dtype=np.intp))
            self._note(assignment, self.pool.ask("assign", assignment.medoids))

    def exact_losses(self, assignment: Assignment, rows: Rows, *, swaps: bool) -> tuple[Float64s, Float64s]:
        self._invite(rows)
        parts = self.pool.ask("exact_losses", rows, swaps=swaps)
        losses: Float64s = np.sum([losses for losses, _ in parts], axis=0)
        return losses, np.sum([magnitudes for _, magnitudes in parts], axis=0)

    def enter(self, assignment: Assignment, i: int, slot: int | None) -> None:
        self._invite(np.array([i]))
        parts = self.pool.ask("enter", i, slot)
        self._losses = 0
        if slot is None:
            assignment.open_slot(i)
        else:
            assignment.medoids[slot] = i
        self._note(assignment, parts)

    def _note(self, assignment: Assignment, parts: list[tuple[float, float, Float64s]]) -> None:
        losses, magnitudes, removals = zip(*parts, strict=True)
        self._removal = np.sum(removals, axis=0)
        if assignment.medoids:
            assignment.loss, assignment.magnitude = sum(losses), sum(magnitudes)
            self._check_small(assignment)

    def _check_small(self, assignment: Assignment) -> None:
        """Refuse distances that are too small to be sampled, and those of 0 between rows that differ."""
        mean, degree = abs(assignment.loss) / self.problem.total_weight, self._survey.degree
        if mean == 0:
            vanished = bool(degree) and any(self.pool.ask("differ"))
        else:
            vanished = mean < SMALLEST_LOSS
            if degree and not self.problem.distance.exact and mean < _SMALLEST_FLOAT32_LOSS:
                vanished |= mean ** (1 / degree) < _ROUNDING_DIFFERENCE * self._survey.facts.top
        if vanished:
            raise ValueError(TOO_SMALL)

    # --- workers that are lost ----------------------------------------------------------------------------------------

    def recover(self, lost: Exception) -> None:
        self._losses += 1
        if self._losses > PATIENCE:
            raise RuntimeError(f"workers were lost {PATIENCE} times in one step; the cluster does not hold") from lost
        self.pool.recover()

    def _tell_again(self) -> None:
        """Send all workers what those that were made again do not know; the others skip what they do."""
        self._sent = set()
        if self._plan is not None:
            self.pool.ask("settle", self._plan)
            for number in range(len(self._levels)):
                self._send_level(number)
        self.assign()


class Traffic:
    """Tells after each step what was sent to and fro."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self._told, self._steps = pool, (0, 0, 0), dict[str, int]()

    def __call__(self, step: TraceRecord) -> None:
        now = self._pool.trips, self._pool.down, self._pool.up
        trips, down, up = (new - old for new, old in zip(now, self._told, strict=True))
        self._told = now
        self._steps[step.phase] = number = self._steps.get(step.phase, 0) + 1
        sys.stderr.write(
            f"medoids.dask: {step.phase} {number}: loss {step.loss:.6g}, {trips} trips, "
            f"{format_bytes(down)} down, {format_bytes(up)} up\n"
        )
