"""The arms of PairedPAM: who is left, by what references say of an arm alone and beside what is known of others.

A sample of references tells an arm's mean change with an error, and a large part of that error is no secret. What the
removal of a medoid costs is known for all points (``Assignment``), and so is, for the price of one distance a point,
what the *pivot* does, an arm that leads or has led. If the sample shows one of them too high, it shows the arms that
rise and fall with it too high, too, and a regression on the two takes this back: the mean is corrected by slope times
what their means in the sample are above the known ones, and the spread is that of the residuals. A near-tie of the
pivot has a slope of 1: then this is the comparison in pairs after which the algorithm is called. An arm stays while its
mean may be below the lowest that is known: the pivot's, and 0 for "no swap".

Beside S, Q, T, R and P of ``moments.py`` there are, for the arms that meet a pivot whose changes are l,

    V_i = sum (b-l)^2  U_ij = sum over the references of j of c (2 (b-l) + c)    the squares of differences

at O(1) a distance for all k faces. Many arms fall without them, by the regression on removal alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.bandit import Paired
from medoids.distances import Floats
from medoids.engine import LANES
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads, spans
from medoids.paired.lanes import References, Tile, Work, scan_stored
from medoids.paired.levels import Levels
from medoids.paired.moments import Moments, State

__all__ = ["COPIES", "LOYAL", "Found", "PairedArms", "Pivot"]

# Distances of the arms that are left are copied together when these are so few of those around, up to so many bytes.
_SPARSE, COPIES = 3, 1 << 25
# Arms that meet a pivot at a time: what most of them need V and U for is over after that.
_LOT = 1 << 16
# References of a chunk when a face meets all.
_POINTS = 1 << 14
# So few arms tell whether it pays to meet a pivot; a few times as many just meet it.
_PILOT, _ANYWAY = 128, 1024
# References by which a regression can be made; and where m of them have gains, bounds are wider by this share over
# sqrt(m): gains are skewed, and a sample that misses some underestimates their mean and their spread together.
_FEW, _SKEW = 8, 2.0
# A pivot that does not lead any more may leave so many times the arms that the leader would at best.
LOYAL = 1.5


def _trusted(excess: Any, variance: Any, count: Any, width: float) -> Any:
    """Tell whether something is known well enough by a sample, with so many references where it is not 0.

    The slope of a regression is estimated from these. And what the sample misses altogether, because it is due to a few
    points that were not drawn, shows in the mean: it is not what the variance makes it.
    """
    return (count >= _FEW) & (np.abs(excess) <= width * np.sqrt(np.maximum(variance, 0)))


def _tile(faces: int) -> int:
    """Arms of a chunk that looks at each face once: half a millisecond of work."""
    return max(16, (1 << 18) // max(1, faces))


@dataclass
class Pivot:
    """A face whose mean change is known."""

    arm: int
    face: int
    mean: float  # over all references
    changes: Float64s  # of all references; where others know them, their sums over those looked at, or nothing


@dataclass
class Found:
    """What a judgement finds of some arms.

    Attributes
    ----------
    reach : ndarray
        How far below 0 the mean of one of the arm's faces may be.
    best, face, gap : ndarray
        The lowest mean, whose it is, and beside a pivot its spread.
    """

    reach: Float64s
    best: Float64s
    face: Rows
    gap: Float64s

    @classmethod
    def of(cls, count: int) -> Found:
        return cls(np.empty(count), np.empty(count), np.zeros(count, dtype=np.intp), np.empty(count))

    def exclude(self, arms: npt.NDArray[np.bool_]) -> None:
        """Let some arms never stay and never lead."""
        self.reach[arms], self.best[arms] = -np.inf, np.inf

    def put(self, where: slice, other: Found, keep: npt.NDArray[np.bool_]) -> None:
        """Take over what was found of some others."""
        for name in ("reach", "best", "face", "gap"):
            getattr(self, name)[where] = getattr(other, name)[keep]

    def take(self, at: Rows | slice) -> Found:
        return Found(self.reach[at], self.best[at], self.face[at], self.gap[at])


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
        self._floors = state.own_change() / np.sqrt(max(1, levels.n))
        self._noise = noise
        self.moments = carried
        self.left = levels.everyone
        self._allowed = allowed
        self._l = 0
        self.t = levels[0].span.stop
        self._removals = state.removal_sums(levels[0].span)  # over the references so far
        # The lowest mean that is known, and whose it is; -1 for "no swap" and for nobody's.
        self._least, self._best = (0.0 if state.swaps else np.inf), -1
        self._pivot: Pivot | None = None
        self._met, self._V, self._U = 0, np.zeros(0), np.zeros((0, 0))  # levels in V and U
        self._summed, self._sums = 0, np.zeros(0)  # levels in the sums of the pivot's changes: `State.pivot_sums`
        self._copied, self._copies = self.left, list[Floats]()  # arms and, for the first levels, their distances

    def drop(self, bounds: Paired) -> None:
        """Forget the arms that the bounds rule out: first by themselves, then beside the pivot.

        When another arm leads then, it becomes the pivot and is met on all levels; unless it is so close to the one of
        before that hardly an arm more would fall.
        """
        width = bounds.width(self.t)
        found = self._judge(width)
        at = int(np.argmin(found.best))
        lead = float(found.best[at])
        if lead == np.inf:  # every candidate is a medoid already
            self._restrict(np.zeros(0, dtype=np.intp))
            return
        # Rounding must not decide: what it cannot tell apart, copies of a row above all, is left to exact judgement.
        self._slack = self._noise * max(self.state.scale, abs(lead))
        if self.state.swaps and lead >= 0:
            self._restrict(self._staying(found))
            return
        leader = int(self.left[at]), int(found.face[at])
        pivot = self._pivot or self._take(self._know(*leader))
        here = self._staying(found)
        if not self._pays(width, here):
            if self._gains(found, len(here), lead + self._slack):
                self._take(self._know(*leader))
                here = self._staying(found)
            self._restrict(here)
            return
        found = self._meet(width, here)
        if len(self.left) == 0:
            return
        at = int(np.argmin(found.best))
        leader = int(self.left[at]), int(found.face[at])
        # At best its mean is what it seems, and all spreads are smaller by the one that it has itself.
        at_best = float(found.best[at] - width * found.gap[at] + self._slack)
        if leader != (pivot.arm, pivot.face) and self._gains(found, len(self.left), at_best, self.t):
            self._take(self._know(*leader))
            if self._tells(width):
                self._meet(width, self._staying(found))
            else:
                self._restrict(self._staying(found))

    def _gains(self, found: Found, staying: int, least: float, price: float = 0.0) -> bool:
        """Tell whether markedly fewer than so many arms would stay if a mean as low as this were known.

        And whether looking ahead with those that would not takes longer than the price, in nanoseconds an arm.
        """
        fewer = int(np.count_nonzero(found.reach >= -least))
        return staying > LOYAL * fewer and self._saved(self.left) * (staying - fewer) >= staying * price

    def _pays(self, width: float, here: Rows) -> bool:
        """Tell whether arms should meet the pivot: if of the first few so many fall that it saves more than it takes.

        It takes a nanosecond for each reference that has not been met.
        """
        if not self.ahead or not self._tells(width):
            return False
        if len(here) <= _ANYWAY:
            return True
        start = self._levels[self._met - 1].span.stop if self._met else 0
        *_, keep = self._try(width, here[:_PILOT])
        return bool(self._saved(self.left[here]) * (1 - np.mean(keep)) > self.t - start)

    def _saved(self, arms: Rows) -> float:
        """Return the nanoseconds that are saved with each of some arms that need not look ahead."""
        return self._levels.price(self._l + 1, arms) if self.ahead else 0.0

    def _tells(self, width: float) -> bool:
        """Tell whether the sample is fair to the pivot, so that a regression on it makes sense."""
        assert self._pivot is not None
        self._sum_up(self._pivot)
        l, square = self._sums[:2] / self.t
        v = square - l**2
        return bool(v > 0 and _trusted(l - self._pivot.mean, v, self._sums[2], width))

    def _know(self, arm: int, face: int) -> Pivot:
        """Find out what a face does to all references."""
        row, changes = self._levels.whole(arm), np.empty(self._levels.n)

        def work(span: slice) -> None:
            changes[span] = self.state.changes(row[span], span, face)

        self._threads.map(work, spans(len(changes), _POINTS))
        return Pivot(arm, face, float(changes.mean()), changes)

    def _take(self, pivot: Pivot) -> Pivot:
        self._pivot, self._met, self._summed = pivot, 0, 0
        self._sums = np.zeros(3 + (self.state.k if self.state.swaps else 0))
        if pivot.mean < self._least:
            self._least, self._best = pivot.mean, pivot.arm
        return pivot

    def _staying(self, found: Found) -> Rows:
        """Return the positions of the arms that may be below the lowest mean that is known, and the one that has it."""
        return np.flatnonzero((found.reach >= -self._least - self._slack) | (self.left == self._best))

    def improving(self, bounds: Paired) -> list[int]:
        """Return arms that are sure to lower the loss in the place of some medoid, the surest first.

        For each slot the one whose mean change stays lowest in the worst case.
        """
        from medoids.exact.kernels import surest_arms

        m, width, floor = self.moments, bounds.width(self.t), self._floor()
        known = self._known_removals(width)
        chunks = spans(len(self.left), _tile(self.state.k))
        most = np.full((len(chunks), self.state.k), np.inf)
        arm = np.zeros((len(chunks), self.state.k), dtype=np.intp)
        allowed = self._allowed[self.left]

        def work(number: int) -> None:
            c = chunks[number]
            to = c.start, c.stop, most[number], arm[number]
            surest_arms(m.all(), self.t, known, width, floor, allowed, *to)

        self._threads.map(work, range(len(chunks)))
        slack = self._noise * self.state.scale
        found: dict[int, None] = {}  # an arm may be the surest of several slots
        for slot in np.argsort(most.min(axis=0), kind="stable").tolist():
            chunk = int(np.argmin(most[:, slot]))
            if most[chunk, slot] < -slack:
                found[int(self.left[arm[chunk, slot]])] = None
        return list(found)

    def _floor(self, at: Rows | slice = slice(None)) -> Float64s:
        """Return a spread that an arm has in any case: that of its own point, which may not have been drawn yet.

        An outlier's gain is all in this one reference, and a sample without it shows a spread of 0.
        """
        everyone = self.left is self._levels.everyone
        floor: Float64s = self._floors[at if everyone else self.left[at]]
        return floor

    def _widened(self, at: Rows | slice = slice(None)) -> Float64s:
        """Return by how much bounds are wider in BUILD, where changes are gains: by how few references have them.

        As many equal gains have the same sums S and Q.
        """
        root = np.sqrt(np.maximum(self.moments.Q[at], 0))
        gains = np.maximum(np.abs(self.moments.S[at]), root)
        widened: Float64s = 1 + _SKEW * root / np.where(gains > 0, gains, 1)
        return widened

    def _known_removals(self, width: float) -> tuple[Float64s, Float64s, Float64s, Float64s]:
        """Return of each slot's removal the mean, what it is above the known one, the variance, and what it widens."""
        r, squares, count = self._removals / self.t
        excess, v, count = r - self.state.removal, squares - r**2, count * self.t
        trusted = (v > 0) & _trusted(excess, v, count, width)
        return r, excess, v, np.where(trusted, 1 + _SKEW / np.sqrt(np.maximum(count, 1)), 0.0)

    def _judge(self, width: float) -> Found:
        """Judge arms by themselves."""
        found = Found.of(len(self.left))
        if self.state.swaps:
            self._judge_faces(width, found)
        else:
            m = self.moments
            found.best = m.S / self.t
            spread = np.maximum(np.sqrt(np.maximum(m.Q / self.t - found.best**2, 0)), self._floor())
            found.reach = width * self._widened() * spread - found.best
        if self._l == 0:
            found.exclude(~self._allowed[self.left])
        return found

    def _judge_faces(self, width: float, found: Found) -> None:
        from medoids.exact.kernels import judge_faces

        m, known, floor = self.moments, self._known_removals(width), self._floor()

        def work(c: slice) -> None:
            judge_faces(m.all(), self.t, known, width, floor, c.start, c.stop, found.reach, found.best, found.face)

        self._threads.map(work, spans(len(floor), _tile(self.state.k)))

    def _meet(self, width: float, here: Rows) -> Found:
        """Judge some of the arms, by their positions, beside the pivot; go on with those that stay."""
        if self._met == 0:
            self._copy(self.left[here])
        faces, kept = self.state.k if self.state.swaps else 0, 0
        # Filled from the front: what is never written needs no memory.
        stay, judged = np.empty(len(here), dtype=np.intp), Found.of(len(here))
        kept_V, kept_U = np.empty(len(here)), np.empty((len(here), faces), self._levels.kind)
        for lot in spans(len(here), _LOT):
            at = here[lot]
            V, U, found, keep = self._try(width, at)
            new = slice(kept, kept + int(np.count_nonzero(keep)))
            stay[new], kept_V[new], kept_U[new] = at[keep], V[keep], U[keep]
            judged.put(new, found, keep)
            kept = new.stop
        self._V, self._U, self._met = kept_V[:kept], kept_U[:kept], self._l + 1
        self._go_on(stay[:kept])
        return judged.take(slice(0, kept))

    def _try(self, width: float, at: Rows) -> tuple[Float64s, Floats, Found, npt.NDArray[np.bool_]]:
        """Return V and U of some arms, what is found of them beside the pivot, and who stays."""
        assert self._pivot is not None
        if self._met:
            V, U = self._V[at], self._U[at]
        else:
            faces = self.state.k if self.state.swaps else 0
            V, U = np.zeros(len(at)), np.zeros((len(at), faces), self._levels.kind)
        self._add_squares(self._pivot, range(self._met, self._l + 1), self.left[at], V, U)
        found = self._beside(self._pivot, at, V, U, width)
        keep = (found.reach >= -self._least - self._slack) | (self.left[at] == self._best)
        return V, U, found, keep

    def _add_squares(self, pivot: Pivot, levels: Iterable[int], arms: Rows, V: Float64s, U: Floats) -> None:
        """Add some levels to V and U of arms against a pivot."""
        for l in levels:
            self._scan(l, arms, self._pair_adder(l, self._changes_of(pivot, l), V, U))

    def _sum_up(self, pivot: Pivot) -> None:
        """Bring the sums of the pivot's changes to the references so far."""
        for l in range(self._summed, self._l + 1):
            self._sums = self._sums + self.state.pivot_sums(self._levels[l].span, self._changes_of(pivot, l))
        self._summed = self._l + 1

    def _beside(self, pivot: Pivot, at: Rows, V: Float64s, U: Floats, width: float) -> Found:
        """Judge arms beside a pivot that tells."""
        m, t, floor, found = self.moments, self.t, self._floor(at), Found.of(len(at))
        l, l2, rl = float(self._sums[0]) / t, float(self._sums[1]), self._sums[3:]
        if not self.state.swaps:
            z = m.S[at] / t - l
            common = (m.Q[at] - l2 - V) / (2 * t) - z * l
            slope = common / (l2 / t - l * l)
            found.best = pivot.mean + z - slope * (l - pivot.mean)
            found.gap = np.maximum(np.sqrt(np.maximum(V / t - z**2 - slope * common, 0)), floor)
            found.reach = width * self._widened(at) * found.gap - found.best
            return found
        from medoids.exact.kernels import meet_faces

        known = self._known_removals(width)

        def work(c: slice) -> None:
            to = found.reach, found.best, found.face, found.gap
            of_pivot = l, pivot.mean, l2, rl
            meet_faces(m.all(), at, (V, U), t, known, of_pivot, width, floor, c.start, c.stop, to)

        self._threads.map(work, spans(len(at), _tile(self.state.k)))
        return found

    def _changes_of(self, pivot: Pivot, l: int) -> Float64s:
        """Return the changes that the pivot brings to the references of a level."""
        return pivot.changes[self._levels[l].span]

    def _pair_adder(self, l: int, lead: Float64s, V: Float64s, U: Floats) -> Work:
        """Return what adds tiles of a level to V and U."""
        from medoids.paired.lane_kernels import pair_additions, pair_swaps

        step, swaps = self._levels.step, self.state.swaps
        order, d1, d2, w = self.state.of_level(l, self._levels)
        other = (lead / step).astype(d1.dtype)
        references = References(order, d1, d2, w, other) if swaps else References(order, d1, w, other)

        def add(tile: Tile) -> None:
            where = tile.values, tile.groups, tile.at, step, *references.of(tile)
            if swaps:
                pair_swaps(*where, V, U)
            else:
                pair_additions(*where, V)

        return add

    def _scan(self, l: int, arms: Rows, work: Work) -> None:
        if l < len(self._copies):
            place = np.searchsorted(self._copied, arms).astype(np.int32)
            scan_stored(self._copies[l], place, np.arange(len(arms)), 0, None, self._threads, work)
        else:
            self._levels.scan(l, arms, work, limit=self.state.limit(self._levels[l].span))

    def _copy(self, arms: Rows) -> None:
        """Copy the distances of some arms next to each other, once they are few among their neighbours.

        A change of the leader means another pass over all levels so far, and it reads whole groups of lanes. On MNIST
        three of four lanes were not in question any more.
        """
        from medoids.paired.lane_kernels import copy_lanes

        count, dtype = len(arms), self._levels[0].values.dtype
        if self._l == 0 or _SPARSE * count > len(self._copied) or count * self.t * dtype.itemsize > COPIES:
            return
        copies = []
        rows = -(-count // LANES) * LANES
        buffer = self._levels.spare(rows * self.t)
        for l in range(self._l + 1):
            span = self._levels[l].span
            values = buffer[rows * span.start : rows * span.stop].reshape(-1, span.stop - span.start, LANES)

            def work(tile: Tile, values: Floats = values) -> None:
                copy_lanes(tile.values, tile.groups, tile.at, tile.all_columns, tile.run.start, values)

            self._scan(l, arms, work)
            copies.append(values)
        self._copied, self._copies = arms, copies

    def _restrict(self, at: Rows) -> None:
        """Go on with some of the arms."""
        if self._met:
            self._V, self._U = self._V[at], self._U[at]
        self._go_on(at)

    def _go_on(self, at: Rows) -> None:
        """Go on with some of the arms, whose V and U are already theirs."""
        self.left = self.left[at]
        self.moments = self.moments.take(at, self._threads)

    @property
    def ahead(self) -> bool:
        """Whether there are references to look at."""
        return self._l + 1 < len(self._levels)

    def look(self) -> None:
        """Look at the next level with the arms that are left."""
        self._l += 1
        self._levels.fill(self._l, self.left, only=True)
        span = self._levels[self._l].span
        add = self.moments.adder(self._levels, self.state, self._l)
        work = add
        self._removals = self._removals + self.state.removal_sums(span)
        if self._pivot is not None and self._meets_along():
            pair = self._pair_adder(self._l, self._changes_of(self._pivot, self._l), self._V, self._U)
            self._met += 1

            def work(tile: Tile) -> None:
                add(tile)
                pair(tile)

        self._levels.scan(self._l, self.left, work, limit=self.state.limit(span))
        self.t = span.stop

    def _meets_along(self) -> bool:
        """Tell whether to meet the pivot while looking: yes where it saves computing distances a second time."""
        return self._met == self._l and not self._levels.holds(self._l, self.left)
