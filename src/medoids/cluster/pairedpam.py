"""PairedPAM over shards: the same steps, bounds and rules as on one machine, and sums instead of rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from medoids.algorithms.pairedpam import FINALISTS, bounds_of
from medoids.bandit import search_pairs
from medoids.cluster.guests import Guests
from medoids.cluster.messages import Copies
from medoids.cluster.pool import Pool, ShardLost
from medoids.cluster.posing import Posed
from medoids.cluster.search import Levelled, ShardedArms
from medoids.core.assignment import TOLERANCE, Assignment, KeptRows, lowest
from medoids.core.local_search import descend
from medoids.core.problem import Problem, Solution
from medoids.core.run import SMALLEST_LOSS, TOO_SMALL, Run
from medoids.engine.arrays import Rows
from medoids.engine.budget import FINALISTS_PER_CHUNK
from medoids.exact.matrix import MARGIN
from medoids.paired.moments import State
from medoids.settings import format_bytes

__all__ = ["ShardedPAM"]

Answer = TypeVar("Answer")
# Losses of one worker after another before a fit gives up.
_PATIENCE = 10
# Mean distances above the first are normal numbers in float32. Differences above the second, as a share of the largest
# value, may be rounding errors, which are accepted.
_SMALLEST_FLOAT32_LOSS, _ROUNDING_DIFFERENCE = 1e-36, 1e-20


class ShardedPAM:
    """One fit.

    The driver's assignment knows medoids, slots and the loss; whose points they are nearest to, the shards know.

    Parameters
    ----------
    problem : Problem
        Of which ``weights`` is the sum of all.
    run : Run
    pool : Pool
    posed : Posed
    verbose : int
        Above 0, each step's traffic is told.
    """

    def __init__(self, problem: Problem, run: Run, pool: Pool, posed: Posed, verbose: int = 0) -> None:
        self.problem, self.run, self.pool, self.posed, self._verbose = problem, run, pool, posed, verbose
        self.guests = Guests(pool)
        self.levels = Levelled(posed.n, posed.spans)
        self._sent = 0
        self._told = pool.trips, pool.down, pool.up
        self._copies: dict[int, Copies] = {}  # the medoids themselves
        self.assignment = Assignment(np.zeros(0), KeptRows(problem.k, 0), problem.frozen)
        self._prepare()

    def _prepare(self) -> None:
        self.bounds: Sequence[Any] = bounds_of(self.problem.delta, self.posed.n)

    def solve(self) -> Solution:
        problem = self.problem
        self._resume()
        assignment = self.assignment
        if isinstance(problem.init, str):
            for i in problem.frozen[len(assignment.medoids) :]:
                self._add(i, references=self.posed.rows, candidates=1)
            while len(assignment.medoids) < problem.k:
                self._redone(self._build)
        elif not assignment.medoids:
            for i in problem.init.tolist():
                self._redone(lambda i=i: self._enter(i, None))  # type: ignore[misc]
            self.run.step("build", assignment, references=self.posed.rows, candidates=problem.k)
            self._tell()
        return descend(problem, self.run, assignment, lambda _: self._redone(self._swap))

    def _resume(self) -> None:
        """Restore the state of the checkpoint, if there is one."""

        def assign(medoids: list[int]) -> Assignment:
            self._redone(lambda: self.restore(list(medoids)))
            return self.assignment

        self.run.resume(assign)

    def _add(self, i: int, *, references: int, candidates: int) -> None:
        self._redone(lambda: self._enter(i, None))
        self.run.step("build", self.assignment, i, references=references, candidates=candidates)
        self._tell()

    def _build(self) -> None:
        with self.run.phase("build"):
            arms = self._search(self.bounds[0], swaps=False)
        found = self._judge(arms.rows(), swaps=False)
        assert found is not None
        references, candidates = arms.t, len(arms.left)
        self._enter(found[1], None)
        self.run.step("build", self.assignment, found[1], references=references, candidates=candidates)
        self._tell()

    def _swap(self) -> bool:
        return any(self._swap_best(bounds) for bounds in self.bounds)

    def _swap_best(self, bounds: Any) -> bool:
        """Search, and make the best swap of the arms that are left, if it helps."""
        assignment = self.assignment
        with self.run.phase("swap"):
            arms = self._search(bounds, swaps=True)
        found = self._judge(arms.rows(), swaps=True)
        if found is None or not assignment.improves(*found[2:]):
            return False
        slot, i, *_ = found
        out, references, candidates = assignment.medoids[slot], arms.t, len(arms.left)
        self._enter(i, slot)
        self.run.step("swap", assignment, i, out, references=references, candidates=candidates)
        self._tell()
        return True

    def _search(self, bounds: Any, *, swaps: bool) -> ShardedArms:
        assignment, problem = self.assignment, self.problem
        mean = assignment.loss / self.posed.n if assignment.medoids else np.inf
        slots = len(assignment.medoids)
        one = np.ones(1)
        state = State(mean * one, np.inf * one, np.zeros(1, np.intp), one, slots, swaps, tuple(assignment.fixed))
        noise = TOLERANCE if problem.distance.exact else MARGIN
        arms = ShardedArms(self.pool, self.guests, self.levels, state, self.run.threads, noise, self._sent)
        search_pairs(arms, bounds, FINALISTS)
        self._sent = arms.sent
        return arms

    def _judge(self, rows: Rows, *, swaps: bool) -> tuple[int, int, float, float] | None:
        """Return slot, row, exact loss and magnitude of the best of some rows, which are in ascending order."""
        if len(rows) == 0:
            return None
        tables = []
        with self.run.phase("exact"):
            for start in range(0, len(rows), FINALISTS_PER_CHUNK):
                guests = self.guests.invite(rows[start : start + FINALISTS_PER_CHUNK])
                tables.append(sum(self.pool.ask("judge", guests, swaps)))
        losses, magnitudes = np.concatenate(tables, axis=2)
        slot, at = lowest(losses, magnitudes)
        return slot, int(rows[at]), float(losses[slot, at]), float(magnitudes[slot, at])

    def _enter(self, i: int, slot: int | None) -> None:
        """Make a row a medoid everywhere."""
        row = np.array([i])
        with self.run.phase("exact"):
            guest = int(self.guests.invite(row)[0])
            answers = self.pool.ask("enter", i, guest, slot)
        parts = sum(part for part, _ in answers)
        self._copies[i] = next(copies for _, copies in answers if len(copies.numbers))
        assignment = self.assignment
        medoids = list(assignment.medoids)
        medoids[slice(len(medoids), None) if slot is None else slice(slot, slot + 1)] = [i]
        self._check_small(float(parts[0]), medoids)
        if slot is None:
            assignment.add(i, np.zeros(0))
        else:
            assignment.swap(slot, i, np.zeros(0))
        assignment.loss, assignment.magnitude = parts.tolist()

    def _check_small(self, loss: float, medoids: list[int]) -> None:
        """Refuse distances that are too small to be sampled, and those of 0 between rows that differ."""
        mean, degree = abs(loss) / self.posed.weight, self.posed.degree
        if mean == 0:
            vanished = bool(degree) and any(self.pool.ask("differ", self._rows_of(medoids).objects))
        else:
            vanished = mean < SMALLEST_LOSS
            if degree and not self.problem.distance.exact and mean < _SMALLEST_FLOAT32_LOSS:
                vanished |= mean ** (1 / degree) < _ROUNDING_DIFFERENCE * self.posed.facts.top
        if vanished:
            raise ValueError(TOO_SMALL)

    def centers(self) -> Copies:
        """Return the medoids themselves."""
        return self._rows_of(self.assignment.medoids)

    def _rows_of(self, medoids: list[int]) -> Copies:
        found = [self._copies[i] for i in medoids]
        return Copies(np.concatenate([c.numbers for c in found]), np.concatenate([c.objects for c in found]))

    def restore(self, medoids: list[int]) -> None:
        """Bring all shards to some medoids, whatever they were doing."""
        self.guests.clear()
        missing = np.array([i for i in medoids if i not in self._copies], dtype=np.intp)
        if len(missing):
            for some in self.pool.ask("give", missing):
                for at, i in enumerate(some.numbers.tolist()):
                    self._copies[i] = Copies(some.numbers[at : at + 1], some.objects[at : at + 1])
        copies = [self._copies[i] for i in medoids]
        everyone = None
        if copies:
            objects = np.concatenate([c.objects for c in copies])
            everyone = Copies(np.array(medoids, dtype=np.intp), objects)
        with self.run.phase("exact"):
            parts = sum(self.pool.ask("restore", medoids, everyone))
        self.guests.clear()
        if self.assignment.medoids != medoids:
            self.assignment = Assignment(np.zeros(0), KeptRows(self.problem.k, 0), self.problem.frozen)
            for i in medoids:
                self.assignment.add(i, np.zeros(0))
        self.assignment.loss, self.assignment.magnitude = parts.tolist() if medoids else (np.inf, np.inf)

    def _redone(self, work: Callable[[], Answer]) -> Answer:
        """Do a step, again from the last accepted medoids if a worker is lost in it."""
        for _ in range(_PATIENCE):
            try:
                return work()
            except ShardLost as lost:
                self._say(f"{lost}; it is made again from its partitions, and the step is done again")
                self._recover()
        raise RuntimeError(f"workers were lost {_PATIENCE} times in one step; the cluster does not hold")

    def _recover(self) -> None:
        for _ in range(_PATIENCE):
            try:
                self.pool.recover()
                self._sent = 0
                self.restore(list(self.assignment.medoids))
                return
            except ShardLost:
                continue
        raise RuntimeError(
            f"workers were lost {_PATIENCE} times while shards were made again; the cluster does not hold"
        )

    def _tell(self) -> None:
        """Tell what the step sent to and fro."""
        pool, step = self.pool, self.run.trace[-1]
        number = sum(record.phase == step.phase for record in self.run.trace)
        now = pool.trips, pool.down, pool.up
        trips, down, up = (new - old for new, old in zip(now, self._told, strict=True))
        self._told = now
        self._say(
            f"{step.phase} {number}: loss {step.loss:.6g}, {trips} trips, "
            f"{format_bytes(down)} down, {format_bytes(up)} up"
        )

    def _say(self, text: str) -> None:
        if self._verbose:
            sys.stderr.write(f"medoids.dask: {text}\n")
