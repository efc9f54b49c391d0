"""What the type of a column makes of its values before Gower's distance compares them; the types are daisy's, of R.

ordered     categories in an order: their ranks, as numbers
ordratio    numbers of which only the order counts: ranks of the values that occur
logratio    positive numbers: logarithms
asymm       two values, the higher of which says that something is there: rows that both lack it are not compared
symm, factor, nominal    categories: equal or not
numeric     numbers
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from medoids.engine.arrays import Float64s

__all__ = ["TYPES", "Logarithms", "Order", "Ranks", "Scale", "is_missing", "scale_of", "types_of_columns"]

TYPES = ("asymm", "factor", "logratio", "nominal", "numeric", "ordered", "ordratio", "symm")


class Scale(Protocol):
    """How the values of a column become numbers."""

    def __call__(self, values: Any, /) -> Float64s: ...

    def described(self) -> dict[str, Any]:
        """Return what `scale_of` needs to make it again, as plain values."""
        ...


class Order:
    """Ranks of categories in a given order."""

    def __init__(self, name: Any, categories: list[Any]) -> None:
        self._name, self._ranks = name, {category: float(rank) for rank, category in enumerate(categories)}

    def described(self) -> dict[str, Any]:
        return {"order": list(self._ranks)}

    def __call__(self, values: Any) -> Float64s:
        unknown = next((value for value in values if not is_missing(value) and value not in self._ranks), None)
        if unknown is not None:
            raise ValueError(
                f"column {self._name!r} of X has {unknown!r}, which is not one of its ordered categories "
                f"{list(self._ranks)}; add it to these, or remove the row"
            )
        return np.array([np.nan if is_missing(value) else self._ranks[value] for value in values], dtype=np.float64)


class Ranks:
    """Ranks among the numbers of the fit; a new one is between the ranks of its neighbours."""

    def __init__(self, numbers: Float64s) -> None:
        self._known = np.unique(numbers[~np.isnan(numbers)])

    def described(self) -> dict[str, Any]:
        return {"ranks": self._known.tolist()}

    def __call__(self, numbers: Float64s) -> Float64s:
        if len(self._known) == 0:
            return numbers
        ranks = np.interp(numbers, self._known, np.arange(len(self._known)))
        return np.where(np.isnan(numbers), np.nan, ranks)


class Logarithms:
    """Logarithms of positive numbers."""

    def __init__(self, name: Any) -> None:
        self._name = name

    def described(self) -> dict[str, Any]:
        return {"logarithms": True}

    def __call__(self, numbers: Float64s) -> Float64s:
        wrong = numbers <= 0
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"column {self._name!r} of X has {numbers[row]} in row {row}, which has no logarithm; leave the column "
                "out of 'logratio'"
            )
        found: Float64s = np.log10(numbers)
        return found


def scale_of(name: Any, described: Mapping[str, Any]) -> Scale | None:
    """Return the scale that was described so; None for numbers as they are.

    >>> scale_of("grade", {"order": ["low", "high"]})(["high", None]).tolist()
    [1.0, nan]
    """
    if "order" in described:
        return Order(name, described["order"])
    if "ranks" in described:
        return Ranks(np.array(described["ranks"], dtype=np.float64))
    return Logarithms(name) if "logarithms" in described else None


def types_of_columns(given: Any, names: list[Any]) -> dict[Any, str]:
    """Return the type of each column that ``type`` names, as in {"asymm": ["rare"], "ordratio": ["grade"]}."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"metric_params: type={given!r} must be a dict of types and columns, as {{'asymm': ['a']}}")
    found: dict[Any, str] = {}
    for kind, columns in given.items():
        if kind not in TYPES:
            raise ValueError(f"metric_params: type has {kind!r}, which is unknown; it must be one of {list(TYPES)}")
        for name in [columns] if isinstance(columns, (str, int)) else columns:
            if name not in names:
                raise ValueError(f"metric_params: type names column {name!r}, but X has no such column; it has {names}")
            if name in found:
                raise ValueError(f"metric_params: type names column {name!r} twice, as {found[name]!r} and {kind!r}")
            found[name] = kind
    return found


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)
