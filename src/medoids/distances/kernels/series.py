"""Elastic distances of series: one factory for the loops, and a distance is what it does with one cell of the table.

``series.py`` has the formulas. Cell (i, t) of the table is the cost of the best way to align the first i + 1 samples of
x with the first t + 1 of y, from its three neighbours: a without the last of both, b without that of x, c without that
of y.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = ["ELASTIC", "elastic_kernel"]


@inline
def _least(a, b, c):  # type: ignore[no-untyped-def]
    best = a if a < b else b
    return best if best < c else c


@inline
def _dtw_cell(a, b, c, gap, before, x, x_last, y, y_last, x_side, y_side, lag, p):  # type: ignore[no-untyped-def]
    return _least(a, b, c) + gap


@inline
def _erp_cell(a, b, c, gap, before, x, x_last, y, y_last, x_side, y_side, lag, p):  # type: ignore[no-untyped-def]
    return _least(a + gap, b + x_side, c + y_side)


@inline
def _twe_cell(a, b, c, gap, before, x, x_last, y, y_last, x_side, y_side, lag, p):  # type: ignore[no-untyped-def]
    return _least(a + gap + before + p * lag, b + x_side, c + y_side)


@inline
def _split(x, y, z, p):  # type: ignore[no-untyped-def]
    """Cost of a sample x beside y and z: p if it is between them, else also the way to the nearer one."""
    to_y, to_z = x - y, x - z
    near = abs(to_y) if abs(to_y) < abs(to_z) else abs(to_z)
    return p + near if (to_y > 0) == (to_z > 0) and to_y != 0 and to_z != 0 else p


@inline
def _msm_cell(a, b, c, gap, before, x, x_last, y, y_last, x_side, y_side, lag, p):  # type: ignore[no-untyped-def]
    return _least(a + gap, b + _split(x, x_last, y, p), c + _split(y, x, y_last, p))


class Elastic(NamedTuple):
    """What makes a distance of series.

    Attributes
    ----------
    cell : callable
        The cost of a cell.
    squared : bool
        Whether samples are compared by squares, and the root is taken at the end.
    apart : bool
        Whether channels are aligned each by itself, and their distances added.
    padded : bool
        Whether each series has another sample in front, at 0.
    bordered : bool
        Whether an alignment may begin with samples of one series only, at the cost of all of them.
    """

    cell: Callable[..., Any]
    squared: bool = False
    apart: bool = False
    padded: bool = False
    bordered: bool = False


ELASTIC = {
    "dtw": Elastic(_dtw_cell, squared=True),
    "erp": Elastic(_erp_cell, bordered=True),
    "twe": Elastic(_twe_cell, padded=True),
    "msm": Elastic(_msm_cell, apart=True),
}


@cache
def elastic_kernel(name: str) -> Callable[..., Any]:
    """Make the loop that fills ``out[a, b]`` with the distance from series rows[a] of X to series columns[b] of Y.

    ``order`` sorts the columns by length; ``y``, ``ys``, ``gaps`` and ``table`` are working memory for as many series
    of one length as have lanes, which share a pass. ``x_side`` and ``y_side`` are costs of each sample alone.
    """
    cell, squared, apart, padded, bordered = ELASTIC[name]

    @kernel(fast_sums=True)
    def fill(X, x_side, starts, rows, Y, y_side, starts_y, columns, order, steps, share, p, y, ys, gaps, table, out):  # type: ignore[no-untyped-def]
        channels = X.shape[1]
        passes, width = (channels, 1) if apart else (1, channels)
        first = 0
        while first < len(order):
            j = columns[order[first]]
            m = starts_y[j + 1] - starts_y[j]
            used = 1
            while used < y.shape[2] and first + used < len(order):
                other = columns[order[first + used]]
                if starts_y[other + 1] - starts_y[other] != m:
                    break
                used += 1
            for lane in range(used):
                j = columns[order[first + lane]]
                for t in range(m):
                    for channel in range(channels):
                        y[t, channel, lane] = Y[starts_y[j] + t, channel]
                    ys[t, lane] = y_side[starts_y[j] + t]
            for row in range(len(rows)):
                start = starts[rows[row]]
                n = starts[rows[row] + 1] - start
                r = max(n, m) if steps < 0 else max(steps, int(share * max(n, m) + 1e-9))
                back, ahead = r + max(0, n - m), r + max(0, m - n)
                for lane in range(used):
                    out[row, order[first + lane]] = 0.0
                for head in range(0, passes * width, width):
                    # table[i % 2, t + 1] is cell (i - 1, t); at 0 none of y has been aligned. Indices instead of rows
                    # of arrays: Numba would count references to those in the innermost loop.
                    border = np.inf
                    if bordered:
                        border = 0.0
                        for i in range(n):
                            border += x_side[start + i]
                    for lane in range(used):
                        edge = np.inf
                        if bordered:
                            edge = 0.0
                            for t in range(m):
                                edge += ys[t, lane]
                        table[0, 0, lane] = 0.0
                        for t in range(m):
                            table[0, t + 1, lane] = edge
                    for i in range(n):
                        old, new = i % 2, (i + 1) % 2
                        low, high = max(0, i - back), min(m - 1, i + ahead)
                        for lane in range(used):
                            table[new, low, lane] = border if low == 0 else np.inf
                            table[new, high + 2, lane] = np.inf  # the next sample looks one further
                        x, x_last, xs = X[start + i, head], X[start + max(i - 1, 0), head], x_side[start + i]
                        for t in range(low, high + 1):
                            for lane in range(used):
                                gap = x - y[t, head, lane]
                                gaps[new, t, lane] = gap * gap if squared or width > 1 else abs(gap)
                            for channel in range(head + 1, head + width):
                                xc = X[start + i, channel]
                                for lane in range(used):
                                    gap = xc - y[t, channel, lane]
                                    gaps[new, t, lane] += gap * gap
                            if width > 1 and not squared:
                                for lane in range(used):
                                    gaps[new, t, lane] = np.sqrt(gaps[new, t, lane])
                            last, seen = max(t - 1, 0), 1.0 if padded and i > 0 and t > 0 else 0.0
                            lag = float(abs(i - t))
                            for lane in range(used):
                                table[new, t + 1, lane] = cell(
                                    table[old, t, lane],
                                    table[old, t + 1, lane],
                                    table[new, t, lane],
                                    gaps[new, t, lane],
                                    seen * gaps[old, last, lane],
                                    x,
                                    x_last,
                                    y[t, head, lane],
                                    y[last, head, lane],
                                    xs,
                                    ys[t, lane],
                                    lag,
                                    p,
                                )
                    for lane in range(used):
                        total = table[n % 2, m, lane]
                        out[row, order[first + lane]] += np.sqrt(total) if squared else total
            first += used

    return fill
