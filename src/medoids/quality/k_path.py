"""`k_path`: a clustering for every number of clusters in a range, from one shared computation, and which to take.

BUILD is greedy, so its first k medoids are BUILD's own start for k: it runs once, to the largest k. All fits then look
at the points in the same order and share the distances that any of them has computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from medoids.algorithms.fastermsc import dynmsc
from medoids.algorithms.fastpam1 import fastpam1
from medoids.algorithms.pairedpam import PairedPAM, pairedpam
from medoids.core.assignment import KeptRows
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.core.sampling import with_candidates
from medoids.distances import SMALL, Count, Dissimilarity, count_points, count_rows
from medoids.distances.precomputed import Precomputed
from medoids.engine.arrays import Rows
from medoids.exact.matrix import Matrix, MatrixRows
from medoids.exact.start import start
from medoids.inputs import check_data
from medoids.pipeline import announcement, choose_algorithm, described, prepare, warn, warn_of_limit
from medoids.progress import narrated
from medoids.quality.silhouettes import Silhouette, medoid_silhouettes, silhouettes
from medoids.result import Clustering, TraceRecord, short
from medoids.settings import (
    Settings,
    check_budget,
    check_candidates,
    check_checkpoint,
    check_choice,
    check_frozen,
    check_k_range,
    check_objective,
    check_sizes,
    check_time_limit,
    check_weights,
    usable_weights,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CRITERIA", "KPath", "fit_auto", "k_path"]

CRITERIA = ("medoid_silhouette", "silhouette", "elbow", "stability")
_Counts = dict[str, Count]
# Algorithms that share BUILD and distances over all k.
_SHARING = ("auto", "fastpam1", "pairedpam")
# Points drawn for the silhouette where n^2 distances are too many.
_SILHOUETTE_POINTS = 500
# Resampled fits, the largest number of points of each, and the points on which they are compared.
_RESAMPLED_FITS, _RESAMPLED_POINTS, _COMPARED_POINTS = 8, 1000, 1000
# Agreements that differ by less tie, and the larger k is taken.
_AGREEMENT_TIE = 0.01


@dataclass(frozen=True, eq=False)
class KPath:
    """A clustering for each number of clusters.

    Attributes
    ----------
    clusterings : dict of Clustering, by k
        Each is what ``k_medoids(X, k, init=path.build[:k])`` gives; ``n_evaluations`` counts what it took beyond those
        before it.
    losses : dict of float, by k
        Mean distances to the nearest medoid.
    silhouettes : dict of Silhouette, by k >= 2
        With their errors, where they are estimates.
    scores : dict of ndarray
        Columns ``k``, ``loss``, ``medoid_silhouette``, ``silhouette``, ``smallest_cluster``; pandas reads it.
        Silhouettes of k = 1 are NaN.
    build : ndarray
        Rows in the order in which BUILD chose them.
    algorithm, reason : str
        What ran, and why.
    n_evaluations : int
        Distances computed for all of it.
    counts : dict
        The same by phase.
    """

    clusterings: dict[int, Clustering]
    losses: dict[int, float]
    silhouettes: dict[int, Silhouette]
    scores: dict[str, npt.NDArray[Any]]
    build: npt.NDArray[np.intp]
    algorithm: str
    reason: str
    n_evaluations: int
    counts: dict[str, Count]
    _data: tuple[Any, Any, Settings]

    def __repr__(self) -> str:
        scores = [f"{name}={short(self.scores[name])}" for name in ("loss", "medoid_silhouette")]
        n = len(next(iter(self.clusterings.values())).labels)
        return (
            ",\n      ".join([f"KPath(k={short(self.scores['k'])}, n={n}, algorithm={self.algorithm!r}", *scores]) + ")"
        )

    def suggest(self, criterion: str = "medoid_silhouette") -> int:
        """Return a number of clusters.

        Parameters
        ----------
        criterion : {"medoid_silhouette", "silhouette", "elbow", "stability"}
            The highest mean silhouette; the bend of the loss, where it lies farthest below the line from its first to
            its last value; or the highest agreement of fits on resampled data (see `stability`), of which the largest
            k within 0.01 of the highest is taken.
        """
        check_choice("criterion", criterion, CRITERIA)
        ks = self.scores["k"]
        if criterion == "elbow":
            if len(ks) < 3:
                raise ValueError(f"a bend takes three numbers of clusters; k_range has {len(ks)}")
            return int(ks[np.argmax(_depth(ks, self.scores["loss"]))])
        if criterion == "stability":
            values = np.array([self.stability[k] for k in ks.tolist()])
            if np.isnan(values).all():
                raise ValueError("halves of the data are too few rows for any k > 1 of k_range; take another criterion")
            return int(ks[np.flatnonzero(values >= np.nanmax(values) - _AGREEMENT_TIE)[-1]])
        values = self.scores[criterion]
        if np.isnan(values).all():
            raise ValueError("a silhouette compares clusters; k_range must have a number above 1")
        return int(ks[np.nanargmax(values)])

    def explain(self, criterion: str = "medoid_silhouette") -> str:
        """Return a suggestion and its reason in one sentence."""
        k, ks = self.suggest(criterion), self.scores["k"]
        if criterion == "elbow":
            why = f"the loss, {self.losses[k]:.4g}, bends most here"
        elif criterion == "stability":
            why = f"fits on halves of the data agree best, with an adjusted Rand index of {self.stability[k]:.2f}"
        else:
            error = self.silhouettes[k].error if criterion == "silhouette" else 0
            value = f"{self.scores[criterion][ks == k][0]:.3f}{f' ± {1.96 * error:.3f}' if error else ''}"
            why = f"it has the highest {criterion.replace('_', ' ')}, {value}"
        return f"k = {k}: of k = {ks[0]} to {ks[-1]} {why}"

    @cached_property
    def stability(self) -> dict[int, float]:
        """For each k the mean adjusted Rand index of fits on resampled data, compared on the same points.

        Eight fits, each on half of the rows, at most 1,000; NaN for k = 1 and where a half has fewer than k rows.
        Computed when it is first asked for.
        """
        X, sample_weight, settings = self._data
        ks = self.scores["k"].tolist()
        with prepare(X, ks[-1], sample_weight, replace(settings, verbose=0, callback=None)) as (problem, run):
            return _agreement(problem, run, ks)

    def plot(self, *, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw loss and silhouettes over k with matplotlib, which the extra ``report`` brings; return the two Axes."""
        from medoids.plot import k_path as draw  # imported upward on purpose: a path over k draws itself

        return draw(self, axes=axes)


def k_path(
    X: Any,
    k_range: Any = None,
    *,
    sample_weight: Any = None,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    algorithm: str = "auto",
    n_restarts: int = 0,
    max_iter: int = 300,
    delta: float | None = None,
    memory_limit: Any = "2GiB",
    frozen_medoids: Any = None,
    candidates: Any = None,
    callback: Callable[[TraceRecord], object] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> KPath:
    """Cluster with every number of clusters in a range, sharing BUILD and distances, and score the results.

    Parameters
    ----------
    X : array-like, matrix or sequence
        As for `k_medoids`.
    k_range : iterable of int, optional
        Numbers of clusters, such as ``range(2, 21)``; 2 to 10 by default.
    algorithm : {"auto", "fastpam1", "pairedpam"}
        The two that give PAM's answer and share their work; "auto" takes the one that is cheaper for the largest k.
    n_restarts : int
        Restarts for each number of clusters.
    sample_weight, metric, metric_params, max_iter, delta, memory_limit, frozen_medoids, candidates, callback, \
random_state, n_jobs, verbose
        As in `KMedoids`; the candidates are those for the largest number of clusters.

    Returns
    -------
    KPath

    Notes
    -----
    The silhouette is exact up to 3,000 points, and beyond that an estimate from 500 points, the same for all k.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from medoids import k_path
    >>> X, _ = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8], [8, 8]], random_state=0)
    >>> path = k_path(X, range(2, 9))
    >>> path.suggest(), path.suggest("elbow"), path.suggest("stability")
    (4, 4, 4)
    >>> path.explain()
    'k = 4: of k = 2 to 8 it has the highest medoid silhouette, 0.824'
    """
    return _path(check_data(X, metric), sample_weight, Settings.of(locals()))[0]


def fit_auto(X: Any, sample_weight: Any, settings: Settings) -> tuple[Clustering, Dissimilarity]:
    """Cluster with the number of clusters that the medoid silhouette suggests; return also the medoids' distance."""
    check_checkpoint(settings.checkpoint, settings.resume, "auto")
    check_time_limit(settings.time_limit, "auto")
    check_budget(settings.max_evaluations, "auto")
    check_sizes(settings.min_size, settings.max_size, count_rows(X), "auto", settings.algorithm)
    if not isinstance(settings.init, str) or settings.init != "build":
        raise ValueError(f"n_clusters='auto' starts from BUILD, not from init={settings.init!r}; leave init alone")
    check_choice("swap, with n_clusters='auto',", settings.swap, ["auto", "best"])
    if check_objective(settings.objective, settings.algorithm, None, settings) == "medoid_silhouette":
        return _fit_dynamic(X, sample_weight, settings)
    path, distance = _path(X, sample_weight, settings)
    # Nothing to compare: the only number there is.
    k = path.suggest() if len(path.losses) > 1 else next(iter(path.losses))
    found = replace(
        path.clusterings[k],
        reason=f"{path.explain()}; {path.reason}" if len(path.losses) > 1 else path.reason,
        n_evaluations=path.n_evaluations,
        counts=path.counts,
    )
    return found, distance.take(found.medoid_indices)


def _fit_dynamic(X: Any, sample_weight: Any, settings: Settings) -> tuple[Clustering, Dissimilarity]:
    """Cluster by DynMSC: the number of clusters with the highest medoid silhouette on the way down from the largest."""
    check_choice("algorithm, to find the number of clusters by silhouette,", settings.algorithm, ["auto", "fasterpam"])
    n = count_rows(X)
    weights = check_weights(sample_weight, n)
    frozen = check_frozen(settings.frozen_medoids, "build", n, n, weights)
    ks = check_k_range(settings.k_range, int(np.count_nonzero(weights)), len(frozen))
    if ks[0] < 2:
        raise ValueError("objective='medoid_silhouette' compares clusters; k_range must begin at 2 or after")
    with prepare(X, ks[-1], sample_weight, settings) as (problem, run):
        with narrated(problem, run, int(settings.verbose), (1 + ks[-1] - ks[0]) * problem.max_iter) as announce:
            algorithm, *_ = choose_algorithm(settings.algorithm, problem, run)
            announce(announcement(algorithm, f"DynMSC, from {ks[-1]} clusters down to {ks[0]}", problem))
            run.begin()
            solution = dynmsc(problem, run, ks)
        warn_of_limit(solution, problem, run)
        warn(solution.assignment)
        k, value = len(solution.assignment.medoids), 1 - solution.assignment.loss / problem.total_weight
        reason = f"k = {k}: of k = {ks[0]} to {ks[-1]} it has the highest medoid silhouette, {value:.3f}, by DynMSC"
        found = described(solution, replace(problem, k=k), run, algorithm, reason, settings)
        return found, problem.distance.take(found.medoid_indices)


def _path(X: Any, sample_weight: Any, settings: Settings) -> tuple[KPath, Dissimilarity]:
    check_choice("algorithm, to share its work over all k,", settings.algorithm, _SHARING)
    n = count_rows(X)
    if count_points(X, settings.metric) != n:
        raise ValueError(
            f"X is a matrix of {n} candidates and {count_points(X, settings.metric)} points, for which the number of "
            "clusters must be given; pass a number, or a square matrix"
        )
    weights = check_weights(sample_weight, n)
    usable = usable_weights(weights, check_candidates(settings.candidates, n), n)
    # Drawn once: a RandomState that is asked again, for the stability, must not give another permutation.
    settings = replace(settings, random_state=_seed(settings.random_state))
    frozen = check_frozen(settings.frozen_medoids, "build", n, n, usable)
    ks = check_k_range(settings.k_range, int(np.count_nonzero(usable)), len(frozen))
    clusterings, ratios = {}, []
    with prepare(X, ks[-1], sample_weight, settings) as (problem, run):
        build: Rows = np.zeros(0, dtype=np.intp)
        with narrated(problem, run, int(settings.verbose), len(ks) * problem.max_iter) as announce:
            algorithm, _, reason = choose_algorithm(settings.algorithm, replace(problem, swap="best"), run)
            announce(announcement(algorithm, reason, problem))
            for part, solution, before in _walk(problem, run, ks, algorithm):
                warn_of_limit(solution, part, run)
                warn(solution.assignment)
                assignment, build = solution.assignment, np.asarray(part.init, dtype=np.intp)
                asked = replace(settings, init=build, k_range=None, algorithm=algorithm)
                found = described(solution, part, run, algorithm, reason, asked)
                counts = _since(before, run.tally.counts)
                computed = sum(count.computed for count in counts.values())
                clusterings[part.k] = replace(found, n_evaluations=computed, counts=counts)
                values = medoid_silhouettes(assignment.d1, assignment.d2) if part.k > 1 else np.full(n, np.nan)
                ratios.append(float(weights @ values / weights.sum()))
            found_silhouettes = _silhouettes(problem, run, clusterings)
        return KPath(
            clusterings=clusterings,
            losses={k: found.loss for k, found in clusterings.items()},
            silhouettes=found_silhouettes,
            scores={
                "k": np.array(ks),
                "loss": np.array([found.loss for found in clusterings.values()]),
                "medoid_silhouette": np.array(ratios),
                "silhouette": np.array([found_silhouettes[k].value if k > 1 else np.nan for k in ks]),
                "smallest_cluster": np.array([int(np.bincount(found.labels).min()) for found in clusterings.values()]),
            },
            build=build,
            algorithm=algorithm,
            reason=reason,
            n_evaluations=run.tally.computed,
            counts=_since({}, run.tally.counts),
            _data=(X, sample_weight, settings),
        ), problem.distance


def _seed(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _walk(problem: Problem, run: Run, ks: Sequence[int], algorithm: str) -> Iterator[tuple[Problem, Solution, _Counts]]:
    """BUILD once, then swaps for each k from its first medoids; with the counts as they were before."""
    before: _Counts = {}
    search = PairedPAM(problem, run) if algorithm == "pairedpam" else None
    built = search.build() if search is not None else start(problem, run)[2]
    known = {}
    if isinstance(built.lookup, KeptRows):
        known = {i: built.lookup.table[slot] for slot, i in enumerate(built.medoids)}
    for k in ks:
        part = replace(problem, k=k, init=np.array(built.medoids[:k]))
        run.begin()
        solution = fastpam1(part, run, known) if search is None else search.continue_with(part, run, known)
        solution.trace = run.trace
        if problem.n_restarts and not run.stopped:
            from medoids.optimal.improve import improve_by_restarts  # imports Numba

            again = fastpam1 if search is None else pairedpam
            solution = improve_by_restarts(part, run, solution, problem.n_restarts, again)
        yield part, solution, before
        before = _since({}, run.tally.counts)


def _since(before: _Counts, now: _Counts) -> _Counts:
    """Return a copy of the counts, without those before."""
    return {phase: count - before.get(phase, Count()) for phase, count in now.items()}


def _silhouettes(problem: Problem, run: Run, clusterings: dict[int, Clustering]) -> dict[int, Silhouette]:
    rows = problem.references
    if problem.n > SMALL and len(rows) > _SILHOUETTE_POINTS:
        rows = np.sort(run.random.choice(rows, _SILHOUETTE_POINTS, replace=False))
    if not (ks := [k for k in clusterings if k > 1]):
        return {}
    distance: Dissimilarity = run.distance
    with run.phase("silhouette"):
        if run.has(Matrix):
            distance = Precomputed(MatrixRows(problem, run).matrix.values)
            run.tally.add(cached=problem.n * len(rows))
        else:
            run.tally.plan(problem.n * len(rows))
        found = silhouettes(distance, [clusterings[k].labels for k in ks], problem.weights, rows, run.threads)
    return dict(zip(ks, found, strict=True))


def _depth(ks: npt.NDArray[Any], losses: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How far the curve lies below the line from its first to its last point, in shares of its height.

    >>> _depth(np.array([1, 2, 3]), np.array([1.0, 0.2, 0.0])).tolist()
    [0.0, 0.3, 0.0]
    """
    across = (ks - ks[0]) / (ks[-1] - ks[0])
    height = (losses[0] - losses[-1]) or 1.0
    return np.asarray(np.round(1 - across - (losses - losses[-1]) / height, 12))


def _agreement(problem: Problem, run: Run, ks: Sequence[int]) -> dict[int, float]:
    rows, random = problem.references, run.random
    size = min(_RESAMPLED_POINTS, max(len(rows) // 2, 1))
    compared = np.sort(random.choice(rows, min(len(rows), _COMPARED_POINTS), replace=False))
    able = [k for k in ks if 1 < k <= size]  # one cluster agrees with itself always
    labels: dict[int, list[npt.NDArray[np.intp]]] = {k: [] for k in able}
    for _ in range(_RESAMPLED_FITS if able else 0):
        drawn = random.choice(rows, size, replace=False)
        if problem.frozen:
            drawn = np.union1d(drawn, problem.frozen)
        drawn = with_candidates(problem, random, drawn, able[-1])
        part = problem.part(drawn, problem.weights[drawn], init="build", max_iter=problem.max_iter, k=able[-1])
        for fitted, solution, _before in _walk(part, run.part(part), able, "fastpam1"):
            distances = run.distance.exact_block(drawn[solution.assignment.medoids], compared)
            labels[fitted.k].append(distances.argmin(axis=0))
    mean = {k: float(np.mean([adjusted_rand_score(a, b) for a, b in combinations(labels[k], 2)])) for k in able}
    return {k: mean.get(k, float("nan")) for k in ks}
