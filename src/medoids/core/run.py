"""One run of an algorithm: the means to work, and what has happened so far."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import inf, isfinite
from time import perf_counter
from typing import Any, TypeVar, cast

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.distances import Allowance, Counted, Tally
from medoids.engine.arrays import Float64s
from medoids.engine.threads import Threads
from medoids.result import Outlook, TraceRecord
from medoids.storage.checkpoints import Checkpoint
from medoids.storage.saved import Best, Saved, random_of, state_of

__all__ = ["SMALLEST_LOSS", "TOO_LARGE", "TOO_SMALL", "Journal", "Proof", "Run"]

Made = TypeVar("Made")
Watcher = Callable[[TraceRecord], object]

_RESCALE = "and an algorithm that samples needs their spread; rescale X, or use algorithm='fastpam1'"
TOO_LARGE = f"distances are too large: their squares overflow, {_RESCALE}"
TOO_SMALL = f"distances are too small: their squares vanish, {_RESCALE}"
_UNDERFLOWED = (
    "rows of X differ by so little that their squared distances underflow, and the loss with them; rescale X, or use "
    "metric='euclidean'"
)
# Mean distances above it have squares of full precision, even where they differ by one part in 1e10.
SMALLEST_LOSS = 1e-140


@dataclass(frozen=True)
class Proof:
    """What "optimal" knows of the best possible loss, while it runs and at the end.

    Attributes
    ----------
    lower_bound : float
        On the weighted sum of distances.
    nodes : int
        Of branch and bound.
    note : str
        What kept it from a proof; empty while it runs, and where it is proved.
    stage, share : str, float
        What it does now, and the share of that which is done.
    """

    lower_bound: float = -inf
    nodes: int = 0
    note: str = ""
    stage: str = ""
    share: float = 0.0


class Run:
    """The means to solve a problem, and the steps so far.

    Parameters
    ----------
    problem : Problem
    threads : Threads
    random : numpy.random.RandomState
    tally : Tally
        Counts the distances that are computed.
    callback : callable, optional
        Called with each trace record; returning True stops the algorithm after its start is complete.
    allowance : Allowance, optional
        How many distances may be computed; any number by default.

    Attributes
    ----------
    distance : Counted
        The problem's distance; what it computes is counted.
    trace : list of TraceRecord
    medoids : tuple of int
        Those after the last step; fewer than k while BUILD runs.
    stopped : bool
        Whether the callback asked to stop.
    position : dict
        Where in its own course an algorithm was that is resumed; empty at a fresh start.
    proof : Proof or None
        Of "optimal".
    outlook : Outlook or None
        What a search under way knows of the swaps of the current medoids.
    """

    def __init__(
        self,
        problem: Problem,
        threads: Threads,
        random: np.random.RandomState,
        tally: Tally,
        callback: Watcher | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self.allowance = Allowance() if allowance is None else allowance
        self.threads, self.random, self.tally, self._callback = threads, random, tally, callback
        self.distance = Counted(problem.distance, tally)
        self._total_weight = problem.total_weight
        self._watchers: list[Watcher] = []
        self._shared: dict[type, Any] = {}
        self._saved: Saved | None = None
        self.journal: Journal | None = None
        self.started = perf_counter()
        self.stopped = False
        self.medoids: tuple[int, ...] = ()
        self.trace: list[TraceRecord] = []
        self.position: dict[str, Any] = {}
        self.proof: Proof | None = None
        self.outlook: Outlook | None = None

    def part(self, problem: Problem) -> Run:
        """Return the run of a part of the problem, whose steps are reported to nobody."""
        return Run(problem, self.threads, self.random, self.tally, allowance=self.allowance)

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Count distances under this name while the block runs."""
        return self.tally.phase(name)

    def check(self) -> None:
        """Raise what ends the fit early, Ctrl-C or the time limit. For loops that do not map chunks to threads."""
        self.threads.interrupts.check()

    def watch(self, watcher: Watcher) -> None:
        """Call ``watcher`` with each step, before the user's own callback."""
        self._watchers.append(watcher)

    def shared(self, kind: type[Made], make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned when it was first called: computed once for all starts of the run."""
        if kind not in self._shared:
            self._shared[kind] = make()
        return cast(Made, self._shared[kind])

    def has(self, kind: type) -> bool:
        """Whether something of this kind is shared."""
        return kind in self._shared

    def keep_journal(self, journal: Journal, saved: Saved | None) -> None:
        """Write each step into a checkpoint, and resume from what it held."""
        self.journal, self._saved = journal, saved
        if saved is not None:
            self.started -= saved.seconds
            self.tally.counts.update(saved.counts)
            self.random = random_of(saved.origin)

    def begin(self, start: int = 0) -> None:
        """Begin a start of the algorithm."""
        if self.journal is not None:
            self.journal.begin(start, self.random)
        self.trace, self.position = [], {}
        self.check()

    def resume(self, assign: Callable[[list[int]], Assignment]) -> Assignment | None:
        """Return the state of the checkpoint, once; None without one."""
        if (saved := self._saved) is None:
            return None
        assignment = assign(saved.medoids)
        self._saved = None  # only now: an interrupt before must not lose it
        self.trace, self.position = list(saved.trace), dict(saved.position)
        self.random.set_state(random_of(saved.random).get_state(legacy=False))
        self.medoids = tuple(saved.medoids)
        if self.position.get("proof", {}).get("lower_bound") is not None:
            self.proof = Proof(self.position["proof"]["lower_bound"])
        return assignment

    def check_squares(self, squares: Float64s) -> None:
        """Refuse distances whose squares overflow or vanish: an algorithm that samples needs their spread."""
        if not np.isfinite(squares).all():
            raise ValueError(TOO_LARGE)
        if self.trace:
            self.check_scale(self.trace[-1].loss)

    @staticmethod
    def check_scale(loss: float) -> None:
        """Refuse distances that are so small that their squares vanish."""
        if 0 < abs(loss) < SMALLEST_LOSS:
            raise ValueError(TOO_SMALL)

    def step(
        self,
        phase: str,
        assignment: Assignment,
        medoid_in: int | None = None,
        medoid_out: int | None = None,
        *,
        references: int,
        candidates: int,
        position: dict[str, Any] | None = None,
    ) -> None:
        """Record a step: in the trace, in the checkpoint, and by calling watchers and the callback.

        ``position`` is what the algorithm needs beside the medoids to resume from here.
        """
        _check_finite(assignment)
        if 0 < assignment.d1.max(initial=0) < self.distance.least_accurate:
            raise ValueError(_UNDERFLOWED)
        step = TraceRecord(
            phase,
            medoid_in,
            medoid_out,
            assignment.loss / self._total_weight,
            self.tally.computed,
            perf_counter() - self.started,
            references,
            candidates,
            self._proved_loss(),
        )
        self.trace.append(step)
        # Kept apart from the assignment, which an interrupt may catch in the middle of an update.
        self.medoids, self.outlook = tuple(assignment.medoids), None
        if self.journal is not None:
            self.journal.store(self, {"swaps": sum(s.phase == "swap" for s in self.trace), **(position or {})})
        for watcher in self._watchers:
            watcher(step)
        if self._callback is not None:
            answer = self._callback(step)
            # Comparing a loss gives NumPy's True. Anything else, such as what list.append returns, does not stop.
            self.stopped |= isinstance(answer, (bool, np.bool_)) and bool(answer)
        self.check()

    def _proved_loss(self) -> float | None:
        """Return the lower bound as a mean distance, if there is one."""
        if self.proof is None or not isfinite(self.proof.lower_bound):
            return None
        return self.proof.lower_bound / self._total_weight


def _check_finite(assignment: Assignment) -> None:
    if np.isfinite(assignment.loss):
        return
    if np.isfinite(assignment.d1).all():
        raise ValueError("the sum of the distances overflows, though each is finite; rescale X")
    s = int(np.argmin(np.isfinite(assignment.d1)))
    raise ValueError(
        f"the distance from row {assignment.medoids[assignment.nearest[s]]} to row {s} of X is "
        f"{assignment.d1[s]}; rescale X, or use a metric that is finite on it"
    )


class Journal:
    """Writes the steps of a run into its checkpoint.

    Attributes
    ----------
    best : Best or None
        The best of the starts before the current one.
    """

    def __init__(self, file: Checkpoint, algorithm: str, swap: str, reason: str) -> None:
        self._file, self._algorithm, self._swap, self._reason = file, algorithm, swap, reason
        self._start, self._origin = 0, dict[str, Any]()
        self.best: Best | None = None

    def begin(self, start: int, random: np.random.RandomState) -> None:
        self._start, self._origin = start, state_of(random)

    def store(self, run: Run, position: dict[str, Any]) -> None:
        self._file.save(
            Saved(
                self._algorithm,
                self._swap,
                self._reason,
                list(run.medoids),
                run.trace,
                run.tally.counts,
                run.trace[-1].seconds,
                self._origin,
                state_of(run.random),
                position,
                self._start,
                self.best,
            )
        )
