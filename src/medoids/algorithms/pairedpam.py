"""PairedPAM: PAM's path from few distances, by comparing arms in pairs.

As in BanditPAM++ every step of PAM is a best-arm search in which points are arms with k faces and all arms see the same
references, in the order of one fixed permutation. Four things go beyond it: arms are dropped by their *differences*
from the leader (``bandit.Paired``), a face also when "no swap" is surely better; means are regressed on what is known
for all points (``paired.py``); references come in growing rounds whose distances are kept for the arms that reached
them (``levels.py``); and sums are carried from step to step (``moments.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from medoids.bandit import Paired, search_pairs
from medoids.core.assignment import TOLERANCE, Assignment, EstimatedRows, MeasuredRows, lowest
from medoids.core.initialization import initialize
from medoids.core.local_search import accept, descend
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.engine.arrays import Float64s
from medoids.engine.budget import DEAR_NS
from medoids.exact.matrix import MARGIN
from medoids.paired.level_zero import LevelZero
from medoids.paired.levels import EVEN, FAST, SLOW, Levels, rounds
from medoids.paired.moments import Moments, State
from medoids.paired.rows import MedoidRows
from medoids.paired.search import COPIES, PairedArms

__all__ = [
    "FINALISTS",
    "PairedPAM",
    "bounds_of",
    "first_references",
    "levels_of",
    "pairedpam",
    "share_memory",
    "without_store",
]

# w = 3.5; benchmarks/results/delta.md has the measurements behind it.
DELTA = 5e-6
# w = 4, for the search that finds no swap: at 3.5, 1 of 10 seeds ended two swaps early on MNIST 70,000.
_LAST_DELTA = 1e-7
# A search ends when this many arms are left; these are compared on all references.
FINALISTS = 2
# References of level 0: for distances that cost less than a microsecond, and for others.
_FIRST_CHEAP, _FIRST_DEAR = 512, 128
# Nanoseconds from which on a distance costs more than the passes over stored distances that slow growth adds.
_SLOW_GROWTH_NS = 100.0
# Bytes beside the stored distances that are not counted, and those of each point, with what the allocator wastes.
_UNCOUNTED_BYTES, _POINT_BYTES = 64 << 20, 780
# Memory is scarce if it does not hold this multiple of the first level, plus one for each ten medoids, whose near-ties
# are more arms at later levels: there will be distances to compute again.
_SCARCE_LEVELS, _MEDOIDS_PER_LEVEL = 2, 10


def first_references(cost: float) -> int:
    """Return the number of references that every arm is compared on, for a distance of this cost in nanoseconds."""
    return _FIRST_CHEAP if cost < DEAR_NS else _FIRST_DEAR


def levels_of(n: int, first: int, cost: float, *, scarce: bool) -> list[slice]:
    """Cut references into levels, for a distance of that cost and for memory that is scarce or not."""
    return rounds(n, first, SLOW if cost >= _SLOW_GROWTH_NS else EVEN if scarce else FAST)


def share_memory(n: int, k: int, first: int, size: int, memory_limit: int, copy: int = 0) -> tuple[int, bool]:
    """Return the bytes for stored distances, of ``size`` bytes each, and whether these are scarce.

    ``copy`` is the size of the working copy of X, where it is in memory.
    """
    # What else is kept comes out of the same limit, once it is more than a little: some numbers of each point; the
    # moments, all that are carried and up to as many of the arms that are left, which have one more; and copies.
    beside = copy + n * (_POINT_BYTES + 7 * min(8, max(4, size)) * k) + 2 * COPIES
    budget = max(memory_limit // 8, memory_limit - max(0, beside - _UNCOUNTED_BYTES))
    return budget, (_SCARCE_LEVELS + k / _MEDOIDS_PER_LEVEL) * n * first * size > budget


def bounds_of(delta: float | None, n: int) -> tuple[Paired, ...]:
    """Return the bounds of searches and, by default, wider ones: a fit ends when no swap is found with any of them.

    A step that errs elsewhere is a detour, and the swaps that follow lead to an optimum. The last search is the one
    that says that there is none: a swap that it overlooks is lost, with all that would have followed.
    """
    return (Paired(DELTA, n), Paired(_LAST_DELTA, n)) if delta is None else (Paired(delta, n),)


class Store:
    """The references in their order, and the distances that are stored for them."""

    def __init__(self, problem: Problem, run: Run, first: int, missing: float | None) -> None:
        self._problem, self._run = problem, run
        # Several references have the same row where its weight is large.
        self.order = run.random.permutation(np.repeat(np.arange(problem.n), problem.shares))
        n = len(self.order)
        distance = problem.distance.reordered(self.order)
        copy = 0 if distance.spill else distance.copy_bytes()
        budget, scarce = share_memory(n, problem.k, first, distance.dtype.itemsize, problem.memory_limit, copy)
        cuts = levels_of(n, first, problem.distance.cost, scarce=scarce)
        self._make_levels = partial(Levels, distance, cuts, budget, run.threads, run.tally, missing=missing)
        self.levels = self._make_levels(coarse=distance.dtype == np.float32)
        self.zero = LevelZero(self.levels)
        self.place = np.full(problem.n, -1, dtype=np.intp)
        self.place[self.order[::-1]] = np.arange(n)[::-1]  # the first, which stands for the row as an arm

    def refine(self, state: State) -> None:
        """Start again with finer numbers if those stored are too coarse for a state."""
        if self.levels.too_coarse(state.typical()):
            self.levels = self._make_levels(coarse=False)
            self.zero = LevelZero(self.levels)

    def whole(self, i: int) -> Float64s:
        """Return the distances from row i to all points, in the precision of blocks; the leaders' are known already."""
        row = np.empty(self._problem.n)
        row[self.order] = self.levels.whole(int(self.place[i]))
        rest = np.flatnonzero(self._problem.weights == 0)
        if len(rest):
            row[rest] = self._run.distance.exact_block(np.array([i]), rest)[0]
        return row


class PairedPAM:
    """One fit."""

    _missing: float | None = None  # of `Levels`

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run = problem, run
        self.store = Store(problem, run, self._first(), self._missing)
        self.bounds, *self._wider = bounds_of(problem.delta, len(self.store.order))
        self._arms = np.zeros(len(self.store.order), dtype=bool)
        self._arms[self.store.place[problem.candidates]] = True
        self._rows = self._make_rows()

    def _make_rows(self, known: dict[int, Float64s] | None = None) -> RowSource:
        distance = self.problem.distance
        if distance.exact or not self.problem.has_room(distance.dtype.itemsize):
            return RowSource(self.problem, self.run, known)
        return MedoidRows(self.problem, self.run, self.store.whole, known)

    def _first(self) -> int:
        """Return the number of references that every arm is compared on."""
        return first_references(self.problem.distance.cost)

    def solve(self) -> Solution:
        assignment = self.build() if self.problem.starts_with_build else initialize(self._rows)
        return descend(self.problem, self.run, assignment, lambda _: self._swap(assignment))

    def continue_with(self, problem: Problem, run: Run, known: dict[int, Float64s]) -> Solution:
        """Solve for another number of medoids or start, with the same points, order and stored distances."""
        self.problem, self.run = problem, run
        self._rows = self._make_rows(known)
        self.store.zero.forget()
        return self.solve()

    def build(self) -> Assignment:
        assignment = self._rows.start()
        while len(assignment.medoids) < self.problem.k:
            with self.run.phase("build"):
                arms = self._search(assignment, swaps=False)
            found = self._judge(assignment, arms, assignment.after_additions)
            assert found is not None
            _, i, row, *_ = found
            assignment.add(i, row)
            self.run.step("build", assignment, i, references=arms.t, candidates=len(arms.left))
            del arms, found, row  # before the next search has its own
        return assignment

    def _swap(self, assignment: Assignment) -> bool:
        with self.run.phase("swap"):
            arms = self._search(assignment, swaps=True)
        return self._swap_best(assignment, arms) or self._swap_overlooked(assignment)

    def _swap_overlooked(self, assignment: Assignment) -> bool:
        """Look again, with wider bounds, for a swap before none is said to help; make the best if there is one."""
        for bounds in self._wider:
            with self.run.phase("swap"):
                arms = self._search(assignment, swaps=True, bounds=bounds)
            if self._swap_best(assignment, arms):
                return True
        return False

    def best_swap(self, assignment: Assignment) -> tuple[int, int, float] | None:
        """Return (slot, row, loss) of the best swap, or None if none lowers the loss; nothing is changed."""
        with self.run.phase("swap"):
            arms = self._search(assignment, swaps=True)
        found = self._helpful(assignment, arms)
        return None if found is None else (found[0], found[1], found[3])

    def _helpful(self, assignment: Assignment, arms: PairedArms) -> tuple[int, int, Float64s, float, float] | None:
        """Return the best swap of the arms that are left, if it helps."""
        found = self._judge(assignment, arms, assignment.after_swaps)
        return found if found is not None and assignment.improves(*found[3:]) else None

    def _swap_best(self, assignment: Assignment, arms: PairedArms) -> bool:
        """Make the best swap of the arms that are left, if it helps."""
        found = self._helpful(assignment, arms)
        if found is None:
            return False
        slot, i, row, *_ = found
        accept(self.run, assignment, slot, i, row, references=arms.t, candidates=len(arms.left))
        return True

    def _search(
        self,
        assignment: Assignment,
        *,
        swaps: bool,
        bounds: Paired | None = None,
        enough: Callable[[PairedArms], bool] = lambda _: False,
    ) -> PairedArms:
        """Drop arms round by round, until few are left, all references have been seen, or the caller has enough."""
        store = self.store
        state = State.of(assignment, store.order, self.problem.share_weights, swaps=swaps)
        store.refine(state)
        carried = self._carry(state)
        allowed = self._arms.copy()
        allowed[store.place[assignment.medoids]] = False
        noise = TOLERANCE if self.problem.distance.exact else MARGIN
        arms = PairedArms(store.levels, state, carried, allowed, self.run.threads, noise)
        return search_pairs(arms, bounds or self.bounds, FINALISTS, enough)

    def _carry(self, state: State) -> Moments:
        """Update the moments of level 0 to a state."""
        carried = self.store.zero.follow(state)
        self.run.check_squares(carried.Q)
        return carried

    def _judge(
        self, assignment: Assignment, arms: PairedArms, after: Callable[[Float64s], tuple[Float64s, Float64s]]
    ) -> tuple[int, int, Float64s, float, float] | None:
        """Compare the arms that are left on all references: by blocks first, and what these cannot tell apart exactly.

        Ties go to the lowest row, so rows are compared in their own order, not the permutation's.
        """
        problem = self.problem
        if len(arms.left) == 0:
            return None
        rows = np.sort(self.store.order[arms.left])
        with self.run.phase("exact"):
            if len(rows) > 1 and not problem.distance.exact:
                estimates = np.array([after(self.store.whole(i)[None])[0].min() for i in rows.tolist()])
                rows = rows[estimates <= estimates.min() + MARGIN * abs(estimates.min())]
            block = np.array([self._exact_row(i, assignment) for i in rows.tolist()])
        losses, magnitudes = after(block)
        slot, at = lowest(losses, magnitudes)
        return slot, int(rows[at]), block[at], float(losses[slot, at]), float(magnitudes[slot, at])

    def _exact_row(self, i: int, assignment: Assignment) -> Float64s:
        """Return the distances from row i to all points: exact where they are at most the second nearest medoid's."""
        return self.store.whole(i) if self.problem.distance.exact else self._rows.row(i, assignment.d2)


def without_store(problem: Problem, run: Run, solution: Solution) -> Solution:
    """Return a solution that no longer knows the stored distances, for which the next start has no room."""
    if isinstance(solution.assignment.lookup, EstimatedRows):
        solution.assignment.lookup = MeasuredRows(RowSource(problem, run).measure)
    return solution


def pairedpam(problem: Problem, run: Run) -> Solution:
    """PAM's medoids with high probability, from a fraction of the distances."""
    return without_store(problem, run, PairedPAM(problem, run).solve())
