"""The medoid silhouette as the goal: FasterMSC, its form with best swaps, and DynMSC, which finds k as well.

Lenssen and Schubert (2022, 2024). The medoid silhouette of a point is 1 - d1 / d2 (0 / 0 counts as 1: a point between
two equal medoids lies in neither cluster), and the loss that swaps lower is the weighted sum of the ratios. With the
third nearest medoid known, one distance from a candidate to a point serves its swaps with all k medoids:

    a medoid other than the two nearest leaves     the two lowest of d, d1, d2
    the nearest leaves                             the two lowest of d, d2, d3
    the second nearest leaves                      the two lowest of d, d1, d3

Only points that are nearer to the candidate than to their third nearest medoid have to be looked at, about 3/k of all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from medoids.core.assignment import Assignment, KeptRows
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.engine.arrays import Float64s, Rows
from medoids.exact.matrix import MatrixRows
from medoids.exact.start import start

__all__ = ["dynmsc", "fastermsc", "fastmsc"]


class RatioAssignment(Assignment):
    """Medoids, and the three that are nearest to each point; ``loss`` is the weighted sum of d1 / d2."""

    def __init__(self, rows: MatrixRows, medoids: Sequence[int]) -> None:
        problem = rows.problem
        super().__init__(problem.weights, KeptRows(len(medoids), problem.n), problem.frozen)
        self._rows = rows
        for i in medoids:
            self.open_slot(int(i))
        self._table = rows.block(np.array(self.medoids), np.arange(problem.n))
        self._renew()

    def _renew(self) -> None:
        """Find the three nearest, and what their ratios add up to with and without each medoid."""
        k, n = self._table.shape
        self.lookup = KeptRows(k, n)
        self.lookup.table = self._table
        order = np.argsort(self._table, axis=0, kind="stable")[:3]
        nearest = np.take_along_axis(self._table, order, axis=0)
        self.nearest, self.second = order[0], order[1]
        self.d1, self.d2 = nearest[0], nearest[1]
        self._d3 = nearest[2] if k > 2 else np.full(n, np.inf)
        self._now = _ratio(self.d1, self.d2)
        self._without = _ratio(self.d2, self._d3), _ratio(self.d1, self._d3)
        self._left = self.weights @ self._now + self._by_leaver(slice(None), self._now, *self._without)
        self.loss, self.magnitude = float(self.weights @ self._now), float(self.weights.sum())

    def _by_leaver(self, points: slice | Rows, kept: Float64s, first: Float64s, second: Float64s) -> Float64s:
        """Sum for each slot what some points pay more if its medoid leaves."""
        k, weights = len(self.medoids), self.weights[points]
        sums = np.bincount(self.nearest[points], weights * (first - kept), minlength=k)
        return np.asarray(sums + np.bincount(self.second[points], weights * (second - kept), minlength=k), np.float64)

    def swap_losses(self, distances: Float64s) -> Float64s:
        near = np.flatnonzero(distances < self._d3)
        d, d1, d2, d3 = distances[near], self.d1[near], self.d2[near], self._d3[near]
        between = np.maximum(d, d1)
        kept = _ratio(np.minimum(d, d1), np.minimum(between, d2))
        first = _ratio(np.minimum(d, d2), np.minimum(np.maximum(d, d2), d3))
        second = _ratio(np.minimum(d, d1), np.minimum(between, d3))
        now = (self._now[near], self._without[0][near], self._without[1][near])
        losses: Float64s = self._left + float(self.weights[near] @ (kept - now[0]))
        losses += self._by_leaver(near, kept, first, second) - self._by_leaver(near, *now)
        losses[self.fixed] = np.inf
        return losses

    def swap(self, slot: int, i: int, distances: Float64s) -> None:
        self.medoids[slot] = i
        self._table[slot] = distances
        self._renew()

    def without_one(self) -> RatioAssignment:
        """Return the state without the medoid that is missed least."""
        losses = self._left.copy()
        losses[self.fixed] = np.inf
        gone = int(losses.argmin())
        return RatioAssignment(self._rows, [i for j, i in enumerate(self.medoids) if j != gone])


def _ratio(a: Float64s, b: Float64s) -> Float64s:
    """Return a / b, 1 where both are 0, and 0 where there is no second medoid."""
    return np.divide(a, b, out=np.ones_like(a), where=b > 0)


def fastermsc(problem: Problem, run: Run) -> Solution:
    """FasterMSC: candidates one after the other, and a swap as soon as one helps."""
    rows, state = _begin(problem, run)
    return _eager(rows, state)


def fastmsc(problem: Problem, run: Run) -> Solution:
    """The best of all swaps at each step, as PAM makes them."""
    rows, state = _begin(problem, run)
    n_swaps = run.position.get("swaps", 0)
    candidates = problem.candidates
    while not run.stopped:
        losses = np.full((len(candidates), problem.k), np.inf)
        for at, i in enumerate(candidates.tolist()):
            run.check()
            if i not in state.medoids:
                losses[at] = state.swap_losses(rows.matrix.values[i])
        best, slot = map(int, np.unravel_index(losses.argmin(), losses.shape))
        if not state.improves(losses[best, slot], state.magnitude):
            return Solution(state, n_swaps, converged=True)
        if n_swaps == problem.max_iter:
            break
        _accept(rows, state, slot, int(candidates[best]), {})
        n_swaps += 1
    return Solution(state, n_swaps, converged=False)


def dynmsc(problem: Problem, run: Run, ks: Collection[int]) -> Solution:
    """DynMSC: FasterMSC from the largest number of clusters down, without the medoid that is missed least each time.

    The state of the highest silhouette whose number is among ``ks`` is returned.
    """
    rows, state = _begin(problem, run)
    best: Solution | None = None
    n_swaps, converged = 0, True
    while True:
        found = _eager(rows, state)
        n_swaps, converged = n_swaps + found.n_swaps, converged and found.converged
        if len(state.medoids) in ks and (best is None or best.assignment.improves(state.loss, state.magnitude)):
            best = Solution(state, n_swaps, converged)
        if len(state.medoids) == min(ks) or run.stopped:
            break
        state = state.without_one()
    assert best is not None
    return Solution(best.assignment, n_swaps, converged, run.trace)


def _begin(problem: Problem, run: Run) -> tuple[MatrixRows, RatioAssignment]:
    """Return the matrix, in float64, and the state at the start."""
    rows = MatrixRows(problem, run, exact=True)
    values = rows.matrix.values
    if values.min() < 0:
        i, s = np.unravel_index(values.argmin(), values.shape)
        raise ValueError(
            f"objective='medoid_silhouette' compares distances as ratios, and d({i}, {s}) is {values[i, s]}; use a "
            "metric that is not negative, or objective='distance'"
        )
    _, _, built = start(problem, run)
    state = RatioAssignment(rows, built.medoids)
    if not any(step.phase != "build" for step in run.trace):
        run.step("silhouette", state, references=problem.n, candidates=problem.k)
    return rows, state


def _eager(rows: MatrixRows, state: RatioAssignment) -> Solution:
    problem, run, candidates = rows.problem, rows.run, rows.problem.candidates
    n_swaps, at, since = run.position.get("swaps", 0), run.position.get("at", 0), 0
    run.position = {}
    while since < len(candidates) and not run.stopped:
        run.check()
        i = int(candidates[at])
        at, since = (at + 1) % len(candidates), since + 1
        if i in state.medoids:
            continue
        losses = state.swap_losses(rows.matrix.values[i])
        slot = int(losses.argmin())
        if state.improves(losses[slot], state.magnitude):
            if n_swaps == problem.max_iter:
                return Solution(state, n_swaps, converged=False)
            _accept(rows, state, slot, i, {"at": at})
            n_swaps, since = n_swaps + 1, 0
    return Solution(state, n_swaps, converged=not run.stopped)


def _accept(rows: MatrixRows, state: RatioAssignment, slot: int, i: int, position: dict[str, int]) -> None:
    out, n = state.medoids[slot], rows.problem.n
    state.swap(slot, i, np.asarray(rows.matrix.values[i], dtype=np.float64))
    rows.run.step("swap", state, i, out, references=n, candidates=1, position=position)
