"""Rows of whatever X is: how many there are, and some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from medoids.distances.protocol import Index

__all__ = ["count_points", "count_rows", "take_rows"]


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
