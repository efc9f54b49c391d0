"""BanditPAM, BanditPAM++ and the two steps between them: one program, two choices.

Every step of PAM, BUILD and SWAP, is a best-arm search that samples references instead of summing over all of them
(Tiwari et al. 2020, 2023). BanditPAM's arms in SWAP are pairs and its references are drawn anew in each step; virtual
arms (``+va``) and the permutation-invariant cache (``+pic``) change one of these each, and BanditPAM++ both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from medoids.bandit import Independent, Survivors, search
from medoids.bandit.arms import BuildArms, PairArms, PointArms
from medoids.bandit.cache import PermutationCache
from medoids.core.assignment import Assignment, lowest
from medoids.core.initialization import initialize
from medoids.core.local_search import accept, descend
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import FINALISTS_PER_CHUNK
from medoids.engine.threads import spans
from medoids.exact.matrix import MARGIN
from medoids.result import Outlook

__all__ = ["BATCH", "banditpam"]

_AnyArms = BuildArms | PointArms | PairArms

# The paper's B.
BATCH = 100


class _BanditPAM:
    """The program; ``virtual`` and ``cached`` are its two choices."""

    def __init__(self, problem: Problem, run: Run, *, virtual: bool, cached: bool) -> None:
        self.problem, self.run, self.virtual = problem, run, virtual
        self.rows = RowSource(problem, run)
        problem.distance.prepare(run.threads)
        self.references = np.repeat(np.arange(problem.n), problem.shares)  # several where a weight is large
        self.cache = None
        if cached:
            order = run.random.permutation(self.references)
            self.cache = PermutationCache(problem, run.threads, order, problem.cache_width, BATCH)
        delta = 1 / (problem.k * len(problem.references) ** 3) if problem.delta is None else problem.delta
        self._mean_weight = float(problem.share_weights[self.references].mean())
        self.bounds = Independent(delta)

    def solve(self) -> Solution:
        assignment = self._build() if self.problem.starts_with_build else initialize(self.rows)
        return descend(self.problem, self.run, assignment, lambda _: self._swap(assignment))

    def _build(self) -> Assignment:
        assignment = self.rows.start()
        while len(assignment.medoids) < self.problem.k:
            arms = BuildArms(self.problem, self.run, assignment, "build", self.cache)
            found = self._search(arms)
            _, i, row, *_ = self._judge(arms.rows(found.arms), found, assignment.after_additions)
            assignment.add(i, row)
            self.run.step("build", assignment, i, references=found.references, candidates=len(found.arms))
        return assignment

    def _swap(self, assignment: Assignment) -> bool:
        """Make the best swap, and return whether there was one that lowers the exact loss."""
        kind = PointArms if self.virtual else PairArms
        arms = kind(self.problem, self.run, assignment, "swap", self.cache)
        if arms.count == 0:
            return False
        found = self._search(arms)
        slot, i, row, loss, magnitude = self._judge(arms.rows(found.arms), found, assignment.after_swaps)
        # The paper stops when the best swap's estimate does not help; here its exact loss must fall, so that sampling
        # errors and ties can neither raise the loss nor make the search go round in circles.
        if not assignment.improves(loss, magnitude):
            return False
        accept(self.run, assignment, slot, i, row, references=found.references, candidates=len(found.arms))
        return True

    def _search(self, arms: _AnyArms) -> Survivors:
        # BanditPAM draws the references of each step anew. With a cache, every step begins at the head of one
        # permutation (Theorem 2), where distances are kept.
        order = self.run.random.permutation(self.references) if self.cache is None else self.cache.order
        return search(arms, order, BATCH, self.bounds, partial(self._foresee, arms))

    def _foresee(self, arms: _AnyArms, left: Rows, lowest: float) -> None:
        """Take note of what bounds say of the swaps of the current medoids."""
        problem = self.problem
        unit = problem.share_unit * len(self.references) / problem.total_weight
        self.run.outlook = Outlook(len(np.unique(arms.rows(left))), max(0.0, -lowest * unit))

    def _judge(
        self,
        rows: Rows,
        found: Survivors,
        after: Callable[[Float64s], tuple[Float64s, Float64s]],
    ) -> tuple[int, int, Float64s, float, float]:
        """Compare the arms that are left exactly: line 21 of Algorithm 1, and the slot of a single one (line 19)."""
        run = self.run
        if found.exhausted:
            # Their means are exact but for float32: only those that it cannot tell from the best are left in question.
            best = found.means.min(axis=1)
            scale = run.trace[-1].loss * self._mean_weight if run.trace else best.min()
            rows = rows[best <= best.min() + MARGIN * (abs(scale) + abs(best.min()))]
        rows = np.unique(rows)
        chunks = [rows[chunk] for chunk in spans(len(rows), FINALISTS_PER_CHUNK)]
        judged = []
        with run.phase("exact"):
            for chunk in chunks:
                block = self.rows.rows(chunk)
                judged.append(after(block))
            losses, magnitudes = (np.concatenate(part, axis=1) for part in zip(*judged, strict=True))
            slot, at = lowest(losses, magnitudes)
            row = self.rows.rows(rows[at : at + 1])[0] if len(chunks) > 1 else block[at]
        return slot, int(rows[at]), row, float(losses[slot, at]), float(magnitudes[slot, at])


def banditpam(problem: Problem, run: Run, *, virtual: bool = False, cached: bool = False) -> Solution:
    """BanditPAM (Tiwari et al. 2020); with virtual arms and the permutation-invariant cache, BanditPAM++ (2023)."""
    return _BanditPAM(problem, run, virtual=virtual, cached=cached).solve()
