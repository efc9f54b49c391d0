"""The options that commands share, and checks of what they are given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medoids.cli.failures import Failure, WrongUsage

if TYPE_CHECKING:
    from medoids.cli.features import Features

__all__ = [
    "DATA",
    "FIT",
    "MEMORY",
    "OUT",
    "Array",
    "AsJson",
    "Columns",
    "Delimiter",
    "File",
    "Format",
    "Frozen",
    "Header",
    "Id",
    "Ignore",
    "Jobs",
    "K",
    "MaxIter",
    "MemoryLimit",
    "Metric",
    "MetricParam",
    "Precomputed",
    "Quiet",
    "Scale",
    "Seed",
    "Weights",
    "check_algorithms",
    "check_checkpoint",
    "check_choice",
    "check_delimiter",
    "check_format",
    "check_k",
    "check_places",
    "claim",
    "metric_parameters",
    "parse_image_shape",
    "parse_range",
    "parse_rows",
]

DATA, FIT, OUT = "What to read", "How to cluster", "What to write"
# Less than the function's 2 GiB: half a million rows of a table are then done in 3 GiB, all told.
MEMORY = "1.5GiB"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON lines, NPY, NPZ, Matrix Market or plain text lines, also .gz, .xz or .bz2; "
        "a folder of Parquet files or a Zarr array; - reads standard input.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="csv, tsv, parquet, jsonl, npy, npz, mtx or text.", rich_help_panel=DATA),
]
Delimiter = Annotated[str | None, typer.Option(help="Between cells of a CSV; found by itself.", rich_help_panel=DATA)]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line has names; found by itself.", rich_help_panel=DATA
    ),
]
Array = Annotated[str, typer.Option(help="Which array of an NPZ file.", rich_help_panel=DATA)]
Columns = Annotated[
    str | None,
    typer.Option(help="Columns to use: names with commas between, FIRST:LAST for a range.", rich_help_panel=DATA),
]
Ignore = Annotated[str | None, typer.Option(help="Columns to leave out.", rich_help_panel=DATA)]
Id = Annotated[str | None, typer.Option("--id", help="Column that names the rows.", rich_help_panel=DATA)]
Weights = Annotated[str | None, typer.Option(help="Column of weights.", rich_help_panel=DATA)]
Scale = Annotated[
    str,
    typer.Option(
        help="none, standard (mean 0, deviation 1) or robust (median 0, quartiles 1 apart), column by column.",
        rich_help_panel=DATA,
    ),
]
Precomputed = Annotated[
    bool, typer.Option("--precomputed", help="FILE is a matrix of distances.", rich_help_panel=DATA)
]
K = Annotated[int, typer.Option("-k", "--clusters", min=1, help="Number of clusters.", rich_help_panel=FIT)]
Metric = Annotated[
    str | None,
    typer.Option(
        help="Distance; see 'medoids metrics'. By default euclidean for numbers, gower for tables with text, "
        "levenshtein for texts, dtw for series of unequal lengths.",
        rich_help_panel=FIT,
    ),
]
MetricParam = Annotated[
    list[str] | None,
    typer.Option("--metric-param", metavar="NAME=VALUE", help="Such as p=3; may be repeated.", rich_help_panel=FIT),
]
Frozen = Annotated[
    str | None, typer.Option(help="Rows that stay medoids: numbers with commas between.", rich_help_panel=FIT)
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", rich_help_panel=FIT)]
MaxIter = Annotated[int, typer.Option(min=0, help="Most swaps.", rich_help_panel=FIT)]
MemoryLimit = Annotated[str, typer.Option(help="For stored distances.", rich_help_panel=FIT)]
Jobs = Annotated[int | None, typer.Option(help="Threads; all cores by default.", rich_help_panel=FIT)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no bar.", rich_help_panel=OUT)]


def check_checkpoint(checkpoint: str | None, resume: bool) -> None:
    """Refuse before any data are read what the fit would refuse after."""
    if resume and checkpoint is None:
        raise WrongUsage("--resume needs --checkpoint PATH")
    if checkpoint is not None and not resume and Path(checkpoint).exists():
        raise Failure(f"--checkpoint {checkpoint} is there already; add --resume to go on from it, or delete it")


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise WrongUsage(f"{option} {value} is unknown; it must be one of {', '.join(choices)}")
    return value


def check_format(format: str | None) -> str | None:
    from medoids.cli.reading import FORMATS

    return None if format is None else check_choice("--format", format, FORMATS)


def check_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(delimiter, delimiter)
    if len(delimiter) != 1:
        raise WrongUsage(f"--delimiter {delimiter!r} must be one character, tab or space")
    return delimiter


def metric_parameters(given: list[str] | None) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for part in given or []:
        name, equals, value = part.partition("=")
        if not equals:
            raise WrongUsage(f"--metric-param {part} must be NAME=VALUE, such as p=3")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found or None


def parse_image_shape(given: str | None) -> tuple[int, ...] | None:
    if given is None:
        return None
    parts = given.lower().split("x")
    if len(parts) not in (2, 3) or not all(part.isdigit() and int(part) for part in parts):
        raise WrongUsage(f"--image-shape {given} must be HEIGHTxWIDTH or HEIGHTxWIDTHx3, such as 28x28")
    return tuple(map(int, parts))


def check_algorithms(names: list[str], memory_limit: str) -> None:
    from medoids.algorithms import ALGORITHMS

    if not names:
        raise WrongUsage("--algorithms is empty; name some, with commas between")
    for name in names:
        check_choice("--algorithm", name, ("auto", *sorted(ALGORITHMS)))
    if memory_limit != MEMORY:  # whose check loads scikit-learn: seconds before a wrong file is told
        from medoids.validation import parse_bytes

        try:
            parse_bytes(memory_limit)
        except ValueError as error:
            raise WrongUsage(f"--{str(error).replace('_', '-', 1)}") from None


def check_k(k: int, found: Features, file: str) -> None:
    if k > len(found):
        rows = f"{len(found):,} row{'s' if len(found) > 1 else ''}"
        raise Failure(f"-k {k} is more than the {rows} of {file}; ask for at most {len(found)}")


def check_places(paths: dict[str, str], *inputs: str) -> None:
    """Refuse to write over an input, or two outputs over each other."""
    taken = {os.path.realpath(path): f"the input {path}" for path in inputs if path != "-"}
    for option, path in paths.items():
        where = os.path.realpath(str(path))
        if where in taken:
            raise WrongUsage(f"{option} {path} would be written over {taken[where]}; choose another name")
        taken[where] = f"{option} {path}"


def claim(outputs: Any, paths: dict[str, str]) -> dict[str, Path]:
    try:
        return {option: outputs.claim(path) for option, path in paths.items()}
    except OSError as error:
        raise Failure(str(error)) from None


def parse_range(given: str) -> tuple[int, int]:
    first, colon, last = given.partition(":")
    if not (first.isdigit() and (last.isdigit() or not colon)):
        raise WrongUsage(f"--k {given} must be FIRST:LAST, such as 2:20")
    low, high = int(first), int(last or first)
    if low < 1 or high < low:
        raise WrongUsage(f"--k {given} must go up from at least 1, such as 2:20")
    if high < 2:
        raise WrongUsage(f"--k {given} leaves nothing to choose from; try 2:20")
    return low, high


def parse_rows(option: str, given: str | None) -> list[int] | None:
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isdigit() for part in parts):
        raise WrongUsage(f"{option} {given} must be row numbers from 0 with commas between, such as 3,17")
    return [int(part) for part in parts]
