"""Gower's distance of rows of a table whose columns are numbers, truth values or categories.

    d(x, y) = sum over columns known in both rows of w_f d_f / sum of the same w_f

with d_f = |x_f - y_f| / range_f for numbers and dates, and [x_f != y_f] for the others. Ranges and categories are those
of the training data: a new value outside the range may be further than 1 away, and of a column that was constant only
equality is asked. Rows that have no known column in common are at distance 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances.protocol import Dissimilarity, Index, by_lots
from medoids.distances.vocabulary import Vocabulary
from medoids.engine.arrays import Float64s
from medoids.engine.threads import Threads

__all__ = ["Gower"]


@dataclass
class _Column:
    """How a column's values become numbers."""

    name: Any
    weight: float
    low: float = 0.0
    range: float = 0.0
    categories: Vocabulary | None = None  # None: numbers

    def encode(self, values: Any) -> Float64s:
        if self.categories is not None:
            # New data must not change what was fitted: their own categories get numbers of a copy.
            known = self.categories.copy()
            codes = [np.nan if _missing(value) else float(known.numbers([value])[0]) for value in values]
            return np.array(codes, dtype=np.float64)
        numbers = _numbers(values)
        return (numbers - self.low) / self.range if self.range > 0 else numbers - self.low


class Gower(Dissimilarity):
    """Rows of a frame of pandas, polars or the like, or of a 2-D array.

    Parameters
    ----------
    X : frame or array of shape (n, p)
    weights : mapping of columns to numbers, sequence of p numbers, or None
        Of columns; 1 where a mapping says nothing.
    categorical : sequence of columns
        Columns of numbers that are categories.
    """

    dtype = np.dtype(np.float64)
    exact = True
    symmetric = True
    threaded = True

    def __init__(self, X: Any, weights: Any = None, categorical: Any = ()) -> None:
        table = _columns(X)
        given = _weights(weights, list(table))
        unknown = [name for name in categorical if name not in table]
        if unknown:
            raise ValueError(
                f"metric_params: categorical names column {unknown[0]!r}, which X has not; it has {list(table)}"
            )
        self._fitted = [_fit(name, given[name], values, name in categorical) for name, values in table.items()]
        # Columns of numbers first, those that are only compared after them.
        self._fitted.sort(key=lambda column: column.range == 0)
        self._numeric = sum(column.range > 0 for column in self._fitted)
        self._weights = np.array([column.weight for column in self._fitted])
        self._rows = self._encode(table, "row")
        self.n = self._rows.shape[1]
        self.cost = 5.0 + 1.5 * len(self._fitted)

    def _encode(self, table: dict[Any, Any], word: str) -> Float64s:
        """Return the values as numbers, of shape (columns, rows), NaN where they are missing."""
        rows = np.array([column.encode(table[column.name]) for column in self._fitted])
        blank = np.isnan(rows[self._weights > 0]).all(axis=0)
        if blank.any():
            raise ValueError(
                f"{word} {int(np.argmax(blank))} of X has no value in any column of positive weight, so it has no "
                "distance to others; remove it"
            )
        return rows

    def prepare(self, threads: Threads | None = None) -> None:
        self.block(slice(0, 1), slice(0, 1))  # compile once, not in each thread

    def complete(self) -> npt.NDArray[np.bool_]:
        """Rows with a value in every column that counts; a column without any value is the same for all."""
        missing = np.isnan(self._rows[self._weights > 0])
        return np.asarray(~missing[~missing.all(axis=1)].any(axis=0))

    def block(self, rows: Index, columns: Index) -> Float64s:
        return self._fill(self._rows[:, rows], self._rows[:, columns])

    def _fill(self, rows: Float64s, others: Float64s) -> Float64s:
        from medoids.distances.kernels.gower import compare

        out = np.zeros((rows.shape[1], others.shape[1]))
        rows, others = np.ascontiguousarray(rows), np.ascontiguousarray(others)
        compare(rows, others, self._weights, self._numeric, np.empty(others.shape[1]), out)
        return out

    def take(self, rows: Index) -> Gower:
        part: Gower = object.__new__(Gower)
        part.__dict__ = {**self.__dict__, "_rows": self._rows[:, rows]}
        part.n = part._rows.shape[1]
        return part

    def cross(self, queries: Any) -> Float64s:
        table = _columns(queries)
        lacking = [column.name for column in self._fitted if column.name not in table]
        if lacking:
            raise ValueError(f"X lacks column {lacking[0]!r} of the fit; its columns are {list(table)}")
        rows = self._encode(table, "query")
        return by_lots(lambda j: self._fill(self._rows, rows[:, j]), self.n, rows.shape[1], self.cost)


def _columns(X: Any) -> dict[Any, Any]:
    """Return a sequence of values for each column, by name or by number."""
    if isinstance(X, np.ndarray):
        return dict(enumerate(X.T))
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    table: dict[Any, Any] = {}
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        kind = column.dtype
        if isinstance(kind, (nw.Datetime, nw.Date)):
            column = column.dt.timestamp("us")
        elif isinstance(kind, nw.Duration):
            column = column.dt.total_microseconds()
        values = column.to_numpy()
        numeric = column.dtype.is_numeric()
        if numeric and values.dtype.kind == "O":  # decimals, and integers with missing values
            values = np.array([np.nan if _missing(value) else float(value) for value in column.to_list()])
        elif not numeric:
            values = np.array([*column.to_list(), None], dtype=object)[:-1]  # None: lists stay lists
        table[name] = values
    return table


def _weights(weights: Any, names: list[Any]) -> dict[Any, float]:
    if weights is None:
        return dict.fromkeys(names, 1.0)
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise ValueError(f"metric_params: weights names column {unknown[0]!r}, which X has not; it has {names}")
        given = {name: weights.get(name, 1.0) for name in names}
    elif isinstance(weights, (Sequence, np.ndarray)) and len(weights) == len(names):
        given = dict(zip(names, weights, strict=True))
    else:
        raise ValueError(
            f"metric_params: weights={weights!r} must be a dict of columns or a list of {len(names)} numbers, one for "
            "each column of X"
        )
    for name, weight in given.items():
        if not isinstance(weight, (int, float, np.number)) or not 0 <= weight < np.inf:
            raise ValueError(f"metric_params: the weight of column {name!r} is {weight!r}; it must be a number >= 0")
    if not any(given.values()):
        raise ValueError("metric_params: weights are zero for every column; at least one must be positive")
    return {name: float(weight) for name, weight in given.items()}


def _fit(name: Any, weight: float, values: Any, categorical: bool) -> _Column:
    if categorical or not _is_numeric(values):
        categories = Vocabulary()
        try:
            categories.numbers(value for value in values if not _missing(value))
        except TypeError:
            raise TypeError(
                f"column {name!r} of X holds {type(values[0]).__name__}s, which are neither numbers nor categories; "
                "drop it, or write a metric f(a, b) of your own"
            ) from None
        return _Column(name, weight, categories=categories)
    numbers = _numbers(values)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise ValueError(f"X contains infinity: row {row} of column {name!r}; replace it by None, or by a number")
    if np.isnan(numbers).all():
        return _Column(name, weight)
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    if np.isinf(high - low):
        raise ValueError(f"the range of column {name!r} of X, from {low:.3g} to {high:.3g}, overflows; rescale it")
    return _Column(name, weight, low, high - low)


def _is_numeric(values: npt.NDArray[Any]) -> bool:
    """Whether a column holds numbers or times; one of Python objects does if each of them is a number."""
    if values.dtype.kind != "O":
        return values.dtype.kind in "iufmM"
    known = [value for value in values if not _missing(value)]
    return bool(known) and all(
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in known
    )


def _numbers(values: Any) -> Float64s:
    if values.dtype.kind in "mM":
        numbers = values.astype(f"{values.dtype.kind}8[us]").astype(np.int64).astype(np.float64)
        return np.where(np.isnat(values), np.nan, numbers)
    if values.dtype.kind == "O":
        return np.array([np.nan if _missing(value) else value for value in values], dtype=np.float64)
    out: Float64s = values.astype(np.float64)
    return out


def _missing(value: Any) -> bool:
    """None, NaN, NaT, pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)
