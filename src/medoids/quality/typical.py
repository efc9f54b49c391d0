"""`cluster_medoids`: the most typical members of clusters that anybody made.

The medoid of a cluster is the member i with the lowest sum of w_s d(i, s) over its members s. Members are looked at in
batches, and those whose sum cannot be the lowest are never computed. Two bounds show that:

- those of the distance, if it has some that are cheaper than distances (`Searchable.least_sums`);
- the triangle inequality, where it holds: |S_j - W d(i, j)| <= S_i for each member j whose sum S_j is known (Newling
  and Fleuret 2017), with W the sum of the weights.

Where neither helps, all distances inside of the cluster are computed, in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.core.assignment import lowest
from medoids.distances import Calls, Counted, Dissimilarity, Tally, count_rows, dissimilarity
from medoids.engine.arrays import Bools, Float64s, Floats, Rows
from medoids.engine.budget import CHUNK_ENTRIES, CHUNK_NS, MEMBERS_PER_BATCH, REMEMBERED_SHARE, SILHOUETTE_ENTRIES
from medoids.engine.threads import Threads, spans
from medoids.inputs import check_data
from medoids.quality.fitted import in_memory
from medoids.settings import check_count, check_weights, parse_bytes

__all__ = ["ClusterMedoids", "cluster_medoids"]

# Share of a sum by which one of `block` may differ from that of `exact_block`, or in float64 from another order of
# summation: members within it of the best are compared exactly.
_SLACK = {True: 1e-9, False: 1e-3}


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
            search = _MedoidSearch(distance, members, weights[members], threads, tally)
            allowed = np.ones(len(members), dtype=bool) if complete is None else complete[members]
            if np.count_nonzero(allowed) < min(n, len(members)):
                allowed[:] = True
            found, sums = search.most_typical(n, allowed)
            indices[cluster, : len(found)], means[cluster, : len(found)] = members[found], sums / search.total
    if n == 1:
        indices, means = indices[:, 0], means[:, 0]
    return ClusterMedoids(names, indices, means, counts, tally.computed)


def _clusters(labels: Any, n: int) -> tuple[npt.NDArray[Any], Rows]:
    """Return the different labels, sorted where they can be, and the number of each row's, -1 for none."""
    convert = next((name for name in ("tolist", "to_list", "to_pylist") if hasattr(labels, name)), None)
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


class _MedoidSearch:
    """The search for the members of one cluster with the lowest sums of distances to all of them.

    Parameters
    ----------
    distance : Dissimilarity
        Of all rows.
    members : ndarray
        Rows of the cluster.
    weights : ndarray
        Of the members, all positive.
    threads : Threads
    tally : Tally
    """

    def __init__(
        self, distance: Dissimilarity, members: Rows, weights: Float64s, threads: Threads, tally: Tally
    ) -> None:
        # A copy of vectors has the centre of the cluster as its origin, and so more digits.
        part = distance.take(members) if distance.copy_bytes() else distance.reordered(members)
        self._least = part.least_sums(weights)
        self._part, self._whole = Counted(part, tally), Counted(distance, tally)
        self._members, self._weights, self._threads = members, weights, threads
        self.total = float(weights.sum())

    def most_typical(self, n: int, allowed: Bools) -> tuple[Rows, Float64s]:
        """Return up to n positions among the members, and their sums."""
        m, slack = len(self._members), _SLACK[self._part.exact]
        n = min(n, int(np.count_nonzero(allowed)))
        least = np.where(allowed, -np.inf if self._least is None else self._least, np.inf)
        sums, sizes, best = np.full(m, np.inf), np.zeros(m), np.inf
        # The first batch is the most promising. After that, a random order suits the triangle inequality best.
        order, first = np.argsort(least, kind="stable")[: np.count_nonzero(allowed)], _batch(m, 0)
        order[first:] = np.random.default_rng(0).permutation(order[first:])
        bounding, step = self._part.triangle and self._part.symmetric, 0
        while len(order):
            batch, order = order[: _batch(m, step)], order[_batch(m, step) :]
            block = np.empty((len(batch), m), self._part.dtype) if bounding else None
            sums[batch], sizes[batch] = self._sum(self._part.block, batch, block)
            known = np.flatnonzero(np.isfinite(sums))
            if len(known) >= n:
                last = known[np.argpartition(sums[known], n - 1)[n - 1]]
                best = sums[last] + slack * sizes[last]
            if block is not None:
                self._tighten(least, block, sums[batch])
            left = order[least[order] <= best]
            # Where it rules out fewer members than it costs, as in many dimensions, the inequality is not asked again.
            bounding = bounding and (step < 2 or len(order) - len(left) >= len(batch))
            order, step = left, step + 1
        finalists = np.flatnonzero(sums <= best)
        if not self._part.exact:
            sums[finalists], sizes[finalists] = self._sum(self._exact_block, finalists)
        return _ranked(finalists, n, sums, sizes)

    def _exact_block(self, rows: Rows, columns: slice) -> Float64s:
        return self._whole.exact_block(self._members[rows], self._members[columns])

    def _sum(
        self, block: Callable[[Rows, slice], Floats], members: Rows, out: Floats | None = None
    ) -> tuple[Float64s, Float64s]:
        """Return the sums of the distances of some members, and of their absolute values; all distances go to out."""
        sums, sizes = np.zeros(len(members)), np.zeros(len(members))
        m, width = len(self._members), max(1, int(min(SILHOUETTE_ENTRIES, CHUNK_NS / self._part.cost)))

        def work(chunk: slice) -> None:
            for columns in spans(m, width):
                self._threads.interrupts.check()
                distances, weights = block(members[chunk], columns), self._weights[columns]
                sum_ = distances @ weights
                sums[chunk] += sum_
                sizes[chunk] += np.abs(distances) @ weights if distances.min() < 0 else sum_
                if out is not None:
                    out[chunk, columns] = distances

        self._part.prepare(self._threads)
        self._threads.map(work, spans(len(members), max(1, width // m)), threaded=self._part.threaded)
        return sums, sizes

    def _tighten(self, least: Float64s, block: Floats, sums: Float64s) -> None:
        """Raise the bounds of all members by the triangle inequality with some of them."""

        def work(columns: slice) -> None:
            bound = np.abs(sums[:, None] - self.total * block[:, columns]).max(axis=0)
            np.maximum(least[columns], bound, out=least[columns])

        self._threads.map(work, spans(block.shape[1], max(1, CHUNK_ENTRIES // len(block))))


def _batch(m: int, step: int) -> int:
    """Return the number of members of a batch: few at first, so that bounds rule out many early."""
    return max(1, min(MEMBERS_PER_BATCH << min(step, 4), SILHOUETTE_ENTRIES // m))


def _ranked(finalists: Rows, n: int, sums: Float64s, sizes: Float64s) -> tuple[Rows, Float64s]:
    """Return the n members with the lowest sums; the lowest row first among those that tie."""
    chosen, losses = [], sums[finalists]
    for _ in range(n):
        at = lowest(losses[None], sizes[finalists][None])[1]
        chosen.append(finalists[at])
        losses[at] = np.inf
    return np.array(chosen), sums[chosen]
