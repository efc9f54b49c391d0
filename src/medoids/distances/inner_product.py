"""Distances that are inner products in disguise: euclidean, sqeuclidean, cosine, correlation.

With W the centred rows (euclidean) or the rows scaled to length 1 (cosine; correlation first subtracts each row's own
mean), every one of them is a function of

    |w_i - w_j|^2 = |w_i|^2 + |w_j|^2 - 2 <w_i, w_j>

whose last term is one matrix product. The difference cancels for near pairs, so those are summed directly from the
original rows in float64 (`NEAR_PRODUCT`).

A row without direction (zeros under cosine, a constant under correlation) is at distance 0 from other such rows and at
1 from all the rest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.distances.protocol import Floats, Index
from medoids.distances.scaling import ANGULAR, UnitRule
from medoids.distances.working_copy import VectorDistance, fits_float32, varying_columns
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import (
    COSTS,
    FEW_PRODUCTS,
    FEW_ROWS,
    NARROW_COLUMNS,
    NEAR_DIFFERENCE,
    NEAR_PRODUCT,
)
from medoids.engine.threads import row_spans

__all__ = ["InnerProduct"]

# What becomes of the squared distance: its square root (1), itself (2) or half of it (0); also the metric's degree.
_POWERS = {"euclidean": 1, "sqeuclidean": 2, "cosine": 0, "correlation": 0}
# Largest squared norm: distances between two such rows are finite.
_LARGEST_SQUARE = 1e307
# Below this share of its mean, the largest deviation of a row is rounding error: the row is constant.
_CONSTANT_ROW = 1e-13


class InnerProduct(VectorDistance):
    """Vectors under one of the four metrics.

    Parameters
    ----------
    X : array of shape (n, p)
        Kept as it is, for exact distances.
    metric : {"euclidean", "sqeuclidean", "cosine", "correlation"}
    dtype : float32 or float64, optional
        Of the working copy and of `block`; by default float32 if squares fit.
    compiled : bool
        Whether the passes over a block are compiled; small problems do not import Numba.
    centre : ndarray of shape (p,), optional
        If X is part of a larger whole, the mean of that.
    """

    def __init__(
        self,
        X: Floats,
        metric: str,
        *,
        compiled: bool,
        dtype: npt.DTypeLike | None = None,
        centre: Float64s | None = None,
    ) -> None:
        super().__init__(X, metric, compiled=compiled, centre=centre)
        self._power, self._angular = _POWERS[metric], metric in ANGULAR
        self._rule = UnitRule(metric, self._power, None if self._angular else 2)
        self.triangle = metric == "euclidean"
        # A part of a larger whole does not show which columns vary there.
        if compiled and not self._angular and centre is None:
            self._columns = varying_columns(X)
        self.cost = COSTS["product"].of(len(self._columns))
        if self._angular:
            self._centre, self._scale = np.zeros(X.shape[1]), np.ones(self.n)
        elif centre is None:
            # Centring changes no distance and avoids most of the cancellation: 1e9 + N(0, 1) becomes N(0, 1).
            self._centre = X.mean(axis=0, dtype=np.float64)
        top = self._fit_all()
        if not self._squares.max() < _LARGEST_SQUARE:
            raise ValueError(
                f"row {int(np.argmax(self._squares))} of X is too large: its squared distances overflow; rescale X "
                f"before metric={metric!r}"
            )
        if dtype is None:
            dtype = np.float32 if self._fits_float32(top) else np.float64
        self.dtype = self._copy_dtype = self._length_dtype = np.dtype(dtype)
        self.exact = self.dtype == np.float64

    def _fits_float32(self, top: float) -> bool:
        return self._angular or fits_float32(top, self._X.shape[1])

    def _fit(self, rows: slice) -> float:
        """Also find the shift and scale that bring each row to length 1: scale 0 for a row without direction."""
        if not self._angular:
            return super()._fit(rows)
        X = self._X[rows]
        shift = X.mean(axis=1, dtype=np.float64) if self._metric == "correlation" else np.zeros(len(X))
        W = X - shift[:, None]
        # Divided by the largest entry first, so that squares neither overflow nor underflow.
        top = np.abs(W).max(axis=1)
        # Below the smallest normal number, 1 / norm overflows.
        flat = top <= np.maximum(_CONSTANT_ROW * np.abs(shift), np.finfo(np.float64).tiny)
        W /= np.where(flat, 1.0, top)[:, None]
        norm = np.where(flat, 1.0, top * np.sqrt(np.einsum("ij,ij->i", W, W)))
        self._shift[rows], self._scale[rows] = shift, np.where(flat, 0.0, 1 / norm)
        return 0.0

    def _measure(self, numbers: Rows, rows: Floats) -> Float64s:
        return self._squares[numbers]

    def least_sums(self, weights: Float64s) -> Float64s | None:
        """The sums themselves, but for rounding, in n p operations; for euclidean a bound, in n p^2 operations.

        Let D be the squared distances of a row to all others, with mean M and variance V over these. Both follow from
        means and covariances of the columns, and sqrt(1 + t) >= 1 + t / 2 - t^2 / 2 with t = D / M - 1 gives

            mean of sqrt(D) >= sqrt(M) (1 - V / (2 M^2))

        In many dimensions D spreads little, and the bound is within a few percent.
        """
        n, p = self._X.shape
        if self._metric == "euclidean" and n < 2 * p:
            return None  # all distances cost about as much
        W, total = self._transform(np.arange(n)), float(weights.sum())
        if self._angular:
            flat = self._scale == 0
            return total - W @ (weights @ W) - np.where(flat, weights @ flat, 0)
        W -= weights @ W / total
        squares = np.einsum("ij,ij->i", W, W)
        spread = squares - weights @ squares / total
        mean = 2 * squares - spread
        if self._power == 2:
            return np.asarray(total * mean)
        variance = weights @ spread**2 / total - 4 * W @ ((weights * spread) @ W / total)
        variance += 4 * np.einsum("ij,ij->i", W @ ((W.T * weights) @ W / total), W)
        bound = 1 - np.divide(variance, 2 * mean**2, out=np.zeros(n), where=mean > 0)
        return np.asarray(total * np.sqrt(mean) * bound)

    def block(self, rows: Index, columns: Index) -> Floats:
        i, j = self._numbers(rows), self._numbers(columns)
        out = np.empty((len(i), len(j)), self.dtype)
        if self._compiled and not self.exact and not self._angular and self._work.shape[1] <= NARROW_COLUMNS:
            from medoids.distances.kernels.products import narrow_block

            A, B = np.zeros((len(i), NARROW_COLUMNS), self.dtype), np.zeros((NARROW_COLUMNS, len(j)), self.dtype)
            A[:, : self._work.shape[1]], B[: self._work.shape[1]] = self._work[rows], self._work[columns].T
            lengths, near = (self._lengths[rows], self._lengths[columns]), 2 * NEAR_DIFFERENCE**2
            narrow_block(A, B, *lengths, self._X, i, j, self._shift, self._scale, near, self._power, out)
            return out
        A, B = self._work[rows], self._work[columns]
        if len(A) <= FEW_PRODUCTS:
            for some in row_spans(*B.shape):
                for a in range(len(A)):
                    np.matmul(B[some], A[a], out=out[a, some])
        else:
            np.matmul(A, B.T, out=out)
        return self._finish(out, self._lengths[rows], self._lengths[columns], i, j)

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        if self.exact:
            return self.block(rows, columns)
        i, j = self._numbers(rows), self._numbers(columns)
        out = np.empty((len(i), len(j)))
        chunks = [(chunk, j[chunk]) for chunk in row_spans(len(j), self._X.shape[1])]
        if self._compiled and len(i) <= FEW_ROWS:
            from medoids.distances.kernels.products import direct_block, plain_block

            for chunk, k in chunks:
                if self._angular:
                    direct_block(self._X, i, k, self._shift, self._scale, self._power, out[:, chunk])
                else:
                    plain_block(self._X, i, k, self._power, out[:, chunk])
            return out
        W = self._transform(i)
        for chunk, k in chunks:
            out[:, chunk] = self._finish(W @ self._transform(k).T, self._squares[i], self._squares[k], i, k)
        return out

    def _finish(self, out: Floats, left: Floats, right: Floats, i: Rows, j: Rows) -> Floats:
        """Turn products of rows into distances, given their squared lengths and their numbers in X."""
        near = NEAR_PRODUCT[out.dtype.itemsize]
        if self._compiled:
            from medoids.distances.kernels.products import finish_products

            finish_products(out, left, right, self._X, i, j, self._shift, self._scale, near, self._power)
            return out
        size = left[:, None] + right
        out *= -2
        out += size
        a, b = np.nonzero(out < near * size)
        for chunk in row_spans(len(a), self._X.shape[1]):
            rows, others = i[a[chunk]], j[b[chunk]]
            if self._angular:
                difference = self._transform(rows) - self._transform(others)
            else:
                difference = self._X[rows].astype(np.float64) - self._X[others]
            out[a[chunk], b[chunk]] = np.einsum("ij,ij->i", difference, difference)
        out[i[:, None] == j] = 0
        if self._angular:
            out[np.ix_(self._scale[i] == 0, self._scale[j] == 0)] = 0  # rows without direction are alike
        if self._power == 1:
            return np.sqrt(out, out=out)
        return out * 0.5 if self._power == 0 else out

    def cross_unscaled(self, queries: Floats) -> Float64s:
        # One object over both, so that near pairs are summed directly here too; queries come in chunks.
        out = np.empty((self.n, len(queries)))
        for chunk in row_spans(*queries.shape):
            both = self._remake(np.concatenate([self._X, queries[chunk]]), dtype=np.float64, compiled=self._compiled)
            out[:, chunk] = both.block(slice(0, self.n), slice(self.n, both.n))
        return out
