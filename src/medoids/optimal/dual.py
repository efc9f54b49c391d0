"""The Lagrangian dual: prices of points that climb to the value of the linear relaxation.

For prices v, L(v) = sum_s w_s v_s - (sum of the k largest rho_i) with rho_i = sum_s w_s max(0, v_s - d(i, s)) bounds
every loss (`medoids.optimal.proof`). v climbs along the subgradient 1 - |{i among the k largest: d(i, s) < v_s}|, of
which a part of the direction before is kept (Camerini, Fratta and Maffioli 1975), with Polyak's steps towards the best
known loss. After some steps without a better bound the step shrinks, and the ascent continues from the best prices.

Every bound also says which candidates no better solution can have, and which it must have. With these fixed the
relaxation is tighter, and smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.optimal.instance import Instance
from medoids.optimal.prefixes import Prefixes
from medoids.optimal.proof import Goal, Verified, floor_of, single, verify

__all__ = ["Climb", "climb", "lagrangian_bound", "prefix_length", "prices_of"]

# Share of the direction before that is kept; steps without a better bound after which the step shrinks, and by what;
# the smallest step.
_KEPT, _PATIENCE, _SHRINK, _SMALLEST_STRIDE = 0.6, 20, 0.7, 1e-3
# A bound is better if it is higher by this share of the loss.
_BETTER = 1e-7
# Steps between two looks at the rows with the largest savings as medoids.
_STEPS_PER_LOOK = 10
# Neighbours of a point that are kept are this multiple of points / k: prices lie below nearly all others.
_REACH = 3
_SHORTEST = 16
# Share of the candidates that must be left for the lists to be compacted.
_COMPACT = 0.8
# Steps of a climb: at most this number. For a bound alone fewer where there are few medoids, because a step then reads
# a large part of the distances: as many as keep the time near that of 120 steps that read all of them.
_MOST_STEPS, _FEWEST_STEPS, _STEPS_PER_MEDOID = 2000, 300, 60


@dataclass(eq=False)
class Climb:
    """Where a climb has got to.

    Attributes
    ----------
    prices : ndarray of shape (points,)
        With the best bound.
    bound : float
        On solutions with the candidates that are left; see `Verified.value`.
    alive, inside : ndarray of bool, shape (candidates,)
        Candidates that are left, and those that every solution of interest has.
    prefixes : Prefixes
    steps : int
    """

    prices: Float64s
    bound: float
    alive: Bools
    inside: Bools
    prefixes: Prefixes
    steps: int


def prefix_length(problem: Instance) -> int:
    """Candidates of a point that are worth sorting."""
    return min(problem.n_candidates, max(_SHORTEST, -(-_REACH * problem.n_candidates // problem.k)))


def prices_of(problem: Instance, medoids: Rows) -> Float64s:
    """Prices to start from: half way between the distances to the nearest and second nearest medoid."""
    near = np.sort(problem.by_point[:, medoids].astype(np.float64), axis=1)
    prices: Float64s = near[:, :2].mean(axis=1)
    return prices


def climb(
    problem: Instance,
    prices: Float64s,
    goal: Goal,
    loss: Callable[[], float],
    *,
    steps: int = _MOST_STEPS,
    length: int | None = None,
    look: Callable[[Rows], object] | None = None,
    news: Callable[[float, Float64s], object] | None = None,
) -> Climb:
    """Climb from given prices.

    Parameters
    ----------
    problem : Instance
    prices : ndarray of shape (points,)
    goal : Goal
        The climb ends when it is reached, and candidates are fixed by its cutoff.
    loss : callable
        Returns the lowest loss known.
    steps : int
        At most.
    length : int, optional
        Neighbours of each point that are kept in memory.
    look : callable, optional
        Called at times with k candidates that may be good medoids.
    news : callable, optional
        Called with the bound and its prices when it rises.
    """
    alive, inside = problem.allowed.copy(), np.isin(np.arange(problem.n_candidates), problem.frozen)
    lists = Prefixes(problem, alive, prefix_length(problem) if length is None else length)
    low, high = lists.low, problem.by_point.max(axis=1).astype(np.float64)
    best = Climb(np.clip(prices, low, high), floor_of(problem, low), alive, inside, lists, 0)
    v, direction, stride, idle = best.prices, np.zeros(len(prices)), 1.0, 0
    for step in range(steps):
        problem.check()
        now = verify(problem, lists, single(v), alive, inside)
        idle = 0 if now.value > best.bound + _BETTER * abs(loss()) else idle + 1
        if now.value > best.bound:
            best.bound, best.prices = now.value, v
            if news is not None:
                news(now.value, v)
        best.steps = step + 1
        if np.isinf(now.value):  # the candidates that are left make no solution: none is better
            break
        _fix(best, now, goal.cutoff(loss()))
        if look is not None and step % _STEPS_PER_LOOK == 0:
            look(now.top)
        if np.count_nonzero(alive) <= problem.k or np.count_nonzero(inside) >= problem.k:
            best.bound = _of_one(problem, alive, inside)
            break
        if best.bound >= goal.cutoff(loss()) or stride < _SMALLEST_STRIDE:
            break
        slope = 1.0 - lists.counts(now.top, v)
        if idle >= _PATIENCE:
            idle, stride, v = 0, stride * _SHRINK, best.prices
            direction = np.zeros(len(prices))
        direction = slope + _KEPT * direction
        norm = float((problem.weights * direction**2).sum())
        if norm == 0:
            break
        v = np.clip(v + stride * (loss() - now.value) / norm * direction, low, high)
    return best


def lagrangian_bound(problem: Instance, medoids: Rows, *, gap: float = 1e-4, memory: float = np.inf) -> float:
    """Return a number that no k medoids' loss falls below, at most the loss of the given ones.

    The climb ends when it is within ``gap`` of that loss; sorted lists take ``memory`` bytes, if that is enough for the
    nearest few.
    """
    loss, goal = problem.loss(medoids), Goal(gap, problem.is_integral())
    steps = min(max(_FEWEST_STEPS, _STEPS_PER_MEDOID * problem.k), _MOST_STEPS)
    length = int(min(prefix_length(problem), max(_SHORTEST, memory // Prefixes.bytes_needed(problem, 1))))
    found = climb(problem, prices_of(problem, medoids), goal, lambda: loss, steps=steps, length=length)
    # What was dropped on the way has no loss below the cutoff.
    return min(goal.raised(min(found.bound, goal.cutoff(loss))), loss)


def _of_one(problem: Instance, alive: Bools, inside: Bools) -> float:
    """Bound where at most one choice of medoids is left."""
    fixed, left = np.flatnonzero(inside), np.flatnonzero(alive)
    if len(fixed) > problem.k or len(left) < problem.k:
        return np.inf
    only = fixed if len(fixed) == problem.k else left
    return floor_of(problem, problem.by_point[:, only].min(axis=1).astype(np.float64))


def _fix(best: Climb, now: Verified, cutoff: float) -> None:
    """Drop and take what this bound allows."""
    never, always = now.fix(best.alive, best.inside, cutoff)
    best.alive &= ~never
    best.inside |= always
    if np.count_nonzero(best.alive) < _COMPACT * np.count_nonzero(best.prefixes.alive):
        best.prefixes.drop(best.alive)
