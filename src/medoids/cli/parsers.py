"""Parsers and checks of option values, which run before any data are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from medoids.cli.messages import Failure, WrongUsage
from medoids.wording import unknown

__all__ = [
    "TABLE_SUFFIXES",
    "accept",
    "is_date_format",
    "is_memory_size",
    "name_ending_in",
    "one_of",
    "parse_algorithm",
    "parse_k_bounds",
    "parse_labels_name",
    "parse_metric_params",
    "parse_report_name",
    "refuse_used_checkpoint",
]

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl")


def accept(test: Callable[[str], object], demand: str, convert: Callable[[str], Any] = str) -> Callable[[str], Any]:
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
    known = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
    return accept(lambda given: Path(given).suffix in suffixes, f"{option} {{given}}: the name must end in {known}")


def parse_labels_name(given: str) -> str:
    return given if given == "-" else name_ending_in("--output", *TABLE_SUFFIXES)(given)


parse_report_name = accept(
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


def parse_algorithm(given: str) -> str:
    from medoids.settings import ALGORITHM_NAMES  # loads scikit-learn

    return one_of("--algorithm", "auto", *ALGORITHM_NAMES)(given)


def parse_metric_params(given: list[str] | None) -> dict[str, Any] | None:
    """Return the parameters as a dictionary; values that are not JSON are text."""
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


def refuse_used_checkpoint(checkpoint: str | None, resume: bool) -> None:
    """Raise an error if the fit would refuse the checkpoint after the data are read."""
    if resume and checkpoint is None:
        raise WrongUsage("--resume needs --checkpoint PATH")
    if checkpoint is not None and not resume and Path(checkpoint).exists():
        raise Failure(f"--checkpoint {checkpoint} exists already; add --resume to continue from it, or delete it")


def is_memory_size(given: str) -> bool:
    from medoids.settings import parse_bytes  # loads scikit-learn

    try:
        return parse_bytes(given) > 0
    except (ValueError, OverflowError):
        return False


def is_date_format(given: str) -> bool:
    """Return whether day, month and year follow from a date in a format.

    >>> is_date_format("%d/%m/%Y"), is_date_format("%H")
    (True, False)
    """
    example = datetime(2024, 12, 31)
    try:
        return datetime.strptime(example.strftime(given), given) == example
    except ValueError:
        return False
