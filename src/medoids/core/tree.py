"""An order of points in which neighbours are near each other: that of the leaves of a k-d tree.

The coordinates of the tree are distances from a few landmarks, so any dissimilarity will do. Each cut halves the mass
of a node: the weight of its points, mixed with what makes outliers matter, which are their distance from the landmarks
and how small the group around their landmark is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from medoids.engine.arrays import Bools, Float64s, Floats, Rows

__all__ = ["DRAWN", "IN_TREE", "LANDMARKS", "Layout", "Tree", "certain_points", "pick_landmarks"]

# Coordinates of the tree: 16 distances for each point, one hundredth of what a fit takes. And the number of points that
# landmarks are drawn from.
LANDMARKS, DRAWN = 16, 1024
# Points from which the tree is made: halves of the mass of a sample are not halves of the mass of all. With half as
# many, differences of neighbours among 4,096 of 100,000 points are 1.4 times as large.
IN_TREE = 1 << 17
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
        """Make the tree of some points, given as (coordinates, points), and of ``first`` strata."""
        from medoids.core.tree_kernels import split_tree

        depth = max(0, int(np.ceil(np.log2(max(1, Z.shape[1] / _LEAF)))))
        coordinate, cut = np.zeros(1 << depth, dtype=np.intp), np.zeros(1 << depth)
        layout = Layout.of(cls(coordinate[:1], cut[:1]), Z)
        mass = layout.mass(weights, layout.sums(weights))
        mass[certain_points(mass, first)] = 0
        split_tree(np.ascontiguousarray(Z, dtype=np.float64), mass, depth, coordinate, cut)
        return cls(coordinate, cut)

    def leaves(self, Z: Floats) -> npt.NDArray[np.int16]:
        """Return the leaf of each point."""
        from medoids.core.tree_kernels import find_leaves

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
