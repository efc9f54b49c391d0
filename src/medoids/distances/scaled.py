"""Vectors whose squares or sums leave the range of float64, by distances among the same vectors in another unit.

Squares of 1e-170 underflow and those of 1e170 overflow, although the distances themselves are ordinary numbers. Such
data are multiplied by a power of two, which is exact, and so are the distances among them, by another one:

    d(c x, c y) = c^degree d(x, y)

Pairs that are too close even for this are computed again from the original rows, in units of their largest difference.
Everything is computed in float64, since float32 has too small a range.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from medoids.distances.objects import take_rows
from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index, Wrapper, numbers_of
from medoids.distances.scaling import ANGULAR, SQUARED_EXPONENT, UnitRule, extremes, in_unit
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import row_spans

__all__ = ["Scalable", "Scaled", "minkowski_pairs"]

# A distance below two to this power, in its unit, may have lost digits, by whether squares are summed: those of squares
# that underflow, or of rows that became subnormal.
_DOUBTFUL_EXPONENTS = {True: -SQUARED_EXPONENT, False: -900}
# Squares of values below two to this power lose precision.
_SQUARE_EXPONENT = -500


class Scalable(Dissimilarity):
    """A distance of vectors that can be computed in another unit, for new data of a very different size."""

    @abstractmethod
    def scaling(self) -> tuple[Any, Callable[[Any], Scalable], UnitRule] | None:
        """Return the vectors, how to make this distance among others, and how it scales; None if no unit matters."""

    @abstractmethod
    def cross_unscaled(self, queries: Any) -> Float64s:
        """Return what `cross` does, for queries that need no other unit."""

    def cross(self, queries: Any) -> Float64s:
        if found := self.scaling():
            X, make, scaling = found
            if (e := scaling.unit(X, queries)) is not None:
                return Scaled(X, make, e, scaling).cross(queries)
        return self.cross_unscaled(queries)


class Scaled(Wrapper):
    """Distances among vectors in their own unit, from a distance among the same vectors times 2**-e.

    Parameters
    ----------
    X : array of shape (n, p), sparse array, or series
    make : callable
        Returns the distance among vectors of moderate size.
    e : int
    scaling : UnitRule
    """

    _inner: Scalable

    def __init__(self, X: Any, make: Callable[[Any], Scalable], e: int, scaling: UnitRule) -> None:
        self._X, self._make, self._e, self._scaling = X, make, e, scaling
        super().__init__(make(self._in_unit(X)))
        self.dtype, self.exact = np.dtype(np.float64), True
        self.wide_range = scaling.degree > 0
        self.least_accurate = 2.0 ** (2 * _SQUARE_EXPONENT) if scaling.degree > 1 else 0.0

    def _in_unit(self, X: Any) -> Any:
        if self._scaling.metric not in ANGULAR:
            return in_unit(X, self._e)
        return np.ldexp(X.astype(np.float64), -np.frexp(np.abs(X).max(axis=1, keepdims=True))[1])

    def block(self, rows: Index, columns: Index) -> Float64s:
        i, j = numbers_of(rows, self.n), numbers_of(columns, self.n)
        return self._in_own_unit(self._inner.exact_block(rows, columns), i, self._X, j)

    def _in_own_unit(self, block: Float64s, i: Rows, Y: Any, j: Rows) -> Float64s:
        """Return distances between rows i of X and j of Y in the unit of X, given those in the other unit."""
        e, degree = self._e, self._scaling.degree
        if degree > 1 and e + SQUARED_EXPONENT < _SQUARE_EXPONENT:
            raise ValueError(
                f"the largest value of X is about {self._top():.0e}, whose squares underflow; rescale X before "
                f"metric={self._scaling.metric!r}, or use metric='euclidean'"
            )
        with np.errstate(over="ignore"):
            out: Float64s = np.ldexp(block, degree * e)
        if np.isinf(out).any():
            raise ValueError(
                f"X holds values of about {self._top():.0e}, and distances among them overflow under "
                f"metric={self._scaling.metric!r}; rescale X"
            )
        if degree == 0:
            return out
        doubtful = (block < 2.0 ** (degree * _DOUBTFUL_EXPONENTS[self._scaling.squared])) | (out < self.least_accurate)
        if Y is self._X:
            doubtful &= i[:, None] != j
        a, b = np.nonzero(doubtful)
        for chunk in row_spans(len(a), 1 if self._scaling.p is None else self._X.shape[1]):
            out[a[chunk], b[chunk]] = self._pairs(i[a[chunk]], Y, j[b[chunk]])
        return out

    def _pairs(self, i: Rows, Y: Any, j: Rows) -> Float64s:
        """Return distances of pairs that are very close, from the original rows."""
        scaling = self._scaling
        if scaling.p is None:
            return self._warped_pairs(i, Y, j)
        out = minkowski_pairs(take_rows(self._X, i), take_rows(Y, j), scaling.p)
        # A square that underflows must not become 0, which only equal rows have.
        return out if scaling.degree == 1 else np.maximum(out**2, np.where(out > 0, 5e-324, 0))

    def _warped_pairs(self, i: Rows, Y: Any, j: Rows) -> Float64s:
        """Return distances of pairs of series that are very close, in a unit of their own."""
        pairs = zip(i.tolist(), j.tolist(), strict=True)
        differ = np.array([not np.array_equal(np.ravel(self._X[x]), np.ravel(Y[y])) for x, y in pairs])
        out = np.zeros(len(i))
        if not differ.any():
            return out
        (x, a), (y, b) = (np.unique(numbers[differ], return_inverse=True) for numbers in (i, j))
        mine, others = take_rows(self._X, x), take_rows(Y, y)
        e = self._scaling.unit(mine, others)
        if e is not None and e >= self._e:
            raise ValueError(
                f"series {x[a[0]]} and {y[b[0]]} differ by less than a part in 1e280 of the largest value, which "
                f"is about {self._top():.0e}; rescale X, or leave out the series of such values"
            )
        out[differ] = Scaled(mine, self._make, 0 if e is None else e, self._scaling).cross(others)[a, b]
        return out

    def _top(self) -> float:
        return extremes(self._X)[1]

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Dissimilarity:
        # The unit suits the few objects here; that of the whole is checked before.
        return self._inner.hosting(objects, numbers, facts)

    def take(self, rows: Index) -> Scaled:
        return Scaled(take_rows(self._X, numbers_of(rows, self.n)), self._make, self._e, self._scaling)

    def cross(self, queries: Any) -> Float64s:
        e = self._scaling.unit(self._X, queries) or 0
        both = self if e == self._e else Scaled(self._X, self._make, e, self._scaling)
        inner = both._inner.cross_unscaled(both._in_unit(queries))
        return both._in_own_unit(inner, np.arange(self.n), queries, np.arange(inner.shape[1]))


def minkowski_pairs(x: Any, y: Any, p: float) -> Float64s:
    """Return distances of pairs of rows, in units of their largest difference: no power underflows or overflows."""
    difference = np.abs(x.astype(np.float64) - y.astype(np.float64))
    difference = difference.toarray() if issparse(difference) else difference
    top: Float64s = difference.max(axis=1, initial=0)
    shares: Float64s = difference / np.where(top > 0, top, 1)[:, None]
    return top * (shares**p).sum(axis=1) ** (1 / p) if np.isfinite(p) else top
