"""`cluster_medoids`: the most typical members of clusters that anybody made."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.core.lowest_sums import LowestSums
from medoids.distances import Calls, Tally, count_points, count_rows, dissimilarity
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import REMEMBERED_SHARE
from medoids.engine.threads import Threads
from medoids.inputs import check_data
from medoids.quality.fitted import in_memory
from medoids.settings import check_count, check_weights, parse_bytes

__all__ = ["ClusterMedoids", "cluster_medoids"]


@dataclass(frozen=True, eq=False)
class ClusterMedoids:
    """The most typical members of k clusters; with n > 1, a row of n columns for each cluster.

    Attributes
    ----------
    labels : ndarray of shape (k,)
        The clusters, in ascending order.
    medoid_indices : ndarray of shape (k,) or (k, n)
        Rows of X, the most typical first; -1 where a cluster has fewer than n members.
    mean_distances : ndarray of shape (k,) or (k, n)
        Weighted mean distance from each of them to all members of the cluster; NaN where there is none.
    sizes : ndarray of shape (k,)
        Rows of each cluster.
    n_evaluations : int
        Distances computed.
    """

    labels: npt.NDArray[Any]
    medoid_indices: Rows
    mean_distances: Float64s
    sizes: Rows
    n_evaluations: int = field(repr=False, default=0)

    def to_frame(self) -> Any:
        """Return a pandas frame: label, rank, row, mean_distance and size of each member that was found."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install pandas; or use the arrays themselves") from None
        n = self.medoid_indices[:1].size
        rows = self.medoid_indices.ravel()
        columns = {
            "label": np.repeat(self.labels, n),
            "rank": np.tile(np.arange(n), len(self.labels)),
            "row": rows,
            "mean_distance": self.mean_distances.ravel(),
            "size": np.repeat(self.sizes, n),
        }
        return DataFrame({name: values[rows >= 0] for name, values in columns.items()})


def cluster_medoids(
    X: Any,
    labels: Any,
    *,
    n: int = 1,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    memory_limit: Any = "2GiB",
    n_jobs: int | None = None,
) -> ClusterMedoids:
    """Find the medoid, the most typical member, of each cluster that somebody else made.

    The clusters may come from HDBSCAN, KMeans, Leiden, a topic model or a column of a table. The answer is exact, and
    no matrix of distances is made: for vectors, bounds rule out most members before any of their distances is known.

    Parameters
    ----------
    X : array-like, sparse array or frame of shape (n, p), matrix of distances, or sequence of objects
        As for `k_medoids`.
    labels : array-like, one for each row
        Numbers, texts or anything else that is hashable. Rows with the number -1, which stands for noise, and rows
        without a label (None, NaN) are left out.
    n : int, default=1
        How many members of each cluster, the most typical first.
    metric, metric_params, n_jobs
        As in `KMedoids`.
    sample_weight : array-like, optional
        A member's weight multiplies its distance; a row of weight 0 is never a medoid.
    memory_limit : int or str, default="2GiB"
        Of which a Python callable takes an eighth to remember its values, so that none is computed twice.

    Returns
    -------
    ClusterMedoids

    Notes
    -----
    Members whose sums differ by less than 1e-10 of them tie, and the lowest row comes first. Under "gower", members
    with missing values are chosen only if there are not enough without: what is missing costs nothing.

    Examples
    --------
    >>> from sklearn.cluster import HDBSCAN
    >>> from sklearn.datasets import load_iris
    >>> from medoids import cluster_medoids
    >>> X = load_iris().data
    >>> found = cluster_medoids(X, HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X))
    >>> found.labels.tolist(), found.medoid_indices.tolist(), found.sizes.tolist()
    ([0, 1], [7, 126], [50, 100])
    >>> words = ["tape", "ape", "grape", "zebra", "cobra"]
    >>> cluster_medoids(words, list("aaabb"), metric=lambda a, b: len(set(a) ^ set(b)), n=2).medoid_indices.tolist()
    [[1, 0], [3, 4]]
    """
    X = check_data(in_memory(X), metric)
    rows = count_rows(X)
    if count_points(X, metric) != rows:
        raise ValueError(f"metric='precomputed' needs the distances among all rows, a square matrix; got {X.shape}")
    names, codes = _clusters(in_memory(labels), rows)
    weights = check_weights(in_memory(sample_weight), rows)
    n = check_count("n", n, 1)
    counts = np.zeros(len(names), dtype=np.intp)
    indices, means = np.full((len(names), n), -1, dtype=np.intp), np.full((len(names), n), np.nan)
    threads = Threads(n_jobs)
    tally = Tally()
    calls = Calls(n_jobs, parse_bytes(memory_limit) // REMEMBERED_SHARE, tally, threads.interrupts.check)
    distance = dissimilarity(X, metric, metric_params, calls)
    complete, order = distance.complete(), np.argsort(codes, kind="stable")
    with threads, calls:
        ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
        for cluster, name in enumerate(names.tolist()):
            all_members = order[ends[cluster] : ends[cluster + 1]]
            counts[cluster] = len(all_members)
            members = all_members[weights[all_members] > 0]
            if len(members) == 0:
                raise ValueError(
                    f"every row of the cluster {name!r} has sample_weight 0, so none can be its medoid; give one a "
                    "positive weight, or label these rows -1 to leave them out"
                )
            search = LowestSums(distance, members, weights[members], threads, tally)
            allowed = np.ones(len(members), dtype=bool) if complete is None else complete[members]
            if np.count_nonzero(allowed) < min(n, len(members)):
                allowed[:] = True
            found, sums = search.find(n, allowed)
            indices[cluster, : len(found)], means[cluster, : len(found)] = members[found], sums / search.total
    if n == 1:
        indices, means = indices[:, 0], means[:, 0]
    return ClusterMedoids(names, indices, means, counts, tally.computed)


def _clusters(labels: Any, n: int) -> tuple[npt.NDArray[Any], Rows]:
    """Return the different labels, sorted where they can be, and the number of each row's, -1 for none."""
    convert = next((name for name in ("tolist", "to_list", "to_pylist") if hasattr(labels, name)), None)
    if hasattr(labels, "columns") or isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise TypeError(
            f"labels must be 1-D, a label for each row of X; got {type(labels).__name__}. Pass a column of a table as "
            "table[name]"
        )
    values = list(labels) if convert is None else getattr(labels, convert)()
    if len(values) != n:
        raise ValueError(f"labels has {len(values)} entries, but X has {n} rows; pass one label for each row")
    if any(isinstance(value, (list, dict, set)) for value in values):
        raise ValueError("labels must be 1-D, one hashable value for each row, such as a number or a text")
    different = [value for value in dict.fromkeys(values) if not _is_noise(value)]
    if not different:
        raise ValueError(
            "labels leaves no row: each is -1 or missing, which stand for noise; pass the label of a cluster"
        )
    with suppress(TypeError):  # texts and numbers, say, stay in the order in which they come
        different = sorted(different)
    number = {value: at for at, value in enumerate(different)}
    names = np.array(different) if len({type(value) for value in different}) == 1 else np.array(different, dtype=object)
    if names.ndim > 1:  # tuples
        names = np.fromiter(different, dtype=object, count=len(different))
    return names, np.array([number.get(value, -1) for value in values], dtype=np.intp)


def _is_noise(label: Any) -> bool:
    """Whether a label stands for no cluster: -1, None, NaN or pandas' missing values."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, Real) and (label == -1 or label != label)
