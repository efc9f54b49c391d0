"""Distances that PairedPAM has computed, kept by level for the arms that reached it.

References are numbered by the permutation, and a level is a run of them. Level 0 is computed for every arm; a later one
only for those that are still in question there, and these are mostly the same from step to step. All is stored by
reference, ``values[s, column]``, so that a loop over arms runs along memory.

Within ``memory_limit`` nothing is ever computed twice. What does not fit is computed for the moment and forgotten: the
same numbers at the price of more distances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
    """Distances of a level for some arms: ``values[s, a]`` belongs to ``arms[at][a]``."""

    values: Floats
    at: slice | Rows


@dataclass
class Level:
    """One run of references."""

    span: slice
    column: Rows  # of each arm in ``values``, -1 where it is not stored
    values: Floats
    used: int = 0
    scratch: list[Floats] = field(default_factory=list)


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
        empty = np.empty((0, 0), dtype=distance.dtype)
        self.levels = [Level(span, np.full(self.n, -1, dtype=np.intp), empty) for span in spans]
        distance.prepare()

    def __getitem__(self, l: int) -> Level:
        return self.levels[l]

    def __len__(self) -> int:
        return len(self.levels)

    def fill(self, l: int, arms: Rows) -> None:
        """Compute and store what is missing of a level for some arms, as far as memory allows."""
        level = self.levels[l]
        missing = arms[level.column[arms] < 0]
        known = len(arms) - len(missing)
        width = level.span.stop - level.span.start
        room = self._reserve(level, len(missing))
        missing = missing[:room]
        self._tally.add(cached=known * width, computed=len(missing) * width)
        if len(missing) == 0:
            return
        start = level.used
        whole = len(missing) == self.n

        def work(lot: slice) -> None:
            rows = lot if whole else missing[lot]
            level.values[:, start + lot.start : start + lot.stop] = self._block(rows, level.span)

        self._threads.map(work, spans(len(missing), _TILE), threaded=self._distance.threaded)
        level.column[missing] = np.arange(start, start + len(missing))
        level.used += len(missing)

    def _block(self, arms: slice | Rows, references: slice) -> Floats:
        """Distances by reference, d(arm, reference) at [reference, arm]."""
        if self._distance.symmetric:
            return self._distance.block(references, arms)
        return self._distance.block(arms, references).T

    def _reserve(self, level: Level, more: int) -> int:
        """Make room for more arms; return for how many there is room."""
        width = level.span.stop - level.span.start
        size = self._distance.dtype.itemsize * width
        have = level.values.shape[1]
        need = level.used + more
        if need <= have:
            return more
        # Doubling makes the copies rare; the budget counts what is allocated, the copy in passing included.
        want = min(self.n, max(need, 2 * have, _TILE))
        free = (self._budget - self._bytes) // size + have
        if want > free:
            want = free if free >= need or free > have + _TILE else have
        if want > have:
            values = np.empty((width, want), dtype=self._distance.dtype)
            values[:, : level.used] = level.values[:, : level.used]
            self._bytes += (want - have) * size
            level.values = values
        return min(more, level.values.shape[1] - level.used)

    def pieces(self, l: int, arms: Rows) -> Iterator[Piece]:
        """Distances of a level for these arms: stored ones, then what there was no room for, computed again."""
        level = self.levels[l]
        columns = level.column[arms]
        if level.used == self.n == len(arms) and columns[0] == 0 and columns[-1] == self.n - 1:
            yield Piece(level.values[:, : self.n], slice(0, self.n))
            return
        stored = np.flatnonzero(columns >= 0)
        width = level.span.stop - level.span.start
        lot = max(_TILE, (1 << 23) // width)
        for span in spans(len(stored), lot):
            at = stored[span]
            yield Piece(self._gather(level.values, columns[at]), at)
        forgotten = np.flatnonzero(columns < 0)
        for span in spans(len(forgotten), lot):
            at = forgotten[span]
            values = np.empty((width, len(at)), dtype=self._distance.dtype)
            rows = arms[at]

            def work(part: slice, values: Floats = values, rows: Rows = rows) -> None:
                values[:, part] = self._block(rows[part], level.span)

            self._threads.map(work, spans(len(at), _TILE), threaded=self._distance.threaded)
            self._tally.add(computed=values.size)
            yield Piece(values, at)

    def _gather(self, values: Floats, columns: Rows) -> Floats:
        out = np.empty((len(values), len(columns)), dtype=values.dtype)

        def work(rows: slice) -> None:
            np.take(values[rows], columns, axis=1, out=out[rows])

        self._threads.map(work, spans(len(values), max(1, (1 << 18) // max(1, len(columns)))))
        return out
