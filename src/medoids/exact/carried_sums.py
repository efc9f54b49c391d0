"""Carried sums: the losses of all additions and swaps, kept up to date instead of computed anew.

For a candidate i and the state (d1, d2, nearest) of the references, with weights w,

    S_i  = sum_s w_s min(d(i, s), d1_s)                                     loss if i is added (Eq. 4 of the paper)
    T_ji = sum_{s nearest to j} w_s (min(d(i, s), d2_s) - min(d(i, s), d1_s))
    S_i + T_ji                                                              loss if i replaces j (Theorem 1)

A step changes the state of few references: of about 1/l of them when BUILD adds the l-th medoid, of about 3/k in a
swap. Only those are subtracted with their old state and added with their new one, so that BUILD costs about ln k passes
over the matrix instead of k, and a swap a fraction of one. float64 sums of thousands of such updates stay far within
`TOLERANCE`, unless the loss falls far below what was once summed; then they are made anew. They are estimates all the
same, of float32 distances above all: what they propose is decided on exact losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from medoids.core.assignment import TOLERANCE, Assignment, lowest
from medoids.distances import SMALL, Floats
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.budget import MATRIX_ENTRIES, SUM_TILE
from medoids.engine.threads import Threads, spans
from medoids.exact.matrix import ExactRows, MatrixRows

__all__ = ["CarriedSums", "MatrixSums"]

# Sums are computed again when the loss has fallen by this factor: what was subtracted since leaves rounding errors of
# its own size behind, and in float32 a sixteenth of `Matrix.margin` is what a run of 32 terms may be wrong by.
_STALE_FALL = 16
# Sums are also computed again at every step if distances to the second nearest medoids are this many times larger than
# the loss: adding and subtracting them leaves errors of their own size, which must stay below `TOLERANCE`.
_EXTREME_REACH = 1e4


class CarriedSums(ABC):
    """Losses of every addition and every swap for the state that was last given to `follow`.

    Parameters
    ----------
    rows : ExactRows
    allowed : ndarray of bool, shape (n_rows,)
        Rows that may be medoids.
    k : int
    threads : Threads
    """

    def __init__(self, rows: ExactRows, allowed: Bools, k: int, threads: Threads) -> None:
        self._rows, self._threads = rows, threads
        self._allowed, self._k = allowed, k
        n, n_rows = rows.problem.n, len(allowed)
        self._S = np.zeros(n_rows)
        self._T: Float64s | None = None
        self._empty, self._peak, self._reach = True, 0.0, 0.0
        self._d1, self._d2 = np.full(n, np.inf), np.full(n, np.inf)
        self._nearest = np.full(n, -1, dtype=np.intp)

    def follow(self, assignment: Assignment, *, swaps: bool) -> int:
        """Update the sums to a state; return the number of references that had to be visited."""
        changed = assignment.d1 != self._d1
        if swaps:
            changed |= (assignment.d2 != self._d2) | (assignment.nearest != self._nearest)
        stale = self._peak > _STALE_FALL * assignment.magnitude or 2 * np.count_nonzero(changed) > len(changed)
        fresh = stale or self._empty or (swaps and self._T is None)
        reach = float(assignment.weights @ np.abs(np.where(np.isfinite(assignment.d2), assignment.d2, 0)))
        fresh = fresh or max(reach, self._reach) > _EXTREME_REACH * assignment.magnitude
        self._reach = reach if fresh else max(reach, self._reach)
        self._peak = max(0.0 if fresh else self._peak, assignment.magnitude if assignment.medoids else 0.0)
        if fresh:
            self._S[:] = 0
            self._T = np.zeros((self._k, len(self._S))) if swaps else None
            visit = np.flatnonzero(assignment.weights > 0)
            old = visit[:0]
        else:
            visit = old = np.flatnonzero(changed & (assignment.weights > 0))
        kind = np.float64 if self._rows.exact else np.float32
        d1, before, w = (x.astype(kind) for x in (assignment.d1[visit], self._d1[old], assignment.weights[visit]))
        if swaps:
            slot = np.concatenate([assignment.nearest[visit], self._nearest[old]])
            d2 = np.concatenate([assignment.d2[visit], self._d2[old]]).astype(kind)
            # By slot, so that runs of one slot are summed together.
            order = np.argsort(slot, kind="stable")
            d1, w = np.concatenate([d1, before]), np.concatenate([w, -1 * w[: len(old)]])
            self._add_both(np.concatenate([visit, old])[order], d1[order], d2[order], slot[order], w[order])
        else:
            self._add_base(visit, d1, None if fresh else before, w)
        self._empty = False
        self._d1, self._d2 = assignment.d1.copy(), assignment.d2.copy()
        self._nearest = assignment.nearest.copy()
        return len(visit)

    @abstractmethod
    def _add_base(self, references: Rows, d1: Floats, before: Floats | None, w: Floats) -> None:
        """Add references to S, or change them from what they were before."""

    @abstractmethod
    def _add_both(self, references: Rows, d1: Floats, d2: Floats, slot: Rows, w: Floats) -> None:
        """Add references, sorted by slot, to S and T."""

    def best_addition(self, assignment: Assignment) -> tuple[int, int]:
        """Return the row whose addition gives the lowest loss, and how many rows had to be compared exactly."""
        estimates = self._only_candidates(self._S.copy(), assignment)
        best = int(estimates.argmin())

        def exact(i: int) -> tuple[Float64s, Float64s]:
            return assignment.after_additions(self._rows.row(i, assignment.d1)[None])

        if self._rows.exact:
            close = estimates[best] + TOLERANCE * exact(best)[1].item()
            return int(np.argmax(estimates <= close)), 1
        finalists = np.flatnonzero(estimates <= estimates[best] * (1 + self._rows.margin))
        if len(finalists) == 1:
            return best, 1  # nothing to compare it with
        losses, magnitudes = np.concatenate([exact(i) for i in finalists.tolist()], axis=2)
        return int(finalists[lowest(losses, magnitudes)[1]]), len(finalists)

    def best_swap(self, assignment: Assignment) -> tuple[int, int, Float64s, int] | None:
        """Return (slot, row number, its distances, rows compared) of the best swap, or None if none is accepted."""
        assert self._T is not None
        # The lowest loss that each row makes in the place of some medoid.
        slots = np.setdiff1d(np.arange(self._k), assignment.fixed)
        losses = self._S + self._T[slots].min(axis=0, initial=np.inf)
        return self._rows.best_swap(assignment, self._only_candidates(losses, assignment))

    def swap_losses(self, assignment: Assignment) -> Float64s:
        """Return the losses of all swaps, as (slots, rows), by these sums; infinite where there is none."""
        assert self._T is not None
        losses: Float64s = self._only_candidates(self._S + self._T, assignment)
        losses[assignment.fixed] = np.inf
        return losses

    def best_per_slot(self, assignment: Assignment, *, but: int) -> list[tuple[int, int]]:
        """Return for each slot but one the (slot, row) of its best swap by these sums, the most promising first."""
        losses = self.swap_losses(assignment)
        rows = losses.argmin(axis=1)
        best = losses[np.arange(self._k), rows]
        order = [j for j in np.argsort(best, kind="stable").tolist() if j != but and best[j] < assignment.loss]
        return [(j, int(rows[j])) for j in order]

    def _only_candidates(self, losses: Float64s, assignment: Assignment) -> Float64s:
        """Make the losses of rows that cannot become medoids infinite."""
        losses[..., ~self._allowed] = np.inf
        losses[..., assignment.medoids] = np.inf
        return losses


class MatrixSums(CarriedSums):
    """Carried sums over a matrix."""

    def __init__(self, rows: MatrixRows, allowed: Bools, k: int, threads: Threads) -> None:
        super().__init__(rows, allowed, k, threads)
        self._R = rows.matrix.by_reference

    def _add_base(self, references: Rows, d1: Floats, before: Floats | None, w: Floats) -> None:
        R, S = self._R, self._S
        if max(R.shape) <= SMALL:
            for span in self._lots(references):
                rows = R[references[span]]
                kept = np.minimum(rows, d1[span, None])
                S += w[span] @ (kept if before is None else kept - np.minimum(rows, before[span, None]))
            return
        from medoids.exact.kernels import add_base, change_base

        def work(arms: slice, span: slice) -> None:
            if before is None:
                add_base(R, references[span], d1[span], w[span], arms.start, arms.stop, S)
            else:
                change_base(R, references[span], before[span], d1[span], w[span], arms.start, arms.stop, S)

        self._in_tiles(len(references), work)

    def _add_both(self, references: Rows, d1: Floats, d2: Floats, slot: Rows, w: Floats) -> None:
        R, S, T = self._R, self._S, self._T
        assert T is not None
        if max(R.shape) <= SMALL:
            for span in self._lots(references):
                rows = R[references[span]]
                kept = np.minimum(rows, d1[span, None])
                S += w[span] @ kept
                own = np.zeros((self._k, len(rows)))
                own[slot[span], np.arange(len(rows))] = w[span]
                T += own @ (np.minimum(rows, d2[span, None]) - kept)
            return
        from medoids.exact.kernels import add_both

        def work(arms: slice, span: slice) -> None:
            add_both(R, references[span], d1[span], d2[span], slot[span], w[span], arms.start, arms.stop, S, T)

        self._in_tiles(len(references), work)

    def _lots(self, references: Rows) -> list[slice]:
        return spans(len(references), max(1, (1 << 20) // len(self._S)))

    def _in_tiles(self, references: int, work: Callable[[slice, slice], None]) -> None:
        """Call ``work`` with tiles of arms in threads, for all references.

        In chunks, so that one call stays short; each arm sees the references in the same order in any case.
        """

        def tile(arms: slice) -> None:
            for span in spans(references, MATRIX_ENTRIES // SUM_TILE[1]):
                work(arms, span)

        n = len(self._S)
        least, most, tiles = SUM_TILE
        self._threads.map(tile, spans(n, min(max(-(-n // (tiles * self._threads.n_jobs)), least), most)))
