"""What a fit needs of the place where its points are: their layout along the tree, and exact distances to medoids."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.paired.merging import merge_equal
from medoids.paired.order import Layout, Strata, Tree, pick_landmarks
from medoids.paired.search import Shards, first_strata, most_known
from medoids.paired.store import fits_whole

__all__ = ["Places"]

# Points among which landmarks are drawn, and from which the tree is made.
DRAWN, SAMPLED = 1024, 1 << 16


class Places(Shards):
    """Shards whose points are in the order of one tree. What is drawn depends on the points alone.

    Attributes
    ----------
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

    def __init__(self, problem: Problem, run: Run, first: int | None = None) -> None:
        self.problem, self.run = problem, run
        self.kind = np.dtype(np.float32 if run.distance.dtype == np.float32 else np.float64)
        every = np.flatnonzero((problem.weights > 0) | problem.eligible)
        points, weights, alike = self._merge(every)
        random = np.random.RandomState(run.random.randint(np.iinfo(np.int32).max))
        with run.phase("build"):
            layout = self._lay_out(points, weights, random)
        order = np.argsort(layout.leaf, kind="stable")
        mass = layout.mass(weights, layout.sums(weights))
        self.order, self.n = points[order], len(points)
        self.place, at = np.full(problem.n, -1, dtype=np.intp), np.empty(self.n, dtype=np.intp)
        at[order] = np.arange(self.n)
        self.place[every] = at[alike]
        self.most_known = most_known(problem.memory_limit, self.n, problem.distance.cost)
        if first is None:
            first = first_strata(self.n, problem.distance.cost)
        self._leaf, self._mass = layout.leaf[order], (weights[order] / problem.total_weight, mass[order])
        self.strata = Strata(*self._mass, first, random)

    def _lay_out(self, points: Rows, weights: Float64s, random: np.random.RandomState) -> Layout:
        """Measure the distances of all points from landmarks, and make the tree."""
        n = len(points)
        drawn = np.sort(random.choice(n, min(n, DRAWN), replace=False))
        pick_landmarks(lambda at: self._measure(int(points[drawn[at]]), points, drawn), weights[drawn], random)
        sample = np.sort(random.choice(n, SAMPLED, replace=False)) if n > SAMPLED else np.arange(n)
        return self._layout(Tree.of(self._coordinates(points, sample)), points)

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

    def sample(self, size: int, random: np.random.RandomState) -> tuple[Rows, Float64s]:
        """Draw rows from as many strata as are asked for; return them and their weights."""
        strata = Strata(*self._mass, size, random)
        level = strata.levels[0]
        return self.order[strata.positions[level.columns]], level.weights

    @abstractmethod
    def gather(self, rows: Rows) -> tuple[Dissimilarity, Rows]:
        """Return a distance among some rows, and their numbers in it."""

    @property
    def whole(self) -> bool:
        """Whether distances of all arms to the first level's references fit into the memory of one machine."""
        return fits_whole(self.n, self.strata.levels[0].stop, self.kind, self.problem.memory_limit)

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
