"""Distances that a user wrote: ``f(a, b)`` over rows of an array or over any list of objects."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from medoids.distances.calls import Calls
from medoids.distances.encoded import Encoded
from medoids.distances.objects import count_rows, take_rows
from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index, numbers_of
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS

__all__ = ["CallableDistance", "JittedDistance", "is_jitted"]


def is_jitted(function: Any) -> bool:
    """Whether Numba compiled this function; Numba is not imported to find out."""
    dispatcher = sys.modules.get("numba.core.dispatcher")
    return dispatcher is not None and isinstance(function, dispatcher.Dispatcher)


class CallableDistance(Dissimilarity):
    """A Python function of two objects, called once for each pair of a block.

    Parameters
    ----------
    objects : sequence or array
        Rows of an array, or any objects.
    function : callable
        ``function(medoid, point, **parameters)`` returns a number.
    parameters : dict
    symmetric : bool
        Whether half the calls are enough for a matrix.
    calls : Calls, optional
        How the function is called; by default one pair after the other, and no value is remembered.
    numbers : array, optional
        Row numbers of the objects in all of X.
    """

    cost = COSTS["callable"].pair
    timed = True
    threaded = False

    def __init__(
        self,
        objects: Any,
        function: Callable[..., Any],
        parameters: dict[str, Any],
        symmetric: bool,
        calls: Calls | None = None,
        numbers: Rows | None = None,
    ) -> None:
        self.n = count_rows(objects)
        self._numbers = np.arange(self.n) if numbers is None else numbers
        self.symmetric = symmetric
        self._calls = Calls() if calls is None else calls
        if numbers is None:
            self._calls.remember(self.n, symmetric)
        self.remembers = self._calls.pairs is not None
        self._objects, self._function, self._parameters = objects, function, parameters
        self._call = partial(function, **parameters) if parameters else function

    def block(self, rows: Index, columns: Index) -> Float64s:
        i, j = numbers_of(rows, self.n), numbers_of(columns, self.n)
        names, objects = self._numbers, self._objects
        return self._calls.block(
            self._call,
            objects,
            i,
            objects,
            j,
            naming=lambda r, c: f"row {names[r]} and row {names[c]} of X",
            numbers=(names[i], names[j]),
        )

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> CallableDistance:
        # Given numbers, `Calls` remembers no values.
        return CallableDistance(objects, self._function, self._parameters, self.symmetric, Calls(1), numbers)

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._objects[rows], self._numbers[rows] = objects, numbers

    def take(self, rows: Index) -> CallableDistance:
        objects, numbers = take_rows(self._objects, rows), self._numbers[rows]
        return CallableDistance(objects, self._function, self._parameters, self.symmetric, self._calls, numbers)

    def cross(self, queries: Any) -> Float64s:
        with Calls(self._calls.n_jobs) as calls:
            return calls.block(
                self._call,
                self._objects,
                np.arange(self.n),
                queries,
                np.arange(count_rows(queries)),
                naming=lambda r, c: f"row {self._numbers[r]} and query {c} of X",
            )


class JittedDistance(Encoded):
    """A Numba-jitted function of two rows, compiled into the loop over pairs."""

    timed = True

    def __init__(self, X: Floats, function: Callable[..., Any], parameters: dict[str, Any], symmetric: bool) -> None:
        self.symmetric = symmetric
        self.cost = COSTS["jitted"].of(X.shape[1])
        self._function, self._parameters = function, parameters
        self._kernel: Callable[..., Any] | None = None
        self._store(X)

    def _encode(self, queries: Floats) -> Floats:
        return queries

    def _compare(self, objects: Floats, i: Rows, others: Floats, j: Rows) -> Float64s:
        if self._kernel is None:
            self._kernel = self._compile()
        kind = "row" if others is self._objects else "query"
        out = np.empty((len(i), len(j)))
        try:
            self._kernel(objects, i, others, j, out)
        except Exception as error:
            self._name_pair(error, i, others, j, kind)
            raise
        if not np.isfinite(out).all():
            a, b = np.argwhere(~np.isfinite(out))[0]
            raise ValueError(
                f"metric returned {out[a, b]} for row {i[a]} and {kind} {j[b]} of X; "
                "it must return a finite number for every pair"
            )
        return out

    def _name_pair(self, error: Exception, i: Rows, others: Floats, j: Rows, kind: str) -> None:
        """Find the pair that raised by trying them one by one."""
        for r, c in product(i, j):
            try:
                self._kernel(self._objects, np.array([r]), others, np.array([c]), np.empty((1, 1)))  # type: ignore[misc]
            except Exception:
                error.add_note(f"The metric was called with row {r} and {kind} {c} of X.")
                return

    def _compile(self) -> Callable[..., Any]:
        import inspect

        from medoids.distances.kernels.elementwise import callable_kernel

        # Numba accepts no **keywords in a loop: bind them in the order of the function's own signature.
        signature = inspect.signature(self._function.py_func)  # type: ignore[attr-defined]
        try:
            bound = signature.bind(None, None, **self._parameters)
        except TypeError as error:
            raise TypeError(f"metric_params={self._parameters} do not suit metric{signature}: {error}") from None
        bound.apply_defaults()
        return callable_kernel(self._function, bound.args[2:])

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> JittedDistance:
        return JittedDistance(objects, self._function, self._parameters, self.symmetric)

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._objects[rows] = objects

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kernel": None}
