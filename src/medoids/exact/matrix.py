"""The full matrix, for the algorithms that need it: half of it is computed where it is symmetric."""

from __future__ import annotations

import numpy as np

from medoids.core.assignment import TOLERANCE, Assignment, EstimatedRows, Lookup, lowest
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.distances import Budgeted, Floats
from medoids.distances.precomputed import Precomputed
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import CHUNK_NS, TILE_EDGE
from medoids.engine.threads import spans

__all__ = ["MARGIN", "ExactRows", "Matrix", "MatrixRows", "matrix_bytes", "matrix_evaluations"]

Tile = tuple[slice, slice]

# Share of the loss by which sums of float32 distances may mislead. Their errors are some 1e-6 each and mostly cancel
# in a sum; candidates within this margin of the best are compared exactly.
MARGIN = 2e-6


def matrix_bytes(problem: Problem, *, exact: bool = False) -> int:
    """Return the memory that the matrix takes, in float64 if ``exact``; 0 if it was given."""
    return 0 if _given(problem) is not None else problem.n**2 * (8 if exact else problem.distance.dtype.itemsize)


def matrix_evaluations(problem: Problem) -> int:
    """Return the number of distances that the matrix takes, or that are read if it was given."""
    if _given(problem) is not None:
        return problem.n**2
    return sum((rows.stop - rows.start) * (columns.stop - columns.start) for rows, columns in _tiles(problem))


def _given(problem: Problem) -> Floats | None:
    """Return the matrix that the user passed, if that is what the distances are."""
    distance = problem.distance.inner if isinstance(problem.distance, Budgeted) else problem.distance
    return distance.matrix if isinstance(distance, Precomputed) else None


def _tiles(problem: Problem) -> list[Tile]:
    """Return the blocks of the matrix that are computed; the others are their mirror images."""
    distance, n, half = problem.distance, problem.n, problem.distance.symmetric
    if not distance.threaded:
        # Row by row from the diagonal on: no call of a slow function is made twice.
        return [(a, slice(a.start if half else 0, n)) for a in spans(n, 1)]
    # Square tiles that stay in a core's cache while they are computed, finished and mirrored.
    edge = int(np.clip(np.sqrt(CHUNK_NS / distance.cost), 16, TILE_EDGE))
    return [(a, b) for a in spans(n, edge) for b in spans(n, edge) if a.start <= b.start or not half]


class Matrix:
    """All distances of a problem.

    Parameters
    ----------
    problem : Problem
    run : Run
    exact : bool
        Compute them in float64 from the original data, whatever blocks are.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n)
        ``values[i, s]`` is d(i, s).
    by_reference : ndarray of shape (n, n_rows)
        The same memory, as [s, i].
    exact : bool
        Whether the values are good enough to decide.
    margin : float
        Share of the loss that surely separates candidates.
    """

    def __init__(self, problem: Problem, run: Run, *, exact: bool = False) -> None:
        distance = run.distance
        self.exact = exact or distance.exact
        self.margin = 0.0 if self.exact else MARGIN
        with run.phase("matrix"):
            if (given := _given(problem)) is not None:
                run.allowance.claim(given.size)
                run.tally.add(computed=given.size)
            self.values: Floats = self._compute(problem, run) if given is None else given
        self.by_reference = self.values if distance.symmetric else self.values.T

    def _compute(self, problem: Problem, run: Run) -> Floats:
        distance, n, half = run.distance, problem.n, problem.distance.symmetric
        sharp = self.exact and not distance.exact
        compute = distance.exact_block if sharp else distance.block
        values = np.empty((n, n), dtype=np.float64 if sharp else distance.dtype)
        distance.prepare(run.threads)
        run.tally.plan(matrix_evaluations(problem))

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            block = compute(rows, columns)
            values[rows, columns] = block
            if half:
                values[columns, rows] = block.T

        run.threads.map(fill, _tiles(problem), threaded=distance.threaded)
        return values


class ExactRows(RowSource):
    """Rows of distances, on which estimates of losses are decided.

    Attributes
    ----------
    exact : bool
        Whether the estimates are good enough to decide.
    margin : float
        Share of the loss that surely separates candidates.
    """

    exact, margin = False, MARGIN

    def best_swap(self, assignment: Assignment, estimates: Float64s) -> tuple[int, int, Float64s, int] | None:
        """Return (slot, row number, its distances, rows compared) of the best swap, or None if no swap is accepted.

        ``estimates`` are the losses that the rows lead to in their best slots, infinite for rows that are not
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


class MatrixRows(ExactRows):
    """Rows of the matrix, which is computed once for all starts of a run; exact where that matters."""

    def __init__(
        self, problem: Problem, run: Run, known: dict[int, Float64s] | None = None, *, exact: bool = False
    ) -> None:
        super().__init__(problem, run, known)
        self.matrix = run.shared(Matrix, lambda: Matrix(problem, run, exact=exact))
        self.exact, self.margin = self.matrix.exact, self.matrix.margin

    def row(self, i: int, below: Float64s) -> Float64s:
        values = np.asarray(self.matrix.values[i], dtype=np.float64)
        return values if self.matrix.exact else self.sharpen(i, values, below)

    def add_all(self, assignment: Assignment, medoids: Rows) -> None:
        for i in medoids.tolist():
            self.add(assignment, i)

    def block(self, rows: Rows, points: Rows) -> Float64s:
        return self._estimate(rows, points) if self.matrix.exact else super().block(rows, points)

    def lookup(self) -> Lookup:
        return super().lookup() if self.matrix.exact else EstimatedRows(self.measure, self._estimate)

    def _estimate(self, medoids: Rows, points: Rows) -> Float64s:
        return np.asarray(self.matrix.values[np.ix_(medoids, points)], dtype=np.float64)
