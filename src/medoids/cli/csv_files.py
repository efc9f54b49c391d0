"""CSV and TSV files: delimiter, header, decimal sign, separated thousands, dates, and the line of each row."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from medoids.cli.contents import Contents, ReadOptions
from medoids.cli.messages import Failure, WrongUsage
from medoids.cli.spreadsheets import unprotected, unprotected_name
from medoids.wording import counted

__all__ = [
    "arrow_reader",
    "find_date_formats",
    "find_decimal",
    "find_delimiter",
    "find_grouping",
    "find_header",
    "is_number",
    "read_csv",
    "sample_of",
]

_DELIMITERS = ",\t;|"
# Cells that stand for a missing value: those of Arrow, and the "?" of the UCI repository.
_MISSING_CELLS = [*arrow_csv.ConvertOptions().null_values, "?"]
# Delimiter, header and decimal sign are detected from this many bytes, or from more if these hold too few lines.
_SAMPLE_BYTES = 1 << 16
_SAMPLE_LINES = 20
# Arrow needs each row to fit into one block, of 1 MiB by default, and counts the bytes of a block in 32 bits.
_ARROW_BLOCK, _LARGEST_ARROW_BLOCK = 1 << 20, (1 << 31) - 1
_CSV_NUMBER = {
    sign: re.compile(
        rf"\s*[+-]?((\d+({re.escape(sign)}\d*)?|{re.escape(sign)}\d+)([eE][+-]?\d+)?|inf|infinity|nan)\s*",
        re.IGNORECASE,
    )
    for sign in ".,"
}
# The sign that separates thousands, by decimal sign.
_SEPARATORS = {",": ".", ".": ","}
_GROUPED_NUMBER = {
    decimal: re.compile(
        rf"\s*[+-]?(\d{{1,3}}({re.escape(sign)}\d{{3}})+|\d+)({re.escape(decimal)}\d*)?([eE][+-]?\d+)?\s*"
    )
    for decimal, sign in _SEPARATORS.items()
}
_TIME_FORMATS = ("", " %H:%M", " %H:%M:%S")
# Arrow reads YYYY-MM-DD by itself.
_DAY_FORMATS = [
    *(f"%d{sign}%m{sign}%Y" for sign in "./-"),
    *(f"%m{sign}%d{sign}%Y" for sign in "./-"),
    *(f"%Y{sign}%m{sign}%d" for sign in "./"),
    "%d.%m.%y",
    *(f"%d{sign}{month}{sign}%Y" for sign in " -" for month in ("%b", "%B")),
    *(f"{month} %d{sign} %Y" for sign in (",", "") for month in ("%b", "%B")),
]
_DATE_FORMATS = [day + time for day in _DAY_FORMATS for time in _TIME_FORMATS]
# Without dots, three numbers of two digits may be anything, so these formats are only suggested.
_SHORT_DATE_FORMATS = [
    sign.join(order) + time
    for order in (("%d", "%m", "%y"), ("%m", "%d", "%y"), ("%y", "%m", "%d"))
    for sign in "/-"
    for time in _TIME_FORMATS
]
_DATE_LIKE = re.compile(
    r"(\d{1,4}([./-])\d{1,2}\2\d{1,4}|\d{1,2}([ -])[a-z]{3,9}\3\d{4}|[a-z]{3,9} \d{1,2},? \d{4})"
    r"( \d{1,2}:\d\d(:\d\d)?)?",
    re.IGNORECASE,
)


def find_delimiter(sample: str, decimal: str | None = None) -> str | None:
    r"""Return the delimiter that splits all or most lines into the same number of cells, or None.

    A given decimal sign is not a delimiter.

    >>> find_delimiter("a;b\n1,5;2\n2,5;3\n"), find_delimiter("one\ntwo words\n")
    (';', None)
    """
    scores = {}
    for delimiter in _DELIMITERS.replace(decimal or "", ""):
        widths = [len(row) for row in islice(_rows(sample, delimiter), 200)]
        common, count = next(iter(Counter(widths).most_common(1)), (0, 0))
        # A delimiter that splits only a few lines is punctuation.
        if common > 1 and count > 0.5 * len(widths):
            scores[delimiter] = (count / len(widths), common)
    return max(scores, key=lambda delimiter: scores[delimiter], default=None)


def find_header(sample: str, delimiter: str) -> bool:
    r"""Return whether the first line has names: these are not numbers, all differ, and do not occur below.

    >>> find_header("age,town\n31,Rome\n40,Oslo\n", ","), find_header("1,2\n3,4\n", ",")
    (True, False)
    """
    rows = _rows(sample, delimiter)
    first = next(rows, None)
    if not first or len(set(first)) < len(first) or any(not cell.strip() or is_number(cell) for cell in first):
        return False
    return not any(cell == name for row in rows for cell, name in zip(row, first, strict=False))


def find_decimal(sample: str, delimiter: str, header: bool) -> str:
    r"""Return the decimal sign: a comma only if a column has decimal commas and no cell has a decimal point.

    A comma before three digits may separate thousands, so a column of only such cells decides nothing.

    >>> find_decimal("a;b\n1,5;x\n2;y\n", ";", True), find_decimal("a;b\n1,500;1.5\n", ";", True)
    (',', '.')
    """
    rows = list(_rows(sample, delimiter))[1 if header else 0 :]
    width = max(map(len, rows), default=0)
    columns = [[row[at] for row in rows if at < len(row) and row[at] not in _MISSING_CELLS] for at in range(width)]
    groupings = [find_grouping(column) for column in columns]
    plain = [column for column, grouping in zip(columns, groupings, strict=True) if grouping is None]
    if any("." in cell and is_number(cell) for column in plain for cell in column):
        return "."
    commas = any(
        all(is_number(cell, ",") for cell in column)
        and any("," in cell and not re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in column)
        for column in plain
    )
    return "," if commas or "," in groupings else "."


def find_grouping(cells: list[str], known: str | None = None) -> str | None:
    """Return the decimal sign of numbers with separated thousands, or None if they have none or it is ambiguous.

    1.234 and 1,234 are ambiguous unless the decimal sign is known: some cell must have both signs, or one sign twice.

    >>> find_grouping(["1.234,56", "12,5", "7"]), find_grouping(["1,234,567"]), find_grouping(["1.234", "12,5"])
    (',', '.', None)
    >>> find_grouping(["1.234", "12,5"], ",")
    ','
    """
    for decimal, sign in _SEPARATORS.items():
        clear = any(cell.count(sign) > (0 if decimal == known or decimal in cell else 1) for cell in cells)
        if clear and known in (None, decimal) and all(map(_GROUPED_NUMBER[decimal].fullmatch, cells)):
            return decimal
    return None


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return (cells for _, cells in _numbered_rows(text.encode(), delimiter))


def is_number(cell: str, decimal: str = ".") -> bool:
    """Return whether a cell is a number.

    >>> is_number("-1.5e3"), is_number("1,5"), is_number("1,5", ","), is_number("1_000")
    (True, False, True, False)
    """
    return _CSV_NUMBER[decimal].fullmatch(cell) is not None


def arrow_reader(data: Any) -> pa.BufferReader:
    """Return the bytes of a file as memory that Arrow owns.

    If Python owned them, or if the options held a Python function, one of Arrow's threads could release them while the
    interpreter shuts down, which aborts the process: seen in one of twenty short runs.
    """
    copy = pa.BufferOutputStream()
    copy.write(data)
    return pa.BufferReader(copy.getvalue())


def sample_of(data: Any) -> str:
    """Return the first lines of a file, without a last one that is cut."""
    size = _SAMPLE_BYTES
    while size < len(data) and bytes(data[:size]).count(b"\n") < _SAMPLE_LINES:
        size *= 4
    start = bytes(data[:size])
    end = start.rfind(b"\n") + 1 if len(data) > size else size
    return start[:end].decode("utf-8-sig", "replace")


def read_csv(data: Any, name: str, how: ReadOptions, limit: int) -> Contents:
    """Read a table from UTF-8 text."""
    sample = sample_of(data)
    delimiter = (
        how.delimiter
        or ("\t" if how.format == "tsv" else find_delimiter(sample, how.decimal))
        or (";" if how.decimal == "," else ",")
    )
    header = find_header(sample, delimiter) if how.header is None else how.header
    decimal = how.decimal or find_decimal(sample, delimiter, header)
    first = next(_rows(sample, delimiter), [])
    names = [unprotected_name(cell.strip()) for cell in first] if header else [f"c{at + 1}" for at in range(len(first))]
    if (repeated := next((name for name, count in Counter(names).items() if count > 1), None)) is not None:
        raise Failure(f"{name}: two columns are called {repeated!r} in the header, line 1; rename one of them")
    keys = first if header else [f"f{at}" for at in range(len(first))]
    types = {key: pa.string() for key, column in zip(keys, names, strict=True) if column in how.texts}
    try:
        table = _parse(data, delimiter, header, decimal, types).rename_columns(names)
    except pa.ArrowInvalid as error:
        raise Failure(f"{name}: {_reason(error, data, delimiter, len(names))}") from None

    contents = Contents(
        name,
        "table",
        unprotected(table),
        # By reading the file again: this is for messages only.
        lambda row: f"line {next(islice(_numbered_rows(data, delimiter), row + header, None))[0]}",
        how=replace(how, delimiter=delimiter, header=header, decimal=decimal),
    )
    if how.header is None:
        found = "the header (with --no-header, as data)"
        other = "data; columns are called c1, c2, ... (with --header, as their names)"
        contents.notes.append(f"{name}: the first line is read as {found if header else other}")
    if how.decimal is None and decimal == ",":
        contents.notes.append(f"{name}: commas are read as decimal signs (with --decimal ., as text)")
    _convert_dates(contents)
    # A point that is the decimal sign only by default does not decide what a comma is.
    _convert_thousands(contents, decimal if decimal == "," else how.decimal)
    return contents


def _numbered_rows(data: Any, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line on which it begins: cells in quotes may hold several lines."""
    csv.field_size_limit(_LARGEST_ARROW_BLOCK)  # for all readers of the process; 128 KiB by default
    lines = io.TextIOWrapper(io.BytesIO(bytes(data)), encoding="utf-8-sig", newline="")
    reader, before = csv.reader(lines, delimiter=delimiter), 0
    for cells in reader:
        if cells:
            yield before + 1, cells
        before = reader.line_num


def _parse(data: Any, delimiter: str, header: bool, decimal: str, types: dict[str, Any]) -> pa.Table:
    source, block = arrow_reader(data), _ARROW_BLOCK
    # Line ends inside quotes make parsing slower, so they are allowed only where there are quotes.
    quotes = data.find(b'"') >= 0
    while True:
        try:
            return arrow_csv.read_csv(
                source,
                read_options=arrow_csv.ReadOptions(autogenerate_column_names=not header, block_size=block),
                parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quotes),
                convert_options=arrow_csv.ConvertOptions(
                    null_values=_MISSING_CELLS, strings_can_be_null=True, decimal_point=decimal, column_types=types
                ),
            )
        except pa.ArrowInvalid as error:
            # A quoted cell that is longer than a block may also look like lines of different lengths: which error comes
            # first depends on Arrow's threads.
            signs = ["straddling", "cannot infer number of columns", *(["columns, got"] if quotes else [])]
            if not any(sign in str(error) for sign in signs) or block >= min(len(data), _LARGEST_ARROW_BLOCK):
                raise
            block = min(8 * block, _LARGEST_ARROW_BLOCK)
            source.seek(0)


def _reason(error: Exception, data: Any, delimiter: str, width: int) -> str:
    """Return what is wrong with a file that Arrow cannot parse."""
    text = str(error).splitlines()[0]
    if "columns, got" in str(error):
        other = "" if delimiter == "," else f", or name another delimiter than {delimiter!r} with --delimiter"
        for line, cells in _numbered_rows(data, delimiter):
            if len(cells) != width:
                return (
                    f"line {line} has {counted(len(cells), 'cell')}, but the first line has {width:,}; correct the "
                    f"line{other}"
                )
        return "lines have different numbers of cells; name the delimiter with --delimiter"
    if "straddling" in text:
        return "a row is longer than 2 GiB, which cannot be read; shorten it or leave it out"
    return "the file is empty" if "Empty CSV" in text else text


def find_date_formats(cells: list[str]) -> list[str]:
    """Return the formats in which all texts are dates: two if day and month are ambiguous.

    >>> find_date_formats(["31.12.2024", "1.2.2025"]), find_date_formats(["1.2.3"])
    (['%d.%m.%Y'], [])
    >>> find_date_formats(["03/04/2024"]), find_date_formats(["03/04/2024", "03/14/2024"])
    (['%d/%m/%Y', '%m/%d/%Y'], ['%m/%d/%Y'])
    >>> find_date_formats(["31.12.24"]), find_date_formats(["01 Jan 2020", "12 May 2021"])
    (['%d.%m.%y'], ['%d %b %Y'])
    """
    if not cells or not all(map(_DATE_LIKE.fullmatch, cells)):
        return []
    fitting = [form for form in _DATE_FORMATS if _not_a_date(cells, form) is None]
    # With dots, the day comes first in every country that uses them; the name of a month is not a day.
    return fitting[:1] if fitting and ("." in fitting[0] or "%b" in fitting[0]) else fitting


def _text_columns(contents: Contents) -> Iterator[tuple[int, str, Any]]:
    """Yield the columns of texts that may hold something else: number, name, and cells as a dictionary."""
    for at, name in enumerate(contents.values.column_names):
        column = contents.values[name]
        if name not in contents.how.texts and pa.types.is_string(column.type):
            yield at, name, pc.dictionary_encode(column.combine_chunks())


def _convert_thousands(contents: Contents, known: str | None) -> None:
    """Convert the columns of numbers with separated thousands, and note what was done."""
    for at, column, coded in _text_columns(contents):
        cells = coded.dictionary.to_pylist()
        if decimal := find_grouping(cells, known):
            sign = _SEPARATORS[decimal]
            numbers = pa.array([float(cell.replace(sign, "").replace(decimal, ".")) for cell in cells], pa.float64())
            contents.values = contents.values.set_column(at, column, numbers.take(coded.indices))
            contents.notes.append(
                f"column {column!r} holds numbers such as {next(cell for cell in cells if sign in cell)}: {sign!r} is "
                "read as separating thousands"
            )


def _convert_dates(contents: Contents) -> None:
    """Convert the columns of dates, note what was done, and add their formats to ``how``."""
    how = contents.how
    found: dict[str, str] = {}
    doubts: list[str] = []
    for at, column, coded in _text_columns(contents):
        cells = coded.dictionary.to_pylist()
        if (form := how.dates.get(column)) is not None:
            if (wrong := _not_a_date(cells, form)) is not None:
                problem = f"is {wrong!r}, but the dates of the model's file have the form {form}"
                raise contents.cell_failure(pc.index(contents.values[column], wrong).as_py(), column, problem)
        elif how.date_format is not None and cells and _not_a_date(cells, how.date_format) is None:
            form = how.date_format
        else:
            formats = find_date_formats(cells)
            form = formats[0] if len(formats) == 1 else None
            doubts += _doubts(contents, column, cells, formats)
        if form is not None:
            found[column] = form
            dates = pa.array([datetime.strptime(cell, form) for cell in cells], pa.timestamp("us"))
            contents.values = contents.values.set_column(at, column, dates.take(coded.indices))
    if how.date_format is not None and how.date_format not in found.values():
        raise WrongUsage(f"--date-format {how.date_format}: no column of {contents.name} holds only dates of this form")
    new = {name: form for name, form in found.items() if name not in how.dates}
    contents.notes += [f"column {name!r} is read as dates of the form {form}" for name, form in new.items()] + doubts
    contents.how = replace(how, dates=found)


def _not_a_date(cells: list[str], form: str) -> str | None:
    """Return the first text that is not a date in a format."""
    for cell in cells:
        try:
            datetime.strptime(cell, form)
        except ValueError:
            return cell
    return None


def _doubts(contents: Contents, column: str, cells: list[str], formats: list[str]) -> list[str]:
    """Explain why a column that looks like dates is read as text."""
    if len(formats) > 1:
        return [
            f"column {column!r} holds dates such as {cells[0]}, in which day and month are ambiguous, so it is read as "
            f"text; --date-format {formats[0]} or {formats[1]} says which comes first"
        ]
    short = [form for form in _SHORT_DATE_FORMATS if cells and _not_a_date(cells, form) is None]
    if short and not formats:
        return [
            f"column {column!r} is read as text; if {cells[0]} is a date, give its form with --date-format, such as "
            f"{' or '.join(short)}"
        ]
    wrong = [cell for cell in cells if not _DATE_LIKE.fullmatch(cell)]
    if formats or not 0 < len(wrong) < 0.5 * len(cells):
        return []
    row = pc.index(contents.values[column], wrong[0]).as_py()
    return [f"column {column!r} is read as text, not as dates, because of {wrong[0]!r} ({contents.place(row)})"]
