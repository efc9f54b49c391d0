"""What a fit says while it runs: a bar on a terminal, a line for each step where asked for, else nothing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from medoids.result import TraceRecord

if TYPE_CHECKING:
    from medoids.core.problem import Problem
    from medoids.core.run import Run

__all__ = ["narrated"]


@contextmanager
def narrated(problem: Problem, run: Run, algorithm: str, reason: str, verbose: int) -> Iterator[None]:
    """Tell of a problem's steps on standard error, and go on calling the user's own callback.

    Nothing is written into a pipe unless ``verbose`` is above 1, which gives lines; a terminal gets a bar, or lines
    where ``rich`` is not installed.
    """
    if not _speaks(verbose):
        yield
        return
    show = _bar if _shows_bar(verbose) else _lines
    with show(problem, run, algorithm, reason) as tell:
        run.watch(tell)
        yield


def _speaks(verbose: int) -> bool:
    return verbose > 1 or (verbose == 1 and sys.stderr.isatty())


def _shows_bar(verbose: int) -> bool:
    if verbose != 1 or not sys.stderr.isatty():
        return False
    try:
        import rich.progress  # noqa: F401
    except ImportError:
        return False
    return True


def _change(step: TraceRecord) -> str:
    """Return what a step did, as in "+12 -7".

    >>> _change(TraceRecord("swap", 12, 7, 1.5, 100, 0.1, 10, 1))
    '+12 -7'
    """
    change = "start" if step.medoid_in is None else f"+{step.medoid_in}"
    return change if step.medoid_out is None else f"{change} -{step.medoid_out}"


@contextmanager
def _lines(problem: Problem, run: Run, algorithm: str, reason: str) -> Iterator[Any]:
    sys.stderr.write(f"medoids: {algorithm} ({reason})\n")

    def tell(step: TraceRecord) -> None:
        sys.stderr.write(
            f"{step.seconds:8.2f} s  {step.phase:5}  {_change(step):<18} loss {step.loss:.6g}  "
            f"{step.n_evaluations:,} distances\n"
        )

    yield tell


@contextmanager
def _bar(problem: Problem, run: Run, algorithm: str, reason: str) -> Iterator[Any]:
    """Show phase, medoid, loss, distances, their rate and the time left.

    BUILD has k steps, so its end can be foretold. How many swaps follow is not known before they are made: until then
    the bar runs back and forth, and the clock counts upward.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    tally = run.tally

    class Distances(ProgressColumn):
        """Counted while a step is under way, too: the bar moves even where a step takes a minute."""

        def render(self, task: Task) -> Text:
            computed = sum(count.computed for count in list(tally.counts.values()))
            rate = computed / task.elapsed if task.elapsed else 0.0
            return Text(f"{_short(computed)} distances {_short(rate)}/s", style="cyan")

    class Left(ProgressColumn):
        def render(self, task: Task) -> Text:
            if task.total is None:
                return Text("until no swap improves", style="magenta")
            if not task.completed or task.completed >= task.total:
                return Text("")
            seconds = task.fields["seconds"] / task.completed * (task.total - task.completed)
            return Text(f"{seconds:,.0f} s left", style="magenta")

    console = Console(stderr=True)
    console.print(f"medoids: {algorithm} ({reason})", style="dim", markup=False, highlight=False)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[phase]:<9}", style="bold"),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[change]}"),
        TextColumn("{task.fields[loss]}", style="green"),
        Distances(),
        TimeElapsedColumn(),
        Left(),
    )
    with Progress(*columns, console=console, transient=False) as progress:
        bar = progress.add_task("", total=problem.k, phase="build", change="", loss="", seconds=0.0)

        def tell(step: TraceRecord) -> None:
            # Of the trace: a fit that goes on from a checkpoint has made steps before.
            done = Counter(record.phase for record in run.trace)
            told: dict[str, Any] = {"change": _change(step), "loss": f"loss {step.loss:.6g}", "seconds": step.seconds}
            if step.phase == "build" and step.medoid_in is not None and done["build"] < problem.k:
                phase = f"build {done['build']}/{problem.k}"
                progress.update(bar, completed=done["build"], phase=phase, **told)
            else:
                progress.tasks[0].total = None  # to `update`, None is no change
                progress.update(bar, phase=f"swap {done['swap']}", **told)

        yield tell
        progress.update(bar, total=1, completed=1, phase="done")


def _short(number: float) -> str:
    """Write a count in few characters.

    >>> _short(950), _short(12_345), _short(3_400_000)
    ('950', '12.3k', '3.4M')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"
