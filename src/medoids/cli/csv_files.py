"""Text files with columns: which delimiter, whether there is a header, and on which line a row stands."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from medoids.cli.failures import Failure

__all__ = ["find_delimiter", "find_header", "is_number", "line_of", "own_reader", "read_csv", "sample_of"]

_DELIMITERS = ",\t;|"
# What stands for a missing value, beside what Arrow takes for one.
_MISSING = [*arrow_csv.ConvertOptions().null_values, "?"]
# As much of a file as delimiter and header are judged by.
_SAMPLE = 1 << 16


def find_delimiter(sample: str) -> str | None:
    r"""Return the delimiter that cuts all lines into the same number of cells, or most lines; None if none does.

    >>> find_delimiter("a;b\n1,5;2\n2,5;3\n"), find_delimiter("one\ntwo words\n")
    (';', None)
    """
    best, best_score = None, (0.0, 0)
    for delimiter in _DELIMITERS:
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


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


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
    start = bytes(data[:_SAMPLE])
    if len(data) > _SAMPLE:
        start = start[: start.rfind(b"\n") + 1] or start
    return start.decode("utf-8-sig", "replace")


def line_of(data: Any, delimiter: str, row: int, *, header: bool) -> int:
    """Return the line of the file on which a row of data begins; found by reading again, for messages only."""
    text = io.TextIOWrapper(io.BytesIO(bytes(data)), encoding="utf-8-sig", errors="replace", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    seen, before = -1 if header else 0, 0
    for cells in reader:
        if cells:
            if seen == row:
                return before + 1
            seen += 1
        before = reader.line_num
    return before


def read_csv(data: Any, name: str, delimiter: str | None, header: bool | None) -> tuple[pa.Table, str, bool]:
    """Read a table; return also the delimiter, and whether the first line was a header."""
    sample = sample_of(data)
    delimiter = delimiter or find_delimiter(sample) or ","
    header = find_header(sample, delimiter) if header is None else header
    first = next(_rows(sample, delimiter), [])
    names = [cell.strip() for cell in first] if header else [f"c{at}" for at in range(1, len(first) + 1)]
    repeated = next((n for n in names if names.count(n) > 1), None)
    if repeated is not None:
        raise Failure(f"{name}: two columns are called {repeated!r} in the header, line 1; rename one of them")
    # Lines inside quotes take Arrow longer to cut, so only where there are quotes at all.
    quotes = data.find(b'"') >= 0
    try:
        table = arrow_csv.read_csv(
            own_reader(data),
            read_options=arrow_csv.ReadOptions(autogenerate_column_names=not header),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quotes),
            convert_options=arrow_csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True),
        ).rename_columns(names)
    except pa.ArrowInvalid as error:
        if "columns, got" in str(error):
            _refuse_ragged(data, name, delimiter, len(names))
        raise Failure(f"{name}: {_reason(error)}") from None
    if any(pa.types.is_binary(column.type) for column in table.schema):
        _refuse_encoding(data, name)
    return table, delimiter, header


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0]
    return "the file is empty" if "Empty CSV" in text else text


def _refuse_encoding(data: Any, name: str) -> None:
    """Say which line is not UTF-8: Arrow takes such a column for bytes."""
    try:
        bytes(data).decode("utf-8")
    except UnicodeDecodeError as error:
        line = bytes(data[: error.start]).count(b"\n") + 1
        raise Failure(
            f"{name}: line {line} is not UTF-8 text; convert the file, for example with iconv -t UTF-8"
        ) from None


def _refuse_ragged(data: Any, name: str, delimiter: str, width: int) -> None:
    text = io.TextIOWrapper(io.BytesIO(bytes(data)), encoding="utf-8-sig", errors="replace", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    before = 0
    for cells in reader:
        if cells and len(cells) != width:
            raise Failure(
                f"{name}: line {before + 1} has {len(cells)} cells, but the first line has {width}; mend the line"
                f"{'' if delimiter == ',' else f', or name another delimiter than {delimiter!r} with --delimiter'}"
            )
        before = reader.line_num
    raise Failure(f"{name}: lines have different numbers of cells; name the delimiter with --delimiter")
