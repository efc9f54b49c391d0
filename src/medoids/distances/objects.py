"""Rows of whatever X is: how many there are, and some of them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import issparse

from medoids.distances.protocol import Index
from medoids.engine.arrays import Digests

__all__ = ["count_points", "count_rows", "digests_of", "take_rows"]


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, a sparse array, a frame or a sequence.

    >>> count_rows(["ape", "zebra"])
    2
    """
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def count_points(X: Any, metric: Any) -> int:
    """Return the number of points that are assigned: rows, or the columns of a matrix of distances.

    >>> count_points(np.ones((3, 5)), "precomputed"), count_points(np.ones((3, 5)), "euclidean")
    (5, 3)
    """
    return int(X.shape[1]) if isinstance(metric, str) and metric == "precomputed" else count_rows(X)


def take_rows(X: Any, rows: Index) -> Any:
    """Return some rows, as the same kind of thing.

    >>> take_rows(["ape", "cobra", "zebra"], np.array([2, 0]))
    ['zebra', 'ape']
    """
    if isinstance(X, np.ndarray) or issparse(X):
        return X[rows]
    numbers = range(count_rows(X))[rows] if isinstance(rows, slice) else rows
    if hasattr(X, "columns"):
        import narwhals as nw

        return nw.from_native(X, eager_only=True)[list(map(int, numbers))].to_native()
    return [X[i] for i in numbers]


def digests_of(objects: Any) -> Digests:
    """Return 16 bytes for each row of numbers or text, the same for equal ones and for hardly any others.

    >>> d = digests_of(np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]]))
    >>> (d[0] == d[2]).all(), (d[0] == d[1]).any()
    (np.True_, np.False_)
    """
    if objects.ndim == 1:
        whole = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in objects)
        return np.frombuffer(whole, np.uint64).reshape(-1, 2)
    fractions = objects.dtype.kind == "f"
    # Adding 0 makes -0 a 0. Integers as they are: those beyond 2^53 would be rounded.
    bits = (objects.astype(np.float64) + 0.0).view(np.uint64) if fractions else objects.astype(np.int64).view(np.uint64)
    bits *= np.uint64(0x9E3779B97F4A7C15)  # the finalizer of SplitMix64 makes every bit depend on all bits of a number
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    factors = np.random.RandomState(0).randint(0, 1 << 64, size=(objects.shape[1], 2), dtype=np.uint64)
    found: Digests = (bits ^ (bits >> np.uint64(31))) @ (factors | np.uint64(1))
    return found
