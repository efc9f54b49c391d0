"""A shard: some of the points, as arms and as what the loss is summed over. On one machine there is one, with all.

As arms, its points are judged by references that may be anywhere; what comes in is a `View`, and what goes out are the
arms with the lowest means. As points, they have distances to candidates; what goes out are sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.core.run import TOO_LARGE
from medoids.engine.arrays import Bools, Float64s, Floats, Rows
from medoids.engine.budget import RELEASE_CHUNKS
from medoids.engine.threads import Threads, spans
from medoids.paired.store import LANES, Points, Store
from medoids.paired.view import Pivot, View

__all__ = ["REPORTED", "Bar", "Left", "Shard"]

# Arms that a shard reports: those with the lowest means, and the one with the lowest in each of as many regions.
REPORTED = 64
# Where m references have gains, in other slots or in all, spreads are larger by this over sqrt(m): of skewed gains a
# sample underestimates mean and spread together. How often bounds miss: benchmarks/results/coverage.md.
_SKEW = 2.5
# Points of a chunk of sums.
_POINTS_PER_CHUNK = 1 << 14


@dataclass(frozen=True)
class Bar:
    """What an arm's mean change must be able to reach: a value, with bounds of some width in standard errors."""

    value: float
    width: float


@dataclass(frozen=True)
class Left:
    """The arms that are left in a shard."""

    count: int
    rows: Rows  # those with the lowest means
    means: Float64s
    best_rows: Rows  # the one with the lowest mean in each region
    best_means: Float64s  # infinite where no arm is left
    lowest: float  # the lowest lower bound; infinite where no arm is left

    @classmethod
    def joined(cls, parts: Sequence[Left]) -> Left:
        """Put what several shards have left together."""
        rows, means = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "means"))
        lowest = np.lexsort((rows, means))[:REPORTED]
        best, at = np.stack([part.best_means for part in parts]), np.stack([part.best_rows for part in parts])
        tied = np.where(best == best.min(axis=0), at, np.iinfo(np.intp).max)
        count, bound = sum(part.count for part in parts), min(part.lowest for part in parts)
        return cls(count, rows[lowest], means[lowest], tied.min(axis=0), best.min(axis=0), bound)


class Shard:
    """Points and their distances.

    Parameters
    ----------
    points : Points
    rows, weights, regions, eligible : ndarray of shape (own,)
        Row numbers, in the order of the tree; the share of each in the weight of all; its part of the tree; and whether
        it may become a medoid.
    budget : int
        Bytes for stored distances.
    threads : Threads
    """

    def __init__(
        self,
        points: Points,
        rows: Rows,
        weights: Float64s,
        regions: npt.NDArray[np.int8],
        eligible: Bools,
        budget: int,
        threads: Threads,
    ) -> None:
        self._points, self.rows, self._weights, self._regions, self._eligible = points, rows, weights, regions, eligible
        self._threads = threads
        self.store = Store(points, budget, threads)
        self._known: dict[int, Floats] = {}
        self._sums: Floats | None = None
        self._summed: View | None = None
        self._arms: Rows = np.zeros(0, dtype=np.intp)
        self._lower, self._mean = np.zeros(0), np.zeros(0)
        self.place_state(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))

    # --- as points --------------------------------------------------------------------------------------------------

    def place_state(self, d1: Float64s, d2: Float64s, nearest: Rows, medoids: Rows) -> None:
        """Set the distances of the points to their two nearest medoids, the slot of the nearest, and the medoids."""
        self._d1, self._d2, self._nearest = d1, d2, nearest
        self._removal: Float64s | None = None
        self._runs = [_runs_of(nearest[chunk]) for chunk in spans(len(nearest), _POINTS_PER_CHUNK)]
        self._free = self._eligible.copy()
        if len(medoids):
            at = self._points.candidates(medoids)
            self._free[at[at < len(self.rows)]] = False

    def states(self, at: Rows) -> tuple[Float64s, Float64s, Rows]:
        """Return d1, d2 and slot of some points."""
        return self._d1[at], self._d2[at], self._nearest[at]

    def removal(self, slots: int) -> Float64s:
        """Return the share of the points in the mean cost of removing each slot's medoid."""
        if self._removal is None:
            other = np.isfinite(self._d2)
            costs = np.where(other, self._d2 - np.where(other, self._d1, 0.0), 0.0)
            self._removal = np.bincount(self._nearest, self._weights * costs, minlength=slots).astype(np.float64)
        return self._removal

    def learn(self, rows: Rows, slots: int) -> Float64s:
        """Return sums of the changes that candidates bring: what is added if a slot's medoid leaves, and if none does.

        In the precision of blocks. Distances of the candidates to the points are kept until `forget`.
        """
        new = np.array([i for i in rows.tolist() if i not in self._known], dtype=np.intp)
        if len(new):
            block = self._measure(new)
            self._known.update(zip(new.tolist(), block, strict=True))
        return self._changes([self._known[i] for i in rows.tolist()], slots)

    def _measure(self, rows: Rows) -> list[Floats]:
        distance, numbers = self._points.distance, self._points.candidates(rows)
        block = [np.empty(len(self.rows), self.store.kind) for _ in rows]  # not one array, of which a row kept all
        if distance.exact:
            for number, row in zip(numbers.tolist(), block, strict=True):
                self._recall(number, row)
            return block

        def work(chunk: slice) -> None:
            for row, values in zip(block, distance.block(numbers, chunk), strict=True):
                row[chunk] = values

        width = max(1, 16 * _POINTS_PER_CHUNK // max(16, len(rows)))
        self._over(work, spans(len(self.rows), width), threaded=distance.threaded)
        return block

    def _over(self, work: Callable[[Any], None], chunks: Sequence[Any], *, threaded: bool = True) -> None:
        """Work on chunks of points in their order, and return the pages of an X on disk as it goes."""
        for stretch in spans(len(chunks), RELEASE_CHUNKS):
            self._threads.map(work, chunks[stretch], threaded=threaded)
            self._points.distance.release()

    def _recall(self, number: int, row: Floats) -> None:
        """Fill a row with distances that are stored, and compute the others: exact ones may be dear."""
        missing = np.ones(len(row), dtype=bool)
        if number < len(row):
            columns, values = self.store.recall(number)
            at = self._points.references(columns)
            here = at < len(row)
            row[at[here]], missing[at[here]] = values[here], False
        rest, distance = np.flatnonzero(missing), self._points.distance

        def work(chunk: slice) -> None:
            row[rest[chunk]] = distance.block(np.array([number]), rest[chunk])[0]

        self._threads.map(work, spans(len(rest), _POINTS_PER_CHUNK), threaded=distance.threaded)

    def _changes(self, known: list[Floats], slots: int) -> Float64s:
        from medoids.paired.kernels import exact_changes

        chunks = spans(len(self.rows), _POINTS_PER_CHUNK)
        parts = np.zeros((len(chunks), len(known), slots + 1))

        def work(number: int) -> None:
            c = chunks[number]
            for e, row in enumerate(known):
                exact_changes(row[c], self._d1[c], self._d2[c], self._weights[c], *self._runs[number], parts[number, e])

        self._threads.map(work, range(len(chunks)))
        sums: Float64s = parts.sum(axis=0)
        return sums

    def whole(self, row: int) -> Floats:
        """Return the distances from a row to the points, in the precision of blocks."""
        return self._known[row] if row in self._known else self._measure(np.array([row]))[0]

    def forget(self, rows: Rows) -> None:
        """Forget all candidates but some."""
        self._known = {i: self._known[i] for i in rows.tolist() if i in self._known}

    # --- as arms ----------------------------------------------------------------------------------------------------

    def judge(self, view: View, bar: Bar, pivots: Sequence[Pivot], *, afresh: bool) -> Left:
        """Judge arms on a level, and drop those that cannot reach the bar.

        ``afresh`` judges all arms, not those that are left.
        """
        self._arms = np.flatnonzero(self._free) if afresh else self._arms[self._free[self._arms]]
        if afresh and self.store.carries(view.k):
            self._judge_sums(view, bar)
        else:
            self._judge_tiles(view, bar, pivots)
        if not np.isfinite(self._lower).all():
            raise ValueError(TOO_LARGE)
        return self.drop(bar.value)

    def drop(self, value: float, without: Rows | None = None) -> Left:
        """Drop arms that cannot reach a value, and some rows."""
        keep = self._lower <= value
        if without is not None:
            keep &= ~np.isin(self.rows[self._arms], without)
        self._restrict(keep)
        rows = self.rows[self._arms]
        few = np.arange(len(rows))
        if len(rows) > REPORTED:  # with ties, the lowest rows, in however many shards they are
            few = np.flatnonzero(self._mean <= np.partition(self._mean, REPORTED)[REPORTED])
        order = few[np.lexsort((rows[few], self._mean[few]))][:REPORTED]
        best_means, best_rows = np.full(REPORTED, np.inf), np.full(REPORTED, -1, dtype=np.intp)
        regions = self._regions[self._arms]
        np.minimum.at(best_means, regions, self._mean)
        lowest = np.flatnonzero(self._mean == best_means[regions])
        lowest = lowest[np.argsort(-rows[lowest])]  # the lowest row comes last, and stays
        best_rows[regions[lowest]] = rows[lowest]
        bound = float(self._lower.min(initial=np.inf))
        return Left(len(rows), rows[order], self._mean[order], best_rows, best_means, bound)

    def rows_left(self) -> Rows:
        """Return the rows of the arms that are left."""
        return self.rows[self._arms]

    def restore_left(self, rows: Rows) -> None:
        """Go on with some rows as the arms that are left."""
        self._arms = np.flatnonzero(np.isin(self.rows, rows))
        self._lower, self._mean = np.full(len(self._arms), -np.inf), np.zeros(len(self._arms))

    def _restrict(self, keep: Bools) -> None:
        self._arms, self._lower, self._mean = self._arms[keep], self._lower[keep], self._mean[keep]

    def _floors(self, arms: Rows, view: View) -> Float64s:
        """Return a spread that an arm has in any case: twice that of its own point, which may be all of its gain."""
        if not view.level.t or not np.isfinite(self._d1[arms[:1]]).all():
            return np.zeros(len(arms))
        weights = self._weights[arms]
        chance = np.minimum(1.0, view.level.t * weights)
        floors: Float64s = 2 * np.abs(self._d1[arms]) * np.sqrt(weights * (1 - chance) / max(1, view.level.t))
        return floors

    def _judge_sums(self, view: View, bar: Bar) -> None:
        """Judge all arms on the first level by their sums, which are carried from view to view."""
        from medoids.paired.kernels import judge_alone

        sums = self._carry(view)
        lower, mean = np.empty(len(self.rows)), np.empty(len(self.rows))
        floors, known = self._floors(np.arange(len(self.rows)), view), view.removals()

        chunks = self.store.chunks

        def work(number: int) -> None:
            c = chunks[number]
            part = sums[number, :, :, : c.stop - c.start]
            judge_alone(part, view.left_out, known, bar.width, _SKEW, floors[c], view.fixed, lower[c], mean[c])

        self._threads.map(work, range(len(chunks)))
        self._lower, self._mean = lower[self._arms], mean[self._arms]

    def _carry(self, view: View) -> Floats:
        """Bring the sums of the first level to a view: take the pairs out that have changed, and add the new ones."""
        from medoids.paired.kernels import add_pairs

        old, sums, kind = self._summed, self._sums, self.store.kind
        self._summed = None  # an interrupt may leave sums half way
        parts = [view.entries(kind)]
        if old is not None and sums is not None and old.swaps == view.swaps and old.k == view.k:
            gone, new = view.changes_from(old)
            if np.count_nonzero(gone) + np.count_nonzero(new) <= len(new):
                parts = [old.entries(kind, gone, -1.0), view.entries(kind, new)]
        if len(parts) == 1 or sums is None:
            self._sums = None  # before there are two
            self._sums = sums = np.zeros((len(self.store.chunks), view.k, 5, self.store.lanes), kind)
        columns = np.unique(np.concatenate([side for e in parts for side in (e.first, e.second)]))
        if not self.store.first_is_stored:
            parts = [e.among(columns) for e in parts]

        def work(number: int) -> None:
            values = self.store.first(number, columns)
            for e in parts:
                add_pairs(values, e.first, e.second, e.facts, e.starts, sums[number, :, :, : values.shape[1]])

        self._over(work, range(len(self.store.chunks)))
        self._summed = view
        return sums

    def _judge_tiles(self, view: View, bar: Bar, pivots: Sequence[Pivot]) -> None:
        """Judge the arms that are left, tile by tile, alone and beside pivots."""
        from medoids.paired.kernels import add_beside, add_pairs, judge_alone, judge_beside

        arms, store = self._arms, self.store
        store.fill(view.depth, arms)
        lower, mean = np.empty(len(arms)), np.empty(len(arms))
        known, e = view.removals(), view.entries(store.kind)

        def work(chunk: slice) -> None:
            some = arms[chunk]
            values = store.tile(some, view.depth)
            sums = np.zeros((view.k, 5, len(some)), store.kind)
            add_pairs(values, e.first, e.second, e.facts, e.starts, sums)
            floors = self._floors(some, view)
            part = view.left_out, known, bar.width, _SKEW, floors, view.fixed, lower[chunk], mean[chunk]
            judge_alone(sums, *part)
            for pivot in pivots:
                products = np.zeros((view.k, 2, len(some)), store.kind)
                add_beside(values, e.first, e.second, e.facts, pivot.differences, e.starts, products)
                judge_beside(sums, products, pivot.faces, *part[:-1])

        self._over(work, self._spans(len(arms)))
        self._lower, self._mean = lower, mean

    def _spans(self, count: int) -> list[slice]:
        """Cut arms into tiles: small enough for all threads to have some."""
        return spans(count, int(np.clip(count // 8, 64, 2 * LANES)))


def _runs_of(slots: Rows) -> tuple[Rows, Rows]:
    """Return where runs of equal slots start and the last one ends, and these slots."""
    starts = np.flatnonzero(np.diff(slots, prepend=-2))
    return np.append(starts, len(slots)), slots[starts]
