"""The options that commands share, with parsers that check their values before any data are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from medoids.cli.contents import FORMATS, is_date_format, is_delimiter
from medoids.cli.messages import WrongUsage
from medoids.cli.raw_bytes import is_encoding
from medoids.wording import unknown

__all__ = [
    "DEFAULT_MEMORY_LIMIT",
    "FIT_PANEL",
    "OUTPUT_PANEL",
    "TABLE_SUFFIXES",
    "ArrayOption",
    "AsJsonOption",
    "CandidatesOption",
    "ColumnsOption",
    "DateFormatOption",
    "DecimalOption",
    "DelimiterOption",
    "EncodingOption",
    "FileArgument",
    "FormatOption",
    "FrozenOption",
    "HeaderOption",
    "IdOption",
    "IgnoreOption",
    "ImageShapeOption",
    "JobsOption",
    "KOption",
    "MaxBytesOption",
    "MaxIterOption",
    "MemoryLimitOption",
    "MetricOption",
    "MetricParamOption",
    "PrecomputedOption",
    "QuietOption",
    "ReportOption",
    "RestartsOption",
    "ScaleOption",
    "SeedOption",
    "TypesOption",
    "WeightsOption",
    "metric_of_types",
    "name_ending_in",
    "one_of",
    "parse_algorithm",
    "parse_init",
    "parse_k_bounds",
    "parse_labels_name",
    "parse_metric_params",
    "parse_report_name",
    "refuse_unused_image_shape",
]

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl")
DATA_PANEL, FIT_PANEL, OUTPUT_PANEL = "What to read", "How to cluster", "What to write"
DEFAULT_MEMORY_LIMIT = "2GiB"  # the default of the functions and the estimator
_DELIMITER_NAMES = {"\\t": "\t", "tab": "\t", "space": " "}


def _accept(test: Callable[[str], object], demand: str, convert: Callable[[str], Any] = str) -> Callable[[str], Any]:
    """Return a parser that converts what passes a test, and fails with the demand, a format string, otherwise."""

    def parse(given: str) -> Any:
        if not test(given):
            raise WrongUsage(demand.format(given=given))
        return convert(given)

    return parse


def one_of(option: str, *choices: str) -> Callable[[str], str]:
    """Return a parser that accepts only the given words."""

    def parse(given: str) -> str:
        if given not in choices:
            raise WrongUsage(f"{option} {given} {unknown(given, choices)}")
        return given

    return parse


def name_ending_in(option: str, *suffixes: str) -> Callable[[str], str]:
    """Return a parser that accepts only file names with one of the given suffixes."""
    return _accept(
        lambda given: Path(given).suffix in suffixes,
        f"{option} {{given}}: the name must end in {', '.join(suffixes[:-1])} or {suffixes[-1]}",
    )


def parse_labels_name(given: str) -> str:
    return given if given == "-" else name_ending_in("--output", *TABLE_SUFFIXES)(given)


parse_report_name = _accept(
    lambda given: Path(given).suffix.lower() in (".html", ".htm"),
    "--report {given}: the name must end in .html; a browser can print the page as PDF",
)


def parse_k_bounds(given: str) -> tuple[int, int]:
    """Return the smallest and the largest number of clusters of ``FIRST:LAST``."""
    first, _, last = given.partition(":")
    low, high = (int(end) if end.isdecimal() else 0 for end in (first, last if ":" in given else first))
    if not 1 <= low <= high or high < 2:
        raise WrongUsage(f"--k {given} must be FIRST:LAST, from at least 1 up to at least 2, such as 2:20")
    return low, high


def parse_algorithm(given: str, option: str = "--algorithm") -> str:
    from medoids.settings import ALGORITHM_NAMES  # loads scikit-learn

    return one_of(option, "auto", *ALGORITHM_NAMES)(given)


def parse_init(given: str) -> Any:
    """Return the name of a start, a list of row numbers, or the path of a file."""
    from medoids.settings import INITS  # loads scikit-learn

    if given in INITS:
        return given
    if re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", given):
        return [int(row) for row in given.split(",")]
    if not Path(given).exists():
        raise WrongUsage(
            f"--init {given} must be {', '.join(INITS)}, row numbers counted from 0 and separated by commas, such as "
            "3,17,40, or a file with rows; there is no such file"
        )
    return Path(given)


def parse_metric_params(given: list[str] | None, types: list[str] | None = None) -> dict[str, Any] | None:
    """Return the parameters as a dictionary; values that are not JSON are text. ``types`` are those of --type."""
    found: dict[str, Any] = {}
    for part in given or []:
        name, equals, value = part.partition("=")
        if not equals:
            raise WrongUsage(f"--metric-param {part} must be NAME=VALUE, such as p=3")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    if types:
        found["type"] = _columns_of_types(types)
    return found or None


def _columns_of_types(types: list[str]) -> dict[str, list[str]]:
    """Return the columns of each type of --type.

    >>> _columns_of_types(["asymm=rare,ill", "ordratio=rank", "asymm=old"])
    {'asymm': ['rare', 'ill', 'old'], 'ordratio': ['rank']}
    """
    found: dict[str, list[str]] = {}
    for part in types:
        type_, equals, columns = part.partition("=")
        if not equals or not columns:
            raise WrongUsage(f"--type {part} must be TYPE=COLUMNS, such as asymm=rare,ill")
        found.setdefault(type_, []).extend(map(str.strip, columns.split(",")))
    return found


def metric_of_types(metric: str | None, types: list[str] | None) -> str | None:
    """Return the metric, which is gower where --type is given."""
    if types and metric not in (None, "gower"):
        raise WrongUsage(f"--type is for --metric gower, not {metric}; leave one of them out")
    return "gower" if types else metric


def refuse_unused_image_shape(image_shape: tuple[int, ...] | None, report: str | None) -> None:
    """Raise an error if there is no report for the images."""
    if image_shape is not None and report is None:
        raise WrongUsage("--image-shape is for the report; add --report PATH, or leave it out")


def _is_memory_size(given: str) -> bool:
    from medoids.settings import parse_bytes  # loads scikit-learn

    try:
        return parse_bytes(given) > 0
    except (ValueError, OverflowError):
        return False


FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON lines, NPY, NPZ, Matrix Market or plain text lines, also .gz, .xz or .bz2; "
        "a folder of Parquet files or a Zarr array; - reads standard input.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        parser=one_of("--format", *FORMATS),
        help="csv, tsv, parquet, jsonl, npy, npz, mtx or text; by default from the file's name or content.",
        rich_help_panel=DATA_PANEL,
    ),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        parser=_accept(
            lambda given: given in _DELIMITER_NAMES or is_delimiter(given),
            "--delimiter {given!r} must be one ASCII character, tab or space, and not a quotation mark",
            lambda given: _DELIMITER_NAMES.get(given, given),
        ),
        help="What separates the cells of a CSV file; detected by default.",
        rich_help_panel=DATA_PANEL,
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        metavar="",
        help="Whether the first line of a CSV file names the columns; detected by default.",
        rich_help_panel=DATA_PANEL,
    ),
]
DecimalOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN",
        parser=_accept(re.compile(r"[.,]").fullmatch, "--decimal {given} must be a point or a comma"),
        help="Decimal sign in a CSV file, a point or a comma; detected by default.",
        rich_help_panel=DATA_PANEL,
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        parser=_accept(is_encoding, "--encoding {given} is unknown; name one such as utf-8, cp1252, latin-1 or utf-16"),
        help="Encoding of a text file, such as cp1252; UTF-8 by default.",
        rich_help_panel=DATA_PANEL,
    ),
]
DateFormatOption = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        parser=_accept(
            is_date_format,
            "--date-format {given} must say where day, month and year are, as strptime takes it, such as %d/%m/%Y",
        ),
        help="Form of the dates in a CSV file, such as %d/%m/%Y; detected by default.",
        rich_help_panel=DATA_PANEL,
    ),
]
ArrayOption = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Which array of an NPZ file or a Zarr group to read.", rich_help_panel=DATA_PANEL
    ),
]
MaxBytesOption = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        metavar="BYTES",
        parser=_accept(_is_memory_size, "--max-bytes {given} must be a number of bytes, such as 4000000000 or 4GB"),
        help="Refuse a compressed file (.gz, .xz, .bz2, NPZ, Parquet) or standard input that is larger when unpacked, "
        "such as 4GB; half of the machine's memory by default.",
        rich_help_panel=DATA_PANEL,
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(help="Columns to use: names separated by commas, FIRST:LAST for a range.", rich_help_panel=DATA_PANEL),
]
IgnoreOption = Annotated[str | None, typer.Option(help="Columns to leave out.", rich_help_panel=DATA_PANEL)]
IdOption = Annotated[str | None, typer.Option("--id", help="Column that names the rows.", rich_help_panel=DATA_PANEL)]
WeightsOption = Annotated[str | None, typer.Option(help="Column of weights.", rich_help_panel=DATA_PANEL)]
ScaleOption = Annotated[
    str,
    typer.Option(
        parser=one_of("--scale", "none", "standard", "robust"),
        help="none, standard (mean 0, deviation 1) or robust (median 0, quartiles 1 apart), column by column.",
        rich_help_panel=DATA_PANEL,
    ),
]
PrecomputedOption = Annotated[
    bool, typer.Option("--precomputed", help="FILE is a matrix of distances.", rich_help_panel=DATA_PANEL)
]
KOption = Annotated[
    int,
    typer.Option(
        "-k",
        "--clusters",
        parser=_accept(
            re.compile(r"\s*0*[1-9]\d*\s*").fullmatch,
            "-k {given} must be an integer of at least 1; 'medoids choose-k FILE' tries several and suggests one",
            int,
        ),
        metavar="K",
        help="Number of clusters.",
        rich_help_panel=FIT_PANEL,
    ),
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        help="Distance; see 'medoids metrics'. By default euclidean for numbers, gower for tables with text, "
        "levenshtein for texts, dtw for series of unequal lengths.",
        rich_help_panel=FIT_PANEL,
    ),
]
MetricParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metric-param",
        metavar="NAME=VALUE",
        help="Parameter of the metric, such as p=3; may be repeated.",
        rich_help_panel=FIT_PANEL,
    ),
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE=COLUMNS",
        help="How gower compares columns, as in R's daisy: ordratio=rank, logratio=income, asymm=rare,ill, factor=id; "
        "may be repeated.",
        rich_help_panel=FIT_PANEL,
    ),
]
FrozenOption = Annotated[
    Any,  # list of int or None; typer would take a list for an option that may be repeated
    typer.Option(
        metavar="ROWS",
        parser=_accept(
            re.compile(r"\s*\d+\s*(,\s*\d+\s*)*").fullmatch,
            "--frozen {given} must be row numbers, counted from 0 and separated by commas, such as 3,17",
            lambda given: [int(row) for row in given.split(",")],
        ),
        help="Rows that stay medoids: numbers separated by commas.",
        rich_help_panel=FIT_PANEL,
    ),
]
CandidatesOption = Annotated[
    Any,  # "all", a list of int, or None
    typer.Option(
        metavar="ROWS",
        parser=_accept(
            re.compile(r"all|\s*\d+\s*(,\s*\d+\s*)*").fullmatch,
            "--candidates {given} must be all, or row numbers, counted from 0 and separated by commas, such as 3,17",
            lambda given: given if given == "all" else [int(row) for row in given.split(",")],
        ),
        help="Rows that may become medoids: all, or numbers. By default all, but under gower those without gaps.",
        rich_help_panel=FIT_PANEL,
    ),
]
RestartsOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Restarts after convergence, for a lower loss: 10 find most of what there is, 50 nearly all.",
        rich_help_panel=FIT_PANEL,
    ),
]
SeedOption = Annotated[
    int,
    # The range of NumPy's seeds.
    typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same result.", rich_help_panel=FIT_PANEL),
]
MaxIterOption = Annotated[int, typer.Option(min=0, help="Maximum number of swaps.", rich_help_panel=FIT_PANEL)]
MemoryLimitOption = Annotated[
    str,
    typer.Option(
        parser=_accept(_is_memory_size, "--memory-limit {given} must be a number of bytes, such as 4000000000 or 4GB"),
        help="Memory for stored distances.",
        rich_help_panel=FIT_PANEL,
    ),
]
JobsOption = Annotated[
    int | None, typer.Option(min=1, help="Number of threads; all cores by default.", rich_help_panel=FIT_PANEL)
]
ReportOption = Annotated[
    str | None,
    typer.Option(parser=parse_report_name, help="Report to look at in a browser: .html.", rich_help_panel=OUTPUT_PANEL),
]
ImageShapeOption = Annotated[
    Any,  # tuple of int or None; typer would expect one word for each entry of a tuple
    typer.Option(
        metavar="HEIGHTxWIDTH",
        parser=_accept(
            re.compile(r"0*[1-9]\d*(x0*[1-9]\d*){1,2}", re.IGNORECASE).fullmatch,
            "--image-shape {given} must be HEIGHTxWIDTH or HEIGHTxWIDTHx3, such as 28x28",
            lambda given: tuple(map(int, given.lower().split("x"))),
        ),
        help="Show rows as images in the report, such as 28x28 or 32x32x3.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
AsJsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT_PANEL)]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no notes and no progress.", rich_help_panel=OUTPUT_PANEL),
]
