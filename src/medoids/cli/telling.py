"""What commands say: results to standard output, notes to standard error."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medoids.cli.translating import in_options

if TYPE_CHECKING:
    from medoids.cli.features import Features
    from medoids.quality.k_path import KPath
    from medoids.result import Clustering

__all__ = [
    "print_clusters",
    "print_comparison",
    "print_json",
    "print_path",
    "print_table",
    "show_warning",
    "tell",
    "telling_of",
    "without_nan",
]


def tell(notes: list[str], quiet: bool = False) -> None:
    for note in notes if not quiet else []:
        sys.stderr.write(f"medoids: {note}\n")


@contextmanager
def telling_of(checkpoint: str | None) -> Iterator[None]:
    """Say how to go on after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is not None and Path(checkpoint).exists():
            steps = f"the steps so far are saved; continue with --checkpoint {shlex.quote(checkpoint)} --resume"
            sys.stderr.write(f"medoids: {steps}\n")
        raise


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n")


def print_table(heads: list[str], rows: list[tuple[Any, ...]], right: tuple[str, ...] = ()) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console.print(table)


def print_clusters(found: Features, clustering: Clustering, result: dict[str, Any]) -> None:
    from medoids.cli.results import medoid_text

    rows = []
    for entry in result["medoids"]:
        name = entry.get(found.id_name, entry["row"])
        text = medoid_text(found, entry["row"])
        rows.append((entry["cluster"], name, f"{entry['size']:,}", f"{entry['mean_distance']:.4g}", text))
    print_table(
        ["cluster", found.id_name, "points", "mean distance", "medoid"], rows, ("cluster", "points", "mean distance")
    )
    n = result["n"]
    sys.stdout.write(
        f"loss       {result['loss']:.6g} mean {result['metric']} distance to the medoid\n"
        f"time       {result['seconds']:.2f} s with {result['algorithm']}: {result['reason']}\n"
        f"distances  {result['n_evaluations']:,} computed, {result['n_evaluations'] / n**2:.2g} of n x n\n"
    )
    if not clustering.converged:
        sys.stdout.write("stopped early: a swap may still lower the loss\n")
    for kind, path in result["files"].items():
        sys.stdout.write(f"{kind:<10} {path}\n")


def print_comparison(lines: list[dict[str, Any]]) -> None:
    from medoids.cli.comparing import above_best

    best = min(line["loss"] for line in lines if "error" not in line)
    rows = []
    for line in lines:
        if "error" in line:
            rows.append((line["algorithm"], "-", "-", "-", "-", "-", in_options(line["error"])))
            continue
        above = above_best(line["loss"], best)
        note = "" if line["converged"] else "stopped at --max-iter"
        if line["ran"] != line["algorithm"]:
            note = f"{line['ran']} {note}"
        rows.append(
            (
                line["algorithm"],
                f"{line['loss']:.6g}",
                "best" if above == 0 else f"+{above:.3%}",
                f"{line['seconds']:.2f}",
                f"{line['n_evaluations']:,}",
                f"{line['of_n_squared']:.3f}",
                note,
            )
        )
    heads = ["algorithm", "loss", "above best", "seconds", "distances", "of n x n", "note"]
    print_table(heads, rows, tuple(heads[1:-1]))


def show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    sys.stderr.write(f"medoids: warning: {in_options(str(message))}\n")


def without_nan(column: Any) -> list[Any]:
    """A column for JSON, which knows no NaN."""
    return [None if value != value else value for value in column.tolist()]


def print_path(path: KPath, criterion: str) -> None:
    rows = []
    for at, k in enumerate(path.scores["k"].tolist()):
        row = {name: column[at] for name, column in path.scores.items()}
        error = path.silhouettes[k].error if k in path.silhouettes else 0.0
        width = f" ± {1.96 * error:.3f}" if error else ""
        two = ("-", "-") if k == 1 else (f"{row['medoid_silhouette']:.3f}", f"{row['silhouette']:.3f}{width}")
        more = (f"{path.stability[k]:.2f}",) if criterion == "stability" else ()
        rows.append((k, f"{row['loss']:.6g}", *two, f"{row['smallest_cluster']:,}", *more))
    heads = ["k", "loss", "medoid silhouette", "silhouette", "smallest cluster"]
    heads += ["stability"] if criterion == "stability" else []
    print_table(heads, rows, tuple(heads))
