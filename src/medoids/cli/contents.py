"""How to read a file, which of its columns to use, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from medoids.cli.messages import Failure

__all__ = ["FORMATS", "Contents", "ReadOptions", "Selection", "is_date_format", "is_delimiter"]

FORMATS = ("csv", "tsv", "parquet", "jsonl", "npy", "npz", "mtx", "text")


def is_delimiter(text: str) -> bool:
    """Return whether a text can separate the cells of a CSV file."""
    return len(text) == 1 and text.isascii() and text not in '\r\n"'


def is_date_format(form: str) -> bool:
    """Return whether day, month and year follow from a date in a format.

    >>> is_date_format("%d/%m/%y"), is_date_format("%d/%m"), is_date_format("%H"), is_date_format("%Q")
    (True, False, False, False)
    """
    example = datetime(2024, 12, 31)
    try:
        return datetime.strptime(example.strftime(form), form) == example
    except ValueError:
        return False


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; what is None is detected.

    Attributes
    ----------
    format : str or None
        One of ``FORMATS``.
    delimiter, header, decimal
        Of CSV and TSV files.
    encoding : str or None
        Of text files; UTF-8 by default.
    date_format : str or None
        Of all columns of dates, as `datetime.strptime` takes it.
    array : str
        Name of an array in an NPZ file or a Zarr group.
    dates : mapping
        Format of each column of a CSV file with dates that are not in ISO 8601.
    texts : tuple of str
        Columns of a CSV file that are read as text even if their cells look like numbers or dates.
    max_bytes : int, str or None
        Largest size of a compressed file when it is unpacked.
    """

    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    encoding: str | None = None
    date_format: str | None = None
    array: str = ""
    dates: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    max_bytes: int | str | None = None

    def given(self) -> list[str]:
        """Return the options for CSV and TSV files that are set."""
        names = ("delimiter", "header", "decimal", "date_format")
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) is not None]

    def stored(self) -> dict[str, Any]:
        """Return what a model file keeps, so that new files are read in the same way."""
        return {name: value for name, value in vars(self).items() if name not in ("date_format", "texts", "max_bytes")}

    def over(self, other: ReadOptions) -> ReadOptions:
        """Return these options, completed by those of ``other``.

        >>> ReadOptions(decimal=",").over(ReadOptions(decimal=".", delimiter=";")).delimiter
        ';'
        """
        given = {name: value for name, value in vars(self).items() if value != getattr(ReadOptions(), name)}
        return replace(other, **given)


@dataclass(frozen=True)
class Selection:
    """The options that choose columns."""

    columns: str | None = None
    ignore: str | None = None
    id: str | None = None
    weights: str | None = None
    labels: str | None = None


@dataclass
class Contents:
    """What a file holds.

    Attributes
    ----------
    name : str
        The file, for messages.
    kind : str
        "table" (values: a pyarrow Table), "array" (numbers, 2-D or 3-D), "sparse" (CSR), "texts" (list of str or of
        lists of str) or "series" (list of 1-D arrays).
    place : callable
        Returns the position of a row in the file, such as "line 12".
    notes : list of str
        What was detected in the file, for the user.
    how : ReadOptions
        How the file was read.
    """

    name: str
    kind: str
    values: Any
    place: Callable[[int], str] = lambda row: f"row {row}"
    notes: list[str] = field(default_factory=list)
    how: ReadOptions = field(default_factory=ReadOptions)

    def __len__(self) -> int:
        return int(self.values.shape[0]) if self.kind in ("array", "sparse") else len(self.values)

    def cell_failure(self, row: int, column: str, problem: str) -> Failure:
        """Return an error that says where a cell is and what is wrong with it."""
        return Failure(f"{self.name}: {self.place(row)}, column {column!r} {problem}")
