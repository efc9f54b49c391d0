"""BanditPAM, BanditPAM++ and the two steps between them: one program, two choices.

Every step of PAM, BUILD and SWAP, is a best-arm search that samples references instead of summing over all of them
(Tiwari et al. 2020, 2023). BanditPAM's arms in SWAP are pairs and its references are drawn anew in each step; virtual
arms (``+va``) and the permutation-invariant cache (``+pic``) change one of these each, and BanditPAM++ both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from medoids.bandit import FixedPermutation, Found, FreshDraws, Independent, References, search
from medoids.bandit.arms import BuildArms, PairArms, PointArms
from medoids.bandit.cache import PermutationCache
from medoids.core.assignment import Assignment, lowest
from medoids.core.initialization import initialize
from medoids.core.local_search import descend
from medoids.core.problem import Problem, Solution
from medoids.engine.arrays import Float64s, Rows
from medoids.exact.matrix import MARGIN

__all__ = ["BATCH", "BanditPAM", "banditpam", "banditpam_pic", "banditpam_plusplus", "banditpam_va"]

# The paper's B.
BATCH = 100
# Finalists that are compared exactly at once.
_LOT = 64


@dataclass
class BanditPAM:
    """The program; ``virtual`` and ``cached`` are its two choices."""

    problem: Problem
    virtual: bool
    cached: bool

    def __post_init__(self) -> None:
        problem = self.problem
        problem.distance.prepare(problem.threads)
        rows = np.repeat(np.arange(problem.n), problem.shares)  # several references where a weight is large
        order = FixedPermutation if self.cached else FreshDraws
        self.references: References = order(rows, BATCH, problem.random)
        self.cache = None
        if self.cached:
            self.cache = PermutationCache(problem, self.references.order(), problem.cache_width, BATCH)
        delta = 1 / (problem.k * len(problem.references) ** 3) if problem.delta is None else problem.delta
        self._mean_weight = float(problem.share_weights[rows].mean())
        self.bounds = Independent(delta)

    def run(self) -> Solution:
        problem = self.problem
        assignment = self._build() if isinstance(problem.init, str) and problem.init == "build" else initialize(problem)
        return descend(problem, assignment, lambda _: self._swap(assignment))

    def _build(self) -> Assignment:
        problem = self.problem
        assignment = problem.begin()
        while len(assignment.medoids) < problem.k:
            arms = BuildArms(problem, assignment, "build", self.cache)
            found = search(arms, self.references, self.bounds)
            _, i, row, *_ = self._judge(arms.rows(found.arms), found, assignment.after_additions)
            assignment.add(i, row)
            problem.record("build", assignment, i, None, references=found.references, candidates=len(found.arms))
        return assignment

    def _swap(self, assignment: Assignment) -> bool:
        """Make the best swap; tell whether there was one that lowers the exact loss."""
        problem = self.problem
        kind = PointArms if self.virtual else PairArms
        arms = kind(problem, assignment, "swap", self.cache)
        if arms.count == 0:
            return False
        found = search(arms, self.references, self.bounds)
        slot, i, row, loss, magnitude = self._judge(arms.rows(found.arms), found, assignment.after_swaps)
        # The paper stops when the best swap's estimate does not help; here its exact loss must fall, so that sampling
        # errors and ties can neither raise the loss nor make the search go round in circles.
        if not assignment.improves(loss, magnitude):
            return False
        out = assignment.medoids[slot]
        assignment.swap(slot, i, row)
        problem.record("swap", assignment, i, out, references=found.references, candidates=len(found.arms))
        return True

    def _judge(
        self,
        rows: Rows,
        found: Found,
        after: Callable[[Float64s], tuple[Float64s, Float64s]],
    ) -> tuple[int, int, Float64s, float, float]:
        """Compare the arms that are left exactly: line 21 of Algorithm 1, and the slot of a single one (line 19)."""
        problem = self.problem
        if found.exhausted:
            # Their means are exact but for float32: only those that it cannot tell from the best are left in question.
            best = found.means.min(axis=1)
            scale = problem.trace[-1].loss * self._mean_weight if problem.trace else best.min()
            rows = rows[best <= best.min() + MARGIN * (abs(scale) + abs(best.min()))]
        rows = np.unique(rows)
        lots = [rows[start : start + _LOT] for start in range(0, len(rows), _LOT)]
        judged = []
        with problem.distance.tally.phase("exact"):
            for lot in lots:
                block = problem.exact_rows(lot)
                judged.append(after(block))
            losses, magnitudes = (np.concatenate(part, axis=1) for part in zip(*judged, strict=True))
            slot, at = lowest(losses, magnitudes)
            row = problem.exact_rows(rows[at : at + 1])[0] if len(lots) > 1 else block[at]
        return slot, int(rows[at]), row, float(losses[slot, at]), float(magnitudes[slot, at])


def banditpam(problem: Problem) -> Solution:
    """BanditPAM (Tiwari et al. 2020)."""
    return BanditPAM(problem, virtual=False, cached=False).run()


def banditpam_va(problem: Problem) -> Solution:
    """BanditPAM with virtual arms."""
    return BanditPAM(problem, virtual=True, cached=False).run()


def banditpam_pic(problem: Problem) -> Solution:
    """BanditPAM with the permutation-invariant cache."""
    return BanditPAM(problem, virtual=False, cached=True).run()


def banditpam_plusplus(problem: Problem) -> Solution:
    """BanditPAM++ (Tiwari et al. 2023): both."""
    return BanditPAM(problem, virtual=True, cached=True).run()
