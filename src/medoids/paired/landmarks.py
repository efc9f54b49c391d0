"""Which distances cannot matter, by the triangle inequality.

A swap changes the loss of a reference only if the new medoid is nearer than its second nearest one, an addition only if
it is nearer than its nearest. From distances to a few landmarks, |d(i, l) - d(s, l)| <= d(i, s), we know for most pairs
that it is not, without computing d(i, s); and for all arms of a tile at once, if they are near each other. On covertype
a quarter of all pairs was left, with sixteen landmarks; the medoids, as more landmarks, would have told little more.
In high dimensions, where all distances are alike, it tells nothing, and costs little.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.distances import Dissimilarity, Floats, Index
from medoids.distances.protocol import numbers_of
from medoids.engine import LANES
from medoids.engine.arrays import Rows
from medoids.engine.threads import Threads, spans

__all__ = ["Landmarks"]

# Points that are sorted by one landmark, when neighbours are put next to each other.
_LEAF = 512
# Cuts before the parts are sorted in threads.
_CUTS = 3
# Points of a chunk.
_POINTS = 8192
# Share of a distance by which rounding may change a difference of two.
_NOISE = 1e-5


class Landmarks:
    """Distances from all points to the first of them, whose numbers are random: as many as make a vector.

    Parameters
    ----------
    distance : Dissimilarity
        Symmetric, and the triangle inequality holds.
    threads : Threads
    """

    def __init__(self, distance: Dissimilarity, threads: Threads) -> None:
        n, count = distance.n, min(LANES, distance.n)
        self.computed = n * count
        self._table = np.zeros((n, LANES), dtype=distance.dtype)

        def work(points: slice) -> None:
            self._table[points, :count] = distance.block(slice(0, count), points).T

        threads.map(work, spans(n, _POINTS), threaded=distance.threaded)
        self._noise = _NOISE * float(self._table.max())
        self._rank = np.empty(n, dtype=np.int32)
        self._rank[_neighbours(self._table, threads)] = np.arange(n)

    def together(self, points: Rows) -> Rows:
        """Return an order of some points in which neighbours are mostly next to each other."""
        return np.argsort(self._rank[points])

    def within(self, arms: Rows, references: Index, limit: npt.NDArray[np.float64]) -> Rows:
        """Return which of some references may be nearer than a limit, for each its own, to some of the arms."""
        from medoids.paired.lane_kernels import within_reach

        numbers = numbers_of(references, len(self._table))
        found = np.empty(len(numbers), dtype=np.intp)
        limit = (limit + self._noise).astype(self._table.dtype)
        return found[: within_reach(self._table, arms, numbers, limit, found)]


def _neighbours(table: Floats, threads: Threads) -> Rows:
    """Cut points in two at the median of the landmark in which they differ most, again and again."""
    columns = np.ascontiguousarray(table.T)

    def halves(points: Rows) -> list[Rows]:
        if len(points) < 2:  # of fewer points than there are parts
            return [points]
        widest = int(np.argmax(np.ptp(table[points[:: len(points) // _LEAF + 1]], axis=0)))
        column, half = columns[widest].take(points), len(points) // 2
        order = np.argsort(column, kind="stable") if len(points) <= _LEAF else np.argpartition(column, half)
        return [points[order[:half]], points[order[half:]]]

    def sort(part: int) -> None:
        leaves, rest = [], [parts[part]]
        while rest:
            points = rest.pop()
            if len(points) <= _LEAF:
                leaves += halves(points)
            else:
                rest += reversed(halves(points))
        parts[part] = np.concatenate(leaves)

    parts = [np.arange(len(table))]
    for _ in range(_CUTS):
        parts = [half for points in parts for half in halves(points)]
    threads.map(sort, range(len(parts)))
    return np.concatenate(parts)
