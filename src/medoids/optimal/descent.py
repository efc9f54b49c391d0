"""Medoids on their way down: the state of every point, and the losses of all swaps carried from state to state.

For the distances d1, d2 of each point s to its nearest two medoids and a candidate i,

    S_i  = sum_s w_s min(d(i, s), d1_s)
    T_ji = sum_{s nearest to j} w_s (min(d(i, s), d2_s) - min(d(i, s), d1_s))

S_i + T_ji is the loss after i replaced the medoid of slot j. A swap changes few points, and only their terms change.

A round looks at these losses once and tries several swaps, one for each slot, of candidates drawn at random from those
that promise to improve. Each is tried on exact distances and kept if it does improve. Always taking the best swap would
need fewer of them, but mostly leads back to where a restart came from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from medoids.core.assignment import TOLERANCE
from medoids.engine.arrays import Float64s, Rows
from medoids.optimal.instance import Instance
from medoids.optimal.kernels import carry, lowest_losses, reassign

__all__ = ["UNBOUNDED", "Descent"]

# More swaps than a descent takes.
UNBOUNDED = 1 << 62

# Candidates of a chunk: sums of a few slots stay in cache while the rows of points stream by.
_CANDIDATES_PER_TILE = 2048
# Distances that are read between two calls of ``check``, and below which threads are not worth waking.
_DISTANCES_PER_CHECK, _DISTANCES_PER_THREAD = 1 << 25, 1 << 18
# Candidates that are drawn in a round; for each slot the best of some is tried; failures after which a round ends.
_DRAWN_PER_ROUND, _TRIED_PER_SLOT, _MISSES_PER_ROUND = 128, 20, 3


class Descent:
    """The state of a local search, that can be copied to another one.

    Attributes
    ----------
    medoids : ndarray of shape (k,)
        Candidates; the position is the medoid's slot.
    loss : float
    swaps : int
        Improving swaps since it was made.
    """

    def __init__(self, problem: Instance, medoids: Rows | None = None) -> None:
        n, N, k = problem.n_points, problem.n_candidates, problem.k
        self._problem = problem
        self.medoids = np.full(k, -1, dtype=np.intp)
        self.loss, self.swaps = np.inf, 0
        self._S, self._T, self._low = np.zeros(N), np.zeros((k, N)), np.empty(N)
        self._state, self._settled, self._was = _states(n), _states(n), _states(n)
        self._changed = np.empty(n, dtype=np.intp)
        self._open = problem.allowed.copy()
        self._tiles = [
            slice(start, min(start + _CANDIDATES_PER_TILE, N)) for start in range(0, N, _CANDIDATES_PER_TILE)
        ]
        if medoids is not None:
            self.place(np.arange(k), np.asarray(medoids, dtype=np.intp))

    def copy_from(self, other: Descent) -> None:
        """Become a copy of another state of the same problem."""
        for mine, theirs in zip(self._arrays(), other._arrays(), strict=True):
            mine[:] = theirs
        self.loss = other.loss

    def _arrays(self) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.generic]], ...]:
        return (self.medoids, self._S, self._T, self._open, *self._state, *self._settled)

    def key(self) -> tuple[int, ...]:
        """Return the medoids in order, by which equal states are recognised."""
        return tuple(sorted(self.medoids.tolist()))

    def free_slots(self) -> Rows:
        """Slots whose medoids are not frozen."""
        return np.flatnonzero(~np.isin(self.medoids, self._problem.frozen))

    def place(self, slots: Rows, rows: Rows) -> int:
        """Put candidates into slots, whatever that does to the loss; return how many points changed."""
        leaving = self.medoids[slots]
        self._open[leaving[leaving >= 0]] = True
        self.medoids[slots] = rows
        self._open[rows] = False
        entered = np.zeros(len(self.medoids), dtype=np.bool_)
        entered[slots] = True
        problem = self._problem
        count, self.loss = reassign(
            problem.by_point, problem.weights, self.medoids, slots, entered, self._state, self._changed, self._was
        )
        return int(count)

    def descend(self, random: np.random.Generator, is_known: Callable[[tuple[int, ...]], bool], most: int) -> bool:
        """Take swaps until none improves.

        Stops after ``most`` swaps, and returns False where a state is known already.
        """
        while most > 0:
            if is_known(self.key()):
                return False
            taken = misses = 0
            for slot, row in self._promising(random):
                hit = self._try(slot, row)
                taken, misses = taken + hit, 0 if hit else misses + 1
                if taken == most or misses == _MISSES_PER_ROUND:
                    break
            self.swaps += taken
            most -= taken
            if not taken:
                break
        return True

    def _promising(self, random: np.random.Generator) -> list[tuple[int, int]]:
        """(slot, row) of swaps that improve by the sums, at most one for a slot, in random order."""
        self._settle()
        slots, low = self.free_slots(), self._low

        def work(tile: slice) -> None:
            lowest_losses(self._S, self._T, slots, tile.start, tile.stop, low)

        self._spread(work, self._T.size)
        better = np.flatnonzero(self._open & (low < self.loss - TOLERANCE * abs(self.loss)))
        if not len(better) or not len(slots):
            return []
        if len(better) > _DRAWN_PER_ROUND:
            drawn = better[random.choice(len(better), _DRAWN_PER_ROUND, replace=False)]
        else:
            drawn = random.permutation(better)
        best: dict[int, list[int]] = {}
        for slot, row in zip(slots[self._T[np.ix_(slots, drawn)].argmin(axis=0)].tolist(), drawn.tolist(), strict=True):
            best.setdefault(slot, []).append(row)
        return [(slot, min(rows[:_TRIED_PER_SLOT], key=low.__getitem__)) for slot, rows in best.items()]

    def _try(self, slot: int, row: int) -> bool:
        """Swap if that improves the loss itself."""
        loss, slots = self.loss, np.array([slot])
        out = self.medoids[slots]
        count = self.place(slots, np.array([row]))
        if self._problem.is_better(self.loss, loss):
            return True
        self._open[row], self._open[out] = True, False
        self.medoids[slots] = out
        points = self._changed[:count]
        for now, was in zip(self._state, self._was, strict=True):
            now[points] = was[:count]
        self.loss = loss
        return False

    def _settle(self) -> None:
        """Carry the sums to the present state."""
        problem = self._problem
        (near, _, d1, d2), (before, _, x1, x2) = self._state, self._settled
        points = np.flatnonzero(((near != before) | (d1 != x1) | (d2 != x2)) & (problem.weights > 0))
        slot, before, w = near[points], before[points], problem.weights[points]
        now, was = np.stack([w, d1[points], d2[points]]), np.stack([w, x1[points], x2[points]])
        new = before < 0
        before[new], was[0, new] = slot[new], 0
        order = np.argsort(before * len(self.medoids) + slot, kind="stable")
        points, slot, before = points[order], slot[order], before[order]
        kind = problem.by_point.dtype
        now, was = now[:, order].astype(kind), was[:, order].astype(kind)

        def work(tile: slice) -> None:
            for e in range(0, len(points), _DISTANCES_PER_CHECK // _CANDIDATES_PER_TILE):
                part = slice(e, e + _DISTANCES_PER_CHECK // _CANDIDATES_PER_TILE)
                arguments = (points[part], slot[part], before[part], now[:, part], was[:, part])
                carry(problem.by_point, *arguments, tile.start, tile.stop, self._S, self._T)

        self._spread(work, len(points) * problem.n_candidates)
        for mine, present in zip(self._settled, self._state, strict=True):
            mine[:] = present

    def _spread(self, work: Callable[[slice], None], size: int) -> None:
        self._problem.check()
        if size < _DISTANCES_PER_THREAD:
            for tile in self._tiles:
                work(tile)
        else:
            self._problem.spread(work, self._tiles)


def _states(n: int) -> tuple[Rows, Rows, Float64s, Float64s]:
    """Nearest, second nearest, and the distances to them, of points without medoids."""
    return np.full(n, -1, dtype=np.intp), np.full(n, -1, dtype=np.intp), np.full(n, np.inf), np.full(n, np.inf)
