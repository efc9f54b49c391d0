"""Distances that PairedPAM has computed, kept by level for the arms that reached it.

References are numbered by the permutation, and a level is a run of them. Level 0 is computed for every arm; a later one
only for those that are still in question there, and these are mostly the same from step to step.

Within ``memory_limit`` nothing is ever computed twice. What does not fit is computed for the moment and forgotten
(``tiles.py``): the same numbers at the price of more distances, only for the references that are asked for. What is
stored of arms that a search does not ask for makes room for those that it does.

Distances in float32 are stored ``coarse``: in 16 bits, as whole numbers of a step that is 1/65,000 of the largest
distance there can be. Twice as many fit, half as much is read, and the rounding, of mean 0 and the same for d1 and d2
beside them, is nothing to the spread of a sample as long as distances that matter are many steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.distances import Dissimilarity, Floats, Tally
from medoids.engine import LANES
from medoids.engine.arrays import Rows
from medoids.engine.threads import Threads, spans
from medoids.paired.lanes import Level, Work, scan_stored
from medoids.paired.tiles import Tiles

__all__ = ["EVEN", "FAST", "SLOW", "Levels", "rounds"]

# How references grow from level to level: slowly for few distances; fast for few passes over what is stored; and evenly
# where much of it is not stored but computed again, so that both count.
SLOW, EVEN, FAST = (1.25, 1.5), (1.5, 1.5), (1.5, 2.0)
# Arms that are looked up at a time, for the sake of memory.
_LOT = 1 << 18
# A level has room for all arms from the start if so many of its size would fit.
_SMALL = 8
# Where memory is full, others are forgotten for those asked for if these are not so large a share already.
_STALE = 0.75
# Steps of the largest distance there can be: 16 bits hold some more, should rounding make it larger.
_STEPS = 65_000
# A distance that matters is at least so many of them.
_FINE = 256
# References of a chunk when one arm meets all, chunks after which pages of a file are given back, and bytes to keep.
_POINTS, _STRETCH, _WHOLE = 8192, 32, 1 << 25


def rounds(n: int, first: int, growth: tuple[float, float] = SLOW) -> list[slice]:
    """Cut ``range(n)`` into levels: a first one, and by ``growth`` more, up to four times it and from there on.

    >>> rounds(6000, 512)[:4]
    [slice(0, 512, None), slice(512, 640, None), slice(640, 800, None), slice(800, 1000, None)]
    >>> rounds(6000, 512, FAST)[2:5]
    [slice(768, 1152, None), slice(1152, 1728, None), slice(1728, 2592, None)]
    """
    ends = [min(first, n)]
    while ends[-1] < n:
        ends.append(min(n, int(ends[-1] * growth[ends[-1] >= 4 * first])))
    # A last level of a few references is not worth a round of its own.
    if len(ends) > 1 and n - ends[-2] < ends[-2] // 4:
        del ends[-2]
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


class Levels:
    """The levels of a fit.

    Parameters
    ----------
    distance : Dissimilarity
        Numbered by the permutation.
    spans : list of slice
    memory_limit : int
    threads : Threads
    tally : Tally
    coarse : bool
        Whether to store them so, if a bound on all distances is known.
    missing : float or None
        Share of distances to compute that prices assume, whatever is stored; None to look.

    Attributes
    ----------
    step : float
        The unit of stored distances: 1 if they are not coarse.
    kind : dtype
        Of sums over them.
    everyone : ndarray
        All arms.
    keeps_first : bool
        Whether there is room for the first level of all arms. If not, none of it is stored.
    """

    def __init__(
        self,
        distance: Dissimilarity,
        spans: list[slice],
        memory_limit: int,
        threads: Threads,
        tally: Tally,
        *,
        coarse: bool = False,
        missing: float | None = None,
    ) -> None:
        self.n = distance.n
        self._distance, self._threads, self._tally = distance, threads, tally
        self._budget, self._missing = memory_limit, missing
        self._bytes = 0
        self.everyone: Rows = np.arange(self.n)
        distance.prepare(threads)
        self.kind = np.dtype(np.float32 if distance.dtype == np.float32 else np.float64)
        most = distance.most() if coarse else np.inf
        self.step = most / _STEPS if np.isfinite(most) else 1.0
        self._dtype = distance.dtype if self.step == 1.0 else np.dtype(np.uint16)
        self.keeps_first = self.n * (spans[0].stop - spans[0].start) * self._dtype.itemsize <= memory_limit
        self.levels = [
            Level(
                span,
                None,
                np.empty((0, span.stop - span.start, LANES), self._dtype),
            )
            for span in spans
        ]
        self._tiles = Tiles(distance, self.step, self._dtype, threads, tally)
        self._whole: dict[int, Floats] = {}  # the last one used is the last
        self._spare = [np.empty(0, self._dtype), np.empty(0, self._dtype)]

    def __getitem__(self, l: int) -> Level:
        return self.levels[l]

    def __len__(self) -> int:
        return len(self.levels)

    def fill(self, l: int, arms: Rows, *, only: bool = False) -> None:
        """Compute and store what is missing of a level for some arms, as far as memory allows.

        ``only`` if others may be forgotten to make room: these are what a search asks for now, and so will the next.
        """
        level = self.levels[l]
        if l == 0 and not self.keeps_first:
            return  # later levels, of which a search reads all and not only what has changed, gain more from the room
        if level.stored == self.n:
            self._tally.add(cached=len(arms) * level.width)
            return
        missing = arms if level.place is None else arms[level.place[arms] < 0]
        known = len(arms) - len(missing)
        self._reserve(level, len(missing))
        if only and level.room < len(missing) and known < _STALE * level.stored:
            self._bytes -= level.values.nbytes
            level.keep(arms, len(missing), self._threads)
            self._bytes += level.values.nbytes
            self._reserve(level, len(missing))
        missing = missing[: level.room]
        self._tally.add(cached=known * level.width, computed=len(missing) * level.width)
        if len(missing):
            places = level.take(len(missing))
            self._tiles.fill(level, missing, places)
            if level.place is None:
                level.place = np.full(self.n, -1, dtype=np.int32)
            level.place[missing] = places

    def too_coarse(self, typical: float) -> bool:
        """Tell whether a typical distance is only a few of the steps in which distances are stored."""
        return self.step != 1.0 and not self.step * _FINE < typical

    def holds(self, l: int, arms: Rows) -> bool:
        """Tell whether the distances of a level are stored for these arms."""
        place = self.levels[l].place
        return place is not None and bool((place[arms] >= 0).all())

    def price(self, l: int, arms: Rows) -> float:
        """Return the nanoseconds, for each of some arms, of looking at a level: of distances that are not stored, and
        two for the sums over each.
        """
        level = self.levels[l]
        missing = self._missing
        if missing is None:
            missing = 1.0 if level.place is None else float(np.mean(level.place[arms] < 0))
        return float((level.span.stop - level.span.start) * (missing * self._distance.cost + 2))

    def _reserve(self, level: Level, more: int) -> None:
        """Make room for more arms, as far as memory allows."""
        size = self._dtype.itemsize * LANES * level.width
        have, most, need = len(level.values), -(-self.n // LANES), level.groups_for(more)
        if need > have:
            free = self._budget - self._bytes
            # For all arms at once, if that is little: what is never written needs no memory.
            want = most if have == 0 and _SMALL * most * size <= free else min(need, have + free // size)
            if want > have:
                level.resize(want)
                self._bytes += (want - have) * size

    def scan(
        self,
        l: int,
        arms: Rows,
        work: Work,
        references: Rows | None = None,
        limit: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Call ``work`` with the distances of a level for these arms, in tiles; no two threads get the same arm.

        Parameters
        ----------
        references : ndarray, optional
            Of the level; all by default.
        limit : ndarray, optional
            Of each reference: how long distances are from there on does not matter, and may be anything above.
        """
        for lot in spans(len(arms), _LOT):
            self._scan_lot(l, arms, lot, work, references, limit)
            self._distance.release()

    def _scan_lot(
        self,
        l: int,
        arms: Rows,
        lot: slice,
        work: Work,
        references: Rows | None,
        limit: npt.NDArray[np.float64] | None,
    ) -> None:
        level = self.levels[l]
        if level.place is None:
            forgotten = np.arange(lot.start, lot.stop)
        else:
            of = level.values, level.place, arms[lot], lot.start
            columns = None if references is None else references - level.span.start
            forgotten = scan_stored(*of, columns, self._threads, work)
        if len(forgotten):
            index, width = (level.span, level.width) if references is None else (references, len(references))
            self._tiles.scan(arms, forgotten, index, limit, width, work)

    def spare(self, size: int) -> Floats:
        """Return a buffer that stays as it is until the next but one is asked for.

        A new array of megabytes costs the system more (it hands out pages of zeros) than it takes to fill it.
        """
        self._spare.reverse()
        if len(self._spare[0]) < size:
            self._spare[0] = np.empty(size, self._dtype)
        return self._spare[0][:size]

    def row(self, l: int, arm: int) -> npt.NDArray[np.float64]:
        """Distances from one arm to the references of a level, not rounded to steps."""
        row: npt.NDArray[np.float64] = self.rows(l, np.array([arm]))[0].astype(np.float64)
        return row

    def whole(self, arm: int) -> Floats:
        """Distances from one arm to all references; those of the last few arms are kept."""
        row = self._whole.pop(arm, None)
        if row is None:
            row = np.empty(self.levels[-1].span.stop, self._distance.dtype)
            if self._distance.exact:
                self._recall(arm, row)
            else:
                self._compute_whole(arm, row)
            while self._whole and (len(self._whole) + 1) * row.nbytes > _WHOLE:
                del self._whole[next(iter(self._whole))]
        self._whole[arm] = row
        return row

    def _recall(self, arm: int, row: Floats) -> None:
        """Fill a row with what is stored, and store what is not: exact distances may be dear."""
        for l, level in enumerate(self.levels):
            self.fill(l, np.array([arm]))
            row[level.span] = self.row(l, arm)

    def _compute_whole(self, arm: int, row: Floats) -> None:
        def work(references: slice) -> None:
            row[references] = self._distance.block(np.array([arm]), references)[0]

        chunks = spans(len(row), _POINTS)
        for stretch in spans(len(chunks), _STRETCH):
            self._threads.map(work, chunks[stretch], threaded=self._distance.threaded)
            self._distance.release()
        self._tally.add(computed=len(row))

    def rows(self, l: int, arms: Rows) -> Floats:
        """Distances from some arms to the references of a level, not rounded to steps, in one thread."""
        level = self.levels[l]
        place = level.places(arms) if self.step == 1.0 else np.full(len(arms), -1)
        rows = np.empty((len(arms), level.span.stop - level.span.start), self._distance.dtype)
        stored, forgotten = np.flatnonzero(place >= 0), np.flatnonzero(place < 0)
        rows[stored] = level.values[place[stored] // LANES, :, place[stored] % LANES]
        if len(forgotten):
            rows[forgotten] = self._tiles.block(arms[forgotten], level.span).T
            self._tally.add(computed=rows[forgotten].size)
        return rows
