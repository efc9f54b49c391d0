"""Branch and bound on the LP of cuts, with bounds that were verified.

A node says which candidates are left and which are medoids. Its LP is solved, cuts that the solution violates are
added (they hold everywhere), and from the dual values a bound is computed in float64; what that bound allows is fixed
inside the node. A node ends when its bound reaches the cutoff; HiGHS' word is never enough. The node with the lowest
bound is next, so that the bound of the whole rises with every node.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from medoids.engine.arrays import Bools, Float64s
from medoids.optimal.benders import BYTES, CutLP, Relaxed
from medoids.optimal.dual import Climb
from medoids.optimal.incumbent import Incumbent, settled
from medoids.optimal.instance import Instance
from medoids.optimal.prefixes import Prefixes
from medoids.optimal.proof import Goal, verify

__all__ = ["BranchTree", "OutOfMemory"]

# Rounds of cuts at the root and at a node; a node's rounds end when one gains less than this share of what is left.
_ROOT_ROUNDS, _ROUNDS, _WORTH = 60, 4, 0.05
# Nodes after which cuts that hold with room to spare are taken out; separation brings back those that are missed.
_PURGE = 16
# y within this of 0 or 1 is an integer.
_INTEGER = 1e-6


class OutOfMemory(Exception):
    """More memory than allowed would be needed."""


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    alive: Bools = field(compare=False)
    inside: Bools = field(compare=False)
    y: Float64s | None = field(compare=False, default=None)


class BranchTree:
    """What is left to be proved.

    Attributes
    ----------
    nodes : int
        LPs of different nodes that were solved.
    """

    def __init__(
        self,
        problem: Instance,
        start: Climb,
        incumbent: Incumbent,
        goal: Goal,
        *,
        memory: float = np.inf,
    ) -> None:
        self._problem, self._incumbent, self._goal, self._memory = problem, incumbent, goal, memory
        self.nodes = 0
        root = _Node(start.bound, 0, start.alive.copy(), start.inside.copy())
        self._open = [root]
        left = int(np.count_nonzero(root.alive))
        self._spend(Prefixes.bytes_needed(problem, left))
        self._lists = Prefixes(problem, root.alive, left)
        self._lp = CutLP(problem, self._lists, incumbent.loss)
        heavy = np.flatnonzero(problem.weights > 0)
        nearest = problem.by_point[:, incumbent.medoids].min(axis=1).astype(np.float64)
        self._lp.add(heavy, start.prices[heavy])
        self._lp.add(heavy, nearest[heavy])

    @property
    def bound(self) -> float:
        """No solution that is still to be looked for has a lower loss; infinite when there is none."""
        return min((node.bound for node in self._open), default=np.inf)

    def run(self, news: Callable[[], object]) -> None:
        """Search until nothing is left below the cutoff; ``news`` is called after each node."""
        purged = 0
        while self._open and self.bound < self._goal.cutoff(self._incumbent.loss):
            node = self._open[0]  # it stays there until it is dealt with, as the bound must know it
            children = [node] if node.y is None else self._branch(node)
            kept = [child for child in children if self._improve(child)]
            heapq.heappop(self._open)
            for child in kept:
                heapq.heappush(self._open, child)
            if self.nodes >= purged + _PURGE:
                self._lp.purge()
                purged = self.nodes
            news()

    def _improve(self, node: _Node) -> bool:
        """Raise the bound of a node; return whether anything is left of it."""
        if settled(self._problem, self._incumbent, node.alive, node.inside):
            return False
        self.nodes += 1
        rounds = _ROOT_ROUNDS if self.nodes == 1 else _ROUNDS
        for turn in range(rounds):
            self._spend(0)
            before = node.bound
            relaxed = self._lp.solve(node.alive, node.inside)
            if relaxed is None:  # no word from the solver: what is known of the node stays, and it is split
                break
            node.y = relaxed.y
            self._look(relaxed, descend=turn == 0)
            if not self._tighten(node, relaxed):
                return False
            if not self._lp.separate(relaxed):
                break
            left = self._goal.cutoff(self._incumbent.loss) - before
            if self.nodes > 1 and turn and node.bound - before < _WORTH * left:
                break
        if self.nodes == 1:
            self._lp.purge()
        if node.y is None:
            node.y = np.where(node.inside, 1.0, np.where(node.alive, 0.5, 0.0))
        return node.bound < self._goal.cutoff(self._incumbent.loss)

    def _tighten(self, node: _Node, relaxed: Relaxed) -> bool:
        """Verify the bound of a node and fix what it allows; return whether anything is left."""
        now = verify(self._problem, self._lists, relaxed.multipliers, node.alive, node.inside)
        node.bound = max(node.bound, now.value)
        cutoff = self._goal.cutoff(self._incumbent.loss)
        if node.bound >= cutoff:
            return False
        never, always = now.fix(node.alive, node.inside, cutoff)
        node.alive = node.alive & ~never
        node.inside = node.inside | always
        return not settled(self._problem, self._incumbent, node.alive, node.inside)

    def _look(self, relaxed: Relaxed, *, descend: bool) -> None:
        """Offer the k candidates with the largest y as medoids."""
        y = relaxed.y.copy()
        y[self._problem.frozen] = 2.0
        top = np.argsort(-y, kind="stable")[: self._problem.k]
        self._incumbent.offer(top, descend=descend)

    def _branch(self, node: _Node) -> list[_Node]:
        """Split a node by the candidate whose y is furthest from an integer."""
        assert node.y is not None
        free = node.alive & ~node.inside
        fraction = np.where(free, np.minimum(node.y, 1 - node.y), -1.0)
        i = int(fraction.argmax())
        if fraction[i] < _INTEGER:  # an integral solution whose bound is not yet good enough
            self._incumbent.offer(np.argsort(-node.y, kind="stable")[: self._problem.k], descend=False)
        with_, without = node.inside.copy(), node.alive.copy()
        with_[i], without[i] = True, False
        return [
            _Node(node.bound, 2 * self.nodes, node.alive, with_),
            _Node(node.bound, 2 * self.nodes + 1, without, node.inside),
        ]

    def _spend(self, more: int) -> None:
        """Raise if what is held, and more, is above the memory allowed."""
        node = 10 * self._problem.n_candidates
        lists = 0 if more else self._lists.near.nbytes + self._lists.number.nbytes
        held = 0 if more else BYTES * self._lp.n_coefficients + lists + node * len(self._open)
        if held + more > self._memory:
            raise OutOfMemory
