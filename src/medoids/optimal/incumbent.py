"""The best solution so far, and the descents that look for a better one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from medoids.engine.arrays import Bools, Rows
from medoids.optimal.descent import UNBOUNDED, Descent
from medoids.optimal.instance import Instance

__all__ = ["Incumbent", "settled"]

# A proposal is worth a descent if its loss is at most this multiple of the best one; the most descents.
_CLOSE_LOSS, _MOST_DESCENTS = 1.01, 300


class Incumbent:
    """Medoids with the lowest loss known.

    Attributes
    ----------
    medoids : ndarray of shape (k,)
    loss : float
    changed : callable
        Called when they are replaced by better ones.
    """

    def __init__(self, problem: Instance, medoids: Rows, changed: Callable[[], object]) -> None:
        self._problem, self.changed = problem, changed
        self.medoids, self.loss = np.array(medoids, dtype=np.intp), problem.loss(medoids)
        self._ends: set[tuple[int, ...]] = set()
        self._descent: Descent | None = None
        self._random = np.random.default_rng(0)

    def offer(self, rows: Rows, *, descend: bool = True) -> None:
        """Take k candidates if they are better, or if swaps from them lead to better ones."""
        key = tuple(sorted(rows.tolist()))
        if key in self._ends:
            return
        loss = self._problem.loss(rows)
        if descend and loss < _CLOSE_LOSS * abs(self.loss) and len(self._ends) < _MOST_DESCENTS:
            self._ends.add(key)
            if self._descent is None:
                self._descent = Descent(self._problem)
            self._descent.place(np.arange(len(rows)), rows)
            self._descent.descend(self._random, self._ends.__contains__, UNBOUNDED)
            self._ends.add(self._descent.key())
            rows = self._descent.medoids.copy()
            loss = self._problem.loss(rows)
        if self._problem.is_better(loss, self.loss):
            self.medoids, self.loss = rows, loss
            self.changed()


def settled(problem: Instance, incumbent: Incumbent, alive: Bools, inside: Bools) -> bool:
    """Whether at most one choice of medoids is left; if one is, it is offered."""
    fixed, left = np.flatnonzero(inside), np.flatnonzero(alive)
    if len(fixed) == problem.k or len(left) == problem.k:
        incumbent.offer(fixed if len(fixed) == problem.k else left, descend=False)
    return len(fixed) >= problem.k or len(left) <= problem.k
