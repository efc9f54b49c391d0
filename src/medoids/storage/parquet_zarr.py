"""Rows that are in files: Parquet and Zarr, read a chunk at a time.

A fit goes over its rows many times and in no order, which packed and columnwise files cannot serve. They are therefore
unpacked once, in chunks, into a nameless temporary file of n x p numbers (in ``TMPDIR``), and that is mapped.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.engine.mapped import release, scratch
from medoids.engine.threads import spans

__all__ = ["StoredRows", "is_stored", "open_parquet", "open_zarr", "parquet_files", "unpacked"]

Numbers = npt.NDArray[Any]
# Rows of a chunk, where the file has none of its own.
_ROWS = 1 << 16


class StoredRows(ABC):
    """Rows of numbers in files: something with a shape and a type from which runs of rows can be read.

    Attributes
    ----------
    name : str
        Of the files, for messages.
    shape : tuple of int
    dtype : numpy.dtype
    ndim : int
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    ndim = 2

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, shape={self.shape}, dtype={self.dtype})"

    @abstractmethod
    def __getitem__(self, rows: slice) -> Numbers:
        """Return a run of rows."""

    @abstractmethod
    def chunks(self) -> Iterator[Numbers]:
        """Return all rows in turn, by chunks that suit the file."""


class _ZarrRows(StoredRows):
    """Also of anything else with a shape, a type and slices, such as a data set of h5py."""

    def __init__(self, array: Any, name: str) -> None:
        if len(array.shape) != 2 or array.dtype.kind not in "iufb":
            raise ValueError(
                f"{name} holds an array of shape {tuple(array.shape)} and type {array.dtype}; it must be rows of "
                "numbers"
            )
        self._array, self.name = array, name
        self.shape, self.dtype = tuple(map(int, array.shape)), np.dtype(array.dtype)

    def __getitem__(self, rows: slice) -> Numbers:
        return np.asarray(self._array[rows])

    def chunks(self) -> Iterator[Numbers]:
        own = int((getattr(self._array, "chunks", None) or (1,))[0])
        for span in spans(len(self), max(own, _ROWS // own * own)):
            yield self[span]


class _ParquetRows(StoredRows):
    def __init__(self, path: Path, columns: Sequence[str] | None) -> None:
        from pyarrow import parquet

        self.name = str(path)
        files = parquet_files(path) if path.is_dir() else [path]
        if not files:
            raise ValueError(f"{path} is a folder without a .parquet file")
        self._files = [parquet.ParquetFile(file, memory_map=True) for file in files]
        schema = self._files[0].schema_arrow
        self._columns = list(schema.names if columns is None else columns)
        unknown = next((name for name in self._columns if name not in schema.names), None)
        if unknown is not None or not self._columns:
            raise ValueError(f"{path} has no column {unknown!r}; it has {', '.join(schema.names)}")
        kinds = []
        for name in self._columns:
            kind = schema.field(name).type
            try:
                kinds.append(np.dtype(kind.to_pandas_dtype()))
            except (NotImplementedError, TypeError):
                kinds.append(np.dtype(object))
            if kinds[-1].kind not in "iufb":
                raise ValueError(f"column {name!r} of {path} holds {kind}, not numbers; pass columns=[...] without it")
        for file, part in zip(files, self._files, strict=True):
            if any(name not in part.schema_arrow.names for name in self._columns):
                raise ValueError(f"{file} has not the columns of {files[0]}: {', '.join(self._columns)}")
        self.dtype = np.result_type(*kinds)
        self._starts = np.cumsum([0, *(part.metadata.num_rows for part in self._files)])
        self.shape = int(self._starts[-1]), len(self._columns)

    def __getitem__(self, rows: slice) -> Numbers:
        start, stop, step = rows.indices(len(self))
        parts, at = [np.empty((0, self.shape[1]), self.dtype)], 0
        for file in self._files:
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                if at < stop and start < at + count:
                    table = file.read_row_group(group, columns=self._columns)
                    parts.append(self._numbers(table, at)[max(0, start - at) : stop - at])
                at += count
        found: Numbers = np.concatenate(parts)[::step]
        return found

    def chunks(self) -> Iterator[Numbers]:
        at = 0
        for file in self._files:
            for batch in file.iter_batches(batch_size=_ROWS, columns=self._columns):
                yield self._numbers(batch, at)
                at += batch.num_rows

    def _numbers(self, table: Any, first: int) -> Numbers:
        out = np.empty((table.num_rows, len(self._columns)), self.dtype)
        for number, name in enumerate(self._columns):
            column = table.column(name)
            if column.null_count:
                row = first + column.is_null().to_pylist().index(True)
                raise ValueError(f"Input X contains a missing value: row {row}, column {name!r} of {self.name}")
            out[:, number] = np.asarray(column)
        return out


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and those below it, in the order of their names and numbers."""
    return sorted(folder.rglob("*.parquet"), key=_by_number)


def _by_number(path: Path) -> list[Any]:
    """Parts of a folder in the order in which Dask and Spark number them: part.2 before part.10."""
    return [[int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", part)] for part in path.parts]


def open_parquet(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> StoredRows:
    """Return the rows of a Parquet file, or of all files in a folder, for a fit or predict beyond memory.

    Parameters
    ----------
    path : str or path
        A file, or a folder whose files are taken in the order of their names and numbers.
    columns : list of str, optional
        Columns of numbers; all by default.

    Returns
    -------
    StoredRows
        To be passed as X. A fit unpacks it once into a temporary file in ``TMPDIR``: n x p numbers.

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
        raise ValueError(f"{path} is not a whole Parquet file: {error}") from None


def open_zarr(path: str | os.PathLike[str], array: str | None = None) -> StoredRows:
    """Return the rows of a Zarr array, for a fit or predict beyond memory.

    Parameters
    ----------
    path : str or path
        Of an array, or of a group.
    array : str, optional
        Name of the array in a group.

    Returns
    -------
    StoredRows
        To be passed as X, as may the arrays of ``zarr`` themselves. A fit unpacks it once into a temporary file in
        ``TMPDIR``: n x p numbers.
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
            raise ValueError(f"{path} is a group of the arrays {', '.join(names)}; say which one with array=...")
        found = found[array]
    elif array is not None:
        raise ValueError(f"array={array!r}: {path} is one array, not a group of them")
    return _ZarrRows(found, str(path))


def is_stored(X: Any) -> bool:
    """Whether X is rows in files, as opened here or as an array of ``zarr`` or a data set of ``h5py``."""
    return isinstance(X, StoredRows) or (
        type(X).__module__.split(".")[0] in ("zarr", "h5py") and all(hasattr(X, name) for name in ("shape", "dtype"))
    )


def unpacked(X: Any, dtype: npt.DTypeLike | None = None) -> Numbers:
    """Copy rows into a temporary file, a chunk at a time, and return them mapped.

    Parameters
    ----------
    X : rows in files, or a mapped array
    dtype
        Of the copy; by default that of X.
    """
    if not isinstance(X, (StoredRows, np.ndarray)):
        X = _ZarrRows(X, getattr(X, "path", None) or getattr(X, "name", None) or type(X).__name__)
    out = scratch(X.shape, X.dtype if dtype is None else dtype)
    start = 0
    for chunk in X.chunks() if isinstance(X, StoredRows) else (X[span] for span in spans(len(X), _ROWS)):
        out[start : start + len(chunk)] = chunk
        start += len(chunk)
        release(out)
        release(X)
    return np.asarray(out)
