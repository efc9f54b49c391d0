"""The options that commands share, and checks of what they are given."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medoids.cli.encodings import is_encoding
from medoids.cli.failures import Failure, WrongUsage
from medoids.cli.read_options import FORMATS, ReadOptions
from medoids.cli.translating import in_options
from medoids.wording import counted, unknown

if TYPE_CHECKING:
    from medoids.cli.features import Features

__all__ = [
    "DATA",
    "FIT",
    "MEMORY",
    "OUT",
    "Array",
    "AsJson",
    "Candidates",
    "Columns",
    "DateFormat",
    "Decimal",
    "Delimiter",
    "Encoding",
    "File",
    "Format",
    "Frozen",
    "Header",
    "Id",
    "Ignore",
    "Jobs",
    "K",
    "MaxBytes",
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
    "check_candidates",
    "check_checkpoint",
    "check_choice",
    "check_k",
    "check_max_bytes",
    "check_places",
    "check_report_path",
    "claim",
    "metric_parameters",
    "parse_image_shape",
    "parse_range",
    "parse_rows",
    "read_options",
]

DATA, FIT, OUT = "What to read", "How to cluster", "What to write"
MEMORY = "2GiB"  # the default of the functions and the estimator

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
    typer.Option(
        "--format",
        metavar="NAME",
        help="csv, tsv, parquet, jsonl, npy, npz, mtx or text; by default from the file's name or content.",
        rich_help_panel=DATA,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER", help="What separates the cells of a CSV file; detected by default.", rich_help_panel=DATA
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        metavar="",
        help="Whether the first line of a CSV file names the columns; detected by default.",
        rich_help_panel=DATA,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN",
        help="Decimal sign in a CSV file, a point or a comma; detected by default.",
        rich_help_panel=DATA,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Encoding of a text file, such as cp1252; UTF-8 by default.", rich_help_panel=DATA
    ),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="Form of the dates in a CSV file, such as %d/%m/%Y; detected by default.",
        rich_help_panel=DATA,
    ),
]
Array = Annotated[
    str,
    typer.Option(metavar="NAME", help="Which array of an NPZ file or a Zarr group to read.", rich_help_panel=DATA),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        metavar="BYTES",
        help="Refuse a packed file (.gz, .xz, .bz2, NPZ, Parquet) or standard input that is larger when unpacked, such "
        "as 4GB; half of the machine's memory by default.",
        rich_help_panel=DATA,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(help="Columns to use: names separated by commas, FIRST:LAST for a range.", rich_help_panel=DATA),
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


def parse_k(given: str) -> int:
    if given.strip().lower() == "auto":
        raise typer.BadParameter("it must be a number; 'medoids choose-k FILE' tries several and suggests one")
    if not given.strip().isdecimal() or int(given) < 1:
        raise typer.BadParameter(f"{given} is not a number of clusters; it must be an integer of at least 1")
    return int(given)


K = Annotated[
    int,
    typer.Option("-k", "--clusters", parser=parse_k, metavar="K", help="Number of clusters.", rich_help_panel=FIT),
]
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
    typer.Option(
        "--metric-param",
        metavar="NAME=VALUE",
        help="Parameter of the metric, such as p=3; may be repeated.",
        rich_help_panel=FIT,
    ),
]
Frozen = Annotated[
    str | None, typer.Option(help="Rows that stay medoids: numbers separated by commas.", rich_help_panel=FIT)
]
Candidates = Annotated[
    str | None,
    typer.Option(
        help="Rows that may become medoids: all. By default all, but under gower those without missing values.",
        rich_help_panel=FIT,
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", rich_help_panel=FIT)]
MaxIter = Annotated[int, typer.Option(min=0, help="Maximum number of swaps.", rich_help_panel=FIT)]
MemoryLimit = Annotated[str, typer.Option(help="Memory for stored distances.", rich_help_panel=FIT)]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of threads; all cores by default.", rich_help_panel=FIT)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes and no progress bar.", rich_help_panel=OUT)]


def check_checkpoint(checkpoint: str | None, resume: bool) -> None:
    """Refuse before any data are read what the fit would refuse after."""
    if resume and checkpoint is None:
        raise WrongUsage("--resume needs --checkpoint PATH")
    if checkpoint is not None and not resume and Path(checkpoint).exists():
        raise Failure(f"--checkpoint {checkpoint} exists already; add --resume to continue from it, or delete it")


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise WrongUsage(f"{option} {value} {unknown(value, choices)}")
    return value


def check_candidates(candidates: str | None) -> None:
    if candidates is not None:
        check_choice("--candidates", candidates, ("all",))


def read_options(
    format: str | None,
    delimiter: str | None,
    header: bool | None,
    decimal: str | None,
    encoding: str | None,
    date_format: str | None,
    array: str,
    max_bytes: str | None,
) -> ReadOptions:
    """Check the options on how to read a file."""
    if format is not None:
        check_choice("--format", format, FORMATS)
    if decimal not in (None, ".", ","):
        raise WrongUsage(f"--decimal {decimal} must be a point or a comma")
    return ReadOptions(
        format,
        _delimiter(delimiter),
        header,
        decimal,
        _encoding(encoding),
        _date_format(date_format),
        array,
        max_bytes=check_max_bytes(max_bytes),
    )


def _delimiter(given: str | None) -> str | None:
    if given is None:
        return None
    delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(given, given)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"':
        raise WrongUsage(f"--delimiter {given!r} must be one ASCII character, tab or space, and not a quotation mark")
    return delimiter


def check_max_bytes(given: str | None) -> int | None:
    if given is None:
        return None
    from medoids.settings import parse_bytes  # loads scikit-learn

    try:
        return parse_bytes(given)
    except (ValueError, OverflowError):
        raise WrongUsage(f"--max-bytes {given} must be a number of bytes, such as 4000000000 or 4GB") from None


def _encoding(given: str | None) -> str | None:
    if given is not None and not is_encoding(given):
        raise WrongUsage(f"--encoding {given} is unknown; name one such as utf-8, cp1252, latin-1 or utf-16")
    return given


def _date_format(given: str | None) -> str | None:
    if given is None:
        return None
    example = datetime(2024, 12, 31)
    try:
        complete = datetime.strptime(example.strftime(given), given) == example
    except ValueError:
        complete = False
    if not complete:
        raise WrongUsage(
            f"--date-format {given} must say where day, month and year are, as strptime takes it, such as %d/%m/%Y"
        )
    return given


def metric_parameters(given: list[str] | None) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for part in given or []:
        name, equals, value = part.partition("=")
        if not equals:
            raise WrongUsage(f"--metric-param {part} must be NAME=VALUE, such as p=3")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
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
    from medoids.settings import ALGORITHM_NAMES

    if not names:
        raise WrongUsage("--algorithms is empty; name some, separated by commas")
    for name in names:
        check_choice("--algorithm", name, ("auto", *sorted(ALGORITHM_NAMES)))
    if memory_limit != MEMORY:  # the check loads scikit-learn, which takes seconds
        from medoids.settings import parse_bytes

        try:
            parse_bytes(memory_limit)
        except ValueError as error:
            raise WrongUsage(in_options(str(error))) from None


def check_k(k: int, found: Features, file: str) -> None:
    if k > len(found):
        rows = counted(len(found), "row")
        raise Failure(f"-k {k} is more than the {rows} of {file}; ask for at most {len(found)}")


def check_places(paths: dict[str, str], *inputs: str) -> None:
    """Refuse to write over an input, or two outputs over each other."""
    taken = {os.path.realpath(path): f"the input {path}" for path in inputs if path != "-"}
    for option, path in paths.items():
        where = os.path.realpath(str(path))
        if where in taken:
            raise WrongUsage(f"{option} {path} would be written over {taken[where]}; choose another name")
        taken[where] = f"{option} {path}"


def check_report_path(path: str | None) -> None:
    if path is not None and Path(path).suffix.lower() not in (".html", ".htm"):
        raise WrongUsage(f"--report {path}: the name must end in .html; a browser can print the page as PDF")


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
        raise WrongUsage(f"{option} {given} must be row numbers, counted from 0 and separated by commas, such as 3,17")
    return [int(part) for part in parts]
