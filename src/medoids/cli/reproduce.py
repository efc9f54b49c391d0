"""``medoids reproduce``: the paper's tables and figures, run here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from medoids.cli.messages import Failure, print_notes
from medoids.cli.options import (
    OUTPUT_PANEL,
    QuietOption,
    one_of,
)
from medoids.storage.files import Lock

__all__ = ["reproduce"]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="table-loss, table-speedup, table-delta, fig-k, fig-complexity, fig-n, fig-swaps, agreement, peers; "
            "all by default.",
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="quick, minutes on small samples; paper, hours on the paper's own.")
    ] = "quick",
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Folder of data files; MEDOIDS_DATA by default. What is not there is downloaded."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where rows, page and figures go; reproduced-SCALE by default.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    no_run: Annotated[
        bool,
        typer.Option(
            "--no-run", help="Only write the page again, from the rows of earlier runs.", rich_help_panel=OUTPUT_PANEL
        ),
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Run the paper's experiments and compare each result with the paper's: a page, figures, and one row per run.

    Runs that already have a row are not repeated: after an interruption, run the same command to continue.

    [dim]medoids reproduce table-loss fig-k --out results[/dim]
    """
    from medoids.reproduction.settings import NAMES, SCALES, expected_seconds, plan

    one_of("--scale", *SCALES)(scale)
    for name in names or []:
        one_of("experiment", *NAMES)(name)
    # After the checks: these load scikit-learn, which takes seconds.
    from medoids.datasets import data_folder
    from medoids.reproduction.page import write_page
    from medoids.reproduction.paper import read_logs
    from medoids.reproduction.runner import carry_out, missing, possible
    from medoids.reproduction.trials import ResultsFile

    data_folder(data)  # an error now, not after an hour
    folder = Path(out or f"reproduced-{scale}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot write to --out {folder}: {error.strerror}") from error
    with Lock((folder / "rows.csv").resolve(), str(folder / "rows.csv")):
        rows = ResultsFile(folder / "rows.csv")
        if not no_run:
            runs, reasons = possible(missing(plan(names or NAMES, SCALES[scale]), rows), data)
            if reasons and not runs and not len(rows):
                raise Failure("; ".join(reasons))
            print_notes([f"left out: {reason}" for reason in reasons], quiet)
            if runs:
                duration = _long(sum(map(expected_seconds, runs)))
                print_notes([f"{len(runs)} runs, {duration} on one core; rows go to {rows.path}"], quiet)
            try:
                carry_out(runs, rows, data, SCALES[scale].fits)
            except KeyboardInterrupt:
                sys.stderr.write(f"medoids: interrupted; {len(rows)} rows are kept; run the same command to continue\n")
                raise typer.Exit(130) from None
        if not len(rows):
            raise Failure(f"{rows.path} has no rows yet; leave out --no-run")
        for name, verdict in write_page(rows, SCALES[scale], read_logs(data), folder).items():
            if not names or name in names:  # the page has what other rows say, too
                sys.stdout.write(f"{name:<15} {verdict}\n")
        sys.stdout.write(f"{'page':<15} {folder / 'README.md'}\n")


def _long(seconds: float) -> str:
    """Write a time to wait.

    >>> _long(50), _long(600), _long(9_000)
    ('about a minute', 'about 10 minutes', 'about 2.5 hours')
    """
    if seconds < 90:
        return "about a minute"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5_400 else f"about {seconds / 3_600:.1f} hours"
