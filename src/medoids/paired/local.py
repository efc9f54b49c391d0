"""The one shard of a fit on one machine, with all points, and the order that these are in."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.budget import POINTS_PER_CHUNK
from medoids.engine.threads import spans
from medoids.paired.order import Layout, Level, Strata, Tree, pick_landmarks
from medoids.paired.search import Shards
from medoids.paired.shard import REPORTED, Shard

__all__ = ["OneShard"]

# Points among which landmarks are drawn, and from which the tree is made.
DRAWN, SAMPLED = 1024, 1 << 16


class _Rows:
    """All points, numbered by the order of the tree."""

    def __init__(self, run: Run, order: Rows, n: int) -> None:
        self.distance: Dissimilarity = run.distance.reordered(order)
        self.own = len(order)
        self._place = np.full(n, -1, dtype=np.intp)
        self._place[order] = np.arange(len(order))
        self.positions: Rows = np.zeros(0, dtype=np.intp)

    def references(self, columns: slice | Rows) -> Rows:
        return self.positions[columns]

    def candidates(self, rows: Rows) -> Rows:
        return self._place[rows]


class OneShard(Shards):
    """All points in one shard."""

    def __init__(self, problem: Problem, run: Run, first: int) -> None:
        points = np.flatnonzero((problem.weights > 0) | problem.eligible)
        random = np.random.RandomState(run.random.randint(np.iinfo(np.int32).max))
        weights = problem.weights[points]
        with run.phase("build"):
            layout = _lay_out(run, points, weights, random)
        order = np.argsort(layout.leaf, kind="stable")
        mass = layout.mass(weights, layout.sums(weights))
        self.order, self.n = points[order], len(points)
        self._all, self._distance = problem.n, run.distance
        self._others = np.setdiff1d(np.arange(problem.n), points)
        self._mass = weights[order], mass[order]
        self.strata = Strata(*self._mass, first, random)
        self._rows = _Rows(run, self.order, problem.n)
        regions = np.arange(self.n) * REPORTED // self.n
        shares, eligible = weights[order] / problem.total_weight, problem.eligible[self.order]
        self._shares = shares
        self.shard = Shard(self._rows, self.order, shares, regions, eligible, problem.memory_limit, run.threads)
        self.kind = self.shard.store.kind

    def sample(self, size: int, random: np.random.RandomState) -> tuple[Rows, Float64s]:
        """Draw rows from as many strata as are asked for; return them and their weights."""
        strata = Strata(*self._mass, size, random)
        level = strata.levels[0]
        return self.order[strata.positions[level.columns]], level.weights

    def follow(self, assignment: Assignment) -> None:
        """Bring the shard to the state of an assignment."""
        at = self.order
        self._d1, self._d2, self._nearest = assignment.d1[at], assignment.d2[at], assignment.nearest[at]
        self.shard.place_state(self._d1, self._d2, self._nearest, np.array(assignment.medoids, dtype=np.intp))

    def ask(self, name: str, *arguments: Any, **options: Any) -> list[Any]:
        return [getattr(self.shard, name)(*arguments, **options)]

    def add_level(self, level: Level, positions: Rows) -> None:
        self._rows.positions = positions
        self.shard.store.add_level(level.stop)

    def states(self, columns: Rows) -> tuple[Float64s, Float64s, Rows]:
        at = self._rows.positions[columns]
        return self._d1[at], self._d2[at], self._nearest[at]

    def removal(self, slots: int) -> Float64s:
        other = np.isfinite(self._d2)
        costs = np.where(other, self._d2 - np.where(other, self._d1, 0.0), 0.0)
        removal: Float64s = np.bincount(self._nearest, self._shares * costs, minlength=slots).astype(np.float64)
        return removal

    def to_references(self, row: int, columns: Rows) -> Float64s:
        return self.shard.whole(row)[self._rows.positions[columns]].astype(np.float64)

    def whole(self, i: int) -> Float64s:
        """Return the distances from row i to all rows, in the precision of blocks."""
        row = np.empty(self._all)
        row[self.order] = self.shard.whole(i)
        if len(self._others):  # rows of weight 0 that are no candidates
            row[self._others] = self._distance.exact_block(np.array([i]), self._others)[0]
        return row


def _lay_out(run: Run, points: Rows, weights: Float64s, random: np.random.RandomState) -> Layout:
    """Measure the distances of all points from landmarks, and make the tree."""
    n, found = len(points), list[Floats]()
    drawn = np.sort(random.choice(n, min(n, DRAWN), replace=False))

    def measure(at: int) -> Float64s:
        row, mark = np.empty(n, kind), points[drawn[at : at + 1]]

        def work(chunk: slice) -> None:
            row[chunk] = run.distance.exact_block(mark, points[chunk])[0]

        run.threads.map(work, spans(n, POINTS_PER_CHUNK), threaded=run.distance.threaded)
        found.append(row)
        return row[drawn].astype(np.float64)

    kind = np.float32 if run.distance.dtype == np.float32 else np.float64
    pick_landmarks(measure, weights[drawn], random)
    Z = np.array(found)
    sample = np.sort(random.choice(n, SAMPLED, replace=False)) if n > SAMPLED else np.arange(n)
    return Layout.of(Tree.of(Z[:, sample]), Z)
