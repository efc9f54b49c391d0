"""Distances that are a loop over coordinates: manhattan, chebyshev, minkowski, canberra and others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.distances.protocol import Floats, Index, numbers_of
from medoids.distances.scaled import minkowski_pairs
from medoids.distances.scaling import UnitRule
from medoids.distances.working_copy import VectorDistance, fits_float32
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS, FEW_ROWS, NEAR_DIFFERENCE
from medoids.engine.threads import Threads, row_spans

__all__ = ["Elementwise"]

# Differences only: these lose nothing by centring, and in float32 gain the digits that a large offset would take. The
# others are ratios or tests of equality, which rounding to float32 would change.
_CENTRED = frozenset({"manhattan", "chebyshev", "minkowski"})
# Without a unit: tests of equality, and shares.
_WITHOUT_UNIT = frozenset({"hamming", "jaccard", "jensenshannon"})


class Elementwise(VectorDistance):
    """Vectors under a metric of ``kernels.elementwise.ELEMENTWISE``.

    Parameters
    ----------
    X : array of shape (n, p)
        Kept as it is, for exact distances.
    metric : str
    p : float
        The parameter of minkowski, or the factor of jensenshannon's sum; the others ignore it.
    dtype : float32 or float64, optional
        Of the working copy and of `block`; by default float32 if the metric allows it and powers fit.
    compiled : bool
        Whether our kernels are used; small problems use scipy's and do not import Numba.
    centre : ndarray of shape (p,), optional
        If X is part of a larger whole, the mean of that.
    """

    def __init__(
        self,
        X: Floats,
        metric: str,
        *,
        p: float,
        compiled: bool,
        dtype: npt.DTypeLike | None = None,
        centre: Float64s | None = None,
    ) -> None:
        super().__init__(X, metric, compiled=compiled, centre=centre)
        self._p, self._options = p, {"p": p}
        if metric not in _WITHOUT_UNIT:
            power = {"manhattan": 1.0, "chebyshev": np.inf, "minkowski": p}.get(metric)
            self._rule = UnitRule(metric, int(metric in _CENTRED), power)
        self.triangle = metric in ("manhattan", "chebyshev") or (metric == "minkowski" and p >= 1)
        if centre is None and metric in _CENTRED and dtype != np.float64:
            self._centre = X.mean(axis=0, dtype=np.float64)
        if dtype is None:
            dtype = np.float32 if metric in _CENTRED and self._fits_float32(self._fit_all()) else np.float64
        self.dtype = self._copy_dtype = np.dtype(dtype)
        self.exact = self.dtype == np.float64
        if self.exact:
            self._centre, self._copy_dtype = None, X.dtype
        kind = "power" if metric in ("minkowski", "jensenshannon") else f"difference, {self.dtype}"
        self.cost = COSTS[kind].of(X.shape[1])

    def _fits_float32(self, top: float) -> bool:
        p = self._p if self._metric == "minkowski" else 1.0
        return self._metric in _CENTRED and fits_float32(top, self._X.shape[1], p)

    def prepare(self, threads: Threads | None = None) -> None:
        if self._copy is None and self.exact and self._order is None:
            self._copy, self._lengths = self._X, np.zeros(self.n)
        super().prepare(threads)

    def _measure(self, numbers: Rows, rows: Floats) -> Float64s:
        if self.exact:
            return np.zeros(len(rows))
        return self._fill(rows, slice(None), np.zeros((1, rows.shape[1]), dtype=self.dtype), slice(None))[:, 0]

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._fill(self._work, rows, self._work, columns, single=not self.exact)

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        return self._fill(self._X, rows, self._X, columns)

    def _fill(self, X: Floats, rows: Index, Y: Floats, columns: Index, *, single: bool = False) -> Floats:
        """Return distances between rows of X and of Y in float64; in float32 if both are the working copy."""
        i, j = numbers_of(rows, len(X)), numbers_of(columns, len(Y))
        if not self._compiled:
            return self._check(self._mend_powers(self._scipy(X[rows], Y[columns]), X, i, Y, j), i, j)
        from medoids.distances.kernels.elementwise import block_kernel, tile_kernel

        # The rows from which near pairs, and powers that underflow, are computed again.
        source, others, a, b, near = X, Y, i, j, 0.0
        numbers, norms = np.zeros(0, dtype=np.intp), np.zeros(0)
        if single:
            numbers, norms, near = self._numbers(slice(None)), self._lengths, NEAR_DIFFERENCE
            source, others, a, b = self._X, self._X, numbers[i], numbers[j]
        out = np.empty((len(i), len(j)), dtype=np.float32 if single else np.float64)
        fill = tile_kernel if single and min(out.shape) >= FEW_ROWS else block_kernel
        fill(self._metric)(X, i, Y, j, out.dtype.type(self._p), source, norms, numbers, near, out)
        return self._check(self._mend_powers(out, source, a, others, b), i, j)

    def _scipy(self, X: Floats, Y: Floats) -> Float64s:
        from scipy.spatial.distance import cdist

        options = {"p": self._p} if self._metric == "minkowski" else {}
        X, Y = (x != 0 if self._metric == "jaccard" else x.astype(np.float64, copy=False) for x in (X, Y))
        with np.errstate(over="ignore"):
            out: Float64s = cdist(X, Y, "cityblock" if self._metric == "manhattan" else self._metric, **options)
        if self._metric == "jensenshannon":
            out *= np.sqrt(2 * self._p)  # the kernel's factor; scipy has half of the sum
        if self._metric == "braycurtis":
            out[np.isnan(out)] = 0  # two rows of zeros are alike, as in our kernel
        return out

    def _mend_powers(self, out: Floats, X: Floats, i: Rows, Y: Floats, j: Rows) -> Floats:
        """Compute minkowski distances whose powers underflow or overflow again, in units of the largest difference.

        X and Y are original rows. In float32, where near pairs are computed from these, other powers always fit.
        """
        if self._metric != "minkowski":
            return out
        least = np.finfo(np.float64).tiny ** (1 / self._p) * (1 + 1e-9)
        a, b = np.nonzero(~((out >= least) & (out < np.inf)))
        for chunk in row_spans(len(a), X.shape[1]):
            out[a[chunk], b[chunk]] = minkowski_pairs(X[i[a[chunk]]], Y[j[b[chunk]]], self._p)
        return out

    def _check(self, out: Floats, i: Rows, j: Rows) -> Floats:
        """Refuse an infinite distance: a sum over columns that overflows, or rows x and -x under braycurtis."""
        with np.errstate(over="ignore"):
            total = out.sum()
        if np.isfinite(total) or np.isfinite(out).all():
            return out
        a, b = np.argwhere(~np.isfinite(out))[0]
        row, column = (int(k if self._order is None else self._order[k]) for k in (i[a], j[b]))
        raise ValueError(
            f"the distance from row {row} to row {column} of X is {out[a, b]} under metric={self._metric!r}; "
            "rescale X, or use a metric that is finite on it"
        )

    def cross_unscaled(self, queries: Floats) -> Float64s:
        return self._fill(self._X, slice(None), queries, slice(None))
