"""Columns that are the same in all rows, the margins of images for instance: no product of centred rows needs them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.distances.protocol import Floats
from medoids.engine.mapped import release
from medoids.engine.threads import spans

__all__ = ["runs_of", "varying_columns"]

Columns = npt.NDArray[np.intp]
# They are left out if they are at least this share: it is what products get faster by.
_SHARE = 1 / 32
# Rows of the first look, and numbers that are compared at a time.
_HEAD, _LOT = 256, 1 << 20


def varying_columns(X: Floats) -> Columns:
    """Return the columns that are needed: all of them, where too few are constant to matter, or all are."""
    columns = np.arange(X.shape[1])
    same = np.flatnonzero((X[:_HEAD] == X[0]).all(axis=0))
    for lot in spans(len(X), max(1, _LOT // max(1, len(same)))):
        if len(same) < _SHARE * len(columns):
            break
        same = same[(X[lot, same] == X[0, same]).all(axis=0)]
        release(X)
    few = len(same) < _SHARE * len(columns) or len(same) == len(columns)
    return columns if few else np.delete(columns, same)


def runs_of(columns: Columns) -> npt.NDArray[np.intp]:
    """Return runs of columns that follow each other, as rows (start, stop).

    >>> runs_of(np.array([0, 1, 4, 5, 6])).tolist()
    [[0, 2], [4, 7]]
    """
    ends = np.flatnonzero(np.diff(columns) != 1)
    starts = np.concatenate([columns[:1], columns[ends + 1]])
    return np.stack([starts, np.concatenate([columns[ends], columns[-1:]]) + 1], axis=1)
