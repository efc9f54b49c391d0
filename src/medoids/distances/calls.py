"""Calls of a metric that the user wrote, and that may be slow: in other processes, and each pair once.

If ``n_jobs`` asks for several at a time, processes run them; threads within
``joblib.parallel_config(backend="threading")``. The pool is of joblib's kind (loky), which accepts functions that are
defined anywhere, but our own: it ends with the fit. Calls that take microseconds stay in this process, where they cost
less than sending their arguments.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any, NamedTuple

import joblib
import numpy as np
from joblib.externals.loky import ProcessPoolExecutor

from medoids.distances.budgeted import Allowance
from medoids.distances.counting import Tally
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import TASK_SECONDS, TASKS_PER_WORKER, TRIAL_CALLS
from medoids.engine.threads import effective_jobs, spans

__all__ = ["Calls", "PairTable"]

Function = Callable[[Any, Any], Any]
# Which rows a pair is, for messages.
Naming = Callable[[int, int], str]
# A note for functions that look up a column of a row by its name.
_NAMELESS = (
    "Rows of an array or a data frame reach the metric as NumPy arrays, without the names of columns: a[0] is the "
    "first one. For rows with names pass dicts, as from X.to_dict('records') of pandas or X.to_dicts() of polars."
)


class PairTable:
    """Values of the pairs of n objects that have been computed: a table that uses memory only where it is written.

    Parameters
    ----------
    n : int
    symmetric : bool
        Whether a value holds in both directions.
    """

    def __init__(self, n: int, symmetric: bool) -> None:
        self._values, self._known, self._symmetric = np.zeros((n, n)), np.zeros((n, n), dtype=bool), symmetric

    def read(self, i: Rows, j: Rows) -> tuple[Float64s, Rows, Rows]:
        """Return the values of a block, and the places (a, b) in it that are to be computed, each pair once."""
        at = np.ix_(i, j)
        a, b = np.nonzero(~self._known[at])
        left, right = i[a], j[b]
        if self._symmetric:
            left, right = np.minimum(left, right), np.maximum(left, right)
        once = np.sort(np.unique(left * len(self._values) + right, return_index=True)[1])
        return self._values[at], a[once], b[once]

    def write(self, i: Rows, j: Rows, values: Float64s) -> None:
        """Store values of pairs (i[p], j[p])."""
        self._values[i, j], self._known[i, j] = values, True
        if self._symmetric:
            self._values[j, i], self._known[j, i] = values, True


class Calls(AbstractContextManager["Calls"]):
    """How a fit calls a metric: a context manager, after which only ``n_jobs`` is left.

    Parameters
    ----------
    n_jobs : int or None
        1 and None keep calls in this process.
    memory : int
        Bytes for remembering values.
    tally : Tally or None
        Corrected for remembered values, which the caller of `block` counts as computed.
    allowance : Allowance or None
        Asked before values that are not remembered are computed.
    check : callable or None
        Called between calls, or between chunks of calls in other processes; an exception that it raises ends them.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        memory: int = 0,
        tally: Tally | None = None,
        check: Callable[[], object] | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self.n_jobs, self.memory, self.tally, self.check = n_jobs, memory, tally, check
        self.allowance = allowance
        self.pairs: PairTable | None = None
        self._calls, self._seconds = 0, 0.0
        self._pool: Any = None

    def remember(self, n: int, symmetric: bool) -> None:
        """Remember values of pairs of n objects, if there is memory for all of them: a float64 and a bool each."""
        self.pairs = PairTable(n, symmetric) if 9 * n * n <= self.memory else None

    def __exit__(self, error: object, *_: object) -> None:
        """Stop the pool, in the middle of a call if there was an error, and forget all values."""
        if isinstance(self._pool, ThreadPoolExecutor):
            self._pool.shutdown(cancel_futures=True)
        elif self._pool is not None:
            self._pool.shutdown(kill_workers=error is not None)
        self._pool = self.pairs = self.tally = self.check = self.allowance = None

    def __getstate__(self) -> dict[str, Any]:
        return Calls(self.n_jobs).__dict__

    def block(
        self,
        function: Function,
        lefts: Any,
        i: Rows,
        rights: Any,
        j: Rows,
        naming: Naming,
        numbers: tuple[Rows, Rows] | None = None,
    ) -> Float64s:
        """Return function(lefts[i], rights[j]) for all pairs.

        ``naming`` describes a pair of positions; ``numbers`` are the rows under which values are remembered.
        """
        metric = _Metric(function, lefts, rights, naming)
        if numbers is None or self.pairs is None:
            a, b = np.divmod(np.arange(len(i) * len(j)), max(1, len(j)))
            return self._evaluate(metric, i[a], j[b]).reshape(len(i), len(j))
        out, a, b = self.pairs.read(*numbers)
        if self.allowance is not None:
            self.allowance.claim(len(a))
        if self.tally is not None:
            hits = out.size - len(a)
            self.tally.add(computed=-hits, cached=hits)
        if len(a):
            self.pairs.write(numbers[0][a], numbers[1][b], self._evaluate(metric, i[a], j[b]))
            out, _, _ = self.pairs.read(*numbers)
        return out

    def _evaluate(self, metric: _Metric, i: Rows, j: Rows) -> Float64s:
        """Return the value of each pair (i[p], j[p])."""
        jobs = 1 if self.n_jobs is None else effective_jobs(self.n_jobs)
        here = len(i) if jobs == 1 else max(0, TRIAL_CALLS - self._calls)
        values = self._call(metric, i[:here], j[:here])
        each = self._seconds / max(1, self._calls)
        i, j = i[here:], j[here:]
        if len(i) * each < TASK_SECONDS:
            return np.array(values + self._call(metric, i, j))
        task = max(1, int(TASK_SECONDS / max(each, 1e-9)))
        for chunk in spans(len(i), task * jobs * TASKS_PER_WORKER):
            values += self._send(jobs, metric, i[chunk], j[chunk], task)
            self._between(chunk.stop - chunk.start)
        return np.array(values)

    def _call(self, metric: _Metric, i: Rows, j: Rows) -> list[float]:
        """Return values that are computed in this process, and time them."""
        began, values = perf_counter(), []
        for value in metric.values(i, j):
            values.append(value)
            self._between()
        self._calls += len(values)
        self._seconds += perf_counter() - began
        return values

    def _between(self, calls: int = 1) -> None:
        if self.tally is not None:
            self.tally.calls += calls
        if self.check is not None:
            self.check()

    def _send(self, jobs: int, metric: _Metric, i: Rows, j: Rows, task: int) -> list[float]:
        """Return values that workers compute, in at least as many tasks as there are workers."""
        if self._pool is None:
            backend, _ = joblib.parallel.get_active_backend(prefer="processes")
            shared = getattr(backend, "supports_sharedmem", False)
            self._pool = ThreadPoolExecutor(jobs) if shared else ProcessPoolExecutor(jobs)
        cuts = spans(len(i), min(task, -(-len(i) // jobs)))
        try:
            tasks = [self._pool.submit(_work, *metric.pack(i[cut], j[cut])) for cut in cuts]
            answers = [task.result() for task in tasks]
        except Exception as error:
            error.add_note("The metric ran in other processes; n_jobs=1 keeps its calls in this one.")
            raise
        out: list[float] = []
        for cut, (values, text) in zip(cuts, answers, strict=True):
            out += values
            if text is not None:
                # Again in this process, so that the error is the function's own, with rows and traceback.
                p = cut.start + len(values)
                self._call(metric, i[p : p + 1], j[p : p + 1])
                raise RuntimeError(
                    f"the metric failed in another process for {metric.naming(int(i[p]), int(j[p]))}, but not in this "
                    f"one; n_jobs=1 keeps its calls here. The error was:\n{text}"
                )
        return out


class _Metric(NamedTuple):
    """A function, the objects that it compares, and how messages name a pair of them."""

    function: Function
    lefts: Any
    rights: Any
    naming: Naming

    def values(self, i: Rows, j: Rows) -> Iterator[float]:
        """Yield the value of each pair (i[p], j[p])."""
        for r, c in zip(i.tolist(), j.tolist(), strict=True):
            try:
                value = self.function(self.lefts[r], self.rights[c])
            except Exception as error:
                error.add_note(f"The metric was called with {self.naming(r, c)}.")
                if isinstance(self.lefts[r], np.ndarray) and isinstance(error, (AttributeError, IndexError, KeyError)):
                    error.add_note(_NAMELESS)
                raise
            number = value if type(value) is float else _number(value)
            if number is None:
                raise TypeError(
                    f"metric returned {value!r:.80} for {self.naming(r, c)}; it must return a number for every pair"
                )
            if not -np.inf < number < np.inf:
                raise ValueError(
                    f"metric returned {number} for {self.naming(r, c)}; it must return a finite number for every pair"
                )
            yield number

    def pack(self, i: Rows, j: Rows) -> tuple[Function, list[Any], list[Any], Rows, Rows]:
        """Return the function, the objects of some pairs, each once, and the pairs as places among them."""
        some, at = np.unique(i, return_inverse=True)
        others, at_y = np.unique(j, return_inverse=True)
        lefts, rights = [self.lefts[r] for r in some.tolist()], [self.rights[c] for c in others.tolist()]
        return self.function, lefts, rights, at, at_y


def _work(function: Function, lefts: list[Any], rights: list[Any], i: Rows, j: Rows) -> tuple[list[float], str | None]:
    """Return values up to the first failure, and its traceback; an exception itself may not be picklable."""
    values: list[float] = []
    try:
        for value in _Metric(function, lefts, rights, lambda r, c: "a pair").values(i, j):
            values.append(value)  # noqa: PERF402 (what was computed before a failure is kept)
    except Exception:
        return values, traceback.format_exc()
    return values, None


def _number(value: Any) -> float | None:
    if isinstance(value, (str, bytes)) or getattr(value, "ndim", 0) > 0:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
