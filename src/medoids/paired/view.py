"""The references' side of a search: what the current medoids mean to the references, and pairs of these.

For a reference s at distances d1 and d2 from its two nearest medoids, and an arm i at distance d from it,

    x = min(d, d1) - d1     is the change of its loss if its medoid stays,
    y = min(d, d2) - d1     if its medoid leaves,
    r = d2 - d1             what the removal of its medoid alone costs.

Face j of an arm, the swap for the medoid of slot j, changes the loss by x at the references of other slots and by y at
those of slot j; in BUILD, where no medoid leaves, by x. Before there is a medoid, d1 is infinite and x is d.

With one reference in each stratum, the squared differences of pairs of neighbours add up to an estimate of the variance
of the sum, which is slightly too large. Pairs have the same slot, so that all faces follow from sums by slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from medoids.engine.arrays import Bools, Float64s, Floats, Rows
from medoids.paired.order import Level, join_pairs

__all__ = ["Entries", "Pivot", "View"]


@dataclass(frozen=True)
class Entries:
    """Pairs of references as kernels read them: the columns of both sides, and facts; sorted by slot."""

    first: Rows
    second: Rows
    facts: Floats
    starts: Rows  # where the entries of each slot begin, and where the last one's end

    def among(self, columns: Rows) -> Entries:
        """Return the same pairs, numbered by their places among some columns, which ascend."""
        first, second = np.searchsorted(columns, self.first), np.searchsorted(columns, self.second)
        return Entries(first, second, self.facts, self.starts)


@dataclass(frozen=True)
class Pivot:
    """An arm whose faces have known means."""

    row: int
    differences: Floats  # of x and y, of each pair: (pairs, 2)
    faces: Float64s  # for each: sum over the sample, squared differences in other slots and its own, the known mean


@dataclass(frozen=True)
class View:
    """The references of a level under the current medoids."""

    depth: int  # number of the level
    level: Level
    d1: Float64s  # of its references, as the next two
    d2: Float64s
    slot: Rows
    removal: Float64s  # mean over all points of r, by slot; k is 1 in BUILD
    fixed: Bools  # slots that no swap takes
    swaps: bool
    left_out: float  # share of the variance that remains because points are drawn without replacement

    @property
    def k(self) -> int:
        return len(self.removal)

    @cached_property
    def pairs(self) -> tuple[Rows, Rows]:
        """Both sides of each pair, as places in the level, sorted by slot."""
        c = self.level.certain
        first, second = join_pairs(self.slot[c:], self.level.nodes)
        first, second = np.concatenate([np.arange(c), c + first]), np.concatenate([np.arange(c), c + second])
        order = np.argsort(self.slot[first], kind="stable")
        return first[order], second[order]

    def difference(self, values: Float64s) -> Float64s:
        """Return the difference of weighted values in each pair; 0 for references that are certain."""
        first, second = self.pairs
        v = values * self.level.weights
        return (v[first] - np.where(first != second, v[second], 0.0)) * (first >= self.level.certain)

    @cached_property
    def _costs(self) -> Float64s:
        """R of each reference; 0 where there is no other medoid, which says nothing."""
        other = np.isfinite(self.d2)
        return np.where(other, self.d2 - np.where(other, self.d1, 0.0), 0.0)

    @cached_property
    def _origin(self) -> Float64s:
        return np.where(np.isfinite(self.d1), self.d1, 0.0)

    def entries(self, kind: npt.DTypeLike, where: Bools | slice = slice(None), sign: float = 1.0) -> Entries:
        """Return the pairs that a mask selects; a negative sign takes them out of sums."""
        first, second = self.pairs[0][where], self.pairs[1][where]
        sides = list[Float64s]()
        for side, other in ((first, None), (second, first)):
            weights = self.level.weights[side]
            weights = weights if other is None else np.where(side != other, weights, 0.0)
            sides += [self.d1[side], self.d2[side], self._origin[side], weights]
        signs = np.full(len(first), sign), sign * (first >= self.level.certain)
        facts = np.stack([*sides, *signs, sign * self.difference(self._costs)[where]], axis=1)
        starts = np.searchsorted(self.slot[first], np.arange(self.k + 1))
        return Entries(self.level.columns[first], self.level.columns[second], facts.astype(kind), starts)

    def removals(self) -> Float64s:
        """Return for each slot: the sum of r over the sample, its squared differences, and its known mean."""
        sums = np.bincount(self.slot, self._costs * self.level.weights, minlength=self.k)
        squares = np.bincount(self.slot[self.pairs[0]], self.difference(self._costs) ** 2, minlength=self.k)
        return np.stack([sums, squares, self.removal])

    def pivot(self, row: int, distances: Float64s, means: Float64s, kind: npt.DTypeLike) -> Pivot:
        """Return an arm as a pivot, given its distances to the references and the known means of its faces."""
        x = np.minimum(distances, self.d1) - self._origin
        y = np.minimum(distances, self.d2) - self._origin
        dx, dy, pairs = self.difference(x), self.difference(y), self.slot[self.pairs[0]]
        kept, own = np.bincount(pairs, dx**2, minlength=self.k), np.bincount(pairs, dy**2, minlength=self.k)
        sums = np.bincount(self.slot, x * self.level.weights, minlength=self.k)
        sums = sums.sum() - sums + np.bincount(self.slot, y * self.level.weights, minlength=self.k)
        faces = np.stack([sums, kept.sum() - kept, own, means])
        return Pivot(row, np.stack([dx, dy], axis=1).astype(kind), faces)

    def changes_from(self, old: View) -> tuple[Bools, Bools]:
        """Return which pairs of an old view are not those of this one, and which of this one were not there."""
        same = (self.d1 == old.d1) & (self.d2 == old.d2) & (self.slot == old.slot)
        keys, before = (view.pairs[0] * len(same) + view.pairs[1] for view in (self, old))
        unchanged = keys[same[self.pairs[0]] & same[self.pairs[1]]]
        kept = np.intersect1d(unchanged, before)
        return ~np.isin(before, kept), ~np.isin(keys, kept)
