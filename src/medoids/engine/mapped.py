"""Arrays in files: memory maps, returning their pages to the system, and temporary files.

A page of a mapped file that was read counts as memory of the process until the system needs it, which on a large
machine may be never. Pages are therefore returned right after a sweep; reading them again costs a page fault but no
disk access, as long as the system has memory for them.
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
    """Return the pages of a mapped file to the system; their contents do not change."""
    found = _map_of(X)
    # In a copy-on-write map ("c") changes are only in memory and would be lost.
    if found is not None and found.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        found._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def scratch(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array in an unnamed temporary file, which disappears with the array, however the process ends."""
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
