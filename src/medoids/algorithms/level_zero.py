"""Level 0, which every arm sees, with its moments carried from step to step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.algorithms.levels import Levels
from medoids.algorithms.moments import Moments, State
from medoids.engine.threads import Threads

__all__ = ["LevelZero"]


class LevelZero:
    """The moments of level 0 for all arms, brought from state to state.

    Parameters
    ----------
    levels : Levels
    threads : Threads
    """

    def __init__(self, levels: Levels, threads: Threads) -> None:
        self._levels, self._threads = levels, threads
        self._everyone: npt.NDArray[np.intp] = np.arange(levels.n)
        self.forget()

    def forget(self) -> None:
        """Start anew with the next state; stored distances stay."""
        self._moments: Moments | None = None
        self._seen: State | None = None

    def follow(self, state: State) -> Moments:
        """Bring the moments to a state: redo the references whose state changed, or all at the start."""
        self._levels.fill(0, self._everyone)
        span = self._levels[0].span
        numbers = np.arange(span.stop)
        old = self._seen
        stale = old is None or old.swaps != state.swaps or not np.isfinite(old.d1[0])
        changed = numbers
        if old is not None and not stale:
            differ = state.d1[span] != old.d1[span]
            if state.swaps:
                differ |= (state.d2[span] != old.d2[span]) | (state.slot[span] != old.slot[span])
            changed = np.flatnonzero(differ)
            stale = 2 * len(changed) > len(numbers)
        if stale or self._moments is None:
            self._moments = Moments(self._levels.n, state.k if state.swaps else 0)
            if state.swaps:
                self._moments.T[:, list(state.fixed)] = np.inf  # a face that loses to any other
            changed = numbers
        for piece in self._levels.pieces(0, self._everyone):
            self._moments.add(piece, state, changed, 0, self._threads, old=None if stale else old)
        self._seen = state
        return self._moments
