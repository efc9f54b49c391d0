"""Where rows of distances come from: measured here; read from a matrix or from stored distances by subclasses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from medoids.core.assignment import DOUBT, Assignment, KeptRows, Lookup, MeasuredRows
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.budget import BOUND_POINTS, CHUNK_NS, MEDOIDS_PER_CHUNK, POINTS_PER_CHUNK, RELEASE_CHUNKS
from medoids.engine.threads import spans

__all__ = ["RowSource"]


class RowSource:
    """Exact distances from medoids to points, and the assignments that are made of them.

    Parameters
    ----------
    problem : Problem
    run : Run
    known : dict, optional
        Exact distances from some rows to all points, which need not be computed again.
    """

    def __init__(self, problem: Problem, run: Run, known: dict[int, Float64s] | None = None) -> None:
        self.problem, self.run, self._known = problem, run, known or {}

    def assign(self, medoids: Iterable[int]) -> Assignment:
        """Return the state with these medoids."""
        problem = self.problem
        assignment = Assignment(
            problem.weights, self.lookup(), problem.frozen, tol=problem.tol, members=not problem.rectangular
        )
        self.add_all(assignment, np.array(list(medoids), dtype=np.intp))
        return assignment

    def add_all(self, assignment: Assignment, medoids: Rows) -> None:
        """Make some rows medoids."""
        if self._known or not self.run.distance.threaded or self.problem.n <= POINTS_PER_CHUNK:
            for i in medoids.tolist():
                self.add(assignment, i)
            return
        slots = [assignment.open_slot(i) for i in medoids.tolist()]

        def work(points: slice) -> None:
            for few in spans(len(medoids), MEDOIDS_PER_CHUNK):
                block = self.run.distance.exact_block(medoids[few], points)
                for slot, distances in zip(slots[few], block, strict=True):
                    assignment.enter(slot, points, distances)

        # A chunk of points at a time: less work to hand out than medoid by medoid.
        with self.run.phase("assignment"):
            self._over_points(work)
        if slots:
            assignment.sum_up()

    def add(self, assignment: Assignment, i: int) -> None:
        """Make row i the next medoid."""
        if (row := self._known.get(i)) is None:
            with self.run.phase("assignment"):
                row = self.row(i, assignment.d2)
        assignment.add(i, row)

    def start(self) -> Assignment:
        """Return the state that BUILD starts from: no medoid but the frozen ones, each a step of the trace."""
        problem, run = self.problem, self.run
        assignment = run.resume(self.assign) or self.assign([])
        for i in problem.frozen[len(assignment.medoids) :]:
            self.add(assignment, i)
            run.step("build", assignment, i, references=problem.n, candidates=1)
        return assignment

    def row(self, i: int, below: Float64s) -> Float64s:
        """Return the distances from row i to all points: exact where they are at most ``below``."""
        return np.asarray(self.rows(np.array([i]))[0])

    def block(self, rows: Rows, points: Rows) -> Float64s:
        """Return the exact distances from a few rows to a few points."""
        return self.run.distance.exact_block(rows, points)

    def lookup(self) -> Lookup:
        """Return what finds the nearest two medoids of points again after a swap."""
        problem = self.problem
        return KeptRows(problem.k, problem.n) if problem.has_room(8) else MeasuredRows(self.measure)

    def rows(self, rows: Rows) -> Float64s:
        """Return the exact distances from some rows to all points."""
        out = np.empty((len(rows), self.problem.n))

        def work(points: slice) -> None:
            out[:, points] = self.run.distance.exact_block(rows, points)

        self._over_points(work)
        return out

    def _over_points(self, work: Callable[[slice], None]) -> None:
        distance, chunks = self.run.distance, spans(self.problem.n, POINTS_PER_CHUNK)
        for stretch in spans(len(chunks), RELEASE_CHUNKS):
            self.run.threads.map(work, chunks[stretch], threaded=distance.threaded)
            distance.release()

    def measure(self, medoids: Rows, points: Rows, phase: str = "assignment") -> Float64s:
        """Return the exact distances from some medoids to some points."""
        distance = self.run.distance
        out = np.empty((len(medoids), len(points)))

        def work(chunk: slice) -> None:
            for few in spans(len(medoids), MEDOIDS_PER_CHUNK):
                out[few, chunk] = distance.exact_block(medoids[few], points[chunk])

        with self.run.phase(phase):
            self.run.threads.map(work, spans(len(points), POINTS_PER_CHUNK), threaded=distance.threaded)
        distance.release()
        return out

    def to_points(self, points: Rows, phase: str) -> Floats:
        """Return the distances from all rows to some points, as [point, row], in the precision of blocks."""
        distance, n = self.run.distance, self.problem.n
        out = np.empty((len(points), n), dtype=distance.dtype)
        distance.prepare(self.run.threads)

        def work(chunk: slice) -> None:
            if distance.symmetric:
                out[chunk] = distance.block(points[chunk], slice(0, n))
            else:
                out[chunk] = distance.block(slice(0, n), points[chunk]).T

        width = max(1, min(BOUND_POINTS, int(CHUNK_NS / (distance.cost * n))))
        with self.run.phase(phase):
            self.run.threads.map(work, spans(len(points), width), threaded=distance.threaded)
        return out

    def sharpen(self, i: int, row: Float64s, below: Float64s) -> Float64s:
        """Make the distances from i to all points exact where they may be at most ``below``.

        Who is nearest and second nearest is decided among those up to d2, which are about 2/k of all.
        """
        near = np.flatnonzero(row <= (1 + DOUBT) * below)
        row[near] = self.measure(np.array([i]), near, "exact")[0]
        return row
