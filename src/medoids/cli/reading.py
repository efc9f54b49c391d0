"""Files of every known format as tables, arrays, sparse matrices, texts or series."""

from __future__ import annotations

import json
import reprlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from medoids.cli.arrays import read_array
from medoids.cli.contents import Contents, ReadOptions
from medoids.cli.csv_files import arrow_reader, find_delimiter, read_csv, sample_of
from medoids.cli.messages import Failure, WrongUsage
from medoids.cli.raw_bytes import as_utf8, check_unpacked_size, check_utf8, marked_encoding, open_bytes, unpacked_limit
from medoids.storage.parquet_zarr import open_parquet, open_zarr, parquet_files, unpacked

__all__ = ["read"]

_TEXT_FORMATS = ("csv", "tsv", "jsonl", "text")
_FORMAT_OF_SUFFIX = {
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
_FORMAT_OF_START = {b"PAR1": "parquet", b"\x93NUMPY": "npy", b"PK": "npz", b"%%MatrixMarket": "mtx"}
# A folder with one of these files is a Zarr array or group, of version 2 or 3.
_ZARR_FILES = ("zarr.json", ".zarray", ".zgroup")
# A folder of Parquet files stays on disk if its numbers take more bytes: a part of a laptop's memory.
_LARGEST_TABLE_BYTES = 1 << 30


def read(path: str, how: ReadOptions | None = None, *, like: ReadOptions | None = None) -> Contents:
    """Read a file or, for "-", standard input.

    What ``how`` leaves open is taken from ``like``, the options that another file was read with, or detected.
    """
    how, like = how or ReadOptions(), like or ReadOptions()
    name = "standard input" if path == "-" else path
    limit = unpacked_limit(how.max_bytes)
    if Path(path).is_dir():
        if how.format not in (None, "parquet") or how.encoding is not None or how.given():
            raise WrongUsage(
                f"{name} is a folder, of Parquet files or of a Zarr array: leave out --format, --encoding, "
                "--delimiter, --header, --decimal and --date-format"
            )
        return _read_folder(Path(path), how.array or like.array)
    data, suffix = open_bytes(path, limit)
    if len(data) == 0:
        raise Failure(f"{name} is empty")
    encoding = how.encoding or marked_encoding(data)
    if encoding is not None:
        data = as_utf8(data, name, encoding)
    format = how.format or _FORMAT_OF_SUFFIX.get(suffix) or like.format or _detected_format(data)
    if format not in _TEXT_FORMATS and how.encoding is not None:
        raise WrongUsage(f"--encoding is for text files, but {name} is {format}")
    if format not in ("csv", "tsv") and how.given():
        raise WrongUsage(f"{', '.join(how.given())} is for csv and tsv, but {name} is {format}")
    if format in _TEXT_FORMATS:
        if encoding is None and like.encoding is not None:
            data = as_utf8(data, name, like.encoding)
        check_utf8(data, name)
    # The delimiter goes with the format: a .tsv file has tabs, whatever the other file had.
    how = replace(how, format=format).over(like if like.format == format else replace(like, delimiter=None))
    found = _READERS[format](data, name, how, limit)
    return replace(found, how=replace(found.how.over(how), texts=(), date_format=None))


def _detected_format(data: Any) -> str:
    """Return the format of a file whose name does not give it, from its first bytes."""
    start = bytes(data[:32])
    for magic, format in _FORMAT_OF_START.items():
        if start.startswith(magic):
            return format
    if start.lstrip().startswith((b"{", b"[")):
        return "jsonl"
    return "csv" if find_delimiter(sample_of(data)) else "text"


def _read_parquet(data: Any, name: str, how: ReadOptions, limit: int) -> Contents:
    try:
        content = arrow_reader(data)
        about = parquet.read_metadata(content)
        size = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
        # Repeated values take almost no space in a file, but eight bytes each in a table.
        check_unpacked_size(name, limit, max(size, 8 * about.num_rows * about.num_columns))
        content.seek(0)
        return Contents(name, "table", parquet.read_table(content))
    except (pa.ArrowException, OSError) as error:
        raise Failure(f"{name} is not a whole Parquet file, perhaps cut off: {str(error).splitlines()[0]}") from None


def _read_folder(path: Path, array: str) -> Contents:
    """Read a Zarr array or a folder of Parquet files, which is a table or, if large, an array that stays on disk."""
    try:
        if any((path / name).exists() for name in _ZARR_FILES):
            return Contents(str(path), "array", unpacked(open_zarr(path, array or None)))
        if not (tables := parquet_files(path)):
            raise Failure(f"{path} is a folder, but holds neither Parquet files nor a Zarr array")
        about = [parquet.read_metadata(file) for file in tables]
        if 8 * sum(file.num_rows for file in about) * about[0].num_columns > _LARGEST_TABLE_BYTES:
            return Contents(
                str(path),
                "array",
                unpacked(open_parquet(path)),
                notes=[f"{path} is large and stays on disk; its columns are called x0, x1, ..."],
            )
        return Contents(str(path), "table", pa.concat_tables([parquet.read_table(file) for file in tables]))
    except pa.ArrowException as error:
        raise Failure(
            f"cannot read {path}: its Parquet files are not whole, or differ: {str(error).splitlines()[0]}"
        ) from None
    except (ValueError, OSError) as error:
        raise Failure(str(error)) from None


def _read_lines(data: Any, name: str, how: ReadOptions, limit: int) -> Contents:
    lines = [line.removesuffix("\r") for line in bytes(data).decode("utf-8-sig").split("\n")]
    if lines[-1] == "":
        lines.pop()
    return Contents(name, "texts", lines, lambda row: f"line {row + 1}")


def _read_json_lines(data: Any, name: str, how: ReadOptions, limit: int) -> Contents:
    """Read a file of JSON lines, all of which must hold the same type."""
    items, lines = [], []
    # Only \n ends a line: str.splitlines would also split at characters that a JSON text may hold, such as U+2028.
    for number, line in enumerate(bytes(data).decode("utf-8-sig").split("\n"), start=1):
        if line.strip():
            items.append(_parse_json(line, f"{name}: line {number}"))
            lines.append(number)
    if not items:
        raise Failure(f"{name} has no lines")
    contents = Contents(name, "texts", items, lambda row: f"line {lines[row]}")
    form = type(items[0])
    for item, number in zip(items, lines, strict=True):
        if form not in (dict, str, list) or type(item) is not form:
            raise Failure(f"{name}: line {number} must be an object, a text or a list, of the type of line {lines[0]}")
    if form is list:
        _convert_lists(contents)
    elif form is dict:
        _convert_objects(contents)
    return contents


def _parse_json(line: str, where: str) -> Any:
    try:
        item = json.loads(line)
        # JSON can escape one half of a surrogate pair, which UTF-8 cannot hold.
        if "\\u" in line:
            json.dumps(item, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise Failure(f"{where} is not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise Failure(f"{where} is nested too deeply") from None
    except UnicodeEncodeError:
        raise Failure(f"{where} holds half of a surrogate pair, such as \\ud800; correct the text") from None
    except ValueError:
        raise Failure(f"{where} holds a number of thousands of digits; correct it") from None
    return item


def _convert_objects(contents: Contents) -> None:
    items = contents.values
    for row, item in enumerate(items):
        for key, value in item.items():
            if isinstance(value, (dict, list)):
                raise contents.cell_failure(row, key, "is not a number or a text; leave it out of the file")
            if type(value) is int and abs(value) > sys.float_info.max:
                raise contents.cell_failure(row, key, "is beyond 1.8e308, the largest number; correct it")
    keys = dict.fromkeys(key for item in items for key in item)
    contents.kind = "table"
    contents.values = pa.table({key: _column([item.get(key) for item in items]) for key in keys})


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError):
        if all(value is None or type(value) in (int, float) for value in values):
            return pa.array(values, type=pa.float64())
        return pa.array([None if value is None else str(value) for value in values])


def _convert_lists(contents: Contents) -> None:
    """Make vectors of lists of numbers, or series where their lengths differ; lists of texts stay as they are."""
    items = contents.values
    if all(isinstance(token, str) for item in items for token in item):
        return
    for row, item in enumerate(items):
        # A JSON integer may exceed the largest float.
        wrong = [value for value in item if type(value) not in (int, float) or abs(value) > sys.float_info.max]
        if wrong or not item:
            what = f"holds {reprlib.repr(wrong[0])}, which is not a finite number" if item else "is an empty list"
            raise Failure(
                f"{contents.name}: {contents.place(row)} {what}; a line of this file must be a list of numbers"
            )
    if len({len(item) for item in items}) == 1:
        contents.kind, contents.values = "array", np.array(items, dtype=np.float64)
    else:
        contents.kind, contents.values = "series", [np.array(item, dtype=np.float64) for item in items]


_READERS: dict[str, Callable[[Any, str, ReadOptions, int], Contents]] = {
    "csv": read_csv,
    "tsv": read_csv,
    "parquet": _read_parquet,
    "jsonl": _read_json_lines,
    "npy": read_array,
    "npz": read_array,
    "mtx": read_array,
    "text": _read_lines,
}
