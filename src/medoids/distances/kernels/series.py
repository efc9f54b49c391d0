"""The loop of dynamic time warping; ``series.py`` has the formula."""

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = ["warp"]


@inline
def _paths(X, start, n, y, m, used, back, ahead, table):  # type: ignore[no-untyped-def]
    """Fill ``table[n % 2, m]`` with the costs of the best paths from a series to some others."""
    # table[i % 2, t + 1] is the cost of the best path to samples (i - 1, t); at 0 none has begun. Indices instead of
    # rows of arrays: Numba would count references to those in the innermost loop.
    for t in range(m + 1):
        for lane in range(used):
            table[0, t, lane] = np.inf
    for lane in range(used):
        table[0, 0, lane] = 0.0
    for i in range(n):
        old, new = i % 2, (i + 1) % 2
        low, high = max(0, i - back), min(m - 1, i + ahead)
        for lane in range(used):
            table[new, low, lane] = np.inf
            table[new, high + 2, lane] = np.inf  # the next sample looks one further
        for t in range(low, high + 1):
            x = X[start + i, 0]
            for lane in range(used):
                a, b, c = table[old, t, lane], table[old, t + 1, lane], table[new, t, lane]
                best = a if a < b else b
                best = best if best < c else c
                gap = x - y[t, 0, lane]
                table[new, t + 1, lane] = best + gap * gap
            for channel in range(1, X.shape[1]):
                x = X[start + i, channel]
                for lane in range(used):
                    gap = x - y[t, channel, lane]
                    table[new, t + 1, lane] += gap * gap


@kernel(fast_sums=True)
def warp(X, starts, rows, Y, starts_y, columns, order, steps, share, y, table, out):  # type: ignore[no-untyped-def]
    """Fill ``out[a, b]`` with dtw; ``order`` sorts the columns by length, ``y`` and ``table`` are working memory."""
    channels = X.shape[1]
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
                for c in range(channels):
                    y[t, c, lane] = Y[starts_y[j] + t, c]
        for a in range(len(rows)):
            start = starts[rows[a]]
            n = starts[rows[a] + 1] - start
            r = max(n, m) if steps < 0 else max(steps, int(share * max(n, m) + 1e-9))
            back, ahead = r + max(0, n - m), r + max(0, m - n)
            _paths(X, start, n, y, m, used, back, ahead, table)
            for lane in range(used):
                out[a, order[first + lane]] = np.sqrt(table[n % 2, m, lane])
        first += used
