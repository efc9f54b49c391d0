"""The full matrix, for the algorithms that need it: half of it is computed where it is symmetric."""

from __future__ import annotations

import numpy as np

from medoids.core.assignment import TOLERANCE, Assignment, lowest
from medoids.core.problem import Problem
from medoids.distances.precomputed import Precomputed
from medoids.distances.protocol import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import spans

__all__ = ["MARGIN", "Matrix", "matrix_bytes"]

# Nanoseconds of work in one chunk (Ctrl-C waits for a chunk), and rows of a tile at most.
_CHUNK, _EDGE = 1.5e8, 512
# Share of the loss by which sums of float32 distances may mislead. Their errors are some 1e-6 each and mostly cancel
# in a sum; candidates within this margin of the best are compared exactly.
MARGIN = 2e-6


def matrix_bytes(problem: Problem) -> int:
    """Memory that the matrix takes; none where it was given."""
    if isinstance(problem.distance.inner, Precomputed):
        return 0
    return problem.n**2 * problem.distance.dtype.itemsize


class Matrix:
    """All distances of a problem.

    Attributes
    ----------
    values : ndarray of shape (n, n)
        ``values[i, s]`` is d(i, s).
    by_reference : ndarray of shape (n, n)
        The same memory, as [s, i].
    exact : bool
        Whether the values are good enough to decide.
    margin : float
        Share of the loss that separates candidates surely.
    totals : ndarray of shape (n,), or None
        The weighted sums of all distances from each point: the losses of single medoids, which cost a pass less while
        a tile of distances is at hand.
    """

    def __init__(self, problem: Problem) -> None:
        distance = problem.distance
        self._problem = problem
        self.exact = distance.exact
        self.margin = 0.0 if self.exact else MARGIN
        self.totals: Float64s | None = None
        with distance.tally.phase("matrix"):
            if isinstance(distance.inner, Precomputed):
                self.values: Floats = distance.inner.matrix
                distance.tally.add(computed=self.values.size)
            else:
                self.values = self._compute(problem)
        self.by_reference = self.values if distance.symmetric else self.values.T

    def _compute(self, problem: Problem) -> Floats:
        distance, n = problem.distance, problem.n
        values = np.empty((n, n), dtype=distance.dtype)
        distance.prepare(problem.threads)
        edge = int(np.clip(np.sqrt(_CHUNK / distance.cost), 16, _EDGE))
        if distance.threaded:
            # Square tiles that stay in a core's cache while they are computed, finished and mirrored.
            tiles = [(a, b) for a in spans(n, edge) for b in spans(n, edge) if a.start <= b.start or not self._half()]
        else:
            # Row by row from the diagonal on: no call of a slow function is made twice.
            tiles = [(a, slice(a.start if self._half() else 0, n)) for a in spans(n, 1)]

        # A pass over the matrix is nothing to dear distances, and sums of small tiles would need much memory.
        summed = distance.threaded and self._half() and values.dtype.kind == "f" and edge == _EDGE
        weights = problem.weights.astype(values.dtype) if summed else problem.weights
        # Of each tile in a row of its own, so that threads need not agree on an order.
        sums = np.zeros((-(-n // edge), n)) if summed else np.zeros((0, n))

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            block = distance.block(rows, columns)
            values[rows, columns] = block
            if self._half():
                values[columns, rows] = block.T
            if summed:
                sums[columns.start // edge, rows] = block @ weights[columns]
                sums[rows.start // edge, columns] = weights[rows] @ block

        problem.threads.map(fill, tiles, threaded=distance.threaded)
        if summed:
            self.totals = sums.sum(axis=0)
        return values

    def _half(self) -> bool:
        return self._problem.distance.symmetric

    def row(self, i: int, below: Float64s) -> Float64s:
        """Distances from i to all points: exact where they are up to the limits given."""
        values = np.asarray(self.values[i], dtype=np.float64)
        return values if self.exact else self._problem.sharpen(i, values, below)

    def best_swap(self, assignment: Assignment, estimates: Float64s) -> tuple[int, int, Float64s, int] | None:
        """Return (slot, row number, its distances, rows compared) of the best swap, or None if no swap is accepted.

        ``estimates`` are the losses that the rows lead to in their best slots, infinite for rows that are no
        candidates. What they propose is decided on exact losses; a row that is refused is not proposed again.
        """
        # Estimates above it are not worth a look: rounding is far below half the tolerance.
        limit = assignment.loss - 0.5 * TOLERANCE * assignment.magnitude
        compared = 0
        while True:
            lead = min(float(estimates.min()), limit)
            if self.exact:
                finalists = self._first_tie(assignment, estimates, limit)
            else:
                finalists = np.flatnonzero(estimates <= lead + self.margin * abs(lead))
            if len(finalists) == 0:
                return None
            # One row at a time: there may be thousands.
            after = [assignment.after_swaps(self.row(i, assignment.d2)[None]) for i in finalists.tolist()]
            losses, magnitudes = np.concatenate(after, axis=2)
            slot, at = lowest(losses, magnitudes)
            compared += len(finalists)
            if assignment.improves(losses[slot, at], magnitudes[slot, at]):
                i = int(finalists[at])
                return slot, i, self.row(i, assignment.d2), compared
            estimates[finalists] = np.inf

    def _first_tie(self, assignment: Assignment, estimates: Float64s, limit: float) -> Rows:
        """Return the lowest of the rows that tie with the best, or none if not even that one may improve."""
        best = int(estimates.argmin())
        if not estimates[best] < limit:
            return np.zeros(0, dtype=np.intp)
        row = self.row(best, assignment.d2)
        magnitude = assignment.swap_magnitudes(row)[assignment.swap_losses(row).argmin()]
        return np.flatnonzero(estimates <= estimates[best] + TOLERANCE * magnitude)[:1]

    def estimate(self, medoids: Rows, points: Rows) -> Float64s:
        """Distances as the matrix has them."""
        return np.asarray(self.values[np.ix_(medoids, points)], dtype=np.float64)
