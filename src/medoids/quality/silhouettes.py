"""Silhouettes: how well points lie in their clusters, without an n x n matrix.

The silhouette of a point (Rousseeuw 1987) is (b - a) / max(a, b), with a its mean distance to the other members of its
own cluster and b the lowest mean distance to another one; 0 in a cluster of one. Distances are d(member, point), and
weights weigh the members. The medoid silhouette (Van der Laan, Pollard and Bryan 2003; Lenssen and Schubert 2022) puts
medoids in the place of means: 1 - d1 / d2, with 0 / 0 as 0. Its price is nk distances instead of n^2.

A sampled silhouette draws points, and each drawn point meets all others: its own value is exact, and their mean has no
bias. Drawing the points that it is compared with instead would be cheaper, and wrong: the lowest of several estimated
means is too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.utils import check_random_state

from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import CHUNK_NS, SILHOUETTE_ENTRIES
from medoids.engine.threads import Threads, spans
from medoids.quality.fitted import is_model, measured, weights_of
from medoids.result import Clustering
from medoids.settings import check_count, parse_bytes

__all__ = ["Silhouette", "medoid_silhouette", "medoid_silhouettes", "silhouette", "silhouettes"]


# Points drawn where all are too many.
_SILHOUETTE_SAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A mean silhouette.

    Attributes
    ----------
    value : float
        The weighted mean over all points, or its estimate.
    error : float
        Its standard error; 0 where all points were looked at.
    rows : ndarray of shape (m,)
        The points that were looked at.
    samples : ndarray of shape (m,)
        Their silhouettes.
    n_evaluations : int
        Distances computed.
    """

    value: float
    error: float
    rows: Rows = field(repr=False)
    samples: Float64s = field(repr=False)
    n_evaluations: int = 0

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval that holds the mean over all points with a probability of about ``level``."""
        reach = float(norm.ppf(0.5 + level / 2)) * self.error
        return self.value - reach, self.value + reach


def silhouette(
    clustering: Any,
    X: Any,
    *,
    samples: int | None = None,
    sample_weight: Any = None,
    memory_limit: Any = "2GiB",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Silhouette:
    """Mean silhouette of a clustering under the metric that it was made with.

    Parameters
    ----------
    clustering : Clustering or fitted KMedoids
        On a Dask cluster too; its labels, and X if that is a Dask collection, are brought into memory.
    X : the data that it was fitted to
    samples : int, optional
        Points to draw. By default all, where a matrix of their distances would fit into ``memory_limit`` (no matrix is
        made), and 1,000 where it would not.
    sample_weight : array-like of shape (n,), optional
        By default those of the fit.
    memory_limit : int or str, default="2GiB"
    random_state : int, RandomState or None
        Which points are drawn.
    n_jobs : int, optional
        Threads; None means all cores.

    Returns
    -------
    Silhouette

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from medoids import k_medoids, silhouette
    >>> X = load_iris().data
    >>> found = silhouette(k_medoids(X, 3), X)
    >>> round(found.value, 3), found.error
    (0.553, 0.0)
    """
    found, distance = _measured(clustering, X)
    labels, weights = found.labels, weights_of(found, sample_weight)
    rows = np.flatnonzero(weights > 0)
    if samples is None:
        fits = len(labels) ** 2 * distance.dtype.itemsize <= parse_bytes(memory_limit)
        m = len(rows) if fits else _SILHOUETTE_SAMPLES
    else:
        m = check_count("samples", samples, 2)
    if m < len(rows):
        rows = np.sort(check_random_state(random_state).choice(rows, m, replace=False))
    with Threads(n_jobs) as threads:
        return silhouettes(distance, [labels], weights, rows, threads)[0]


def medoid_silhouette(clustering: Any, X: Any, *, sample_weight: Any = None) -> Silhouette:
    """Mean medoid silhouette of a clustering: exact, from nk distances.

    Parameters
    ----------
    clustering : Clustering or fitted KMedoids
        On a Dask cluster too; its labels, and X if that is a Dask collection, are brought into memory.
    X : the data that it was fitted to
    sample_weight : array-like of shape (n,), optional
        By default those of the fit.

    Returns
    -------
    Silhouette

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from medoids import k_medoids, medoid_silhouette
    >>> X = load_iris().data
    >>> round(medoid_silhouette(k_medoids(X, 3), X).value, 3)
    0.647
    """
    found, distance = _measured(clustering, X)
    medoids, weights = found.medoid_indices, weights_of(found, sample_weight)
    n, k = len(weights), len(medoids)
    if k < 2:
        raise ValueError("a silhouette compares clusters, and there is one only; ask for n_clusters >= 2")
    values = np.empty(n)
    for chunk in spans(n, _width(distance, k)):
        two = np.partition(distance.exact_block(medoids, chunk), 1, axis=0)
        values[chunk] = medoid_silhouettes(two[0], two[1])
    return Silhouette(float(weights @ values / weights.sum()), 0.0, np.arange(n), values, n * k)


def medoid_silhouettes(d1: Float64s, d2: Float64s) -> Float64s:
    """1 - d1 / d2 of each point, with 0 / 0 as 0.

    >>> medoid_silhouettes(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.75, 1.0]
    """
    return np.asarray(np.clip(1 - np.divide(d1, d2, out=np.zeros(len(d1)), where=d2 != 0), -1, 1))


def silhouettes(
    distance: Dissimilarity, labels: Sequence[Rows], weights: Float64s, rows: Rows, threads: Threads
) -> list[Silhouette]:
    """Silhouettes of several clusterings of the same points, on the same drawn rows: a distance serves them all."""
    n, m = len(weights), len(rows)
    counts = [int(each.max()) + 1 for each in labels]
    if min(counts) < 2:
        raise ValueError("a silhouette compares clusters, and there is one only; ask for n_clusters >= 2")
    starts = np.concatenate([[0], np.cumsum(counts)])
    # Row c of this matrix sums what cluster c holds, over all clusterings.
    cluster = np.concatenate([each + start for each, start in zip(labels, starts[:-1], strict=True)])
    member = np.tile(np.arange(n), len(labels))
    sums = csr_array((weights[member], (cluster, member)), shape=(int(starts[-1]), n))
    masses = np.bincount(cluster, weights[member], minlength=int(starts[-1])).astype(np.float64)
    values = np.empty((len(labels), m))

    def work(chunk: slice) -> None:
        points = rows[chunk]
        block = distance.exact_block(slice(0, n), points)
        own_distance = block[points, np.arange(len(points))]
        totals = sums @ block
        for number, each in enumerate(labels):
            part = slice(starts[number], starts[number + 1])
            values[number, chunk] = _values(
                totals[part], masses[part], each[points], weights[points], weights[points] * own_distance
            )

    threads.map(work, spans(m, _width(distance, n)), threaded=distance.threaded)
    w = weights[rows]
    left = max(1 - m / np.count_nonzero(weights), 0.0)  # drawn without replacement: of all points nothing is in doubt
    found = []
    for each in values:
        mean = float(w @ each / w.sum())
        spread = float(np.sqrt((w**2 @ (each - mean) ** 2) * m / max(m - 1, 1)) / w.sum())
        found.append(Silhouette(mean, spread * float(np.sqrt(left)), rows, each, n * m))
    return found


def _values(totals: Float64s, masses: Float64s, own: Rows, w: Float64s, itself: Float64s) -> Float64s:
    """Silhouettes of points from the (clusters, points) sums of their distances, without those to themselves."""
    at = own, np.arange(len(own))
    others = masses[own] - w
    alone = others <= 1e-12 * masses[own]
    a = np.divide(totals[at] - itself, others, out=np.zeros(len(own)), where=~alone)
    means = totals / masses[:, None]
    means[at] = np.inf
    b = means.min(axis=0)
    high = np.maximum(a, b)
    return np.asarray(np.divide(b - a, high, out=np.zeros(len(own)), where=(high != 0) & ~alone))


def _width(distance: Dissimilarity, n: int) -> int:
    """Points of a block with n rows."""
    return int(max(1, min(SILHOUETTE_ENTRIES, CHUNK_NS / distance.cost) // n))


def _measured(clustering: Any, X: Any) -> tuple[Clustering, Dissimilarity]:
    """Return a clustering and its distance; for labels of another origin, say where to go."""
    if not is_model(clustering) and not is_model(X):
        raise TypeError(
            "the model comes first: a Clustering or a fitted KMedoids, followed by X; got "
            f"{type(clustering).__name__}. For labels of another origin use sklearn.metrics.silhouette_score(X, labels)"
        )
    return measured(clustering, X)[:2]
