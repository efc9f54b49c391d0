"""Distances of vectors that are others after a transformation of the rows, which is fitted to X once.

seuclidean      euclidean of x_f / sqrt(V_f), with V the variances of the columns
mahalanobis     sqrt((x - y) VI (x - y)): euclidean of L' x, with VI = L L' the inverse of the covariances
jensenshannon   of rows that are divided by their sums
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from medoids.distances.protocol import Dissimilarity, Index, Wrapper
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.threads import Threads

__all__ = ["ColumnMap", "Scaling", "Transformed", "covariance_map", "shares_of_rows", "variance_map"]


class ColumnMap:
    """(x - centre) times a matrix, or times a number for each column; ``fitted`` are the parameters fitted to X."""

    def __init__(self, centre: Float64s, factors: Float64s, fitted: dict[str, Any]) -> None:
        self._centre, self._factors, self.fitted = centre, factors, fitted

    def __call__(self, X: Floats) -> Float64s:
        centred: Float64s = X - self._centre
        return centred @ self._factors if self._factors.ndim == 2 else centred * self._factors


@dataclass(frozen=True)
class Scaling:
    """Columns are shifted by ``centre`` and divided by ``spread``."""

    centre: Float64s
    spread: Float64s

    @classmethod
    def fit(cls, X: Float64s, how: str) -> Scaling:
        """Use mean and standard deviation, or median and interquartile range; a constant column is only shifted."""
        if how == "standard":
            centre, spread = X.mean(axis=0), X.std(axis=0)
        else:
            low, centre, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
            spread = high - low
        return cls(centre, np.where(spread > 0, spread, 1.0))

    def __call__(self, X: Floats) -> Float64s:
        scaled: Float64s = X - self.centre
        return np.divide(scaled, self.spread, out=scaled)


class Transformed(Wrapper):
    """A distance among transformed rows, which transforms new data in the same way.

    Parameters
    ----------
    inner : Dissimilarity
        Among the transformed rows.
    transform : callable
    fitted : dict, optional
        Parameters that were fitted to X, for `Dissimilarity.fitted`.
    """

    def __init__(
        self,
        inner: Dissimilarity,
        transform: Callable[[Floats], Float64s],
        fitted: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(inner)
        self._transform, self._fitted = transform, fitted or {}

    def fitted(self) -> dict[str, Any]:
        return {**self._inner.fitted(), **self._fitted}

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._inner.block(rows, columns)

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        return self._inner.exact_block(rows, columns)

    def take(self, rows: Index) -> Transformed:
        return Transformed(self._inner.take(rows), self._transform, self._fitted)

    def reordered(self, order: Rows) -> Dissimilarity:
        return self._inner.reordered(order)

    def cross(self, queries: Any) -> Float64s:
        return self._inner.cross(self._transform(queries))

    def copy_bytes(self) -> int:
        return self._inner.copy_bytes()

    def least_sums(self, weights: Float64s) -> Float64s | None:
        return self._inner.least_sums(weights)

    def prepare(self, threads: Threads | None = None) -> None:
        self._inner.prepare(threads)


def variance_map(X: Floats, V: Any) -> ColumnMap:
    """Divide each column by the root of its variance; one that is constant stays as it is."""
    if V is None:
        if len(X) < 2:
            raise ValueError(
                "metric='seuclidean' needs at least 2 rows to fit variances; pass metric_params={'V': ...}"
            )
        variances = X.var(axis=0, ddof=1, dtype=np.float64)
        variances[variances == 0] = 1
    else:
        variances = _given("V", V, (X.shape[1],), "the variance of each column")
        if not (variances > 0).all():
            column = int(np.argmin(variances > 0))
            raise ValueError(f"metric_params: V[{column}] is {variances[column]}; variances must be positive")
    return ColumnMap(X.mean(axis=0, dtype=np.float64), 1 / np.sqrt(variances), {"V": variances.tolist()})


def covariance_map(X: Floats, V: Any, VI: Any) -> ColumnMap:
    """Multiply rows by a root of the inverse of the covariances."""
    shape = (X.shape[1], X.shape[1])
    if VI is None:
        covariances = _given("V", V, shape, "the covariances of the columns") if V is not None else np.cov(X.T, ddof=1)
        covariances = np.reshape(covariances, shape)
        if not np.isfinite(covariances).all() or np.linalg.matrix_rank(covariances) < len(covariances):
            raise ValueError(
                f"metric='mahalanobis': the covariances of the {shape[0]} columns of {len(X)} rows cannot be inverted, "
                "because some column is constant or follows from others; leave such columns out, pass "
                "metric_params={'VI': numpy.linalg.pinv(numpy.cov(X.T))}, or use metric='seuclidean'"
            )
        VI = np.linalg.inv(covariances)
    else:
        VI = _given("VI", VI, shape, "the inverse of the covariances of the columns")
    values, vectors = np.linalg.eigh((VI + VI.T) / 2)
    if values[0] < -1e-10 * abs(values[-1]):
        raise ValueError(
            "metric_params: VI has a negative eigenvalue, so that some distances have no root; pass another"
        )
    root = vectors * np.sqrt(np.maximum(values, 0))
    return ColumnMap(X.mean(axis=0, dtype=np.float64), root, {"VI": VI.tolist()})


def _given(name: str, value: Any, shape: tuple[int, ...], what: str) -> Float64s:
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"metric_params: {name} must be {what}, an array of shape {shape}") from None
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"metric_params: {name} must be {what}, finite numbers of shape {shape}; got {found.shape}")
    return found


def shares_of_rows(X: Floats) -> Float64s:
    """Return rows divided by their sums."""
    if X.min(initial=0) < 0:
        row, column = np.argwhere(X < 0)[0]
        raise ValueError(
            f"metric='jensenshannon' compares distributions, but X[{row}, {column}] is {X[row, column]}; pass numbers "
            ">= 0, such as counts or probabilities"
        )
    sums = X.sum(axis=1, dtype=np.float64, keepdims=True)
    if not (sums > 0).all():
        raise ValueError(
            f"metric='jensenshannon' compares distributions, but row {int(np.argmin(sums))} of X is 0 in every column; "
            "remove it"
        )
    shares: Float64s = X / sums
    return shares
