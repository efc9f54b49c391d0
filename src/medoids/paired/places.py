"""What a fit needs of the place where its points are: their layout along the tree, and exact distances to medoids."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.core.tree import DRAWN, IN_TREE, Layout, Tree, pick_landmarks
from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.budget import CHEAP_NS, COSTLY_NS, DEAR_NS
from medoids.paired.merging import merge_equal
from medoids.paired.order import Level, Strata
from medoids.paired.shard import REPORTED

__all__ = ["Places"]

# Strata of the first level: for usual and costly distances, and twice as many for cheap ones. With 512 there, bounds of
# width 3.5 miss 0.11% on gmm instead of 0.01%, 0.14% on letter instead of 0.06%. On 900 series under dtw 512 would be
# all of them.
_FIRST, _FIRST_DEAR = 512, 128


def first_strata(n: int, cost: float) -> int:
    """Return the number of strata of the first level, for a distance of this cost in nanoseconds.

    With few points, more of them where distances are cheap, it is so large that all are certain: then sums are exact.

    >>> first_strata(100_000, 1.0), first_strata(4_000, 1.0), first_strata(4_000, 17.0), first_strata(2_000, 17.0)
    (1024, 4096, 512, 2048)
    """
    first = 2 * _FIRST if cost < CHEAP_NS else _FIRST if cost < COSTLY_NS else _FIRST_DEAR
    return first if n > 4 * first else int(2 ** np.ceil(np.log2(max(1, n))))


def most_known(budget: int, n: int, cost: float) -> int:
    """Return the number of candidates whose distances to n points are kept at most: more where these are expensive."""
    most = 2 * REPORTED if cost < COSTLY_NS else max(n, 2 * REPORTED)
    return int(np.clip(budget // 4 // max(1, 8 * n), 16, most))


class Places(ABC):
    """Shards whose points are in the order of one tree. What is drawn depends on the points alone.

    Attributes
    ----------
    n : int
        Points.
    kind : dtype
        Of stored distances.
    most_known : int
        Candidates whose distances to all points there is room for.
    costly : bool
        Whether distances are so expensive that they matter more than work on bounds.
    cheap : bool
        Whether they are computed faster than they are read.
    order : ndarray
        Rows of X, in the order of the tree; one of those that are equal.
    place : ndarray
        The place in the order of each row of X; -1 for those that are neither assigned nor candidates.
    strata : Strata
    rows : RowSource
        Makes assignments.
    lasting : bool
        Whether no shard can be lost.
    """

    rows: RowSource
    lasting: bool = False

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run = problem, run
        self.kind = np.dtype(np.float32 if run.distance.dtype == np.float32 else np.float64)
        every = np.flatnonzero((problem.weights > 0) | problem.eligible)
        points, weights, alike = self._merge(every)
        random = np.random.RandomState(run.random.randint(np.iinfo(np.int32).max))
        first = first_strata(len(points), problem.distance.cost)
        with run.phase("build"):
            layout = self._lay_out(points, weights, first, random)
        order = np.argsort(layout.leaf, kind="stable")
        mass = layout.mass(weights, layout.sums(weights))
        self.order, self.n = points[order], len(points)
        self.place, at = np.full(problem.n, -1, dtype=np.intp), np.empty(self.n, dtype=np.intp)
        at[order] = np.arange(self.n)
        self.place[every] = at[alike]
        self.costly = problem.distance.cost >= COSTLY_NS
        self.cheap = problem.distance.cost < CHEAP_NS
        self.most_known = most_known(problem.memory_limit, self.n, problem.distance.cost)
        self._leaf, self._mass = layout.leaf[order], (weights[order] / problem.total_weight, mass[order])
        self._drawn_from = *self._mass, self._leaf, layout.leaves
        self.strata = Strata(*self._drawn_from, first, random, gently=problem.distance.cost >= DEAR_NS)

    def _lay_out(self, points: Rows, weights: Float64s, first: int, random: np.random.RandomState) -> Layout:
        """Measure the distances of all points from landmarks, and make the tree."""
        n = len(points)
        drawn = np.sort(random.choice(n, min(n, DRAWN), replace=False))
        pick_landmarks(lambda at: self._measure(int(points[drawn[at]]), points, drawn), weights[drawn], random)
        sample = np.sort(random.choice(n, IN_TREE, replace=False)) if n > IN_TREE else np.arange(n)
        return self._layout(Tree.of(self._coordinates(points, sample), weights[sample], first), points)

    def _merge(self, points: Rows) -> tuple[Rows, Float64s, Rows]:
        """Return the points that a search sees, their weights, and for each of the given ones which of these it is."""
        return merge_equal(self.problem, points)

    @abstractmethod
    def _measure(self, mark: int, points: Rows, drawn: Rows) -> Float64s:
        """Measure the distances from a landmark to all points, or see to it; return those to points that are drawn."""

    @abstractmethod
    def _coordinates(self, points: Rows, sample: Rows) -> Floats:
        """Return the distances from the landmarks to a sample of the points, given by their numbers."""

    @abstractmethod
    def _layout(self, tree: Tree, points: Rows) -> Layout:
        """Return where a tree puts the points."""

    def samples(self, size: int, largest: int, random: np.random.RandomState) -> Iterator[tuple[Rows, Float64s]]:
        """Draw rows from strata, four times as many each time, up to all; yield them and their weights."""
        while size <= min(largest, self.n):
            strata = Strata(*self._drawn_from, size, random)
            level = strata.levels[0]
            yield self.order[strata.positions[level.columns]], level.weights
            size *= 4
        if self.n <= largest:
            yield self.order, self._mass[0]

    @abstractmethod
    def ask(self, name: str, *arguments: Any, **options: Any) -> list[Any]:
        """Call a method of every shard; return their answers."""

    @abstractmethod
    def add_level(self, level: Level, positions: Rows) -> None:
        """Announce the references of another level, by their places in the order."""

    @abstractmethod
    def states(self, columns: Rows) -> tuple[Float64s, Float64s, Rows]:
        """Return d1, d2 and slot of some references."""

    @abstractmethod
    def removal(self, slots: int) -> Float64s:
        """Return the mean over all points of what the removal of each slot's medoid costs."""

    @abstractmethod
    def to_references(self, rows: list[int], columns: Rows) -> Float64s:
        """Return the distances from candidates that are known to some references."""

    @abstractmethod
    def gather(self, rows: Rows) -> tuple[Dissimilarity, Rows]:
        """Return a distance among some rows, and their numbers in it."""

    @abstractmethod
    def follow(self, assignment: Assignment) -> None:
        """Bring the shards to the state of an assignment."""

    @abstractmethod
    def exact_losses(self, assignment: Assignment, rows: Rows, *, swaps: bool) -> tuple[Float64s, Float64s]:
        """Return exact losses and magnitudes of shape (slots, rows), after swaps or, with one slot, additions."""

    @abstractmethod
    def enter(self, assignment: Assignment, i: int, slot: int | None) -> None:
        """Make a row a medoid whose losses were asked for last: the next one, or in the place of another."""

    def recover(self, lost: Exception) -> None:
        """Make the shards that were lost again, and bring all of them to the last medoids."""
        raise lost
