"""Carried sums: the losses of all additions and swaps, kept up to date instead of computed anew.

For a candidate i and the state (d1, d2, nearest) of the references, with weights w,

    S_i  = sum_s w_s min(d(i, s), d1_s)                                     loss if i is added (Eq. 4 of the paper)
    T_ji = sum_{s nearest to j} w_s (min(d(i, s), d2_s) - min(d(i, s), d1_s))
    S_i + T_ji                                                              loss if i replaces j (Theorem 1)

A step changes the state of few references: of about 1/l of them when BUILD adds the l-th medoid, of about 3/k in a
swap. Only those are subtracted with their old state and added with their new one, so that BUILD costs about ln k passes
over the matrix instead of k, and a swap a fraction of one. float64 sums of thousands of such updates stay far within
`TOLERANCE`; where the matrix is float32 they are estimates, and what they cannot tell apart is compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from medoids.algorithms.matrix import Matrix
from medoids.assignment import TOLERANCE, Assignment, lowest
from medoids.distances import SMALL, Floats
from medoids.engine.threads import Threads, spans

__all__ = ["CarriedSums"]

Float64s = npt.NDArray[np.float64]
# Arms of a tile: the sums of a tile stay in cache while the references stream by.
_TILE = 2048
# Entries of the matrix that one chunk reads; small enough for Ctrl-C.
_CHUNK = 1 << 27


class CarriedSums:
    """Losses of every addition and every swap for the state that was last given to `follow`.

    Parameters
    ----------
    matrix : Matrix
    allowed : ndarray of bool, shape (n,)
        Rows that may be medoids.
    k : int
    threads : Threads
    """

    def __init__(self, matrix: Matrix, allowed: npt.NDArray[np.bool_], k: int, threads: Threads) -> None:
        self._matrix, self._threads = matrix, threads
        self._allowed, self._k = allowed, k
        self._R = matrix.by_reference
        n = len(self._R)
        self._S = np.zeros(n)
        self._T: Float64s | None = None
        self._empty = True
        self._d1, self._d2 = np.full(n, np.inf), np.full(n, np.inf)
        self._nearest = np.full(n, -1, dtype=np.intp)

    def follow(self, assignment: Assignment, *, swaps: bool) -> int:
        """Bring the sums to a state; return how many references had to be visited."""
        changed = assignment.d1 != self._d1
        if swaps:
            changed |= (assignment.d2 != self._d2) | (assignment.nearest != self._nearest)
        fresh = self._empty or (swaps and self._T is None) or 2 * np.count_nonzero(changed) > len(changed)
        if fresh:
            self._S[:] = 0
            self._T = np.zeros((self._k, len(changed))) if swaps else None
            visit = np.flatnonzero(assignment.weights > 0)
            old = visit[:0]
        else:
            visit = old = np.flatnonzero(changed & (assignment.weights > 0))
        slot = np.concatenate([assignment.nearest[visit], self._nearest[old]])
        # By slot, so that runs of one slot are summed together; in BUILD any order will do.
        order = np.argsort(slot, kind="stable")
        references = np.concatenate([visit, old])[order]
        kind = np.float64 if self._matrix.exact else np.float32
        d1 = np.concatenate([assignment.d1[visit], self._d1[old]])[order].astype(kind)
        w = np.concatenate([assignment.weights[visit], -assignment.weights[old]])[order].astype(kind)
        if swaps:
            d2 = np.concatenate([assignment.d2[visit], self._d2[old]])[order].astype(kind)
            self._add(references, w, d1, d2, slot[order])
        else:
            self._add(references, w, d1, None, None)
        self._empty = False
        self._d1, self._d2 = assignment.d1.copy(), assignment.d2.copy()
        self._nearest = assignment.nearest.copy()
        return len(visit)

    def _add(
        self,
        references: npt.NDArray[np.intp],
        w: Floats,
        d1: Floats,
        d2: Floats | None,
        slot: npt.NDArray[np.intp] | None,
    ) -> None:
        R, S, T, n = self._R, self._S, self._T, len(self._R)
        if n <= SMALL:
            for span in spans(len(references), max(1, (1 << 20) // n)):
                rows = R[references[span]]
                kept = np.minimum(rows, d1[span, None])
                S += w[span] @ kept
                if d2 is not None and slot is not None and T is not None:
                    own = np.zeros((self._k, len(rows)))
                    own[slot[span], np.arange(len(rows))] = w[span]
                    T += own @ (np.minimum(rows, d2[span, None]) - kept)
            return
        from medoids.algorithms.kernels import add_base, add_both

        def work(arms: slice) -> None:
            # In lots, so that one call stays short; each arm sees the references in the same order in any case.
            for span in spans(len(references), _CHUNK // _TILE):
                part = references[span], d1[span]
                if d2 is not None and slot is not None:
                    add_both(R, *part, d2[span], slot[span], w[span], arms.start, arms.stop, S, T)
                else:
                    add_base(R, *part, w[span], arms.start, arms.stop, S)

        self._threads.map(work, spans(n, _TILE))

    def best_addition(self, assignment: Assignment) -> tuple[int, int]:
        """Return the row whose addition gives the lowest loss, and how many rows had to be compared exactly."""
        losses = np.where(self._allowed, self._S, np.inf)
        losses[assignment.medoids] = np.inf

        def exact(i: int) -> Float64s:
            row = self._matrix.row(i, assignment.d1)
            return np.array([np.minimum(row, assignment.d1) @ assignment.weights])

        _, i, _, compared = self._decide(losses[None], exact, np.inf)
        return i, compared

    def best_swap(self, assignment: Assignment) -> tuple[int, int, int] | None:
        """Return (slot, row, rows compared) of the swap with the lowest loss, or None if none lowers the loss."""
        limit = assignment.loss - TOLERANCE * abs(assignment.loss)

        def exact(i: int) -> Float64s:
            return assignment.swap_losses(self._matrix.row(i, assignment.d2))

        slot, i, loss, compared = self._decide(self._swap_losses(assignment), exact, limit)
        return (slot, i, compared) if loss < limit else None

    def best_per_slot(self, assignment: Assignment, *, but: int) -> list[tuple[int, int]]:
        """Return for each slot but one the (slot, row) of its best swap by these sums, the most promising first."""
        losses = self._swap_losses(assignment)
        rows = losses.argmin(axis=1)
        best = losses[np.arange(self._k), rows]
        order = [j for j in np.argsort(best, kind="stable").tolist() if j != but and best[j] < assignment.loss]
        return [(j, int(rows[j])) for j in order]

    def _swap_losses(self, assignment: Assignment) -> Float64s:
        assert self._T is not None
        losses: Float64s = self._S + self._T
        losses[:, ~self._allowed] = np.inf
        losses[:, assignment.medoids] = np.inf
        losses[assignment.fixed] = np.inf
        return losses

    def _decide(self, losses: Float64s, exact: Callable[[int], Float64s], limit: float) -> tuple[int, int, float, int]:
        """Pick the lowest of (slots, n) losses; where they are estimates, compare those near the lowest exactly."""
        if self._matrix.exact:
            slot, i = lowest(losses)
            return slot, i, float(losses[slot, i]), 1
        best = losses.min(axis=0)
        lead = min(float(best.min()), limit)
        finalists = np.flatnonzero(best <= lead + self._matrix.margin * abs(lead))
        if len(finalists) == 0:
            return 0, 0, np.inf, 0
        judged = np.array([exact(i) for i in finalists.tolist()]).T
        slot, place = lowest(judged)
        return slot, int(finalists[place]), float(judged[slot, place]), len(finalists)
