"""In which unit distances among vectors are computed, so that squares, powers and sums stay in the range of float64.

Nearly all data stay in their own unit. What decides is the largest value and, where some values are tiny, whether rows
differ by tiny values only: 1e-40 beside 0.9 changes no distance between rows that differ elsewhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.mapped import release
from medoids.engine.threads import row_spans

__all__ = ["ANGULAR", "SQUARED_EXPONENT", "UnitRule", "extremes", "in_unit"]

# Ratios in which each row may have a unit of its own.
ANGULAR = ("cosine", "correlation")
# Where squares are summed, the exponent of the largest value in the unit: its squares are finite, and those of 1e-288
# of it have all digits.
SQUARED_EXPONENT = 480
# Binary exponents, positive and negative, up to which values need no other unit in float64.
_USUAL_EXPONENT = 400
# Differences below two to this power may underflow in float32, by degree: distances themselves, and their squares.
_FLOAT32_EXPONENTS = {1: -100, 2: -60}
# Ratios (degree 0) only need sums of a few values and reciprocals: beyond the first exponent, values are scaled by the
# second. A larger factor would take digits from small rows.
_RATIO_EXPONENT, _RATIO_FACTOR = 900, 200


class UnitRule(NamedTuple):
    """What decides the unit under a metric.

    Attributes
    ----------
    metric : str
        For messages.
    degree : int
        d(c x, c y) = c^degree d(x, y): 1 for euclidean, 2 for sqeuclidean, 0 for ratios.
    p : float or None
        The distance is (sum |x - y|^p)^(1/p), or the square of this; None if it is something else.
    """

    metric: str
    degree: int
    p: float | None = None

    @property
    def squared(self) -> bool:
        """Whether squares are summed: by euclidean, sqeuclidean and dtw."""
        return self.degree > 0 and self.p in (2, None)

    def unit(self, *parts: Any, float32: bool = False) -> int | None:
        """Return e if the vectors are to be multiplied by 2**-e; None for nearly all data.

        ``float32`` says whether distances may be computed in float32.

        >>> scaling = UnitRule("manhattan", 1, 1)
        >>> scaling.unit(np.array([[0.0], [3.0]])), scaling.unit(np.array([[0.0], [1e-170]]))
        (None, -564)
        """
        low, high = _joint_extremes(parts)
        top = _exponent(high)
        if self.metric in ANGULAR:
            if _exponent(low) < -_RATIO_EXPONENT:
                low, _ = _joint_extremes([_row_maxima(X) for X in parts])
            return 0 if max(top, -_exponent(low)) > _RATIO_EXPONENT else None
        if self.degree == 0:
            return int(np.sign(top)) * _RATIO_FACTOR if abs(top) > _RATIO_EXPONENT else None
        if high == 0:
            return None
        if abs(top) <= _USUAL_EXPONENT:
            tiny = _FLOAT32_EXPONENTS[self.degree] if float32 else -_USUAL_EXPONENT
            if _exponent(low) > tiny or not _differ_by_less(parts, tiny):
                return None
        return top - SQUARED_EXPONENT if self.squared else top


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


def extremes(X: Any) -> tuple[float, float]:
    """Return the smallest absolute value except 0 and the largest; (1, 1) for types that only have moderate ones.

    >>> extremes(np.array([[0.0, -3.0], [0.5, 2.0]])), extremes(np.zeros(2))
    ((0.5, 3.0), (inf, 0.0))
    """
    if issparse(X):
        return extremes(X.data)
    if not isinstance(X, np.ndarray) or X.dtype == object:
        return _joint_extremes([np.asarray(one) for one in X])
    if X.dtype not in (np.float64, np.float32):
        return 1.0, 1.0
    # Without their signs, floats are in the order of their bits as integers; minus 1, zero becomes the largest of all.
    integer = np.dtype(f"u{X.dtype.itemsize}").type
    low, high = ~integer(0), integer(0)
    for chunk in row_spans(len(X), X[:1].size):
        bits = X[chunk].view(integer) << integer(1)
        high = max(high, bits.max(initial=0))
        bits -= integer(1)
        low = min(low, bits.min(initial=~integer(0)))
        release(X)
    if high == 0:
        return np.inf, 0.0
    ends = np.array([low + integer(1), high]) >> integer(1)
    smallest, largest = ends.view(X.dtype).astype(np.float64).tolist()
    return smallest, largest


def _joint_extremes(parts: Any) -> tuple[float, float]:
    each = [extremes(X) for X in parts]
    return min((low for low, _ in each), default=np.inf), max((high for _, high in each), default=0.0)


def _exponent(value: float) -> int:
    """Return the binary exponent; 0 for 0 and for infinity, which stands for no value at all."""
    return int(np.frexp(value)[1]) if np.isfinite(value) else 0


def _row_maxima(X: Floats) -> Float64s:
    return np.concatenate([np.zeros(0), *[np.abs(X[chunk]).max(axis=1, initial=0) for chunk in row_spans(*X.shape)]])


def _differ_by_less(parts: Any, e: int) -> bool:
    """Whether some rows differ, though by less than 2**e in every value; always True if these are not plain arrays.

    Rows that become the same when values are rounded to multiples of 2**e are counted, by a hash of each row.
    """
    if not all(isinstance(X, np.ndarray) and X.ndim == 2 for X in parts):
        return True
    rows, rounded = [], []
    for X in parts:
        for chunk in row_spans(*X.shape):
            values = X[chunk].astype(np.float64) + 0.0  # -0.0 becomes 0.0
            rows.append(_row_hashes(values))
            rounded.append(_row_hashes(np.rint(np.ldexp(values, -e)) + 0.0))
            release(X)
    return len(np.unique(np.concatenate(rounded))) < len(np.unique(np.concatenate(rows)))


def _row_hashes(X: Float64s) -> Rows:
    return np.fromiter((hash(row.tobytes()) for row in X), np.intp, len(X))
