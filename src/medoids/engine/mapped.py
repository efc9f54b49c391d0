"""Rows on disk: arrays that are memory maps, pages of them that are given back, and scratch files.

A page of a mapped file that was read counts as memory of the process until the system wants it back, which on a large
machine may be never. What has been swept over is therefore given back at once; reading it again costs a fault, not a
disk, as long as the system has room for it.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["is_mapped", "release", "scratch"]


def _map_of(X: Any) -> np.memmap[Any, Any] | None:
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap) and getattr(X, "_mmap", None) is not None:
            return X
        X = X.base
    return None


def is_mapped(X: Any) -> bool:
    """Whether an array is a view of a file.

    >>> is_mapped(np.zeros(3)), is_mapped(np.asarray(scratch((3, 2), np.float32))[1:])
    (False, True)
    """
    return _map_of(X) is not None


def release(X: Any) -> None:
    """Give the pages of a mapped file back to the system; what they hold stays as it is."""
    found = _map_of(X)
    # In a copy-on-write map ("c") the changes are in memory only, and would be lost.
    if found is not None and found.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        found._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def scratch(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array in a temporary file that has no name, and is gone with the array, however the process ends."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    with tempfile.TemporaryFile(prefix="medoids-") as file:
        try:
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # now, or a full disk would kill the process later
            return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
        except OSError as error:
            raise OSError(
                f"a copy of X needs {size / 2**30:.3g} GiB in {tempfile.gettempdir()}: {error.strerror}; set the "
                "environment variable TMPDIR to a folder with more room"
            ) from error
