"""What is to be solved: points, weights, k and limits; and the solution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from medoids.core.assignment import Assignment
from medoids.core.shares import count_shares, largest_share
from medoids.distances import Dissimilarity
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.budget import KEPT_BYTES, KEPT_SHARE
from medoids.result import TraceRecord

__all__ = ["Problem", "Solution"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Points, weights, k and limits. It never changes; what happens while it is solved is in the `Run`.

    Attributes
    ----------
    distance : Dissimilarity
    weights : ndarray of shape (n,)
        A point of weight 0 is never a medoid unless it is ``allowed``.
    k : int
    init : str or ndarray
    max_iter : int
        Maximum number of swaps.
    memory_limit : int
        Bytes for stored distances.
    delta : float or None
        Sets the width of a search's bounds; None takes the algorithm's own.
    cache_width : int
        Number of distances per point that BanditPAM's cache may hold.
    swap : {"auto", "best", "eager"}
        What was taken for "auto" once a fit runs.
    tol : float
        The fit ends when no swap lowers the loss by more than this share of it.
    gap : float
        At which "optimal" ends.
    n_restarts : int
        Restarts after convergence.
    frozen : tuple of int
        Rows that stay medoids.
    allowed : ndarray of bool, shape (n_rows,), or None
        Rows that may become medoids, including the frozen and given initial ones; None for all of positive weight.
    objective : {"distance", "medoid_silhouette"}
    sizes : tuple of int, or None
        The smallest and the largest number of rows of a cluster; None without limits.
    """

    distance: Dissimilarity
    weights: Float64s
    k: int
    init: str | Rows
    max_iter: int
    memory_limit: int
    delta: float | None = None
    cache_width: int = 1000
    swap: str = "auto"
    tol: float = 0.0
    gap: float = 0.0
    n_restarts: int = 0
    frozen: tuple[int, ...] = ()
    allowed: Bools | None = None
    objective: str = "distance"
    sizes: tuple[int, int] | None = None

    @property
    def n(self) -> int:
        return self.distance.n

    @property
    def n_rows(self) -> int:
        """Number of rows, some of which become medoids."""
        return self.distance.n_rows

    @property
    def rectangular(self) -> bool:
        """Whether medoids are not among the points: the rows of a given matrix are no points, the columns are."""
        return self.n_rows != self.n

    @property
    def starts_with_build(self) -> bool:
        return isinstance(self.init, str) and self.init == "build"

    @cached_property
    def total_weight(self) -> float:
        return float(self.weights.sum())

    @property
    def eligible(self) -> Bools:
        """Whether each row may become a medoid."""
        return self.weights > 0 if self.allowed is None else self.allowed

    @property
    def candidates(self) -> Rows:
        """Rows that may become medoids."""
        return np.flatnonzero(self.eligible)

    @property
    def references(self) -> Rows:
        """Rows whose distances count in the loss: those of positive weight."""
        return np.flatnonzero(self.weights > 0)

    @cached_property
    def shares(self) -> Rows:
        """The number of references that each row counts as."""
        return count_shares(self.weights, largest_share(self.total_weight, int(np.count_nonzero(self.weights))))

    @cached_property
    def share_weights(self) -> Float64s:
        """Weight of each of a row's references, in a unit near their mean, so that squares fit into float32."""
        return self.weights / np.maximum(self.shares, 1) / self.share_unit

    @cached_property
    def share_unit(self) -> float:
        """The unit of `share_weights`: a power of 2, which changes no digit."""
        return float(2.0 ** np.round(np.log2(self.total_weight / np.count_nonzero(self.weights))))

    def has_room(self, size: int) -> bool:
        """Whether ``size`` bytes for each pair of a medoid and a point may be kept."""
        return size * self.k * self.n <= max(KEPT_BYTES, self.memory_limit // KEPT_SHARE)

    def part(
        self, sample: Rows, weights: Float64s, *, init: str | Rows, max_iter: int, k: int | None = None
    ) -> Problem:
        """Return the problem of some rows only, in ascending order, with weights of their own."""
        return replace(
            self,
            distance=self.distance.take(sample),
            weights=weights,
            allowed=None if self.allowed is None else self.allowed[sample],
            init=init,
            max_iter=max_iter,
            frozen=tuple(np.searchsorted(sample, self.frozen).tolist()),
            k=self.k if k is None else k,
        )


@dataclass
class Solution:
    """The final state, the number of swaps, whether the algorithm ended by its own rule, and its steps."""

    assignment: Assignment
    n_swaps: int
    converged: bool
    trace: list[TraceRecord] = field(default_factory=list)
