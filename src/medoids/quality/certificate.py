"""`certify`: whether any single swap still improves given medoids, and how far from the best loss they can be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, log, log2, sqrt
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import t as student

from medoids.algorithms.auto import choose
from medoids.algorithms.pairedpam import PairedPAM
from medoids.core.assignment import Assignment
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.distances import Floats, count_points, count_rows
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import DEAR_NS
from medoids.exact.carried_sums import MatrixSums
from medoids.exact.matrix import MARGIN, Matrix, MatrixRows
from medoids.inputs import check_data
from medoids.pipeline import prepare
from medoids.quality.fitted import data_of, is_model, weights_of
from medoids.result import gap_between
from medoids.settings import Settings, check_candidates, check_rows, check_weights, usable_weights

__all__ = ["Certificate", "certify"]

# Probability that the paired search overlooks a swap that improves, by the normal tail of its bounds.
_OVERLOOKED = 1e-3
# An arm is compared with the leader, the leader before it, and "no swap" once a round.
_TESTS_PER_ROUND = 3
# Maximum number of distances of a relaxation of all points, for cheap and dear distances; a sample takes half of it.
_CHEAP_RELAXED, _DEAR_RELAXED = 50_000_000, 2_000_000
# Independent samples of points, the smallest size of each, and the probability that their bound holds.
_BOUND_SAMPLES, _LEAST_POINTS, _LEVEL = 5, 500, 0.95


@dataclass(frozen=True, eq=False)
class Certificate:
    """What can be said of given medoids.

    Attributes
    ----------
    medoid_indices : ndarray of shape (k,)
    loss : float
        Mean distance to the nearest medoid.
    swap : tuple of int, or None
        (row out, row in) of the swap that improves most; None if none improves.
    gain : float
        By how much that swap lowers the loss; 0 if none does.
    exact : bool
        Whether all swaps were compared on all points. If not, the paired search looked for one.
    error_probability : float
        That a swap improves although ``swap`` is None; 0 where ``exact``. A swap that was found does improve: its gain
        is exact in any case.
    lower_bound : float
        No k medoids have a lower loss, with the probability ``bound_probability``.
    bound_probability : float
        1 where the bound rests on all points; 0.95 where it is the lower end of an interval from independent samples.
    n_evaluations : int
        Distances that the check and the bound took.
    seconds : float
    """

    medoid_indices: Rows = field(repr=False)
    loss: float
    swap: tuple[int, int] | None
    gain: float
    exact: bool
    error_probability: float
    lower_bound: float
    bound_probability: float
    n_evaluations: int
    seconds: float

    @property
    def gap(self) -> float:
        """(loss - lower_bound) / lower_bound: by which share the loss may exceed the best possible one."""
        return gap_between(self.loss, self.lower_bound)

    def __str__(self) -> str:
        if self.swap is None:
            swap = "no swap improves"
            if not self.exact:
                swap += f" (with probability {1 - self.error_probability:.4g})"
        else:
            out, into = self.swap
            swap = f"putting row {into} in the place of row {out} lowers the loss by {self.gain:.4g}"
        if self.gap == float("inf"):
            return f"{swap}; the best loss is at least {self.lower_bound:.4g}"
        sure = "" if self.bound_probability == 1 else f" (with probability {self.bound_probability:.4g})"
        return f"{swap}; within {100 * self.gap:.2g}% of the optimum{sure}"


def certify(
    X: Any,
    medoid_indices: Any = None,
    *,
    metric: Any = None,
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    frozen_medoids: Any = None,
    candidates: Any = None,
    memory_limit: Any = "2GiB",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Certificate:
    """Check medoids, ours or anybody's: does any single swap improve, and how good could the best ones be?

    Parameters
    ----------
    X : array-like, matrix or sequence; or Clustering or fitted KMedoids
        As for `k_medoids`. Or what was fitted, as in ``certify(model, X)``: it has the medoids, the metric, the
        weights, the frozen medoids and the candidates.
    medoid_indices : array-like of int; or the data that the model was fitted to
        Rows of X.
    metric, metric_params : optional
        As in `KMedoids`, euclidean by default. Those of a model cannot be changed.
    sample_weight : array-like of shape (n,), optional
        As in `KMedoids`. A model keeps the weights that it was fitted with, and these are the default.
    frozen_medoids : array-like of int, optional
        Medoids that must stay, so that no swap takes them out. By default those of the model, if any. The bound is
        about all choices of k medoids, with these rows or without.
    candidates, memory_limit, n_jobs
        As in `KMedoids`. Swaps and the bound are about medoids among the candidates and the given medoids.
    random_state : int, RandomState or None
        For what is sampled where n is large.

    Returns
    -------
    Certificate

    Notes
    -----
    *Swaps.* All k (n - k) of them are compared on all points where a matrix of distances is cheap. Elsewhere the paired
    search of PairedPAM looks for one, with bounds so wide that the probability of overlooking it, by the normal tail
    exp(-w^2 / 2) at each of its tests, is at most 0.001.

    *The bound* is the Lagrangian dual of the k-median problem, which climbs to the value of its linear relaxation (in
    which medoids may be taken by fractions), or higher, as candidates that no better choice can have are dropped; the
    climb ends within 0.01% of the loss. ``algorithm="optimal"`` goes on from there to a proof. Up to about 7,000
    points (1,400 where distances are slow) it rests on all of them. Beyond that on independent samples of points, with
    all rows as candidates: the best loss on a sample is on average at most the best loss on all points, because the
    minimum over medoids of a mean over samples is at least the mean of the minima. So the mean of the samples' bounds
    is a lower bound in expectation, from which Student's one-sided width is subtracted. What is averaged are
    differences from the given medoids' loss on the same sample, which is known on all points: they spread much less.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from medoids import certify, k_medoids
    >>> X = load_iris().data
    >>> print(certify(k_medoids(X, 3), X))
    no swap improves; within 0.01% of the optimum
    >>> certify(X, [0, 50, 100]).swap
    (50, 78)
    """
    began = perf_counter()
    if medoid_indices is None:
        raise TypeError(
            "certify(model) also needs the data that the model was fitted to: certify(model, X)"
            if is_model(X)
            else "certify(X) also needs the rows of the medoids, certify(X, medoid_indices); or use certify(model, X)"
        )
    if is_model(X):
        if metric is not None or metric_params is not None:
            raise ValueError("certify(model, X) takes metric and metric_params from the model; leave them out")
        found, X = data_of(X, medoid_indices)
        medoid_indices, sample_weight = found.medoid_indices, weights_of(found, sample_weight)
        metric, metric_params = found.parameters.get("metric", "euclidean"), found.parameters.get("metric_params")
        candidates = found.parameters.get("candidates") if candidates is None else candidates
        frozen_medoids = found.parameters.get("frozen_medoids") if frozen_medoids is None else frozen_medoids
    elif is_model(medoid_indices):
        raise TypeError("the model comes first: certify(model, X)")
    else:
        metric = "euclidean" if metric is None else metric
        X = check_data(X, metric)
    n, points = count_rows(X), count_points(X, metric)
    weights = check_weights(sample_weight, points, points="row" if n == points else "column")
    usable = usable_weights(weights, check_candidates(candidates, n), n)
    medoids = check_rows("medoid_indices", medoid_indices, n, usable)
    settings = Settings.of(locals(), init=medoids)
    with prepare(X, len(medoids), sample_weight, settings) as (problem, run):
        assignment = RowSource(problem, run).assign(medoids)
        total = problem.total_weight
        most = _CHEAP_RELAXED if problem.distance.cost < DEAR_NS else _DEAR_RELAXED
        fits = n**2 <= most and n**2 * problem.distance.dtype.itemsize <= problem.memory_limit
        exact = fits or problem.rectangular or choose(problem, run)[0] == "fastpam1"
        best = _best_swap(problem, run, assignment) if exact else _likely_swap(problem, run, assignment)
        bound, probability = _lower_bound(problem, run, assignment, most)
        loss = assignment.loss / total
        return Certificate(
            medoid_indices=medoids,
            loss=loss,
            swap=None if best is None else (assignment.medoids[best[0]], best[1]),
            gain=0.0 if best is None else loss - best[2] / total,
            exact=exact,
            error_probability=0.0 if exact or best is not None else _OVERLOOKED,
            lower_bound=bound,
            bound_probability=probability,
            n_evaluations=run.tally.computed,
            seconds=perf_counter() - began,
        )


def _best_swap(problem: Problem, run: Run, assignment: Assignment) -> tuple[int, int, float] | None:
    """Compare all swaps on all points; return (slot, row, loss)."""
    sums = MatrixSums(MatrixRows(problem, run), problem.eligible, problem.k, run.threads)
    sums.follow(assignment, swaps=True)
    if (best := sums.best_swap(assignment)) is None:
        return None
    slot, i, row, _ = best
    return slot, i, float(assignment.swap_losses(row)[slot])


def _likely_swap(problem: Problem, run: Run, assignment: Assignment) -> tuple[int, int, float] | None:
    # Only the best swap must not be overlooked, so the tests that it has to pass are counted, not those of all arms.
    width = sqrt(2 * log(_TESTS_PER_ROUND * max(1, ceil(log2(problem.n / 128))) / _OVERLOOKED))
    return PairedPAM(replace(problem, delta=float(np.exp(-(width**2)))), run).best_swap(assignment)


def _lower_bound(problem: Problem, run: Run, assignment: Assignment, most: int) -> tuple[float, float]:
    """Return the bound, as a mean distance, and the probability that it holds."""
    rows, weights = problem.references, problem.weights
    loss = assignment.loss / problem.total_weight
    if problem.n * len(rows) <= most:
        return _bound_on(problem, run, assignment, rows, weights[rows]), 1.0
    m = min(len(rows), max(_LEAST_POINTS, most // 2 // problem.n))
    equal = bool((weights[rows] == weights[rows[0]]).all())
    chances = None if equal else weights[rows] / weights[rows].sum()
    below = []
    for _ in range(_BOUND_SAMPLES):
        sample = np.sort(run.random.choice(rows, m, replace=not equal, p=chances))
        below.append(float(assignment.d1[sample].mean()) - _bound_on(problem, run, assignment, sample, np.ones(m)))
    reach = float(student.ppf(_LEVEL, _BOUND_SAMPLES - 1)) * float(np.std(below, ddof=1)) / sqrt(_BOUND_SAMPLES)
    return loss - float(np.mean(below)) - reach, _LEVEL


def _bound_on(problem: Problem, run: Run, assignment: Assignment, points: Rows, weights: Float64s) -> float:
    """Return a number that no k medoids' mean distance to these points falls below."""
    from medoids.optimal.dual import lagrangian_bound  # imports Numba
    from medoids.optimal.instance import instance_of

    # All choices of medoids count, also those without the frozen ones.
    instance = instance_of(replace(problem, frozen=()), run, _to_points(problem, run, points), weights)
    bound = lagrangian_bound(instance, np.array(assignment.medoids), memory=problem.memory_limit)
    rounding = 0.0 if problem.distance.exact else MARGIN * float(weights @ np.abs(assignment.d1[points]))
    return (bound - rounding) / float(weights.sum())


def _to_points(problem: Problem, run: Run, points: Rows) -> Floats:
    """Distances from all rows to some points, as [point, row]."""
    if run.has(Matrix):
        everything = MatrixRows(problem, run).matrix.by_reference
        return everything if len(points) == problem.n else everything[points]
    return RowSource(problem, run).to_points(points, "bound")
