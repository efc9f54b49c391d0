"""Tabu search: the best swap at each step, even if it raises the loss, but no way back for a while.

Estivill-Castro and Yang (2000), and Estivill-Castro and Houle (2001), look for medoids by the interchange heuristic of
Teitz and Bart with a circular list: a row that was considered is not considered again before the others were. They call
it a local variant of tabu search, and it ends in the first local optimum. From them is the rule that a row which has
left may not return for some steps. From Glover (1989), and Rolland, Schilling and Current (1996) for p-medians, are the
steps upward out of a local optimum, the rule that a row which has entered may not leave for some steps, and the
exception from both for whatever leads to a lower loss than any before.

Until the first local optimum this is PAM's path, so the result is never above PAM's, and no single swap improves it.
Each step upward costs a step of PAM: restarts (``n_restarts``) mostly find better medoids in the same time.
"""

from __future__ import annotations

import numpy as np

from medoids.core.assignment import TOLERANCE, Assignment, lowest
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.exact.carried_sums import CarriedSums
from medoids.exact.matrix import MatrixRows
from medoids.exact.start import start

__all__ = ["tabu"]

# Steps for which a row that has left may not return, and steps in a row without a new best after which the search ends:
# this many, and for each medoid.
_TENURE, _TENURE_PER_MEDOID = 5, 0.25
_FRUITLESS, _FRUITLESS_PER_MEDOID = 20, 1.0


def tabu(problem: Problem, run: Run) -> Solution:
    """Medoids from which no swap and no short detour improves; never worse than PAM's."""
    return _TabuSearch(*start(problem, run)).solve()


class _TabuSearch:
    """One search.

    Attributes
    ----------
    best : Assignment
        The best state so far; ``state`` is the current one.
    """

    def __init__(self, rows: MatrixRows, sums: CarriedSums, assignment: Assignment) -> None:
        self._rows, self._sums, self.state = rows, sums, assignment
        self.best = rows.assign(assignment.medoids)
        problem = rows.problem
        barred, self._moves = rows.run.position.get("tabu", ([], 0))
        self._until = {int(row): int(move) for row, move in barred}  # the move from which on a row is free again
        free, others = problem.k - len(assignment.fixed), len(problem.candidates) - problem.k
        # Fewer than there are, so that some swap is always open.
        self._out = min(_TENURE + int(_TENURE_PER_MEDOID * problem.k), others // 2)
        self._in = min(self._out, free // 2)

    def solve(self) -> Solution:
        problem, run = self._rows.problem, self._rows.run
        patience = _FRUITLESS + int(_FRUITLESS_PER_MEDOID * problem.k)
        last = self._moves
        while self._moves - last < patience:
            if run.stopped or self._moves == problem.max_iter:
                return Solution(self.best, self._moves, converged=False)
            swap = self._choose()
            if swap is None:
                break
            i, out, compared = self._move(*swap)
            if self.best.improves(self.state.loss, self.state.magnitude):
                alone, last = self._moves - last == 1, self._moves
                self.best = self._rows.assign(self.state.medoids)
                barred = [[row, move] for row, move in sorted(self._until.items()) if move > self._moves]
                run.step(
                    "swap",
                    self.best,
                    *((i, out) if alone else (None, None)),
                    references=problem.n,
                    candidates=compared,
                    position={"tabu": (barred, self._moves)},
                )
        return Solution(self.best, self._moves, converged=True)

    def _move(self, slot: int, i: int, row: Float64s, compared: int) -> tuple[int, int, int]:
        """Make a swap; return the row that entered, the row that left, and how many rows were compared."""
        out = self.state.medoids[slot]
        self.state.swap(slot, i, row)
        self._moves += 1
        self._until[out], self._until[i] = self._moves + self._out, self._moves + self._in
        return i, out, compared

    def _choose(self) -> tuple[int, int, Float64s, int] | None:
        """Return (slot, row number, its distances, rows compared) of the best swap that is open; None without one."""
        state, run, matrix = self.state, self._rows.run, self._rows.matrix
        run.check()
        if len(state.fixed) == len(state.medoids):
            return None
        self._sums.follow(state, swaps=True)
        estimates = self._sums.swap_losses(state)
        is_open = self._open(estimates.shape)
        margin = max(matrix.margin, 2 * TOLERANCE)
        # What is barred is only of interest if it may be lower than anything so far.
        estimates[~is_open & (estimates > self.best.loss + margin * self.best.magnitude)] = np.inf
        while np.isfinite(lead := float(estimates.min(initial=np.inf))):
            finalists = np.flatnonzero((estimates <= lead + margin * abs(lead)).any(axis=0))
            found = self._judge(finalists, is_open)
            if found is not None:
                return *found, len(finalists)
            estimates[:, finalists] = np.where(is_open[:, finalists], estimates[:, finalists], np.inf)
        return None

    def _judge(self, finalists: Rows, is_open: Bools) -> tuple[int, int, Float64s] | None:
        """Return (slot, row number, its distances) of the best open swap among some rows, by exact losses."""
        state = self.state
        losses, magnitudes = np.empty((2, len(state.medoids), len(finalists)))
        for at, i in enumerate(finalists.tolist()):
            row = self._rows.row(i, state.d2)
            losses[:, at], magnitudes[:, at] = state.swap_losses(row), state.swap_magnitudes(row)
            for slot in np.flatnonzero(~is_open[:, i]).tolist():
                if not self.best.improves(losses[slot, at], magnitudes[slot, at]):
                    losses[slot, at] = np.inf
        if not np.isfinite(losses).any():
            return None
        slot, at = lowest(losses, magnitudes)
        i = int(finalists[at])
        return slot, i, self._rows.row(i, state.d2)

    def _open(self, shape: tuple[int, ...]) -> Bools:
        """Return which swaps, as (slots, rows), bring back no row that has left of late and take out none that came."""
        barred = {row for row, move in self._until.items() if move > self._moves}
        is_open = np.ones(shape, dtype=bool)
        is_open[:, sorted(barred)] = False
        is_open[[slot for slot, row in enumerate(self.state.medoids) if row in barred]] = False
        return is_open
