"""Loops over inner products of rows: see ``inner_product.py``.

W are the prepared rows, X the original ones with a shift and a scale for each, ``power`` what is done to a squared
distance.
"""

import numpy as np

from medoids.engine.budget import LANES, PRODUCT_RUN
from medoids.engine.compile import inline, kernel
from medoids.engine.vectors import below, item, load, prefetch, root, spread, store, total

__all__ = ["direct_block", "few_products", "finish_products", "short_steps"]

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


@kernel()
def few_products(W, few, many, out):  # type: ignore[no-untyped-def]
    """Inner products of some rows, four at a time, with many: out[b, a] = <w_many[b], few[a]>.

    BLAS first copies all of the many next to each other, which takes longer than to read them for a few products.
    """
    p, zero = W.shape[1], W.dtype.type(0)
    whole, flat = p // LANES * LANES, W.reshape(-1)
    rows = np.zeros((len(few) + 3, p), W.dtype)
    rows[: len(few)] = few
    other = rows.reshape(-1)
    for b in range(len(many)):
        at = many[b] * p
        for a in range(0, len(few), 4):
            s0, s1, s2, s3 = spread(zero), spread(zero), spread(zero), spread(zero)
            for f in range(0, whole, LANES):
                x = load(flat, at + f, zero)
                s0 = s0 + x * load(other, a * p + f, zero)
                s1 = s1 + x * load(other, (a + 1) * p + f, zero)
                s2 = s2 + x * load(other, (a + 2) * p + f, zero)
                s3 = s3 + x * load(other, (a + 3) * p + f, zero)
            sums = total(s0), total(s1), total(s2), total(s3)
            for e in range(min(4, len(few) - a)):
                rest = sums[e]
                for f in range(whole, p):
                    rest += W[many[b], f] * rows[a + e, f]
                out[b, a + e] = rest


@kernel(fast_sums=True)
def short_steps(W, rows, columns, square_rows, square_columns, near, power, step, places, values):  # type: ignore[no-untyped-def]
    """Distances between rows of few coordinates, in whole numbers of a step, and each column a lane at its place.

    ``values[places[b] // LANES, a, places[b] % LANES]`` is d(w_rows[a], w_columns[b]). The products of six rows with
    sixteen columns stay in registers, for all coordinates and until they are distances. BLAS, which is made for long
    rows, takes as long for the products alone; these are then read and written twice, and are more than a cache holds.
    Near pairs are summed directly, from the prepared rows: their rounding is nothing to a step.
    """
    p, zero, half, two = W.shape[1], W.dtype.type(0), W.dtype.type(0.5), W.dtype.type(2)
    flat, close, factor = W.reshape(-1), W.dtype.type(near), W.dtype.type(1 / step)
    turned, sums = np.zeros(p * LANES, W.dtype), np.empty(6 * LANES, W.dtype)
    squares, sizes, whole = np.zeros(LANES, W.dtype), np.zeros(LANES, W.dtype), np.zeros(LANES, values.dtype)
    pitch = values.strides[0] // values.itemsize  # a view of a row would be counted, which takes as long as a row
    for first in range(0, len(columns), LANES):
        width = min(LANES, len(columns) - first)
        for lane in range(width):
            squares[lane] = square_columns[first + lane]
            for f in range(p):
                turned[f * LANES + lane] = W[columns[first + lane], f]
        for b in range(first + LANES, min(first + 2 * LANES, len(columns))):  # the next ones may be anywhere
            for f in range(0, p, LANES):
                prefetch(flat, columns[b] * p + f)
        right = load(squares, 0, zero)
        start = places[first]
        together = width == LANES and start % LANES == 0 and places[first + LANES - 1] == start + LANES - 1
        for low in range(0, len(rows), 6):
            last = len(rows) - low - 1
            r0, r1, r2 = rows[low] * p, rows[low + min(1, last)] * p, rows[low + min(2, last)] * p
            r3, r4, r5 = rows[low + min(3, last)] * p, rows[low + min(4, last)] * p, rows[low + min(5, last)] * p
            s0, s1, s2, s3, s4, s5 = spread(zero), spread(zero), spread(zero), spread(zero), spread(zero), spread(zero)
            for f in range(p):
                x = load(turned, f * LANES, zero)
                s0 = s0 + item(flat, r0 + f) * x
                s1 = s1 + item(flat, r1 + f) * x
                s2 = s2 + item(flat, r2 + f) * x
                s3 = s3 + item(flat, r3 + f) * x
                s4 = s4 + item(flat, r4 + f) * x
                s5 = s5 + item(flat, r5 + f) * x
            store(s0, sums, 0)
            store(s1, sums, LANES)
            store(s2, sums, 2 * LANES)
            store(s3, sums, 3 * LANES)
            store(s4, sums, 4 * LANES)
            store(s5, sums, 5 * LANES)
            for a in range(low, low + min(6, last + 1)):
                size = right + item(square_rows, a)
                d = max(size - two * load(sums, (a - low) * LANES, zero), zero)
                if below(d, close * size):
                    store(d, squares, 0)
                    store(size, sizes, 0)
                    for lane in range(width):
                        if squares[lane] <= close * sizes[lane]:
                            square = zero
                            for f in range(p):
                                t = W[rows[a], f] - W[columns[first + lane], f]
                                square += t * t
                            squares[lane] = square
                    d = load(squares, 0, zero)
                d = (root(d) if power == 1 else d) * factor + half
                if together:
                    store(d, values, start // LANES * pitch + a * LANES)
                else:
                    store(d, whole, 0)
                    for lane in range(width):
                        values[places[first + lane] // LANES, a, places[first + lane] % LANES] = whole[lane]


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
def direct_block(X, rows, columns, shift, scale, power, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with distances summed directly: for a few rows, cheaper than preparing X for a matrix product."""
    for b in range(len(columns)):
        j = columns[b]
        for a in range(len(rows)):
            i = rows[a]
            if (scale[i] == 0) != (scale[j] == 0):
                out[a, b] = 1.0  # one of them has no direction
            else:
                out[a, b] = _power(_square(X, i, j, shift, scale), power)
