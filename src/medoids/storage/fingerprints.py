"""Digests that distinguish data sets and settings: short, equal in every process, and cheap on large data."""

from __future__ import annotations

import ast
import hashlib
import re
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from medoids.distances import count_rows, take_rows
from medoids.engine.arrays import Float64s

__all__ = ["describe", "is_digest", "of_data", "of_value"]

# All of X is hashed up to this many bytes, or rows where the number of bytes is unknown: about 0.1 s.
_HASHED_BYTES, _HASHED_ROWS = 1 << 24, 20_000
# Beyond that, this many evenly spaced rows are hashed.
_HASHED_SAMPLE = 4096


def of_data(X: Any, weights: Float64s) -> dict[str, Any]:
    """Return shape, type and a digest of the rows (of a sample, if X is large) and of the weights.

    >>> of_data(np.eye(2), np.ones(2))["shape"], of_data(["ape", "cobra"], np.ones(2))["shape"]
    ([2, 2], [2])
    """
    n = count_rows(X)
    if issparse(X):
        small = X.data.nbytes <= _HASHED_BYTES
    elif hasattr(X, "dtype") and X.dtype != object:
        small = np.prod(X.shape, dtype=float) * X.dtype.itemsize <= _HASHED_BYTES
    else:
        small = n <= _HASHED_ROWS
    rows = np.arange(n) if small else np.unique(np.linspace(0, n - 1, _HASHED_SAMPLE).astype(np.intp))
    return {
        "shape": [int(length) for length in getattr(X, "shape", (n,))],
        "type": str(getattr(X, "dtype", type(X).__name__)),
        "rows": of_value(take_rows(X, rows)),
        "weights": of_value(weights),
    }


def of_value(value: Any) -> str:
    """Return a digest of numbers, strings, arrays, frames and nested containers of them.

    Of any other object only the type counts: its ``repr`` would contain its address in memory.

    >>> of_value({"p": 3}) == of_value({"p": 3}), of_value({"p": 3}) == of_value({"p": 2})
    (True, False)
    """
    digest = hashlib.sha256()
    _add(digest, value)
    return digest.hexdigest()[:32]


def is_digest(value: Any) -> bool:
    """Whether a value looks like what `of_value` returns.

    >>> is_digest(of_value([1, 2])), is_digest("build"), is_digest(3)
    (True, False, False)
    """
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def describe(value: Any) -> Any:
    """Return a setting in a form that people can read and JSON can store: itself, its name, or its digest.

    >>> describe(3), describe(abs), describe({"p": np.float64(3)})
    (3, 'builtins.abs', {'p': 3.0})
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {str(key): describe(part) for key, part in value.items()}
    return _text(value) if callable(value) else of_value(value)


def _add(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
    elif (parts := _parts(value)) is None:
        digest.update(f"{type(value).__name__}:{_text(value)};".encode("utf-8", "surrogatepass"))
    else:
        digest.update(f"{len(parts)}[".encode())
        for part in parts:
            _add(digest, part)


def _parts(value: Any) -> list[Any] | None:
    """Return what a container consists of, in an order that is the same in every process."""
    if issparse(value):
        value = csr_array(value)
        return [value.data, value.indices, value.indptr]
    if hasattr(value, "columns") and hasattr(value, "shape"):
        import narwhals as nw

        frame = nw.from_native(value, eager_only=True)
        return [frame.columns, *(frame[name].to_list() for name in frame.columns)]
    if isinstance(value, dict):
        return [item for key in sorted(value, key=repr) for item in (key, value[key])]
    if isinstance(value, (set, frozenset)):
        return sorted(map(of_value, value))
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else None


def _text(value: Any) -> str:
    if isinstance(value, ast.AST):
        return ast.dump(value)
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    text = repr(value)
    return "" if " at 0x" in text else text
