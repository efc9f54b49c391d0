"""The arms of BUILD and SWAP: how a candidate changes the loss of a reference.

For a reference s with nearest medoid at d1, second nearest at d2, and a candidate i, the change of its loss is (the
four cases in the proof of Theorem 1; the equation in the paper's main text leaves out what removing a medoid costs)

    i is added (BUILD)          min(d(i, s), d1) - d1
    i replaces j (SWAP)         min(d(i, s), d1) - d1   if j is not the nearest of s
                                min(d(i, s), d2) - d1   if it is

times the weight of s. *Pairs* are BanditPAM's arms: each (i, j) asks for its own distance. *Points* are BanditPAM++'s:
one distance serves all k faces of i.
"""

from __future__ import annotations

import numpy as np

from medoids.bandit.cache import PermutationCache
from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.distances import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import ARMS_PER_CHUNK
from medoids.engine.threads import spans

__all__ = ["BuildArms", "PairArms", "PointArms"]


class _MedoidArms:
    """What the three kinds share: distances, counted by phase and taken from the cache where there is one."""

    def __init__(
        self, problem: Problem, run: Run, assignment: Assignment, phase: str, cache: PermutationCache | None
    ) -> None:
        self._distance, self._run, self._phase, self._cache = problem.distance, run, phase, cache
        # In the precision of the blocks: half the memory traffic in float32, whose errors the exact judgement mends.
        dtype = np.result_type(problem.distance.dtype, np.float32)
        self._d1, self._d2 = assignment.d1.astype(dtype), assignment.d2.astype(dtype)
        self._nearest, self._weights = assignment.nearest, problem.share_weights.astype(dtype)
        self._references = int(problem.shares.sum())
        self._scale = assignment.loss / problem.share_unit / self._references
        self.candidates = np.setdiff1d(problem.candidates, assignment.medoids)
        self._slots = np.setdiff1d(np.arange(problem.k), assignment.fixed)  # that a swap may take

    @property
    def faces(self) -> int:
        """The number of virtual arms of each arm."""
        return 1

    @property
    def count(self) -> int:
        """The number of arms."""
        return len(self.candidates)

    def rows(self, arms: Rows) -> Rows:
        """Return the points of some arms."""
        return self.candidates[arms]

    def least_sigma(self, arms: Rows) -> Float64s:
        """Return a floor: of all references one is known, the point itself, whose loss goes from d1 to nothing.

        Where outliers are candidates it is all their variance, and a batch without it would show none.
        """
        rows, n = self.rows(arms), self._references
        if not np.isfinite(self._scale):  # without medoids, distances themselves vary enough
            return np.zeros(len(rows))
        own = np.abs(self._weights[rows] * self._d1[rows])
        return np.asarray(np.maximum(own * np.sqrt(max(n - 1, 1)) / n, 1e-3 * abs(self._scale)))

    def pull(self, arms: Rows, order: Rows, batch: slice) -> tuple[Float64s, Float64s]:
        rows, references = self.rows(arms), order[batch]
        sums, squares = np.empty((2, len(arms), self.faces))
        cache = self._cache if self._cache is not None and batch.stop <= self._cache.width else None
        # The batch that sigma is first estimated from is counted as such, as in the paper's logs.
        with self._run.phase("sigma" if batch.start == 0 else self._phase):
            asked = len(rows) * len(references)
            computed = asked if cache is None else cache.fill(rows, batch)
            self._run.tally.add(computed=computed, cached=asked - computed)

            def work(chunk: slice) -> None:
                if cache is None:
                    block = self._distance.block(rows[chunk], references)
                else:
                    block = cache.read(rows[chunk], batch)
                with np.errstate(over="ignore", invalid="ignore"):
                    sums[chunk], squares[chunk] = self._changes(block, arms[chunk], references)

            self._run.threads.map(work, spans(len(rows), ARMS_PER_CHUNK), threaded=self._distance.threaded)
        self._run.check_squares(squares)
        return sums, squares

    def _changes(self, block: Floats, arms: Rows, references: Rows) -> tuple[Float64s, Float64s]:
        """Sums over the references of a block of the changes of each face, and of their squares."""
        raise NotImplementedError


class BuildArms(_MedoidArms):
    """Points that may be added (Eq. 4). The first step has no medoid yet: the change is the distance itself."""

    def _changes(self, block: Floats, arms: Rows, references: Rows) -> tuple[Float64s, Float64s]:
        d1, w = self._d1[references], self._weights[references]
        change = np.minimum(block, d1) - d1 if np.isfinite(d1).all() else block
        return (change @ w)[:, None], (change**2 @ w**2)[:, None]


class PointArms(_MedoidArms):
    """BanditPAM++ SWAP: points with k virtual arms each (Algorithm 1, lines 7 to 15; Theorem 1)."""

    @property
    def faces(self) -> int:
        return len(self._slots)

    def _changes(self, block: Floats, arms: Rows, references: Rows) -> tuple[Float64s, Float64s]:
        d1, d2, w = self._d1[references], self._d2[references], self._weights[references]
        own = (self._nearest[references][:, None] == self._slots).astype(w.dtype)
        kept = np.minimum(block, d1) - d1  # if its own medoid stays
        left = np.minimum(block, d2) - d1  # if it leaves
        # One update for all faces, and a correction for the face whose medoid is the reference's own.
        sums = (kept @ w)[:, None] + (left - kept) @ (w[:, None] * own)
        w2 = w**2
        return sums, (kept**2 @ w2)[:, None] + (left**2 - kept**2) @ (w2[:, None] * own)


class PairArms(_MedoidArms):
    """BanditPAM SWAP: every pair of a medoid and a candidate is an arm, and computes its own distances (Eq. 7)."""

    @property
    def count(self) -> int:
        return len(self.candidates) * len(self._slots)

    def rows(self, arms: Rows) -> Rows:
        return self.candidates[arms // len(self._slots)]

    def _changes(self, block: Floats, arms: Rows, references: Rows) -> tuple[Float64s, Float64s]:
        d1, d2, w = self._d1[references], self._d2[references], self._weights[references]
        remaining = np.where(self._nearest[references] == self._slots[:, None], d2, d1)
        change = np.minimum(block, remaining[arms % len(self._slots)]) - d1
        return (change @ w)[:, None], (change**2 @ w**2)[:, None]
