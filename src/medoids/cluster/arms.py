"""A shard's arms: its own against references from everywhere, or a few from anywhere against its references."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from medoids.cluster.messages import Drop, Lead, Left, Partial, References
from medoids.distances import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads
from medoids.paired.levels import Levels
from medoids.paired.moments import Moments, State
from medoids.paired.search import Found, PairedArms, Pivot

__all__ = ["ShardArms", "partial_of"]


def partial_of(moments: Moments, at: Rows | slice, own: Float64s | None = None) -> Partial:
    """Return the moments of some arms, to be sent."""
    return Partial(moments.S[at], moments.Q[at], moments.T[at], moments.R[at], moments.P[at], own)


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
    row_of : callable
        ``row_of(guest, references)`` returns distances from a guest to a run of references.
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
        row_of: Callable[[int, slice], Floats],
    ) -> None:
        super().__init__(levels, state, carried, allowed, threads, 0.0)
        self._positions, self._own, self._n, self._row_of = positions, own, n, row_of
        self._guest = -1  # that the pivot is
        self._changes: dict[int, Float64s] = {}  # that it brings to the references of each level

    def lead(self) -> Lead:
        """Return the arm with the lowest mean."""
        return self._lead_of(self._judge(0.0))[0]

    def _lead_of(self, found: Found) -> tuple[Lead, int]:
        if len(self.left) == 0:
            return Lead(np.inf, -1, -1, 0, 0), -1
        at = int(np.argmin(found.best))
        arm = int(self.left[at])
        lead = Lead(float(found.best[at]), int(self._positions[arm]), arm, int(found.face[at]), len(self.left))
        return lead, at

    def obey(self, order: Drop) -> Left:
        """Drop arms as told."""
        self._slack, self._least, self._best = order.slack, order.least, self._find(order.best)
        found = self._judge(order.width)
        here, meet = self._staying(found), order.meet
        if meet is not None and len(here):
            if self._pivot is None or (self._pivot.arm, self._pivot.face) != (meet.arm, meet.face):
                self._take(Pivot(meet.arm, meet.face, meet.mean, np.zeros(0)))
                self._guest, self._changes = meet.guest, {}
            if self._pays(order.width, here):
                found = self._found = self._meet(order.width, here)
                lead, at = self._lead_of(found)
                return Left(len(self.left), lead, float(found.gap[at]) if at >= 0 else 0.0, met=True)
        self._restrict(here)
        self._found = found.take(here)
        return Left(len(self.left), self._lead_of(self._found)[0])

    def reaching(self, least: float) -> int:
        """Return how many arms may reach a mean, by the last judgement."""
        return int(np.count_nonzero(self._found.reach >= -least))

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
            old.removal,
        )
        self.look()

    def _find(self, position: int) -> int:
        """Return the arm with a position; -1 if it is not here."""
        at = int(np.searchsorted(self._positions, position))
        return at if at < len(self._positions) and self._positions[at] == position else -1

    def _floor(self, at: Rows | slice = slice(None)) -> Float64s:
        floor: Float64s = self._own[self.left[at]] / np.sqrt(self._n)
        return floor

    def _changes_of(self, pivot: Pivot, l: int) -> Float64s:
        if l not in self._changes:
            span = self._levels[l].span
            row = self._row_of(self._guest, span).astype(np.float64)
            self._changes[l] = self.state.changes(row, span, pivot.face)
        return self._changes[l]

    def _meets_along(self) -> bool:
        return False  # the pivot's distances come with the next order

    def own_changes(self) -> Float64s:
        return self._own[self.left]

    def squares(self, left: Rows, guest: int, face: int, levels: list[int]) -> tuple[Float64s, Float64s]:
        """Return V and U of some arms over some levels against a guest's face."""
        self._guest, pivot = guest, Pivot(guest, face, 0.0, np.zeros(0))
        V, U = np.zeros(len(left)), np.zeros((len(left), self.state.k if self.state.swaps else 0), self._levels.kind)
        self._add_squares(pivot, levels, left, V, U)
        return V, U
