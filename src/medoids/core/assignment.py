"""Which medoid is nearest to each point, which second nearest: exact, in float64, updated rather than rebuilt.

When a medoid leaves, the points that it was nearest or second nearest to, about 3/k of all, are compared with all
medoids again. A `Lookup` has these distances: it keeps all k x n of them; or, where that is too much memory, measures
them again; or, where estimates are available, measures only those that the estimates cannot tell from the nearest two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import numpy as np

from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.budget import POINTS_PER_UPDATE
from medoids.engine.threads import spans

__all__ = [
    "DOUBT",
    "TOLERANCE",
    "Assignment",
    "EstimatedRows",
    "KeptRows",
    "Lookup",
    "MeasuredRows",
    "lowest",
]

Measure = Callable[[Rows, Rows], Float64s]

# Upper limit on the relative error of an estimate in float32: far above it, since metrics sum near pairs in float64.
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


class KeptRows:
    """Exact distances from each medoid to each point, kept in a (k, n) table."""

    def __init__(self, k: int, n: int) -> None:
        self.table = np.empty((k, n))

    def enter(self, slot: int, points: slice, distances: Float64s) -> None:
        """Note the distances from the medoid that has entered a slot to some points."""
        self.table[slot, points] = distances

    def find(self, state: Assignment, points: Rows, slot: int, distances: Float64s) -> Float64s:
        """Return (slots, points) distances, of which each point's lowest two are exact.

        ``slot`` has just been taken by a medoid with these distances to all points.
        """
        return self.table[: len(state.medoids), points]

    def between(self, medoids: Rows) -> Float64s:
        """Return the distances among the medoids."""
        return self.table[: len(medoids), medoids]


class MeasuredRows:
    """Exact distances, measured again whenever they are needed."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure

    def enter(self, slot: int, points: slice, distances: Float64s) -> None:
        """Keep nothing."""

    def find(self, state: Assignment, points: Rows, slot: int, distances: Float64s) -> Float64s:
        return self._measure(np.array(state.medoids), points)

    def between(self, medoids: Rows) -> Float64s:
        return self._measure(medoids, medoids)


class EstimatedRows(MeasuredRows):
    """Estimates to within `DOUBT`, of which few have to be measured."""

    def __init__(self, measure: Measure, estimate: Measure) -> None:
        super().__init__(measure)
        self._estimate = estimate

    def find(self, state: Assignment, points: Rows, slot: int, distances: Float64s) -> Float64s:
        medoids = np.array(state.medoids)
        table = self._estimate(medoids, points)
        doubtful = ~self._recall(state, points, slot, distances, table)
        if len(medoids) > 1:
            doubtful &= table <= (1 + DOUBT) * np.partition(table, 1, axis=0)[1]
        for other in np.flatnonzero(doubtful.any(axis=1)).tolist():
            at = np.flatnonzero(doubtful[other])
            table[other, at] = self._measure(medoids[other : other + 1], points[at])[0]
        return table

    def _recall(self, state: Assignment, points: Rows, slot: int, distances: Float64s, table: Float64s) -> Bools:
        """Fill in what is known exactly after a swap: the new medoid's distances, and those of the two nearest before.

        Return which entries these are.
        """
        known = np.zeros(table.shape, dtype=bool)
        nearest, second, d1, d2 = (array[points] for array in (state.nearest, state.second, state.d1, state.d2))
        for slots, d, sure in (
            (np.full(len(points), slot), distances[points], distances[points] <= d2),
            (nearest, d1, nearest != slot),
            (second, d2, (second != slot) & (second >= 0)),
        ):
            at = np.flatnonzero(sure)
            table[slots[at], at] = d[at]
            known[slots[at], at] = True
        return known


# What finds distances from the medoids of an assignment.
Lookup = KeptRows | MeasuredRows


class Assignment:
    """The state of a k-medoids search.

    Attributes
    ----------
    medoids : list of int
        Row numbers; the position in the list is the medoid's slot.
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
    lookup : Lookup
    frozen : collection of int
        Rows that stay medoids.
    tol : float
        Share of the loss by which a swap must lower it.
    members : bool
        Whether medoids are points themselves, and not the rows of a rectangular matrix.
    """

    def __init__(
        self,
        weights: Float64s,
        lookup: Lookup,
        frozen: Collection[int] = (),
        *,
        tol: float = 0.0,
        members: bool = True,
    ) -> None:
        n = len(weights)
        self.members = members
        self.weights, self.lookup, self._tol = weights, lookup, tol
        self.medoids: list[int] = []
        self.nearest = np.full(n, -1, dtype=np.intp)
        self.second = np.full(n, -1, dtype=np.intp)
        self.d1 = np.full(n, np.inf)
        self.d2 = np.full(n, np.inf)
        self.loss = self.magnitude = np.inf
        self.fixed: list[int] = []
        self._frozen = frozenset(frozen)

    def add(self, i: int, distances: Float64s) -> None:
        """Make row ``i`` the next medoid, given its distances to all points, which count up to d2."""
        slot = self.open_slot(i)
        for chunk in spans(len(distances), POINTS_PER_UPDATE):
            self.enter(slot, chunk, distances[chunk])
        self.sum_up()

    def open_slot(self, i: int) -> int:
        """Give row ``i`` the next slot, and return it; `enter` for all points and `sum_up` must follow."""
        slot = len(self.medoids)
        self.medoids.append(i)
        if i in self._frozen:
            self.fixed.append(slot)
        return slot

    def swap(self, slot: int, i: int, distances: Float64s) -> None:
        """Replace the medoid in ``slot`` by row ``i``; distances above d2 need not be exact unless rows are kept."""
        self.medoids[slot] = i
        hit = (self.nearest == slot) | (self.second == slot)
        for chunk in spans(len(distances), POINTS_PER_UPDATE):
            self.enter(slot, chunk, distances[chunk], ~hit[chunk])
        points = np.flatnonzero(hit)
        for chunk in spans(len(points), POINTS_PER_UPDATE):
            self._rescan(points[chunk], slot, distances)
        self.sum_up()

    def sum_up(self) -> None:
        """Set the loss and the magnitude from the distances to the nearest medoids."""
        self.loss = self.magnitude = float(self.weights @ self.d1)
        if self.d1.min(initial=0) < 0:
            self.magnitude = float(self.weights @ np.abs(self.d1))

    def improves(self, loss: float, magnitude: float) -> bool:
        """Whether a state with this loss and magnitude is better than this one: the one rule for accepting a swap."""
        least = max(TOLERANCE * max(self.magnitude, magnitude), self._tol * abs(self.loss))
        return bool(loss < self.loss - least)

    def swap_improves(self, slot: int, distances: Float64s) -> bool:
        """Whether replacing the medoid in ``slot`` by a candidate with these distances is accepted."""
        return self.improves(self.swap_losses(distances)[slot], self.swap_magnitudes(distances)[slot])

    def enter(self, slot: int, points: slice, d: Float64s, where: Bools | Literal[True] = True) -> None:
        """Compare a medoid with the two nearest of some points, or of those among them that a mask selects."""
        self.lookup.enter(slot, points, d)
        d1, d2, nearest, second = self.d1[points], self.d2[points], self.nearest[points], self.second[points]
        at = np.flatnonzero(where & (d <= d2))  # few: about 2/k of the points
        new, near = d[at], d1[at]
        first = (new < near) | ((new == near) & (slot < nearest[at]))
        other = at[~first & (new < d2[at])]
        first = at[first]
        second[first], d2[first] = nearest[first], d1[first]
        nearest[first], d1[first] = slot, d[first]
        second[other], d2[other] = slot, d[other]

    def _rescan(self, points: Rows, slot: int, distances: Float64s) -> None:
        """Find the nearest two of some points anew, after a swap."""
        table = self.lookup.find(self, points, slot, distances)
        column = np.arange(len(points))
        self.nearest[points] = first = table.argmin(axis=0)
        self.d1[points] = table[first, column]
        if len(table) > 1:
            table[first, column] = np.inf
            self.second[points] = other = table.argmin(axis=0)
            self.d2[points] = table[other, column]

    def swap_losses(self, distances: Float64s) -> Float64s:
        """Losses after putting a candidate with these distances into each slot: O(n) for all k (Theorem 1).

        Distances above d2 need not be exact.
        """
        losses = self._by_slot(distances)
        losses[self.fixed] = np.inf
        return losses

    def swap_magnitudes(self, distances: Float64s) -> Float64s:
        """Magnitudes of the states whose losses `swap_losses` returns."""
        return self._by_slot(distances, magnitudes=True)

    def _by_slot(self, distances: Float64s, *, magnitudes: bool = False) -> Float64s:
        """Sum what each point pays if its own medoid is kept; for each slot, if that slot's medoid has left.

        In chunks: a temporary array of 1,000,000 numbers is new memory each time, which takes longer than the sums.
        """
        sums = np.zeros(len(self.medoids))
        for chunk in spans(len(distances), POINTS_PER_UPDATE):
            d, weights = distances[chunk], self.weights[chunk]
            kept, left = np.minimum(d, self.d1[chunk]), np.minimum(d, self.d2[chunk])
            if magnitudes:
                kept, left = np.abs(kept), np.abs(left)
            own = np.bincount(self.nearest[chunk], weights * (left - kept), minlength=len(sums))
            sums += weights @ kept + own
        return sums

    def after_swaps(self, rows: Float64s) -> tuple[Float64s, Float64s]:
        """Losses and magnitudes, both of shape (slots, candidates), after a swap with each of some candidates."""
        losses = np.array([self.swap_losses(row) for row in rows]).T
        if min(rows.min(initial=0), self.d1.min(initial=0)) >= 0:  # nothing cancels
            return losses, losses
        return losses, np.array([self.swap_magnitudes(row) for row in rows]).T

    def after_additions(self, rows: Float64s) -> tuple[Float64s, Float64s]:
        """Losses and magnitudes, both of shape (1, candidates), after each of some candidates is added."""
        near = np.minimum(rows, self.d1)
        return (near @ self.weights)[None], (np.abs(near) @ self.weights)[None]

    def labels(self) -> Rows:
        """Nearest slot of each point, the lowest where several tie; a medoid goes to its own cluster if that ties."""
        labels = self.nearest.copy()
        if not self.members:
            return labels
        ties = self.lookup.between(np.array(self.medoids)).diagonal() <= self.d1[self.medoids]
        labels[np.asarray(self.medoids)[ties]] = np.flatnonzero(ties)
        return labels
