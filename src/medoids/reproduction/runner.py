"""Trials run one after another; the row of each is stored as soon as it is finished."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from medoids.datasets import DataNotFound, distinct_rows, paper_sample
from medoids.datasets.files import Folder
from medoids.datasets.samples import ensure_available
from medoids.reproduction.cost import expected_seconds
from medoids.reproduction.fits import fit_trial
from medoids.reproduction.peers import is_installed
from medoids.reproduction.trials import ResultsFile, Trial

__all__ = ["carry_out", "missing", "possible"]

# Trials on data where BP takes less than this many seconds are repeated, because short times vary most.
_REPEATED_BELOW = 10.0


def missing(trials: Sequence[Trial], rows: ResultsFile) -> list[Trial]:
    """Return the trials without a row."""
    return [trial for trial in trials if trial not in rows]


def possible(trials: Sequence[Trial], folder: Folder = None) -> tuple[list[Trial], list[str]]:
    """Return the trials that can be run here, and the reasons why the others cannot: missing data or packages."""
    reasons: dict[str, str] = {}
    for data in dict.fromkeys(trial.data for trial in trials):
        try:
            ensure_available(data, folder)
        except DataNotFound as error:
            reasons[data] = str(error)
    absent = dict.fromkeys(trial.algorithm for trial in trials if not is_installed(trial.algorithm))
    reasons |= {name: f'{name} is not installed: pip install "medoids[bench]"' for name in absent}
    kept = [trial for trial in trials if trial.data not in reasons and trial.algorithm not in reasons]
    return kept, list(reasons.values())


def carry_out(trials: Sequence[Trial], rows: ResultsFile, folder: Folder = None, fits: int = 1) -> None:
    """Run the trials that have no row yet, in order, with a progress bar if standard error is a terminal.

    Parameters
    ----------
    trials : sequence of Trial
    rows : ResultsFile
        The row of each trial is added to it.
    folder : path, optional
        Folder of data files.
    fits : int
        Number of fits per short trial; the shortest time counts, since others may use the machine too.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    todo = missing(trials, rows)

    @lru_cache(maxsize=1)  # consecutive trials mostly share their data
    def sample(data: str, kind: str, n: int, seed: int) -> Any:
        return paper_sample(data, n, folder) if kind == "authors" else distinct_rows(data, n, seed, folder)

    with Progress(
        BarColumn(bar_width=20),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("about"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        bar = progress.add_task("", total=sum(map(expected_seconds, todo)))
        for number, trial in enumerate(todo, start=1):
            progress.update(bar, description=f"{number}/{len(todo)} {trial}")
            seed = trial.seed if trial.sample == "distinct" else 0
            repeated = expected_seconds(replace(trial, algorithm="BP")) < _REPEATED_BELOW
            X = sample(trial.data, trial.sample, trial.n, seed)
            rows.add(trial, fit_trial(trial, X, fits if repeated else 1))
            progress.advance(bar, expected_seconds(trial))
