"""Distances that PairedPAM has computed, kept by level for the arms that reached it.

References are numbered by the permutation, and a level is a run of them. Level 0 is computed for every arm; a later one
only for those that are still in question there, and these are mostly the same from step to step.

Within ``memory_limit`` nothing is ever computed twice. What does not fit is computed for the moment and forgotten: the
same numbers at the price of more distances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from medoids.distances import Dissimilarity, Floats, Tally
from medoids.engine.threads import Threads, spans

__all__ = ["Level", "Levels", "Piece", "rounds"]

Rows = npt.NDArray[np.intp]
# Arms of a tile: a tile of a level is computed and finished in a core's cache.
_TILE = 512


def rounds(n: int, first: int) -> list[slice]:
    """Cut ``range(n)`` into levels: a first one, growth by a quarter up to four times it, then by doubling.

    >>> rounds(6000, 512)[:4]
    [slice(0, 512, None), slice(512, 640, None), slice(640, 800, None), slice(800, 1000, None)]
    """
    ends = [min(first, n)]
    while ends[-1] < n:
        ends.append(min(n, ends[-1] * 5 // 4 if ends[-1] < 4 * first else 2 * ends[-1]))
    # A last level of a few references is not worth a round of its own.
    if len(ends) > 1 and n - ends[-2] < ends[-2] // 4:
        del ends[-2]
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@dataclass
class Piece:
    """Distances of a level for the arms at ``at``: arm ``at[a]``'s are ``values[rows[a]]``."""

    values: Floats
    rows: Rows
    at: Rows


@dataclass
class Level:
    """One run of references, and the distances from arms to them that are stored."""

    span: slice
    row: Rows  # of each arm in ``values``, -1 where it is not stored
    values: Floats
    used: int = 0


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
    """

    def __init__(
        self, distance: Dissimilarity, spans: list[slice], memory_limit: int, threads: Threads, tally: Tally
    ) -> None:
        self.n = distance.n
        self._distance, self._threads, self._tally = distance, threads, tally
        self._budget = memory_limit
        self._bytes = 0
        self.levels = [
            Level(span, np.full(self.n, -1, dtype=np.intp), np.empty((0, span.stop - span.start), distance.dtype))
            for span in spans
        ]
        distance.prepare()

    def __getitem__(self, l: int) -> Level:
        return self.levels[l]

    def __len__(self) -> int:
        return len(self.levels)

    def fill(self, l: int, arms: Rows) -> None:
        """Compute and store what is missing of a level for some arms, as far as memory allows."""
        level = self.levels[l]
        missing = arms[level.row[arms] < 0]
        width = level.span.stop - level.span.start
        known = len(arms) - len(missing)
        missing = missing[: self._reserve(level, len(missing))]
        self._tally.add(cached=known * width, computed=len(missing) * width)
        if len(missing) == 0:
            return
        start = level.used
        whole = len(missing) == self.n  # then in order, and slices do

        def work(lot: slice) -> None:
            rows = lot if whole else missing[lot]
            level.values[start + lot.start : start + lot.stop] = self._distance.block(rows, level.span)

        self._threads.map(work, spans(len(missing), self._tile(width)), threaded=self._distance.threaded)
        level.row[missing] = np.arange(start, start + len(missing))
        level.used += len(missing)

    def _tile(self, width: int) -> int:
        """Arms of a tile, so that a tile stays in a core's cache and Ctrl-C need not wait for it."""
        return int(max(1, min(_TILE, (1 << 18) // width, 1.5e8 / (self._distance.cost * width))))

    def _reserve(self, level: Level, more: int) -> int:
        """Make room for more arms; return for how many there is room."""
        width = level.span.stop - level.span.start
        size = self._distance.dtype.itemsize * width
        have = len(level.values)
        need = level.used + more
        if need > have:
            # Generously, so that copies are rare: memory that is never touched costs nothing but the budget, of which
            # no single level takes more than a quarter beyond its need.
            free = self._budget - self._bytes
            want = min(self.n, max(need, 2 * have, min(4 * need, have + free // 4 // size)))
            want = min(want, have + free // size)
            if want > have:
                values = np.empty((want, width), dtype=self._distance.dtype)
                values[: level.used] = level.values[: level.used]
                self._bytes += (want - have) * size
                level.values = values
        return int(min(more, len(level.values) - level.used))

    def pieces(self, l: int, arms: Rows) -> Iterator[Piece]:
        """Distances of a level for these arms: stored ones, then what there was no room for, computed again."""
        level = self.levels[l]
        rows = level.row[arms]
        stored = np.flatnonzero(rows >= 0)
        if len(stored):
            yield Piece(level.values, rows[stored], stored)
        forgotten = np.flatnonzero(rows < 0)
        width = level.span.stop - level.span.start
        for lot in spans(len(forgotten), max(1, (1 << 22) // width)):
            at = forgotten[lot]
            values = np.empty((len(at), width), dtype=self._distance.dtype)
            these = arms[at]

            def work(part: slice, values: Floats = values, these: Rows = these) -> None:
                values[part] = self._distance.block(these[part], level.span)

            self._threads.map(work, spans(len(at), self._tile(width)), threaded=self._distance.threaded)
            self._tally.add(computed=values.size)
            yield Piece(values, np.arange(len(at)), at)

    def row(self, l: int, arm: int) -> npt.NDArray[np.float64]:
        """Distances from one arm to the references of a level."""
        piece = next(self.pieces(l, np.array([arm])))
        row: npt.NDArray[np.float64] = piece.values[piece.rows[0]].astype(np.float64)
        return row
