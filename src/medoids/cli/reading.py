"""Files of any of the known formats as what they hold: a table, an array, a sparse matrix, texts or series."""

from __future__ import annotations

import io
import json
import mmap
import reprlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from medoids.cli.archives import PACKED, Limit, read_stream, unpack
from medoids.cli.arrays import ARRAY_READERS
from medoids.cli.csv_files import find_delimiter, line_of, own_reader, read_csv, sample_of
from medoids.cli.dates import with_dates
from medoids.cli.encodings import as_utf8, check_utf8, marked_encoding
from medoids.cli.failures import Failure, WrongUsage
from medoids.cli.read_options import ReadOptions
from medoids.storage.parquet_zarr import open_parquet, open_zarr, parquet_files, unpacked

__all__ = ["Contents", "read"]

_TEXT_FORMATS = ("csv", "tsv", "jsonl", "text")
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npy": "npy",
    ".npz": "npz",
    ".mtx": "mtx",
    ".txt": "text",
    ".text": "text",
}
# Files that tell a Zarr array or group, of either version.
_ZARR = ("zarr.json", ".zarray", ".zgroup")
# Bytes of a table, as numbers, above which it is not read into memory.
_LARGE = 1 << 30
# A whole number may be beyond it.
_LARGEST = sys.float_info.max


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
        Where a row stands in the file, such as "line 12".
    notes : list of str
        What the file showed, for the user to know.
    how : ReadOptions
        How it was read.
    """

    name: str
    kind: str
    values: Any
    place: Callable[[int], str] = lambda row: f"row {row}"
    notes: list[str] = field(default_factory=list)
    how: ReadOptions = field(default_factory=ReadOptions)

    def __len__(self) -> int:
        return int(self.values.shape[0]) if self.kind in ("array", "sparse") else len(self.values)


def read(path: str, how: ReadOptions | None = None, *, like: ReadOptions | None = None) -> Contents:
    """Read a file, or standard input for "-", where ``how`` says nothing as ``like``, another file, was read."""
    how, like = how or ReadOptions(), like or ReadOptions()
    name = "standard input" if path == "-" else path
    limit = Limit(how.max_bytes)
    if Path(path).is_dir():
        if how.format not in (None, "parquet") or how.encoding is not None or how.given():
            raise WrongUsage(
                f"{name} is a folder, of Parquet files or of a Zarr array: leave out --format, --encoding, "
                "--delimiter, --header, --decimal and --date-format"
            )
        return _folder(Path(path), how.array or like.array)
    data, suffix = _open(path, limit)
    if len(data) == 0:
        raise Failure(f"{name} is empty")
    encoding = how.encoding or marked_encoding(data)
    if encoding is not None:
        data = as_utf8(data, name, encoding)
    format = how.format or _SUFFIXES.get(suffix) or like.format or _format(data)
    if format not in _TEXT_FORMATS and how.encoding is not None:
        raise WrongUsage(f"--encoding is for text files, but {name} is {format}")
    if format not in ("csv", "tsv") and how.given():
        raise WrongUsage(f"{', '.join(how.given())} is for csv and tsv, but {name} is {format}")
    if format in _TEXT_FORMATS:
        if encoding is None and like.encoding is not None:
            data = as_utf8(data, name, like.encoding)
        check_utf8(data, name)
    # A delimiter belongs to a format: a .tsv file has tabs, whatever the other file had.
    how = replace(how, format=format).over(like if like.format == format else replace(like, delimiter=None))
    if format in ("csv", "tsv"):
        found = _table(data, name, how)
    elif format in ARRAY_READERS:
        found = Contents(name, *ARRAY_READERS[format](data, name, how.array, limit))
    elif format == "parquet":
        found = _parquet(data, name, limit)
    else:
        found = _READERS[format](data, name, how.array)
    return replace(found, how=found.how.over(replace(how, texts=(), date_format=None)))


def _open(path: str, limit: Limit) -> tuple[Any, str]:
    """Return the bytes of a file, mapped where possible, and the suffix that tells its format."""
    if path == "-":
        return read_stream(sys.stdin.buffer, "standard input", limit), ""
    file = Path(path)
    try:
        if file.suffix in PACKED:
            return unpack(file, path, limit), Path(file.stem).suffix.lower()
        with file.open("rb") as handle:
            size = handle.seek(0, io.SEEK_END)
            return (mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) if size else b""), file.suffix.lower()
    except FileNotFoundError:
        raise Failure(f"there is no file {path}") from None
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror or error}") from None


def _format(data: Any) -> str:
    """Return the format of a file whose name does not say it, from its first bytes."""
    start = bytes(data[:32])
    for magic, format in ((b"PAR1", "parquet"), (b"\x93NUMPY", "npy"), (b"PK", "npz"), (b"%%MatrixMarket", "mtx")):
        if start.startswith(magic):
            return format
    if start.lstrip()[:1] in (b"{", b"["):
        return "jsonl"
    return "csv" if find_delimiter(sample_of(data)) else "text"


def _table(data: Any, name: str, how: ReadOptions) -> Contents:
    delimiter = how.delimiter or ("\t" if how.format == "tsv" else None)
    table, found = read_csv(data, name, replace(how, delimiter=delimiter))

    def place(row: int) -> str:
        return f"line {line_of(data, str(found.delimiter), row, header=bool(found.header))}"

    table, dates, doubts = with_dates(table, name, how, place)
    notes = []
    if how.header is None and found.header:
        notes.append(f"{name}: the first line is read as the header (with --no-header, as data)")
    elif how.header is None:
        notes.append(
            f"{name}: the first line is read as data; columns are called c1, c2, ... (with --header, as their names)"
        )
    if how.decimal is None and found.decimal == ",":
        notes.append(f"{name}: commas are read as decimal signs (with --decimal ., as text)")
    notes += [
        f"column {column!r} is read as dates of the form {form}"
        for column, form in dates.items()
        if column not in how.dates
    ]
    found = replace(found, dates=dates, date_format=None, texts=())
    return Contents(name, "table", table, place, notes + doubts, found)


def _parquet(data: Any, name: str, limit: Limit) -> Contents:
    try:
        content = own_reader(data)
        about = parquet.read_metadata(content)
        packed = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
        # Repeated values take next to nothing in a file, and eight bytes each in a table.
        limit.check(name, max(packed, 8 * about.num_rows * about.num_columns))
        content.seek(0)
        table = parquet.read_table(content)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise Failure(f"{name} is not a whole Parquet file, perhaps cut off: {reason}") from None
    return Contents(name, "table", table)


def _folder(path: Path, array: str) -> Contents:
    """Read a Zarr array, or a folder of Parquet files: as a table, or, where that is large, as numbers on disk."""
    try:
        if any((path / name).exists() for name in _ZARR):
            return Contents(str(path), "array", unpacked(open_zarr(path, array or None)))
        tables = parquet_files(path)
        if not tables:
            raise Failure(f"{path} is a folder, but holds neither Parquet files nor a Zarr array")
        schema = parquet.read_schema(tables[0])
        rows = sum(parquet.read_metadata(file).num_rows for file in tables)
        if 8 * rows * len(schema) > _LARGE:
            note = f"{path} is large and stays on disk; its columns are called x0, x1, ..."
            return Contents(str(path), "array", unpacked(open_parquet(path)), notes=[note])
        return Contents(str(path), "table", pa.concat_tables([parquet.read_table(file) for file in tables]))
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise Failure(f"cannot read {path}: its Parquet files are not whole, or unlike: {reason}") from None
    except (ValueError, OSError) as error:
        raise Failure(str(error)) from None


def _json_lines(data: Any, name: str, array: str) -> Contents:
    items, lines = [], []
    # Only \n ends a line: str.splitlines would also cut at characters that a JSON text may hold, such as U+2028.
    for number, line in enumerate(bytes(data).decode("utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            items.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise Failure(f"{name}: line {number} is not JSON: {error.msg} at column {error.colno}") from None
        except RecursionError:
            raise Failure(f"{name}: line {number} is nested too deeply") from None
        except ValueError as error:  # numbers of thousands of digits
            raise Failure(f"{name}: line {number} cannot be read: {error}") from None
        if "\\u" in line and _has_half_a_character(items[-1]):
            raise Failure(f"{name}: line {number} holds half of a surrogate pair, such as \\ud800; correct the text")
        lines.append(number)

    def place(row: int) -> str:
        return f"line {lines[row]}"

    if not items:
        raise Failure(f"{name} has no lines")
    kinds = (dict, str, list)
    kind = next((kind for kind in kinds if isinstance(items[0], kind)), None)
    for at, item in enumerate(items):
        if kind is None or not isinstance(item, kind):
            raise Failure(f"{name}: {place(at)} must be an object, a text or a list, as line {lines[0]} is")
    if kind is str:
        return Contents(name, "texts", items, place)
    if kind is list:
        return _lists(items, name, place)
    keys = list(dict.fromkeys(key for item in items for key in item))
    for at, item in enumerate(items):
        nested = next((key for key, value in item.items() if isinstance(value, (dict, list))), None)
        if nested is not None:
            raise Failure(f"{name}: {place(at)}, {nested!r} is not a number or a text; leave it out of the file")
    columns = {key: [item.get(key) for item in items] for key in keys}
    return Contents(name, "table", pa.table({key: _column(values) for key, values in columns.items()}), place)


def _has_half_a_character(item: Any) -> bool:
    """JSON can escape one half of a character of two, which no other encoding can hold."""
    try:
        json.dumps(item, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError):
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values if v is not None)
        if numbers:
            return pa.array(values, type=pa.float64())
        return pa.array([None if v is None else str(v) for v in values])


def _lists(items: list[Any], name: str, place: Callable[[int], str]) -> Contents:
    """Lists of numbers are vectors, or series where their lengths differ; lists of texts are sequences of tokens."""
    if all(isinstance(token, str) for item in items for token in item):
        return Contents(name, "texts", items, place)
    for at, item in enumerate(items):
        wrong = next(
            (v for v in item if not isinstance(v, (int, float)) or isinstance(v, bool) or abs(v) > _LARGEST), None
        )
        if wrong is not None or not item:
            what = "is an empty list" if not item else f"holds {reprlib.repr(wrong)}, which is not a finite number"
            raise Failure(f"{name}: {place(at)} {what}; a line of this file must be a list of numbers")
    if len({len(item) for item in items}) == 1:
        return Contents(name, "array", np.array(items, dtype=np.float64), place)
    return Contents(name, "series", [np.array(item, dtype=np.float64) for item in items], place)


def _texts(data: Any, name: str, array: str) -> Contents:
    text = bytes(data).decode("utf-8-sig")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    return Contents(name, "texts", lines, lambda row: f"line {row + 1}")


_READERS: dict[str, Callable[[Any, str, str], Contents]] = {
    "jsonl": _json_lines,
    "text": _texts,
}
