"""A shard's arms: its own against references from everywhere, or a few from anywhere against its references."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.algorithms.levels import Levels
from medoids.algorithms.moments import Moments, State
from medoids.algorithms.paired import PairedArms
from medoids.distances import Floats
from medoids.engine.threads import Threads
from medoids.sharded.messages import Drop, Lead, Partial, References

__all__ = ["ShardArms", "partial_of"]

Float64s = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


def partial_of(moments: Moments, at: Rows | slice, own: Float64s | None = None) -> Partial:
    """Return the moments of some arms, to be sent."""
    return Partial(moments.S[at], moments.Q[at], moments.T[at], moments.R[at], own)


class ShardArms(PairedArms):
    """The arms of one shard in a search; the leader may be elsewhere.

    Parameters
    ----------
    levels, state, carried, allowed, threads
        As in `PairedArms`; the state is that of the references so far.
    positions : ndarray
        Of the arms in the permutation.
    own : ndarray
        What each arm's own loss does if it becomes a medoid.
    n : int
        References in all.
    """

    def __init__(
        self,
        levels: Levels,
        state: State,
        carried: Moments,
        allowed: npt.NDArray[np.bool_],
        threads: Threads,
        positions: Rows,
        own: Float64s,
        n: int,
    ) -> None:
        super().__init__(levels, state, carried, allowed, threads, 0.0)
        self._positions, self._own, self._n = positions, own, n
        self._met_row: tuple[float, Floats] = 0.0, np.zeros(0)

    def lead(self, pivot: int) -> Lead:
        """Return the arm with the lowest mean, and what is new of the pivot's if it is here."""
        if len(self.left) == 0:
            return Lead(np.inf, -1, 0, 0.0, np.zeros(0), 0)
        best, face = self._best_faces()
        if self._l == 0:
            best = np.where(self._allowed, best, np.inf)
        at = int(np.argmin(best))
        arm, slot = int(self.left[at]), int(face[at])
        row = np.concatenate([self._levels.row(l, arm) for l in range(self._l + 1)])
        row = row.astype(self._levels.kind)  # which it came from
        mean, spread = float(best[at]), self._spread_of(at, slot)
        found = Lead(mean, int(self._positions[arm]), slot, spread, row, len(self.left))
        where = self._find(pivot)
        if where >= 0:
            some = slice(where, where + 1)
            found.pivot = partial_of(self.moments, some, self._own[self.left[some]])
            found.pivot_row = self._levels.row(self._l, int(self.left[where]))
        return found

    def obey(self, order: Drop) -> tuple[int, int]:
        """Drop arms as told; return how many are left, and how many not only for a gap."""
        if len(self.left) == 0:
            return 0, 0
        self._slack = order.slack
        keep = self._screen(order.lead, order.spread, order.width)
        if self._l == 0:
            keep &= self._allowed
        at = self._find(order.leader)
        if at >= 0:
            keep[at] = True
        here, met, leader = np.flatnonzero(keep), None, int(self.left[at]) if at >= 0 else -1
        surely = len(here)
        for one in order.meet:
            self._met_row, met = (one.mean, one.row), one.face
            here, surely = self._meet(met, order.width, here, leader, order.lead, one.gap)
        self._restrict(here, met)
        return len(self.left), surely

    def see(self, references: References) -> None:
        """Look at the next level, whose references were sent."""
        old, new = self.state, references
        self.state = State(
            np.concatenate([old.d1, new.d1]),
            np.concatenate([old.d2, new.d2]),
            np.concatenate([old.slot, new.slot]),
            np.concatenate([old.w, new.w]),
            old.k,
            old.swaps,
            old.fixed,
        )
        self.look()

    def _find(self, position: int) -> int:
        """Return the place among the arms that are left of the one with a position; -1 if it is not there."""
        at = int(np.searchsorted(self._positions, position))
        if at == len(self._positions) or self._positions[at] != position:
            return -1
        place = int(np.searchsorted(self.left, at))
        return place if place < len(self.left) and self.left[place] == at else -1

    def _floor(self, at: Rows | slice = slice(None)) -> Float64s:
        floor: Float64s = self._own[self.left[at]] / np.sqrt(self._n)
        return floor

    def _mean_of(self, pivot: tuple[int, int]) -> float:
        return self._met_row[0]

    def _changes_of(self, pivot: tuple[int, int], l: int) -> Float64s:
        span = self._levels[l].span
        return self.state.changes(self._met_row[1][span], span, pivot[1])

    def _holds(self, pivot: tuple[int, int], here: Rows) -> bool:
        return True  # it may be elsewhere, and stays

    def _meets_along(self) -> bool:
        return False  # the pivot's distances come with the next order

    def pairs(self) -> tuple[Float64s, Float64s] | None:
        """Return V and U, if the arms have met a pivot."""
        return None if self._pivot is None else (self._V, self._U)

    def own_changes(self) -> Float64s:
        return self._own[self.left]

    def squares(
        self, left: Rows, pivot: tuple[int, int], row: Float64s, levels: list[int]
    ) -> tuple[Float64s, Float64s]:
        """Return V and U of some arms over some levels."""
        self._met_row = 0.0, row
        V, U = np.zeros(len(left)), np.zeros((len(left), self.state.k if self.state.swaps else 0), self._levels.kind)
        self._add_squares(pivot, levels, left, V, U)
        return V, U
