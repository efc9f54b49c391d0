"""`KMedoids`: the scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from medoids.api import fit_checked
from medoids.callbacks import CallbackSupportMixin, reporting_steps
from medoids.distances import count_rows, dissimilarity, kind_of, kinds_of, release, take_rows
from medoids.engine.arrays import Float64s
from medoids.engine.budget import ROWS_PER_QUERY
from medoids.engine.threads import spans
from medoids.inputs import check_columns_of_init, check_data
from medoids.quality.membership import memberships
from medoids.result import Clustering, TraceRecord
from medoids.settings import Settings, check_checkpoint, check_weights

__all__ = ["KMedoids"]


class KMedoids(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """k-medoids clustering: centres are members of the data, and any dissimilarity will do.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of medoids, k. "auto" takes the one of ``k_range`` with the highest medoid silhouette; see `k_path`.
    metric : str or callable, default="euclidean"
        "euclidean" ("l2"), "sqeuclidean", "cosine", "correlation", "manhattan" ("l1", "cityblock"), "chebyshev"
        ("linf"), "minkowski", "canberra", "braycurtis", "hamming", "mahalanobis" and every other name of scipy's cdist
        and scikit-learn; names for sparse arrays, strings, sets, series, mixed tables, trees and places, which
        `available_metrics` lists; "precomputed" for a matrix, square, condensed or of candidates x points; or
        ``f(a, b) -> float`` over rows of an array or over any objects, with a as the medoid. Rows of a data frame
        reach it as 1-D arrays, without the names of the columns; ``X.to_dict("records")`` has rows with names. A
        Numba-jitted function runs at native speed. The dissimilarity may be asymmetric, negative, or break the
        triangle inequality.
    metric_params : dict, optional
        Keywords of the metric, such as ``{"p": 3}``. ``{"symmetric": True}`` says that a callable is symmetric, so
        that half the calls are enough, and ``{"triangle": True}`` that it satisfies the triangle inequality.
    algorithm : str, default="auto"
        "pairedpam" (ours) and "banditpam++", "banditpam", "banditpam+va", "banditpam+pic" (the paper's): PAM's answer
        from sampled distances, with high probability; "clara", "clarans": approximate. These need no n x n matrix.
        "active" is PAM's answer from some of the distances of a metric, for expensive ones: it relies on the triangle
        inequality, and keeps n x n bounds. "pam", "fastpam1" (PAM's answer, faster; for rows of few columns it
        needs no matrix), "fastpam", "fasterpam", "alternate" need a matrix; so does "tabu", which goes on from it by
        detours. "auto" takes "fastpam1" or "pairedpam", whichever a cost model finds cheaper, and the second where the
        matrix exceeds ``memory_limit``.
        "optimal" looks for the best medoids of all, on a float64 matrix, and proves that they are: restarts, then the
        Lagrangian dual, then branch and bound on a linear relaxation (extra ``optimal``; without it the gap is that of
        the dual). Up to some 2,000 rows that mostly takes seconds, beyond that give it a ``gap`` or a ``time_limit``.
    objective : {"distance", "medoid_silhouette"}, default="distance"
        What is optimized. "medoid_silhouette" is the mean of 1 - d1 / d2, with the distances to the nearest and second
        nearest medoid: FasterMSC of Lenssen and Schubert with "auto" and "fasterpam", the best swap at each step with
        "fastpam1" and "pam", on a float64 matrix; with ``n_clusters="auto"`` DynMSC, which finds the number of clusters
        in one run. ``inertia_`` and ``loss_`` are distances in any case; the trace has 1 - silhouette from the
        record "silhouette" on.
    init : str, array of row indices, or k rows, default="build"
        "build" (PAM's greedy start), "lab", "random", "k-medoids++", "heuristic" (the rows with the lowest sums of
        distances to all others, as in scikit-learn-extra), or the rows to start from: a 1-D array of integers is
        always row numbers, and anything else is coordinates or objects in the form of X, for each of which the nearest
        row that is not yet taken is used. CLARANS, which never looks at all pairs, takes "build" on a sample.
    n_init : int, default=1
        Starts, when ``init`` is random; the best is kept.
    n_restarts : int, default=0
        Restarts after convergence: each replaces some of the best medoids by random rows, descends, and is kept if it
        is better. PAM's answer is often 0.1 to 4% above the optimum; 10 restarts remove most of that, 50 nearly all.
        Without a matrix, restarts look at a sample of the points, and the result is then improved on all of them.
        ``max_iter`` bounds each descent. Not for "alternate", "clara" and "clarans"; "optimal" makes 50 unless another
        number is given.
    swap : {"auto", "best", "eager"}, default="auto"
        "best" is PAM's path: BUILD, and the best swap in each step. "eager" starts from the medoids of a sample and
        makes swaps as they are found: another local optimum, as good on average, from which no swap helps either.
        "auto" takes "best" unless that is estimated to take more than three times as long, by n, k, columns, metric
        and ``memory_limit``; ``reason_`` says what was taken. "eager" is for "auto" and "pairedpam".
    tol : float, default=0.0
        The fit ends when no swap lowers the loss by more than this share of it.
    max_iter : int, default=300
        Largest number of swaps; there is a warning if it is reached.
    time_limit : float, optional
        Seconds after which any algorithm stops, with a warning and ``converged_`` False: within 2 seconds, unless the
        kernels of a first fit are being compiled, or one call of a metric takes longer. The result is that of the
        steps so far; where BUILD was not done, the medoids that are missing are drawn as k-medoids++ draws them.
        Labels and loss are exact in any case, which takes k n distances even if the limit is shorter than that.
    gap : float, default=0.0
        "optimal" ends when the loss is proved to exceed the best possible one by at most this share.
    max_evaluations : int, optional
        Budget of distances, for expensive metrics: a fit never computes more, and ends as at a ``time_limit`` when
        the next step would. At least k n of them are needed, for the labels. Where BUILD may take more than there
        are, a quarter goes to PAM on a sample first, whose medoids are the result if BUILD is not completed. "auto"
        then takes a matrix only if the budget covers it. ``reason_`` says how good the medoids are by the
        bounds of the search: the most by which any single swap may lower the loss. "clara" and "clarans" have none.
    delta : float, optional
        Sets the width of the sampling algorithms' bounds, w = sqrt(log(1/delta)); None takes the algorithm's own:
        5e-6 (w = 3.5; 4 for the last search) for "pairedpam", 1/(k n^3) for the BanditPAM family.
    cache_width : int, default=1000
        BanditPAM family: cached distances a point.
    memory_limit : int or str, default="2GiB"
        For stored distances. What does not fit is computed again when it is needed, or refused where it must fit.
    k_range : iterable of int, optional
        With ``n_clusters="auto"``, the numbers to try; 2 to 10 by default.
    frozen_medoids : array of row indices, optional
        Rows that stay medoids; the rest are chosen around them.
    candidates : None, "all" or array of row indices, default=None
        Rows that may become medoids; every row is assigned to one in any case. None means all rows, but under "gower"
        those without missing values, while there are at least k of them: what is missing costs nothing, so that a row
        with gaps seems near to all others. "all" means every row. Named rows may have weight 0: a site without demand.
        Rows of ``init`` and ``frozen_medoids`` are candidates. A rectangular matrix with ``metric="precomputed"`` has
        a row for each candidate and a column for each point.
    min_size, max_size : int, optional
        Limits on the number of rows of a cluster, whatever their weights. ``labels_`` obeys them, and the loss is that
        of the best assignment that does; ``predict`` is the nearest medoid. After the fit without limits, swaps lower
        the loss with them. Not with ``n_clusters="auto"`` or "optimal".
    callback : callable, optional
        Called with each record of the trace; returning True stops the fit once it has k medoids.
    checkpoint : str or path, optional
        A file that holds the state after each step, whole at any moment, so that a fit that is interrupted or killed
        can continue. It stays when the fit ends. A file that already exists is refused without ``resume``. Of
        `partial_fit`, the state after each batch.
    resume : bool, default=False
        Continue from ``checkpoint`` to the result that an uninterrupted fit would have had; start a new fit if there is
        no such file. Refused for other data, settings or random numbers; ``max_iter``, ``time_limit``, ``n_jobs``,
        ``callback``, ``verbose`` and (but for eager swaps) ``memory_limit`` may differ.
    random_state : int, RandomState or None, default=None
    n_jobs : int, optional
        Threads; None means all cores. The result does not depend on it. A slow Python callable is called in
        ``n_jobs`` processes where that is given, and in this process where it is None.
    verbose : int, default=0
        1 says on standard error what is going to happen, shows a bar on a terminal (with ``rich`` installed) and
        elsewhere, as in a notebook or a pipe, writes a line every 5 seconds, each with the percentage of the phase: of
        the distance matrix, of BUILD's steps, of ``max_iter`` swaps. 2 writes a line for each step.

    Attributes
    ----------
    n_clusters_ : int
        The number of medoids, k, that was asked for or chosen.
    medoid_indices_ : ndarray of shape (k,)
        Rows of X that are the medoids.
    cluster_centers_ : ndarray or sparse array of shape (k, p), frame of k rows, or list
        The medoids themselves. Not set for a precomputed matrix, which has none.
    labels_ : ndarray of shape (n,)
    distances_ : ndarray of shape (n,)
        From each row to its medoid.
    inertia_ : float
        Weighted sum of ``distances_``.
    loss_ : float
        ``inertia_`` over the sum of the weights: the mean distance.
    n_iter_ : int
        Swaps made.
    n_evaluations_ : int
        Distances computed, or read from a given matrix.
    trace_ : list of TraceRecord
        One record a step, of the best start.
    algorithm_, reason_ : str
        What ran, and why "auto" took it.
    converged_ : bool
        Whether the algorithm ended by its own rule, not by a limit or a callback; for "optimal", whether
        its gap is proved.
    lower_bound_, gap_ : float or None
        Of "optimal": no k medoids have a lower ``loss_`` than ``lower_bound_``, and ``loss_`` exceeds it by the share
        ``gap_``. None for other algorithms; see `certify`.
    n_features_in_, feature_names_in_
        As in scikit-learn, for arrays and frames.

    See Also
    --------
    k_medoids : The same as a function, with more in its result.
    k_path : Every number of clusters in a range at once, with scores.

    Notes
    -----
    PAM (Kaufman and Rousseeuw 1987) starts greedily (BUILD) and then makes the best of all k (n - k) swaps until none
    improves. "auto" follows exactly this path with n^2 / 2 distances, about ln k passes over them for BUILD, and 3/k
    of a pass for each swap.

    Examples
    --------
    >>> import numpy as np
    >>> from medoids import KMedoids
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = KMedoids(n_clusters=2).fit(X)
    >>> model.labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.cluster_centers_.tolist()
    [[1, 2], [10, 2]]
    >>> model.predict([[0, 0], [12, 3]]).tolist()
    [0, 1]
    >>> model.inertia_
    8.0
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
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
        names = ("n_clusters", *Settings.names())
        self.__dict__.update({name: value for name, value in locals().items() if name in names})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMedoids:
        """Find the medoids.

        Parameters
        ----------
        X : array-like, sparse array or frame of shape (n, p), square matrix, or sequence of n objects
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A point's weight multiplies its distance. A row of weight 0 is never a medoid and changes nothing.

        Returns
        -------
        KMedoids
        """
        with reporting_steps(self, X, y) as callback:
            before = self.__dict__.copy()
            try:
                check_columns_of_init(self.init, X)
                X = check_data(X, self.metric, self)
                self._kind = kind_of(self.metric, X)
                settings = Settings.of(vars(self), callback=callback)
                clustering, self._medoids = fit_checked(X, self.n_clusters, sample_weight, settings)
            except BaseException:
                # Nothing half-fitted: what was there before, a good fit or none, stays.
                self.__dict__.clear()
                self.__dict__.update(before)
                raise
        for name in ("cluster_centers_", "_stream", "n_samples_seen_"):
            self.__dict__.pop(name, None)
        if self.metric != "precomputed":
            self.cluster_centers_ = take_rows(X, clustering.medoid_indices)
        elif X.shape[0] != X.shape[1]:  # `predict` takes distances from each row, and columns are the points
            self.n_features_in_ = X.shape[0]
            self.__dict__.pop("feature_names_in_", None)
        self.medoid_indices_ = clustering.medoid_indices
        self.labels_ = clustering.labels
        self.distances_ = clustering.distances
        self._sample_weight = clustering.sample_weight
        self._describe(clustering)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMedoids:
        """Follow a stream: take up a batch of rows, in memory that does not grow.

        A weighted sample of all rows so far is kept, 4,000 of them or 100 for each cluster, and the medoids are those
        of the sample: rows of the stream, in any order of which the loss on the sample is an unbiased estimate of
        the loss on all rows. Any metric but "precomputed" and "gower" will do.

        After a batch, ``medoid_indices_`` count rows since the first batch, ``cluster_centers_`` are the medoids,
        ``labels_`` and ``distances_`` are of this batch, ``loss_`` and ``inertia_`` are estimates for all rows, and
        ``n_samples_seen_`` is their number. A fitted stream can be pickled and continued; `fit` forgets it.

        With ``checkpoint=PATH`` the file holds the stream after each batch, whole at any moment and without pickle, and
        with ``resume=True`` another process continues from the last batch that was complete. If it is offered the
        batches from the first one on, as a script that is run again does, it recognises those that were taken up and
        passes over them: ``n_samples_seen_`` says up to which row, and ``labels_`` are by the medoids so far. Other
        rows are new ones. Either way the result is that of a stream that nobody interrupted.

        Parameters
        ----------
        X : array-like, sparse array or sequence of objects
            The first batch has at least ``n_clusters`` rows.
        y : ignored
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        KMedoids

        Examples
        --------
        >>> import numpy as np
        >>> from medoids import KMedoids
        >>> model = KMedoids(2, random_state=0)
        >>> for batch in ([[0.0], [1.0], [9.0]], [[2.0], [10.0], [11.0]]):
        ...     model = model.partial_fit(batch)
        >>> model.cluster_centers_.ravel().tolist(), model.medoid_indices_.tolist(), model.labels_.tolist()
        ([1.0, 10.0], [1, 4], [0, 1, 1])
        """
        from medoids.stream import locked  # imports what fits

        before = self.__dict__.copy()
        try:
            check_checkpoint(self.checkpoint, self.resume, self.n_clusters)
            with locked(self.checkpoint) as file:
                self._take_up(X, sample_weight, file)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _take_up(self, X: Any, sample_weight: Any, file: Any) -> None:
        """Take up a batch of a stream, or pass over it if that was done before the stream was resumed."""
        from medoids.stream import about_stream, check_stream, open_stream

        follows = "_stream" in self.__dict__
        X = check_data(X, self.metric, self, reset=not follows, kind=self._kind if follows else None)
        self._kind = self._kind if follows else kind_of(self.metric, X)
        settings, k = Settings.of(vars(self)), self.n_clusters
        check_stream(settings, k, self._kind)
        about = about_stream(settings, k, self._kind, X)
        # A copy: what was there stays if this batch fails.
        stream = deepcopy(open_stream(self.__dict__.get("_stream"), settings, about, file))
        stream.check_same(about)
        stream.about = about
        if stream.seen and not follows:
            fitted = dissimilarity(stream.rows, self.metric, self.metric_params)
            self._medoids = fitted.take(np.searchsorted(stream.numbers, stream.medoids))
        if not (file is not None and stream.skips(X, sample_weight)):
            known = stream.seen > 0
            nearest = np.concatenate([each.min(axis=1) for each in self._distances(X)]) if known else None
            stream.add(X, sample_weight, nearest, int(k), stream.medoids)
            clustering, self._medoids = stream.fit(int(k), stream.medoids if known else None, settings)
            self._describe(clustering)
            if file is not None:
                stream.save(file, about)
        elif not follows and stream.summary is not None:
            self._describe(stream.summary.clustering(stream.medoids))
        self.medoid_indices_ = stream.medoids
        self.cluster_centers_ = take_rows(stream.rows, np.searchsorted(stream.numbers, stream.medoids))
        table = np.concatenate(list(self._distances(X)))
        self.labels_, self.distances_ = table.argmin(axis=1), table.min(axis=1)
        self._stream, self.n_samples_seen_ = stream, stream.seen
        self._sample_weight = sample_weight
        assert stream.summary is not None
        self.inertia_ = stream.summary.loss * stream.total

    def _describe(self, clustering: Clustering) -> None:
        """Set what a fit found, but for what has a row for each row of X."""
        self.__dict__.pop("_model_file", None)
        self.n_clusters_ = len(clustering.medoid_indices)
        self.inertia_, self.loss_ = clustering.inertia, clustering.loss
        self.n_iter_ = clustering.n_swaps
        self.n_evaluations_ = clustering.n_evaluations
        self.trace_ = clustering.trace
        self.algorithm_, self.reason_ = clustering.algorithm, clustering.reason
        self.converged_ = clustering.converged
        self.lower_bound_, self.gap_ = clustering.lower_bound, clustering.gap

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the nearest medoid's position for each row of new data; the lowest where several tie.

        With a precomputed metric, X has a column for each row of the matrix of the fit: entry [q, i] is d(i, q).
        """
        return np.concatenate([distances.argmin(axis=1) for distances in self._distances(self._checked(X))])

    def transform(self, X: Any) -> npt.NDArray[np.floating]:
        """Return the distances from each medoid to new data, of shape (rows, k): float32 for float32, else float64."""
        X = self._checked(X)
        distances = np.concatenate(list(self._distances(X)))
        return distances.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else distances

    def predict_proba(self, X: Any, m: float = 2.0) -> npt.NDArray[np.float64]:
        """Return how much each row of new data belongs to each medoid, of shape (rows, k).

        This is the membership of fuzzy c-medoids, in proportion to d^(-1/(m-1)) for the distance d to a medoid: not the
        probability of a model. Rows sum to 1, a medoid's own row is 1 there, and ``m`` > 1 says how soft it is.
        """
        shares: list[Float64s] = []
        for distances in self._distances(self._checked(X)):
            shares.append(memberships(distances, m, sum(map(len, shares))))
        return np.concatenate(shares)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the weighted sum of distances from new data to the nearest medoids."""
        distances = np.concatenate([distances.min(axis=1) for distances in self._distances(self._checked(X))])
        return -float(check_weights(sample_weight, len(distances)) @ distances)

    def export(self, path: Any) -> None:
        """Write the medoids, and what else `predict` needs, to a file of JSON that `medoids.load` reads.

        The file has a version and a checksum, holds no code, and works with ``medoids predict`` as well. It is written
        whole or not at all. ``labels_``, ``distances_`` and ``trace_`` are not part of it. A metric that is a function
        is refused, since a file without code cannot hold it.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        from medoids.storage.estimators import export_estimator

        export_estimator(self, self._kind, self._medoids, path)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_data(X, self.metric, self, reset=False, kind=self._kind)

    def _distances(self, X: Any) -> Iterator[npt.NDArray[np.float64]]:
        """Distances from each medoid to new data, some rows at a time: they may be on disk, and more than memory."""
        n = count_rows(X)
        for chunk in spans(n, ROWS_PER_QUERY):
            rows = X if n <= ROWS_PER_QUERY else take_rows(X, chunk)
            if self.metric == "precomputed":
                rows = rows[:, self.medoid_indices_]
            yield self._medoids.cross(rows).T
            release(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = "sparse" in kinds_of(self.metric)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
