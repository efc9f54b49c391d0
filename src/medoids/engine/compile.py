"""How Numba compiles: every kernel uses the same flags.

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
from numba.core import event
from numba.extending import register_jitable

from medoids.engine import compiling

__all__ = ["FAST_SUMS", "inline", "kernel"]

# Sums may be reordered, which is what lets LLVM vectorise them. Infinities stay legal: "no second medoid" is one.
# Products are not fused into sums: a * c - b * c must be 0 for a = b, so that duplicates are at distance 0.
FAST_SUMS = frozenset({"reassoc", "nsz", "arcp", "nnan"})


def kernel(*, fast_sums: bool = False, cache: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a loop over arrays."""
    fastmath = set(FAST_SUMS) if fast_sums else False

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: Callable[..., Any] = njit(cache=cache, nogil=True, error_model="numpy", fastmath=fastmath)(function)
        _take_turns(compiled)
        return compiled

    return decorate


def _take_turns(compiled: Any) -> None:
    """Lock the compiled files of a kernel while a process reads or writes them.

    Numba first records the file of a version and then writes it. Two processes that compile two versions, such as a
    kernel for two metrics, may choose the same file, and a third would run one for the other.
    """
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if files is not None:  # else nothing is stored, or compilation is switched off
        lock = _lock(Path(f"{files._index_path}.lock"))
        files.load, files.save = lock(files.load), lock(files.save)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock among processes, if the system has such locks and the folder can be written."""
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


class _Announcer(event.Listener):
    """Announces kernels that are compiled once and kept on disk."""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        kept = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None) is not None
        if kept and dispatcher.py_func.__module__.partition(".")[0] == "medoids":
            compiling.announce()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a small function that kernels call; it stays a plain function, so that kernels that use it can be cached."""
    return register_jitable(fastmath=set(FAST_SUMS), error_model="numpy")(function)
