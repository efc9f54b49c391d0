"""The one Numba policy: every kernel is compiled here, with the same flags.

``nogil`` so that a thread pool can run chunks in parallel (``prange`` hangs under threaded Dask workers and compiles
slowly), ``cache`` so that a second process starts at once, NumPy's error model so that a division by zero is a value
that a kernel can test, not an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba import njit
from numba.extending import intrinsic, register_jitable

__all__ = ["FAST_SUMS", "inline", "kernel", "primitive"]

# Sums may be reordered, which is what lets LLVM vectorise them. Infinities stay legal: "no second medoid" is one.
# Products are not fused into sums: a * c - b * c must be 0 for a = b, so that duplicates are at distance 0.
FAST_SUMS = frozenset({"reassoc", "nsz", "arcp", "nnan"})


def kernel(*, fast_sums: bool = False, cache: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a loop over arrays."""
    fastmath = set(FAST_SUMS) if fast_sums else False

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: Callable[..., Any] = njit(cache=cache, nogil=True, error_model="numpy", fastmath=fastmath)(function)
        if cache:
            _take_turns(compiled)
        return compiled

    return decorate


def _take_turns(compiled: Any) -> None:
    """Let one process at a time read or write what is on disk of a kernel.

    Numba first says which file a version will be in and then writes it. Two processes that compile two versions, of a
    kernel for two metrics say, may choose the same file, and a third would run one for the other.
    """
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if files is None:  # compilation is switched off
        return
    load, save, path = files.load, files.save, Path(f"{files._index_path}.lock")

    def in_turn(work: Callable[..., Any]) -> Callable[..., Any]:
        def locked(*arguments: Any) -> Any:
            with _lock(path):
                return work(*arguments)

        return locked

    files.load, files.save = in_turn(load), in_turn(save)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock among processes, where the system has such and the folder can be written."""
    try:
        import fcntl

        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except (ImportError, OSError):
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a small function that kernels call; it stays a plain function, so that kernels that use it can be cached."""
    jitable: Callable[..., Any] = register_jitable(fastmath=set(FAST_SUMS), error_model="numpy")(function)
    return jitable


def primitive(function: Callable[..., Any]) -> Any:
    """Mark what gives the types and the code of a new instruction for kernels."""
    return intrinsic(function)
