"""Distances that are a loop over coordinates: manhattan, chebyshev, minkowski, canberra and others."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances.constant import runs_of
from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index, fits_float32, numbers_of
from medoids.engine.mapped import release, scratch
from medoids.engine.threads import Threads, spans

__all__ = ["CENTRED", "Elementwise"]

# Differences only: these lose nothing by centring, and in float32 win the digits that a large offset would take.
CENTRED = frozenset({"manhattan", "chebyshev", "minkowski"})
# Rounding to float32 moves a row by 6e-8 of its norm: above this share of the norms a distance keeps 1e-4 of accuracy.
_NEAR = 1e-3
_NONE, _NOBODY = np.zeros(0), np.zeros(0, dtype=np.intp)
# Bytes of a working copy that are written together, after one sweep over an X on disk.
_STRETCH = 1 << 28
# And of one that threads write.
_LOT = 1 << 22
# Rows and columns from which on a block is made by the kernel for many.
_TILE = 16
# Pairs of rows whose powers are mended together.
_PAIRS = 1 << 12
_SCIPY = {"manhattan": "cityblock"}


@cache
def _kernel(metric: str, *, tile: bool) -> Callable[..., Any]:
    from medoids.distances.kernels.elementwise import block_kernel, tile_kernel

    return tile_kernel(metric) if tile else block_kernel(metric)


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
        p: float,
        dtype: npt.DTypeLike,
        compiled: bool,
        centre: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.n = X.shape[0]
        self.dtype = np.dtype(dtype)
        self.exact = self.dtype == np.float64
        self.triangle = metric in ("manhattan", "chebyshev") or (metric == "minkowski" and p >= 1)
        column = 20.0 if metric == "minkowski" else 0.5 if self.exact else 0.065
        self.cost = 2.0 + X.shape[1] * column
        self._X, self._metric, self._p, self._compiled, self._centre = X, metric, p, compiled, centre
        self._order: npt.NDArray[np.intp] | None = None
        self._copy: tuple[Floats, npt.NDArray[np.float64]] | None = None

    def _work(self, threads: Threads | None = None) -> tuple[Floats, npt.NDArray[np.float64]]:
        """The working copy and the norms of its rows, made when first needed; the original where that is exact."""
        if self._copy is None and self.exact and self._order is None:
            self._copy = self._X, np.zeros(self.n)
        elif self._copy is None and self.exact and not self.spill:
            self._copy = self._X[self._order], np.zeros(self.n)
        elif self._copy is None and self.exact:
            self._copy = self._reorder(self._X.dtype, None), np.zeros(self.n)
        if self._copy is None:
            centre = self._X.mean(axis=0, dtype=np.float64) if self._centre is None else self._centre
            if threads is None or self.spill or not self._compiled:
                work = self._reorder(self.dtype, centre, threads)
                self._copy = work, self._norms(work)
            else:
                self._copy = self._prepare(centre, threads)
            self.release()
        return self._copy

    def _reorder(
        self, dtype: npt.DTypeLike, centre: npt.NDArray[np.float64] | None, threads: Threads | None = None
    ) -> Floats:
        """Return the rows in order, less the centre; in a temporary file where they are to be spilled."""
        shape = (self.n, self._X.shape[1])
        work: Floats = scratch(shape, dtype) if self.spill else np.empty(shape, dtype)
        numbers = np.arange(self.n) if self._order is None else self._order
        # On disk a stretch is filled in the order of X, which is then read from front to back.
        for stretch in spans(self.n, max(1, _STRETCH // work[:1].nbytes)):
            if threads is not None:
                threads.interrupts.check()
            rows = numbers[stretch]
            by_row = np.argsort(rows, kind="stable") if self.spill else np.arange(len(rows))
            for lot in spans(len(rows), 1024):
                at = by_row[lot]
                part = self._X[rows[at]]
                work[stretch.start + at] = part if centre is None else part - centre
            release(self._X)
            if self.spill:
                release(work)
        return np.asarray(work)

    def _prepare(self, centre: npt.NDArray[np.float64], threads: Threads) -> tuple[Floats, npt.NDArray[np.float64]]:
        """Return the working copy and the norms of its rows, made in threads."""
        from medoids.distances.kernels.elementwise import prepare_rows

        work, norms = np.empty((self.n, self._X.shape[1]), self.dtype), np.empty(self.n)
        numbers = np.arange(self.n) if self._order is None else self._order
        shift, scale = np.zeros(len(self._X)), np.broadcast_to(1.0, len(self._X))
        columns = runs_of(np.arange(self._X.shape[1]))

        def fill(lot: slice) -> None:
            prepare_rows(self._X, numbers[lot], columns, centre, shift, scale, work[lot])
            norms[lot] = self._norms(work[lot])

        threads.map(fill, spans(self.n, max(1, _LOT // work[:1].nbytes)))
        return work, norms

    def copy_bytes(self) -> int:
        dtype = self._X.dtype if self.exact else self.dtype
        return int(self.n * self._X.shape[1] * dtype.itemsize)

    def release(self) -> None:
        release(self._X)
        if self.spill and self._copy is not None:
            release(self._copy[0])

    def _norms(self, work: Floats) -> npt.NDArray[np.float64]:
        origin = np.zeros((1, work.shape[1]), dtype=self.dtype)
        norms: npt.NDArray[np.float64] = self._fill(work, slice(None), origin, slice(None))[:, 0]
        return norms

    def hosting(self, objects: Floats, numbers: npt.NDArray[np.intp], facts: Facts) -> Elementwise:
        p = self._p if self._metric == "minkowski" else 1.0
        single = not facts.small and self._metric in CENTRED and fits_float32(facts.top, objects.shape[1], p)
        dtype = np.float32 if single else np.float64
        compiled = not facts.small
        return Elementwise(objects, self._metric, p=self._p, dtype=dtype, compiled=compiled, centre=facts.centre)

    def put(self, rows: slice, objects: Floats, numbers: npt.NDArray[np.intp]) -> None:
        self._X[rows] = objects
        if not self.exact:  # else the working copy is X itself
            work, norms = self._work()
            assert self._centre is not None
            work[rows] = self._X[rows] - self._centre
            norms[rows] = self._norms(work[rows])

    def prepare(self, threads: Threads | None = None) -> None:
        self._work(threads)

    def reordered(self, order: npt.NDArray[np.intp]) -> Elementwise:
        other = copy(self)
        other.n, other._order, other._copy = len(order), order, None
        return other

    def most(self) -> float:
        return 2 * float(self._work()[1].max())

    def block(self, rows: Index, columns: Index) -> Floats:
        work, norms = self._work()
        if self.exact:
            return self._fill(work, rows, work, columns)
        numbers = np.arange(self.n) if self._order is None else self._order
        return self._fill(work, rows, work, columns, (self._X, norms, numbers))

    def exact_block(self, rows: Index, columns: Index) -> npt.NDArray[np.float64]:
        return self._fill(self._X, rows, self._X, columns)

    def _fill(
        self, X: Floats, rows: Index, Y: Floats, columns: Index, original: tuple[Floats, Floats, Any] | None = None
    ) -> Floats:
        """Distances between rows of X and of Y, in float64; or in float32 if they are working copies.

        ``original`` is then the array that they are copies of, their norms, and their row numbers in it.
        """
        i, j = numbers_of(rows, len(X)), numbers_of(columns, len(Y))
        if not self._compiled:
            out = self._scipy(X[rows], Y[columns])
            return self._finite(self._mend_powers(out, X, i, Y, j), i, j)
        X0, norms, numbers = original or (X, _NONE, _NOBODY)
        dtype, near = (np.float64, 0.0) if original is None else (np.float32, _NEAR)
        out = np.empty((len(i), len(j)), dtype=dtype)
        tile = original is not None and min(len(i), len(j)) >= _TILE
        _kernel(self._metric, tile=tile)(X, i, Y, j, dtype(self._p), X0, norms, numbers, near, out)
        if original is None:
            return self._finite(self._mend_powers(out, X, i, Y, j), i, j)
        return self._finite(self._mend_powers(out, X0, numbers[i], X0, numbers[j]), i, j)

    def _scipy(self, X: Floats, Y: Floats) -> npt.NDArray[np.float64]:
        from scipy.spatial.distance import cdist

        options = {"p": self._p} if self._metric == "minkowski" else {}
        X, Y = (x != 0 if self._metric == "jaccard" else x.astype(np.float64, copy=False) for x in (X, Y))
        with np.errstate(over="ignore"):
            out: npt.NDArray[np.float64] = cdist(X, Y, _SCIPY.get(self._metric, self._metric), **options)
        if self._metric == "braycurtis":
            out[np.isnan(out)] = 0  # two rows of zeros are alike, as in our kernel
        return out

    def _mend_powers(
        self, out: Floats, X: Floats, i: npt.NDArray[np.intp], Y: Floats, j: npt.NDArray[np.intp]
    ) -> Floats:
        """Compute minkowski distances whose powers vanish or overflow once more, in units of the largest difference.

        Rows are the original ones. In single precision, where near pairs come from these, other powers always fit.
        """
        if self._metric != "minkowski":
            return out
        least = np.finfo(np.float64).tiny ** (1 / self._p) * (1 + 1e-9)
        a, b = np.nonzero(~((out >= least) & (out < np.inf)))
        for lot in spans(len(a), _PAIRS):
            apart = np.abs(X[i[a[lot]]].astype(np.float64) - Y[j[b[lot]]])
            top = apart.max(axis=1, initial=0)
            unit = np.where(top > 0, top, 1)
            out[a[lot], b[lot]] = top * ((apart / unit[:, None]) ** self._p).sum(axis=1) ** (1 / self._p)
        return out

    def _finite(self, out: Floats, i: npt.NDArray[np.intp], j: npt.NDArray[np.intp]) -> Floats:
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

    def take(self, rows: Index) -> Elementwise:
        return Elementwise(self._X[rows], self._metric, p=self._p, dtype=self.dtype, compiled=self._compiled)

    def cross(self, queries: Floats) -> npt.NDArray[np.float64]:
        return self._fill(self._X, slice(None), queries, slice(None))
