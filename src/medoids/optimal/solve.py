"""The optimum, or the best medoids with a proved gap: restarts, the dual, the LP of cuts, branch and bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from medoids.engine.arrays import Float64s, Rows
from medoids.optimal.benders import has_solver
from medoids.optimal.dual import Climb, climb, prefix_length, prices_of
from medoids.optimal.incumbent import Incumbent, settled
from medoids.optimal.instance import Instance, nothing
from medoids.optimal.prefixes import Prefixes
from medoids.optimal.proof import Goal
from medoids.optimal.restarts import restart
from medoids.optimal.tree import BranchTree, OutOfMemory
from medoids.result import CLOSED_GAP, gap_between

__all__ = ["Optimal", "Progress", "solve_exactly"]

# Neighbours of a point that the dual needs at least to be worth starting.
_FEWEST = 16
# Nodes of the tree after which more restarts are made, and how many.
_EXPLORE, _AGAIN = 32, 10


@dataclass(frozen=True)
class Progress:
    """What is known at some time.

    Attributes
    ----------
    stage : {"restarts", "dual", "tree"}
    medoids : list of int
    loss, lower_bound, gap : float
    nodes : int
    restart : int
        Number of the last restart.
    prices : ndarray of shape (points,), or None
        Of the best Lagrangian bound.
    """

    stage: str
    medoids: list[int] = field(repr=False)
    loss: float
    lower_bound: float
    gap: float
    nodes: int
    restart: int
    prices: Float64s | None = field(repr=False)

    def state(self) -> dict[str, Any]:
        """Return what a later run needs to resume; can be written as JSON."""
        bound = self.lower_bound if np.isfinite(self.lower_bound) else None
        prices = None if self.prices is None else self.prices.tolist()
        return {"medoids": self.medoids, "lower_bound": bound, "prices": prices}


@dataclass(frozen=True, eq=False)
class Optimal:
    """The best medoids found, and what is proved of them.

    Attributes
    ----------
    medoids : ndarray of shape (k,)
        Candidates.
    loss : float
        Weighted sum of the distances to the nearest medoid.
    lower_bound : float
        No k medoids have a lower loss. Recomputed in float64 from multipliers, with rounding errors subtracted.
    gap : float
        (loss - lower_bound) / lower_bound.
    proved : bool
        Whether the gap is at most the one asked for, or `CLOSED_GAP`.
    nodes : int
        Nodes of branch and bound; 0 if it was not needed, or not reached.
    n_swaps : int
        Swaps of the restarts.
    note : str
        What kept it from a proof; empty if proved.
    state : dict
        See `Progress.state`.
    """

    medoids: Rows
    loss: float
    lower_bound: float
    gap: float
    proved: bool
    nodes: int
    n_swaps: int
    note: str
    state: dict[str, Any] = field(repr=False)


def solve_exactly(
    problem: Instance,
    medoids: Rows | None = None,
    *,
    gap: float = 0.0,
    n_restarts: int = 50,
    seed: int = 0,
    max_iter: int | None = None,
    memory_limit: float | None = None,
    state: dict[str, Any] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Optimal:
    """Find k medoids of lowest loss, and prove that they are.

    What ``problem.check`` or ``progress`` raise ends the search; the last `Progress` is what is known by then.

    Parameters
    ----------
    problem : Instance
    medoids : ndarray of shape (k,), optional
        Where to start, PAM's say; at random if None.
    gap : float
        Stop at a proved gap of this size.
    n_restarts, seed, max_iter
        Of `restart`.
    memory_limit : float, optional
        Bytes beside the matrix. Where more would be needed the best so far is returned.
    state : dict, optional
        Of an earlier run of the same problem, to resume from.
    progress : callable, optional
        Called with a `Progress` at every change worth telling.
    """
    run = _Run(problem, medoids, gap, seed, memory_limit, state, progress)
    try:
        note = run.stages(0 if state else n_restarts, max_iter)
    except OutOfMemory:
        note = "the search for a proof stopped at memory_limit; raise it to continue"
    finally:
        run.incumbent.changed = nothing  # which held the run, and with it the matrix, until garbage is collected
    return run.result(note)


class _Run:
    """One search: the incumbent, and the highest bound of all stages."""

    def __init__(
        self,
        problem: Instance,
        medoids: Rows | None,
        gap: float,
        seed: int,
        memory_limit: float | None,
        state: dict[str, Any] | None,
        progress: Callable[[Progress], object] | None,
    ) -> None:
        self._problem = problem
        self._seed, self._progress, self._stage = seed, progress, "restarts"
        self._memory = np.inf if memory_limit is None else memory_limit
        self.goal = Goal(max(gap, CLOSED_GAP), problem.is_integral())
        known = state or {}
        start = known.get("medoids", medoids)
        self.incumbent = Incumbent(problem, self._random_start() if start is None else start, self._tell)
        self._bound = -np.inf if known.get("lower_bound") is None else float(known["lower_bound"])
        self._prices: Float64s | None = np.array(known["prices"]) if known.get("prices") else None
        self._n_swaps = self._explored = self._restarted = 0
        self._tree: BranchTree | None = None

    def _random_start(self) -> Rows:
        others = np.setdiff1d(np.flatnonzero(self._problem.allowed), self._problem.frozen)
        count = self._problem.k - len(self._problem.frozen)
        drawn = np.random.default_rng(self._seed).choice(others, count, replace=False)
        return np.concatenate([self._problem.frozen, drawn])

    def stages(self, n_restarts: int, max_iter: int | None) -> str:
        """Run one stage after the other until a proof; return what kept from it."""
        problem, incumbent = self._problem, self.incumbent
        if settled(problem, incumbent, problem.allowed, np.isin(np.arange(problem.n_candidates), problem.frozen)):
            self._raise_to(incumbent.loss)
            return ""
        self._restart(n_restarts, max_iter)
        if self._proved():
            return ""
        found = self._climb()
        if self._proved():
            return ""
        if settled(problem, incumbent, found.alive, found.inside):
            self._raise_to(np.inf)
            return ""
        if not has_solver():
            return (
                "the gap is that of the Lagrangian dual; with highspy (pip install 'medoids[optimal]') an LP and "
                "branch and bound would go on from there"
            )
        self._stage = "tree"
        self._tree = BranchTree(problem, found, incumbent, self.goal, memory=self._memory)
        self._tree.run(self._grown)
        self._grown()
        return ""

    def _restart(self, n_restarts: int, max_iter: int | None) -> None:
        def news(number: int, _loss: float, medoids: Rows) -> None:
            self._restarted = number
            self.incumbent.offer(medoids, descend=False)
            self._tell()

        seed = self._seed + self._explored
        done = restart(self._problem, self.incumbent.medoids, n_restarts, seed, max_iter=max_iter, news=news)
        self._n_swaps += done.n_swaps

    def _climb(self) -> Climb:
        self._stage = "dual"
        problem, incumbent = self._problem, self.incumbent
        length = prefix_length(problem)
        if Prefixes.bytes_needed(problem, length) > self._memory:
            length = int(self._memory // Prefixes.bytes_needed(problem, 1))
            if length < _FEWEST:
                raise OutOfMemory
        prices = prices_of(problem, incumbent.medoids) if self._prices is None else self._prices

        def news(bound: float, at: Float64s) -> None:
            self._prices = at
            self._raise_to(bound)

        return climb(problem, prices, self.goal, lambda: incumbent.loss, length=length, look=incumbent.offer, news=news)

    def _grown(self) -> None:
        """After a node, report the bound, and now and then look for better medoids, which a long search may lack."""
        assert self._tree is not None
        self._raise_to(self._tree.bound, tell=True)
        if self._tree.nodes >= self._explored + _EXPLORE:
            self._explored = self._tree.nodes
            self._restart(_AGAIN, None)

    def _raise_to(self, bound: float, *, tell: bool = False) -> None:
        """Take a bound on the solutions that are left: all others have a loss of at least the cutoff."""
        cutoff = self.goal.cutoff(self.incumbent.loss)
        before, self._bound = self._bound, max(self._bound, self.goal.raised(min(bound, cutoff)))
        if tell or self._bound > before + CLOSED_GAP * abs(before):
            self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._now())

    def _now(self) -> Progress:
        loss = self.incumbent.loss
        bound = min(self._bound, loss)
        nodes = 0 if self._tree is None else self._tree.nodes
        return Progress(
            *(self._stage, self.incumbent.medoids.tolist(), loss, bound, gap_between(loss, bound), nodes),
            *(self._restarted, self._prices),
        )

    def _proved(self) -> bool:
        return self._now().gap <= self.goal.gap

    def result(self, note: str) -> Optimal:
        now = self._now()
        proved = now.gap <= self.goal.gap
        return Optimal(
            *(self.incumbent.medoids, now.loss, now.lower_bound, now.gap, proved, now.nodes, self._n_swaps),
            *("" if proved else note, now.state()),
        )
