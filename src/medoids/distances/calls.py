"""Calls of a function that somebody else wrote, and that may be slow: in other processes, and each pair once.

Where ``n_jobs`` asks for several at a time, processes run them; threads within
``joblib.parallel_config(backend="threading")``. The pool is of joblib's kind (loky), which takes functions that are
defined anywhere, but our own: it ends with the fit. Calls that are over in microseconds stay in this process, where
they cost less than sending their arguments.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import joblib
import numpy as np
from joblib.externals.loky import ProcessPoolExecutor

from medoids.distances.counting import Tally
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import effective_jobs

__all__ = ["Calls", "Pairs"]

Function = Callable[[Any, Any], Any]
# Which rows a pair is, for messages.
Naming = Callable[[int, int], str]
# Seconds: of calls that are worth sending, of one task, and of the tasks that are waited for at a time.
_WORTH, _TASK, _WAIT = 0.1, 0.1, 1.0
# Calls that tell how long one takes.
_TRIAL = 16
# What a function that asks a row for a column by its name is told.
_NAMELESS = (
    "Rows of an array or a data frame reach the metric as NumPy arrays, without the names of columns: a[0] is the "
    "first one. For rows with names pass dicts, as from X.to_dict('records') of pandas or X.to_dicts() of polars."
)


class Pairs:
    """Values of all pairs of n objects that have been computed: a table that takes memory where it is written.

    Parameters
    ----------
    n : int
    symmetric : bool
        Whether a value serves both ways.
    """

    def __init__(self, n: int, symmetric: bool) -> None:
        self._values, self._known, self._symmetric = np.zeros((n, n)), np.zeros((n, n), dtype=bool), symmetric

    @staticmethod
    def size(n: int) -> int:
        """Bytes of a table."""
        return 9 * n * n

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


class Calls:
    """How a fit calls a function; afterwards `close` it, and only ``n_jobs`` is left.

    Parameters
    ----------
    n_jobs : int or None
        1 and None keep calls in this process, where a function may rely on it.
    memory : int
        Bytes for remembering values.
    tally : Tally or None
        Told of values that were remembered, which whoever asked has counted as computed.
    check : callable or None
        Called between two calls, or lots of calls in other processes: what it raises ends them.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        memory: int = 0,
        tally: Tally | None = None,
        check: Callable[[], object] | None = None,
    ) -> None:
        self.n_jobs, self.memory, self.tally, self.check = n_jobs, memory, tally, check
        self.pairs: Pairs | None = None
        self._seconds = 0.0
        self._trials = 0
        self._pool: Any = None

    def remember(self, n: int, symmetric: bool) -> None:
        """Keep values of pairs of n objects, if there is room for all of them."""
        self.pairs = Pairs(n, symmetric) if Pairs.size(n) <= self.memory else None

    def close(self, *, kill: bool = False) -> None:
        """End what was started, in the middle of a call if it must be, and forget."""
        if isinstance(self._pool, ThreadPoolExecutor):
            self._pool.shutdown(cancel_futures=True)
        elif self._pool is not None:
            self._pool.shutdown(kill_workers=kill)
        self._pool = None
        self.pairs = self.tally = self.check = None

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        self.close(kill=error is not None)

    def __getstate__(self) -> dict[str, Any]:
        return {**Calls(self.n_jobs).__dict__}

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

        ``naming`` says which rows a pair of positions is; ``numbers`` are the rows by which values are remembered.
        """
        if numbers is None or self.pairs is None:
            a, b = np.divmod(np.arange(len(i) * len(j)), max(1, len(j)))
            return self._evaluate(function, lefts, i[a], rights, j[b], naming).reshape(len(i), len(j))
        out, a, b = self.pairs.read(*numbers)
        if self.tally is not None:
            hits = out.size - len(a)
            self.tally.add(computed=-hits, cached=hits)
        if len(a):
            values = self._evaluate(function, lefts, i[a], rights, j[b], naming)
            self.pairs.write(numbers[0][a], numbers[1][b], values)
            out, _, _ = self.pairs.read(*numbers)
        return out

    def _evaluate(self, function: Function, lefts: Any, i: Rows, rights: Any, j: Rows, naming: Naming) -> Float64s:
        """Return the value of each pair (i[p], j[p])."""
        count = len(i)
        jobs = 1 if self.n_jobs is None else effective_jobs(self.n_jobs)
        alone = count if jobs == 1 else min(count, max(0, _TRIAL - self._trials))
        began = perf_counter()
        values: list[float] = []
        _in_turn(function, lefts, i[:alone], rights, j[:alone], naming, values, self._between)
        if alone:
            self._trials += alone
            self._seconds += perf_counter() - began
        each = self._seconds / max(1, self._trials)
        if alone < count and (count - alone) * each < _WORTH:
            _in_turn(function, lefts, i[alone:], rights, j[alone:], naming, values, self._between)
            alone = count
        task = max(1, int(_TASK / max(each, 1e-9)))
        lot = task * jobs * int(_WAIT / _TASK)
        for start in range(alone, count, lot):
            stop = min(start + lot, count)
            # At least as many tasks as there are processes.
            size = min(task, -(-(stop - start) // jobs))
            cuts = [slice(at, min(at + size, stop)) for at in range(start, stop, size)]
            values += self._send(jobs, function, lefts, i, rights, j, cuts, naming)
            self._between(stop - start)
        return np.array(values)

    def _between(self, calls: int = 1) -> None:
        if self.tally is not None:
            self.tally.calls += calls
        if self.check is not None:
            self.check()

    def _send(
        self,
        jobs: int,
        function: Function,
        lefts: Any,
        i: Rows,
        rights: Any,
        j: Rows,
        cuts: list[slice],
        naming: Naming,
    ) -> list[float]:
        """Let workers evaluate some pairs."""
        if self._pool is None:
            backend, _ = joblib.parallel.get_active_backend(prefer="processes")
            shared = getattr(backend, "supports_sharedmem", False)
            self._pool = ThreadPoolExecutor(jobs) if shared else ProcessPoolExecutor(jobs)
        try:
            tasks = [self._pool.submit(_work, function, *_pack(lefts, i[cut], rights, j[cut])) for cut in cuts]
            answers = [task.result() for task in tasks]
        except Exception as error:
            error.add_note("The metric ran in other processes; n_jobs=1 keeps its calls in this one.")
            raise
        out: list[float] = []
        for cut, (values, text) in zip(cuts, answers, strict=True):
            out += values
            if text is not None:
                # Once more and here, so that the error is the function's own, with rows and traceback.
                p = cut.start + len(values)
                _in_turn(function, lefts, i[p : p + 1], rights, j[p : p + 1], naming, out, self._between)
                raise RuntimeError(
                    f"the metric failed in another process for {naming(int(i[p]), int(j[p]))}, and not in this one; "
                    f"n_jobs=1 keeps its calls here. It said:\n{text}"
                )
        return out


def _in_turn(
    function: Function,
    lefts: Any,
    i: Rows,
    rights: Any,
    j: Rows,
    naming: Naming,
    values: list[float],
    between: Callable[[], None],
) -> None:
    """Append the value of each pair; call ``between`` after each."""
    for r, c in zip(i.tolist(), j.tolist(), strict=True):
        try:
            value = function(lefts[r], rights[c])
        except Exception as error:
            error.add_note(f"The metric was called with {naming(r, c)}.")
            if isinstance(lefts[r], np.ndarray) and isinstance(error, (AttributeError, IndexError, KeyError)):
                error.add_note(_NAMELESS)
            raise
        number = value if type(value) is float else _number(value)
        if number is None:
            raise TypeError(
                f"metric returned {_describe(value)} for {naming(r, c)}; it must return a number for every pair"
            )
        if not -np.inf < number < np.inf:
            raise ValueError(
                f"metric returned {number} for {naming(r, c)}; it must return a finite number for every pair"
            )
        values.append(number)
        between()


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, (str, bytes)) or getattr(value, "ndim", 0) > 0:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _describe(value: Any) -> str:
    if value is None:
        return "None"
    if getattr(value, "ndim", 0) > 0:
        return f"an array of shape {value.shape}"
    return f"{type(value).__name__} {value!r:.80}"


def _pack(lefts: Any, i: Rows, rights: Any, j: Rows) -> tuple[list[Any], Rows, list[Any], Rows]:
    """Return the objects of some pairs, each once, and the pairs as places among them."""
    some, at = np.unique(i, return_inverse=True)
    others, at_y = np.unique(j, return_inverse=True)
    return [lefts[r] for r in some.tolist()], at, [rights[c] for c in others.tolist()], at_y


def _work(function: Function, lefts: list[Any], i: Rows, rights: list[Any], j: Rows) -> tuple[list[float], str | None]:
    """Return values up to the first failure, and what that said; an exception itself may not survive the journey."""
    values: list[float] = []
    try:
        _in_turn(function, lefts, i, rights, j, lambda r, c: "a pair", values, lambda: None)
    except Exception:
        return values, traceback.format_exc()
    return values, None
