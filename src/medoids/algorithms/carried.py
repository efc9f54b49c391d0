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
Rows = npt.NDArray[np.intp]
# Arms of a tile, at least and at most: its sums stay in cache while the references stream by. Each thread gets two.
_FEWEST, _MOST, _SHARES = 2048, 8192, 2
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
        visited = len(visit)
        if not swaps and not assignment.medoids and self._matrix.totals is not None:
            self._S[:] = self._matrix.totals
            visit = visit[:0]
        kind = np.float64 if self._matrix.exact else np.float32
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
        return visited

    def _add_base(self, references: Rows, d1: Floats, before: Floats | None, w: Floats) -> None:
        """Add references to S, or change them from what they were before."""
        R, S, n = self._R, self._S, len(self._R)
        if n <= SMALL:
            for span in self._lots(references):
                rows = R[references[span]]
                kept = np.minimum(rows, d1[span, None])
                S += w[span] @ (kept if before is None else kept - np.minimum(rows, before[span, None]))
            return
        from medoids.algorithms.kernels import add_base, change_base

        def work(arms: slice, span: slice) -> None:
            if before is None:
                add_base(R, references[span], d1[span], w[span], arms.start, arms.stop, S)
            else:
                change_base(R, references[span], before[span], d1[span], w[span], arms.start, arms.stop, S)

        self._in_tiles(len(references), work)

    def _add_both(self, references: Rows, d1: Floats, d2: Floats, slot: Rows, w: Floats) -> None:
        """Add references, sorted by slot, to S and T."""
        R, S, T, n = self._R, self._S, self._T, len(self._R)
        assert T is not None
        if n <= SMALL:
            for span in self._lots(references):
                rows = R[references[span]]
                kept = np.minimum(rows, d1[span, None])
                S += w[span] @ kept
                own = np.zeros((self._k, len(rows)))
                own[slot[span], np.arange(len(rows))] = w[span]
                T += own @ (np.minimum(rows, d2[span, None]) - kept)
            return
        from medoids.algorithms.kernels import add_both

        def work(arms: slice, span: slice) -> None:
            add_both(R, references[span], d1[span], d2[span], slot[span], w[span], arms.start, arms.stop, S, T)

        self._in_tiles(len(references), work)

    def _lots(self, references: Rows) -> list[slice]:
        return spans(len(references), max(1, (1 << 20) // len(self._R)))

    def _in_tiles(self, references: int, work: Callable[[slice, slice], None]) -> None:
        """Call ``work`` with tiles of arms in threads, for all references.

        In lots, so that one call stays short; each arm sees the references in the same order in any case.
        """

        def tile(arms: slice) -> None:
            for span in spans(references, _CHUNK // _MOST):
                work(arms, span)

        self._threads.map(tile, self._tiles())

    def _tiles(self) -> list[slice]:
        n = len(self._R)
        return spans(n, min(max(-(-n // (_SHARES * self._threads.n_jobs)), _FEWEST), _MOST))

    def best_addition(self, assignment: Assignment) -> tuple[int, int]:
        """Return the row whose addition gives the lowest loss, and how many rows had to be compared exactly."""

        def exact(i: int) -> Float64s:
            row = self._matrix.row(i, assignment.d1)
            return np.array([np.minimum(row, assignment.d1) @ assignment.weights])

        best = self._only_candidates(self._S.copy(), assignment)
        _, i, _, compared = self._decide(best, lambda i: self._S[i : i + 1], exact, np.inf)
        return i, compared

    def best_swap(self, assignment: Assignment) -> tuple[int, int, int] | None:
        """Return (slot, row, rows compared) of the swap with the lowest loss, or None if none lowers the loss."""
        limit = assignment.loss - TOLERANCE * abs(assignment.loss)

        def exact(i: int) -> Float64s:
            return assignment.swap_losses(self._matrix.row(i, assignment.d2))

        def losses(i: int) -> Float64s:
            assert self._T is not None
            column: Float64s = self._S[i] + self._T[:, i]
            column[assignment.fixed] = np.inf
            return column

        best = self._only_candidates(self._lowest_faces(assignment), assignment)
        slot, i, loss, compared = self._decide(best, losses, exact, limit)
        return (slot, i, compared) if loss < limit else None

    def best_per_slot(self, assignment: Assignment, *, but: int) -> list[tuple[int, int]]:
        """Return for each slot but one the (slot, row) of its best swap by these sums, the most promising first."""
        assert self._T is not None
        losses: Float64s = self._only_candidates(self._S + self._T, assignment)
        losses[assignment.fixed] = np.inf
        rows = losses.argmin(axis=1)
        best = losses[np.arange(self._k), rows]
        order = [j for j in np.argsort(best, kind="stable").tolist() if j != but and best[j] < assignment.loss]
        return [(j, int(rows[j])) for j in order]

    def _lowest_faces(self, assignment: Assignment) -> Float64s:
        """Return the lowest loss that each row makes in the place of some medoid."""
        S, T = self._S, self._T
        assert T is not None
        slots = np.setdiff1d(np.arange(self._k), assignment.fixed)
        if len(S) <= SMALL:
            lowest_T: Float64s = T[slots].min(axis=0, initial=np.inf)
            return S + lowest_T
        from medoids.algorithms.kernels import lowest_sums

        best = np.full(len(S), np.inf)
        self._threads.map(lambda arms: lowest_sums(S, T, slots, arms.start, arms.stop, best), self._tiles())
        return best

    def _only_candidates(self, losses: Float64s, assignment: Assignment) -> Float64s:
        """Make the losses of rows that cannot become medoids infinite."""
        losses[..., ~self._allowed] = np.inf
        losses[..., assignment.medoids] = np.inf
        return losses

    def _decide(
        self, best: Float64s, losses: Callable[[int], Float64s], exact: Callable[[int], Float64s], limit: float
    ) -> tuple[int, int, float, int]:
        """Pick the row with the lowest loss, and its slot; where losses are estimates, compare those near it exactly.

        ``best`` is the lowest loss of each row, ``losses`` gives those of all slots.
        """
        lead = min(float(best.min()), limit)
        margin = TOLERANCE if self._matrix.exact else self._matrix.margin
        close = lead + margin * abs(lead)
        finalists = np.flatnonzero(best <= close)
        if len(finalists) == 0:
            return 0, 0, np.inf, 0
        if self._matrix.exact:
            finalists = finalists[:1]  # they tie
            exact = losses
        elif len(finalists) == 1 and close < limit and np.count_nonzero(losses(int(finalists[0])) <= close) == 1:
            exact = losses  # nothing to compare it with: estimates are enough
        judged = np.array([exact(i) for i in finalists.tolist()]).T
        slot, place = lowest(judged)
        return slot, int(finalists[place]), float(judged[slot, place]), len(finalists)
