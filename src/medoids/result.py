"""The result of a fit, and the trace that the estimator, the progress bar and the report read."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from math import inf, isfinite
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from medoids.distances import Count
from medoids.wording import counted

__all__ = [
    "CLOSED_GAP",
    "Clustering",
    "Outlook",
    "TraceRecord",
    "gap_between",
    "remember_data",
    "remembered_data",
    "short",
]

# A gap that counts as none: a share, far above rounding and far below what anybody measures.
CLOSED_GAP = 1e-7
# What makes a table from a dict of columns, in each package that `Clustering.to_frame` can use.
_FRAME_MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


@dataclass(frozen=True)
class TraceRecord:
    """One step of a fit.

    Attributes
    ----------
    phase : str
        "build", "swap" or "restart": a restart that improved, with its number in ``candidates``. In "optimal" also
        "proof": better medoids, or a bound that is higher by much. "sizes": rows were assigned
        within ``min_size`` and ``max_size``, from where on the loss is that with these limits.
        "silhouette": from here on the loss is 1 - medoid silhouette, as ``objective`` asks.
    medoid_in, medoid_out : int or None
        Row numbers; ``medoid_out`` is None where a medoid was added.
    loss : float
        Mean distance to the nearest medoid after the step, weighted and exact: as `Clustering.loss`.
    n_evaluations : int
        Distances computed so far.
    seconds : float
        Since the fit began.
    references : int
        Points that the decision looked at.
    candidates : int
        Candidates that were still in question when the decision was made.
    lower_bound : float or None
        No k medoids have a lower loss, as far as "optimal" has proved it by then.
    """

    phase: str
    medoid_in: int | None
    medoid_out: int | None
    loss: float
    n_evaluations: int
    seconds: float
    references: int
    candidates: int
    lower_bound: float | None = None


@dataclass(frozen=True)
class Outlook:
    """What the search for the next swap knew when a limit ended it: how good the medoids are, by its bounds.

    Attributes
    ----------
    left : int
        Candidates that were not ruled out.
    gain : float
        The most by which any single swap may lower the loss: a mean distance, as `Clustering.loss`.
    certain : bool
        Whether this is proved, by the triangle inequality; otherwise it holds with the probability of the bounds.
    """

    left: int
    gain: float
    certain: bool = False

    def sentence(self, loss: float) -> str:
        """Say it, with the gain as a share of the loss.

        >>> Outlook(1200, 0.02).sentence(4.0)
        'by its bounds no single swap lowers the loss by more than 0.02 (0.50%); 1,200 candidates are not ruled out'
        """
        share = f" ({self.gain / abs(loss):.2%})" if loss else ""
        how = "it is proved that" if self.certain else "by its bounds"
        left = f"{counted(self.left, 'candidate')} {'is' if self.left == 1 else 'are'} not ruled out"
        return f"{how} no single swap lowers the loss by more than {self.gain:.3g}{share}; {left}"


@dataclass(frozen=True, eq=False)
class Clustering:
    """What `k_medoids` found.

    Attributes
    ----------
    medoid_indices : ndarray of shape (k,)
        Rows of X that are the medoids.
    labels : ndarray of shape (n,)
        For each row the position of its medoid in ``medoid_indices``.
    distances : ndarray of shape (n,)
        From each row to its medoid.
    inertia : float
        Weighted sum of ``distances``.
    loss : float
        ``inertia`` over the sum of the weights: the mean distance.
    n_swaps : int
        Swaps made after the start.
    converged : bool
        Whether the algorithm ended by its own rule, not by ``max_iter`` or a callback.
    algorithm, reason : str
        What ran, and why ``"auto"`` took it.
    n_evaluations : int
        Distances computed, or read from a given matrix.
    counts : dict
        For each phase the distances requested, computed and found in a cache.
    trace : list of TraceRecord
    parameters : dict
        What was asked for: ``n_clusters`` and the keywords of `k_medoids`, to do it again.
    sample_weight : ndarray of shape (n,), or None
        The weights of the fit; None if all are 1.
    n_restarts : int
        Restarts that were asked for, or that "optimal" makes by default.
    lower_bound : float or None
        No k medoids have a lower ``loss``. Of "optimal", as the next three; None for other algorithms. `certify` bounds
        the loss of any result.
    gap : float or None
        (loss - lower_bound) / lower_bound; infinite where the bound says nothing.
    proved : bool or None
        Whether the gap is at most the one asked for, or 1e-7.
    nodes : int or None
        Nodes of branch and bound.
    rectangular : bool
        Whether X is a matrix of candidates and points, so that the medoids, which are rows of it, are no points.
    outlook : Outlook or None
        After a limit ended "pairedpam", "active" or one of the BanditPAM family: what its bounds say of the medoids.
        None if it had none yet, or has none at all, as "clara" and "clarans".
    """

    medoid_indices: npt.NDArray[np.intp]
    labels: npt.NDArray[np.intp]
    distances: npt.NDArray[np.float64]
    inertia: float
    loss: float
    n_swaps: int
    converged: bool
    algorithm: str
    reason: str
    n_evaluations: int
    counts: dict[str, Count]
    trace: list[TraceRecord]
    parameters: dict[str, Any] = field(default_factory=dict)
    sample_weight: npt.NDArray[np.float64] | None = None
    n_restarts: int = 0
    lower_bound: float | None = None
    gap: float | None = None
    proved: bool | None = None
    nodes: int | None = None
    rectangular: bool = False
    outlook: Outlook | None = None

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a table with a line for each row of X: to join to your data, to group by, to save.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The package that makes the table; it must be installed.

        Returns
        -------
        DataFrame or pyarrow.Table
            Columns ``cluster`` (the label), ``medoid`` (the row of X that is its medoid), ``distance`` (to the medoid),
            ``is_medoid``, and ``weight`` if there were weights. Rows are in the order of X.

        Examples
        --------
        >>> from medoids import k_medoids
        >>> k_medoids([[0.0], [1.0], [2.0], [9.0]], 2).to_frame()
           cluster  medoid  distance  is_medoid
        0        0       1       1.0      False
        1        0       1       0.0       True
        2        0       1       1.0      False
        3        1       3       0.0       True
        """
        if backend not in _FRAME_MAKERS:
            raise ValueError(f"backend={backend!r} is unknown; it must be one of {sorted(_FRAME_MAKERS)}")
        try:
            package = import_module(backend)
        except ImportError:
            raise ImportError(f"to_frame(backend={backend!r}) needs {backend}: pip install {backend}") from None
        medoid = self.medoid_indices[self.labels]
        is_medoid = np.zeros(len(self.labels), dtype=bool)
        if not self.rectangular:
            is_medoid[self.medoid_indices] = True
        columns = {"cluster": self.labels, "medoid": medoid, "distance": self.distances, "is_medoid": is_medoid}
        if self.sample_weight is not None:
            columns["weight"] = self.sample_weight
        return getattr(package, _FRAME_MAKERS[backend])(columns)

    def _repr_html_(self) -> str:
        """Show medoids, sizes, loss and a small map in a notebook."""
        from medoids.reporting.notebook import clustering_html

        return clustering_html(self)

    def __repr__(self) -> str:
        proof = "" if self.gap is None else f", gap={self.gap:.2g}, proved={self.proved}"
        return (
            f"Clustering(k={len(self.medoid_indices)}, n={len(self.labels)}, loss={self.loss:.6g}, "
            f"inertia={self.inertia:.6g}, algorithm={self.algorithm!r}, n_swaps={self.n_swaps}, "
            f"converged={self.converged}{proof},\n           medoid_indices={short(self.medoid_indices)})"
        )


# A clustering does not hold its data. A weak reference lets a notebook draw them while they are in memory anyway.
_DATA: WeakKeyDictionary[Clustering, ReferenceType[Any]] = WeakKeyDictionary()


def remember_data(found: Clustering, X: Any) -> None:
    """Keep a weak reference to the data of a clustering, if their type can have one."""
    try:
        _DATA[found] = ref(X)
    except TypeError:  # a list, for example
        return


def remembered_data(found: Clustering) -> Any:
    """Return the data of a clustering while they exist, else None."""
    return _DATA[found]() if found in _DATA else None


def gap_between(loss: float, bound: float) -> float:
    """Share of a bound by which a loss exceeds it; infinite where that says nothing.

    >>> gap_between(102.0, 100.0), gap_between(1.0, 0.0)
    (0.02, inf)
    """
    if loss <= bound:
        return 0.0
    return (loss - bound) / abs(bound) if bound and isfinite(bound) else inf


def short(values: npt.NDArray[Any]) -> str:
    """Return an array in one line.

    >>> short(np.arange(2000))
    '[0, 1, 2, ..., 1997, 1998, 1999]'
    """
    return np.array2string(
        values,
        threshold=12,
        edgeitems=3,
        separator=", ",
        max_line_width=10_000,
        formatter={"int_kind": str, "float_kind": "{:.5g}".format},
    )
