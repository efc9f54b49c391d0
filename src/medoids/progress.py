"""What a fit says while it runs, on standard error: a bar on a terminal, elsewhere a line every few seconds.

A line at once says what is going to happen, and one at the end what came out. All of it comes from three sources: the
steps of the trace, the counts of distances, and `Interrupts.watch`, which is called between chunks of work.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING

from medoids.engine import compiling, interrupts
from medoids.result import TraceRecord, gap_between
from medoids.wording import abbreviate, counted

if TYPE_CHECKING:
    from medoids.core.problem import Problem
    from medoids.core.run import Run

__all__ = ["narrated"]

# Seconds between two lines.
_SECONDS_PER_LINE = 5.0
# Columns of a terminal from which on the bar also shows the rate and the last change.
_WIDE_TERMINAL = 120


@contextmanager
def narrated(problem: Problem, run: Run, verbose: int, max_swaps: int) -> Iterator[Callable[[str], None]]:
    """Report the progress of a run on standard error.

    Parameters
    ----------
    problem : Problem
    run : Run
    verbose : int
        0 says nothing, 1 shows a bar or a line every few seconds, 2 has a line for each step.
    max_swaps : int
        Swaps of which the percentage is a share.

    Yields
    ------
    callable
        To be called with what is going to happen, as soon as that is known.
    """
    if verbose < 1:
        yield lambda plan: None
        return
    course = _Course(problem, run, max_swaps)
    shows_bar = verbose == 1 and sys.stderr.isatty() and find_spec("rich") is not None
    with _bar(course) if shows_bar else _lines(course, verbose > 1) as teller, _listening(run, course, teller):

        def begin(plan: str) -> None:
            course.begun = True
            teller.say(plan)

        try:
            yield begin
        except (KeyboardInterrupt, interrupts.TimeUp):
            course.end = "stopped"
            raise
        course.end = "done"


@dataclass
class _Teller:
    """What a bar or lines do: say something, take note of a step, and look at the clock between chunks of work."""

    say: Callable[[str], None]
    step: Callable[[TraceRecord], None] = lambda step: None
    watch: Callable[[], None] = lambda: None


@contextmanager
def _listening(run: Run, course: _Course, teller: _Teller) -> Iterator[None]:
    @cache
    def compiles() -> None:
        teller.say("compiling kernels, about 10 s, once")

    run.watch(course.step)
    run.watch(teller.step)
    run.threads.interrupts.watch = teller.watch
    compiling.listeners.append(compiles)
    try:
        yield
    finally:
        run.threads.interrupts.watch = None
        compiling.listeners.remove(compiles)


class _Course:
    """How far a fit has come.

    Attributes
    ----------
    begun : bool
        Whether the algorithm is known.
    end : str
        "done" or "stopped"; empty while it runs.
    last : TraceRecord or None
        The last step.
    """

    def __init__(self, problem: Problem, run: Run, max_swaps: int) -> None:
        self.problem, self.run, self.max_swaps = problem, run, max_swaps
        self.began = interrupts.clock()
        self.begun, self.end, self.swaps = False, "", 0
        self.last: TraceRecord | None = None

    def step(self, step: TraceRecord) -> None:
        # A resumed fit has made steps before.
        self.swaps += sum(record.phase == "swap" for record in (self.run.trace if self.last is None else [step]))
        self.last = step

    @property
    def seconds(self) -> float:
        return interrupts.clock() - self.began

    @property
    def distances(self) -> int:
        # Of a slow function each call is counted, of anything else a block when it is done.
        return max(self.run.tally.calls, sum(count.computed for count in list(self.run.tally.counts.values())))

    def phase(self) -> tuple[str, float]:
        """Return the phase with its numbers, and the share of it that is done.

        For the matrix it is the share of its distances, for BUILD that of the k steps. The number of swaps is not
        known in advance: for them it is the share of the maximum.
        """
        if self.end == "done":
            return self.end, 1.0
        phase, share = self._under_way()
        return self.end or phase, share

    def _under_way(self) -> tuple[str, float]:
        if (share := self.run.tally.share) is not None:
            return self.run.tally.current, share
        proof = self.run.proof
        if proof is not None and proof.stage:
            return proof.stage, proof.share
        k, last = self.problem.k, self.last
        if last is None:
            return (f"build 0/{k}" if self.begun else "start"), 0.0
        built = sum(record.phase == "build" for record in self.run.trace)
        if last.phase == "build" and last.medoid_in is not None and built < k:
            return f"build {built}/{k}", built / k
        return f"swap {self.swaps}/{self.max_swaps}", min(1.0, self.swaps / max(1, self.max_swaps))

    def loss(self) -> str:
        """Return the loss, and what "optimal" has proved of it."""
        if self.last is None:
            return ""
        loss, proof = self.last.loss, self.run.proof
        if proof is None or not isfinite(proof.lower_bound):
            return f"loss {loss:.6g}"
        bound = proof.lower_bound / self.problem.total_weight
        return f"loss {loss:.6g}, bound {bound:.6g}, gap {100 * gap_between(loss, bound):.2g}%"


def _change(step: TraceRecord) -> str:
    """Return what a step did, as in "+12 -7"; nothing where medoids were found or proved as a whole.

    >>> _change(TraceRecord("swap", 12, 7, 1.5, 100, 0.1, 10, 1))
    '+12 -7'
    """
    if step.phase in ("restart", "proof"):
        return ""
    change = "start" if step.medoid_in is None else f"+{step.medoid_in}"
    return change if step.medoid_out is None else f"{change} -{step.medoid_out}"


@contextmanager
def _lines(course: _Course, every_step: bool) -> Iterator[_Teller]:
    """Write lines on standard error: at most one every few seconds, or one for each step."""
    lock, due = threading.Lock(), course.began + _SECONDS_PER_LINE

    def say(text: str) -> None:
        sys.stderr.write(f"medoids: {text}\n")
        sys.stderr.flush()

    def step(step: TraceRecord) -> None:
        nonlocal due
        if every_step:
            due = interrupts.clock() + _SECONDS_PER_LINE
            bound = "" if step.lower_bound is None else f"  bound {step.lower_bound:.6g}"
            sys.stderr.write(
                f"{step.seconds:8.2f} s  {step.phase:5}  {_change(step):<18} loss {step.loss:.6g}{bound}  "
                f"{step.n_evaluations:,} distances\n"
            )

    def watch() -> None:  # called between chunks of work, from any thread
        nonlocal due
        if interrupts.clock() < due or not lock.acquire(blocking=False):
            return
        try:
            if interrupts.clock() >= due:
                due = interrupts.clock() + _SECONDS_PER_LINE
                phase, share = course.phase()
                parts = [f"{phase} ({share:.0%})", course.loss(), f"{abbreviate(course.distances)} distances"]
                say(f"{course.seconds:,.0f} s: {', '.join(filter(None, parts))}")
        finally:
            lock.release()

    try:
        yield _Teller(say, step, watch)
    finally:
        if course.end:
            parts = [course.loss(), counted(course.swaps, "swap"), f"{course.distances:,} distances"]
            when = f"{course.end} {'in' if course.end == 'done' else 'after'} {course.seconds:,.1f} s"
            say(f"{when}: {', '.join(filter(None, parts))}")


@contextmanager
def _bar(course: _Course) -> Iterator[_Teller]:
    """Show phase, percentage, loss, distances and time; on a wide terminal also the rate and the last change.

    The bar draws itself ten times a second.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    class Live(ProgressColumn):
        """Read while a step is under way, too: the bar moves even where a step takes a minute."""

        def __init__(self, text: Callable[[], str], style: str) -> None:
            super().__init__()
            self._text, self._style = text, style

        def render(self, task: Task) -> Text:
            return Text(self._text(), style=self._style, no_wrap=True)

    class Share(BarColumn):
        def render(self, task: Task) -> ProgressBar:
            return ProgressBar(total=1, completed=course.phase()[1], width=self.bar_width)

    console = Console(stderr=True)
    columns: list[ProgressColumn] = [
        SpinnerColumn(),
        Live(lambda: f"{course.phase()[0]:<13}", "bold"),
        Share(bar_width=8),
        Live(lambda: f"{course.phase()[1]:4.0%}", "magenta"),
        Live(course.loss, "green"),
        Live(lambda: "" if course.run.proof else f"{abbreviate(course.distances)} distances", "cyan"),
        TimeElapsedColumn(),
    ]
    if console.width >= _WIDE_TERMINAL:
        columns += [
            Live(lambda: f"{abbreviate(course.distances / max(course.seconds, 1e-3))}/s", "cyan"),
            Live(lambda: "" if course.last is None else _change(course.last), "dim"),
        ]
    with Progress(*columns, console=console, transient=False) as progress:
        task = progress.add_task("", total=1)
        print_dim = partial(progress.console.print, style="dim", markup=False, highlight=False)
        yield _Teller(lambda text: print_dim(f"medoids: {text}"))
        progress.update(task, completed=1)
