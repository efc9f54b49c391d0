"""One worker's part of a fit: its rows, a shard of them, and their nearest medoids."""

from __future__ import annotations

from typing import Any
from weakref import finalize

import numpy as np

from medoids.cluster.host import Host, Seen, empty_like
from medoids.cluster.messages import Census, Copies, Plan, Task
from medoids.cluster.reading import check_part, check_part_weights
from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.core.tree import Layout, Tree
from medoids.distances import Dissimilarity, Facts, Floats, Tally, count_rows, dissimilarity
from medoids.engine.arrays import Digests, Float64s, Rows
from medoids.engine.budget import POINTS_PER_CHUNK
from medoids.engine.threads import Threads, spans
from medoids.paired.medoid_rows import make_rows
from medoids.paired.shard import Shard

__all__ = ["Worker"]


class Worker:
    """Some partitions of the data: arrays, frames or lists, their numbers, and the row of X with which each begins.

    Rows of weight 0, which change nothing, are left out.
    """

    def __init__(
        self, task: Task, parts: list[Any], numbers: list[int], starts: list[int], weights: list[Any] | None = None
    ) -> None:
        self._task = task
        arrays, rows, weighed = [], [], []
        given = [None] * len(parts) if weights is None else weights
        for part, number, start, weight in zip(parts, numbers, starts, given, strict=True):
            array = check_part(part, task.metric, start, number)
            w = check_part_weights(weight, len(array), start)
            some = np.flatnonzero(w > 0)
            arrays.append(array[some] if len(some) < len(array) else array)
            rows.append(start + some)
            weighed.append(w[some])
        self._rows_all, self._weighted = sum(count_rows(part) for part in parts), weights is not None
        filled = [array for array in arrays if len(array)] or arrays[:1]
        self._X: Floats = np.concatenate(filled) if len(filled) > 1 else filled[0]
        self._rows: Rows = np.concatenate(rows)
        self._weights: Float64s = np.concatenate(weighed)
        self._sort(np.argsort(self._rows))
        self._Z: Floats = np.zeros((0, 0))  # distances from the landmarks, between `_measure` and `settle`
        self._settled, self._levels = False, 0
        self._judged: dict[int, Float64s] = {}
        self._tally, self._told = Tally(), 0
        self._threads = Threads(task.n_jobs)
        self._threads.__enter__()
        self.close = finalize(self, self._threads.__exit__)  # at the latest when nothing refers to this worker

    def _sort(self, at: Rows) -> None:
        self._X, self._rows, self._weights = self._X[at], self._rows[at], self._weights[at]
        self._by_row = np.argsort(self._rows)

    def ask(self, name: str, *message: Any, **options: Any) -> tuple[Any, int]:
        """Do what a message says; return the answer, and the number of distances computed since the last one."""
        answer = getattr(self if hasattr(self, name) else self._shard, name)(*message, **options)
        before, self._told = self._told, self._tally.computed
        return answer, self._told - before

    # --- before the fit -----------------------------------------------------------------------------------------------

    def census(self) -> Census:
        """Count the rows, and describe them."""
        X, vectors = self._X, self._X.ndim == 2
        lengths = [len(x) for x in X] if isinstance(self._task.metric, str) and not vectors else []
        return Census(
            rows=self._rows_all,
            candidates=len(X),
            weighed=(self._rows, self._weights) if self._weighted else None,
            sample=Copies(self._rows[:1], X[:1]),
            columns=X.shape[1] if vectors else 0,
            sums=X.sum(axis=0, dtype=np.float64) if vectors and X.dtype != object else np.zeros(X.shape[1:]),
            longest=max(lengths, default=0),
            shortest=min(lengths, default=0),
            length=sum(lengths),
            tokens=bool(lengths) and any(type(x) is not str for x in X),
        )

    def top(self, centre: Float64s) -> float:
        """Return the largest absolute value after centring."""
        return max((float(np.abs(self._X[lot] - centre).max()) for lot in spans(len(self._X), 1024)), default=0.0)

    def give(self, rows: Rows) -> tuple[Rows, Floats]:
        """Return those of some rows of X that are here, and their objects."""
        at = self._find(rows)
        return self._rows[at], self._X[at]

    def digests(self, rows: Rows) -> tuple[Rows, Digests | None]:
        """Return those of some rows of X that are here, and what equal ones have in common."""
        at = self._find(rows)
        return self._rows[at], self._distance(at).digests(np.arange(len(at)))

    def _find(self, rows: Rows) -> Rows:
        """Return where those of some rows of X are that are here."""
        if len(self._rows) == 0:
            return np.zeros(0, dtype=np.intp)
        at = self._by_row[np.searchsorted(self._rows, rows, sorter=self._by_row) % len(self._rows)]
        found: Rows = at[self._rows[at] == rows]
        return found

    def _distance(self, at: slice | Rows = slice(1)) -> Dissimilarity:
        """Return the distance among some own rows; where there are none, one of the same kind."""
        some = self._X[at]
        return dissimilarity(some if len(some) else empty_like(some, 1), self._task.metric, self._task.metric_params)

    # --- the order of the points --------------------------------------------------------------------------------------

    def _measure(self, marks: Copies, facts: Facts) -> None:
        """Measure the distances from landmarks to the own rows; once."""
        if len(self._Z):
            return
        count, n = len(marks.rows), len(self._rows)
        both = np.concatenate([marks.objects, self._X]) if n else marks.objects
        numbers = np.concatenate([marks.rows, self._rows])
        distance = self._distance().hosting(both, numbers, facts)
        self._Z = Z = np.empty((count, n), np.float32 if distance.dtype == np.float32 else np.float64)

        def work(chunk: slice) -> None:
            some = slice(count + chunk.start, count + chunk.stop)
            Z[:, chunk] = distance.exact_block(np.arange(count), some)

        self._threads.map(work, spans(n, POINTS_PER_CHUNK), threaded=distance.threaded)
        self._tally.add(computed=Z.size)

    def coordinates(self, marks: Copies, facts: Facts, rows: Rows) -> tuple[Rows, Floats]:
        """Return those of some rows that are here, and for each its distances from the landmarks."""
        self._measure(marks, facts)
        at = self._find(rows)
        return self._rows[at], self._Z[:, at].T

    def lay_out(self, marks: Copies, facts: Facts, tree: Tree) -> tuple[Rows, Layout]:
        """Return the own rows, and where a tree of distances from the landmarks puts them."""
        self._measure(marks, facts)
        return self._rows, Layout.of(tree, self._Z)

    def settle(self, plan: Plan) -> None:
        """Put the own rows into the order of the tree, and make a shard of them; once."""
        if self._settled:
            return
        self._measure(plan.marks, plan.facts)
        leaf, self._Z = plan.tree.leaves(self._Z), np.zeros((0, 0))
        kept = np.arange(len(self._rows))
        if plan.merged is not None:  # equal points count as one
            rows, weights = plan.merged
            places = np.searchsorted(rows, self._rows) % len(rows)
            kept = np.flatnonzero(rows[places] == self._rows)
            self._weights[kept] = weights[places[kept]]
        at = kept[np.lexsort((self._rows[kept], leaf[kept]))]
        leaf, kind = leaf[at].astype(np.int64), self._distance()
        self._sort(at)
        most = 1 + int(max(self._rows.max(initial=0), plan.borders.max(initial=0)))
        keys = plan.borders[:, 0] * most + plan.borders[:, 1]
        regions = np.searchsorted(keys, leaf * most + self._rows, side="right").astype(np.int8)
        self._host = Host(kind, self._X, self._rows, plan.facts, self._tally, self._threads)
        self._X = self._host.objects[: self._host.own]
        shares, eligible = self._weights / plan.weight, np.ones(len(self._rows), dtype=bool)
        task, limit = self._task, self._task.memory_limit
        self._shard = Shard(self._host, self._rows, shares, regions, eligible, limit, self._threads)
        problem = Problem(Seen(self._host), self._weights, task.k, "build", 0, limit, frozen=task.frozen)
        run = Run(problem, self._threads, np.random.RandomState(0), self._tally)
        self._source = make_rows(problem, run, self._shard.whole)
        self.assign([])
        self._settled = True

    # --- references ---------------------------------------------------------------------------------------------------

    def add_level(self, number: int, stop: int, rows: Rows, copies: Copies) -> None:
        """Take note of another level, unless it is known, given the rows of all references so far."""
        if number < self._levels:
            return
        self.welcome(copies)
        self._host.positions = self._host.candidates(rows)
        self._shard.store.add_level(stop)
        self._levels += 1

    def welcome(self, copies: Copies) -> None:
        """Take in copies of rows."""
        self._host.welcome(copies)
        self._X = self._host.objects[: self._host.own]

    def _here(self, columns: Rows) -> tuple[Rows, Rows]:
        """Return which of some references are here, and where."""
        at = self._host.references(columns)
        here = np.flatnonzero(at < self._host.own)
        return here, at[here]

    def states_of(self, columns: Rows) -> tuple[Rows, Float64s, Float64s, Rows]:
        """Return which of some references are here, and their d1, d2 and slots."""
        here, at = self._here(columns)
        return here, *self._shard.states(at)

    def to_references(self, rows: list[int], columns: Rows) -> tuple[Rows, Float64s]:
        """Return which of some references are here, and the distances from candidates to them."""
        here, at = self._here(columns)
        return here, np.array([self._shard.whole(row)[at] for row in rows], dtype=np.float64)

    # --- medoids ------------------------------------------------------------------------------------------------------

    def assign(self, medoids: list[int]) -> tuple[float, float, Float64s]:
        """Go to some medoids, which are known here."""
        self._state: Assignment = self._source.assign(medoids)
        return self._placed()

    def exact_losses(self, rows: Rows, *, swaps: bool) -> tuple[Float64s, Float64s]:
        """Return this worker's part of the exact losses and magnitudes that rows lead to, for each slot."""
        state, exact = self._state, self._host.distance.exact
        block = [self._shard.whole(i).astype(float) if exact else self._source.row(i, state.d2) for i in rows.tolist()]
        self._judged = dict(zip(rows.tolist(), block, strict=True))
        return state.after_swaps(np.array(block)) if swaps else state.after_additions(np.array(block))

    def enter(self, i: int, slot: int | None) -> tuple[float, float, Float64s]:
        """Make a row a medoid: the next one, or in the place of another."""
        if slot is None and i not in self._judged:  # a frozen one
            self._source.add(self._state, i)
        elif slot is None:
            self._state.add(i, self._judged[i])
        else:
            self._state.swap(slot, i, self._judged[i])
        return self._placed()

    def _placed(self) -> tuple[float, float, Float64s]:
        """Bring the shard to the current medoids; return its part of loss, magnitude, and what removing each costs."""
        state, slots = self._state, len(self._state.medoids)
        self._judged = {}
        self._shard.place_state(state.d1, state.d2, state.nearest, np.array(state.medoids, dtype=np.intp))
        return state.loss, state.magnitude, self._shard.removal(slots) if slots else np.zeros(0)

    def differ(self) -> bool:
        """Whether some of the own rows differ from their nearest medoids."""
        medoids = self._host.objects[self._host.candidates(np.array(self._state.medoids))]
        nearest, chunks = self._state.nearest, spans(len(self._rows), POINTS_PER_CHUNK)
        return any(bool((self._X[chunk] != medoids[nearest[chunk]]).any()) for chunk in chunks)
