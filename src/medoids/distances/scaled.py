"""Vectors whose squares or sums leave the range of float64, by distances among the same vectors in another unit.

Squares of 1e-170 underflow and those of 1e170 overflow, although the distances themselves are ordinary numbers. Such
data are multiplied by a power of two, which is exact, and so are the distances among them, by another one:

    d(c x, c y) = c^degree d(x, y)

Everything is then computed in float64, since float32 has too small a range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from medoids.distances.objects import take_rows
from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index, Wrapper, numbers_of
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.mapped import release
from medoids.engine.threads import row_spans

__all__ = ["Scaled", "exponent_of", "in_unit"]

# Binary exponents of the largest value that need no scaling: squares of it, and of 1e-20 of it, are normal numbers.
_USUAL_EXPONENT = 400
# Ratios (degree 0) only need sums of a few values and reciprocals: beyond the first exponent, values are scaled by the
# second. A larger factor would take digits from small rows.
_RATIO_EXPONENT, _RATIO_FACTOR = 900, 200
# Squares of values below two to this power lose precision.
_SQUARE_EXPONENT = -500


def exponent_of(X: Any, degree: int) -> int:
    """Return the exponent e such that X times 2**-e suits a distance of that degree; 0 for nearly all data.

    >>> exponent_of(np.array([[1e-170], [3.0]]), 1), exponent_of(np.array([[0.0], [1e-170]]), 1)
    (0, -564)
    """
    top = int(np.frexp(_largest(X))[1])
    if degree == 0:
        return int(np.sign(top)) * _RATIO_FACTOR if abs(top) > _RATIO_EXPONENT else 0
    return top if abs(top) > _USUAL_EXPONENT else 0


def in_unit(X: Any, e: int) -> Any:
    """Return X times 2**-e: an array, a sparse one, or a list of arrays.

    >>> in_unit(np.array([8.0, 12.0]), 2).tolist()
    [2.0, 3.0]
    """
    if issparse(X):
        rows = csr_array(X, copy=True).astype(np.float64)
        rows.data = in_unit(rows.data, e)
        return rows
    if not isinstance(X, np.ndarray) or X.dtype == object:
        return [in_unit(np.asarray(one), e) for one in X]
    with np.errstate(over="ignore"):
        return np.ldexp(X.astype(np.float64), -e)


def _largest(X: Any) -> float:
    """Return the largest absolute value, or 1 if the type only has moderate ones."""
    if issparse(X):
        return _largest(X.data)
    if not isinstance(X, np.ndarray) or X.dtype == object:
        return max((_largest(np.asarray(one)) for one in X), default=0.0)
    if X.dtype != np.float64:
        return 1.0
    top = 0.0
    for chunk in row_spans(len(X), X[:1].size):
        top = max(top, float(X[chunk].max(initial=0)), -float(X[chunk].min(initial=0)))
        release(X)
    return top


class Scaled(Wrapper):
    """Distances among vectors in their own unit, from a distance among the same vectors times 2**-e.

    Parameters
    ----------
    X : array of shape (n, p), sparse array, or series
    make : callable
        Returns the distance among vectors of moderate size.
    e : int
    degree : int
        Of the metric: 1 for euclidean, 2 for sqeuclidean, 0 for ratios.
    metric : str
        For messages.
    """

    def __init__(self, X: Any, make: Callable[[Any], Dissimilarity], e: int, degree: int, metric: str) -> None:
        self._X, self._make, self._e, self._degree, self._metric = X, make, e, degree, metric
        super().__init__(make(in_unit(X, e)))
        self.dtype, self.exact = np.dtype(np.float64), True

    def block(self, rows: Index, columns: Index) -> Float64s:
        return self._in_own_unit(self._inner.exact_block(rows, columns), self._e)

    def _in_own_unit(self, block: Float64s, e: int) -> Float64s:
        if self._degree > 1 and e < _SQUARE_EXPONENT:
            raise ValueError(
                f"the largest value of X is about {2.0**e:.0e}, whose squares underflow; rescale X before "
                f"metric={self._metric!r}, or use metric='euclidean'"
            )
        with np.errstate(over="ignore"):
            out: Float64s = np.ldexp(block, self._degree * e)
        if np.isinf(out).any():
            raise ValueError(
                f"X holds values of about {2.0 ** min(e, 1023):.0e}, and distances among them overflow under "
                f"metric={self._metric!r}; rescale X"
            )
        return out

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Dissimilarity:
        # The unit suits the few objects here; that of the whole is checked before.
        return self._inner.hosting(objects, numbers, facts)

    def take(self, rows: Index) -> Scaled:
        some = take_rows(self._X, numbers_of(rows, self.n))
        return Scaled(some, self._make, self._e, self._degree, self._metric)

    def cross(self, queries: Any) -> Float64s:
        e = self._e
        if self._degree == 0:
            e = max(e, exponent_of(queries, 0))
        else:
            top = int(np.frexp(_largest(queries))[1])
            e = top if top > e + _USUAL_EXPONENT else e  # queries may be much larger
        inner = self._inner if e == self._e else self._make(in_unit(self._X, e))
        return self._in_own_unit(inner.cross(in_unit(queries, e)), e)
