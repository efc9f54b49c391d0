"""Files of any of the known formats as what they hold: a table, an array, a sparse matrix, texts or series."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import mmap
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.io
import scipy.sparse
from pyarrow import parquet

from medoids.cli.csv_files import find_delimiter, line_of, own_reader, read_csv, sample_of
from medoids.cli.failures import Failure, WrongUsage
from medoids.stored import open_parquet, open_zarr, parquet_files, unpacked

__all__ = ["FORMATS", "Contents", "read"]

FORMATS = ("csv", "tsv", "parquet", "jsonl", "npy", "npz", "mtx", "text")
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
_COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".xz": lzma.decompress,
    ".bz2": bz2.decompress,
}


@dataclass
class Contents:
    """What a file holds.

    Attributes
    ----------
    name : str
        The file, for messages.
    kind : str
        "table" (values: a pyarrow Table), "array" (2-D numbers), "sparse" (CSR), "texts" (list of str or of lists of
        str) or "series" (list of 1-D arrays).
    place : callable
        Where a row stands in the file, such as "line 12".
    notes : list of str
        What was found out by itself, to be told.
    """

    name: str
    kind: str
    values: Any
    place: Callable[[int], str] = lambda row: f"row {row}"
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return int(self.values.shape[0]) if self.kind in ("array", "sparse") else len(self.values)


def read(
    path: str, *, format: str | None = None, delimiter: str | None = None, header: bool | None = None, array: str = ""
) -> Contents:
    """Read a file, or standard input for "-"."""
    name = "standard input" if path == "-" else path
    if Path(path).is_dir():
        if format not in (None, "parquet") or delimiter is not None or header is not None:
            raise WrongUsage(
                f"{name} is a folder; one of Parquet files, or a Zarr array, is read without these options"
            )
        return _folder(Path(path), array)
    data, suffix = _open(path)
    if len(data) == 0:
        raise Failure(f"{name} is empty")
    format = format or _format(data, suffix)
    if format in ("csv", "tsv"):
        return _table(data, name, delimiter or ("\t" if format == "tsv" else None), header)
    if delimiter is not None or header is not None:
        raise WrongUsage(f"--delimiter and --header are for csv and tsv, but {name} is {format}")
    return _READERS[format](data, name, array)


def _open(path: str) -> tuple[Any, str]:
    """Return the bytes of a file, mapped where possible, and the suffix that tells its format."""
    if path == "-":
        return sys.stdin.buffer.read(), ""
    file = Path(path)
    try:
        if file.suffix in _COMPRESSED:
            raw = file.read_bytes()
            try:
                return _COMPRESSED[file.suffix](raw), Path(file.stem).suffix.lower()
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise Failure(f"{path} is not a whole {file.suffix} file: {error}") from None
        with file.open("rb") as handle:
            size = handle.seek(0, io.SEEK_END)
            return (mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) if size else b""), file.suffix.lower()
    except FileNotFoundError:
        raise Failure(f"there is no file {path}") from None
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror or error}") from None


def _format(data: Any, suffix: str) -> str:
    """Tell the format from the name, or, where that says nothing, from the first bytes."""
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    start = bytes(data[:32])
    for magic, format in ((b"PAR1", "parquet"), (b"\x93NUMPY", "npy"), (b"PK", "npz"), (b"%%MatrixMarket", "mtx")):
        if start.startswith(magic):
            return format
    if start.lstrip()[:1] in (b"{", b"["):
        return "jsonl"
    return "csv" if find_delimiter(sample_of(data)) else "text"


def _table(data: Any, name: str, delimiter: str | None, header: bool | None) -> Contents:
    table, found, with_header = read_csv(data, name, delimiter, header)
    notes = []
    if header is None:
        what = "a header" if with_header else "data, not a header: columns are called c1, c2, ..."
        notes.append(f"{name}: the first line is {what} (--header or --no-header tells otherwise)")
    return Contents(name, "table", table, lambda row: f"line {line_of(data, found, row, header=with_header)}", notes)


def _parquet(data: Any, name: str, array: str) -> Contents:
    try:
        table = parquet.read_table(own_reader(data))
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
            raise Failure(f"{path} is a folder without Parquet files, and no Zarr array")
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
    for number, line in enumerate(bytes(data).decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            items.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise Failure(f"{name}: line {number} is not JSON: {error.msg} at column {error.colno}") from None
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
        wrong = next((v for v in item if not isinstance(v, (int, float)) or isinstance(v, bool)), None)
        if wrong is not None or not item:
            what = "is an empty list" if not item else f"holds {json.dumps(wrong)}, which is no number"
            raise Failure(f"{name}: {place(at)} {what}; a line of this file must be a list of numbers")
    if len({len(item) for item in items}) == 1:
        return Contents(name, "array", np.array(items, dtype=np.float64), place)
    return Contents(name, "series", [np.array(item, dtype=np.float64) for item in items], place)


def _npy(data: Any, name: str, array: str) -> Contents:
    try:
        # A file as it is stays on disk, however large.
        mapped = isinstance(data, mmap.mmap)
        found = np.load(name if mapped else io.BytesIO(data), mmap_mode="r" if mapped else None, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise Failure(f"{name} is not a whole .npy file of numbers or texts: {error}") from None
    return _array(found, name)


def _npz(data: Any, name: str, array: str) -> Contents:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            if {"format", "shape", "data"} <= set(archive.files):
                return Contents(name, "sparse", scipy.sparse.csr_array(scipy.sparse.load_npz(io.BytesIO(data))))
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise Failure(f"{name} is not a whole .npz file of numbers or texts: {error}") from None
    if array and array not in arrays:
        raise WrongUsage(f"--array {array}: {name} has no such array; it has {', '.join(arrays)}")
    tables = [key for key, value in arrays.items() if value.ndim == 2]
    key = array or ("X" if "X" in arrays else tables[0] if len(tables) == 1 else "")
    if not key:
        raise WrongUsage(f"{name} holds {', '.join(arrays)}; say which one with --array")
    return _array(arrays[key], name)


def _array(found: Any, name: str) -> Contents:
    if found.ndim == 1 and found.dtype.kind == "U":
        return Contents(name, "texts", found.tolist())
    if found.ndim == 1 and found.dtype.kind in "iufb":
        found = found[:, None]
    if found.ndim > 2 and found.dtype.kind in "iufb":
        found = found.reshape(len(found), -1)
    if found.ndim != 2 or found.dtype.kind not in "iufb":
        raise Failure(
            f"{name} holds an array of shape {found.shape} and type {found.dtype}; it must be rows of numbers"
        )
    return Contents(name, "array", found)


def _matrix_market(data: Any, name: str, array: str) -> Contents:
    try:
        found = scipy.io.mmread(io.BytesIO(bytes(data)))
    except (ValueError, OSError, OverflowError, IndexError) as error:
        raise Failure(f"{name} is not a whole Matrix Market file: {error}") from None
    if scipy.sparse.issparse(found):
        return Contents(name, "sparse", scipy.sparse.csr_array(found))
    return Contents(name, "array", np.asarray(found))


def _texts(data: Any, name: str, array: str) -> Contents:
    try:
        text = bytes(data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = bytes(data[: error.start]).count(b"\n") + 1
        raise Failure(f"{name}: line {line} is not UTF-8 text; convert the file") from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    return Contents(name, "texts", lines, lambda row: f"line {row + 1}")


_READERS: dict[str, Callable[[Any, str, str], Contents]] = {
    "parquet": _parquet,
    "jsonl": _json_lines,
    "npy": _npy,
    "npz": _npz,
    "mtx": _matrix_market,
    "text": _texts,
}
