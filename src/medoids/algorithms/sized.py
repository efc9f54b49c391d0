"""Medoids of clusters with limits on their sizes: swaps that lower the constrained loss.

The search starts from medoids without limits, gives each row its best cluster within them (``exact/transport.py``), and
then does two things in turn until neither helps:

- the best medoid of each cluster as it is, after which rows are assigned again;
- a swap with a row from anywhere. With the prices of the current assignment, one pass over the distances gives a lower
  bound on the constrained loss of every swap (`price_bound`, with the price of the slot for the row that enters it).
  Swaps whose bound is above the current loss cannot help; the others are tried, the lowest bound first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from medoids.core.assignment import Assignment, KeptRows
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import spans
from medoids.exact.matrix import MatrixRows
from medoids.exact.transport import Transport, raise_prices, transport

__all__ = ["SizedAssignment", "constrained", "sized"]

# Rows that may become the medoid of their cluster, at most, and distances of a pass over swaps: more are sampled.
_CLUSTER_CANDIDATES, _PASS_DISTANCES = 2000, 2 * 10**8
# Swaps in a row that do not help, after which a pass ends: this many, or so that their rows are this many distances.
_FAILED_SWAPS, _FAILED_DISTANCES = 30, 50_000
# Numbers of a chunk of a pass.
_PASS_CHUNK = 1 << 20
# Weight of a row of weight 0, as a share of the smallest positive one: it fills up clusters, preferably its own.
_NEXT_TO_NOTHING = 1e-9


class SizedAssignment(Assignment):
    """Medoids, and an assignment of rows to them within limits: ``nearest`` and ``d1`` are the slot and its distance.

    Parameters
    ----------
    problem : Problem
    medoids : sequence of int
    table : ndarray of shape (k, n)
        Distances from the medoids.
    found : Transport
        The assignment, which is the best one for these medoids or for others before.
    """

    def __init__(self, problem: Problem, medoids: Sequence[int], table: Float64s, found: Transport) -> None:
        lookup = KeptRows(*table.shape)
        lookup.table = table
        super().__init__(problem.weights, lookup, problem.frozen)
        for i in medoids:
            self.open_slot(int(i))
        self.table, self.found = table, found
        self.nearest, self.d1 = found.labels, table[found.labels, np.arange(problem.n)]
        self.sum_up()

    def labels(self) -> Rows:
        """Slot of each row; a medoid's own only if the limits allow it."""
        return self.nearest.copy()


def _shares(weights: Float64s) -> Float64s:
    shares: Float64s = np.maximum(weights, _NEXT_TO_NOTHING * weights[weights > 0].min())
    return shares


def _assigned(
    problem: Problem, medoids: Sequence[int], table: Float64s, prices: Float64s | None = None
) -> SizedAssignment:
    """Return the best assignment within the limits; ``prices`` are those of a similar one."""
    assert problem.sizes is not None
    costs = table * _shares(problem.weights)
    found = transport(costs, *problem.sizes, prices)
    return SizedAssignment(problem, medoids, table, replace(found, labels=_own_first(costs, found.labels, medoids)))


def _own_first(costs: Float64s, labels: Rows, medoids: Sequence[int]) -> Rows:
    """Return labels as good as these, in which medoids are in their own clusters where that costs nothing."""
    labels = labels.copy()
    for j, medoid in enumerate(medoids):
        other = labels[medoid]
        members = np.flatnonzero(labels == j)
        if other == j or len(members) == 0:
            continue
        change = costs[other, members] - costs[j, members] + costs[j, medoid] - costs[other, medoid]
        best = int(change.argmin())
        if change[best] <= 0:
            labels[medoid], labels[members[best]] = j, other
    return labels


def constrained(rows: RowSource, without: Solution) -> Solution:
    """Return a solution with the same medoids and the best assignment to them within the limits, which is a step."""
    problem, run = rows.problem, rows.run
    medoids = without.assignment.medoids
    assignment = _assigned(problem, medoids, rows.measure(np.array(medoids), np.arange(problem.n)))
    run.journal = None  # a checkpoint stays at the last step before, from which the same search follows
    run.trace = without.trace
    run.step("sizes", assignment, references=problem.n, candidates=problem.k)
    return Solution(assignment, without.n_swaps, without.converged, run.trace)


def sized(rows: RowSource, start: Solution) -> Solution:
    """Descend from a solution without limits to one within them."""
    first = constrained(rows, start)
    assert isinstance(first.assignment, SizedAssignment)
    search = _SizedSearch(rows, first.assignment)
    ended = search.descend() if len(search.free) else True
    return Solution(search.state, start.n_swaps + search.made, start.converged and ended, rows.run.trace)


class _SizedSearch:
    def __init__(self, rows: RowSource, state: SizedAssignment) -> None:
        self.rows, self.problem, self.run = rows, rows.problem, rows.run
        self.state, self.made = state, 0
        self.free = [j for j in range(self.problem.k) if j not in state.fixed]
        self._weights = _shares(self.problem.weights)

    def over(self) -> bool:
        """Whether swaps have to end."""
        return self.made >= self.problem.max_iter or self.run.stopped

    def descend(self) -> bool:
        """Make swaps until none is found; return whether that is why it ended."""
        while not self.over():
            while self._recentre():
                if self.over():
                    return False
            if not self._swap():
                return not self.over()
        return False

    def _recentre(self) -> bool:
        """Give each cluster its best medoid, then each row its best cluster; return whether anything changed."""
        better = [(j, i) for j in self.free if (i := self._best_member(j)) is not None]
        better = better[: self.problem.max_iter - self.made]
        for j, i in better:
            out = self.state.medoids[j]
            medoids, table = self._after(i, j)
            if (j, i) == better[-1]:
                self.state = _assigned(self.problem, medoids, table, self.state.found.prices)
            else:
                self.state = SizedAssignment(self.problem, medoids, table, self.state.found)
            self._record(i, out)
        return bool(better)

    def _best_member(self, j: int) -> int | None:
        """Return the member of a cluster with the lowest sum of distances to all members, if it is not the medoid."""
        state, problem, run = self.state, self.problem, self.run
        members = np.flatnonzero(state.nearest == j)
        candidates = members[problem.eligible[members] & ~np.isin(members, state.medoids)]
        if len(candidates) > _CLUSTER_CANDIDATES:
            candidates = np.sort(run.random.choice(candidates, _CLUSTER_CANDIDATES, replace=False))
        if len(candidates) == 0:
            return None
        weights = self._weights[members]
        with run.phase("swap"):
            sums = self.rows.measure(candidates, members, "swap") @ weights
        now = float(state.d1[members] @ weights)
        best = int(sums.argmin())
        loss = state.loss - now + float(sums[best])
        return int(candidates[best]) if state.improves(loss, state.magnitude) else None

    def _swap(self) -> bool:
        """Make the swaps that a pass over their bounds proposes; return whether one lowered the loss."""
        bounds, candidates = self._bounds()
        slots = np.array(self.free)
        made, failed = self.made, 0
        patience = max(_FAILED_SWAPS, _FAILED_DISTANCES // self.problem.n)
        for at in np.argsort(bounds, axis=None, kind="stable").tolist():
            i, j = int(candidates[at // len(slots)]), int(slots[at % len(slots)])
            if bounds.flat[at] >= self.state.found.loss or failed == patience or self.over():
                break
            self.run.check()
            if i not in self.state.medoids:
                failed = 0 if self._try(i, j) else failed + 1
        return self.made > made

    def _try(self, i: int, j: int) -> bool:
        """Put row i into slot j if that lowers the constrained loss."""
        state, limits = self.state, self.problem.sizes
        assert limits is not None
        medoids, table = self._after(i, j)
        prices, loss = state.found.prices.copy(), state.found.loss
        # Mostly the bound shows that the swap does not help, long before the assignment is known.
        if raise_prices(table * self._weights, prices, *limits, enough=loss) >= loss:
            return False
        changed = _assigned(self.problem, medoids, table, prices)
        if not state.improves(changed.loss, changed.magnitude):
            return False
        self.state = changed
        self._record(i, state.medoids[j])
        return True

    def _after(self, i: int, j: int) -> tuple[list[int], Float64s]:
        """Return the medoids and their distances with row i in slot j."""
        medoids, table = list(self.state.medoids), self.state.table.copy()
        medoids[j] = i
        with self.run.phase("swap"):
            table[j] = self.rows.row(i, np.full(self.problem.n, np.inf))
        return medoids, table

    def _bounds(self) -> tuple[Float64s, Rows]:
        """Return lower bounds on the losses of swaps, of shape (candidates, free slots), and the candidates."""
        problem, run, state = self.problem, self.run, self.state
        limits = problem.sizes
        assert limits is not None
        n, prices = problem.n, state.found.prices
        candidates = np.setdiff1d(problem.candidates, state.medoids)
        most = max(100, _PASS_DISTANCES // n)
        if len(candidates) > most:
            candidates = np.sort(run.random.choice(candidates, most, replace=False))
        adjusted = state.table * self._weights + prices[:, None]
        cheapest = adjusted.argmin(axis=0)
        first = adjusted.min(axis=0)
        adjusted[cheapest, np.arange(n)] = np.inf
        second = adjusted.min(axis=0)
        paid = float(prices @ np.where(prices > 0, limits[1], limits[0]))
        # What a row pays at most for one that enters slot j: what it pays without that slot's medoid, less the price.
        others = np.array([np.where(cheapest == j, second, first) - prices[j] for j in self.free])
        bounds = np.empty((len(candidates), len(self.free)))
        run.distance.prepare(run.threads)

        def work(chunk: slice) -> None:
            block = self._block(candidates[chunk]) * self._weights
            for column, limit in enumerate(others):
                sums = np.minimum(block, limit).sum(axis=1)
                bounds[chunk, column] = sums + n * prices[self.free[column]] - paid

        with run.phase("swap"):
            chunks = spans(len(candidates), max(1, _PASS_CHUNK // n))
            run.threads.map(work, chunks, threaded=run.distance.threaded)
        return bounds, candidates

    def _block(self, candidates: Rows) -> Float64s:
        if isinstance(self.rows, MatrixRows):
            return np.asarray(self.rows.matrix.values[candidates], dtype=np.float64)
        return np.asarray(self.run.distance.block(candidates, slice(0, self.problem.n)), dtype=np.float64)

    def _record(self, i: int, out: int) -> None:
        self.made += 1
        self.run.step("swap", self.state, i, out, references=self.problem.n, candidates=1)
