"""`k_medoids`: the whole fit as one function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from medoids.algorithms import ALGORITHMS, Problem, Solution
from medoids.algorithms.auto import choose
from medoids.core.assignment import Assignment
from medoids.core.cut_short import cut_short, time_to_finish
from medoids.core.initialization import RANDOM_INITS
from medoids.core.problem import Journal
from medoids.distances import Calls, Counted, Dissimilarity, Tally, count_rows, dissimilarity, is_mapped
from medoids.engine import interrupts
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.callers import callers_level
from medoids.engine.interrupts import TimeUp
from medoids.engine.threads import Threads
from medoids.exact.matrix import matrix_bytes
from medoids.progress import narrated
from medoids.result import Clustering, TraceRecord
from medoids.settings import (
    NEEDS_MATRIX,
    check_algorithm,
    check_callback,
    check_candidates,
    check_checkpoint,
    check_choice,
    check_count,
    check_data,
    check_delta,
    check_frozen,
    check_init,
    check_memory,
    check_n_clusters,
    check_swap,
    check_time_limit,
    check_weights,
    parse_bytes,
)
from medoids.storage.checkpoints import Checkpoint
from medoids.storage.fingerprints import describe, of_data, of_value
from medoids.storage.saved import Bounds, Saved, random_of, state_of

__all__ = ["Settings", "choose_algorithm", "fit", "k_medoids", "keep_steps", "posed", "result", "warn", "warn_of_limit"]

# Keywords that say nothing of the result.
_ASIDE = {"callback", "checkpoint", "resume", "verbose"}
# Those that a checkpoint must share with a fit that goes on from it, beside data, k, rows and random numbers.
_DECISIVE = ("metric", "metric_params", "algorithm", "n_init", "swap", "delta", "cache_width", "candidates")
# Share of memory_limit for the values of a callable, beside what an algorithm stores.
_REMEMBERED = 8
# A working copy of an X that is on disk may take up to one part in so many of memory_limit.
_COPY = 4


@dataclass
class Settings:
    """The keywords that the estimator and the function share; design and documentation are in `KMedoids`."""

    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    algorithm: str = "auto"
    init: Any = "build"
    n_init: int = 1
    swap: str = "best"
    max_iter: int = 300
    time_limit: float | None = None
    delta: float | None = None
    cache_width: int = 1000
    memory_limit: Any = "2GiB"
    k_range: Any = None
    frozen_medoids: Any = None
    candidates: Any = None
    callback: Callable[[TraceRecord], object] | None = None
    checkpoint: Any = None
    resume: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0


def k_medoids(
    X: Any,
    n_clusters: int | str,
    *,
    sample_weight: Any = None,
    on_interrupt: str = "raise",
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    algorithm: str = "auto",
    init: Any = "build",
    n_init: int = 1,
    swap: str = "best",
    max_iter: int = 300,
    time_limit: float | None = None,
    delta: float | None = None,
    cache_width: int = 1000,
    memory_limit: Any = "2GiB",
    k_range: Any = None,
    frozen_medoids: Any = None,
    candidates: Any = None,
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
    metric, metric_params, algorithm, init, n_init, swap, max_iter, time_limit, delta, cache_width, memory_limit, \
k_range, frozen_medoids, candidates, callback, checkpoint, resume, random_state, n_jobs, verbose
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
    settings = Settings(
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        init=init,
        n_init=n_init,
        swap=swap,
        max_iter=max_iter,
        time_limit=time_limit,
        delta=delta,
        cache_width=cache_width,
        memory_limit=memory_limit,
        k_range=k_range,
        frozen_medoids=frozen_medoids,
        candidates=candidates,
        callback=callback,
        checkpoint=checkpoint,
        resume=resume,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    check_choice("on_interrupt", on_interrupt, ["raise", "return"])
    X = check_data(X, metric)
    return fit(X, n_clusters, sample_weight, settings, on_interrupt=on_interrupt)[0]


def fit(
    X: Any, n_clusters: Any, sample_weight: Any, settings: Settings, *, on_interrupt: str = "raise"
) -> tuple[Clustering, Dissimilarity]:
    """Cluster data that `check_data` has passed; return also the distance among the medoids, for predict."""
    began = interrupts.clock()
    check_checkpoint(settings.checkpoint, settings.resume, n_clusters)
    time_limit = check_time_limit(settings.time_limit, n_clusters)
    if isinstance(n_clusters, str) and n_clusters == "auto":
        from medoids.quality.k_path import fit_auto  # which fits by means of this module

        return fit_auto(X, sample_weight, settings)
    n_init = check_count("n_init", settings.n_init, 1)
    with (
        posed(X, n_clusters, sample_weight, settings) as problem,
        keep_steps(problem, lambda: of_data(X, problem.weights), settings),
    ):
        algorithm, reason = settings.algorithm, "the time limit was reached before the search began"
        try:
            if time_limit is not None:
                problem.threads.interrupts.limit(began + time_limit, time_to_finish(problem))
            if problem.saved is not None:
                algorithm, reason = problem.saved.algorithm, problem.saved.reason
            else:
                algorithm, reason = choose_algorithm(settings.algorithm, problem)
            if problem.checkpoint is not None:
                problem.checkpoint.algorithm, problem.checkpoint.reason = algorithm, reason
            starts = _starts(problem, n_init)
            with narrated(problem, algorithm, reason, int(settings.verbose)):
                solution = _best_of(problem, algorithm, starts)
        except (KeyboardInterrupt, SystemError, TimeUp) as early:
            problem.out_of_time = isinstance(early, TimeUp)
            interrupted = problem.threads.interrupts.caused(early)
            if not problem.out_of_time and (not interrupted or on_interrupt == "raise"):
                raise
            solution = cut_short(problem)
    warn(solution, problem)
    clustering = result(solution, problem, algorithm, reason, settings)
    return clustering, problem.distance.inner.take(clustering.medoid_indices)


def _starts(problem: Problem, n_init: int) -> int:
    return n_init if isinstance(problem.init, str) and problem.init in RANDOM_INITS else 1


@contextmanager
def keep_steps(problem: Problem, data: Callable[[], dict[str, Any]], settings: Settings) -> Iterator[None]:
    """Let a problem write its steps into a checkpoint, and go on from it; ``data`` tells which data it is of."""
    if settings.checkpoint is None:
        yield
        return
    decisive = {name: describe(getattr(settings, name)) for name in _DECISIVE}
    if settings.swap == "eager":
        decisive["memory_limit"] = problem.memory_limit  # which sets the size of its sample
    about = {
        "data": data(),
        "settings": {
            "n_clusters": problem.k,
            "init": describe(problem.init),
            "frozen_medoids": list(problem.frozen),
            "random_state": None if settings.random_state is None else of_value(state_of(problem.random)),
            **decisive,
        },
    }
    n = about["data"]["shape"][0]
    bounds = Bounds(
        n,
        problem.k,
        ALGORITHMS if settings.algorithm == "auto" else [settings.algorithm],
        _starts(problem, settings.n_init),
        build=isinstance(problem.init, str) and problem.init == "build",
        frozen=tuple(problem.frozen),
        excluded=np.flatnonzero(problem.weights == 0).tolist(),
    )
    with Checkpoint(settings.checkpoint, about, bounds, resume=settings.resume) as file:
        problem.checkpoint = Journal(file)
        problem.saved = file.saved
        if file.saved is not None:
            _take_up(problem, file.saved)
        yield


def _take_up(problem: Problem, saved: Saved) -> None:
    problem.started -= saved.seconds
    problem.distance.tally.counts.update(saved.counts)
    problem.random = random_of(saved.origin)
    if saved.best is not None:
        best = saved.best
        problem.best = Solution(problem.assign(best.medoids), best.n_swaps, best.converged, best.trace)


@contextmanager
def posed(X: Any, n_clusters: Any, sample_weight: Any, settings: Settings) -> Iterator[Problem]:
    """Check the settings and pose the problem to an algorithm, while threads run for it."""
    algorithm = check_algorithm(settings.algorithm)
    max_iter = check_count("max_iter", settings.max_iter, 0)
    swap = check_swap(settings.swap, algorithm)
    check_callback(settings.callback)
    check_count("verbose", int(settings.verbose) if settings.verbose is True else settings.verbose, 0)
    delta = check_delta(settings.delta)
    candidates = check_candidates(settings.candidates)
    cache_width = check_count("cache_width", settings.cache_width, 0)
    memory_limit = parse_bytes(settings.memory_limit)
    random = check_random_state(settings.random_state)
    n = count_rows(X)
    weights = check_weights(sample_weight, n)
    k = check_n_clusters(n_clusters, n, int(np.count_nonzero(weights)))
    init = check_init(settings.init, n, k, weights)
    frozen = check_frozen(settings.frozen_medoids, init, n, k, weights)
    tally = Tally()
    threads = Threads(settings.n_jobs)
    calls = Calls(settings.n_jobs, memory_limit // _REMEMBERED, tally, threads.interrupts.check)
    distance = dissimilarity(X, settings.metric, settings.metric_params, calls)
    if is_mapped(X):
        distance.spill = _COPY * distance.copy_bytes() > memory_limit
        distance.release()
    with threads, calls:
        problem = Problem(
            distance=Counted(distance, tally),
            weights=weights,
            k=k,
            init=init,
            max_iter=max_iter,
            random=random,
            threads=threads,
            memory_limit=memory_limit,
            delta=delta,
            cache_width=cache_width,
            swap=swap,
            callback=settings.callback,
            frozen=frozen,
            allowed=_allowed(candidates, distance, weights, init, frozen, k),
        )
        try:
            yield problem
        finally:
            problem.let_go()


def _allowed(
    candidates: str | None,
    distance: Dissimilarity,
    weights: Float64s,
    init: str | Rows,
    frozen: tuple[int, ...],
    k: int,
) -> Bools | None:
    """Return which rows may become medoids; None for all of positive weight.

    By default not those with gaps: what is missing costs nothing under gower, so an incomplete row seems near to all.
    """
    complete = distance.complete() if candidates is None else None
    if complete is None or np.count_nonzero(complete & (weights > 0)) < k:
        return None
    named = np.array(frozen if isinstance(init, str) else init, dtype=np.intp)  # init holds the frozen ones
    complete[named] = True
    return complete


def choose_algorithm(algorithm: str, problem: Problem) -> tuple[str, str]:
    """Return the algorithm to run and why."""
    if algorithm == "auto":
        return choose(problem)
    if algorithm in NEEDS_MATRIX:
        check_memory(algorithm, problem.n, matrix_bytes(problem), problem.memory_limit)
    return algorithm, "asked for"


def _best_of(problem: Problem, algorithm: str, starts: int) -> Solution:
    best = problem.best
    for start in range(problem.saved.start if problem.saved is not None else 0, starts):
        if problem.checkpoint is not None:
            problem.checkpoint.begin(start, problem.random)
        problem.trace, problem.position = [], {}
        problem.check()
        solution = ALGORITHMS[algorithm](problem)
        solution.trace = problem.trace
        found = solution.assignment
        if best is None or best.assignment.improves(found.loss, found.magnitude):
            best = problem.best = solution
        if problem.stopped:
            break
    assert best is not None
    return best


def warn(solution: Solution, problem: Problem) -> None:
    """Warn of a fit that did not end by itself, and of medoids that are copies of each other."""
    warn_of_limit(solution, problem)
    assignment = solution.assignment
    between = assignment.between()
    own = between.diagonal()
    same = (between == 0) & (between.T == 0) & (own == 0) & (own[:, None] == 0)
    np.fill_diagonal(same, False)
    if same.any():
        distinct = problem.k - int(np.count_nonzero(np.triu(same).any(axis=0)))
        warnings.warn(
            f"number of distinct medoids ({distinct}) is smaller than n_clusters ({problem.k}): X has too few distinct "
            "points, and some clusters hold only copies of another medoid; ask for fewer clusters",
            ConvergenceWarning,
            stacklevel=callers_level(),
        )


def warn_of_limit(solution: Solution, problem: Problem) -> None:
    """Warn of a fit that did not end by itself."""
    if problem.out_of_time:
        where = "before no swap improves"
        if problem.drawn:
            where = f"before the start was complete: {problem.drawn} of {problem.k} medoids are drawn at random"
        limit, remedy = f"at time_limit {where}", "raise time_limit"
    elif not solution.converged and not problem.stopped and solution.n_swaps >= problem.max_iter:
        limit, remedy = f"after max_iter={problem.max_iter} swaps before no swap improves", "raise max_iter"
    else:
        return
    warnings.warn(f"stopped {limit}; {remedy} to let it finish", ConvergenceWarning, stacklevel=callers_level())


def result(solution: Solution, problem: Problem, algorithm: str, reason: str, settings: Settings) -> Clustering:
    """Return what was found, and how to find it again."""
    assignment: Assignment = solution.assignment
    medoids: Rows = np.array(assignment.medoids, dtype=np.intp)
    tally = problem.distance.tally
    parameters = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name not in _ASIDE}
    return Clustering(
        medoid_indices=medoids,
        labels=assignment.labels(),
        distances=assignment.d1.copy(),
        inertia=assignment.loss,
        loss=assignment.loss / float(problem.weights.sum()),
        n_swaps=solution.n_swaps,
        converged=solution.converged,
        algorithm=algorithm,
        reason=reason,
        n_evaluations=tally.computed,
        counts=tally.counts,
        trace=solution.trace,
        parameters={"n_clusters": problem.k, **parameters},
        sample_weight=None if (problem.weights == 1).all() else problem.weights.copy(),
    )
