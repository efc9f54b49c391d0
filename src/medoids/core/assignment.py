"""Which medoid is nearest to each point, which second nearest: exact, in float64, updated rather than rebuilt.

When a medoid leaves, the points that it was nearest or second nearest to, about 3/k of all, look at all others again.
They do so in the table of distances from every medoid to every point; or, where k x n of them are too many to keep, by
measuring them anew, as many as three medoids have; or, where estimates are at hand, by measuring only those that these
cannot tell from the nearest two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import spans

__all__ = ["DOUBT", "TOLERANCE", "Assignment", "lowest"]

# Points that are looked at together, so that what is needed beside the state stays small.
_LOT = 1 << 16
# Share of a distance by which an estimate in float32 may be wrong, and more: metrics sum near pairs in float64.
DOUBT = 1 / 256

# Losses that differ by less than this share of the magnitude of what is summed, the sum of w |d|, tie, and a swap must
# gain more than it. The magnitude is the loss itself unless distances are negative; then terms cancel, and rounding
# errors are a share of the terms, not of what is left of them.
TOLERANCE = 1e-10


def lowest(losses: Float64s, magnitudes: Float64s) -> tuple[int, int]:
    """Position of the smallest entry of a (slots, candidates) array; ties go to the lowest candidate, then slot.

    >>> losses = np.array([[3.0, 1.0, 2.0], [3.0, 5.0, 1.0]])
    >>> lowest(losses, losses)
    (0, 1)
    """
    best = np.unravel_index(losses.argmin(), losses.shape)
    tied = losses <= losses[best] + TOLERANCE * magnitudes[best]
    i = int(np.argmax(tied.any(axis=0)))
    return int(np.argmax(tied[:, i])), i


class Assignment:
    """The state of a k-medoids search.

    Attributes
    ----------
    medoids : list of int
        Row numbers; the position in the list is the medoid's slot.
    table : ndarray of shape (slots, n) or None
        Exact distances from each medoid to each point, where they are kept.
    nearest, second : ndarray of shape (n,)
        Slots, the lowest nearest one where several tie; -1 where there is none.
    d1, d2 : ndarray of shape (n,)
        Distances to them; infinite where there is none.
    loss : float
        Weighted sum of ``d1``.
    magnitude : float
        Weighted sum of its absolute values.
    fixed : list of int
        Slots of the frozen medoids, which no swap takes out.

    Parameters
    ----------
    weights : ndarray of shape (n,)
    k : int
    frozen : collection of int
        Rows.
    measure : callable, optional
        ``measure(medoids, points)`` returns exact distances; the table is not kept then.
    estimate : callable, optional
        ``estimate(medoids, points)`` returns distances to within `DOUBT`, so that few have to be measured.
    """

    def __init__(
        self,
        weights: Float64s,
        k: int,
        frozen: Collection[int] = (),
        measure: Callable[[Rows, Rows], Float64s] | None = None,
        estimate: Callable[[Rows, Rows], Float64s] | None = None,
    ) -> None:
        n = len(weights)
        self.weights = weights
        self.medoids: list[int] = []
        self.table = np.empty((k, n)) if measure is None else None
        self._measure, self._estimate = measure, estimate
        self.nearest = np.full(n, -1, dtype=np.intp)
        self.second = np.full(n, -1, dtype=np.intp)
        self.d1 = np.full(n, np.inf)
        self.d2 = np.full(n, np.inf)
        self.loss = self.magnitude = np.inf
        self.fixed: list[int] = []
        self._frozen = frozenset(frozen)

    def add(self, i: int, distances: Float64s) -> None:
        """Make row ``i`` the next medoid, given its distances to all points, which count up to d2."""
        slot = len(self.medoids)
        self.medoids.append(i)
        if i in self._frozen:
            self.fixed.append(slot)
        if self.table is not None:
            self.table[slot] = distances
        self._enter(slot, distances, np.ones(len(distances), dtype=bool))
        self._sum_up()

    def swap(self, slot: int, i: int, distances: Float64s) -> None:
        """Put row ``i`` in the place of the medoid in ``slot``; distances above d2 need not be exact.

        (Unless the table is kept.)
        """
        self.medoids[slot] = i
        if self.table is not None:
            self.table[slot] = distances
        hit = (self.nearest == slot) | (self.second == slot)
        self._enter(slot, distances, ~hit)
        points = np.flatnonzero(hit)
        for lot in spans(len(points), _LOT):
            self._rescan(points[lot], slot, distances)
        self._sum_up()

    def _sum_up(self) -> None:
        self.loss = self.magnitude = float(self.weights @ self.d1)
        if self.d1.min(initial=0) < 0:
            self.magnitude = float(self.weights @ np.abs(self.d1))

    def improves(self, loss: float, magnitude: float) -> bool:
        """Whether a state with this loss and magnitude is better than this one: the one rule for accepting a swap."""
        return bool(loss < self.loss - TOLERANCE * max(self.magnitude, magnitude))

    def _enter(self, slot: int, distances: Float64s, where: npt.NDArray[np.bool_]) -> None:
        for lot in spans(len(distances), _LOT):
            d, d1, d2 = distances[lot], self.d1[lot], self.d2[lot]
            nearest, second = self.nearest[lot], self.second[lot]
            first = where[lot] & ((d < d1) | ((d == d1) & (slot < nearest)))
            other = where[lot] & ~first & (d < d2)
            second[first], d2[first] = nearest[first], d1[first]
            nearest[first], d1[first] = slot, d[first]
            second[other], d2[other] = slot, d[other]

    def _rescan(self, points: Rows, slot: int, distances: Float64s) -> None:
        """Find the nearest two of some points anew, after a swap."""
        table = self._look_up(points, slot, distances)
        column = np.arange(len(points))
        self.nearest[points] = first = table.argmin(axis=0)
        self.d1[points] = table[first, column]
        if len(table) > 1:
            table[first, column] = np.inf
            self.second[points] = other = table.argmin(axis=0)
            self.d2[points] = table[other, column]

    def _look_up(self, points: Rows, slot: int, distances: Float64s) -> Float64s:
        """Return the distances from all medoids to some points, of which each point's lowest two are exact."""
        medoids = np.array(self.medoids)
        if self.table is not None:
            return self.table[: len(medoids), points]
        assert self._measure is not None
        if self._estimate is None:
            return self._measure(medoids, points)
        table = self._estimate(medoids, points)
        known = self._recall(points, slot, distances, table)
        if len(medoids) > 1:
            doubtful = ~known & (table <= (1 + DOUBT) * np.partition(table, 1, axis=0)[1])
        else:
            doubtful = ~known
        for other in np.flatnonzero(doubtful.any(axis=1)).tolist():
            at = np.flatnonzero(doubtful[other])
            table[other, at] = self._measure(medoids[other : other + 1], points[at])[0]
        return table

    def _recall(self, points: Rows, slot: int, distances: Float64s, table: Float64s) -> npt.NDArray[np.bool_]:
        """Put in what is known exactly after a swap of a slot: of the new medoid, and of the two nearest before."""
        known = np.zeros(table.shape, dtype=bool)
        d1, d2 = self.d1[points], self.d2[points]
        entered = distances[points] <= d2
        for slots, d, sure in (
            (np.full(len(points), slot), distances[points], entered),
            (self.nearest[points], d1, self.nearest[points] != slot),
            (self.second[points], d2, (self.second[points] != slot) & (self.second[points] >= 0)),
        ):
            at = np.flatnonzero(sure)
            table[slots[at], at] = d[at]
            known[slots[at], at] = True
        return known

    def settle(self) -> None:
        """Let go of the estimates, and of all that these know, when no swap is to follow."""
        self._estimate = None

    def between(self) -> Float64s:
        """Distances among the medoids."""
        medoids = np.array(self.medoids)
        if self._measure is not None:
            return self._measure(medoids, medoids)
        assert self.table is not None
        return self.table[: len(medoids), medoids]

    def swap_losses(self, distances: Float64s) -> Float64s:
        """Losses after putting a candidate with these distances into each slot: O(n) for all k (Theorem 1).

        Distances above d2 need not be exact.
        """
        losses = self._by_slot(np.minimum(distances, self.d1), np.minimum(distances, self.d2))
        losses[self.fixed] = np.inf
        return losses

    def swap_magnitudes(self, distances: Float64s) -> Float64s:
        """Magnitudes of the states whose losses `swap_losses` returns."""
        return self._by_slot(np.abs(np.minimum(distances, self.d1)), np.abs(np.minimum(distances, self.d2)))

    def _by_slot(self, kept: Float64s, left: Float64s) -> Float64s:
        """Sum what each point pays if its own medoid is kept; for each slot, if that slot's medoid has left."""
        own = np.bincount(self.nearest, self.weights * (left - kept), minlength=len(self.medoids))
        sums: Float64s = self.weights @ kept + own
        return sums

    def after_swaps(self, rows: Float64s) -> tuple[Float64s, Float64s]:
        """Losses and magnitudes, both of shape (slots, candidates), after a swap with each of some candidates."""
        losses = np.array([self.swap_losses(row) for row in rows]).T
        return losses, np.array([self.swap_magnitudes(row) for row in rows]).T

    def after_additions(self, rows: Float64s) -> tuple[Float64s, Float64s]:
        """Losses and magnitudes, both of shape (1, candidates), after each of some candidates is added."""
        near = np.minimum(rows, self.d1)
        return (near @ self.weights)[None], (np.abs(near) @ self.weights)[None]

    def labels(self) -> Rows:
        """Nearest slot of each point, the lowest where several tie; a medoid goes to its own cluster if that ties."""
        labels = self.nearest.copy()
        slots = np.arange(len(self.medoids))
        ties = self.between().diagonal() <= self.d1[self.medoids]
        labels[np.asarray(self.medoids)[ties]] = slots[ties]
        return labels
