"""Columns with one value in all rows, such as the margins of images: no product of centred rows needs them."""

from __future__ import annotations

import numpy as np

from medoids.engine.arrays import Floats, Rows
from medoids.engine.budget import CONSTANT_SHARE
from medoids.engine.mapped import release
from medoids.engine.threads import row_spans

__all__ = ["runs_of", "varying_columns"]


def varying_columns(X: Floats) -> Rows:
    """Return the columns that are needed: all of them if too few are constant to matter, or if all are."""
    columns = np.arange(X.shape[1])
    constant, enough = columns, CONSTANT_SHARE * len(columns)
    for chunk in row_spans(len(X), len(columns)):
        constant = constant[(X[chunk, constant] == X[0, constant]).all(axis=0)]
        release(X)
        if len(constant) < enough:
            return columns
    return columns if len(constant) == len(columns) else np.delete(columns, constant)


def runs_of(columns: Rows) -> Rows:
    """Return runs of consecutive columns, as rows (start, stop).

    >>> runs_of(np.array([0, 1, 4, 5, 6])).tolist()
    [[0, 2], [4, 7]]
    """
    ends = np.flatnonzero(np.diff(columns) != 1)
    starts = np.concatenate([columns[:1], columns[ends + 1]])
    return np.stack([starts, np.concatenate([columns[ends], columns[-1:]]) + 1], axis=1)
