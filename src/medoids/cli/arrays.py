"""Arrays in .npy, .npz and Matrix Market files.

What a file says of its size is compared with its length before any memory is asked for, and the indices of a sparse
matrix with its shape: compiled code would read and write wherever they point.
"""

from __future__ import annotations

import io
import math
import mmap
import re
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import scipy.io
import scipy.sparse
from numpy.lib import format as npy_format

from medoids.cli.archives import Limit
from medoids.cli.failures import Failure, WrongUsage

__all__ = ["ARRAY_READERS"]

# All that NumPy and scipy raise for files that are damaged, or made up.
_WRONG = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    OSError,
    EOFError,
    RuntimeError,  # also for encrypted archives, unknown compression, and headers nested too deeply
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
# Bytes: of an index, and the most that a header of .npy takes; NumPy refuses longer ones.
_INDEX, _HEAD = 8, 1 << 17
# Of Matrix Market: lines of comments, and what numbers, nan, inf and what is between them are written with.
_COMMENTS = re.compile(rb"(?m)^\s*%.*$")
_NUMBER_BYTES = b"0123456789+-.eEdDnNaAiIfFtTyY \t\r\n"


def _npy(data: Any, name: str, array: str, limit: Limit) -> tuple[str, Any]:
    try:
        # A file as it is stays on disk, however large.
        mapped = isinstance(data, mmap.mmap)
        _shape(io.BytesIO(bytes(data[:_HEAD])), len(data))
        found = np.load(name if mapped else io.BytesIO(data), mmap_mode="r" if mapped else None, allow_pickle=False)
    except _WRONG as error:
        raise Failure(f"{name} is not a whole .npy file of numbers or texts: {_reason(error)}") from None
    return _rows(found, name)


def _shape(stream: IO[bytes], size: int) -> tuple[int, ...]:
    """Return the shape that a header tells, if it is one, and if the bytes that it stands for follow."""
    version = npy_format.read_magic(stream)
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if min(shape, default=0) < 0 or (0 in shape and max(shape) > size):
        raise ValueError(f"no array has the shape {shape}")
    needed, there = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if needed > there and not dtype.hasobject:
        raise ValueError(f"its header says {needed:,} bytes of shape {shape} and type {dtype}, but {there:,} follow")
    return tuple(shape)


def _npz(data: Any, name: str, array: str, limit: Limit) -> tuple[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            # Not more than the directory of the archive says is ever unpacked.
            limit.check(name, sum(info.file_size for info in archive.infolist()))
            if {"format", "shape", "data"} <= members.keys():
                return "sparse", _sparse({key: _member(archive, info) for key, info in members.items()}, limit, name)
            if array and array not in members:
                raise WrongUsage(f"--array {array}: {name} has no such array; it has {', '.join(members)}")
            tables = [key for key, info in members.items() if len(_shape_of(archive, info)) == 2]
            key = array or ("X" if "X" in members else tables[0] if len(tables) == 1 else "")
            if not key:
                raise WrongUsage(f"{name} holds {', '.join(members) or 'no array'}; say which one with --array")
            found = _member(archive, members[key])
    except _WRONG as error:
        raise Failure(f"{name} is not a whole .npz file of numbers or texts: {_reason(error)}") from None
    return _rows(found, name)


def _shape_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[int, ...]:
    with archive.open(info) as stream:
        return _shape(stream, info.file_size)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    _shape_of(archive, info)
    with archive.open(info) as stream:
        return npy_format.read_array(stream, allow_pickle=False)


def _sparse(parts: dict[str, Any], limit: Limit, name: str) -> Any:
    """Return what `scipy.sparse.save_npz` wrote, as rows; scipy itself believes any indices."""
    form = parts["format"].item()
    form = form.decode("ascii") if isinstance(form, bytes) else str(form)
    rows, columns = (int(size) for size in parts["shape"])
    limit.check(name, _INDEX * rows)
    values = parts["data"]
    if values.dtype.kind not in "iufb" or min(rows, columns) < 0:
        raise ValueError(f"a sparse matrix of {rows} rows and {columns} columns of type {values.dtype}")
    if form in ("csr", "csc", "bsr"):
        made = getattr(scipy.sparse, f"{form}_array")(
            (values, parts["indices"], parts["indptr"]), shape=(rows, columns)
        )
        made.check_format(full_check=True)
    elif form == "coo":
        made = scipy.sparse.coo_array((values, (parts["row"], parts["col"])), shape=(rows, columns))
    elif form == "dia":
        made = scipy.sparse.dia_array((values, parts["offsets"]), shape=(rows, columns))
    else:
        raise ValueError(f"a sparse matrix of the unknown format {form!r}")
    return scipy.sparse.csr_array(made)


def _rows(found: Any, name: str) -> tuple[str, Any]:
    if found.ndim == 1 and found.dtype.kind == "U":
        codes = np.ascontiguousarray(found, dtype=found.dtype.newbyteorder("=")).view(np.uint32)
        wrong = codes[(codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))]
        if len(wrong):
            raise Failure(f"{name} is not a whole file of texts: {wrong[0]:#x} is not a Unicode character")
        return "texts", found.tolist()
    if found.ndim == 1 and found.dtype.kind in "iufb":
        found = found[:, None]
    if found.ndim > 3 and found.dtype.kind in "iufb":
        found = found.reshape(len(found), -1)
    if found.ndim not in (2, 3) or found.dtype.kind not in "iufb":
        raise Failure(
            f"{name} holds an array of shape {found.shape} and type {found.dtype}; it must be rows of numbers"
        )
    return "array", found


def _matrix_market(data: Any, name: str, array: str, limit: Limit) -> tuple[str, Any]:
    try:
        content = io.BytesIO(_plain_numbers(bytes(data)))
        rows, _, entries, form, field, symmetry = scipy.io.mminfo(content)
        if field == "complex":
            raise ValueError("its numbers are complex")
        if form == "array" and symmetry != "general":
            entries = (entries - rows) // 2  # those below the diagonal, at least
        # Each takes a digit and the end of a line, at least.
        if 2 * entries > len(data) + 1:
            raise ValueError(f"its header says {entries:,} entries, more than {len(data):,} bytes hold")
        limit.check(name, _INDEX * rows)
        content.seek(0)
        found = scipy.io.mmread(content)
    except _WRONG as error:
        raise Failure(f"{name} is not a whole Matrix Market file: {_reason(error)}") from None
    if scipy.sparse.issparse(found):
        return "sparse", scipy.sparse.csr_array(found)
    return "array", np.asarray(found)


def _plain_numbers(content: bytes) -> bytes:
    """Return the content with a last line that ends; refuse what scipy's reader would follow beyond the last byte."""
    body = _COMMENTS.sub(b"", content)
    strange = body.translate(None, delete=_NUMBER_BYTES)
    if strange:
        raise ValueError(f"it has the byte {strange[:1]!r} among its numbers")
    return content if content.endswith(b"\n") else content + b"\n"


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


# By format: from the bytes, the name for messages, --array and the limit to what the file holds.
ARRAY_READERS: dict[str, Callable[[Any, str, str, Limit], tuple[str, Any]]] = {
    "npy": _npy,
    "npz": _npz,
    "mtx": _matrix_market,
}
