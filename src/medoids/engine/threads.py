"""Chunks of work over threads, with results that do not depend on the number of threads.

The caller chooses chunk boundaries from the problem alone, and BLAS uses one thread inside a chunk, so each chunk is
the same arithmetic in any thread. A chunk should take well under a second: Ctrl-C and the time limit wait for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from numbers import Integral
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from medoids.engine.budget import CHUNK_ENTRIES
from medoids.engine.interrupts import Interrupts

__all__ = ["Threads", "effective_jobs", "row_spans", "spans"]

Chunk = TypeVar("Chunk")


# Looking for the loaded BLAS libraries takes milliseconds, longer than a small fit: once.
_blas = cache(ThreadpoolController)


def spans(n: int, width: int) -> list[slice]:
    """Cut ``range(n)`` into slices of at most ``width``.

    >>> spans(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + width, n)) for start in range(0, n, width)]


def row_spans(n: int, columns: int) -> list[slice]:
    """Cut n rows into chunks of about `CHUNK_ENTRIES` numbers."""
    return spans(n, max(1, CHUNK_ENTRIES // max(1, columns)))


def effective_jobs(n_jobs: Any) -> int:
    """Return the number of threads or processes that ``n_jobs`` asks for; None means all cores.

    >>> effective_jobs(2)
    2
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be a positive integer, -1 for all cores, or None")
    return int(joblib.effective_n_jobs(-1 if n_jobs is None else int(n_jobs)))


class Threads:
    """A pool that lives as long as one fit, during which BLAS uses one thread and no Ctrl-C is lost.

    Parameters
    ----------
    n_jobs : int or None
        Threads to use; None and -1 mean all cores.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = effective_jobs(n_jobs)
        self.interrupts = Interrupts()
        self._pool: Any = None  # made when it is first needed

    def __enter__(self) -> Threads:
        # For the whole fit: setting and resetting the limit for each of thousands of calls would take longer than many
        # of the calls.
        self._limit = _blas().limit(limits=1, user_api="blas")
        self.interrupts.__enter__()
        return self

    def __exit__(self, kind: object = None, error: BaseException | None = None, trace: object = None) -> None:
        interrupted = self.interrupts.caused(error)  # before the interrupts are reset
        self.interrupts.__exit__()
        self._limit.restore_original_limits()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        if interrupted and isinstance(error, SystemError):
            raise KeyboardInterrupt from error

    def map(self, work: Callable[[Chunk], Any], chunks: Iterable[Chunk], *, threaded: bool = True) -> None:
        """Call ``work`` for each chunk; the first error, Ctrl-C or the time limit cancels the rest and is raised."""
        queue, check = deque(chunks), self.interrupts.check
        jobs = min(self.n_jobs, len(queue)) if threaded else 1
        if jobs > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_jobs - 1, thread_name_prefix="medoids")
        # This thread works as well: a round trip to the pool for every chunk would take as long as many chunks.
        others = [self._pool.submit(_work_off, queue, work, check) for _ in range(jobs - 1)]
        try:
            _work_off(queue, work, check)
            for other in others:
                other.result()
        finally:
            queue.clear()
            wait(others)


def _work_off(queue: deque[Chunk], work: Callable[[Chunk], Any], check: Callable[[], None]) -> None:
    """Work on chunks until none is left; an error removes the rest."""
    try:
        while queue:
            try:
                chunk = queue.popleft()
            except IndexError:  # another thread has just taken the last one
                return
            check()
            work(chunk)
    except BaseException:
        queue.clear()
        raise
