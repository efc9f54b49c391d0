"""Each point's nearest candidates, sorted, so that only pairs below a price are read."""

from __future__ import annotations

import numpy as np

from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.threads import spans
from medoids.optimal.instance import Instance
from medoids.optimal.kernels import add_prefix_savings, count_below, drop_dead

__all__ = ["Prefixes"]

# Points that are sorted together: a chunk of work.
_SORTED_PER_CHUNK = 64
# Multipliers of a chunk. Each chunk has sums of its own, so that the number of threads does not change them.
_MULTIPLIERS_PER_CHUNK = 2048
# Pairs below which threads are not worth waking.
_PAIRS_PER_THREAD = 1 << 20


class Prefixes:
    """Sorted distances of the candidates that are alive.

    Attributes
    ----------
    near, number : ndarray of shape (points, length)
        Distances and candidates; the first ``count`` of each row are valid.
    count : ndarray of shape (points,)
    reach : ndarray of shape (points,)
        All candidates nearer than this are there.
    alive : ndarray of bool, shape (candidates,)

    Parameters
    ----------
    problem : Instance
    alive : ndarray of bool
    length : int
        Most candidates of a point that are kept.
    """

    def __init__(self, problem: Instance, alive: Bools, length: int) -> None:
        keep = np.flatnonzero(alive)
        n, length = problem.n_points, min(length, len(keep))
        self._problem = problem
        self.alive = alive.copy()
        self.near = np.empty((n, length), dtype=problem.by_point.dtype)
        self.number = np.empty((n, length), dtype=np.int32)
        self.count = np.full(n, length, dtype=np.int32)
        whole = length == len(keep)
        self.reach = np.full(n, np.inf)

        def work(points: slice) -> None:
            rows = problem.by_point[points]
            rows = rows if len(keep) == rows.shape[1] else rows[:, keep]
            if whole:
                order = np.argsort(rows, axis=1, kind="stable")
            else:
                part = np.sort(np.argpartition(rows, length - 1, axis=1)[:, :length], axis=1)
                order = np.take_along_axis(
                    part, np.argsort(np.take_along_axis(rows, part, axis=1), axis=1, kind="stable"), axis=1
                )
            self.near[points] = np.take_along_axis(rows, order, axis=1)
            self.number[points] = keep[order]
            if not whole:
                self.reach[points] = self.near[points, -1]
            problem.check()

        problem.spread(work, spans(n, _SORTED_PER_CHUNK))

    @staticmethod
    def bytes_needed(problem: Instance, length: int) -> int:
        return problem.n_points * length * (problem.by_point.dtype.itemsize + 4)

    @property
    def low(self) -> Float64s:
        """Distance of each point to its nearest candidate that is alive."""
        return self.near[:, 0].astype(np.float64)

    def drop(self, alive: Bools) -> None:
        """Take out candidates that are not alive any more."""
        self.alive = alive.copy()
        drop_dead(self.near, self.number, self.count, alive)
        empty = self.count == 0
        if empty.any():  # all that was near is dead: nothing is known below any price
            self.reach[empty] = -np.inf
            self.near[empty, 0] = self._problem.by_point[empty][:, alive].min(axis=1)

    def savings(self, points: Rows, levels: Float64s, shares: Float64s) -> Float64s:
        """rho_i = sum over multipliers (s, level, share) of share max(0, level - d(i, s)); 0 for the dead."""
        chunks = [
            slice(e, min(e + _MULTIPLIERS_PER_CHUNK, len(points)))
            for e in range(0, len(points), _MULTIPLIERS_PER_CHUNK)
        ]
        rho = np.zeros((len(chunks), self._problem.n_candidates))

        def work(chunk: slice) -> None:
            add_prefix_savings(
                *(self.near, self.number, self.count, self.reach, self._problem.by_point, self.alive),
                *(points, levels, shares, chunk.start, chunk.stop, rho[chunk.start // _MULTIPLIERS_PER_CHUNK]),
            )

        if self.near.size < _PAIRS_PER_THREAD:
            for chunk in chunks:
                work(chunk)
        else:
            self._problem.spread(work, chunks)
        total: Float64s = rho.sum(axis=0)
        return total

    def counts(self, chosen: Rows, prices: Float64s) -> Float64s:
        """How many of some candidates, alive ones, are nearer to each point than its price."""
        problem = self._problem
        if len(chosen) ** 2 < problem.n_candidates:  # fewer than there are candidates below a price
            below: Float64s = np.count_nonzero(problem.by_point[:, chosen] < prices[:, None], axis=1).astype(float)
            return below
        flags = np.zeros(problem.n_candidates, dtype=bool)
        flags[chosen] = True
        out = np.empty(len(prices))
        count_below(self.near, self.number, self.count, self.reach, problem.by_point, flags, prices, out)
        return out
