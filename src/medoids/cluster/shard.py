"""One worker's part of a fit: rows, their nearest medoids, and the moments of its arms.

A shard answers `ask`: it is told a few rows and numbers, and tells sums. Its own rows stay in the order of the
permutation that all shards draw from the same seed, so that a level of references is a slice of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.cluster.arms import ShardArms, partial_of
from medoids.cluster.host import Facing, Host, empty_like
from medoids.cluster.messages import Census, Copies, Drop, Lead, Left, Partial, Plan, References, Survivors, Task
from medoids.cluster.points import ShardPoints, changes
from medoids.cluster.reading import check_part, check_part_weights
from medoids.core.assignment import Assignment, KeptRows
from medoids.core.run import TOO_LARGE
from medoids.core.shares import count_shares
from medoids.distances import Dissimilarity, Facts, Floats, Tally, count_rows, dissimilarity
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads, spans
from medoids.paired.level_zero import LevelZero
from medoids.paired.levels import Levels
from medoids.paired.moments import Moments, State

__all__ = ["GUESTS", "Shard"]

# Moments over a level; of a pivot the sums of its changes, and V and U.
Looked = tuple[Partial, Float64s | None, tuple[Float64s, Float64s] | None]
# Most guests that are remembered, with what their distances were.
GUESTS = 1 << 15
# Points of a chunk of exact distances.
_POINTS = 4096
# Share of memory_limit for the distances of guests.
_SHARE = 4


class Shard:
    """Some partitions of the data.

    Parameters
    ----------
    task : Task
    parts : list
        Arrays, frames or lists of objects.
    numbers : list of int
        The number of each partition.
    starts : list of int
        The row of X with which each begins.
    weights : list of ndarray, optional
    """

    def __init__(
        self, task: Task, parts: list[Any], numbers: list[int], starts: list[int], weights: list[Any] | None = None
    ) -> None:
        self._task = task
        arrays, rows, sizes = [], [], []
        given = [None] * len(parts) if weights is None else weights
        weighed = []
        for part, number, start, weight in zip(parts, numbers, starts, given, strict=True):
            array = check_part(part, task.metric, start, number)
            w = check_part_weights(weight, len(array), start)
            some = np.flatnonzero(w > 0)  # a row of weight 0 changes nothing
            arrays.append(array[some] if len(some) < len(array) else array)
            rows.append(start + some)
            weighed.append(w[some])
            sizes.append(len(some))
        self._rows_all = sum(count_rows(part) for part in parts)
        self._sizes = sizes
        filled = [array for array in arrays if len(array)] or arrays[:1]
        self._X: Floats = np.concatenate(filled) if len(filled) > 1 else filled[0]
        self._rows: Rows = np.concatenate(rows)
        self._weights: Float64s = np.concatenate(weighed)
        self._part: Assignment | None = None
        self._tally = Tally()
        self._told = 0, 0
        self._threads = Threads(task.n_jobs)
        self._threads.__enter__()

    def ask(self, name: str, *message: Any) -> tuple[Any, int, int]:
        """Do what a message says; return the answer, and the distances computed and found since the last one."""
        answer = getattr(self, name)(*message)
        computed = self._tally.computed
        cached = sum(count.cached for count in self._tally.counts.values())
        before, self._told = self._told, (computed, cached)
        return answer, computed - before[0], cached - before[1]

    def close(self) -> None:
        self._threads.__exit__()

    # --- before the fit -------------------------------------------------------------------------------------------

    def census(self) -> Census:
        """Count."""
        X = self._X
        vectors = X.ndim == 2
        columns = X.shape[1] if vectors else 0
        sums = np.zeros(columns)
        if vectors and X.dtype != object:
            sums = X.sum(axis=0, dtype=np.float64)
        lengths = [len(x) for x in X] if isinstance(self._task.metric, str) and not vectors else []
        return Census(
            self._rows_all,
            self._sizes,
            float(self._weights.sum()),
            columns,
            X.dtype.str,
            sums,
            max(lengths, default=0),
            min(lengths, default=0),
            sum(lengths),
            any(type(x) is not str for x in X) if lengths else False,
        )

    def top(self, centre: Float64s) -> float:
        """Return the largest absolute value after centring."""
        lots = spans(len(self._X), 1024)
        return max((float(np.abs(self._X[lot] - centre).max()) for lot in lots), default=0.0)

    def most(self, facts: Facts) -> float:
        """Return a bound on the distances between rows, if all were like those here."""
        lots = spans(len(self._X), _POINTS)
        return max((self._kind().hosting(self._X[lot], self._rows[lot], facts).most() for lot in lots), default=0.0)

    def _kind(self) -> Dissimilarity:
        sample = self._X[:1] if len(self._X) else empty_like(self._X, 1)
        return dissimilarity(sample, self._task.metric, self._task.metric_params)

    def sample(self) -> Copies:
        """Return a row, for what it is."""
        return Copies(self._rows[:1], self._X[:1])

    def pick(self, numbers: Rows) -> Copies:
        """Return those of some rows of X that are here, before they are in the order of the permutation."""
        at = np.flatnonzero(np.isin(self._rows, numbers))
        return Copies(self._rows[at], self._X[at])

    def count_shares(self, share: float) -> list[int]:
        """Return how many references the rows of each partition count as."""
        counts = count_shares(self._weights, share)
        return [int(part.sum()) for part in np.split(counts, np.cumsum(self._sizes)[:-1])]

    def _divide(self, share: float) -> None:
        """Put a row of large weight here several times, each with a share of its weight."""
        sizes, counts = self.count_shares(share), count_shares(self._weights, share)
        if sizes == self._sizes:
            return
        at = np.repeat(np.arange(len(counts)), counts)
        self._X, self._rows, self._weights = self._X[at], self._rows[at], (self._weights / counts)[at]
        self._sizes = sizes

    def settle(self, plan: Plan) -> None:
        """Take the place in the permutation that all shards draw."""
        self._divide(plan.share)
        order = np.random.RandomState()
        order.set_state(plan.random)
        place = np.empty(plan.n, dtype=np.intp)
        place[order.permutation(plan.n)] = np.arange(plan.n)
        parts = [place[b : b + size] for b, size in zip(plan.before, self._sizes, strict=True)]
        positions = np.concatenate(parts)
        del place
        at = np.argsort(positions)
        self._positions, self._rows, self._weights = positions[at], self._rows[at], self._weights[at]
        self._by_row = np.argsort(self._rows, kind="stable")  # of several places of a row, the first is found
        self._sorted = self._rows[self._by_row]
        self._n, self._spans = plan.n, plan.spans
        self._host = Host(self._kind(), self._X[at], self._rows, plan.facts, self._threads)
        del self._X
        self._store(coarse=True)
        # Runs of the own rows, which are the references that this shard knows of each level.
        ends = np.searchsorted(self._positions, [span.stop for span in self._spans])
        self._runs = [slice(int(a), int(b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        self._judged: dict[int, Float64s] = {}
        self.forget_guests()
        self.restore([], None)

    def _store(self, *, coarse: bool) -> None:
        own, limit = Facing(self._host, "own", len(self._rows)), self._task.memory_limit
        room = limit - limit // _SHARE
        self._levels = Levels(own, self._spans, room, self._threads, self._tally, coarse=coarse)
        self._zero = LevelZero(self._levels)

    def forget_guests(self) -> None:
        """Forget the copies of candidates that were sent."""
        self._host.clear("guests")
        facing = Facing(self._host, "guests", GUESTS)
        self._guest_levels = Levels(facing, self._runs, self._task.memory_limit // _SHARE, self._threads, self._tally)
        self._judged = {}

    def welcome(self, copies: Copies) -> None:
        """Take copies of rows in as guests, numbered in the order of their coming."""
        if len(copies.numbers):
            self._host.append("guests", copies.objects, copies.numbers)

    def give(self, numbers: Rows) -> Copies:
        """Return those of some rows of X that are here."""
        at = self._find(numbers)
        return Copies(self._rows[at], self._host.objects[at])

    def _find(self, numbers: npt.ArrayLike) -> Rows:
        """Return where those of some rows of X are that are here."""
        some = np.asarray(numbers, dtype=np.intp)
        if len(self._rows) == 0:
            return np.zeros(0, dtype=np.intp)
        place = self._by_row[np.minimum(np.searchsorted(self._sorted, some), len(self._rows) - 1)]
        found: Rows = place[self._rows[place] == some]
        return found

    def _allowed(self, medoids: list[int]) -> npt.NDArray[np.bool_]:
        """Return which of the own rows are arms: the first place of each row, unless it is a medoid."""
        allowed = np.zeros(len(self._rows), dtype=bool)
        allowed[self._find(np.unique(self._rows))] = True
        allowed[self._find(medoids)] = False
        return allowed

    # --- medoids --------------------------------------------------------------------------------------------------

    def restore(self, medoids: list[int], copies: Copies | None) -> Float64s:
        """Go back to some medoids, whose rows come along; return this shard's part of loss and magnitude."""
        if self._part is None or self._part.medoids != medoids:
            self._part = Assignment(self._weights, KeptRows(self._task.k, len(self._weights)), self._task.frozen)
            self._judged = {}
            self._zero.forget()
            if copies is not None:
                self.welcome(copies)
                for i, row in zip(medoids, self._exact(np.arange(len(medoids))), strict=True):
                    self._assignment.add(i, row)
        return self._loss()

    def enter(self, i: int, guest: int, slot: int | None) -> tuple[Float64s, Copies]:
        """Make a guest a medoid: the next one, or in the place of another.

        Return this shard's part of loss and magnitude, and the row itself if it is here.
        """
        row = self._judged[guest] if guest in self._judged else self._exact(np.array([guest]))[0]
        self._judged = {}
        if slot is None:
            self._assignment.add(i, row)
        else:
            self._assignment.swap(slot, i, row)
        return self._loss(), self.give(np.array([i]))

    @property
    def _assignment(self) -> Assignment:
        assert self._part is not None
        return self._part

    def _loss(self) -> Float64s:
        a = self._assignment
        return np.array([a.loss, a.magnitude]) if len(self._rows) else np.zeros(2)

    def differ(self, medoids: Floats) -> bool:
        """Whether some of the own rows differ from their nearest medoids, whose rows are given by slot."""
        own, nearest = self._host.objects, self._assignment.nearest
        chunks = spans(self._host.own, _POINTS)
        return any(bool((own[chunk] != medoids[nearest[chunk]]).any()) for chunk in chunks)

    def judge(self, guests: Rows, swaps: bool) -> Float64s:
        """Return this shard's parts of the exact losses that guests would lead to, for each slot, and magnitudes."""
        block = self._exact(guests)
        self._judged = dict(zip(guests.tolist(), block, strict=True))
        assignment = self._assignment
        return np.array(assignment.after_swaps(block) if swaps else assignment.after_additions(block))

    def _exact(self, guests: Rows) -> Float64s:
        """Exact distances from guests to the own rows; where those stored are exact, these."""
        host, levels = self._host, self._guest_levels
        block = np.empty((len(guests), host.own))
        if host.distance.exact:
            for l, run in enumerate(self._runs):
                if run.stop > run.start:
                    levels.fill(l, guests)
                    for a, guest in enumerate(guests.tolist()):
                        block[a, run] = levels.row(l, guest)
            return block
        rows = host.start("guests") + guests

        def work(points: slice) -> None:
            block[:, points] = host.distance.exact_block(rows, points)

        self._threads.map(work, spans(host.own, _POINTS), threaded=host.distance.threaded)
        self._tally.add(computed=block.size)
        return block

    # --- a search: own arms, references from everywhere -----------------------------------------------------------

    def references(self, l: int, objects: bool) -> References:
        """Return what is here of a level's references."""
        return self._references(self._runs[l], objects)

    def _references(self, run: slice, objects: bool) -> References:
        a = self._assignment
        found = References(self._positions[run], a.d1[run], a.d2[run], a.nearest[run], a.weights[run])
        if run.start == 0 and len(a.medoids) == self._task.k:
            found.removal = self._state(True).removal_sums(slice(0, len(self._rows)))[0]
        if objects:
            found.objects, found.numbers = self._host.objects[run], self._rows[run]
        return found

    def begin(self, references: References, swaps: bool) -> Lead:
        """Begin a search with the references of level 0."""
        self._take_in(references)
        r, a = references, self._assignment
        removal = np.zeros(0) if r.removal is None else r.removal / self._n
        state = State(r.d1, r.d2, r.slot, r.w, len(a.medoids), swaps, tuple(a.fixed), removal)
        if self._levels.too_coarse(state.typical()):
            self._store(coarse=False)
        carried = self._zero.follow(state)
        if not np.isfinite(carried.Q).all():
            raise ValueError(TOO_LARGE)
        allowed = self._allowed(a.medoids)
        own = a.weights * a.d1 if a.medoids else np.zeros(len(self._rows))
        places = self._positions, own, self._n, self._row_of
        self._arms = ShardArms(self._levels, state, carried, allowed, self._threads, *places)
        return self._numbered(self._arms.lead())

    def _numbered(self, lead: Lead) -> Lead:
        """Name a leader by its row of X."""
        return replace(lead, number=int(self._rows[lead.number])) if lead.left else lead

    def _take_in(self, references: References) -> None:
        """Keep copies of references that come after those that are here."""
        if references.objects is not None and references.positions[0] == self._host.used["references"]:
            assert references.numbers is not None
            self._host.append("references", references.objects, references.numbers)

    def drop(self, order: Drop) -> Left:
        """Drop arms as told; if many are left, the next references come back, to save a trip."""
        left = self._arms.obey(order)
        left.lead = self._numbered(left.lead)
        if order.ahead >= 0 and left.count > order.share:
            left.ahead = self.references(order.ahead, order.fresh)
        return left

    def look(self, l: int, references: References) -> Lead:
        """Look at the next level with the arms that are left."""
        self._take_in(references)
        self._arms.see(references)
        return self._numbered(self._arms.lead())

    def reaching(self, least: float) -> int:
        """Return how many arms may reach a mean, by the last judgement."""
        return self._arms.reaching(least)

    def known(self, guest: int, face: int, swaps: bool, levels: int) -> tuple[float, Float64s]:
        """Return the sum of a guest's changes over the own rows, and a pivot's sums over those of the first levels."""
        state, host = self._state(swaps), self._host
        row = np.empty(host.own)

        def work(points: slice) -> None:
            row[points] = self._block(guest, points)

        self._threads.map(work, spans(host.own, _POINTS), threaded=host.distance.threaded)
        self._tally.add(computed=host.own)
        if not host.own:
            return 0.0, np.zeros(3 + (state.k if swaps else 0))
        changes = state.changes(row, slice(0, host.own), face)
        first = slice(0, self._runs[levels - 1].stop if levels else 0)
        return float(changes.sum()), state.pivot_sums(first, changes[first])

    def _row_of(self, guest: int, references: slice) -> Floats:
        """Return the distances from a guest to a run of the references that were sent."""
        start = self._host.start("references")
        self._tally.add(computed=references.stop - references.start)
        return self._block(guest, slice(start + references.start, start + references.stop))

    def _block(self, guest: int, points: slice) -> Floats:
        host = self._host
        row = np.array([host.start("guests") + guest])
        found: Floats = host.distance.block(row, points)[0]
        return found

    def survivors(self, objects: bool = True) -> Survivors:
        """Return the arms that are left."""
        arms = self._arms
        left = arms.left
        rows = self._host.objects[left] if objects else self._host.objects[:0]
        moments = partial_of(arms.moments, slice(None), arms.own_changes())
        return Survivors(self._positions[left], Copies(self._rows[left], rows), moments)

    # --- a search: few arms, own references -----------------------------------------------------------------------

    def sums(self, guests: Rows, l: int, swaps: bool, pivot: tuple[int, int] | None, pairs: bool) -> Looked:
        """Return the moments of guests over the own references of a level, and what is new of the pivot.

        That are the sums of its changes and, where asked for, V and U; the pivot is a guest and its face.
        """
        state, run = self._state(swaps), self._runs[l]
        moments = Moments(len(guests), state.k if swaps else 0, self._guest_levels.kind)
        if run.stop > run.start:
            self._guest_levels.fill(l, guests)
            self._guest_levels.scan(l, guests, moments.adder(self._guest_levels, state, l))
        sums = partial_of(moments, slice(None))
        sums.removals = state.removal_sums(run)
        changes = None
        if pivot is not None:
            row = self._own_row(pivot[0], run).astype(np.float64)
            changes = state.pivot_sums(run, state.changes(row, run, pivot[1]) if len(row) else row)
        return sums, changes, self.squares(guests, pivot, [l], swaps) if pairs and pivot is not None else None

    def squares(
        self, guests: Rows, pivot: tuple[int, int], levels: list[int], swaps: bool
    ) -> tuple[Float64s, Float64s]:
        """Return V and U of guests over the own references of some levels; the pivot is a guest and its face."""
        state = self._state(swaps)
        full = [l for l in levels if self._runs[l].stop > self._runs[l].start]
        for l in full:
            self._guest_levels.fill(l, guests)
        places = guests, np.zeros(0), self._n, self._own_row
        none = np.zeros(0, dtype=bool)
        arms = ShardArms(self._guest_levels, state, Moments(len(guests), 0), none, self._threads, *places)
        return arms.squares(guests, *pivot, full)

    def _own_row(self, guest: int, points: slice) -> Floats:
        """Return the distances from a guest to a run of the own rows."""
        self._tally.add(computed=points.stop - points.start)
        return self._block(guest, points)

    def _state(self, swaps: bool) -> State:
        a = self._assignment
        return State(a.d1, a.d2, a.nearest, a.weights, len(a.medoids), swaps, tuple(a.fixed))

    # --- BanditPAM++ ----------------------------------------------------------------------------------------------

    def references_between(self, start: int, stop: int, objects: bool) -> References:
        """Return what is here of the references at some positions."""
        return self._references(self._between(start, stop), objects)

    def _between(self, start: int, stop: int) -> slice:
        run = np.searchsorted(self._positions, [start, stop])
        return slice(int(run[0]), int(run[1]))

    def begin_points(self, swaps: bool, mean: float) -> int:
        """Begin a search; return how many arms there are."""
        a = self._assignment
        allowed = self._allowed(a.medoids)
        arms = np.flatnonzero(allowed)
        # A floor, as in ``algorithms/arms.py``: of all references one is known, the point itself.
        own = np.abs(a.weights[arms] * a.d1[arms]) if a.medoids else np.zeros(len(arms))
        least = np.maximum(own * np.sqrt(max(self._n - 1, 1)) / self._n, 1e-3 * mean)
        self._points = ShardPoints(self._levels, self._host, a, self._task.k, arms, least, swaps=swaps)
        return len(arms)

    def pull(self, batch: slice, references: References) -> tuple[float, int]:
        """Look at a batch of references with the arms that are left."""
        self._take_in(references)
        found = self._points.pull(batch, references, self._threads, self._tally)
        if not np.isfinite(self._points.squares).all():
            raise ValueError(TOO_LARGE)
        return found

    def end(self, floor: float, w: float) -> float:
        """Return the lowest upper end of the intervals."""
        return self._points.end(floor, w)

    def cut(self, floor: float, w: float, end: float) -> int:
        """Drop the arms that are surely worse; return how many are left."""
        return self._points.cut(floor, w, end)

    def lowest(self) -> float:
        """Return the lowest mean of the arms that are left."""
        return float(self._points.lowest().min(initial=np.inf))

    def rows_below(self, limit: float) -> Rows:
        """Return the rows of the arms that are left and whose mean is not above a limit."""
        return self._rows[self._points.left[self._points.lowest() <= limit]]

    def points(self) -> tuple[Copies, Float64s, Float64s, Float64s]:
        """Return the arms that are left, with their sums, squares and floors."""
        p = self._points
        return Copies(self._rows[p.left], self._host.objects[p.left]), p.sums, p.squares, p.least

    def pull_guests(self, guests: Rows, batches: list[tuple[int, int]], swaps: bool) -> tuple[Float64s, Float64s]:
        """Return sums and squares of guests over the own references of some batches, one after the other."""
        a, k = self._assignment, self._task.k
        faces = k - len(a.fixed) if swaps else 1
        sums, squares = np.zeros((2, len(batches), len(guests), faces))
        rows = self._host.start("guests") + guests

        def work(number: int) -> None:
            run = self._between(*batches[number])
            if run.stop > run.start:
                block = self._host.distance.block(rows, run)
                sums[number], squares[number] = changes(block, self._references(run, False), a, k, swaps=swaps)

        self._threads.map(work, range(len(batches)), threaded=self._host.distance.threaded)
        whole = self._between(batches[0][0], batches[-1][1])
        self._tally.add(computed=len(guests) * (whole.stop - whole.start))
        return sums, squares
