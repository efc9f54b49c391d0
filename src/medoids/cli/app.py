"""The program ``medoids``: its commands and its exit codes.

Commands import what they need when they run, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from medoids._version import __version__
from medoids.cli.choose_k import choose_k
from medoids.cli.cluster import cluster, predict
from medoids.cli.compare import compare_algorithms
from medoids.cli.messages import Failure, WrongUsage, print_json, print_table, show_warning, with_option_names
from medoids.cli.options import (
    AsJsonOption,
    parse_report_name,
)
from medoids.cli.reproduce import reproduce
from medoids.cli.typical import typical

__all__ = ["app", "run"]


class _PlainFlags:
    """Show flags without a type: typer writes ``--json <bool>``, as if a value had to follow."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class _Command(_PlainFlags, TyperCommand):
    pass


class _Program(_PlainFlags, TyperGroup):
    pass


app = typer.Typer(
    name="medoids",
    cls=_Program,
    help="k-medoids clustering of anything: vectors, tables, texts, sparse counts, series, distance matrices.",
    epilog="Results go to standard output, messages to standard error. "
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"medoids {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


_COMMANDS: dict[str, Callable[..., None]] = {
    "cluster": cluster,
    "predict": predict,
    "compare": compare_algorithms,
    "choose-k": choose_k,
    "typical": typical,
    "reproduce": reproduce,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=_Command)(_command)


@app.command(cls=_Command)
def demo(
    report: Annotated[str, typer.Option(parser=parse_report_name, help="File for the report.")] = "medoids-demo.html",
) -> None:
    """Find ten medoids of 1,797 handwritten digits, which come with scikit-learn, and write a report."""
    from medoids.demo import run_demo

    run_demo(report)


@app.command(cls=_Command)
def metrics(as_json: AsJsonOption = False) -> None:
    """List the distances: kind of data, formula, parameters, and the extra to install."""
    from medoids.distances import available_metrics

    entries = [entry._asdict() for entry in available_metrics()]
    if as_json:
        print_json(entries)
        return
    for entry in entries:
        entry["name"] += f" ({', '.join(entry['aliases'])})" if entry["aliases"] else ""
        entry["parameters"] = ", ".join(f"{name}={value}" for name, value in entry["parameters"].items())
    keys = {"metric": "name", "data": "kind", "formula": "formula", "parameters": "parameters", "extra": "extra"}
    print_table(list(keys), [tuple(entry[key] for key in keys.values()) for entry in entries])


def run() -> None:
    """Run the command line and exit with its code."""
    from medoids.engine.interrupts import is_interrupt

    warnings.showwarning = show_warning
    # As an exception, so that drafts of outputs are removed on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        app()
    except Failure as failure:
        hint = "medoids: try 'medoids --help'\n" if isinstance(failure, WrongUsage) else ""
        sys.stderr.write(f"medoids: error: {failure}\n{hint}")
        raise SystemExit(failure.code) from None
    except BrokenPipeError:
        # The reader has closed the pipe. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        sys.stderr.write("medoids: interrupted; nothing was written\n")
        raise SystemExit(130) from None
    except (ValueError, TypeError, MemoryError, OSError, ImportError) as error:
        sys.stderr.write(f"medoids: error: {with_option_names(str(error)) or type(error).__name__}\n")
        raise SystemExit(1) from None
