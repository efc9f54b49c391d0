"""The arms of PairedPAM: who is left, by their own moments and by pairs with the leader.

Beside S, Q, T and R of ``moments.py`` there are, for the arms that are met in pairs,

    V_i = sum (b-l)^2  U_ij = sum over the references of j of c (2 (b-l) + c)    the squares, against the leader's l

at O(1) a distance for all k faces. Most arms fall without them: the spread of a difference is at most the sum of the
two spreads, which S, Q, T and R tell, so the leader is met in pairs only by the arms that this leaves.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from medoids.algorithms.levels import LANES, Levels, Tile, Work, scan_stored
from medoids.algorithms.moments import Moments, State
from medoids.bandit import Paired
from medoids.distances import Floats
from medoids.engine.threads import Threads, spans

__all__ = ["LOYAL", "PairedArms"]

# Distances of the arms that are left are copied together when these are so few of those around, up to so many bytes.
_SPARSE, _COPIES = 3, 1 << 26
# Arms that meet a pivot at a time: what most of them need V and U for is over after that.
_LOT = 1 << 16
# A pivot that does not lead any more may leave so many times the arms that it would if it were no gap away.
LOYAL = 1.1

Float64s = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


def _tile(faces: int) -> int:
    """Arms of a chunk that looks at each face once: half a millisecond of work."""
    return max(16, (1 << 18) // max(1, faces))


def _contains(rows: Rows, row: int) -> bool:
    """Tell whether a row is among sorted ones."""
    at = int(np.searchsorted(rows, row))
    return at < len(rows) and int(rows[at]) == row


class PairedArms:
    """One search's arms.

    Attributes
    ----------
    state : State
    left : ndarray
        Arms that are still in question.
    t : int
        References looked at.
    """

    def __init__(
        self,
        levels: Levels,
        state: State,
        carried: Moments,
        allowed: npt.NDArray[np.bool_],
        threads: Threads,
        noise: float,
    ) -> None:
        self._levels, self.state, self._threads = levels, state, threads
        self._own = state.own_change()
        self._noise = noise
        self.moments = carried
        self.left = levels.everyone
        self._allowed = allowed
        self._l = 0
        self.t = levels[0].span.stop
        self._pivot: tuple[int, int] | None = None  # the arm and face that V and U are against
        self._met = 0  # levels in V and U
        self._V, self._U = np.zeros(0), np.zeros((0, 0))
        self._copied, self._copies = self.left, list[Floats]()  # arms and, for the first levels, their distances

    def drop(self, bounds: Paired) -> None:
        """Forget the arms that the bounds rule out: first by their own spreads, then by pairs with the leader.

        Being surely worse than any one arm is enough to fall, so when the lead changes, the arms first meet the leader
        of before, for which only the last level is new. That tells of the new one, too: the spread of an arm's
        differences from it is larger at most by the spread between the two. Those that are left meet the new one on all
        levels; unless these would have to be computed again, and only a few arms stay for this gap alone.
        """
        width = bounds.width(self.t)
        best, face = self._best_faces()
        if self._l == 0:
            best = np.where(self._allowed, best, np.inf)
        at = int(np.argmin(best))
        lead, slot = float(best[at]), int(face[at])
        none = self.state.swaps and lead >= 0  # "no swap" leads, whose changes are all 0
        spread = 0.0 if none else self._spread_of(at, slot)
        # Rounding must not decide: what it cannot tell apart, copies of a row above all, is left to exact judgement.
        self._slack = self._noise * max(self.state.scale(), abs(lead))
        keep = self._screen(0.0 if none else lead, spread, width)
        if self._l == 0:
            keep &= self._allowed
        if none:
            self._restrict(np.flatnonzero(keep))
            return
        keep[at] = True
        del best, face  # of all arms, and not needed any more
        leader = (int(self.left[at]), slot)
        here = np.flatnonzero(keep)
        if self._pivot is not None and self._pivot != leader and self._holds(self._pivot, here):
            here, surely = self._meet(self._pivot, width, here, leader[0], lead, self._gap(self._pivot, at, slot))
            if self._levels.full and len(here) <= LOYAL * surely:
                self._restrict(here, met=self._pivot)
                return
        self._restrict(self._meet(leader, width, here, leader[0], lead)[0], met=leader)

    def improving(self, bounds: Paired) -> list[int]:
        """Return arms that are sure to lower the loss in the place of some medoid, the surest first.

        For each slot the one whose mean change stays lowest in the worst case.
        """
        from medoids.algorithms.kernels import surest_arms

        m, width, floor = self.moments, bounds.width(self.t), self._floor()
        chunks = spans(len(self.left), _tile(self.state.k))
        most = np.full((len(chunks), self.state.k), np.inf)
        arm = np.zeros((len(chunks), self.state.k), dtype=np.intp)
        allowed = self._allowed[self.left]

        def work(number: int) -> None:
            c = chunks[number]
            surest_arms(m.S, m.Q, m.T, m.R, self.t, width, floor, allowed, c.start, c.stop, most[number], arm[number])

        self._threads.map(work, range(len(chunks)))
        slack = self._noise * self.state.scale()
        found: dict[int, None] = {}  # an arm may be the surest of several slots
        for slot in np.argsort(most.min(axis=0), kind="stable").tolist():
            chunk = int(np.argmin(most[:, slot]))
            if most[chunk, slot] < -slack:
                found[int(self.left[arm[chunk, slot]])] = None
        return list(found)

    def _best_faces(self) -> tuple[Float64s, Rows]:
        """Return the lowest mean of each arm, and its face."""
        moments, count = self.moments, len(self.left)
        face = np.zeros(count, dtype=np.intp)
        if not self.state.swaps:
            return moments.S / self.t, face
        from medoids.algorithms.kernels import lowest_face

        best = np.empty(count)
        self._threads.map(
            lambda arms: lowest_face(moments.S, moments.T, arms.start, arms.stop, best, face),
            spans(count, _tile(self.state.k)),
        )
        return best / self.t, face

    def _spread_of(self, at: int, slot: int) -> float:
        moments = self.moments
        mean, square = moments.S[at], moments.Q[at]
        if self.state.swaps:
            mean, square = mean + moments.T[at, slot], square + moments.R[at, slot]
        return float(np.sqrt(max(0.0, square / self.t - (mean / self.t) ** 2)))

    def _floor(self, at: Rows | slice = slice(None)) -> Float64s:
        """Return a spread that an arm has in any case: that of its own point, which may not have been drawn yet.

        An outlier's gain is all in this one reference, and a sample without it shows a spread of 0.
        """
        floor: Float64s = self._own[self.left[at]] / np.sqrt(self._levels.n)
        return floor

    def _screen(self, lead: float, spread: float, width: float) -> npt.NDArray[np.bool_]:
        moments, count, floor = self.moments, len(self.left), self._floor()
        if not self.state.swaps:
            mean = moments.S / self.t
            reach = np.maximum(np.sqrt(np.maximum(moments.Q / self.t - mean**2, 0)), floor)
            screened: npt.NDArray[np.bool_] = mean - lead <= width * (reach + spread) + self._slack
            return screened
        from medoids.algorithms.kernels import screen_faces

        keep = np.empty(count, dtype=np.bool_)

        def work(arms: slice) -> None:
            m = moments
            bounds = lead, spread, width, floor, self._slack
            screen_faces(m.S, m.Q, m.T, m.R, self.t, *bounds, arms.start, arms.stop, keep)

        self._threads.map(work, spans(count, _tile(self.state.k)))
        return keep

    def _meet(
        self, pivot: tuple[int, int], width: float, here: Rows, leader: int, lead: float, gap: float = 0.0
    ) -> tuple[Rows, int]:
        """Compare arms with one face of one of them, in pairs, and so with the leader.

        Return who stays, for whom V and U are kept, and how many do so not only for the gap.

        Parameters
        ----------
        here : ndarray
            Positions among those that are left.
        leader : int
            An arm that stays in any case.
        lead, gap : float
            Its mean, and the spread of its differences from the pivot.
        """
        start = self._met if self._pivot == pivot else 0
        if start == 0:
            self._copy(self.left[here])
        mean = self._mean_of(pivot)
        faces, kept, surely = self.state.k if self.state.swaps else 0, 0, 0
        # Filled from the front: what is never written needs no memory.
        stay = np.empty(len(here), dtype=np.intp)
        kept_V, kept_U = np.empty(len(here)), np.empty((len(here), faces), self._levels.kind)
        for lot in spans(len(here), _LOT):
            at = here[lot]
            if start:
                V, U = self._V[at], self._U[at]
            else:
                V, U = np.zeros(len(at)), np.zeros((len(at), faces), self._levels.kind)
            self._add_squares(pivot, range(start, self._l + 1), self.left[at], V, U)
            may = self._may_beat(mean, lead, gap, at, V, U, width)
            may[self.left[at] == leader] = 2
            keep = may > 0
            new = slice(kept, kept + int(np.count_nonzero(keep)))
            surely += int(np.count_nonzero(may == 2))
            stay[new], kept_V[new], kept_U[new] = at[keep], V[keep], U[keep]
            kept = new.stop
        self._V, self._U = kept_V[:kept], kept_U[:kept]
        return stay[:kept], surely

    def _gap(self, pivot: tuple[int, int], at: int, slot: int) -> float:
        """Return the spread of the differences between a pivot that was met and one face of the arm at a position."""
        V, U = self._V[at : at + 1].copy(), self._U[at : at + 1].copy()
        self._add_squares(pivot, range(self._met, self._l + 1), self.left[at : at + 1], V, U)
        square = float(V[0] + (U[0, slot] if self.state.swaps else 0.0)) / self.t
        difference = self._mean_of((int(self.left[at]), slot)) - self._mean_of(pivot)
        return float(np.sqrt(max(0.0, square - difference**2)))

    def _add_squares(self, pivot: tuple[int, int], levels: Iterable[int], arms: Rows, V: Float64s, U: Floats) -> None:
        """Add some levels to V and U of arms against a pivot."""
        for l in levels:
            self._scan(l, arms, self._pair_adder(l, self._changes_of(pivot, l), V, U))

    def _may_beat(
        self, pivot: float, lead: float, gap: float, at: Rows, V: Float64s, U: Floats, width: float
    ) -> npt.NDArray[np.int8]:
        """Tell which arms' faces may be better than the pivot's and the leader's means: see `kernels.meet_faces`."""
        moments, t, floor = self.moments, self.t, self._floor(at)
        if not self.state.swaps:
            mean = moments.S[at] / t
            spread = np.maximum(np.sqrt(np.maximum(V / t - (mean - pivot) ** 2, 0)), floor)
            may = (mean - pivot <= width * spread + self._slack) & (mean - lead <= width * (spread + gap) + self._slack)
            surely = mean - lead <= width * spread + self._slack
            kept: npt.NDArray[np.int8] = may.astype(np.int8) + (may & surely)
            return kept
        from medoids.algorithms.kernels import meet_faces

        keep = np.empty(len(at), dtype=np.int8)

        def work(arms: slice) -> None:
            bounds = pivot, lead, gap, width, floor, self._slack
            meet_faces(moments.S, moments.T, at, V, U, t, *bounds, arms.start, arms.stop, keep)

        self._threads.map(work, spans(len(keep), _tile(self.state.k)))
        return keep

    def _holds(self, pivot: tuple[int, int], here: Rows) -> bool:
        """Tell whether a pivot is among some of the arms that are left."""
        return _contains(self.left[here], pivot[0])

    def _mean_of(self, pivot: tuple[int, int]) -> float:
        at, moments = int(np.searchsorted(self.left, pivot[0])), self.moments
        mean = moments.S[at] + (moments.T[at, pivot[1]] if self.state.swaps else 0.0)
        return float(mean / self.t)

    def _changes_of(self, pivot: tuple[int, int], l: int) -> Float64s:
        """Return the changes that a face brings to the references of a level."""
        return self.state.changes(self._levels.row(l, pivot[0]), self._levels[l].span, pivot[1])

    def _pair_adder(self, l: int, lead: Float64s, V: Float64s, U: Floats) -> Work:
        """Return what adds tiles of a level to V and U."""
        from medoids.algorithms.kernels import pair_additions, pair_swaps

        span, step = self._levels[l].span, self._levels.step
        slot, d1, d2, w = self.state.at(np.arange(span.start, span.stop), self._levels)
        other = (lead / step).astype(d1.dtype)

        def add(tile: Tile) -> None:
            run = tile.run
            where = tile.values, tile.groups, tile.at, tile.columns, step
            if self.state.swaps:
                pair_swaps(*where, slot[run], d1[run], d2[run], w[run], other[run], V, U)
            else:
                pair_additions(*where, d1[run], w[run], other[run], V)

        return add

    def _scan(self, l: int, arms: Rows, work: Work) -> None:
        if l < len(self._copies):
            columns = np.arange(self._copies[l].shape[1])
            place = np.searchsorted(self._copied, arms)
            scan_stored(self._copies[l], place, np.arange(len(arms)), columns, self._threads, work)
        else:
            self._levels.scan(l, arms, work)

    def _copy(self, arms: Rows) -> None:
        """Copy the distances of some arms next to each other, once they are few among their neighbours.

        A change of the leader means another pass over all levels so far, and it reads whole groups of lanes. On MNIST
        three of four lanes were not in question any more.
        """
        from medoids.algorithms.kernels import copy_lanes

        count, dtype = len(arms), self._levels[0].values.dtype
        if self._l == 0 or _SPARSE * count > len(self._copied) or count * self.t * dtype.itemsize > _COPIES:
            return
        copies = []
        rows = -(-count // LANES) * LANES
        buffer = self._levels.spare(rows * self.t)
        for l in range(self._l + 1):
            span = self._levels[l].span
            values = buffer[rows * span.start : rows * span.stop].reshape(-1, span.stop - span.start, LANES)

            def work(tile: Tile, values: Floats = values) -> None:
                copy_lanes(tile.values, tile.groups, tile.at, tile.columns, tile.run.start, values)

            self._scan(l, arms, work)
            copies.append(values)
        self._copied, self._copies = arms, copies

    def _restrict(self, at: Rows, met: tuple[int, int] | None = None) -> None:
        """Go on with some of the arms; V and U are already theirs if they ``met`` a pivot just now."""
        self.left = self.left[at]
        self.moments = self.moments.take(at)
        if met is not None:
            self._pivot, self._met = met, self._l + 1
        elif self._pivot is not None:
            self._V, self._U = self._V[at], self._U[at]
        if self._pivot is not None and not self._holds(self._pivot, np.arange(len(self.left))):
            self._pivot = None

    @property
    def ahead(self) -> bool:
        """Whether there are references to look at."""
        return self._l + 1 < len(self._levels)

    def look(self) -> None:
        """Look at the next level with the arms that are left."""
        self._l += 1
        self._levels.fill(self._l, self.left)
        span = self._levels[self._l].span
        add = self.moments.adder(self._levels, self.state, np.arange(span.start, span.stop))
        work = add
        if self._pivot is not None and self._meets_along():
            pair = self._pair_adder(self._l, self._changes_of(self._pivot, self._l), self._V, self._U)
            self._met += 1

            def work(tile: Tile) -> None:
                add(tile)
                pair(tile)

        self._levels.scan(self._l, self.left, work)
        self.t = span.stop

    def _meets_along(self) -> bool:
        """Tell whether to meet the pivot while looking: yes where it saves computing distances a second time."""
        return self._met == self._l and not self._levels.holds(self._l, self.left)
