"""The members of a group with the lowest sums of distances to all members: the medoid, and the next ones.

Members are looked at in batches, and those whose sum cannot be the lowest are never computed. Two bounds show that:

- those of the distance, if it has some that are cheaper than distances (`Searchable.least_sums`);
- the triangle inequality, where it holds: |S_j - W d(i, j)| <= S_i for each member j whose sum S_j is known (Newling
  and Fleuret 2017), with W the sum of the weights.

Where neither helps, all distances inside of the group are computed, in blocks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from medoids.core.assignment import lowest
from medoids.distances import Counted, Dissimilarity, Tally
from medoids.engine.arrays import Bools, Float64s, Floats, Rows
from medoids.engine.budget import CHUNK_ENTRIES, CHUNK_NS, MEMBERS_PER_BATCH, SILHOUETTE_ENTRIES
from medoids.engine.threads import Threads, spans

__all__ = ["LowestSums"]

# Share of a sum by which one of `block` may differ from that of `exact_block`, or in float64 from another order of
# summation: members within it of the best are compared exactly.
_SLACK = {True: 1e-9, False: 1e-3}


class LowestSums:
    """The search for the members of a group with the lowest sums of distances to all of them.

    Parameters
    ----------
    distance : Dissimilarity
        Of all rows.
    members : ndarray
        Rows of the group.
    weights : ndarray
        Of the members, all positive.
    threads : Threads
    tally : Tally
    """

    def __init__(
        self, distance: Dissimilarity, members: Rows, weights: Float64s, threads: Threads, tally: Tally
    ) -> None:
        # A copy of vectors has the centre of the cluster as its origin, and so more digits.
        part = distance.take(members) if distance.copy_bytes() else distance.reordered(members)
        self._least = part.least_sums(weights)
        self._part, self._whole = Counted(part, tally), Counted(distance, tally)
        self._members, self._weights, self._threads = members, weights, threads
        self.total = float(weights.sum())

    def find(self, n: int, allowed: Bools) -> tuple[Rows, Float64s]:
        """Return up to n positions among the members, and their sums."""
        m, slack = len(self._members), _SLACK[self._part.exact]
        n = min(n, int(np.count_nonzero(allowed)))
        least = np.where(allowed, -np.inf if self._least is None else self._least, np.inf)
        sums, sizes, best = np.full(m, np.inf), np.zeros(m), np.inf
        # The first batch is the most promising. After that, a random order suits the triangle inequality best.
        order, first = np.argsort(least, kind="stable")[: np.count_nonzero(allowed)], _batch(m, 0)
        order[first:] = np.random.default_rng(0).permutation(order[first:])
        bounding, step = self._part.triangle and self._part.symmetric, 0
        while len(order):
            batch, order = order[: _batch(m, step)], order[_batch(m, step) :]
            block = np.empty((len(batch), m), self._part.dtype) if bounding else None
            sums[batch], sizes[batch] = self._sum(self._part.block, batch, block)
            known = np.flatnonzero(np.isfinite(sums))
            if len(known) >= n:
                last = known[np.argpartition(sums[known], n - 1)[n - 1]]
                best = sums[last] + slack * sizes[last]
            if block is not None:
                self._tighten(least, block, sums[batch])
            left = order[least[order] <= best]
            # Where it rules out fewer members than it costs, as in many dimensions, the inequality is not asked again.
            bounding = bounding and (step < 2 or len(order) - len(left) >= len(batch))
            order, step = left, step + 1
        finalists = np.flatnonzero(sums <= best)
        if not self._part.exact:
            sums[finalists], sizes[finalists] = self._sum(self._exact_block, finalists)
        return _ranked(finalists, n, sums, sizes)

    def _exact_block(self, rows: Rows, columns: slice) -> Float64s:
        return self._whole.exact_block(self._members[rows], self._members[columns])

    def _sum(
        self, block: Callable[[Rows, slice], Floats], members: Rows, out: Floats | None = None
    ) -> tuple[Float64s, Float64s]:
        """Return the sums of the distances of some members, and of their absolute values; all distances go to out."""
        sums, sizes = np.zeros(len(members)), np.zeros(len(members))
        m, width = len(self._members), max(1, int(min(SILHOUETTE_ENTRIES, CHUNK_NS / self._part.cost)))

        def work(chunk: slice) -> None:
            for columns in spans(m, width):
                self._threads.interrupts.check()
                distances, weights = block(members[chunk], columns), self._weights[columns]
                sum_ = distances @ weights
                sums[chunk] += sum_
                sizes[chunk] += np.abs(distances) @ weights if distances.min() < 0 else sum_
                if out is not None:
                    out[chunk, columns] = distances

        self._part.prepare(self._threads)
        self._threads.map(work, spans(len(members), max(1, width // m)), threaded=self._part.threaded)
        return sums, sizes

    def _tighten(self, least: Float64s, block: Floats, sums: Float64s) -> None:
        """Raise the bounds of all members by the triangle inequality with some of them."""

        def work(columns: slice) -> None:
            bound = np.abs(sums[:, None] - self.total * block[:, columns]).max(axis=0)
            np.maximum(least[columns], bound, out=least[columns])

        self._threads.map(work, spans(block.shape[1], max(1, CHUNK_ENTRIES // len(block))))


def _batch(m: int, step: int) -> int:
    """Return the number of members of a batch: few at first, so that bounds rule out many early."""
    return max(1, min(MEMBERS_PER_BATCH << min(step, 4), SILHOUETTE_ENTRIES // m))


def _ranked(finalists: Rows, n: int, sums: Float64s, sizes: Float64s) -> tuple[Rows, Float64s]:
    """Return the n members with the lowest sums; the lowest row first among those that tie."""
    chosen, losses = [], sums[finalists]
    for _ in range(n):
        at = lowest(losses[None], sizes[finalists][None])[1]
        chosen.append(finalists[at])
        losses[at] = np.inf
    return np.array(chosen), sums[chosen]
