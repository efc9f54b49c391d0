"""Columns of dates in the forms that people write, such as 31.12.2024 and 12/31/2024 18:30."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from medoids.cli.failures import Failure, WrongUsage
from medoids.cli.read_options import ReadOptions

__all__ = ["find_date_formats", "with_dates"]

_TIMES = ("", " %H:%M", " %H:%M:%S")
# Arrow reads YYYY-MM-DD by itself.
_FORMATS = [
    *(f"%d{sign}%m{sign}%Y{time}" for sign in "./-" for time in _TIMES),
    *(f"%m{sign}%d{sign}%Y{time}" for sign in "./-" for time in _TIMES),
    *(f"%Y{sign}%m{sign}%d{time}" for sign in "./" for time in _TIMES),
]
_LIKE_A_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}( \d{1,2}:\d\d(:\d\d)?)?")


def find_date_formats(cells: list[str]) -> list[str]:
    """Return the formats in which all texts are dates: two where day and month cannot be told apart.

    >>> find_date_formats(["31.12.2024", "1.2.2025"]), find_date_formats(["1.2.3"])
    (['%d.%m.%Y'], [])
    >>> find_date_formats(["03/04/2024"]), find_date_formats(["03/04/2024", "03/14/2024"])
    (['%d/%m/%Y', '%m/%d/%Y'], ['%m/%d/%Y'])
    """
    if not cells or not all(map(_LIKE_A_DATE.fullmatch, cells)):
        return []
    fitting = [form for form in _FORMATS if _wrong_date(cells, form) is None]
    # With dots, the day comes first in every country that uses them.
    return fitting[:1] if fitting and "." in fitting[0] else fitting


def with_dates(
    table: Any, name: str, how: ReadOptions, place: Callable[[int], str]
) -> tuple[Any, dict[str, str], list[str]]:
    """Convert the columns of dates; return also their formats, and what to tell about columns left as text."""
    found: dict[str, str] = {}
    notes: list[str] = []
    for at, column in enumerate(table.column_names):
        if column in how.texts or not pa.types.is_string(table[column].type):
            continue
        cells = [cell for cell in pc.unique(table[column]).to_pylist() if cell is not None]
        form = how.dates.get(column)
        if form is not None:
            _refuse_other_format(table[column], name, column, form, cells, place)
        elif how.date_format is not None and cells and _wrong_date(cells, how.date_format) is None:
            form = how.date_format
        else:
            formats = find_date_formats(cells)
            form = formats[0] if len(formats) == 1 else None
            notes += _doubts(table[column], column, cells, formats, place)
        if form is not None:
            found[column] = form
            table = table.set_column(at, column, _converted(table[column], form))
    if how.date_format is not None and how.date_format not in found.values():
        raise WrongUsage(f"--date-format {how.date_format}: no column of {name} holds only dates of this form")
    return table, found, notes


def _wrong_date(cells: list[str], form: str) -> str | None:
    """Return the first text that is not a date in a format."""
    for cell in cells:
        try:
            datetime.strptime(cell, form)
        except ValueError:
            return cell
    return None


def _converted(column: Any, form: str) -> Any:
    coded = pc.dictionary_encode(column.combine_chunks())
    values = [datetime.strptime(cell, form) for cell in coded.dictionary.to_pylist()]
    return pa.array(values, pa.timestamp("us")).take(coded.indices)


def _refuse_other_format(
    column: Any, name: str, title: str, form: str, cells: list[str], place: Callable[[int], str]
) -> None:
    wrong = _wrong_date(cells, form)
    if wrong is not None:
        where = f"{place(pc.index(column, wrong).as_py())}, column {title!r}"
        raise Failure(f"{name}: {where} is {wrong!r}, but the dates of the model's file have the form {form}")


def _doubts(column: Any, title: str, cells: list[str], formats: list[str], place: Callable[[int], str]) -> list[str]:
    """Tell why a column that looks like dates is read as text."""
    if len(formats) > 1:
        return [
            f"column {title!r} holds dates such as {cells[0]}, in which day and month cannot be told apart, so it is "
            f"read as text; --date-format {formats[0]} or {formats[1]} says which comes first"
        ]
    wrong = [cell for cell in cells if not _LIKE_A_DATE.fullmatch(cell)]
    if formats or not cells or not 0 < len(wrong) < 0.5 * len(cells):
        return []
    where = place(pc.index(column, wrong[0]).as_py())
    return [f"column {title!r} is read as text, not as dates, because of {wrong[0]!r} ({where})"]
