"""Which medoid is nearest to each point, which second nearest: exact, in float64, updated rather than rebuilt."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

__all__ = ["TOLERANCE", "Assignment", "lowest"]

Float64s = npt.NDArray[np.float64]

# Losses that differ by less than this share of their magnitude tie, and a swap must gain more than it.
TOLERANCE = 1e-10


def lowest(losses: Float64s) -> tuple[int, int]:
    """Position of the smallest entry of a (slots, candidates) array; ties go to the lowest candidate, then slot.

    >>> lowest(np.array([[3.0, 1.0, 2.0], [3.0, 5.0, 1.0]]))
    (0, 1)
    """
    best = losses.min()
    tied = losses <= best + TOLERANCE * abs(best)
    i = int(np.argmax(tied.any(axis=0)))
    return int(np.argmax(tied[:, i])), i


class Assignment:
    """The state of a k-medoids search.

    Attributes
    ----------
    medoids : list of int
        Row numbers; the position in the list is the medoid's slot.
    table : ndarray of shape (slots, n)
        Exact distances from each medoid to each point.
    nearest, second : ndarray of shape (n,)
        Slots; -1 where there is none.
    d1, d2 : ndarray of shape (n,)
        Distances to them; infinite where there is none.
    loss : float
        Weighted sum of ``d1``.
    fixed : list of int
        Slots of the frozen medoids, which no swap takes out.
    """

    def __init__(self, weights: Float64s, k: int, frozen: Collection[int] = ()) -> None:
        n = len(weights)
        self.weights = weights
        self.medoids: list[int] = []
        self.table = np.empty((k, n))
        self.nearest = np.full(n, -1, dtype=np.intp)
        self.second = np.full(n, -1, dtype=np.intp)
        self.d1 = np.full(n, np.inf)
        self.d2 = np.full(n, np.inf)
        self.loss = np.inf
        self.fixed: list[int] = []
        self._frozen = frozenset(frozen)

    def add(self, i: int, distances: Float64s) -> None:
        """Make row ``i`` the next medoid, given its distances to all points."""
        slot = len(self.medoids)
        self.medoids.append(i)
        if i in self._frozen:
            self.fixed.append(slot)
        self.table[slot] = distances
        self._enter(slot, np.ones(len(distances), dtype=bool))
        self.loss = float(self.weights @ self.d1)

    def swap(self, slot: int, i: int, distances: Float64s) -> None:
        """Put row ``i`` in the place of the medoid in ``slot``."""
        self.medoids[slot] = i
        self.table[slot] = distances
        hit = (self.nearest == slot) | (self.second == slot)
        self._enter(slot, ~hit)
        self._rescan(np.flatnonzero(hit))
        self.loss = float(self.weights @ self.d1)

    def _enter(self, slot: int, where: npt.NDArray[np.bool_]) -> None:
        d = self.table[slot]
        first = where & (d < self.d1)
        other = where & ~first & (d < self.d2)
        self.second[first], self.d2[first] = self.nearest[first], self.d1[first]
        self.nearest[first], self.d1[first] = slot, d[first]
        self.second[other], self.d2[other] = slot, d[other]

    def _rescan(self, points: npt.NDArray[np.intp]) -> None:
        table = self.table[: len(self.medoids), points]
        column = np.arange(len(points))
        self.nearest[points] = first = table.argmin(axis=0)
        self.d1[points] = table[first, column]
        if len(table) > 1:
            table[first, column] = np.inf
            self.second[points] = other = table.argmin(axis=0)
            self.d2[points] = table[other, column]

    def swap_losses(self, distances: Float64s) -> Float64s:
        """Losses after putting a candidate with these distances into each slot: O(n) for all k (Theorem 1)."""
        kept = np.minimum(distances, self.d1)
        own = self.weights * (np.minimum(distances, self.d2) - kept)
        losses: Float64s = self.weights @ kept + np.bincount(self.nearest, own, minlength=len(self.medoids))
        losses[self.fixed] = np.inf
        return losses

    def labels(self) -> npt.NDArray[np.intp]:
        """Nearest slot of each point, the lowest where several tie; a medoid goes to its own cluster if that ties."""
        labels: npt.NDArray[np.intp] = self.table.argmin(axis=0)
        slots = np.arange(len(self.medoids))
        own = self.table[slots, self.medoids]
        ties = own <= self.d1[self.medoids]
        labels[np.asarray(self.medoids)[ties]] = slots[ties]
        return labels
