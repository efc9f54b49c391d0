"""Gower's distance of rows of a table whose columns are numbers, truth values or categories.

    d(x, y) = sum over columns known in both rows of w_f d_f / sum of the same w_f

with d_f = |x_f - y_f| / range_f for numbers, dates and ranks of ordered categories, and [x_f != y_f] for the others.
Ranges and categories are those of the training data: a new value outside the range may be more than 1 away, and values
of a column that was constant are only tested for equality. Rows without a common known column are at distance 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances.encoded import Encoded, Vocabulary
from medoids.distances.gower_types import Logarithms, Order, Ranks, Scale, is_missing, scale_of, types_of_columns
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.budget import COSTS

__all__ = ["Gower", "table_columns"]


@dataclass
class _Column:
    """How a column's values become numbers."""

    name: Any
    weight: float
    low: float = 0.0
    range: float = 0.0
    categories: Vocabulary | None = None  # None: numbers
    translate: Scale | None = None  # into numbers; None: as they are
    asymmetric: bool = False

    def encode(self, values: Any) -> Float64s:
        if self.categories is not None:
            known = Vocabulary(self.categories)  # new data must not change what was fitted
            return np.array(
                [np.nan if is_missing(value) else known.numbers([value])[0] for value in values], dtype=float
            )
        numbers = _translated(self.translate, values)
        return (numbers - self.low) / self.range if self.range > 0 else numbers - self.low

    def described(self) -> dict[str, Any]:
        """Return what was fitted, as plain values; categories follow from the rows that are compared."""
        found = {"name": self.name, "weight": self.weight}
        if self.asymmetric:
            return {**found, "presence": list(self.categories or ())}
        if self.categories is not None:
            return {**found, "categories": True}
        scale = self.translate.described() if self.translate is not None else {}
        return {**found, "low": self.low, "range": self.range, **scale}

    @classmethod
    def restored(cls, fitted: dict[str, Any], values: Any) -> _Column:
        """Return the column that was described so, with some of its values."""
        name, weight = fitted["name"], fitted["weight"]
        if "presence" in fitted or "categories" in fitted:
            categories = Vocabulary()
            categories.numbers(fitted.get("presence") or (value for value in values if not is_missing(value)))
            return cls(name, weight, categories=categories, asymmetric="presence" in fitted)
        return cls(name, weight, fitted["low"], fitted["range"], translate=scale_of(name, fitted))


class Gower(Encoded):
    """Rows of a data frame of pandas, polars or the like, or of a 2-D array.

    Values become numbers, NaN if they are missing. Columns of numbers come first, those that are only compared after
    them.

    Parameters
    ----------
    X : frame or array of shape (n, p)
    weights : mapping of columns to numbers, sequence of p numbers, or None
        Of columns; 1 for columns that a mapping does not have.
    categorical : sequence of columns
        Columns of numbers that are categories.
    type : mapping of types to columns, or None
        As in R's daisy: {"asymm": ["rare"]}; ``gower_types.py`` lists the types. Without one, numbers and dates are
        numbers, ordered categories of a frame are ordered, and everything else is compared.
    columns : list of dict, or None
        What `fitted` returned for all rows, of which X are some: then the other parameters have no effect.
    """

    symmetric = True

    def __init__(
        self,
        X: Any,
        weights: Any = None,
        categorical: Any = (),
        type: Any = None,
        columns: list[dict[str, Any]] | None = None,
    ) -> None:
        table = table_columns(X)
        fitted = (
            _fit_all(X, table, weights, categorical, type)
            if columns is None
            else [_Column.restored(column, table[column["name"]]) for column in columns]
        )
        # Numbers first, then what is compared, then what is compared unless both rows lack it.
        self._columns = sorted(fitted, key=lambda column: (column.asymmetric, column.range == 0))
        self._numeric = sum(column.range > 0 for column in fitted)
        self._symmetric = sum(not column.asymmetric for column in fitted)
        self._weights = np.array([column.weight for column in self._columns])
        self.cost = COSTS["gower"].of(len(fitted))
        self._store(self._as_numbers(table, "row"))

    def _as_numbers(self, table: dict[Any, Any], word: str) -> Float64s:
        rows = np.stack([column.encode(table[column.name]) for column in self._columns], axis=1)
        blank = np.isnan(rows[:, self._weights > 0]).all(axis=1)
        if blank.any():
            raise ValueError(
                f"{word} {int(np.argmax(blank))} of X has no value in any column of positive weight, so it has no "
                "distance to others; remove it"
            )
        return rows

    def fitted(self) -> dict[str, Any]:
        return {"columns": [column.described() for column in self._columns]}

    def complete(self) -> Bools:
        """Rows with a value in every column of positive weight, other than columns without any value."""
        missing = np.isnan(self._objects[:, self._weights > 0])
        return np.asarray(~missing[:, ~missing.all(axis=0)].any(axis=1))

    def _encode(self, queries: Any) -> Float64s:
        table = table_columns(queries)
        if lacking := [column.name for column in self._columns if column.name not in table]:
            raise ValueError(f"X lacks column {lacking[0]!r} of the fit; its columns are {list(table)}")
        return self._as_numbers(table, "query")

    def _compare(self, objects: Float64s, i: Rows, others: Float64s, j: Rows) -> Float64s:
        from medoids.distances.kernels.gower import gower_block

        rows, columns = (np.ascontiguousarray(part.T) for part in (objects[i], others[j]))
        out = np.zeros((len(i), len(j)))
        gower_block(rows, columns, self._weights, self._numeric, self._symmetric, np.empty(len(j)), out)
        return out


def table_columns(X: Any) -> dict[Any, Any]:
    """Return a sequence of values for each column, by name or by number."""
    if isinstance(X, dict):
        return X
    if isinstance(X, np.ndarray):
        return dict(enumerate(X.T))
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    table: dict[Any, Any] = {}
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        if isinstance(column.dtype, (nw.Datetime, nw.Date)):
            column = column.dt.timestamp("us")
        elif isinstance(column.dtype, nw.Duration):
            column = column.dt.total_microseconds()
        if column.dtype.is_numeric():
            values = column.to_numpy()
            # Decimals, and integers with missing values, come as objects.
            table[name] = _as_floats(column.to_list()) if values.dtype.kind == "O" else values
        else:
            table[name] = np.array([*column.to_list(), None], dtype=object)[:-1]  # with None, lists stay lists
    return table


def _check_names(parameter: str, given: Any, names: list[Any]) -> None:
    if unknown := [name for name in given if name not in names]:
        raise ValueError(
            f"metric_params: {parameter} names column {unknown[0]!r}, but X has no such column; it has {names}"
        )


def _check_weights(weights: Any, names: list[Any]) -> dict[Any, float]:
    if weights is None:
        return dict.fromkeys(names, 1.0)
    if isinstance(weights, Mapping):
        _check_names("weights", weights, names)
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


def _orders(X: Any) -> dict[Any, list[Any]]:
    """Return the categories of the columns of a frame whose categories have an order: of pandas, polars and pyarrow."""
    if isinstance(X, np.ndarray):
        return {}
    import narwhals as nw

    found: dict[Any, list[Any]] = {}
    frame = nw.from_native(X, eager_only=True)
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        native: Any = column.to_native()
        if getattr(getattr(native, "dtype", None), "ordered", False) or isinstance(column.dtype, nw.Enum):
            found[name] = list(native.dtype.categories)
        elif getattr(getattr(native, "type", None), "ordered", False):
            found[name] = native.unify_dictionaries().combine_chunks().dictionary.to_pylist()
    return found


def _fit_all(X: Any, table: dict[Any, Any], weights: Any, categorical: Any, type: Any) -> list[_Column]:
    given, orders = _check_weights(weights, list(table)), _orders(X)
    _check_names("categorical", categorical, list(table))
    types = dict.fromkeys(orders, "ordered") | types_of_columns(type, list(table))
    types |= dict.fromkeys(categorical, "factor")
    return [_fit(name, given[name], values, types.get(name), orders) for name, values in table.items()]


def _fit(name: Any, weight: float, values: Any, type: str | None, orders: dict[Any, list[Any]]) -> _Column:
    if type == "asymm":
        return _Column(name, weight, categories=_presence(name, values), asymmetric=True)
    numeric = _is_numeric(values)
    if type in ("factor", "nominal", "symm") or (type is None and not numeric):
        categories = Vocabulary()
        try:
            categories.numbers(value for value in values if not is_missing(value))
        except TypeError:
            raise TypeError(
                f"column {name!r} of X holds {values[0].__class__.__name__}s, which are neither numbers nor "
                "categories; drop it, or write a metric f(a, b) of your own"
            ) from None
        return _Column(name, weight, categories=categories)
    if not numeric and name not in orders:
        raise ValueError(
            f"metric_params: type says that column {name!r} is {type!r}, but it holds no numbers and no ordered "
            "categories of a frame; convert it to numbers, or to pandas.Categorical(values, categories, ordered=True)"
        )
    translate: Scale | None = None
    if name in orders:
        translate = Order(name, orders[name])
    elif type in ("ordered", "ordratio"):
        translate = Ranks(_numbers(values))
    elif type == "logratio":
        translate = Logarithms(name)
    numbers = _translated(translate, values)
    if np.isinf(numbers).any():
        raise ValueError(
            f"X contains infinity: row {int(np.argmax(np.isinf(numbers)))} of column {name!r}; replace it by None, or "
            "by a number"
        )
    if np.isnan(numbers).all():
        return _Column(name, weight, translate=translate)
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    if np.isinf(high - low):
        raise ValueError(f"the range of column {name!r} of X, from {low:.3g} to {high:.3g}, overflows; rescale it")
    return _Column(name, weight, low, high - low, translate=translate)


def _presence(name: Any, values: Any) -> Vocabulary:
    """Return numbers of the two values of an asymmetric column: 0 for what says that something is not there."""
    different = sorted({value for value in values.tolist() if not is_missing(value)})
    if len(different) > 2:
        raise ValueError(
            f"metric_params: type says that column {name!r} is 'asymm', but it has more than two values, such as "
            f"{different[:3]}; take another type, or a column for each value"
        )
    if len(different) == 1 and different[0]:  # only what is there
        different.insert(0, type(different[0])())
    presence = Vocabulary()
    presence.numbers(different)
    return presence


def _translated(translate: Scale | None, values: Any) -> Float64s:
    """Return the values of a column as numbers, in the order or on the scale that its type says."""
    if isinstance(translate, Order):
        return translate(values)
    return _numbers(values) if translate is None else translate(_numbers(values))


def _is_numeric(values: npt.NDArray[Any]) -> bool:
    """Whether a column holds numbers or times; one of Python objects does if each of them is a number."""
    if values.dtype.kind != "O":
        return values.dtype.kind in "iufmM"
    known = [value for value in values if not is_missing(value)]
    return bool(known) and all(
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in known
    )


def _numbers(values: Any) -> Float64s:
    if values.dtype.kind in "mM":
        numbers = values.astype(f"{values.dtype.kind}8[us]").astype(np.int64).astype(np.float64)
        return np.where(np.isnat(values), np.nan, numbers)
    return _as_floats(values) if values.dtype.kind == "O" else values.astype(np.float64)


def _as_floats(values: Any) -> Float64s:
    return np.array([np.nan if is_missing(value) else float(value) for value in values], dtype=np.float64)
