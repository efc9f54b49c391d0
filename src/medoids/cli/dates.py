"""Columns of dates in common notations, such as 31.12.2024 and 12/31/2024 18:30."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from medoids.cli.contents import Contents
from medoids.cli.messages import WrongUsage

__all__ = ["convert_dates", "find_date_formats"]

_TIME_FORMATS = ("", " %H:%M", " %H:%M:%S")
# Arrow reads YYYY-MM-DD by itself.
_DATE_FORMATS = [
    *(f"%d{sign}%m{sign}%Y{time}" for sign in "./-" for time in _TIME_FORMATS),
    *(f"%m{sign}%d{sign}%Y{time}" for sign in "./-" for time in _TIME_FORMATS),
    *(f"%Y{sign}%m{sign}%d{time}" for sign in "./" for time in _TIME_FORMATS),
]
_DATE_LIKE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}( \d{1,2}:\d\d(:\d\d)?)?")


def find_date_formats(cells: list[str]) -> list[str]:
    """Return the formats in which all texts are dates: two if day and month are ambiguous.

    >>> find_date_formats(["31.12.2024", "1.2.2025"]), find_date_formats(["1.2.3"])
    (['%d.%m.%Y'], [])
    >>> find_date_formats(["03/04/2024"]), find_date_formats(["03/04/2024", "03/14/2024"])
    (['%d/%m/%Y', '%m/%d/%Y'], ['%m/%d/%Y'])
    """
    if not cells or not all(map(_DATE_LIKE.fullmatch, cells)):
        return []
    fitting = [form for form in _DATE_FORMATS if _not_a_date(cells, form) is None]
    # With dots, the day comes first in every country that uses them.
    return fitting[:1] if fitting and "." in fitting[0] else fitting


def convert_dates(contents: Contents) -> Contents:
    """Convert the columns of dates, note what was done, and add their formats to ``how``."""
    table, how = contents.values, contents.how
    found: dict[str, str] = {}
    doubts: list[str] = []
    for at, column in enumerate(table.column_names):
        if column in how.texts or not pa.types.is_string(table[column].type):
            continue
        cells = [cell for cell in pc.unique(table[column]).to_pylist() if cell is not None]
        form = how.dates.get(column)
        if form is not None:
            wrong = _not_a_date(cells, form)
            if wrong is not None:
                problem = f"is {wrong!r}, but the dates of the model's file have the form {form}"
                raise contents.cell_failure(pc.index(table[column], wrong).as_py(), column, problem)
        elif how.date_format is not None and cells and _not_a_date(cells, how.date_format) is None:
            form = how.date_format
        else:
            formats = find_date_formats(cells)
            form = formats[0] if len(formats) == 1 else None
            doubts += _doubts(contents, column, cells, formats)
        if form is not None:
            found[column] = form
            table = table.set_column(at, column, _converted(table[column], form))
    if how.date_format is not None and how.date_format not in found.values():
        raise WrongUsage(f"--date-format {how.date_format}: no column of {contents.name} holds only dates of this form")
    detected = {name: form for name, form in found.items() if name not in how.dates}
    notes = [f"column {name!r} is read as dates of the form {form}" for name, form in detected.items()]
    return replace(contents, values=table, notes=contents.notes + notes + doubts, how=replace(how, dates=found))


def _not_a_date(cells: list[str], form: str) -> str | None:
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


def _doubts(contents: Contents, column: str, cells: list[str], formats: list[str]) -> list[str]:
    """Explain why a column that looks like dates is read as text."""
    if len(formats) > 1:
        return [
            f"column {column!r} holds dates such as {cells[0]}, in which day and month are ambiguous, so it is read as "
            f"text; --date-format {formats[0]} or {formats[1]} says which comes first"
        ]
    wrong = [cell for cell in cells if not _DATE_LIKE.fullmatch(cell)]
    if formats or not 0 < len(wrong) < 0.5 * len(cells):
        return []
    where = contents.place(pc.index(contents.values[column], wrong[0]).as_py())
    return [f"column {column!r} is read as text, not as dates, because of {wrong[0]!r} ({where})"]
