"""Trials run one after another, each on one core; the row of each is stored as soon as it is finished."""

from __future__ import annotations

import datetime
import os
import platform
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from medoids._version import __version__
from medoids.algorithms import ALGORITHMS
from medoids.datasets import METRIC, DataNotFound, distinct_rows, paper_sample
from medoids.datasets.files import Folder
from medoids.datasets.loaders import ensure_available
from medoids.distances import dissimilarity
from medoids.inputs import check_data
from medoids.pipeline import choose_algorithm, described, prepare
from medoids.reproduction.peers import PEERS, is_installed
from medoids.reproduction.settings import expected_seconds
from medoids.reproduction.trials import TIMES, ResultsFile, Row, Trial
from medoids.result import TraceRecord
from medoids.settings import Settings

__all__ = ["carry_out", "missing", "possible"]

_ALGORITHM_NAMES = {
    "BP": "banditpam",
    "BP+VA": "banditpam+va",
    "BP+PIC": "banditpam+pic",
    "BP++": "banditpam++",
    "PairedPAM": "pairedpam",
    "FastPAM1": "fastpam1",
}
# Enough for a float32 matrix of 30,000 points and more.
_MEMORY_LIMIT = "6GiB"
# Trials on data where BP takes less than this many seconds are repeated, because short times vary most.
_REPEATED_BELOW = 10.0


def missing(trials: Sequence[Trial], rows: ResultsFile) -> list[Trial]:
    """Return the trials without a row."""
    return [trial for trial in trials if trial not in rows]


def possible(trials: Sequence[Trial], folder: Folder = None) -> tuple[list[Trial], list[str]]:
    """Return the trials that can be run here, and the reasons why the others cannot: missing data or packages."""
    reasons: dict[str, str] = {}
    for data in dict.fromkeys(trial.data for trial in trials):
        try:
            ensure_available(data, folder)
        except DataNotFound as error:
            reasons[data] = str(error)
    reasons |= {
        trial.algorithm: f'{trial.algorithm} is not installed: pip install "medoids[bench]"'
        for trial in trials
        if not is_installed(trial.algorithm)
    }
    return [trial for trial in trials if reasons.keys().isdisjoint((trial.data, trial.algorithm))], [*reasons.values()]


def carry_out(trials: Sequence[Trial], rows: ResultsFile, folder: Folder = None, fits: int = 1) -> None:
    """Run the trials that have no row yet, in order, with a progress bar if standard error is a terminal.

    Parameters
    ----------
    trials : sequence of Trial
    rows : ResultsFile
        The row of each trial is added to it.
    folder : path, optional
        Folder of data files.
    fits : int
        Number of fits per short trial; the shortest time counts, since others may use the machine too.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    todo = missing(trials, rows)

    @lru_cache(maxsize=1)  # consecutive trials mostly share their data
    def sample(data: str, kind: str, n: int, seed: int) -> Any:
        return paper_sample(data, n, folder) if kind == "authors" else distinct_rows(data, n, seed, folder)

    with Progress(
        BarColumn(bar_width=20),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("about"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        bar = progress.add_task("", total=sum(map(expected_seconds, todo)))
        for number, trial in enumerate(todo, start=1):
            progress.update(bar, description=f"{number}/{len(todo)} {trial}")
            X = sample(trial.data, trial.sample, trial.n, trial.seed if trial.sample == "distinct" else 0)
            repeated = expected_seconds(replace(trial, algorithm="BP")) < _REPEATED_BELOW
            rows.add(trial, _fit_trial(trial, X, fits if repeated else 1))
            progress.advance(bar, expected_seconds(trial))


def _fit_trial(trial: Trial, X: Any, fits: int = 1) -> Row:
    """Fit ``fits`` times on one core; return the columns of a row beyond the settings, with the shortest times."""
    # Fits to these sizes compile everything that a fit to n points needs; small ones need no kernels.
    sizes = (200,) if trial.n <= 500 else (1_000,) if trial.n <= 3_000 else (1_000, 3_100)
    fit = _fit_peer if trial.algorithm in PEERS else _fit_ours
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopping after T swaps is intended
        _compile(METRIC[trial.data], trial.algorithm, str(X.dtype), scipy.sparse.issparse(X), sizes)
        rows = [fit(trial, X) for _ in range(fits)]
    fastest = {time: min((row[time] for row in rows), key=float) for time in TIMES if time in rows[0]}
    return {
        **rows[0],
        **fastest,
        "fits": str(fits),
        "finished": datetime.datetime.now().isoformat(timespec="seconds"),
        **_environment(),
    }


def _fit_ours(trial: Trial, X: Any) -> Row:
    settings = Settings(
        metric=METRIC[trial.data],
        algorithm=_ALGORITHM_NAMES[trial.algorithm],
        swap="best",
        max_iter=trial.T,
        delta=trial.delta,
        memory_limit=_MEMORY_LIMIT,
        random_state=trial.seed,
        n_jobs=1,
    )
    began, cpu = perf_counter(), process_time()
    built: tuple[float, float, tuple[int, int, int]] | None = None
    with prepare(check_data(X, settings.metric), trial.k, None, settings) as (problem, run):

        def counts() -> tuple[int, int, int]:
            every = run.tally.counts.values()
            return sum(c.requested for c in every), sum(c.computed for c in every), sum(c.cached for c in every)

        def watch(step: TraceRecord) -> None:
            nonlocal built
            if step.phase == "build":
                built = perf_counter(), process_time(), counts()

        run.watch(watch)
        algorithm, _, reason = choose_algorithm(settings.algorithm, problem, run)
        solution = ALGORITHMS[algorithm](problem, run)
        solution.trace = run.trace
        found = described(solution, problem, run, algorithm, reason, settings)
        ended, cpu_ended, total = perf_counter(), process_time(), counts()
    assert built is not None
    losses = {phase: [repr(float(s.loss)) for s in found.trace if s.phase == phase] for phase in ("build", "swap")}
    row = {
        "loss": repr(float(found.loss)),
        "build_loss": losses["build"][-1],
        "losses": " ".join(losses["swap"]),
        "swaps": str(found.n_swaps),
        "converged": str(found.converged),
        "medoids": " ".join(map(str, found.medoid_indices.tolist())),
        "build_seconds": f"{built[0] - began:.3f}",
        "build_cpu": f"{built[1] - cpu:.3f}",
        "swap_seconds": f"{ended - built[0]:.3f}",
        "swap_cpu": f"{cpu_ended - built[1]:.3f}",
    }
    for kind, first, last in zip(("requested", "computed", "cached"), built[2], total, strict=True):
        row |= {f"build_{kind}": str(first), f"swap_{kind}": str(last - first)}
    return row


def _fit_peer(trial: Trial, X: Any) -> Row:
    """Fit with another package; its time counts as that of BUILD, since the phases cannot be told apart."""
    peer, metric = PEERS[trial.algorithm], METRIC[trial.data]
    began, cpu = perf_counter(), process_time()
    medoids = np.asarray(peer.fit(X, trial.k, metric, trial.seed))
    seconds, cpu = perf_counter() - began, process_time() - cpu
    distances = dissimilarity(check_data(X, metric), metric, None).exact_block(medoids, slice(0, trial.n))
    return {
        "loss": repr(float(distances.min(axis=0).mean())),
        "medoids": " ".join(map(str, medoids.tolist())),
        "build_seconds": f"{seconds:.3f}",
        "build_cpu": f"{cpu:.3f}",
        "peer": f"{peer.package} {version(peer.package)}",
    }


@cache
def _compile(metric: str, algorithm: str, dtype: str, sparse: bool, sizes: tuple[int, ...]) -> None:
    """Compile the kernels by fits to a few short rows, so that compilation is not part of any measured time."""
    rows = np.random.default_rng(0).random((max(sizes), 16)).astype(dtype)
    X = scipy.sparse.csr_matrix(rows) if sparse else rows
    data = next(data for data in METRIC if METRIC[data] == metric)
    for n in sizes:
        if algorithm in PEERS:
            PEERS[algorithm].fit(X[:200], 2, metric, 0)
        else:
            _fit_ours(Trial(data, n, 4, 5, algorithm, delta=0.05), X[:n])


@cache
def _environment() -> Row:
    cpuinfo = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpuinfo.read_text() if cpuinfo.exists() else "")
    return {
        "medoids_version": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "scikit_learn": version("scikit-learn"),
        "machine": f"{model[1].strip() if model else platform.processor() or platform.machine()}, "
        f"{os.cpu_count()} cores",
    }
