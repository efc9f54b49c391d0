"""Distances that are inner products in disguise: euclidean, sqeuclidean, cosine, correlation.

With W the centred rows (euclidean) or the rows scaled to length 1 (cosine; correlation first subtracts each row's own
mean), every one of them is a function of

    |w_i - w_j|^2 = |w_i|^2 + |w_j|^2 - 2 <w_i, w_j>

whose last term is one matrix product. The difference cancels for near pairs, so those are summed directly from the
original rows in float64: in float32 where the result is below 0.005 of its terms, in float64 below 1e-5. (What is left
by float32 there is 1e-6 of the rows' norms. At 0.02, which is safer by half a digit, a quarter of all time on covertype
went into near pairs.)

A row without direction (zeros under cosine, a constant under correlation) is at distance 0 from other such rows and at
1 from all the rest.
"""

from __future__ import annotations

from copy import copy

import numpy as np
import numpy.typing as npt

from medoids.distances.constant import runs_of, varying_columns
from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index, fits_float32, numbers_of
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.mapped import release, scratch
from medoids.engine.threads import Threads, spans

__all__ = ["InnerProduct"]


_NEAR = {np.dtype(np.float32): 0.005, np.dtype(np.float64): 1e-5}
# What is done to the squared distance: its square root, nothing, or half of it.
_POWER = {"euclidean": 1, "sqeuclidean": 2, "cosine": 0, "correlation": 0}
# Of a squared norm: distances between two such rows are finite.
_LARGEST = 1e307
# Bytes of a working copy on disk that are written together, after one sweep over X.
_STRETCH = 1 << 28
# Up to so many rows, summing directly is cheaper than preparing all of X in float64 for a matrix product.
_FEW = 16
# Up to so many columns, of rows so long, our own products are faster than those of BLAS (2.4 times for two to four).
_FEW_COLUMNS, _LONG = 8, 256
# Up to so many coordinates, steps are made in one pass.
_SHORT = 128


class InnerProduct(Dissimilarity):
    """Vectors under one of the four metrics.

    Parameters
    ----------
    X : array of shape (n, p)
        Kept as it is, for exact distances.
    metric : {"euclidean", "sqeuclidean", "cosine", "correlation"}
    dtype : float32 or float64, optional
        Of the working copy and of `block`; float32, if squares fit, where it is not given.
    compiled : bool
        Whether the passes over a block are compiled; small problems do without Numba's import.
    centre : ndarray of shape (p,), optional
        Where X is part of a larger whole, the mean of that.
    """

    symmetric = True
    threaded = True

    def __init__(
        self,
        X: Floats,
        metric: str,
        *,
        compiled: bool,
        dtype: npt.DTypeLike | None = None,
        centre: Float64s | None = None,
    ) -> None:
        self.n = X.shape[0]
        self._X, self._metric, self._compiled = X, metric, compiled
        self._angular = metric in ("cosine", "correlation")
        # Of the working copy. A part of a larger whole cannot tell what varies there.
        leaves_out = compiled and not self._angular and centre is None
        self._columns = varying_columns(X) if leaves_out else np.arange(X.shape[1])
        self.cost = 1.0 + len(self._columns) / 50
        self.triangle = metric == "euclidean"
        top = self._fit(centre)
        if dtype is None:
            dtype = np.float32 if self._angular or fits_float32(top, X.shape[1]) else np.float64
        self.dtype = np.dtype(dtype)
        self.exact = self.dtype == np.float64

    def _fit(self, centre: Float64s | None) -> float:
        """Find out the centre and the lengths of rows; return the largest value after centring, if that is done."""
        X, n = self._X, self.n
        self._shift, self._scale = np.zeros(n), np.ones(n) if self._angular else np.broadcast_to(1.0, n)
        self._centre = np.zeros(X.shape[1])
        self._squares = np.ones(n)
        if not self._angular:
            # Centring loses nothing of a distance and much of the cancellation: 1e9 + N(0, 1) becomes N(0, 1).
            self._centre = X.mean(axis=0, dtype=np.float64) if centre is None else centre
        top = max(self._measure(span) for span in _row_spans(X))
        if not self._squares.max() < _LARGEST:
            row = int(np.argmax(self._squares))
            raise ValueError(
                f"row {row} of X is too large: its squared distances overflow; rescale X before metric={self._metric!r}"
            )
        self._order: Rows | None = None
        self._copy: Floats | None = None
        return top

    def _measure(self, span: slice) -> float:
        X = self._X[span]
        if self._angular:
            self._shift[span], self._scale[span] = self._angles(X)
            return 0.0
        if self._compiled:
            from medoids.distances.kernels.elementwise import measure_rows

            top: float = measure_rows(X, self._centre, self._squares[span])
            return top
        rows = X - self._centre
        with np.errstate(over="ignore"):
            self._squares[span] = np.einsum("ij,ij->i", rows, rows)
        return float(np.abs(rows).max(initial=0))

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> InnerProduct:
        single = not facts.small and (self._angular or fits_float32(facts.top, objects.shape[1]))
        dtype = np.float32 if single else np.float64
        return InnerProduct(objects, self._metric, dtype=dtype, compiled=not facts.small, centre=facts.centre)

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._X[rows] = objects
        self._measure(rows)
        self._work[rows] = self._prepare(self._X[rows], self._shift[rows], self._scale[rows])
        self._lengths[rows] = self._squares[rows]

    def prepare(self, threads: Threads | None = None) -> None:
        """Make the working copy: prepared rows in the working precision."""
        if self._copy is not None:
            return
        self._lengths = self._squares[self._numbers(slice(None))].astype(self.dtype)
        if self.spill:
            self._copy = self._spilled(threads)
            return
        work = np.empty((self.n, len(self._columns)), self.dtype)
        runs = runs_of(self._columns)

        def fill(span: slice) -> None:
            k = self._numbers(span)
            if self._compiled:
                from medoids.distances.kernels.elementwise import prepare_rows

                prepare_rows(self._X, k, runs, self._centre, self._shift, self._scale, work[span])
            else:
                work[span] = self._prepare(self._X[k], self._shift[k], self._scale[k])

        if threads is None:
            for span in _row_spans(work):
                fill(span)
        else:
            threads.map(fill, _row_spans(work))
        self._copy = work
        self.release()

    def _spilled(self, threads: Threads | None) -> Floats:
        """Return the working copy in a temporary file, written from front to back.

        For each stretch of it X is read from front to back as well: a disk serves that far better than single rows.
        """
        work = scratch((self.n, len(self._columns)), self.dtype)
        for stretch in spans(self.n, max(1, _STRETCH // work[:1].nbytes)):
            if threads is not None:
                threads.interrupts.check()
            numbers = self._numbers(stretch)
            by_row = np.argsort(numbers, kind="stable")
            for lot in _row_spans(work, len(numbers)):
                at = by_row[lot]
                k = numbers[at]
                work[stretch.start + at] = self._prepare(self._X[k], self._shift[k], self._scale[k])[:, self._columns]
                release(self._X)
            release(work)
        return np.asarray(work)

    def copy_bytes(self) -> int:
        return int(self.n * len(self._columns) * self.dtype.itemsize)

    def release(self) -> None:
        release(self._X)
        if self.spill and self._copy is not None:
            release(self._copy)

    @property
    def _work(self) -> Floats:
        if self._copy is None:
            self.prepare()
        assert self._copy is not None
        return self._copy

    def reordered(self, order: Rows) -> InnerProduct:
        other: InnerProduct = copy(self)
        other.n, other._order, other._copy = len(order), order, None
        return other

    def _angles(self, X: Floats) -> tuple[Float64s, Float64s]:
        """Shift and scale that bring each row to length 1; the scale is 0 for a row without direction."""
        shift = X.mean(axis=1, dtype=np.float64) if self._metric == "correlation" else np.zeros(len(X))
        rows = X - shift[:, None]
        # Scaled by the largest entry first, so that squares neither overflow nor vanish.
        top = np.abs(rows).max(axis=1)
        noise = np.maximum(1e-13 * np.abs(shift), np.finfo(np.float64).tiny)  # below it, 1 / norm overflows
        flat = top <= noise
        top = np.where(flat, 1.0, top)
        norm = top * np.sqrt(np.einsum("ij,ij->i", rows / top[:, None], rows / top[:, None]))
        return shift, np.where(flat, 0.0, 1 / np.where(flat, 1.0, norm))

    def _prepare(self, X: Floats, shift: Float64s, scale: Float64s) -> Float64s:
        if self._angular:
            rows: Float64s = (X.astype(np.float64) - shift[:, None]) * scale[:, None]
        else:
            rows = X - self._centre
        return rows

    def most(self) -> float:
        length = float(np.sqrt(self._squares.max()))
        return 2.0 if self._angular else 2 * length if self._metric == "euclidean" else 4 * length * length

    def block(self, rows: Index, columns: Index) -> Floats:
        i, j = self._numbers(rows), self._numbers(columns)
        out = np.empty((len(i), len(j)), self.dtype)
        if self._compiled and len(self._columns) >= _LONG and 1 < len(j) <= _FEW_COLUMNS < len(i):
            from medoids.distances.kernels.products import few_products

            few_products(self._work, self._work[columns], numbers_of(rows, self.n), out)
        else:
            np.matmul(self._work[rows], self._work[columns].T, out=out)
        return self._finish(out, self._lengths[rows], self._lengths[columns], i, j)

    def steps(self, rows: Index, columns: Index, step: float, places: Rows, values: Floats) -> bool:
        if self.exact or self._angular or not self._compiled or len(self._columns) > _SHORT:
            return False
        from medoids.distances.kernels.products import short_steps

        W, numbers = self._work, (numbers_of(rows, self.n), numbers_of(columns, self.n))
        lengths = self._lengths[rows], self._lengths[columns]
        short_steps(W, *numbers, *lengths, _NEAR[self.dtype], _POWER[self._metric], step, places, values)
        return True

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        if self.exact:
            return self.block(rows, columns)
        i, j = self._numbers(rows), self._numbers(columns)
        out = np.empty((len(i), len(j)))
        if self._compiled and len(i) <= _FEW:
            from medoids.distances.kernels.products import direct_block

            for span in _row_spans(self._X, len(j)):
                power = _POWER[self._metric]
                direct_block(self._X, i, j[span], self._shift, self._scale, power, out[:, span])
            return out
        W = self._prepare(self._X[i], self._shift[i], self._scale[i])
        for span in _row_spans(self._X, len(j)):
            k = j[span]
            product = W @ self._prepare(self._X[k], self._shift[k], self._scale[k]).T
            out[:, span] = self._finish(product, self._squares[i], self._squares[k], i, k)
        return out

    def _numbers(self, index: Index) -> Rows:
        """Return rows of X; blocks may be asked for in another order."""
        if self._order is not None:
            return self._order[index]
        return numbers_of(index, self.n)

    def _finish(self, out: Floats, left: Floats, right: Floats, i: Rows, j: Rows) -> Floats:
        """Turn products of rows, with the squares of their lengths and their numbers in X, into distances."""
        near, power = _NEAR[out.dtype], _POWER[self._metric]
        if self._compiled:
            from medoids.distances.kernels.products import finish_products

            finish_products(out, left, right, self._X, i, j, self._shift, self._scale, near, power)
            return out
        size = left[:, None] + right
        out *= -2
        out += size
        close = out < near * size
        if close.any():
            out[close] = 0
            a, b = np.nonzero(close & (i[:, None] != j))
            for span in _row_spans(self._X, len(a)):
                out[a[span], b[span]] = self._direct(i[a[span]], j[b[span]])
        out[i[:, None] == j] = 0
        if self._angular:
            out[np.ix_(self._scale[i] == 0, self._scale[j] == 0)] = 0  # rows without direction are alike
        return _apply_power(out, power)

    def _direct(self, i: Rows, j: Rows) -> Float64s:
        """Squared distances of pairs of rows from the original data."""
        X, shift, scale = self._X, self._shift, self._scale
        if self._angular:
            difference = self._prepare(X[i], shift[i], scale[i]) - self._prepare(X[j], shift[j], scale[j])
        else:
            difference = X[i].astype(np.float64) - X[j]
        squares: Float64s = np.einsum("ij,ij->i", difference, difference)
        return squares

    def take(self, rows: Index) -> InnerProduct:
        return InnerProduct(self._X[rows], self._metric, dtype=self.dtype, compiled=self._compiled)

    def cross(self, queries: Floats) -> Float64s:
        # One object over both, so that near pairs are summed directly here too; queries come in lots.
        out = np.empty((self.n, len(queries)))
        for span in _row_spans(queries):
            both = InnerProduct(
                np.concatenate([self._X, queries[span]]), self._metric, dtype=np.float64, compiled=self._compiled
            )
            out[:, span] = both.block(slice(0, self.n), slice(self.n, both.n))
        return out


def _row_spans(X: Floats, n: int | None = None) -> list[slice]:
    """Lots of rows of about 8 MB in float64, so that temporaries stay small."""
    n = len(X) if n is None else n
    width = max(1, (1 << 20) // max(1, X.shape[1]))
    return [slice(start, min(start + width, n)) for start in range(0, n, width)]


def _apply_power(squares: Floats, power: int) -> Floats:
    if power == 1:
        return np.sqrt(squares, out=squares)
    if power == 0:
        squares *= 0.5
    return squares
