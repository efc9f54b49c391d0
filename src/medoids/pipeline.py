"""From X and settings to a result: the one way that all faces take.

`prepare` checks the settings and yields the `Problem` and the `Run`; `fit` chooses the algorithm, runs its starts, ends
early where it must, warns, and describes what was found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from medoids.algorithms import ALGORITHMS, RATIO_ALGORITHMS
from medoids.algorithms.auto import choose, choose_swap
from medoids.algorithms.fastpam1 import fastpam1
from medoids.algorithms.sized import SizedAssignment, constrained, sized
from medoids.core.assignment import Assignment
from medoids.core.cut_short import DRAWING_SHARE, cut_short, distances_to_finish, seconds_per_distance
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Journal, Run
from medoids.core.sampling import draw
from medoids.distances import (
    Allowance,
    Budgeted,
    Calls,
    Dissimilarity,
    Tally,
    count_points,
    count_rows,
    dissimilarity,
    is_mapped,
    kind_of,
    take_rows,
)
from medoids.engine import interrupts
from medoids.engine.arrays import Bools, Float64s, Rows
from medoids.engine.budget import CHUNK_ENTRIES, COPY_SHARE, REMEMBERED_SHARE
from medoids.engine.callers import callers_level
from medoids.engine.interrupts import TimeUp
from medoids.engine.threads import Threads, spans
from medoids.exact.computed import computes
from medoids.exact.matrix import Matrix, MatrixRows, matrix_bytes, matrix_evaluations
from medoids.inputs import check_data
from medoids.progress import narrated
from medoids.result import CLOSED_GAP, Clustering, gap_between
from medoids.settings import (
    ALGORITHM_NAMES,
    INITS,
    NEEDS_MATRIX,
    OPTIMAL_RESTARTS,
    RECTANGULAR,
    WITHOUT_BOUNDS,
    Settings,
    check_algorithm,
    check_budget,
    check_budget_of_matrix,
    check_callback,
    check_candidates,
    check_checkpoint,
    check_count,
    check_delta,
    check_frozen,
    check_gap,
    check_init,
    check_memory,
    check_n_clusters,
    check_objective,
    check_restarts,
    check_sizes,
    check_starts,
    check_swap,
    check_time_limit,
    check_tol,
    check_weights,
    format_bytes,
    names_rows,
    parse_bytes,
    usable_weights,
)
from medoids.storage.checkpoints import Checkpoint
from medoids.storage.fingerprints import describe, of_data, of_value
from medoids.storage.saved import Best, Bounds, random_of, state_of
from medoids.wording import counted

__all__ = [
    "announcement",
    "choose_algorithm",
    "described",
    "fit",
    "open_checkpoint",
    "prepare",
    "warn",
    "warn_of_limit",
]

# Share of a budget of distances that goes to PAM on a sample, and the smallest such sample, in rows for each medoid.
_INSURED_SHARE, _INSURED_ROWS_PER_MEDOID = 0.25, 4
# Settings that do not affect the result.
_ASIDE = ("callback", "checkpoint", "resume", "verbose")
# Settings that a checkpoint must share with a fit that resumes from it, besides data, k, rows and random numbers.
_DECISIVE = (
    "metric",
    "metric_params",
    "algorithm",
    "objective",
    "n_init",
    "n_restarts",
    "swap",
    "tol",
    "delta",
    "cache_width",
    "candidates",
    "min_size",
    "max_size",
)


@contextmanager
def prepare(X: Any, n_clusters: Any, sample_weight: Any, settings: Settings) -> Iterator[tuple[Problem, Run]]:
    """Check the settings and yield the problem, and a run with its threads for as long as the block lasts."""
    algorithm = check_algorithm(settings.algorithm)
    max_iter = check_count("max_iter", settings.max_iter, 0)
    swap = check_swap(settings.swap, algorithm)
    check_callback(settings.callback)
    check_count("verbose", int(settings.verbose) if settings.verbose is True else settings.verbose, 0)
    delta = check_delta(settings.delta)
    cache_width = check_count("cache_width", settings.cache_width, 0)
    memory_limit = parse_bytes(settings.memory_limit)
    restarts = check_restarts(settings.n_restarts, algorithm)
    random = check_random_state(settings.random_state)
    n, points = count_rows(X), count_points(X, settings.metric)
    weights = check_weights(sample_weight, points, points="row" if n == points else "column")
    candidates = check_candidates(settings.candidates, n)
    usable = usable_weights(weights, candidates, n)
    if isinstance(candidates, np.ndarray):
        k = check_n_clusters(n_clusters, n, len(candidates), named=True)
    else:
        k = check_n_clusters(n_clusters, n, int(np.count_nonzero(usable)))
    most = check_budget(settings.max_evaluations, n_clusters)
    tally, allowance = Tally(), Allowance(most)
    others = {"max_evaluations": None, "min_size": None, "max_size": None, "objective": "distance"}
    for name in (name for name, default in others.items() if n != points and getattr(settings, name) != default):
        raise ValueError(f"{name} is for square matrices, and X is {n} x {points}; leave {name} out")
    threads = Threads(settings.n_jobs)
    calls = Calls(settings.n_jobs, memory_limit // REMEMBERED_SHARE, tally, threads.interrupts.check, allowance)
    distance = dissimilarity(X, settings.metric, settings.metric_params, calls)
    given = settings.init
    if not names_rows(given):
        given = _nearest_rows(given, X, k, settings.metric, distance, usable)
        tally.add(computed=n * k)
        allowance.spent += n * k
    init = check_init(given, n, k, usable)
    frozen = check_frozen(settings.frozen_medoids, init, n, k, usable)
    if is_mapped(X):
        distance.spill = COPY_SHARE * distance.copy_bytes() > memory_limit
        distance.release()
    problem = Problem(
        distance=distance if most is None else Budgeted(distance, allowance),
        weights=weights,
        k=k,
        init=init,
        max_iter=max_iter,
        memory_limit=memory_limit,
        delta=delta,
        cache_width=cache_width,
        swap=swap,
        tol=check_tol(settings.tol),
        gap=check_gap(settings.gap, algorithm),
        n_restarts=restarts or (OPTIMAL_RESTARTS if algorithm == "optimal" else 0),
        frozen=frozen,
        allowed=_allowed(candidates, distance, usable, init, frozen, k),
        objective=check_objective(settings.objective, algorithm, k, settings),
        sizes=check_sizes(settings.min_size, settings.max_size, n, k, algorithm),
    )
    with threads, calls:
        run = Run(problem, threads, random, tally, settings.callback, allowance)
        allowance.reserve = partial(distances_to_finish, problem, run)
        if allowance.left < 0:
            raise ValueError(
                f"max_evaluations={most} is too few: the labels alone take {allowance.reserve()} distances, from k = "
                f"{k} medoids to n = {n} rows; allow more, or ask for fewer clusters"
            )
        try:
            yield problem, run
        finally:
            allowance.reserve = int  # it holds the run, which holds the allowance


def _nearest_rows(init: Any, X: Any, k: int, metric: Any, distance: Dissimilarity, weights: Float64s) -> Rows:
    """Return the rows nearest to given coordinates or objects, one after the other, each another row."""
    wanted = f"init must be one of {sorted(INITS)}, a 1-D array of row indices, or {k} rows in the form of X"
    if metric == "precomputed":
        raise ValueError(f"{wanted}; with metric='precomputed', where no row has coordinates, pass row indices")
    try:
        rows = check_data(init, metric, reset=False, kind=kind_of(metric, X))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted}; as such a row: {error}") from None
    if count_rows(rows) != k:
        raise ValueError(f"init has {counted(count_rows(rows), 'row')}, but n_clusters={k}; pass one for each cluster")
    widths = [x.shape[1] for x in (X, rows) if len(getattr(x, "shape", ())) == 2]
    if len(set(widths)) > 1:
        raise ValueError(f"init has rows of {widths[1]} columns, but X has {widths[0]}; pass rows like those of X")
    found: list[int] = []
    for chunk in spans(k, max(1, CHUNK_ENTRIES // distance.n)):
        for distances in distance.cross(take_rows(rows, chunk)).T:
            distances[weights == 0] = np.inf
            distances[found] = np.inf
            found.append(int(distances.argmin()))
    return np.array(found, dtype=np.intp)


def _allowed(
    candidates: str | Rows | None,
    distance: Dissimilarity,
    usable: Float64s,
    init: str | Rows,
    frozen: tuple[int, ...],
    k: int,
) -> Bools | None:
    """Return which rows may become medoids; None for all of positive weight.

    By default not those with gaps: what is missing costs nothing under gower, so an incomplete row seems near to all.
    """
    if isinstance(candidates, np.ndarray):
        allowed = np.zeros(len(usable), dtype=bool)
        allowed[candidates] = True
    elif distance.n_rows != distance.n:
        allowed = np.ones(len(usable), dtype=bool)
    else:
        complete = distance.complete() if candidates is None else None
        if complete is None or np.count_nonzero(complete & (usable > 0)) < k:
            return None
        allowed = complete & (usable > 0)
    allowed[np.array(frozen if isinstance(init, str) else init, dtype=np.intp)] = True  # init holds the frozen ones
    return allowed


def choose_algorithm(algorithm: str, problem: Problem, run: Run) -> tuple[str, str, str]:
    """Return the algorithm to run, which swaps it makes, and why."""
    if problem.rectangular:
        return _on_rectangle(algorithm, problem)
    reason = "asked for"
    if algorithm == "auto" and problem.objective == "medoid_silhouette":
        algorithm, reason = "fasterpam", "FasterMSC: swaps that raise the medoid silhouette"
    if algorithm == "auto":
        need = matrix_evaluations(problem) if run.allowance.left < inf else 0
        if need > run.allowance.left:
            reason = f"the {need:,} distances of the matrix are more than max_evaluations: sampled distances"
            return "pairedpam", "best" if problem.swap == "auto" else problem.swap, reason
        return choose(problem, run)
    if algorithm in NEEDS_MATRIX:
        check_memory(algorithm, problem.n, _matrix_bytes_of(algorithm, problem), problem.memory_limit)
        check_budget_of_matrix(algorithm, problem.n, matrix_evaluations(problem), run.allowance.left)
    if algorithm == "pairedpam" and problem.swap == "auto" and run.allowance.left == inf:
        return algorithm, *choose_swap(problem)
    return algorithm, "best" if problem.swap == "auto" else problem.swap, reason


def _on_rectangle(algorithm: str, problem: Problem) -> tuple[str, str, str]:
    """Return the algorithm for a matrix of candidates and points: all of its distances are known."""
    given = f"the {problem.n_rows:,} x {problem.n:,} matrix of candidates and points is given"
    if algorithm in ("auto", "pairedpam"):
        return "fasterpam" if problem.swap == "eager" else "fastpam1", "best", f"{given}: an exact search"
    if algorithm not in RECTANGULAR:
        raise ValueError(
            f"{given}, which algorithm={algorithm!r} does not take, because its medoids are points; use "
            f"{', '.join(map(repr, RECTANGULAR[:-1]))} or {RECTANGULAR[-1]!r}, or a square matrix"
        )
    return algorithm, "best", "asked for"


def _matrix_bytes_of(algorithm: str, problem: Problem) -> int:
    """Return the memory of the matrix that an algorithm needs; 0 if it needs none or has it."""
    exact = algorithm == "optimal" or problem.objective == "medoid_silhouette"
    if algorithm not in NEEDS_MATRIX or (algorithm == "fastpam1" and computes(problem)):
        return 0
    return matrix_bytes(problem, exact=exact)


def announcement(algorithm: str, reason: str, problem: Problem) -> str:
    """Return in one line what a fit is going to do."""
    text = f"{algorithm} ({reason})"
    need = _matrix_bytes_of(algorithm, problem)
    if need and "distance matrix" not in reason:
        text += f": distance matrix {problem.n:,} x {problem.n:,}, {format_bytes(need)}"
    return text


@contextmanager
def open_checkpoint(
    problem: Problem, run: Run, data: Callable[[], dict[str, Any]], settings: Settings
) -> Iterator[Checkpoint | None]:
    """Open the checkpoint of a fit, if it has one; ``data`` returns what identifies the data."""
    if settings.checkpoint is None:
        yield None
        return
    decisive = {name: describe(getattr(settings, name)) for name in _DECISIVE}
    if settings.swap != "best":
        decisive["memory_limit"] = problem.memory_limit  # which decides what is stored, and so which swaps are found
    about = {
        "data": data(),
        "settings": {
            "n_clusters": problem.k,
            "init": describe(problem.init),
            "frozen_medoids": list(problem.frozen),
            "random_state": None if settings.random_state is None else of_value(state_of(run.random)),
            **decisive,
        },
    }
    bounds = Bounds(
        about["data"]["shape"][0],
        problem.k,
        ALGORITHM_NAMES if settings.algorithm == "auto" or problem.rectangular else [settings.algorithm],
        _starts(problem, settings),
        build=problem.starts_with_build,
        frozen=tuple(problem.frozen),
        excluded=np.flatnonzero(~problem.eligible).tolist(),
        points=None if problem.rectangular is False else problem.n,
    )
    with Checkpoint(settings.checkpoint, about, bounds, resume=settings.resume) as file:
        yield file


def _starts(problem: Problem, settings: Settings) -> int:
    """Return the number of starts: several only where they differ."""
    return settings.n_init if isinstance(problem.init, str) and problem.init not in ("build", "heuristic") else 1


def fit(
    X: Any, n_clusters: Any, sample_weight: Any, settings: Settings, *, on_interrupt: str = "raise"
) -> tuple[Clustering, Dissimilarity]:
    """Cluster data that `check_data` has passed; also return the distance among the medoids, for ``predict``."""
    began = interrupts.clock()
    check_checkpoint(settings.checkpoint, settings.resume, n_clusters)
    time_limit = check_time_limit(settings.time_limit, n_clusters)
    check_starts(settings.n_init, settings.algorithm)
    with (
        prepare(X, n_clusters, sample_weight, settings) as (problem, run),
        open_checkpoint(problem, run, lambda: of_data(X, problem.weights), settings) as checkpoint,
    ):
        search = _Starts(problem, run, settings)
        drawn, limit = 0, None
        try:
            swaps = _starts(problem, settings) * problem.max_iter
            with narrated(problem, run, int(settings.verbose), swaps) as announce:
                if time_limit is not None:
                    run.threads.interrupts.limit(began + time_limit, search.time_to_finish())
                solution = search.solve(checkpoint, announce)
            run.outlook = None  # the search has ended
        except (KeyboardInterrupt, SystemError, TimeUp) as early:
            limit = early.keyword if isinstance(early, TimeUp) else None
            if limit is None and (not run.threads.interrupts.caused(early) or on_interrupt == "raise"):
                raise
            if problem.objective != "distance" and search.best is not None:
                run.medoids = ()  # the losses of the start that is cut off are not comparable
            solution, drawn = cut_short(search.rows(), search.best, search.fallback, from_sample=not run.has(Matrix))
        if problem.sizes is not None and not isinstance(solution.assignment, SizedAssignment):
            solution = constrained(search.rows(), solution)
        if problem.sizes is not None:
            run.outlook = None  # of swaps without limits on sizes
        known = _known_at_limit(solution, problem, run, search.algorithm) if limit is not None else ""
        warn_of_limit(solution, problem, run, limit=limit, drawn=drawn, known=known)
        warn(solution.assignment)
        reason = f"{search.reason}; stopped at {limit}{known}" if limit is not None else search.reason
        clustering = described(solution, problem, run, search.algorithm, reason, settings)
    distance = problem.distance.inner if isinstance(problem.distance, Budgeted) else problem.distance
    return clustering, distance.take(clustering.medoid_indices)


class _Starts:
    """The starts of a fit, the best of which is known at any moment."""

    def __init__(self, problem: Problem, run: Run, settings: Settings) -> None:
        self._problem, self._run, self._settings = problem, run, settings
        self.algorithm, self.reason = settings.algorithm, "a limit was reached before the search began"
        self.best: Solution | None = None
        self.fallback: Rows | None = None

    def solve(self, checkpoint: Checkpoint | None, announce: Callable[[str], None]) -> Solution:
        problem, run, settings = self._problem, self._run, self._settings
        saved = None if checkpoint is None else checkpoint.saved
        if saved is None:
            self.algorithm, swap, self.reason = choose_algorithm(settings.algorithm, problem, run)
        else:
            self.algorithm, swap, self.reason = saved.algorithm, saved.swap, saved.reason
        self._problem = problem = replace(problem, swap=swap)
        if checkpoint is not None:
            run.keep_journal(Journal(checkpoint, self.algorithm, swap, self.reason), saved)
        announce(announcement(self.algorithm, self.reason, problem))
        if saved is None:
            self._insure()
        else:
            run.allowance.spent += run.tally.computed
        if saved is not None and saved.best is not None:
            best = saved.best
            self._compare(Solution(self.rows().assign(best.medoids), best.n_swaps, best.converged, best.trace))
        algorithms = ALGORITHMS if problem.objective == "distance" else RATIO_ALGORITHMS
        for start in range(0 if saved is None else saved.start, _starts(problem, settings)):
            run.begin(start)
            solution = algorithms[self.algorithm](problem, run)
            solution.trace = run.trace
            self._compare(solution)
            if run.stopped:
                break
        assert self.best is not None
        if problem.n_restarts and self.algorithm != "optimal" and not run.stopped:
            from medoids.optimal.improve import improve_by_restarts  # imports Numba

            run.trace = self.best.trace
            self.best = improve_by_restarts(problem, run, self.best, problem.n_restarts, ALGORITHMS[self.algorithm])
        if problem.sizes is not None:
            without, self.best = self.best, None  # if it is cut short, the last of its steps counts
            self.best = sized(self.rows(), without)
        return self.best

    def _insure(self) -> None:
        """Find medoids on a sample by a share of the budget, which BUILD might exhaust without a result."""
        problem, run = self._problem, self._run
        left = run.allowance.left
        if left == inf or self.algorithm in NEEDS_MATRIX or not problem.starts_with_build:
            return
        pairs = 0.5 if problem.distance.symmetric else 1.0
        size = int((_INSURED_SHARE * left / pairs) ** 0.5)
        if not _INSURED_ROWS_PER_MEDOID * problem.k <= size < problem.n:
            return
        random = random_of(state_of(run.random))  # a copy: the search takes the path of a fit without a budget
        sample, weights = draw(problem, random, [], size)
        part = problem.part(sample, weights, init="build", max_iter=problem.max_iter)
        self.fallback = sample[fastpam1(part, run.part(part)).assignment.medoids]

    def _compare(self, solution: Solution) -> None:
        found = solution.assignment
        if self.best is None or self.best.assignment.improves(found.loss, found.magnitude):
            self.best = solution
            if self._run.journal is not None:
                self._run.journal.best = Best(list(found.medoids), solution.n_swaps, solution.converged, solution.trace)

    def rows(self) -> RowSource:
        """Return the cheapest source of rows: the matrix, if it was computed."""
        return (MatrixRows if self._run.has(Matrix) else RowSource)(self._problem, self._run)

    def time_to_finish(self) -> Callable[[], float]:
        """Return a function that estimates the seconds that the final assignment would take now."""
        problem, run = self._problem, self._run
        each = (1 + DRAWING_SHARE) * seconds_per_distance(problem, run) * problem.n

        def seconds() -> float:
            known = len(run.medoids) if problem.distance.remembers else 0
            return 0.0 if run.has(Matrix) else each * (problem.k - known)

        return seconds


def warn(assignment: Assignment) -> None:
    """Warn of medoids that are copies of each other."""
    if not assignment.members:
        return
    k = len(assignment.medoids)
    between = assignment.lookup.between(np.array(assignment.medoids))
    own = between.diagonal()
    same = (between == 0) & (between.T == 0) & (own == 0) & (own[:, None] == 0)
    np.fill_diagonal(same, False)
    if same.any():
        distinct = k - int(np.count_nonzero(np.triu(same).any(axis=0)))
        warnings.warn(
            f"number of distinct medoids ({distinct}) is smaller than n_clusters ({k}): X has too few distinct "
            "points, and some clusters hold only copies of another medoid; ask for fewer clusters",
            ConvergenceWarning,
            stacklevel=callers_level(),
        )


def _known_at_limit(solution: Solution, problem: Problem, run: Run, algorithm: str) -> str:
    """Return what the bounds of an algorithm that samples say of the medoids that it was left with."""
    if run.outlook is not None:
        return f": {run.outlook.sentence(solution.assignment.loss / problem.total_weight)}"
    if algorithm in NEEDS_MATRIX or problem.sizes is not None:
        return ""
    if algorithm in WITHOUT_BOUNDS:
        return f": {algorithm} has no bounds, which would say how good the medoids are"
    return ": its bounds say nothing of these medoids yet"


def warn_of_limit(
    solution: Solution, problem: Problem, run: Run, *, limit: str | None = None, drawn: int = 0, known: str = ""
) -> None:
    """Warn of a fit that a limit ended; ``known`` is what is known of its medoids."""
    if limit is not None:
        start = f" before the start was complete: {drawn} of {problem.k} medoids are drawn at random" if drawn else ""
        message = f"stopped at {limit}{start}; increase {limit}{known}"
    elif run.proof is not None:
        if not (message := run.proof.note):
            return
    elif not solution.converged and not run.stopped and solution.n_swaps >= problem.max_iter:
        message = f"did not converge within max_iter={problem.max_iter} swaps; increase max_iter"
    else:
        return
    warnings.warn(message, ConvergenceWarning, stacklevel=callers_level())


def described(
    solution: Solution, problem: Problem, run: Run, algorithm: str, reason: str, settings: Settings
) -> Clustering:
    """Return what was found, and how to find it again."""
    assignment = solution.assignment
    medoids: Rows = np.array(assignment.medoids, dtype=np.intp)
    inertia = float(problem.weights @ assignment.d1)  # not the assignment's loss if the objective is another
    loss = inertia / problem.total_weight
    proof: dict[str, Any] = {}
    if run.proof is not None:
        bound = min(run.proof.lower_bound / problem.total_weight, loss)
        gap = gap_between(loss, bound)
        proved = gap <= max(problem.gap, CLOSED_GAP)
        proof = {"lower_bound": bound, "gap": gap, "proved": proved, "nodes": run.proof.nodes}
    return Clustering(
        medoid_indices=medoids,
        labels=assignment.labels(),
        distances=assignment.d1.copy(),
        inertia=inertia,
        loss=loss,
        n_swaps=solution.n_swaps,
        converged=solution.converged,
        algorithm=algorithm,
        reason=reason,
        # A search that is cut off may have counted what it was going to compute; a budget counts what it grants.
        n_evaluations=run.tally.computed if settings.max_evaluations is None else run.allowance.spent,
        counts=run.tally.counts,
        trace=solution.trace,
        parameters={"n_clusters": problem.k, **settings.described(without=_ASIDE)},
        sample_weight=None if (problem.weights == 1).all() else problem.weights.copy(),
        n_restarts=problem.n_restarts,
        rectangular=problem.rectangular,
        outlook=run.outlook,
        **proof,
    )
