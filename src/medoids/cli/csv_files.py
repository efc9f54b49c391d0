"""Text files with columns: delimiter, header and decimal sign, and on which line a row stands."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from medoids.cli.failures import Failure
from medoids.cli.read_options import ReadOptions
from medoids.cli.spreadsheets import unprotected, unprotected_name
from medoids.wording import counted

__all__ = [
    "find_decimal",
    "find_delimiter",
    "find_header",
    "is_number",
    "line_of",
    "own_reader",
    "read_csv",
    "sample_of",
]

_DELIMITERS = ",\t;|"
# What stands for a missing value, beside what Arrow takes for one.
_MISSING = [*arrow_csv.ConvertOptions().null_values, "?"]
# Delimiter, header and decimal sign are judged by this many bytes of a file, or by more if they hold too few lines.
_SAMPLE = 1 << 16
_LINES = 20
# Arrow parses a file in blocks and wants a row to fit in one; it counts their bytes in 32 bits.
_BLOCK, _LARGEST_BLOCK = 1 << 20, (1 << 31) - 1
_NUMBER = {
    sign: re.compile(
        rf"\s*[+-]?((\d+({re.escape(sign)}\d*)?|{re.escape(sign)}\d+)([eE][+-]?\d+)?|inf|infinity|nan)\s*",
        re.IGNORECASE,
    )
    for sign in ".,"
}


def find_delimiter(sample: str, decimal: str | None = None) -> str | None:
    r"""Return the delimiter that cuts all lines into the same number of cells, or most lines; None if none does.

    A given decimal sign is no delimiter.

    >>> find_delimiter("a;b\n1,5;2\n2,5;3\n"), find_delimiter("one\ntwo words\n")
    (';', None)
    """
    best, best_score = None, (0.0, 0)
    for delimiter in _DELIMITERS.replace(decimal or "", ""):
        widths = [len(row) for row in _rows(sample, delimiter)][:200]
        if not widths:
            return None
        common = max(set(widths), key=widths.count)
        score = (widths.count(common) / len(widths), common)
        # A delimiter that cuts a few lines only is punctuation.
        if common > 1 and score[0] > 0.5 and score > best_score:
            best, best_score = delimiter, score
    return best


def find_header(sample: str, delimiter: str) -> bool:
    r"""Tell names from values: names are no numbers, differ from each other, and do not come again below.

    >>> find_header("age,town\n31,Rome\n40,Oslo\n", ","), find_header("1,2\n3,4\n", ",")
    (True, False)
    """
    rows = _rows(sample, delimiter)
    first = next(rows, None)
    if not first or len(set(first)) < len(first) or any(not cell.strip() or is_number(cell) for cell in first):
        return False
    below = list(rows)
    return not any(cell in {row[at] for row in below if at < len(row)} for at, cell in enumerate(first))


def find_decimal(sample: str, delimiter: str, header: bool) -> str:
    r"""Return the decimal sign: a comma only where a column shows it and no cell has a decimal point.

    A comma before three digits may as well separate thousands, so a column of such cells alone shows nothing.

    >>> find_decimal("a;b\n1,5;x\n2;y\n", ";", True), find_decimal("a;b\n1,500;1.5\n", ";", True)
    (',', '.')
    """
    rows = list(_rows(sample, delimiter))[1 if header else 0 :]
    cells = [cell for row in rows for cell in row if cell not in _MISSING]
    if not any("," in cell for cell in cells) or any("." in cell and is_number(cell) for cell in cells):
        return "."
    for at in range(max(map(len, rows))):
        column = [row[at] for row in rows if at < len(row) and row[at] not in _MISSING]
        if all(is_number(cell, ",") for cell in column) and any(
            "," in cell and not re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in column
        ):
            return ","
    return "."


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return (row for row in _reader(io.StringIO(text, newline=""), delimiter) if row)


def _reader(lines: Any, delimiter: str) -> Any:
    csv.field_size_limit(_LARGEST_BLOCK)  # of all readers of the process; 128 KiB by default
    return csv.reader(lines, delimiter=delimiter)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Return whether a cell is a number.

    >>> is_number("-1.5e3"), is_number("1,5"), is_number("1,5", ","), is_number("1_000")
    (True, False, True, False)
    """
    return _NUMBER[decimal].fullmatch(cell) is not None


def own_reader(data: Any) -> pa.BufferReader:
    """Return the bytes of a file as memory of Arrow's own.

    Were they Python's, or were a Python function among the options, one of Arrow's threads might let go of them while
    the interpreter shuts down, which aborts the process: seen in one of twenty short runs.
    """
    copy = pa.BufferOutputStream()
    copy.write(data)
    return pa.BufferReader(copy.getvalue())


def sample_of(data: Any) -> str:
    """Return the first lines of a file, the last of them whole."""
    size = _SAMPLE
    start = bytes(data[:size])
    while size < len(data) and start.count(b"\n") < _LINES:
        size *= 4
        start = bytes(data[:size])
    if len(data) > size:
        start = start[: start.rfind(b"\n") + 1]
    return start.decode("utf-8-sig", "replace")


def line_of(data: Any, delimiter: str, row: int, *, header: bool) -> int:
    """Return the line of the file on which a row of data begins; found by reading again, for messages only."""
    reader = _reader(_lines(data), delimiter)
    seen, before = -1 if header else 0, 0
    for cells in reader:
        if cells:
            if seen == row:
                return before + 1
            seen += 1
        before = reader.line_num
    return before


def _lines(data: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(bytes(data)), encoding="utf-8-sig", newline="")


def read_csv(data: Any, name: str, how: ReadOptions) -> tuple[pa.Table, ReadOptions]:
    """Read a table from UTF-8 text; return also how, with what was found in the file."""
    sample = sample_of(data)
    delimiter = how.delimiter or find_delimiter(sample, how.decimal) or (";" if how.decimal == "," else ",")
    header = find_header(sample, delimiter) if how.header is None else how.header
    decimal = how.decimal or find_decimal(sample, delimiter, header)
    first = next(_rows(sample, delimiter), [])
    names = [unprotected_name(cell.strip()) for cell in first] if header else [f"c{at + 1}" for at in range(len(first))]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise Failure(f"{name}: two columns are called {repeated!r} in the header, line 1; rename one of them")
    kept = {cell if header else f"f{at}": names[at] for at, cell in enumerate(first)}
    types = {cell: pa.string() for cell, column in kept.items() if column in how.texts}
    try:
        table = _parsed(data, delimiter, header, decimal, types).rename_columns(names)
    except pa.ArrowInvalid as error:
        if "columns, got" in str(error):
            _refuse_ragged(data, name, delimiter, len(names))
        raise Failure(f"{name}: {_reason(error)}") from None
    return unprotected(table), replace(how, delimiter=delimiter, header=header, decimal=decimal)


def _parsed(data: Any, delimiter: str, header: bool, decimal: str, types: dict[str, Any]) -> pa.Table:
    source, block = own_reader(data), _BLOCK
    # Lines inside quotes take Arrow longer to cut, so only where there are quotes at all.
    quotes = data.find(b'"') >= 0
    while True:
        try:
            return arrow_csv.read_csv(
                source,
                read_options=arrow_csv.ReadOptions(autogenerate_column_names=not header, block_size=block),
                parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quotes),
                convert_options=arrow_csv.ConvertOptions(
                    null_values=_MISSING, strings_can_be_null=True, decimal_point=decimal, column_types=types
                ),
            )
        except pa.ArrowInvalid as error:
            longer = "straddling" in str(error) or "cannot infer number of columns" in str(error)
            if not longer or block >= min(len(data), _LARGEST_BLOCK):
                raise
            block = min(8 * block, _LARGEST_BLOCK)
            source.seek(0)


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0]
    if "straddling" in text:
        return "a row is longer than 2 GiB, which cannot be read; shorten it or leave it out"
    return "the file is empty" if "Empty CSV" in text else text


def _refuse_ragged(data: Any, name: str, delimiter: str, width: int) -> None:
    reader = _reader(_lines(data), delimiter)
    before = 0
    for cells in reader:
        if cells and len(cells) != width:
            other = "" if delimiter == "," else f", or name another delimiter than {delimiter!r} with --delimiter"
            raise Failure(
                f"{name}: line {before + 1} has {counted(len(cells), 'cell')}, but the first line has {width:,}; "
                f"correct the line{other}"
            )
        before = reader.line_num
    raise Failure(f"{name}: lines have different numbers of cells; name the delimiter with --delimiter")
