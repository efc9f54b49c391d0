"""Arrays in .npy, .npz and Matrix Market files.

The size that a file declares is compared with its length before memory is allocated, and the indices of a sparse matrix
with its shape: compiled code would read and write wherever they point.
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
from typing import IO, Any

import numpy as np
import scipy.io
import scipy.sparse
from numpy.lib import format as npy_format

from medoids.cli.contents import Contents, ReadOptions
from medoids.cli.messages import Failure, WrongUsage
from medoids.cli.raw_bytes import check_unpacked_size

__all__ = ["read_array"]

# What NumPy and scipy raise for files that are damaged or crafted.
_DAMAGED = (
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
# How NumPy's own messages about a header begin; others are those of Python's parser.
_HEADER_MESSAGES = (
    "shape is not valid",
    "fortran_order is not",
    "descr is not a valid",
    "Header does not contain",
    "Header length",
)
# Bytes of a row pointer of a sparse matrix.
_POINTER_BYTES = 8
# NumPy refuses longer headers of .npy files.
_NPY_HEADER_BYTES = 1 << 17
# Matrix Market: comment lines, and the bytes that numbers, nan, inf and the space between them are written with.
_COMMENTS = re.compile(rb"(?m)^\s*%.*$")
_NUMBER_BYTES = b"0123456789+-.eEdDnNaAiIfFtTyY \t\r\n"


def read_array(data: Any, name: str, how: ReadOptions, limit: int) -> Contents:
    """Read the bytes of a .npy, .npz or Matrix Market file."""
    what, read = _ARRAY_FORMATS[str(how.format)]
    try:
        found = read(data, name, how.array, limit)
    except _DAMAGED as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise Failure(f"{name} is not a whole {what}: {reason}") from None
    if scipy.sparse.issparse(found):
        return Contents(name, "sparse", scipy.sparse.csr_array(found))
    if found.ndim == 1 and found.dtype.kind == "U":
        codes = np.ascontiguousarray(found, dtype=found.dtype.newbyteorder("=")).view(np.uint32)
        if len(wrong := codes[(codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))]):
            raise Failure(f"{name} is not a whole file of texts: {wrong[0]:#x} is not a Unicode character")
        return Contents(name, "texts", found.tolist())
    if found.dtype.kind not in "iufb" or found.ndim == 0:
        raise Failure(
            f"{name} holds an array of shape {found.shape} and type {found.dtype}; it must be rows of numbers"
        )
    if found.ndim not in (2, 3):
        found = found.reshape(len(found), math.prod(found.shape[1:]))
    return Contents(name, "array", found)


def _read_npy(data: Any, name: str, array: str, limit: int) -> Any:
    _check_shape(io.BytesIO(bytes(data[:_NPY_HEADER_BYTES])), len(data))
    if isinstance(data, mmap.mmap):  # not compressed: stays on disk, however large
        return np.load(name, mmap_mode="r", allow_pickle=False)
    return np.load(io.BytesIO(data), allow_pickle=False)


def _check_shape(stream: IO[bytes], size: int) -> tuple[int, ...]:
    """Return the shape in a header, if an array can have it and its bytes follow."""
    version = npy_format.read_magic(stream)
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    try:
        shape, _, dtype = read(stream)
    except _DAMAGED as error:
        if str(error).startswith(_HEADER_MESSAGES):
            raise
        raise ValueError("its header is damaged") from None
    if min(shape, default=0) < 0 or (0 in shape and max(shape) > size):
        raise ValueError(f"no array has the shape {shape}")
    needed, available = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if needed > available and not dtype.hasobject:
        raise ValueError(
            f"its header declares {needed:,} bytes of shape {shape} and type {dtype}, but {available:,} follow"
        )
    return tuple(shape)


def _read_npz(data: Any, name: str, array: str, limit: int) -> Any:
    content = bytes(data)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        # Nothing beyond the sizes in the directory of the archive is ever unpacked.
        check_unpacked_size(name, limit, sum(info.file_size for info in archive.infolist()))
        shapes = {}
        for info in archive.infolist():
            with archive.open(info) as stream:
                shapes[info.filename.removesuffix(".npy")] = _check_shape(stream, info.file_size)
    if {"format", "shape", "data"} <= shapes.keys():
        return _read_sparse(content, name, limit)
    if array and array not in shapes:
        raise WrongUsage(f"--array {array}: {name} has no such array; it has {', '.join(shapes)}")
    tables = [key for key, shape in shapes.items() if len(shape) == 2]
    if not (key := array or ("X" if "X" in shapes else tables[0] if len(tables) == 1 else "")):
        raise WrongUsage(f"{name} holds {', '.join(shapes) or 'no array'}; say which one with --array")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return arrays[key]


def _read_sparse(content: bytes, name: str, limit: int) -> Any:
    """Return the matrix of `scipy.sparse.save_npz`, whose indices scipy does not check."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        check_unpacked_size(name, limit, _POINTER_BYTES * int(arrays["shape"][0]))
    found = scipy.sparse.load_npz(io.BytesIO(content))
    if found.dtype.kind not in "iufb":
        raise ValueError(f"its numbers have the type {found.dtype}")
    if found.format in ("csr", "csc", "bsr"):
        found.check_format(full_check=True)
    if found.format == "bsr":
        # Its own check accepts negative indices. The blocks are the entries of a CSR array, whose check does not.
        shape = tuple(size // block for size, block in zip(found.shape, found.blocksize, strict=True))
        scipy.sparse.csr_array((found.indices, found.indices, found.indptr), shape=shape).check_format(full_check=True)
    return found


def _read_matrix_market(data: Any, name: str, array: str, limit: int) -> Any:
    content = bytes(data)
    if strange := _COMMENTS.sub(b"", content).translate(None, delete=_NUMBER_BYTES):
        raise ValueError(f"it has the byte {strange[:1]!r} among its numbers")
    # scipy's reader would follow a last line without an end beyond the last byte.
    stream = io.BytesIO(content if content.endswith(b"\n") else content + b"\n")
    rows, _, entries, form, field, symmetry = scipy.io.mminfo(stream)
    if field == "complex":
        raise ValueError("its numbers are complex")
    if form == "array" and symmetry != "general":
        entries = (entries - rows) // 2  # at least those below the diagonal
    # Each entry takes at least a digit and the end of a line.
    if 2 * entries > len(content) + 1:
        raise ValueError(f"its header declares {entries:,} entries, more than {len(content):,} bytes hold")
    check_unpacked_size(name, limit, _POINTER_BYTES * rows)
    stream.seek(0)
    return scipy.io.mmread(stream)


# By format: what the file should be, for messages, and its reader.
_ARRAY_FORMATS = {
    "npy": (".npy file of numbers or texts", _read_npy),
    "npz": (".npz file of numbers or texts", _read_npz),
    "mtx": ("Matrix Market file", _read_matrix_market),
}
