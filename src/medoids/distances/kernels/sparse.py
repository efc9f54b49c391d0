"""Loops over the nonzeros of pairs of sparse rows; ``sparse.py`` explains them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from medoids.engine.budget import NEAR_SPARSE
from medoids.engine.compile import inline, kernel

__all__ = ["finish", "sum_absolute", "sum_products"]


@inline
def _product(x, y):  # type: ignore[no-untyped-def]
    return x * y


@inline
def _absolute(x, y):  # type: ignore[no-untyped-def]
    return abs(x - y) - abs(x)


def _sums(term: Callable[..., Any]) -> Callable[..., Any]:
    """Make the loop that fills ``out[a, b]`` with the sum over y's nonzeros of ``term(x, y)``."""

    @kernel(fast_sums=True)
    def fill(data, indices, starts, rows, data_y, indices_y, starts_y, columns, table, totals, out):  # type: ignore[no-untyped-def]
        # As many rows as the table has lanes share a pass; the number is not a constant, or Numba would unroll the
        # loop over them and leave it scalar.
        lanes = table.shape[1]
        for first in range(0, len(rows), lanes):
            used = min(lanes, len(rows) - first)
            for lane in range(used):
                i = rows[first + lane]
                for at in range(starts[i], starts[i + 1]):
                    table[indices[at], lane] = data[at]
            for b, j in enumerate(columns):
                totals[:] = 0.0
                for at in range(starts_y[j], starts_y[j + 1]):
                    y, f = data_y[at], indices_y[at]
                    for lane in range(lanes):
                        totals[lane] += term(table[f, lane], y)
                for lane in range(used):
                    out[first + lane, b] = totals[lane]
            for lane in range(used):
                i = rows[first + lane]
                for at in range(starts[i], starts[i + 1]):
                    table[indices[at], lane] = 0.0

    return fill


sum_products = _sums(_product)
sum_absolute = _sums(_absolute)


@inline
def _merge(data, indices, at, end, data_y, indices_y, at_y, end_y, squared):  # type: ignore[no-untyped-def]
    """Sum of |x - y| or (x - y)^2 over the columns of either row."""
    total = 0.0
    while at < end or at_y < end_y:
        if at_y == end_y or (at < end and indices[at] < indices_y[at_y]):
            t = data[at]
            at += 1
        elif at == end or indices_y[at_y] < indices[at]:
            t = data_y[at_y]
            at_y += 1
        else:
            t = data[at] - data_y[at_y]
            at += 1
            at_y += 1
        total += t * t if squared else abs(t)
    return total


@kernel()
def finish(data, indices, starts, rows, norms, data_y, indices_y, starts_y, columns, norms_y, metric, same, out):  # type: ignore[no-untyped-def]
    """Turn sums into distances in place; ``metric`` is its number in `SPARSE_METRICS`."""
    for a, i in enumerate(rows):
        for b, j in enumerate(columns):
            total, size, near = out[a, b], norms[i] + norms_y[j], False
            if same and i == j:
                d = 0.0
            elif metric == 4:  # of two empty rows, 0
                d = 1.0 - total / (size - total) if size > 0 else 0.0
            elif metric == 0:
                # 1 where one row has no direction, 0 where neither has.
                d = 1.0 - total if size > 0 else 0.0
                near = norms[i] > 0 and norms_y[j] > 0 and d < NEAR_SPARSE
            else:
                d = norms[i] + total if metric == 3 else size - 2.0 * total
                near = d < NEAR_SPARSE * size
            if near:
                d = _merge(
                    data, indices, starts[i], starts[i + 1],
                    data_y, indices_y, starts_y[j], starts_y[j + 1], metric != 3,
                )  # fmt: skip
                if metric == 0:
                    d *= 0.5
            out[a, b] = np.sqrt(d) if metric == 1 else d
