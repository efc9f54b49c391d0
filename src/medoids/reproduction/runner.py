"""Runs made one after another, each row kept as soon as it is there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from medoids.datasets import DataNotFound, distinct_rows, paper_sample
from medoids.datasets.samples import find
from medoids.datasets.stored import Folder
from medoids.reproduction.cost import expected_seconds, short
from medoids.reproduction.fits import fitted
from medoids.reproduction.peers import installed
from medoids.reproduction.rows import Rows
from medoids.reproduction.run import Run

__all__ = ["carry_out", "missing", "possible"]


def missing(runs: Sequence[Run], rows: Rows) -> list[Run]:
    """Return the runs that have no row yet."""
    return [run for run in runs if run not in rows]


def possible(runs: Sequence[Run], folder: Folder = None) -> tuple[list[Run], list[str]]:
    """Return the runs that can be made here, and why the others cannot: their data or package is not to be had."""
    reasons: dict[str, str] = {}
    for data in dict.fromkeys(run.data for run in runs):
        try:
            find(data, folder)
        except DataNotFound as error:
            reasons[data] = str(error)
    for algorithm in dict.fromkeys(run.algorithm for run in runs):
        if not installed(algorithm):
            reasons[algorithm] = f'{algorithm} is not installed: pip install "medoids[bench]"'
    kept = [run for run in runs if run.data not in reasons and run.algorithm not in reasons]
    return kept, list(reasons.values())


def carry_out(runs: Sequence[Run], rows: Rows, folder: Folder = None, fits: int = 1) -> None:
    """Make the runs that have no row yet, in order; with a bar on a terminal, and silent in a pipe.

    Parameters
    ----------
    runs : sequence of Run
    rows : Rows
        To which each run's row is added.
    folder : path, optional
        Of data files.
    fits : int
        How often a short run is made, for its time: others use the machine too.
    """
    todo = missing(runs, rows)

    @lru_cache(maxsize=1)  # neighbours mostly share their data
    def sample(data: str, kind: str, n: int, seed: int) -> Any:
        return paper_sample(data, n, folder) if kind == "authors" else distinct_rows(data, n, seed, folder)

    with _bar(todo) as tell:
        for run in todo:
            tell(run)
            seed = run.seed if run.sample == "distinct" else 0
            times = fits if short(run) else 1
            rows.add(run, fitted(run, sample(run.data, run.sample, run.n, seed), times))


@contextmanager
def _bar(todo: Sequence[Run]) -> Iterator[Callable[[Run], None]]:
    if not sys.stderr.isatty():
        yield lambda run: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.fields[at]}/{task.fields[of]}"),
        BarColumn(bar_width=20),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("about"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("", total=sum(map(expected_seconds, todo)), at=0, of=len(todo))
        done = 0.0

        def tell(run: Run) -> None:
            nonlocal done
            progress.update(bar, completed=done, description=str(run), at=progress.tasks[0].fields["at"] + 1)
            done += expected_seconds(run)

        yield tell
        progress.update(bar, completed=done)
