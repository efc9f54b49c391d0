"""Distances that a user wrote: ``f(a, b)`` over rows of an array or over any list of objects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances.protocol import Dissimilarity, Floats, Index
from medoids.engine.threads import Threads

__all__ = ["CallableDistance", "JittedDistance", "is_jitted"]


def is_jitted(function: Any) -> bool:
    """Whether Numba compiled this function; asks without importing Numba."""
    dispatcher = sys.modules.get("numba.core.dispatcher")
    return dispatcher is not None and isinstance(function, dispatcher.Dispatcher)


def _take(objects: Any, rows: Index) -> Any:
    if isinstance(objects, np.ndarray):
        return objects[rows]
    return [objects[i] for i in (range(*rows.indices(len(objects))) if isinstance(rows, slice) else rows)]


class CallableDistance(Dissimilarity):
    """A Python function of two objects, called once for each pair that is asked for.

    Parameters
    ----------
    objects : sequence or array
        Rows of an array, or any objects.
    function : callable
        ``function(medoid, point, **parameters)`` returns a number.
    parameters : dict
    symmetric : bool
        Whether half the calls are enough for a matrix.
    """

    dtype = np.dtype(np.float64)
    exact = True
    cost = 10_000.0
    threaded = False

    def __init__(
        self,
        objects: Sequence[Any] | Floats,
        function: Callable[..., Any],
        parameters: dict[str, Any],
        symmetric: bool,
        numbers: Any = None,
    ) -> None:
        self.n = len(objects)
        self._numbers = range(self.n) if numbers is None else numbers
        self.symmetric = symmetric
        self._objects, self._function, self._parameters = objects, function, parameters

    def block(self, rows: Index, columns: Index) -> npt.NDArray[np.float64]:
        numbers = range(self.n)
        i = numbers[rows] if isinstance(rows, slice) else rows
        j = numbers[columns] if isinstance(columns, slice) else columns
        return self._fill(i, self._objects, j, "row", self._numbers)

    def _fill(self, i: Sequence[int] | Any, queries: Any, j: Sequence[int] | Any, kind: str, names: Any) -> Floats:
        out = np.empty((len(i), len(j)))
        function, parameters = self._function, self._parameters
        for a, r in enumerate(i):
            medoid, line = self._objects[r], out[a]
            for b, c in enumerate(j):
                try:
                    line[b] = function(medoid, queries[c], **parameters)
                except Exception as error:
                    error.add_note(f"The metric was called with row {self._numbers[r]} and {kind} {names[c]} of X.")
                    raise
            if not np.isfinite(line).all():
                c = j[int(np.argmin(np.isfinite(line)))]
                value = line[~np.isfinite(line)][0]
                raise ValueError(
                    f"metric returned {value} for row {self._numbers[r]} and {kind} {names[c]} of X; "
                    "it must return a finite number for every pair"
                )
        return out

    def take(self, rows: Index) -> CallableDistance:
        numbers = np.asarray(self._numbers)[rows].tolist()
        return CallableDistance(_take(self._objects, rows), self._function, self._parameters, self.symmetric, numbers)

    def cross(self, queries: Any) -> npt.NDArray[np.float64]:
        return self._fill(range(self.n), queries, range(len(queries)), "query", range(len(queries)))


class JittedDistance(Dissimilarity):
    """A Numba-jitted function of two rows, compiled into the loop over pairs."""

    dtype = np.dtype(np.float64)
    exact = True
    threaded = True

    def __init__(self, X: Floats, function: Callable[..., Any], parameters: dict[str, Any], symmetric: bool) -> None:
        self.n = X.shape[0]
        self.symmetric = symmetric
        self.cost = 20.0 + 10.0 * X.shape[1]
        self._X, self._function, self._parameters = X, function, parameters
        self._kernel: Callable[..., Any] | None = None

    def prepare(self, threads: Threads | None = None) -> None:
        if self._kernel is None:
            self._kernel = self._compile()
            # Numba compiles at the first call; in several threads at once it would do so several times.
            self._fill(slice(0, 1), self._X, slice(0, 1), "row")

    def block(self, rows: Index, columns: Index) -> npt.NDArray[np.float64]:
        return self._fill(rows, self._X, columns, "row")

    def _fill(self, rows: Index, Y: Floats, columns: Index, kind: str) -> npt.NDArray[np.float64]:
        if self._kernel is None:
            self._kernel = self._compile()
        i = np.arange(self.n)[rows] if isinstance(rows, slice) else rows
        j = np.arange(len(Y))[columns] if isinstance(columns, slice) else columns
        out = np.empty((len(i), len(j)))
        try:
            self._kernel(self._X, i, Y, j, out)
        except Exception as error:
            self._name_pair(error, i, Y, j, kind)
            raise
        if not np.isfinite(out).all():
            a, b = np.argwhere(~np.isfinite(out))[0]
            raise ValueError(
                f"metric returned {out[a, b]} for row {i[a]} and {kind} {j[b]} of X; "
                "it must return a finite number for every pair"
            )
        return out

    def _name_pair(self, error: Exception, i: Any, Y: Floats, j: Any, kind: str) -> None:
        """Find the pair that raised by trying them one by one."""
        one = np.empty((1, 1))
        for r in i:
            for c in j:
                try:
                    self._kernel(self._X, np.array([r]), Y, np.array([c]), one)  # type: ignore[misc]
                except Exception:
                    error.add_note(f"The metric was called with row {r} and {kind} {c} of X.")
                    return

    def _compile(self) -> Callable[..., Any]:
        import inspect

        from medoids.distances.kernels import callable_kernel

        # Numba takes no **keywords in a loop: bind them in the order of the function's own signature.
        signature = inspect.signature(self._function.py_func)  # type: ignore[attr-defined]
        names = list(signature.parameters)[2:]
        unknown = sorted(set(self._parameters) - set(names))
        if unknown:
            raise TypeError(f"metric got an unexpected keyword argument {unknown[0]!r}; it takes {names}")
        values = []
        for name in names:
            default = signature.parameters[name].default
            if name not in self._parameters and default is inspect.Parameter.empty:
                raise TypeError(f"metric needs the argument {name!r}: pass metric_params={{{name!r}: ...}}")
            values.append(self._parameters.get(name, default))
        return callable_kernel(self._function, tuple(values))

    def take(self, rows: Index) -> JittedDistance:
        part = JittedDistance(self._X[rows], self._function, self._parameters, self.symmetric)
        part._kernel = self._kernel  # compiling again would take longer than a sample's distances
        return part

    def cross(self, queries: Floats) -> npt.NDArray[np.float64]:
        return self._fill(slice(None), queries, slice(None), "query")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kernel": None}
