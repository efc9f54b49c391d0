"""Loops over rows and pairs of rows: one factory for pairs, and a metric is what it does with one coordinate.

A metric folds the coordinates of a pair into two running numbers (``step``) and makes a distance of them (``finish``).
Most need only the first; the compiler drops what is not used.
"""

from collections.abc import Callable
from functools import cache
from math import log, sqrt
from typing import Any

import numpy as np

from medoids.engine.budget import TILE_COLUMNS, TILE_COORDINATES, VECTOR_LANES
from medoids.engine.compile import inline, kernel

__all__ = [
    "ELEMENTWISE",
    "block_kernel",
    "callable_kernel",
    "measure_rows",
    "prepare_rows",
    "tile_kernel",
]

Step = Callable[..., Any]


@inline
def _l1_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    return u + abs(x - y), v


@inline
def _linf_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    return max(u, abs(x - y)), v


@inline
def _lp_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    return u + abs(x - y) ** p, v


@inline
def _lp_finish(u, v, m, p):  # type: ignore[no-untyped-def]
    return u ** (1 / p)


@inline
def _canberra_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    size = abs(x) + abs(y)
    return u + (abs(x - y) / size if size > 0 else size), v


@inline
def _braycurtis_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    return u + abs(x - y), v + abs(x + y)


@inline
def _ratio_finish(u, v, m, p):  # type: ignore[no-untyped-def]
    # Two rows of zeros are alike; scipy leaves them undefined under braycurtis.
    return u / v if u > 0 else u


@inline
def _hamming_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    return u + (1 if x != y else 0), v


@inline
def _jaccard_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    return u + (1 if (x != 0) != (y != 0) else 0), v + (1 if x != 0 or y != 0 else 0)


@inline
def _information_step(u, v, x, y, p):  # type: ignore[no-untyped-def]
    mean = (x + y) / 2
    first = x * log(x / mean) if x > 0 else x
    return u + first + (y * log(y / mean) if y > 0 else y), v


@inline
def _information_finish(u, v, m, p):  # type: ignore[no-untyped-def]
    return sqrt(u * p) if u > 0 else u - u  # rounding may leave a sum below 0


@inline
def _mean_finish(u, v, m, p):  # type: ignore[no-untyped-def]
    return u / m


@inline
def _first(u, v, m, p):  # type: ignore[no-untyped-def]
    return u


# name -> (step, finish); p is the parameter of the metric, m the number of columns.
ELEMENTWISE: dict[str, tuple[Step, Step]] = {
    "manhattan": (_l1_step, _first),  # sum |x - y|
    "chebyshev": (_linf_step, _first),  # max |x - y|
    "minkowski": (_lp_step, _lp_finish),  # (sum |x - y|^p)^(1/p)
    "canberra": (_canberra_step, _first),  # sum |x - y| / (|x| + |y|)
    "braycurtis": (_braycurtis_step, _ratio_finish),  # sum |x - y| / sum |x + y|
    "hamming": (_hamming_step, _mean_finish),  # mean [x != y]
    "jensenshannon": (_information_step, _information_finish),  # sqrt(p sum x log(x / m) + y log(y / m)), m their mean
    "jaccard": (
        _jaccard_step,
        _ratio_finish,
    ),  # of the columns that are not 0 in x or in y: the share that is in one only
}


def _in_double(name: str) -> Callable[..., Any]:
    """Make a metric's distance between two rows in float64."""
    step, finish = ELEMENTWISE[name]

    @inline
    def distance(X, i, j, p):  # type: ignore[no-untyped-def]
        u = v = 0.0
        for f in range(X.shape[1]):
            u, v = step(u, v, 0.0 + X[i, f], 0.0 + X[j, f], p)
        return finish(u, v, X.shape[1], p)

    return distance


@cache
def block_kernel(name: str) -> Callable[..., Any]:
    """Make the loop that fills ``out[a, b] = d(X[rows[a]], Y[columns[b]])`` for a metric of `ELEMENTWISE`.

    Where X and Y are working copies of rows ``numbers`` of X0 and the distance is below ``near`` of the rows' norms,
    rounding to the working copy may have taken its digits, and it is computed again from the originals.
    """
    (step, finish), again = ELEMENTWISE[name], _in_double(name)

    @kernel(fast_sums=True)
    def fill(X, rows, Y, columns, p, X0, norms, numbers, near, out):  # type: ignore[no-untyped-def]
        m = X.shape[1]
        last = len(columns) - 1
        zero = out.dtype.type(0)
        for a in range(len(rows)):
            x = X[rows[a]]
            # Four pairs at a time share the loads of x. The last group repeats the last column instead of taking
            # another loop, so that a value never depends on where in a block it is computed.
            for b in range(0, last + 1, 4):
                b1, b2, b3 = min(b + 1, last), min(b + 2, last), min(b + 3, last)
                y0, y1, y2, y3 = Y[columns[b]], Y[columns[b1]], Y[columns[b2]], Y[columns[b3]]
                u0 = u1 = u2 = u3 = v0 = v1 = v2 = v3 = zero
                for f in range(m):
                    xf = zero + x[f]  # zero: arithmetic of the result's type, whatever X holds
                    u0, v0 = step(u0, v0, xf, zero + y0[f], p)
                    u1, v1 = step(u1, v1, xf, zero + y1[f], p)
                    u2, v2 = step(u2, v2, xf, zero + y2[f], p)
                    u3, v3 = step(u3, v3, xf, zero + y3[f], p)
                out[a, b] = finish(u0, v0, m, p)
                out[a, b1] = finish(u1, v1, m, p)
                out[a, b2] = finish(u2, v2, m, p)
                out[a, b3] = finish(u3, v3, m, p)
            if near > 0:
                for b in range(last + 1):
                    if out[a, b] < near * (norms[rows[a]] + norms[columns[b]]):
                        out[a, b] = again(X0, numbers[rows[a]], numbers[columns[b]], p)

    return fill


@cache
def tile_kernel(name: str) -> Callable[..., Any]:
    """Make the loop of `block_kernel` for many rows and columns of working copies, of metrics that need one number.

    Pairs stand side by side in a vector, not coordinates: nothing is left over where these do not fill the last
    vector, and no vector is summed at the end. With 54 columns this takes 4 ns a pair where the other takes 14.
    """
    (step, finish), again = ELEMENTWISE[name], _in_double(name)

    @kernel(fast_sums=True)
    def fill(X, rows, Y, columns, p, X0, norms, numbers, near, out):  # type: ignore[no-untyped-def]
        m, zero, one = X.shape[1], out.dtype.type(0), out.dtype.type(1)
        some, limits = np.zeros((TILE_COORDINATES, TILE_COLUMNS), out.dtype), np.zeros(TILE_COLUMNS, out.dtype)
        sums = np.empty((len(rows), TILE_COLUMNS), out.dtype)
        for start in range(0, len(columns), TILE_COLUMNS):
            count = min(TILE_COLUMNS, len(columns) - start)
            side = -(-count // VECTOR_LANES) * VECTOR_LANES  # whole vectors; the rest of the last is never read
            sums[:] = zero
            for top in range(0, m, TILE_COORDINATES):
                deep = min(TILE_COORDINATES, m - top)
                for b in range(count):
                    y = Y[columns[start + b], top : top + deep]
                    for f in range(deep):
                        some[f, b] = y[f]
                for a in range(len(rows)):
                    x, u = X[rows[a], top : top + deep], sums[a]
                    for f in range(0, deep - 3, 4):  # four at a time: sums are read and written a quarter as often
                        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
                        y0, y1, y2, y3 = some[f], some[f + 1], some[f + 2], some[f + 3]
                        for b in range(side):
                            t, _ = step(u[b], zero, x0, y0[b], p)
                            t, _ = step(t, zero, x1, y1[b], p)
                            t, _ = step(t, zero, x2, y2[b], p)
                            u[b], _ = step(t, zero, x3, y3[b], p)
                    for f in range(deep // 4 * 4, deep):
                        x0, y0 = x[f], some[f]
                        for b in range(side):
                            u[b], _ = step(u[b], zero, x0, y0[b], p)
            for b in range(count):
                limits[b] = near * norms[columns[start + b]]
            for a in range(len(rows)):
                u, limit, close = sums[a], out.dtype.type(near * norms[rows[a]]), zero
                for b in range(count):
                    d = finish(u[b], zero, m, p)
                    close += one if d < limit + limits[b] else zero
                    out[a, start + b] = d
                if close > zero:  # apart, so that the loop above has no branch
                    i = numbers[rows[a]]
                    for b in range(count):
                        if out[a, start + b] < limit + limits[b]:
                            out[a, start + b] = again(X0, i, numbers[columns[start + b]], p)

    return fill


def callable_kernel(function: Callable[..., Any], parameters: tuple[Any, ...]) -> Callable[..., Any]:
    """Compile a Numba-jitted f(a, b, *parameters) into the loop over pairs."""

    # Not cached on disk: a jitted function has a new identity in each process.
    @kernel(cache=False)
    def fill(X, rows, Y, columns, out):  # type: ignore[no-untyped-def]
        for a in range(len(rows)):
            for b in range(len(columns)):
                out[a, b] = function(X[rows[a]], Y[columns[b]], *parameters)

    return fill


@kernel()
def prepare_rows(X, rows, runs, centre, shift, scale, out):  # type: ignore[no-untyped-def]
    """Out = (x - centre - shift) * scale of some runs of columns: one pass over X, where NumPy takes four."""
    for a in range(len(rows)):
        i, g = rows[a], 0
        for r in range(len(runs)):
            first = runs[r, 0]
            for f in range(runs[r, 1] - first):
                out[a, g + f] = (X[i, first + f] - centre[first + f] - shift[i]) * scale[i]
            g += runs[r, 1] - first


@kernel(fast_sums=True)
def measure_rows(X, centre, squares):  # type: ignore[no-untyped-def]
    """Fill in |x - centre|^2 of each row, and return the largest |x_f - centre_f|: one pass, where NumPy takes five."""
    top = 0.0
    for i in range(X.shape[0]):
        square, most = 0.0, 0.0
        for f in range(X.shape[1]):
            t = X[i, f] - centre[f]
            square += t * t
            most = max(most, abs(t))
        squares[i] = square
        top = max(top, most)
    return top
