"""`k_medoids`: the whole fit as one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medoids.distances import Dissimilarity
from medoids.inputs import check_columns_of_init, check_data
from medoids.pipeline import fit
from medoids.quality.k_path import fit_auto
from medoids.result import Clustering, TraceRecord, remember_data
from medoids.settings import Settings, check_choice

__all__ = ["fit_checked", "k_medoids"]


def k_medoids(
    X: Any,
    n_clusters: int | str,
    *,
    sample_weight: Any = None,
    on_interrupt: str = "raise",
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    algorithm: str = "auto",
    objective: str = "distance",
    init: Any = "build",
    n_init: int = 1,
    n_restarts: int = 0,
    swap: str = "auto",
    tol: float = 0.0,
    max_iter: int = 300,
    time_limit: float | None = None,
    gap: float = 0.0,
    max_evaluations: int | None = None,
    delta: float | None = None,
    cache_width: int = 1000,
    memory_limit: Any = "2GiB",
    k_range: Any = None,
    frozen_medoids: Any = None,
    candidates: Any = None,
    min_size: int | None = None,
    max_size: int | None = None,
    callback: Callable[[TraceRecord], object] | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Clustering:
    """Find k members of a data set so that the sum of distances from every point to its nearest one is smallest.

    Parameters
    ----------
    X : array-like, sparse array or frame of shape (n, p), square matrix, or sequence of n objects
        What the metric takes: vectors, strings, series, tables and so on; distances with ``metric="precomputed"``;
        anything for a callable.
    n_clusters : int or "auto"
    sample_weight : array-like of shape (n,), optional
        A point's weight multiplies its distance. A row of weight 0 is never a medoid and changes nothing.
    on_interrupt : {"raise", "return"}
        What Ctrl-C does: raise KeyboardInterrupt, or return the best medoids so far, as ``time_limit`` does.
    metric, metric_params, algorithm, objective, init, n_init, n_restarts, swap, tol, max_iter, time_limit, gap, \
max_evaluations, delta, cache_width, memory_limit, k_range, frozen_medoids, candidates, min_size, max_size, \
callback, checkpoint, resume, random_state, n_jobs, verbose
        As in `KMedoids`.

    Returns
    -------
    Clustering

    Examples
    --------
    >>> from medoids import k_medoids
    >>> words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]
    >>> def unlike(a, b):
    ...     return len(set(a) ^ set(b))
    >>> found = k_medoids(words, 2, metric=unlike)
    >>> [words[i] for i in found.medoid_indices]
    ['ape', 'zebra']
    >>> found.labels.tolist(), found.inertia
    ([0, 0, 0, 1, 1, 1], 7.0)
    """
    settings = Settings.of(locals())
    check_choice("on_interrupt", on_interrupt, ["raise", "return"])
    check_columns_of_init(init, X)
    found = fit_checked(check_data(X, metric), n_clusters, sample_weight, settings, on_interrupt=on_interrupt)[0]
    remember_data(found, X)
    return found


def fit_checked(
    X: Any, n_clusters: Any, sample_weight: Any, settings: Settings, *, on_interrupt: str = "raise"
) -> tuple[Clustering, Dissimilarity]:
    """Cluster data that `check_data` has passed; also return the distance among the medoids, for ``predict``."""
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return fit_auto(X, sample_weight, settings)
    return fit(X, n_clusters, sample_weight, settings, on_interrupt=on_interrupt)
