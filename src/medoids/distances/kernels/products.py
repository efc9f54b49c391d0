"""Loops over inner products of rows: see ``inner_product.py``.

W are the prepared rows, X the original ones with a shift and a scale for each, ``power`` what is done to a squared
distance.
"""

import numpy as np

from medoids.engine.budget import PRODUCT_RUN
from medoids.engine.compile import inline, kernel

__all__ = ["direct_block", "finish_products", "narrow_block", "plain_block"]

# The first look for near pairs works with rounded squares of distances, so its limit is wider by this factor.
_WIDER = np.float32(1.01)


@inline
def _square(X, i, j, shift, scale):  # type: ignore[no-untyped-def]
    """|w_i - w_j|^2 with w = (x - shift) * scale, summed directly."""
    total = 0.0
    for f in range(X.shape[1]):
        t = (X[i, f] - shift[i]) * scale[i] - (X[j, f] - shift[j]) * scale[j]
        total += t * t
    return total


@inline
def _power(square, power):  # type: ignore[no-untyped-def]
    if power == 1:
        return np.sqrt(square)
    return square / 2 if power == 0 else square


@inline
def _square_of(distance, power):  # type: ignore[no-untyped-def]
    """Undo `_power`."""
    if power == 1:
        return distance * distance
    return 2 * distance if power == 0 else distance


@kernel(fast_sums=True)
def finish_products(out, square_rows, square_columns, X, rows, columns, shift, scale, near, power):  # type: ignore[no-untyped-def]
    """Turn inner products into distances in place, as ``inner_product.py`` explains; near pairs are summed directly."""
    zero, one, two, near = out.dtype.type(0), out.dtype.type(1), out.dtype.type(2), out.dtype.type(near)
    wider = _WIDER * near
    for a in range(out.shape[0]):
        i, left = rows[a], square_rows[a]
        for first in range(0, out.shape[1], PRODUCT_RUN):
            row, right = out[a, first : first + PRODUCT_RUN], square_columns[first : first + PRODUCT_RUN]
            close = zero  # a number as wide as the others: half the time of one that counts
            for b in range(len(row)):
                size = left + right[b]
                d = max(zero, size - two * row[b])
                close += one if d <= wider * size else zero
                row[b] = _power(d, power)
            # Apart, so that the loop above has no branch and is vectorised: four times faster. A row without direction
            # (scale 0) is at 1 from all rows by the formula, but at 0 from others like it.
            if close > zero or scale[i] == 0:
                for b in range(len(row)):
                    j = columns[first + b]
                    if i == j or (scale[i] == 0 and scale[j] == 0):
                        row[b] = 0
                    elif _square_of(row[b], power) <= near * (left + right[b]):
                        row[b] = _power(_square(X, i, j, shift, scale), power)


@kernel(fast_sums=True)
def narrow_block(A, B, square_rows, square_columns, X, rows, columns, shift, scale, near, power, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with distances between rows of A and columns of B by differences; near pairs from the originals.

    There are three coordinates, so that a pair stays in registers: half the time of a loop over them.
    """
    zero, one, near = out.dtype.type(0), out.dtype.type(1), out.dtype.type(near)
    x, y, z = B[0], B[1], B[2]
    for a in range(out.shape[0]):
        left, row, close = square_rows[a], out[a], zero
        for b in range(len(row)):
            u, v, w = A[a, 0] - x[b], A[a, 1] - y[b], A[a, 2] - z[b]
            d = (u * u + v * v) + w * w
            close += one if d <= near * (left + square_columns[b]) else zero
            row[b] = _power(d, power)
        if close > zero:
            for b in range(len(row)):
                if _square_of(row[b], power) <= near * (left + square_columns[b]):
                    row[b] = _power(_square(X, rows[a], columns[b], shift, scale), power)


@kernel(fast_sums=True)
def direct_block(X, rows, columns, shift, scale, power, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with distances summed directly: for a few rows, cheaper than preparing X for a matrix product."""
    for b, j in enumerate(columns):
        for a, i in enumerate(rows):
            # 1 if one of them has no direction.
            lonely = (scale[i] == 0) != (scale[j] == 0)
            out[a, b] = 1.0 if lonely else _power(_square(X, i, j, shift, scale), power)


@kernel(fast_sums=True)
def plain_block(X, rows, columns, power, out):  # type: ignore[no-untyped-def]
    """`direct_block` without shift and scale: 4 ns for 10 columns instead of 17."""
    for a in range(len(rows)):
        x = X[rows[a]]
        for b in range(len(columns)):
            y, total = X[columns[b]], 0.0
            for f in range(len(x)):
                t = np.float64(x[f]) - np.float64(y[f])
                total += t * t
            out[a, b] = total
        for b in range(len(columns)):
            out[a, b] = _power(out[a, b], power)
