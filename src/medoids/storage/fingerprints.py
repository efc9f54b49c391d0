"""What tells one data set from another, and one setting: short, the same in every process, and cheap on large data."""

from __future__ import annotations

import ast
import hashlib
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from medoids.distances import count_rows, take_rows
from medoids.engine.arrays import Float64s

__all__ = ["of_data", "of_value", "told"]

# Up to so many bytes, or rows where bytes cannot be told, all of X is looked at; else so many rows, evenly spread.
_ALL_BYTES, _ALL_ROWS = 1 << 24, 20_000
_SAMPLED = 4096


def of_data(X: Any, weights: Float64s) -> dict[str, Any]:
    """Return shape, type and a digest of the rows (of some, where X is large) and of the weights.

    >>> of_data(np.eye(2), np.ones(2))["shape"], of_data(["ape", "cobra"], np.ones(2))["shape"]
    ([2, 2], [2])
    """
    n = count_rows(X)
    size = _bytes(X)
    whole = n <= _ALL_ROWS if size is None else size <= _ALL_BYTES
    rows = np.arange(n) if whole else np.unique(np.linspace(0, n - 1, _SAMPLED).astype(np.intp))
    return {
        "shape": [int(length) for length in getattr(X, "shape", (n,))],
        "type": str(getattr(X, "dtype", type(X).__name__)),
        "rows": of_value(take_rows(X, rows)),
        "weights": of_value(weights),
    }


def _bytes(X: Any) -> int | None:
    if issparse(X):
        return int(X.data.nbytes)
    return int(np.prod(X.shape)) * X.dtype.itemsize if hasattr(X, "dtype") and X.dtype != object else None


def of_value(value: Any) -> str:
    """Return a digest of numbers, texts, arrays, frames and nests of them.

    Of any other object only the type counts: its text would show where it lies in memory.

    >>> of_value({"p": 3}) == of_value({"p": 3}), of_value({"p": 3}) == of_value({"p": 2})
    (True, False)
    """
    digest = hashlib.sha256()
    _add(digest, value)
    return digest.hexdigest()[:32]


def told(value: Any) -> Any:
    """Return a setting in a form that can be read, stored as JSON and compared: itself, its name, or its digest.

    >>> told(3), told(abs), told({"p": np.float64(3)})
    (3, 'builtins.abs', {'p': 3.0})
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {str(key): told(part) for key, part in value.items()}
    return _text(value) if callable(value) else of_value(value)


def _add(digest: Any, value: Any) -> None:
    if issparse(value):
        value = csr_array(value)
        parts: Any = [value.data, value.indices, value.indptr]
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
        return
    elif hasattr(value, "columns") and hasattr(value, "shape"):
        import narwhals as nw

        frame = nw.from_native(value, eager_only=True)
        parts = [frame.columns, *(frame[name].to_list() for name in frame.columns)]
    elif isinstance(value, dict):
        parts = [item for key in sorted(value, key=repr) for item in (key, value[key])]
    elif isinstance(value, (set, frozenset)):
        parts = sorted(map(of_value, value))  # the order of a set differs from process to process
    elif isinstance(value, (list, tuple, np.ndarray)):
        parts = list(value)
    else:
        digest.update(f"{type(value).__name__}:{_text(value)};".encode("utf-8", "surrogatepass"))
        return
    digest.update(f"{len(parts)}[".encode())
    for part in parts:
        _add(digest, part)


def _text(value: Any) -> str:
    if isinstance(value, ast.AST):
        return ast.dump(value)
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    text = repr(value)
    return "" if " at 0x" in text else text
