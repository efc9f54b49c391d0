"""Level 0, which every arm sees, with its moments carried from step to step."""

from __future__ import annotations

import numpy as np

from medoids.engine.arrays import Rows
from medoids.paired.levels import Levels
from medoids.paired.moments import Moments, State

__all__ = ["LevelZero"]


class LevelZero:
    """The moments of level 0 for all arms, brought from state to state.

    Parameters
    ----------
    levels : Levels
    """

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self.forget()

    def forget(self) -> None:
        """Start anew with the next state; stored distances stay."""
        self._moments: Moments | None = None
        self._seen: State | None = None

    def follow(self, state: State) -> Moments:
        """Bring the moments to a state: redo the references whose state changed, or all at the start.

        Where level 0 does not fit in memory, moments are made anew each time: distances are computed again for most
        references in any case, and a second set of moments would need more than what is stored of them.
        """
        carries = self._levels.keeps_first
        self._levels.fill(0, self._levels.everyone)
        span, everyone = self._levels[0].span, self._levels.everyone
        old, moments = self._seen, self._moments
        changed = None if old is None else self._changed(old, state)
        if old is None or moments is None or changed is None:
            self._moments = None  # before there are two
            moments = Moments(self._levels.n, state.k if state.swaps else 0, self._levels.kind, shared=carries)
            if state.swaps:
                moments.T[:, list(state.fixed)] = np.inf  # a face that loses to any other
            self._levels.scan(0, everyone, moments.adder(self._levels, state, 0), limit=state.limit(span))
        elif len(changed):
            limit = np.maximum(state.limit(changed), old.limit(changed))
            self._levels.scan(0, everyone, moments.changer(self._levels, state, old, changed), changed, limit)
        if carries:
            self._moments, self._seen = moments, state.first(span.stop)
        return moments

    def _changed(self, old: State, state: State) -> Rows | None:
        """Return the references whose state changed; None if these are so many that it is better to start anew."""
        span = self._levels[0].span
        if old.swaps != state.swaps or not np.isfinite(old.d1[0]):
            return None
        differ = state.d1[span] != old.d1[span]
        if state.swaps:
            differ |= (state.d2[span] != old.d2[span]) | (state.slot[span] != old.slot[span])
        changed = np.flatnonzero(differ)
        return None if 2 * len(changed) > span.stop else changed
