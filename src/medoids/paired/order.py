"""Which points serve as references, and in which order: nested strata along a tree of the points.

How the loss changes at a reference is a continuous function of where the reference is. So references that are spread
evenly over the data estimate its mean with a smaller error than as many that are drawn anywhere: on tables of few
columns with a fifth to a twentieth of the variance, on images with two thirds.

The points are put into the order of the leaves of a k-d tree, in which neighbours are near each other. Its coordinates
are distances from a few landmarks, so any dissimilarity will do. Each cut of the tree halves the mass of a node, so
the t nodes of one depth are strata of nearly equal mass. In each, one point is drawn with a probability in proportion
to its mass. The mass is the weight of a point, mixed with what makes outliers matter: their distance from
the landmarks, and how small the group around their landmark is. A point that would fill a stratum is *certain*: it is
in every sample.

The strata of the next level are the halves of these. One half of each keeps the reference of the whole, and the other
half gets a new one, so what was computed for one level serves the next. Where distances are dear, a level cuts a
quarter of the strata: levels that are nearer to what an arm needs save distances, and cost more sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from medoids.engine.arrays import Bools, Float64s, Floats, Rows

__all__ = ["LANDMARKS", "Layout", "Level", "Strata", "Tree", "join_pairs", "pick_landmarks"]

# Coordinates of the tree: 16 distances for each point, one hundredth of what a fit takes.
LANDMARKS = 16
# Points of a leaf of the tree, in the sample that it is made from.
_LEAF = 8
# Share of the mass that is due to outliers. At 0 PAM's path on the table `heavy` takes 35 times as many distances as at
# 0.25; at 0.5 birch takes 5% more.
_OUTLIERS = 0.25


def pick_landmarks(measure: Callable[[int], Float64s], weights: Float64s, random: np.random.RandomState) -> list[int]:
    """Draw landmarks among some points, as k-medoids++ does; ``measure`` returns a landmark's distances to them."""
    near, found = np.ones(len(weights)), list[int]()
    while len(found) < LANDMARKS:
        mass = np.cumsum(np.maximum(near, 0) * weights)
        if not 0 < mass[-1] < np.inf:  # the others are copies of landmarks
            break
        i = int(np.searchsorted(mass, random.random_sample() * mass[-1], side="right"))
        found.append(min(i, len(mass) - 1))
        distances = measure(found[-1])
        near = distances if len(found) == 1 else np.minimum(near, distances)
    return found


@dataclass(frozen=True)
class Tree:
    """Cuts of a k-d tree, by node in the order of a heap: a coordinate, and the value up to which points are left."""

    coordinate: Rows
    cut: Float64s

    @classmethod
    def of(cls, Z: Floats, weights: Float64s, first: int) -> Tree:
        """Make the tree of some points, given as (coordinates, points), for so many strata on the first level."""
        from medoids.paired.kernels import split_tree

        depth = max(0, int(np.ceil(np.log2(max(1, Z.shape[1] / _LEAF)))))
        coordinate, cut = np.zeros(1 << depth, dtype=np.intp), np.zeros(1 << depth)
        layout = Layout.of(cls(coordinate[:1], cut[:1]), Z)
        mass = layout.mass(weights, layout.sums(weights))
        mass[certain_points(mass, first)] = 0
        split_tree(np.ascontiguousarray(Z, dtype=np.float64), mass, depth, coordinate, cut)
        return cls(coordinate, cut)

    def leaves(self, Z: Floats) -> npt.NDArray[np.int16]:
        """Return the leaf of each point."""
        from medoids.paired.kernels import find_leaves

        out = np.empty(Z.shape[1], dtype=np.int16)  # which is sorted in a tenth of the time of 64 bits
        find_leaves(Z, self.coordinate, self.cut, out)
        return out


@dataclass(frozen=True)
class Layout:
    """Where points are: for each its leaf, its landmark, and its distance to it."""

    leaves: int  # of the tree
    leaf: npt.NDArray[np.int16]
    cell: npt.NDArray[np.int8]
    near: Float64s

    @classmethod
    def of(cls, tree: Tree, Z: Floats) -> Layout:
        cell = Z.argmin(axis=0)
        near = np.maximum(Z[cell, np.arange(Z.shape[1])], 0).astype(np.float64)
        return cls(len(tree.cut), tree.leaves(Z), cell.astype(np.int8), near)

    @classmethod
    def joined(cls, parts: Sequence[Layout], at: Rows | slice = slice(None)) -> Layout:
        """Put parts together, and the points in an order."""
        joined = (np.concatenate([getattr(part, name) for part in parts])[at] for name in ("leaf", "cell", "near"))
        return cls(parts[0].leaves, *joined)

    def sums(self, weights: Float64s) -> Float64s:
        """Return the weight of each landmark's points, and the sum of weight times distance to the landmark."""
        return np.append(np.bincount(self.cell, weights, minlength=LANDMARKS), self.near @ weights)

    def mass(self, weights: Float64s, sums: Float64s) -> Float64s:
        """Return by how much each point should be sampled, given the sums over all points."""
        cells, spread = sums[:-1], sums[-1]
        groups = weights / (np.count_nonzero(cells) * np.maximum(cells, np.finfo(float).tiny)[self.cell])
        far = self.near * weights / spread if spread > 0 else groups
        mass: Float64s = (1 - _OUTLIERS) * weights / cells.sum() + _OUTLIERS * (far + groups) / 2
        return mass


def certain_points(mass: Float64s, strata: int) -> Bools:
    """Return which points would fill one of a number of strata."""
    light, certain = np.array(mass, dtype=np.float64), np.zeros(len(mass), dtype=bool)
    while light.any() and (more := strata * light >= light.sum()).any():
        certain |= more
        light[more] = 0
    return certain


@dataclass(frozen=True)
class Level:
    """References of one level: the certain ones, then one of each stratum."""

    columns: Rows  # references, by their number among all that have been drawn
    weights: Float64s  # of these, which add up to about 1
    nodes: Rows  # where the strata begin, in units of the smallest one: their places in a tree of halves
    certain: int  # number of references that are certain
    stop: int  # number of all references drawn up to this level

    @property
    def t(self) -> int:
        """Number of strata."""
        return len(self.columns) - self.certain


class Strata:
    """References in nested strata.

    Parameters
    ----------
    weights, mass : ndarray of shape (n,)
        Of the points in their order; weights as shares in the sum of all.
    leaf : ndarray of shape (n,)
        Leaf of each point, in ascending order.
    leaves : int
        Number of all leaves: a power of 2.
    first : int
        Strata of the first level: a power of 2.
    random : RandomState
    gently : bool
        Whether it takes four levels to double the number of strata, and not one.

    Attributes
    ----------
    levels : list of Level
    positions : ndarray
        Place in the order of each reference drawn so far.
    """

    def __init__(
        self,
        weights: Float64s,
        mass: Float64s,
        leaf: npt.NDArray[np.int16],
        leaves: int,
        first: int,
        random: np.random.RandomState,
        *,
        gently: bool = False,
    ) -> None:
        self._random, self._weights, self.gently = random, weights, gently
        certain = certain_points(mass, first)
        light = np.where(certain, 0.0, mass)
        self.positions: Rows = np.flatnonzero(certain)
        self._certain = len(self.positions)
        self._number = np.full(len(mass), -1, dtype=np.int32)
        self._number[self.positions] = np.arange(self._certain)
        total = light.sum()
        self._mass = light / total if total > 0 else light
        self._ends = np.cumsum(self._mass)
        # The mass before each leaf. Parts of a leaf have equal mass.
        before: Float64s = np.append(0.0, self._ends)[np.searchsorted(leaf, np.arange(leaves + 1))]
        self._before = before
        t = first if total > 0 else 0
        self._sizes = np.full(t, 1 / max(1, t))  # of the strata, as shares of the tree; with their starts exact
        self._starts = np.arange(t) * self._sizes
        self._draws = self._draw(self._starts, self._sizes)
        self.levels = [self._level()]

    def _mass_before(self, shares: Float64s) -> Float64s:
        """Return the mass before some places in the tree."""
        leaves = len(self._before) - 1
        before: Float64s = np.interp(shares * leaves, np.arange(leaves + 1), self._before)
        return before

    def _draw(self, starts: Float64s, sizes: Float64s) -> Float64s:
        """Draw a point in each of some strata, as the mass before it."""
        low, high = self._mass_before(starts), self._mass_before(starts + sizes)
        draws: Float64s = low + self._random.random_sample(len(starts)) * (high - low)
        return draws

    def deepen(self) -> Level:
        """Add a level, in which the largest strata are cut in halves; gently, a quarter of all at a time."""
        size, halves = self._sizes.max(initial=0), np.ones(len(self._sizes), dtype=np.intp)
        large = np.flatnonzero(self._sizes == size)
        large = large[:: max(1, round(4 * size * len(large))) if self.gently else 1]
        halves[large] = 2
        starts, sizes, draws = (np.repeat(x, halves) for x in (self._starts, self._sizes / halves, self._draws))
        right = np.cumsum(halves)[large] - 1
        starts[right] += sizes[right]
        new = np.where(draws[right] < self._mass_before(starts[right]), right, right - 1)  # the other half keeps it
        draws[new] = self._draw(starts[new], sizes[new])
        self._starts, self._sizes, self._draws = starts, sizes, draws
        self.levels.append(self._level())
        return self.levels[-1]

    def _level(self) -> Level:
        mass = self._mass_before(self._starts + self._sizes) - self._mass_before(self._starts)
        full = np.flatnonzero(mass > 0)
        at = np.minimum(np.searchsorted(self._ends, self._draws[full], side="right"), len(self._ends) - 1)
        new = at[self._number[at] < 0]
        new = new[np.diff(new, prepend=-1) > 0]  # draws ascend, and np.unique takes 40 times as long
        self._number[new] = len(self.positions) + np.arange(len(new))
        self.positions = np.concatenate([self.positions, new])
        columns = np.concatenate([np.arange(self._certain), self._number[at]]).astype(np.intp)
        weights = self._weights[self.positions[columns]]
        weights[self._certain :] *= mass[full] / self._mass[at]
        nodes = (self._starts[full] / self._sizes.min(initial=1)).astype(np.intp)
        return Level(columns, weights, nodes, self._certain, len(self.positions))


def join_pairs(labels: Rows, nodes: Rows) -> tuple[Rows, Rows]:
    """Join strata with the same label to pairs, those nearest in the tree first; return both sides.

    A stratum without a partner is on both sides. Which are joined is a function of the labels alone, and a label that
    changes affects few pairs.

    >>> join_pairs(np.array([0, 0, 1, 0, 1, 0, 0, 1]), np.arange(8))
    (array([0, 5, 4, 3, 2]), array([1, 6, 7, 3, 2]))
    """
    left = np.argsort(labels, kind="stable")
    label, node = labels[left], nodes[left]
    first, second = list[Rows](), list[Rows]()
    while len(node) and node.max() > 0:
        node = node >> 1  # each half has at most one of a label left
        same = np.flatnonzero((node[1:] == node[:-1]) & (label[1:] == label[:-1]))
        first.append(left[same])
        second.append(left[same + 1])
        keep = np.ones(len(left), dtype=bool)
        keep[same] = keep[same + 1] = False
        left, label, node = left[keep], label[keep], node[keep]
    return np.concatenate([*first, left]), np.concatenate([*second, left])
