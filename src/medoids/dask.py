"""`KMedoids` on a Dask cluster: the same fit, with the rows where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from medoids.algorithms.auto import choose_swap
from medoids.cluster.messages import Task
from medoids.cluster.reading import check_part
from medoids.cluster.sharded import solve
from medoids.cluster.survey import fingerprint, give, survey
from medoids.core.problem import Problem
from medoids.core.run import Journal, Run
from medoids.distances import Dissimilarity, Facts, Floats, count_rows, dissimilarity, kind_of
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads
from medoids.inputs import check_data
from medoids.pipeline import open_checkpoint, warn_of_limit
from medoids.result import TraceRecord
from medoids.settings import (
    Settings,
    check_callback,
    check_checkpoint,
    check_choice,
    check_count,
    check_delta,
    check_frozen,
    check_init,
    check_n_clusters,
    check_tol,
    parse_bytes,
)
from medoids.storage.estimators import export_estimator
from medoids.storage.saved import Saved

try:
    import dask
    import dask.array as da
    from dask.bag import Bag
    from dask.delayed import Delayed
    from distributed import Client, get_client

    from medoids.cluster.on_dask import OnDask, Partitions
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f'medoids.dask needs {error.name}: pip install "medoids[dask]"') from None

__all__ = ["KMedoids"]

_ALGORITHMS = ("auto", "pairedpam")


class KMedoids(TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """k-medoids clustering of a Dask array, data frame or bag: each worker keeps a shard of the rows.

    With the same ``random_state`` the medoids are those of `medoids.KMedoids` with ``algorithm="pairedpam"``, whatever
    the number of workers and chunks.

    Parameters
    ----------
    n_clusters : int, default=8
    client : distributed.Client, optional
        By default the current one.
    metric : str or callable, default="euclidean"
        As in `medoids.KMedoids`: the names for vectors; "haversine"; for bags, the names for strings. A callable takes
        rows of an array, or the objects of a bag; workers must be able to import or unpickle it.
    metric_params : dict, optional
    algorithm : {"auto", "pairedpam"}, default="auto"
        "auto" takes "pairedpam".
    init : "build" or array of row indices, default="build"
    swap : {"auto", "best", "eager"}, default="auto"
    tol : float, default=0.0
    max_iter : int, default=300
    delta : float, optional
    memory_limit : int or str, default="2GiB"
        For the stored distances of one worker.
    frozen_medoids : array of row indices, optional
    candidates : None or "all", default=None
        Either means all rows: "gower", whose rows with gaps are not candidates by default, is not available here.
    callback : callable, optional
        Called here, with each record of the trace; returning True stops the fit once it has k medoids.
    checkpoint : str or path, optional
        A file here, in which the state is stored after each step.
    resume : bool, default=False
        Go on from ``checkpoint``, on this or another cluster, to the result that the undisturbed fit would have had.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        Above 0, each step reports on standard error what was sent.
    objective, n_init, n_restarts, time_limit, gap, max_evaluations, cache_width, k_range, min_size, max_size, n_jobs
        As in `medoids.KMedoids`, and only at their defaults: a cluster makes one start, with the threads that its
        workers have, and a message to the workers is not interrupted. A ``callback`` may stop between steps.

    Attributes
    ----------
    labels_, distances_ : dask.array.Array of shape (n,)
        The medoid of each row, and the distance to it, in the chunks of X, on the workers.
    medoid_indices_, cluster_centers_, inertia_, loss_, n_iter_, n_evaluations_, trace_, converged_, algorithm_, \
reason_, n_features_in_, feature_names_in_
        As in `medoids.KMedoids`, here.

    See Also
    --------
    medoids.KMedoids : The same on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from medoids.dask import KMedoids
    >>> X = da.from_array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], chunks=(4, 2))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     model = KMedoids(n_clusters=2).fit(X)
    ...     model.labels_.compute().tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.cluster_centers_.tolist()
    [[1, 2], [10, 2]]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        client: Client | None = None,
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
    ) -> None:
        names = ("n_clusters", "client", *Settings.names())
        self.__dict__.update({name: value for name, value in locals().items() if name in names})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMedoids:
        """Find the medoids.

        Parameters
        ----------
        X : dask array of shape (n, p), dask data frame of numbers, or dask bag of objects
        y : ignored
        sample_weight : dask array of shape (n,), in the chunks of X, optional

        Returns
        -------
        KMedoids
        """
        self._check_settings()
        settings = Settings.of(vars(self))
        client = self.client if self.client is not None else _current_client()
        features = _features_of(X)
        weights = None if sample_weight is None else _delayed(sample_weight, "sample_weight")
        partitions = Partitions(client, _delayed(X, "X"), weights)
        rows = sum(partitions.sizes)
        k = check_n_clusters(self.n_clusters, rows, rows)
        # Weights are with the workers; a row of weight 0 is found when these have read them.
        alike = np.broadcast_to(1.0, rows)
        init = check_init(self.init, rows, k, alike)
        frozen = check_frozen(self.frozen_medoids, init, rows, k, alike)
        task = Task(self.metric, self.metric_params, k, frozen, parse_bytes(self.memory_limit), None)
        random = check_random_state(self.random_state)
        pool = OnDask(partitions, task)
        try:
            surveyed = survey(pool, task)
            check_n_clusters(k, rows, surveyed.candidates)
            check_frozen(frozen, check_init(init, rows, k, surveyed.weights), rows, k, surveyed.weights)
            problem = Problem(
                distance=surveyed.distance,
                weights=surveyed.weights,
                k=k,
                init=init,
                max_iter=self.max_iter,
                memory_limit=parse_bytes(self.memory_limit),
                delta=check_delta(self.delta),
                swap=self.swap,
                tol=check_tol(self.tol),
                frozen=frozen,
            )
            with Threads(1) as threads:
                run = Run(problem, threads, random, pool.tally, self.callback)
                with open_checkpoint(problem, run, lambda: fingerprint(pool, surveyed), settings) as checkpoint:
                    algorithm, swap, reason = self._choose(problem, None if checkpoint is None else checkpoint.saved)
                    problem = replace(problem, swap=swap)
                    if checkpoint is not None:
                        run.keep_journal(Journal(checkpoint, algorithm, swap, reason), checkpoint.saved)
                    run.begin()
                    solution = solve(problem, run, pool, surveyed, int(self.verbose))
            medoids = np.array(solution.assignment.medoids)
            found = pool.surely(lambda: give(pool, medoids))
            objects = found.objects[np.searchsorted(found.rows, medoids)]
        finally:
            pool.close()
        warn_of_limit(solution, problem, run)
        self.medoid_indices_ = medoids
        self.cluster_centers_ = objects if objects.ndim == 2 else objects.tolist()
        self._nearest = Nearest(self.cluster_centers_, self.metric, self.metric_params)
        self.labels_, self.distances_ = self._assign(partitions, objects, surveyed.facts)
        self.inertia_ = solution.assignment.loss
        self.loss_ = self.inertia_ / problem.total_weight
        self._sample_weight = _weights_of(partitions)
        self.n_iter_, self.converged_ = solution.n_swaps, solution.converged
        self.n_evaluations_, self.trace_ = pool.tally.computed, run.trace
        self.n_clusters_ = k
        self.algorithm_, self.reason_ = algorithm, reason
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if objects.ndim == 2:
            self.__dict__.update({"n_features_in_": objects.shape[1], **features})
        return self

    def _check_settings(self) -> None:
        if self.algorithm == "optimal":
            raise ValueError(
                "algorithm='optimal' needs a matrix of all distances, and is not available on a cluster; use "
                "medoids.KMedoids, on a sample if the matrix is too large"
            )
        if self.algorithm == "banditpam++":
            raise ValueError("algorithm='banditpam++' is not available on a cluster; use 'pairedpam'")
        check_choice("algorithm", self.algorithm, _ALGORITHMS)
        if isinstance(self.init, str) and self.init != "build":
            raise ValueError(
                f"init={self.init!r} is not available on a cluster; use 'build', or an array of row indices"
            )
        check_choice("swap", self.swap, ("auto", "best", "eager"))
        only = {
            "objective": "distance",
            "n_init": 1,
            "n_restarts": 0,
            "time_limit": None,
            "gap": 0.0,
            "max_evaluations": None,
            "cache_width": 1000,
            "k_range": None,
            "min_size": None,
            "max_size": None,
            "n_jobs": None,
        }
        for name, default in only.items():
            value = getattr(self, name)
            if value != default:
                limit = name in ("time_limit", "max_evaluations")
                stop = "; a callback that returns True stops after a step" if limit else ""
                raise ValueError(f"{name}={value!r} is not available on a cluster; leave it at {default!r}{stop}")
        if isinstance(self.n_clusters, str):
            raise ValueError(f"n_clusters={self.n_clusters!r} is not available on a cluster; pass a number")
        check_count("max_iter", self.max_iter, 0)
        check_count("verbose", int(self.verbose), 0)
        check_callback(self.callback)
        if self.candidates is not None and not (isinstance(self.candidates, str) and self.candidates == "all"):
            raise ValueError(f"candidates={self.candidates!r} is not available on a cluster; use None or 'all'")
        check_checkpoint(self.checkpoint, self.resume, self.n_clusters)
        check_delta(self.delta)
        parse_bytes(self.memory_limit)

    def _choose(self, problem: Problem, saved: Saved | None) -> tuple[str, str, str]:
        """Return the algorithm, which swaps it makes, and why: what was taken before, if a fit is resumed."""
        if saved is not None:
            return saved.algorithm, saved.swap, saved.reason
        reason = "no worker holds a matrix of all distances" if self.algorithm == "auto" else "asked for"
        if self.swap != "auto":
            return "pairedpam", self.swap, reason
        swap, why = choose_swap(problem)
        return "pairedpam", swap, reason if swap == "best" else f"{reason}; {why.removeprefix('asked for; ')}"

    def _assign(self, partitions: Partitions, centers: Floats, facts: Facts) -> tuple[Any, Any]:
        """Return labels and distances as Dask arrays, whose chunks are those of X and stay where these are."""
        client, metric = partitions.client, (self.metric, self.metric_params, facts)
        found = [
            client.submit(_own_medoids, future, number, start, centers, self.medoid_indices_, *metric, pure=False)
            for number, (future, start) in enumerate(zip(partitions.futures, partitions.starts, strict=True))
        ]
        labels, distances = ([client.submit(itemgetter(at), each, pure=False) for each in found] for at in (0, 1))
        return _array("labels", labels, partitions, np.intp), _array("distances", distances, partitions, np.float64)

    def predict(self, X: Any) -> Any:
        """Return the nearest medoid's position for each row: a Dask array for Dask's collections, else an array."""
        return self._apply(X, Nearest.labels, (), np.intp)

    def transform(self, X: Any) -> Any:
        """Return the distances from each medoid to new data, of shape (rows, k), in the same way."""
        return self._apply(X, Nearest.distances, (len(self._fitted().medoid_indices_),), np.float64)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of distances from new data to the nearest medoids."""
        return -float(self.transform(X).min(axis=1).sum())

    def export(self, path: Any) -> None:
        """Write the medoids to a file of JSON that `medoids.load` reads, as `medoids.KMedoids.export` does."""
        nearest = self._fitted()._nearest
        export_estimator(self, nearest.kind, nearest.medoids, path)

    def _fitted(self) -> KMedoids:
        check_is_fitted(self)
        return self

    def _apply(self, X: Any, work: Callable[..., Any], shape: tuple[int, ...], dtype: Any) -> Any:
        self._fitted()
        if not isinstance(X, Bag):  # which has no columns to speak of
            frame = dask.is_dask_collection(X) and hasattr(X, "columns")
            validate_data(self, X._meta if frame else X, reset=False, skip_check_array=True)
        if not dask.is_dask_collection(X):
            return work(self._nearest, X)
        nearest = dask.delayed(self._nearest, pure=True)
        sizes = X.chunks[0] if hasattr(X, "chunks") else None
        parts = []
        for at, part in enumerate(_delayed(X, "X")):
            size = np.nan if sizes is None else sizes[at]
            parts.append(da.from_delayed(dask.delayed(work)(nearest, part), shape=(size, *shape), dtype=dtype))
        return da.concatenate(parts, allow_unknown_chunksizes=True)


class Nearest:
    """The medoids, as workers need them to label rows."""

    def __init__(self, centers: Any, metric: Any, metric_params: dict[str, Any] | None) -> None:
        self._metric, self.kind = metric, kind_of(metric, centers)
        self.medoids: Dissimilarity = dissimilarity(centers, metric, metric_params)
        self.k = count_rows(centers)

    def distances(self, part: Any) -> Any:
        """Distances to the rows of a partition, of shape (rows, k)."""
        part = part if hasattr(part, "shape") else list(part)
        if count_rows(part) == 0:
            return np.zeros((0, self.k))
        return self.medoids.cross(check_data(part, self._metric, kind=self.kind)).T

    def labels(self, part: Any) -> Any:
        """The nearest of them to each row of a partition."""
        return self.distances(part).argmin(axis=1)


def _own_medoids(
    part: Any,
    number: int,
    start: int,
    centers: Floats,
    rows: Rows,
    metric: Any,
    metric_params: dict[str, Any] | None,
    facts: Facts,
) -> tuple[Rows, Float64s]:
    """Return the nearest medoid of each row that was fitted and the distance to it, by the distances of the fit."""
    X, k = check_part(part, metric, start, number), len(centers)
    if len(X) == 0:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    both = np.concatenate([centers, X])
    distance = dissimilarity(centers, metric, metric_params).hosting(both, np.arange(len(both)), facts)
    # Row by row, as medoids come in a fit: to the last digit, which decides where distances tie.
    table = np.concatenate([distance.exact_block(np.array([i]), slice(k, len(both))) for i in range(k)])
    labels: Rows = table.argmin(axis=0)
    for slot, row in enumerate((rows - start).tolist()):
        if 0 <= row < len(X) and table[slot, row] <= table[labels[row], row]:
            labels[row] = slot  # a medoid goes to its own cluster
    return labels, table[labels, np.arange(len(X))]


def _array(name: str, futures: list[Any], partitions: Partitions, dtype: Any) -> Any:
    """Return values of all rows, which are with the workers, as a Dask array."""
    name = f"{name}-{uuid4().hex}"
    graph = {(name, number): future for number, future in enumerate(futures)}
    return da.Array(graph, name, (tuple(partitions.sizes),), dtype=dtype)


def _weights_of(partitions: Partitions) -> Any:
    """Return the weights of a fit, which stay with the workers; None where all rows count alike."""
    if partitions.weights is None:
        return None
    weights = partitions.client.map(np.asarray, partitions.weights, pure=False)
    return _array("sample_weight", weights, partitions, np.float64)


def _features_of(X: Any) -> dict[str, Any]:
    """Return number and names of the columns of a frame, as scikit-learn's attributes."""
    blank = KMedoids()
    if hasattr(X, "columns"):
        validate_data(blank, X._meta, skip_check_array=True)
    return {name: value for name, value in vars(blank).items() if name.endswith("_in_")}


def _current_client() -> Client:
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "no Dask client is running; start one with distributed.Client(), or pass client=... ; "
            "medoids.KMedoids fits on this machine without one"
        ) from None


def _delayed(X: Any, name: str) -> list[Delayed]:
    """Return the partitions of a Dask collection."""
    if not dask.is_dask_collection(X) or not hasattr(X, "to_delayed"):
        raise TypeError(
            f"{name} must be a Dask array, data frame or bag; got {type(X).__name__}. Use dask.array.from_array, or "
            "medoids.KMedoids for data in memory"
        )
    if hasattr(X, "chunks") and X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    if isinstance(X, Bag):
        X = X.map_partitions(list)  # a bag's may be iterators, which can be read once
    parts = X.to_delayed()
    return list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts)
