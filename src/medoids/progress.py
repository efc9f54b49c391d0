"""What a fit prints while it runs: a progress bar on a terminal, a line per step if requested, otherwise nothing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from medoids.result import TraceRecord
from medoids.wording import abbreviate

if TYPE_CHECKING:
    from medoids.core.problem import Problem
    from medoids.core.run import Run

__all__ = ["narrated"]


@contextmanager
def narrated(problem: Problem, run: Run, algorithm: str, reason: str, verbose: int) -> Iterator[None]:
    """Print the steps of a problem to standard error, and still call the user's own callback.

    With ``verbose=1``, a terminal gets a progress bar, or lines if ``rich`` is not installed, and anything else gets
    nothing. With a higher number, there is always a line per step.
    """
    terminal = verbose == 1 and sys.stderr.isatty()
    if verbose < 2 and not terminal:
        yield
        return
    show = _show_bar if terminal and find_spec("rich") else _print_lines
    with show(problem, run, algorithm, reason) as update:
        run.watch(update)
        yield


def _change(step: TraceRecord) -> str:
    """Return what a step did, as in "+12 -7".

    >>> _change(TraceRecord("swap", 12, 7, 1.5, 100, 0.1, 10, 1))
    '+12 -7'
    """
    change = "start" if step.medoid_in is None else f"+{step.medoid_in}"
    return change if step.medoid_out is None else f"{change} -{step.medoid_out}"


@contextmanager
def _print_lines(problem: Problem, run: Run, algorithm: str, reason: str) -> Iterator[Any]:
    sys.stderr.write(f"medoids: {algorithm} ({reason})\n")
    yield lambda step: sys.stderr.write(
        f"{step.seconds:8.2f} s  {step.phase:5}  {_change(step):<18} loss {step.loss:.6g}  "
        f"{step.n_evaluations:,} distances\n"
    )


@contextmanager
def _show_bar(problem: Problem, run: Run, algorithm: str, reason: str) -> Iterator[Any]:
    """Show phase, medoid, loss, distances, their rate and the remaining time.

    BUILD has k steps, so its end can be predicted. The number of swaps is not known in advance: during SWAP, the bar
    pulses and there is no remaining time.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    tally = run.tally

    class Distances(ProgressColumn):
        """Counts during a step, too, so that the bar changes even if a step takes a minute."""

        def render(self, task: Task) -> Text:
            computed = sum(count.computed for count in list(tally.counts.values()))
            rate = computed / task.elapsed if task.elapsed else 0.0
            return Text(f"{abbreviate(computed)} distances {abbreviate(rate)}/s", style="cyan")

    console = Console(stderr=True)
    console.print(f"medoids: {algorithm} ({reason})", style="dim", markup=False, highlight=False)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.fields[phase]:<9}", style="bold"),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[change]}"),
        TextColumn("{task.fields[loss]}", style="green"),
        Distances(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    ) as progress:
        bar = progress.add_task("", total=problem.k, phase="build", change="", loss="")

        def update(step: TraceRecord) -> None:
            # From the trace, since a resumed fit has made steps before.
            done = Counter(record.phase for record in run.trace)
            building = step.phase == "build" and step.medoid_in is not None and done["build"] < problem.k
            if not building:
                progress.tasks[0].total = None  # `update` takes None for "no change"
            phase = f"build {done['build']}/{problem.k}" if building else f"swap {done['swap']}"
            fields = {"phase": phase, "change": _change(step), "loss": f"loss {step.loss:.6g}"}
            progress.update(bar, completed=done["build"], **fields)  # type: ignore[arg-type]

        yield update
        progress.update(bar, total=1, completed=1, phase="done")
