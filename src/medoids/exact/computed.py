"""Carried sums without a matrix: distances that are cheap are computed whenever a sum needs them.

A distance between rows of a few columns is computed in less time than an entry of a matrix is read, and takes no
memory. So exact PAM is open to any number of rows that the time for a few n^2 distances allows.

Arms are taken in the order of a tree, in tiles of neighbours. A reference s that is farther from the whole tile than
from its second nearest medoid adds the same to all swaps whatever its distance, and needs none. Where the triangle
inequality holds, the arm in the middle and the radius of the tile tell which these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from medoids.core.assignment import DOUBT
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.core.tree import DRAWN, IN_TREE, Tree, pick_landmarks
from medoids.distances import Budgeted
from medoids.engine.arrays import Bools, Float64s, Floats, Rows
from medoids.engine.budget import ARMS_PER_CHUNK, CHEAP_NS, KEPT_BYTES
from medoids.engine.threads import Threads, spans
from medoids.exact.carried_sums import CarriedSums
from medoids.exact.matrix import ExactRows

__all__ = ["ComputedRows", "ComputedSums", "computes"]


def computes(problem: Problem) -> bool:
    """Whether distances are computed as they are needed: if they are cheap, and a matrix would not stay in a cache."""
    distance = problem.distance
    large = problem.n**2 * distance.dtype.itemsize > KEPT_BYTES
    return (
        large
        and distance.cost < CHEAP_NS
        and distance.symmetric
        and not distance.exact
        and not isinstance(distance, Budgeted)
    )


class ComputedRows(ExactRows):
    """Rows that are computed, and all of them in the order of a tree."""

    def __init__(self, problem: Problem, run: Run, known: dict[int, Float64s] | None = None) -> None:
        super().__init__(problem, run, known)
        self.ordered = run.shared(Ordered, lambda: Ordered(self))


class Ordered:
    """Rows in the order of a tree, made once for all starts of a run."""

    def __init__(self, source: RowSource) -> None:
        problem, run = source.problem, source.run
        points = np.flatnonzero(problem.weights > 0)
        drawn, sample = (points[:: 1 + len(points) // size] for size in (DRAWN, IN_TREE))
        found = list[Float64s]()

        def measure(at: int) -> Float64s:
            found.append(source.rows(drawn[at : at + 1])[0])
            return found[-1][drawn]

        with run.phase("build"):
            pick_landmarks(measure, problem.weights[drawn], np.random.RandomState(0))
        Z = np.array(found)
        tree = Tree.of(Z[:, sample], problem.weights[sample], 1)
        self.rows: Rows = np.argsort(tree.leaves(Z), kind="stable").astype(np.intp)
        self.place: Rows = np.argsort(self.rows)
        self.distance = run.distance.reordered(self.rows)
        self.distance.prepare(run.threads)


class ComputedSums(CarriedSums):
    """Carried sums over distances that are computed for each tile of arms."""

    def __init__(self, rows: ComputedRows, allowed: Bools, k: int, threads: Threads) -> None:
        super().__init__(rows, allowed, k, threads)
        self._ordered = rows.ordered

    def _add_base(self, references: Rows, d1: Floats, before: Floats | None, w: Floats) -> None:
        from medoids.exact.kernels import add_base, change_base

        change = w * (d1 if before is None else d1 - before)

        def add(arms: slice, far: Rows, tiles: Iterator[tuple[Rows, Floats]]) -> None:
            sums = np.full(arms.stop - arms.start, change[far].sum(dtype=np.float64))
            for near, D in tiles:
                facts = np.arange(len(near)), *(() if before is None else (before[near],)), d1[near], w[near]
                (add_base if before is None else change_base)(D, *facts, 0, len(sums), sums)
            self._S[self._ordered.rows[arms]] += sums

        self._over_tiles(references, d1 if before is None else np.maximum(d1, before), add)

    def _add_both(self, references: Rows, d1: Floats, d2: Floats, slot: Rows, w: Floats) -> None:
        from medoids.exact.kernels import add_both

        T = self._T
        assert T is not None

        def add(arms: slice, far: Rows, tiles: Iterator[tuple[Rows, Floats]]) -> None:
            sums = np.full(arms.stop - arms.start, w[far] @ d1[far].astype(np.float64))
            costs = w[far] * (d2[far].astype(np.float64) - d1[far])
            fixed = np.bincount(slot[far], costs, minlength=self._k).astype(np.float64)
            own = np.repeat(fixed[:, None], len(sums), axis=1)
            for near, D in tiles:
                add_both(D, np.arange(len(near)), d1[near], d2[near], slot[near], w[near], 0, len(sums), sums, own)
            rows = self._ordered.rows[arms]
            self._S[rows] += sums
            T[:, rows] += own

        self._over_tiles(references, d2, add)

    def _over_tiles(
        self, references: Rows, reach: Floats, add: Callable[[slice, Rows, Iterator[tuple[Rows, Floats]]], None]
    ) -> None:
        """Call ``add`` for each tile of arms with the references out of its reach, and the distances from the others.

        Those are numbered by their places among ``references``, and come in the order of these.
        """
        distance, at, check = self._ordered.distance, self._ordered.place[references], self._threads.interrupts.check

        def computed(arms: slice, near: Rows) -> Iterator[tuple[Rows, Floats]]:
            for some in spans(len(near), ARMS_PER_CHUNK):
                check()
                yield near[some], distance.block(at[near[some]], arms)

        def work(arms: slice) -> None:
            far = np.zeros(len(at), dtype=bool)
            if distance.triangle:
                middle = np.array([(arms.start + arms.stop) // 2])
                radius = distance.block(middle, arms).max()
                to_middle = distance.block(middle, at)[0]
                far = to_middle * (1 - DOUBT) - radius * (1 + DOUBT) >= reach
            add(arms, np.flatnonzero(far), computed(arms, np.flatnonzero(~far)))

        self._threads.map(work, spans(len(self._ordered.rows), ARMS_PER_CHUNK), threaded=distance.threaded)
