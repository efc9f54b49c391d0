"""Distances that are a loop over coordinates: manhattan, chebyshev, minkowski, canberra, braycurtis, hamming."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances.protocol import Dissimilarity, Floats, Index

__all__ = ["CENTRED", "Elementwise"]

# Differences only: these lose nothing by centring, and in float32 win the digits that a large offset would take.
CENTRED = frozenset({"manhattan", "chebyshev", "minkowski"})
# Rounding to float32 moves a row by 6e-8 of its norm: above this share of the norms a distance keeps 1e-4 of accuracy.
_NEAR = 1e-3
_SCIPY = {"manhattan": "cityblock"}


@cache
def _kernel(metric: str) -> Callable[..., Any]:
    from medoids.distances.kernels import block_kernel

    return block_kernel(metric)


class Elementwise(Dissimilarity):
    """Vectors under a metric of ``kernels.ELEMENTWISE``.

    Parameters
    ----------
    X : array of shape (n, p)
        Kept as it is, for exact distances.
    metric : str
    p : float
        The parameter of minkowski; the others ignore it.
    dtype : float32 or float64
        Of the working copy and of `block`.
    compiled : bool
        Whether our kernels are used; small problems take scipy's and do without Numba's import.
    """

    symmetric = True
    threaded = True

    def __init__(self, X: Floats, metric: str, *, p: float, dtype: npt.DTypeLike, compiled: bool) -> None:
        self.n = X.shape[0]
        self.dtype = np.dtype(dtype)
        self.exact = self.dtype == np.float64
        self.cost = 5.0 + X.shape[1] * (20.0 if metric == "minkowski" else 0.5)
        self._X, self._metric, self._p, self._compiled = X, metric, p, compiled
        self._work, self._norms = X, np.zeros(self.n)
        if not self.exact:
            self._work = np.empty(X.shape, dtype=self.dtype)
            centre = X.mean(axis=0, dtype=np.float64) if metric in CENTRED else np.zeros(X.shape[1])
            for start in range(0, self.n, 1024):
                self._work[start : start + 1024] = X[start : start + 1024] - centre
            self._norms = self._fill(self._work, slice(None), np.zeros((1, X.shape[1])), slice(None))[:, 0]

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._fill(self._work, rows, self._work, columns, None if self.exact else self._X)

    def exact_block(self, rows: Index, columns: Index) -> npt.NDArray[np.float64]:
        return self._fill(self._X, rows, self._X, columns)

    def _fill(self, X: Floats, rows: Index, Y: Floats, columns: Index, original: Floats | None = None) -> Floats:
        """Distances between rows of X and of Y, in float64 unless they are working copies of ``original``."""
        if not self._compiled:
            return self._scipy(X[rows], Y[columns])
        i = np.arange(len(X))[rows] if isinstance(rows, slice) else rows
        j = np.arange(len(Y))[columns] if isinstance(columns, slice) else columns
        X0, Y0, near, dtype = (X, Y, 0.0, np.float64) if original is None else (original, original, _NEAR, np.float32)
        out = np.empty((len(i), len(j)), dtype=dtype)
        _kernel(self._metric)(X, i, Y, j, dtype(self._p), X0, Y0, self._norms, self._norms, near, out)
        return out

    def _scipy(self, X: Floats, Y: Floats) -> npt.NDArray[np.float64]:
        from scipy.spatial.distance import cdist

        options = {"p": self._p} if self._metric == "minkowski" else {}
        X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
        out: npt.NDArray[np.float64] = cdist(X, Y, _SCIPY.get(self._metric, self._metric), **options)
        if self._metric == "braycurtis":
            out[np.isnan(out)] = 0  # two rows of zeros are alike, as in our kernel
        return out

    def take(self, rows: Index) -> Elementwise:
        return Elementwise(self._X[rows], self._metric, p=self._p, dtype=self.dtype, compiled=self._compiled)

    def cross(self, queries: Floats) -> npt.NDArray[np.float64]:
        return self._fill(self._X, slice(None), queries, slice(None))
