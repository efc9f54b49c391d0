"""Rows stored in files: Parquet and Zarr, read in chunks.

A fit reads its rows many times and in random order, which compressed and columnar files do not support. They are
therefore decompressed once, in chunks, into an anonymous temporary file of n x p numbers (in ``TMPDIR``), which is
then memory-mapped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.engine.arrays import Floats
from medoids.engine.mapped import release, scratch
from medoids.engine.threads import spans

__all__ = ["StoredRows", "is_stored", "open_parquet", "open_zarr", "parquet_files", "unpacked"]

# Rows read at a time, unless the file has chunks of its own.
_CHUNK_ROWS = 1 << 16


class StoredRows:
    """Rows of numbers that can be read from a file a slice at a time.

    Also wraps any other array with a shape, a type and slices, such as a data set of h5py.

    Attributes
    ----------
    name : str
        The name of the file, for messages.
    shape : tuple of int
    dtype : numpy.dtype
    ndim : int
    """

    ndim = 2

    def __init__(self, array: Any, name: str) -> None:
        self._array, self.name = array, name
        self.shape, self.dtype = tuple(map(int, array.shape)), np.dtype(array.dtype)
        if len(self.shape) != 2 or self.dtype.kind not in "iufb":
            raise ValueError(
                f"{name} holds an array of shape {self.shape} and type {self.dtype}; it must be rows of numbers"
            )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, shape={self.shape}, dtype={self.dtype})"

    def __getitem__(self, rows: slice) -> Floats:
        return np.asarray(self._array[rows])

    def chunks(self) -> Iterator[Floats]:
        """Yield all rows in order, in chunks that suit the file."""
        own = int((getattr(self._array, "chunks", None) or (1,))[0])
        for span in spans(len(self), max(own, _CHUNK_ROWS // own * own)):
            yield self[span]


class _ParquetRows(StoredRows):
    """Columns of numbers of one or several Parquet files."""

    def __init__(self, path: Path, columns: Sequence[str] | None) -> None:
        import pyarrow as pa
        from pyarrow import parquet, types

        self.name = str(path)
        files = parquet_files(path) if path.is_dir() else [path]
        if not files:
            raise ValueError(f"{path} is a folder without a .parquet file")
        self._files = [parquet.ParquetFile(file, memory_map=True) for file in files]
        schema = self._files[0].schema_arrow
        self._columns = list(schema.names if columns is None else columns)
        unknown = [name for name in self._columns if name not in schema.names]
        if unknown or not self._columns:
            raise ValueError(f"{path} has no column {(unknown or [None])[0]!r}; it has {', '.join(schema.names)}")
        kinds = {name: schema.field(name).type for name in self._columns}
        for name, kind in kinds.items():
            if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
                raise ValueError(f"column {name!r} of {path} holds {kind}, not numbers; pass columns=[...] without it")
        for file, part in zip(files, self._files, strict=True):
            if not set(self._columns) <= set(part.schema_arrow.names):
                raise ValueError(f"{file} does not have the columns of {files[0]}: {', '.join(self._columns)}")
        self.dtype = np.result_type(*(pa.array([], kind).to_numpy(zero_copy_only=False) for kind in kinds.values()))
        self.shape = sum(part.metadata.num_rows for part in self._files), len(self._columns)

    def __getitem__(self, rows: slice) -> Floats:
        start, stop, step = rows.indices(len(self))
        parts, at = [np.empty((0, self.shape[1]), self.dtype)], 0
        for file in self._files:
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                if at < stop and start < at + count:
                    table = file.read_row_group(group, columns=self._columns)
                    parts.append(self._numbers(table, at)[max(0, start - at) : stop - at])
                at += count
        return np.concatenate(parts)[::step]

    def chunks(self) -> Iterator[Floats]:
        at = 0
        for file in self._files:
            for batch in file.iter_batches(batch_size=_CHUNK_ROWS, columns=self._columns):
                yield self._numbers(batch, at)
                at += batch.num_rows

    def _numbers(self, table: Any, first: int) -> Floats:
        out = np.empty((table.num_rows, len(self._columns)), self.dtype)
        for number, name in enumerate(self._columns):
            column = table.column(name)
            if column.null_count:
                row = first + column.is_null().to_pylist().index(True)
                raise ValueError(f"Input X contains a missing value: row {row}, column {name!r} of {self.name}")
            out[:, number] = np.asarray(column)
        return out


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and below it, in the order in which Dask and Spark number them."""

    def by_number(path: Path) -> list[Any]:  # part.2 before part.10
        return [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", "\0".join(path.parts))]

    return sorted(folder.rglob("*.parquet"), key=by_number)


def open_parquet(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> StoredRows:
    """Return the rows of a Parquet file, or of all files in a folder, to fit or predict data larger than memory.

    Parameters
    ----------
    path : str or path
        A file, or a folder whose files are read in the order of their names and numbers.
    columns : list of str, optional
        Columns of numbers; all columns by default.

    Returns
    -------
    StoredRows
        To be passed as X. A fit decompresses it once into a temporary file of n x p numbers in ``TMPDIR``.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> from medoids import k_medoids, open_parquet
    >>> path = Path(tempfile.mkdtemp()) / "points.parquet"
    >>> parquet.write_table(pa.table({"x": [1.0, 2.0, 8.0, 9.0, 10.0], "y": [0.0, 0.0, 1.0, 0.0, 0.0]}), path)
    >>> X = open_parquet(path, columns=["x", "y"])
    >>> X.shape, X[1:3].tolist()
    ((5, 2), [[2.0, 0.0], [8.0, 1.0]])
    >>> k_medoids(X, 2).medoid_indices.tolist()
    [3, 0]
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError('open_parquet needs pyarrow: pip install "medoids[cli]"') from None
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    try:
        return _ParquetRows(path, columns)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not a complete Parquet file: {error}") from None


def open_zarr(path: str | os.PathLike[str], array: str | None = None) -> StoredRows:
    """Return the rows of a Zarr array, to fit or predict data larger than memory.

    Parameters
    ----------
    path : str or path
        An array, or a group of arrays.
    array : str, optional
        The name of the array in a group.

    Returns
    -------
    StoredRows
        To be passed as X, as may arrays of ``zarr`` themselves. A fit decompresses it once into a temporary file of
        n x p numbers in ``TMPDIR``.
    """
    try:
        import zarr
    except ImportError:
        raise ImportError('open_zarr needs zarr: pip install "medoids[zarr]"') from None
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    found: Any = zarr.open(str(path), mode="r")
    if isinstance(found, zarr.Group):
        names = sorted(name for name, _ in found.arrays())
        if array not in names:
            raise ValueError(f"{path} is a group of the arrays {', '.join(names)}; choose one with array=...")
        found = found[array]
    elif array is not None:
        raise ValueError(f"array={array!r}: {path} is one array, not a group of them")
    return StoredRows(found, str(path))


def is_stored(X: Any) -> bool:
    """Whether X is rows in files: `StoredRows`, an array of ``zarr`` or a data set of ``h5py``."""
    return isinstance(X, StoredRows) or (
        type(X).__module__.split(".")[0] in ("zarr", "h5py") and all(hasattr(X, name) for name in ("shape", "dtype"))
    )


def unpacked(X: Any, dtype: npt.DTypeLike | None = None) -> Floats:
    """Copy rows into a temporary file, in chunks, and return it as a memory-mapped array.

    Parameters
    ----------
    X : rows in files, or a memory-mapped array
    dtype
        The type of the copy; that of X by default.
    """
    if not isinstance(X, StoredRows):
        X = StoredRows(X, getattr(X, "path", None) or getattr(X, "name", None) or type(X).__name__)
    out = scratch(X.shape, X.dtype if dtype is None else dtype)
    start = 0
    for chunk in X.chunks():
        out[start : start + len(chunk)] = chunk
        start += len(chunk)
        release(out)
        release(chunk)
    return np.asarray(out)
