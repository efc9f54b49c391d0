"""What every algorithm is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from medoids.core.assignment import DOUBT, Assignment
from medoids.core.shares import count_shares, largest_share
from medoids.distances import Counted
from medoids.engine import interrupts
from medoids.engine.threads import Threads, spans
from medoids.result import TraceRecord
from medoids.storage.checkpoints import Checkpoint
from medoids.storage.saved import Best, Saved, random_of, state_of

if TYPE_CHECKING:  # these are made from a problem
    from medoids.core.rows import MedoidRows
    from medoids.exact.matrix import Matrix

__all__ = ["TOO_LARGE", "Problem", "Solution"]

TOO_LARGE = (
    "distances are too large: their squares overflow, and an algorithm that samples needs their spread; "
    "rescale X, or use algorithm='fastpam1'"
)
TOO_SMALL = (
    "distances are too small: their squares vanish, and an algorithm that samples needs their spread; "
    "rescale X, or use algorithm='fastpam1'"
)
# Mean distances whose squares have full precision, and those of a part in 1e10 of them.
_SMALLEST = 1e-140
# Points of a chunk of exact distances.
_POINTS = 4096
# Chunks after which pages of a mapped file are given back.
_STRETCH = 64
# Medoids of one: so few are measured directly, to the same digits in any company.
_FEW = 16
# Nanoseconds from which on a distance is dear, and how many of these are timed.
_DEAR, _TIMED = 1_000.0, 16
# Distances from all medoids to all points are kept up to so many bytes, or so large a share of memory_limit.
_LITTLE, _SHARE = 1 << 26, 8


@dataclass
class Problem:
    """Points, weights and k, with the means to solve it.

    Attributes
    ----------
    distance : Counted
    weights : ndarray of shape (n,)
        A point of weight 0 is never a medoid.
    allowed : ndarray of bool, shape (n,), or None
        Rows that may become medoids, the frozen and given initial ones among them; None for all of positive weight.
    k : int
    init : str or ndarray
    max_iter : int
        Most swaps.
    random : numpy.random.RandomState
    threads : Threads
    memory_limit : int
        Bytes for stored distances.
    delta : float or None
        Sets the width of a search's bounds; None takes the algorithm's own.
    cache_width : int
        Distances a point that BanditPAM's cache may hold.
    swap : {"best", "eager"}
    callback : callable or None
        Called with each trace record; returning True stops after the start is complete.
    frozen : tuple of int
        Rows that stay medoids.
    known : dict
        Exact distances from some rows to all points, which need not be computed again.
    checkpoint : Journal or None
        Where each step is stored.
    saved : Saved or None
        The state to go on from, until `resume` takes it up.
    position : dict
        Where in its own course an algorithm was that goes on; empty at a fresh start.
    """

    distance: Counted
    weights: npt.NDArray[np.float64]
    k: int
    init: str | npt.NDArray[np.intp]
    max_iter: int
    random: np.random.RandomState
    threads: Threads
    memory_limit: int
    delta: float | None = None
    cache_width: int = 1000
    swap: str = "best"
    callback: Callable[[TraceRecord], object] | None = None
    frozen: tuple[int, ...] = ()
    allowed: npt.NDArray[np.bool_] | None = None
    known: dict[int, npt.NDArray[np.float64]] = field(default_factory=dict)
    started: float = field(default_factory=perf_counter)
    trace: list[TraceRecord] = field(default_factory=list)
    medoids: tuple[int, ...] = ()  # after the last step; fewer than k while BUILD runs
    best: Solution | None = None  # of the starts so far
    matrix: Matrix | None = None  # kept over starts, where an algorithm needs it
    medoid_rows: MedoidRows | None = None  # where there is no matrix, and room for these
    stopped: bool = False
    out_of_time: bool = False
    drawn: int = 0  # medoids that were drawn to complete a start that was cut short
    checkpoint: Journal | None = None
    saved: Saved | None = None
    position: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.distance.n

    @cached_property
    def shares(self) -> npt.NDArray[np.intp]:
        """How many references each row counts as."""
        largest = largest_share(float(self.weights.sum()), int(np.count_nonzero(self.weights)))
        return count_shares(self.weights, largest)

    @cached_property
    def share_weights(self) -> npt.NDArray[np.float64]:
        """Weight of each of a row's references, in a unit near their mean, so that squares fit into float32."""
        weights = self.weights / np.maximum(self.shares, 1)
        return weights / self.share_unit

    @cached_property
    def share_unit(self) -> float:
        """The unit of `share_weights`: a power of 2, which changes no digit."""
        return float(2.0 ** np.round(np.log2(self.weights.sum() / np.count_nonzero(self.weights))))

    @property
    def eligible(self) -> npt.NDArray[np.bool_]:
        """Whether each row may become a medoid."""
        weighed: npt.NDArray[np.bool_] = self.weights > 0
        return weighed if self.allowed is None else weighed & self.allowed

    @property
    def candidates(self) -> npt.NDArray[np.intp]:
        """Rows that may become medoids."""
        return np.flatnonzero(self.eligible)

    @property
    def references(self) -> npt.NDArray[np.intp]:
        """Rows whose distances count in the loss: those of positive weight."""
        return np.flatnonzero(self.weights > 0)

    def with_candidates(self, rows: npt.NDArray[np.intp], k: int) -> npt.NDArray[np.intp]:
        """Return some rows in order, and beside them drawn candidates where they have fewer than k."""
        lacking = k - int(np.count_nonzero(self.eligible[rows]))
        if lacking > 0:
            others = np.setdiff1d(self.candidates, rows)
            rows = np.concatenate([rows, self.random.choice(others, lacking, replace=False)])
        return np.sort(rows)

    def exact_rows(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Distances from some rows, as medoids, to all points."""
        out = np.empty((len(rows), self.n))

        def work(points: slice) -> None:
            out[:, points] = self.distance.exact_block(rows, points)

        chunks = spans(self.n, _POINTS)
        for stretch in spans(len(chunks), _STRETCH):
            self.threads.map(work, chunks[stretch], threaded=self.distance.threaded)
            self.distance.release()
        return out

    def sharpen(self, i: int, row: npt.NDArray[np.float64], below: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Make the distances from i to all points exact where they may be up to the limits given.

        Who is nearest and second nearest is decided among those up to d2, which are about 2/k of all.
        """
        near = np.flatnonzero(row <= (1 + DOUBT) * below)
        row[near] = self.measure(np.array([i]), near, "exact")[0]
        return row

    def has_room(self, size: int) -> bool:
        """Tell whether so many bytes for each medoid and point may be kept."""
        return size * self.k * self.n <= max(_LITTLE, self.memory_limit // _SHARE)

    def part(self, sample: npt.NDArray[np.intp], *, init: str | npt.NDArray[np.intp], max_iter: int) -> Problem:
        """Return the problem of some rows only, in ascending order, which tells nobody of its steps."""
        return replace(
            self,
            distance=self.distance.take(sample),
            weights=self.weights[sample],
            allowed=None if self.allowed is None else self.allowed[sample],
            init=init,
            max_iter=max_iter,
            callback=None,
            trace=[],
            matrix=None,
            medoid_rows=None,
            frozen=tuple(np.searchsorted(sample, self.frozen).tolist()),
            known={},
            checkpoint=None,
            saved=None,
            position={},
        )

    def check(self) -> None:
        """Raise what ends the fit early: Ctrl-C, or the time limit. For loops that hand no chunks to the threads."""
        self.threads.interrupts.check()

    def seconds_per_distance(self) -> float:
        """Time one small chunk of exact distances, such as the final assignment consists of."""
        first, count = self.candidates[:1], min(self.n - 1, _POINTS if self.distance.cost < _DEAR else _TIMED)
        if count == 0:
            return 0.0
        with self.distance.tally.phase("exact"):
            self.distance.exact_block(first, slice(0, 1))  # compile
            began = interrupts.clock()
            self.distance.exact_block(first, slice(1, 1 + count))
        jobs = self.threads.n_jobs if self.distance.threaded else 1
        return (interrupts.clock() - began) / (count * jobs)

    def let_go(self) -> None:
        """Forget what knows this problem, at its end: else all would stay until the garbage collector comes by."""
        self.matrix = self.medoid_rows = self.best = None

    def add(self, assignment: Assignment, i: int) -> None:
        """Make row i the next medoid."""
        if i in self.known:
            row = self.known[i]
        else:
            with self.distance.tally.phase("assignment"):
                source = self.matrix or self.medoid_rows
                row = self.exact_rows(np.array([i]))[0] if source is None else source.row(i, assignment.d2)
        assignment.add(i, row)

    def assign(self, medoids: npt.ArrayLike) -> Assignment:
        """Return the state with these medoids."""
        source, measure, estimate = self.matrix or self.medoid_rows, None, None
        if source is not None and not source.exact:
            measure, estimate = self.measure, source.estimate
        elif not self.has_room(8):
            measure = self.measure
        assignment = Assignment(self.weights, self.k, self.frozen, measure, estimate)
        for i in np.asarray(medoids).tolist():
            self.add(assignment, i)
        return assignment

    def measure(
        self, medoids: npt.NDArray[np.intp], points: npt.NDArray[np.intp], phase: str = "assignment"
    ) -> npt.NDArray[np.float64]:
        """Exact distances from some medoids to some points."""
        out = np.empty((len(medoids), len(points)))

        def work(lot: slice) -> None:
            for few in spans(len(medoids), _FEW):
                out[few, lot] = self.distance.exact_block(medoids[few], points[lot])

        with self.distance.tally.phase(phase):
            self.threads.map(work, spans(len(points), _POINTS), threaded=self.distance.threaded)
        self.distance.release()
        return out

    def begin(self) -> Assignment:
        """Return the state that BUILD starts from: no medoid but the frozen ones, each a step of the trace."""
        assignment = self.resume() or self.assign([])
        for i in self.frozen[len(assignment.medoids) :]:
            self.add(assignment, i)
            self.record("build", assignment, i, None, references=self.n, candidates=1)
        return assignment

    def resume(self) -> Assignment | None:
        """Take up the state of a checkpoint, once; None where there is none, or no more."""
        saved = self.saved
        if saved is None:
            return None
        assignment = self.assign(saved.medoids)
        self.saved = None  # only now: an interrupt before must not lose it
        self.trace, self.position = list(saved.trace), dict(saved.position)
        self.random.set_state(random_of(saved.random).get_state(legacy=False))
        self.medoids = tuple(saved.medoids)
        return assignment

    def check_squares(self, squares: npt.NDArray[np.float64]) -> None:
        """Refuse distances whose squares overflow or vanish: an algorithm that samples needs their spread."""
        if not np.isfinite(squares).all():
            raise ValueError(TOO_LARGE)
        if self.trace and 0 < abs(self.trace[0].loss) < _SMALLEST:
            raise ValueError(TOO_SMALL)

    def record(
        self,
        phase: str,
        assignment: Assignment,
        medoid_in: int | None,
        medoid_out: int | None,
        *,
        references: int,
        candidates: int,
        position: dict[str, Any] | None = None,
    ) -> None:
        """Write a step into the trace and the checkpoint, and tell the callback.

        ``position`` is what an algorithm that goes on from here must know beside the medoids.
        """
        if not np.isfinite(assignment.loss):
            if np.isfinite(assignment.d1).all():
                raise ValueError("the sum of the distances overflows, though each is finite; rescale X")
            s = int(np.argmin(np.isfinite(assignment.d1)))
            raise ValueError(
                f"the distance from row {assignment.medoids[assignment.nearest[s]]} to row {s} of X is "
                f"{assignment.d1[s]}; rescale X, or use a metric that is finite on it"
            )
        step = TraceRecord(
            phase,
            medoid_in,
            medoid_out,
            assignment.loss / float(self.weights.sum()),
            self.distance.tally.computed,
            perf_counter() - self.started,
            references,
            candidates,
        )
        self.trace.append(step)
        # Kept apart from the assignment, which an interrupt may catch in the middle of an update.
        self.medoids = tuple(assignment.medoids)
        if self.checkpoint is not None:
            swaps = sum(record.phase == "swap" for record in self.trace)
            self.checkpoint.store(self, assignment.medoids, {"swaps": swaps, **(position or {})})
        if self.callback is not None:
            answer = self.callback(step)
            # NumPy's True is what comparing a loss gives; anything else, such as what list.append returns, goes on.
            self.stopped |= isinstance(answer, (bool, np.bool_)) and bool(answer)
        self.check()


@dataclass
class Journal:
    """Writes the steps of a problem into its checkpoint.

    Attributes
    ----------
    file : Checkpoint
    algorithm, reason : str
    start : int
        Number of the start that is under way.
    origin : dict
        State of the random numbers when it began.
    """

    file: Checkpoint
    algorithm: str = ""
    reason: str = ""
    start: int = 0
    origin: dict[str, Any] = field(default_factory=dict)

    def begin(self, start: int, random: np.random.RandomState) -> None:
        self.start, self.origin = start, state_of(random)

    def store(self, problem: Problem, medoids: list[int], position: dict[str, Any]) -> None:
        best = problem.best
        self.file.save(
            Saved(
                self.algorithm,
                self.reason,
                list(medoids),
                problem.trace,
                problem.distance.tally.counts,
                problem.trace[-1].seconds,
                self.origin,
                state_of(problem.random),
                position,
                self.start,
                None if best is None else Best(best.assignment.medoids, best.n_swaps, best.converged, best.trace),
            )
        )


@dataclass
class Solution:
    """The final state, the swaps that led to it, whether the algorithm ended by its own rule, and its steps."""

    assignment: Assignment
    n_swaps: int
    converged: bool
    trace: list[TraceRecord] = field(default_factory=list)
