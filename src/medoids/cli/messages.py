"""Everything a command says: errors, and notes on standard error; results on standard output."""

from __future__ import annotations

import ast
import json
import re
import sys
from typing import Any

__all__ = [
    "Failure",
    "WrongUsage",
    "print_files",
    "print_json",
    "print_notes",
    "print_table",
    "show_warning",
    "truncated",
    "with_option_names",
]

_KEYWORDS = {
    "n_clusters": "-k",
    "k_range": "-k",
    "metric_params": "--metric-param",
    "memory_limit": "--memory-limit",
    "frozen_medoids": "--frozen",
    "max_iter": "--max-iter",
    "time_limit": "--time-limit",
    "max_evaluations": "--max-evaluations",
    "min_size": "--min-size",
    "max_size": "--max-size",
    "n_restarts": "--restarts",
    "image_shape": "--image-shape",
    "random_state": "--seed",
    "sample_weight": "--weights",
    "n_jobs": "--jobs",
}
# These are also plain English words, so they are replaced only where a value follows.
_OPTIONS = _KEYWORDS | {
    name: f"--{name}"
    for name in ("algorithm", "metric", "objective", "init", "swap", "tol", "gap", "checkpoint", "resume")
}
_QUOTED = r"'[^']*'"
_VALUE = "|".join(
    (
        rf"{_QUOTED}(?:,? or {_QUOTED}|, {_QUOTED})*",
        r"\"[^\"]*\"",
        r"\([^)]*\)",
        r"\d[\d,.]* (?:bytes|[KMGT]iB)",
        r"[\w./+-]*[\w/+]",
    )
)
_KEYWORD_WITH_VALUE = re.compile(rf"\b({'|'.join(_OPTIONS)})(?:\[\d+\])?=({_VALUE})")
_METRIC_PARAMS = re.compile(r"\bmetric_params=(\{[^{}]*\})")
_KEYWORD_ALONE = re.compile(rf"\b({'|'.join(_KEYWORDS)})\b")


class Failure(Exception):
    """A file, its content or an output location makes the command impossible."""

    code = 1


class WrongUsage(Failure):
    """The options contradict each other or do not fit the columns of the file."""

    code = 2


def with_option_names(message: str) -> str:
    """Replace the Python keywords in a message with the options of the command line.

    >>> with_option_names("memory_limit=2 GiB is too little; raise memory_limit, or use algorithm='clara'")
    '--memory-limit 2 GiB is too little; raise --memory-limit, or use --algorithm clara'
    >>> with_option_names("pass resume=True to continue")
    'pass --resume to continue'
    >>> with_option_names("use algorithm='clara' or 'pam'; metric_params={'p': 'x'} is wrong")
    'use --algorithm clara or pam; --metric-param p=x is wrong'
    """

    def with_value(match: re.Match[str]) -> str:
        value = match[2].replace("'", "") if match[2].startswith("'") else match[2].strip('"')
        return _OPTIONS[match[1]] if value == "True" else f"{_OPTIONS[match[1]]} {value}"

    message = _KEYWORD_WITH_VALUE.sub(with_value, _METRIC_PARAMS.sub(_metric_param_options, message))
    return _KEYWORD_ALONE.sub(lambda match: _KEYWORDS[match[1]], message)


def _metric_param_options(match: re.Match[str]) -> str:
    """Return a dictionary of parameters as the options that give them."""
    try:
        given = ast.literal_eval(match[1])
    except (ValueError, SyntaxError):
        return match[0]
    return (
        " ".join(
            f"--metric-param {name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in given.items()
        )
        or "--metric-param"
    )


def print_notes(notes: list[str], quiet: bool) -> None:
    for note in notes if not quiet else []:
        sys.stderr.write(f"medoids: {note}\n")


def show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    sys.stderr.write(f"medoids: warning: {with_option_names(str(message))}\n")


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n")


def print_files(files: dict[str, str]) -> None:
    for kind, path in files.items():
        sys.stdout.write(f"{kind:<10} {path}\n")


def print_table(heads: list[str], rows: list[tuple[Any, ...]], right: tuple[str, ...] = ()) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def truncated(text: str, width: int) -> str:
    """Return a text of at most ``width`` characters.

    >>> truncated("medoids", 7), truncated("medoids", 4)
    ('medoids', 'med…')
    """
    return text if len(text) <= width else text[: width - 1] + "…"
