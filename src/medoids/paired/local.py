"""The one shard of a fit on one machine, with all points."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.core.tree import Layout, Tree
from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.budget import POINTS_PER_CHUNK, POINTS_PER_UPDATE
from medoids.engine.threads import spans
from medoids.paired.medoid_rows import make_rows
from medoids.paired.order import Level
from medoids.paired.places import Places
from medoids.paired.shard import REPORTED, Shard

__all__ = ["OneShard"]


class _Rows:
    """All points, numbered by the order of the tree."""

    def __init__(self, run: Run, order: Rows, place: Rows) -> None:
        self.distance: Dissimilarity = run.distance.reordered(order)
        self.own, self._place = len(order), place
        self.positions: Rows = np.zeros(0, dtype=np.intp)

    def references(self, columns: slice | Rows) -> Rows:
        return self.positions[columns]

    def candidates(self, rows: Rows) -> Rows:
        return self._place[rows]


class OneShard(Places):
    """All points in one shard."""

    lasting = True

    def __init__(self, problem: Problem, run: Run) -> None:
        self._marked: list[Floats] = []
        super().__init__(problem, run)
        self._rows = _Rows(run, self.order, self.place)
        self._state = np.empty(self.n), np.empty(self.n), np.empty(self.n, dtype=np.intp)
        regions = (np.arange(self.n) * REPORTED // self.n).astype(np.int8)
        shares, eligible = self._mass[0], problem.eligible[self.order]
        self.shard = Shard(self._rows, self.order, shares, regions, eligible, problem.memory_limit, run.threads)
        self.serve(problem, run)

    def serve(self, problem: Problem, run: Run, known: dict[int, Float64s] | None = None) -> None:
        """Serve another fit of the same points; exact distances from some rows may be known."""
        self.problem, self.run = problem, run
        # Without a reference to this object, which refers to the rows: all goes when the fit ends.
        self._whole = partial(_whole, run, self.shard, self.place)
        self.rows = make_rows(problem, run, self._whole, known)
        self._judged: dict[int, Float64s] = {}

    def _measure(self, mark: int, points: Rows, drawn: Rows) -> Float64s:
        distance, row = self.run.distance, np.empty(len(points), self.kind)

        def work(chunk: slice) -> None:
            row[chunk] = distance.exact_block(np.array([mark]), points[chunk])[0]

        self.run.threads.map(work, spans(len(points), POINTS_PER_CHUNK), threaded=distance.threaded)
        distance.release()
        self._marked.append(row)
        return row[drawn].astype(np.float64)

    def _coordinates(self, points: Rows, sample: Rows) -> Floats:
        return np.array([row[sample] for row in self._marked])

    def _layout(self, tree: Tree, points: Rows) -> Layout:
        marked, self._marked = self._marked, []
        chunks = spans(len(points), POINTS_PER_UPDATE)
        parts: dict[int, Layout] = {}

        def work(number: int) -> None:
            parts[number] = Layout.of(tree, np.array([row[chunks[number]] for row in marked]))

        self.run.threads.map(work, range(len(chunks)))
        return Layout.joined([parts[number] for number in range(len(chunks))])

    def gather(self, rows: Rows) -> tuple[Dissimilarity, Rows]:
        return self._rows.distance, self.place[rows]

    def follow(self, assignment: Assignment) -> None:
        def work(chunk: slice) -> None:
            for all_points, out in zip((assignment.d1, assignment.d2, assignment.nearest), self._state, strict=True):
                np.take(all_points, self.order[chunk], out=out[chunk], mode="clip")  # other modes copy first

        self.run.threads.map(work, spans(self.n, POINTS_PER_UPDATE))
        self.shard.place_state(*self._state, np.array(assignment.medoids, dtype=np.intp))

    def ask(self, name: str, *arguments: Any, **options: Any) -> list[Any]:
        return [getattr(self.shard, name)(*arguments, **options)]

    def add_level(self, level: Level, positions: Rows) -> None:
        self._rows.positions = positions
        self.shard.store.add_level(level.stop)

    def states(self, columns: Rows) -> tuple[Float64s, Float64s, Rows]:
        return self.shard.states(self._rows.positions[columns])

    def removal(self, slots: int) -> Float64s:
        return self.shard.removal(slots)

    def to_references(self, rows: list[int], columns: Rows) -> Float64s:
        at = self._rows.positions[columns]
        return np.array([self.shard.whole(row)[at] for row in rows], dtype=np.float64)

    def exact_losses(self, assignment: Assignment, rows: Rows, *, swaps: bool) -> tuple[Float64s, Float64s]:
        block = np.array([self._exact(i, assignment) for i in rows.tolist()])
        self._judged = dict(zip(rows.tolist(), block, strict=True))
        return assignment.after_swaps(block) if swaps else assignment.after_additions(block)

    def enter(self, assignment: Assignment, i: int, slot: int | None) -> None:
        row = self._judged[i]
        self._judged = {}
        if slot is None:
            assignment.add(i, row)
        else:
            assignment.swap(slot, i, row)

    def _exact(self, i: int, assignment: Assignment) -> Float64s:
        """Return the distances from row i to all points: exact where they are at most the second nearest medoid's."""
        return self._whole(i) if self.problem.distance.exact else self.rows.row(i, assignment.d2)


def _whole(run: Run, shard: Shard, place: Rows, i: int) -> Float64s:
    """Return the distances from row i to all rows of X, in the precision of blocks."""
    row: Float64s = shard.whole(i)[place].astype(np.float64)
    rest = np.flatnonzero(place < 0)  # rows of weight 0 that are no candidates
    if len(rest):
        row[rest] = run.distance.exact_block(np.array([i]), rest)[0]
    return row
