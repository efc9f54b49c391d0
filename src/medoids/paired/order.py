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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from medoids.core.tree import certain_points
from medoids.engine.arrays import Float64s, Rows

__all__ = ["Level", "Strata", "join_pairs"]


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
