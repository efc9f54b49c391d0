"""The problem as every stage sees it: distances by point, weights, k, who may be a medoid and who must be one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.core.assignment import TOLERANCE
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.engine.arrays import Bools, Float64s, Floats, Rows

__all__ = ["Instance", "in_order", "instance_of", "nothing"]


def nothing() -> None:
    """Do nothing: the default where no one asks to stop."""


def in_order(work: Callable[[slice], Any], chunks: Iterable[slice]) -> None:
    """Call ``work`` for each chunk, in this thread."""
    for chunk in chunks:
        work(chunk)


@dataclass(frozen=True, eq=False)
class Instance:
    """A weighted k-median problem on a matrix.

    Attributes
    ----------
    by_point : ndarray of shape (points, candidates)
        Distance from candidate i to point s at [s, i]; C-ordered, float32 or float64.
    weights : ndarray of shape (points,)
        Not negative.
    k : int
    allowed : ndarray of bool, shape (candidates,)
        Which candidates may be medoids.
    frozen : ndarray of int
        Candidates that must be medoids.
    check : callable
        Called often; raises to stop.
    spread : callable
        ``spread(work, chunks)`` calls ``work`` for each chunk, in threads if it likes; see `Threads.map`.
    """

    by_point: Floats
    weights: Float64s
    k: int
    allowed: Bools
    frozen: Rows
    check: Callable[[], None] = field(default=nothing, repr=False)
    spread: Callable[[Callable[[slice], Any], Iterable[slice]], Any] = field(default=in_order, repr=False)

    @classmethod
    def of(
        cls,
        distances: Floats,
        k: int,
        *,
        weights: npt.ArrayLike | None = None,
        allowed: npt.ArrayLike | None = None,
        frozen: npt.ArrayLike = (),
        check: Callable[[], None] = nothing,
        spread: Callable[[Callable[[slice], Any], Iterable[slice]], Any] = in_order,
    ) -> Instance:
        """Make a problem from a matrix of shape (candidates, points).

        A matrix in Fortran's order is not copied.

        >>> Instance.of(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0]]), 1).loss([0])
        4.0
        """
        by_point = np.ascontiguousarray(np.asarray(distances).T)
        if by_point.dtype not in (np.float32, np.float64):
            by_point = by_point.astype(np.float64)
        n, candidates = by_point.shape
        may = np.ones(candidates, dtype=bool) if allowed is None else np.array(allowed, dtype=bool)
        must = np.unique(np.asarray(frozen, dtype=np.intp))
        may[must] = True
        if not max(1, len(must)) <= k <= np.count_nonzero(may):
            raise ValueError(
                f"k={k} must lie between the number of frozen medoids, {len(must)} (at least 1), and the number of "
                f"candidates, {np.count_nonzero(may)}"
            )
        w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(by_point, w, int(k), may, must, check, spread)

    @property
    def n_points(self) -> int:
        return len(self.by_point)

    @property
    def n_candidates(self) -> int:
        return int(self.by_point.shape[1])

    def loss(self, medoids: Sequence[int] | Rows) -> float:
        """Weighted sum of the distances to the nearest of some medoids."""
        nearest = self.by_point[:, np.asarray(medoids)].min(axis=1).astype(np.float64)
        return float((self.weights * nearest).sum())

    def is_better(self, loss: float, than: float) -> bool:
        """Whether a loss is lower by more than rounding errors."""
        return bool(loss < than - TOLERANCE * max(abs(loss), abs(than)))

    def is_integral(self) -> bool:
        """Whether every loss is an integer that float64 can hold, so that a better one is lower by at least 1."""
        if not (self.weights == np.round(self.weights)).all():
            return False
        largest = 0.0
        for row in self.by_point:
            if not (row == np.round(row)).all():
                return False
            largest = max(largest, float(np.abs(row).max()))
        return bool(largest * self.weights.sum() < 2**52)


def instance_of(problem: Problem, run: Run, by_point: Floats, weights: Float64s) -> Instance:
    """Return what is to be solved on distances from all rows to some points, as [point, row], with their weights."""
    return Instance.of(
        by_point.T,
        problem.k,
        weights=weights,
        allowed=problem.eligible,
        frozen=np.array(problem.frozen, dtype=np.intp),
        check=run.check,
        spread=run.threads.map,
    )
