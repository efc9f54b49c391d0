"""Lower bounds that trust no solver: recomputed in float64 from multipliers, with rounding errors subtracted.

Let point s have multipliers lambda_sc >= 0 with sum_c lambda_sc <= 1 for some levels c, and let low_s be at most its
distance to any candidate. For medoids M, with y_i = 1 for i in M,

    d1_s >= c - sum_i max(0, c - d(i, s)) y_i        for any c: the nearest medoid alone takes c - d1_s off, if c > d1_s
    loss >= sum_s w_s [sum_c lambda_sc c + (1 - sum_c lambda_sc) low_s] - sum_i y_i rho_i
    rho_i = sum_s w_s sum_c lambda_sc max(0, c - d(i, s))

and the last sum is at most that of the k largest rho_i. One level v_s with multiplier 1 is the Lagrangian bound of the
prices v; the dual values of an LP of cuts give several. Whatever the multipliers are, garbage or optimal, the bound
holds: they only decide how good it is. If some candidates are known to be medoids (inside) or not to be (outside), the
largest are taken among the others, and what moving one candidate costs says whether it can be in a better solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.optimal.instance import Instance
from medoids.optimal.prefixes import Prefixes

__all__ = ["Goal", "Multipliers", "Verified", "bound_of", "floor_of", "single", "verify"]

_UNIT = 2.0**-53
# What a bound must exceed an integer by to rule it out.
_ABOVE = 1e-3


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Levels of points with their shares, lambda_sc."""

    points: Rows
    levels: Float64s
    shares: Float64s


@dataclass(frozen=True, eq=False)
class Verified:
    """What multipliers prove.

    Attributes
    ----------
    value : float
        No solution that agrees with ``inside`` and ``alive`` has a lower loss. Infinite if there is none.
    rho : ndarray of shape (candidates,)
    top : ndarray of int
        The k candidates with the largest rho, with those inside.
    error : float
        What was subtracted for rounding errors.
    """

    value: float
    rho: Float64s
    top: Rows
    error: float

    def fix(self, alive: Bools, inside: Bools, cutoff: float) -> tuple[Bools, Bools]:
        """Candidates that no solution with a loss below the cutoff has, and those that each of them has."""
        chosen = np.zeros(len(alive), dtype=bool)
        chosen[self.top] = True
        free, others = chosen & ~inside, alive & ~chosen
        value = self.value - self.error
        never, always = np.zeros_like(alive), np.zeros_like(alive)
        if free.any():
            never = others & (value + self.rho[free].min() - self.rho >= cutoff)
            rest = self.rho[others].max() if others.any() else -np.inf
            always = free & (value + self.rho - rest >= cutoff)
        return never, always


@dataclass(frozen=True)
class Goal:
    """When a bound is good enough for a loss.

    Attributes
    ----------
    gap : float
        Share of the bound by which the loss may exceed it.
    integral : bool
        Whether all losses are integers.
    """

    gap: float
    integral: bool

    def cutoff(self, loss: float) -> float:
        """Return the bound above which a set of solutions is of no interest."""
        gap = min(self.gap, 0.99) * 0.999
        enough = loss / (1 + gap) if loss >= 0 else loss / (1 - gap)
        return min(enough, loss - 1 + _ABOVE) if self.integral else enough

    def raised(self, bound: float) -> float:
        """Return the lowest loss that is possible at a bound."""
        return float(np.ceil(bound)) if self.integral and np.isfinite(bound) else bound


def single(prices: Float64s) -> Multipliers:
    """One level for each point: the Lagrangian bound."""
    return Multipliers(np.arange(len(prices)), prices, np.ones(len(prices)))


def floor_of(problem: Instance, low: Float64s) -> float:
    """Bound from the nearest candidate of each point alone."""
    terms = problem.weights * low
    return float(terms.sum() - 2 * (len(terms) + 2) * _UNIT * np.abs(terms).sum())


def verify(problem: Instance, prefixes: Prefixes, multipliers: Multipliers, alive: Bools, inside: Bools) -> Verified:
    """Compute what multipliers prove of solutions with candidates that are alive, and alive in the prefixes."""
    points, levels, shares, low = _admissible(problem, prefixes, multipliers)
    weights = problem.weights[points] * shares
    rest = 1.0 - np.bincount(points, shares, minlength=problem.n_points)
    terms = np.concatenate([weights * levels, problem.weights * np.maximum(rest, 0.0) * low])
    rho = prefixes.savings(points, levels, weights)
    return bound_of(float(terms.sum()), float(np.abs(terms).sum()), len(terms), rho, alive, inside, problem.k)


def bound_of(base: float, magnitude: float, terms: int, rho: Float64s, alive: Bools, inside: Bools, k: int) -> Verified:
    """Subtract the k largest savings, with those inside, and what rounding may have added."""
    fixed, free = np.flatnonzero(inside), np.flatnonzero(alive & ~inside)
    open_ = k - len(fixed)
    if open_ < 0 or open_ > len(free):
        return Verified(np.inf, rho, fixed[:0], 0.0)
    chosen = free[np.argpartition(-rho[free], open_ - 1)[:open_]] if open_ else free[:0]
    top = np.concatenate([fixed, chosen])
    # Every sum has at most this number of roundings, each at most a unit of the sum of magnitudes.
    error = 4 * (terms + k + 8) * _UNIT * (magnitude + float(rho[top].sum()))
    return Verified(base - float(rho[top].sum()) - error, rho, top, error)


def _admissible(
    problem: Instance, prefixes: Prefixes, multipliers: Multipliers
) -> tuple[Rows, Float64s, Float64s, Float64s]:
    """Return multipliers for which the bound holds, whatever was given: finite, not negative, sums of at most 1."""
    sound = np.isfinite(multipliers.levels) & np.isfinite(multipliers.shares) & (multipliers.shares > 0)
    points, levels, shares = multipliers.points[sound], multipliers.levels[sound], multipliers.shares[sound]
    shares = np.minimum(shares, 1e100)  # so that their sum is finite
    total = np.bincount(points, shares, minlength=problem.n_points)
    return points, levels, shares / np.maximum(total, 1.0)[points], prefixes.low
