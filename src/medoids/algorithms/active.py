"""Active k-medoids: PAM's answer from few distances, each asked for once, where the triangle inequality holds.

Aghaee, Ghadiri and Soleymani Baghshah (2016) choose which distances of a metric to ask for, and replace the others by
bounds from the triangle inequality. From them is that idea. They accept what bounds suggest, and lose quality; here
bounds only rule out, as Elkan (2003) does in k-means, and Newling and Fleuret (2017) for the first medoid.

For every pair a lower bound on the distance is kept: |d(i, a) - d(i, b)| for all i of which both are known. It gives a
lower bound on the loss that a candidate leads to, in BUILD and in SWAP. Candidates are looked at in the order of these
bounds, and asked for the distances that count, those that may be below d2, until the bound exceeds what the best one
reaches; then it is not better. So each step is PAM's own, and what is left unknown makes no difference.

For distances that are dear: bounds take O(n^2) memory and O(n^2) time for each candidate that is looked at closely.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

import numpy as np

from medoids.core.assignment import TOLERANCE, Assignment, lowest
from medoids.core.initialization import initialize
from medoids.core.local_search import accept, descend
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.threads import spans
from medoids.result import Outlook
from medoids.settings import check_memory

__all__ = ["active"]

# Lots in which the distances of a candidate are asked for, with a look at its bound between them; the smallest lot.
_LOTS, _ASKED_LEAST = 4, 8
# What rounding may add to a bound, as a share of the distances that it comes from.
_ROUNDING = 1e-12
# Rows of bounds that are updated at a time.
_BOUND_ROWS = 256


def active(problem: Problem, run: Run) -> Solution:
    """PAM's medoids, exact, from some of the distances of a metric."""
    distance = problem.distance
    if not (distance.triangle and distance.symmetric):
        raise ValueError(
            "algorithm='active' leaves out distances by the triangle inequality, which this metric is not known to "
            "satisfy; use 'euclidean', 'manhattan', 'chebyshev', 'levenshtein', 'hamming' or 'haversine', pass "
            "metric_params={'symmetric': True, 'triangle': True} if your function is a metric, or use "
            "algorithm='pairedpam'"
        )
    check_memory("active", problem.n, 9 * problem.n**2, problem.memory_limit)
    search = _Active(_KnownRows(problem, run))
    assignment = search.build() if problem.starts_with_build else initialize(search.rows)
    return descend(problem, run, assignment, lambda _: search.swap(assignment))


class _Known:
    """Lower bounds on all distances, and which of them are the distances themselves."""

    def __init__(self, n: int) -> None:
        self.least, self.known = np.zeros((n, n)), np.eye(n, dtype=bool)

    def sharpen(self, i: int) -> None:
        """Raise the bounds of all pairs of points whose distances to i are known."""
        points = np.flatnonzero(self.known[i])
        row = self.least[i, points]
        for span in spans(len(points), _BOUND_ROWS):
            some = row[span, None]
            bound = np.abs(some - row) - _ROUNDING * (some + row)
            if len(points) == len(self.least):  # without copies
                np.maximum(self.least[span], bound, out=self.least[span])
            else:
                at = np.ix_(points[span], points)
                self.least[at] = np.maximum(self.least[at], bound)


class _KnownRows(RowSource):
    """Distances that are asked for once."""

    def __init__(self, problem: Problem, run: Run) -> None:
        super().__init__(problem, run)
        self.store = run.shared(_Known, lambda: _Known(problem.n))

    def ask(self, i: int, points: Rows) -> None:
        """Make sure that the distances from row i to some points are known."""
        store = self.store
        new = points[~store.known[i, points]]
        if len(new):
            found = super().measure(np.array([i]), new, self.run.tally.current)[0]
            store.least[i, new] = store.least[new, i] = found
            store.known[i, new] = store.known[new, i] = True

    def rows(self, rows: Rows) -> Float64s:
        every = np.arange(self.problem.n)
        for i in rows.tolist():
            if not self.store.known[i].all():
                self.ask(i, every)
                self.store.sharpen(i)
        return self.store.least[rows]

    def block(self, rows: Rows, points: Rows) -> Float64s:
        for i in rows.tolist():
            self.ask(i, points)
        return self.store.least[np.ix_(rows, points)]

    def measure(self, medoids: Rows, points: Rows, phase: str = "assignment") -> Float64s:
        with self.run.phase(phase):
            return self.block(medoids, points)

    def add_all(self, assignment: Assignment, medoids: Rows) -> None:
        for i in medoids.tolist():
            self.add(assignment, i)


class _Active:
    """The search for the best candidate of a step."""

    def __init__(self, rows: _KnownRows) -> None:
        self.rows, self._store, self._problem, self._run = rows, rows.store, rows.problem, rows.run

    def build(self) -> Assignment:
        assignment = self.rows.start()
        while len(assignment.medoids) < self._problem.k:
            with self._run.phase("build"):
                found = self._best(assignment, swaps=False)
                assert found is not None
                _, i, compared = found
                row = self.rows.row(i, assignment.d2)
            assignment.add(i, row)
            self._run.step("build", assignment, i, references=self._problem.n, candidates=compared)
        return assignment

    def swap(self, assignment: Assignment) -> bool:
        """Make the best swap, if one helps."""
        with self._run.phase("swap"):
            found = self._best(assignment, swaps=True)
            if found is None:
                return False
            slot, i, compared = found
            row = self.rows.row(i, assignment.d2)
        if not assignment.swap_improves(slot, row):
            return False
        accept(self._run, assignment, slot, i, row, references=self._problem.n, candidates=compared)
        return True

    def _best(self, assignment: Assignment, *, swaps: bool) -> tuple[int, int, int] | None:
        """Return (slot, row, rows compared) of the best step; None if bounds rule out that any helps."""
        free = np.setdiff1d(self._problem.candidates, assignment.medoids).tolist()
        heap = [(float(self._losses(assignment, i, swaps=swaps).min()), i) for i in free]
        heapify(heap)
        bar = assignment.loss if swaps else np.inf
        exact: dict[int, Float64s] = {}
        while heap:
            self._run.check()
            _, i = heap[0]
            bound = float(self._losses(assignment, i, swaps=swaps).min())
            if bound > heap[0][0]:  # it has risen: perhaps another one comes first now
                heapreplace(heap, (bound, i))
                continue
            if swaps:
                self._foresee(assignment.loss, min(bound, bar), heap)
            if bound > bar * (1 + TOLERANCE) or (swaps and bound >= assignment.loss):
                break
            heappop(heap)
            losses = self._settle(assignment, i, bar, swaps=swaps)
            if losses is None:
                continue  # its bound has risen above what another candidate reaches
            exact[i], bar = losses, min(bar, float(losses.min()))
        if not exact:
            return None
        order = sorted(exact)
        table = np.stack([exact[i] for i in order], axis=1)
        slot, at = lowest(table, table)  # distances are not negative, so losses are their own magnitudes
        return slot, order[at], len(order)

    def _losses(self, assignment: Assignment, i: int, *, swaps: bool) -> Float64s:
        """Return lower bounds on the losses of a candidate in each slot, or if it is added."""
        row = self._store.least[i]
        return assignment.swap_losses(row) if swaps else assignment.after_additions(row[None])[0][0]

    def _settle(self, assignment: Assignment, i: int, bar: float, *, swaps: bool) -> Float64s | None:
        """Ask for the distances of a candidate until its losses are exact, or until none of them reaches the bar."""
        lot = 0
        while True:
            losses = self._losses(assignment, i, swaps=swaps)
            in_question = losses <= bar * (1 + TOLERANCE)
            missing = self._missing(assignment, i, in_question, swaps=swaps) if in_question.any() else None
            if missing is None or not len(missing):
                if lot:
                    self._store.sharpen(i)
                return None if missing is None else np.where(in_question, losses, np.inf)
            lot = lot or max(_ASKED_LEAST, -(-len(missing) // _LOTS))
            self.rows.ask(i, missing[:lot])

    def _missing(self, assignment: Assignment, i: int, in_question: Bools, *, swaps: bool) -> Rows:
        """Return the points whose distances to a candidate may count and are unknown; those that may change most first.

        A distance above d2, or above d1 where the point's own medoid is not the one that leaves, does not count.
        """
        limit = assignment.d1
        if swaps:
            limit = np.where(in_question[assignment.nearest], assignment.d2, assignment.d1)
        least = self._store.least[i]
        points = np.flatnonzero(~self._store.known[i] & (least < limit) & (self._problem.weights > 0))
        highest = np.where(np.isfinite(limit[points]), limit[points], least[points] + 1.0)
        room = self._problem.weights[points] * (highest - least[points])
        ordered: Rows = points[np.argsort(-room, kind="stable")]
        return ordered

    def _foresee(self, loss: float, lowest_loss: float, heap: list[tuple[float, int]]) -> None:
        """Take note of what is proved of the swaps of the current medoids."""
        left = sum(bound < loss for bound, _ in heap)
        gain = max(0.0, loss - lowest_loss) / self._problem.total_weight
        self._run.outlook = Outlook(left, gain, certain=True)
