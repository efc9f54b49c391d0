"""The linear relaxation as an LP of cuts, on the candidates that are left, solved by HiGHS with warm starts.

Columns are y_i for each candidate and theta_s, what point s pays. Rows are sum_i y_i = k and cuts, for any level c,

    theta_s + sum_{i: d(i, s) < c} (c - d(i, s)) y_i >= c

(Duran-Mateluna, Ales and Elloumi 2023). HiGHS is only asked for a point to cut off and for multipliers: what these
prove is computed in `medoids.optimal.proof`. Distances are divided by the mean loss, so that tolerances mean the same
for all problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.optimal.instance import Instance
from medoids.optimal.kernels import cut_rows, lengths_below, violated_levels
from medoids.optimal.prefixes import Prefixes
from medoids.optimal.proof import Multipliers

__all__ = ["BYTES", "CutLP", "Relaxed", "has_solver"]

# Simplex iterations between two calls of ``check``.
_SLICE = 1000
# A cut is violated if it is by this share of the mean loss.
_VIOLATED = 1e-6
_FEASIBLE = 1e-9
# Memory of a coefficient: HiGHS has it by row and by column, and in factors.
BYTES = 60


def has_solver() -> bool:
    """Whether highspy is installed."""
    try:
        import highspy  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Relaxed:
    """A solution of the LP: y of all candidates, theta of all points, and the dual values of the cuts."""

    y: Float64s
    theta: Float64s
    multipliers: Multipliers


class CutLP:
    """The LP with the cuts found so far.

    Attributes
    ----------
    n_coefficients : int
        Of all cuts.

    Parameters
    ----------
    problem : Instance
    prefixes : Prefixes
        With all candidates that are alive in each point's list.
    loss : float
        Of a good solution, for the scale.
    """

    def __init__(self, problem: Instance, prefixes: Prefixes, loss: float) -> None:
        import highspy

        self._problem, self._lists = problem, prefixes
        self._keep = np.flatnonzero(prefixes.alive)
        m, n = len(self._keep), problem.n_points
        self._column = np.full(problem.n_candidates, -1, dtype=np.int32)
        self._column[self._keep] = np.arange(m)
        self._low = prefixes.low
        total = float(problem.weights.sum())
        self._unit = abs(loss) / total if loss else 1.0
        self._cost = problem.weights * (n / total)
        self._points, self._levels = np.empty(0, dtype=np.intp), np.empty(0)
        self.n_coefficients = 0
        self._have: set[tuple[int, float]] = set()
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._limit = highspy.HighsModelStatus.kIterationLimit
        self._basic = highspy.HighsBasisStatus.kBasic
        self._highs = _solver(highspy)
        self._highs.addVars(m + n, np.zeros(m + n), np.concatenate([np.ones(m), np.full(n, np.inf)]))
        self._highs.changeColsCost(n, np.arange(m, m + n, dtype=np.int32), self._cost)
        self._highs.addRow(float(problem.k), float(problem.k), m, np.arange(m, dtype=np.int32), np.ones(m))

    def add(self, points: Rows, levels: Float64s) -> int:
        """Add cuts that are not there yet; return how many."""
        pairs = list(zip(points.tolist(), levels.tolist(), strict=True))
        new = np.array([pair not in self._have and pair[1] > self._low[pair[0]] for pair in pairs], dtype=bool)
        self._have.update(pairs)
        points, levels = points[new], levels[new]
        if not len(points):
            return 0
        lists = self._lists
        lengths = np.empty(len(points), dtype=np.intp)
        lengths_below(lists.near, lists.count, points, levels, lengths)
        starts = np.concatenate([[0], np.cumsum(lengths + 1)])
        index, value = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
        cut_rows(
            *(lists.near, lists.number, self._column, points, levels, len(self._keep), self._unit),
            *(starts, index, value),
        )
        least = (levels - self._low[points]) / self._unit
        self._highs.addRows(
            len(points), least, np.full(len(points), np.inf), len(index), starts[:-1].astype(np.int32), index, value
        )
        self._points = np.concatenate([self._points, points])
        self._levels = np.concatenate([self._levels, levels])
        self.n_coefficients += len(index)
        return len(points)

    def solve(self, alive: Bools, inside: Bools) -> Relaxed | None:
        """Solve for the candidates of a node; None if HiGHS finds no optimum."""
        m = len(self._keep)
        low, high = inside[self._keep].astype(float), alive[self._keep].astype(float)
        self._highs.changeColsBounds(m, np.arange(m, dtype=np.int32), low, high)
        while True:
            self._problem.check()
            self._highs.run()
            status = self._highs.getModelStatus()
            if status != self._limit:
                break
        if status != self._optimal:
            return None
        found = self._highs.getSolution()
        columns, dual = np.array(found.col_value), np.array(found.row_dual)[1:]
        y = np.zeros(self._problem.n_candidates)
        y[self._keep] = np.clip(columns[:m], 0.0, 1.0)
        theta = columns[m:] * self._unit + self._low
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = dual / self._cost[self._points]
        tight = np.flatnonzero(shares > 0)
        return Relaxed(y, theta, Multipliers(self._points[tight], self._levels[tight], shares[tight]))

    def separate(self, relaxed: Relaxed) -> int:
        """Add the cuts that a solution violates; return how many."""
        levels = np.empty(self._problem.n_points)
        # A point counts by its weight.
        slack = np.full(len(levels), np.inf)
        heavy = self._cost > 0
        slack[heavy] = _VIOLATED * self._unit / self._cost[heavy]
        lists = self._lists
        violated_levels(lists.near, lists.number, lists.count, relaxed.y, relaxed.theta, slack, levels)
        points = np.flatnonzero(np.isfinite(levels))
        return self.add(points, levels[points])

    def purge(self) -> None:
        """Take out the cuts that hold with room to spare."""
        basis = self._highs.getBasis().row_status[1:]
        loose = np.array([status == self._basic for status in basis])
        if not loose.any():
            return
        gone = (np.flatnonzero(loose) + 1).astype(np.int32)
        self._highs.deleteRows(len(gone), gone)
        self._have -= set(zip(self._points[loose].tolist(), self._levels[loose].tolist(), strict=True))
        self._points, self._levels = self._points[~loose], self._levels[~loose]
        self.n_coefficients = self._highs.getNumNz()


def _solver(highspy: Any) -> Any:
    highs = highspy.Highs()
    highs.silent()
    options = {
        "threads": 1,
        "solver": "simplex",
        "presolve": "off",
        "simplex_iteration_limit": _SLICE,
        "dual_feasibility_tolerance": _FEASIBLE,
        "primal_feasibility_tolerance": _FEASIBLE,
    }
    for name, value in options.items():
        highs.setOptionValue(name, value)
    return highs
