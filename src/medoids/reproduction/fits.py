"""One trial, fitted on one core, and the row of its results."""

from __future__ import annotations

import datetime
import os
import platform
import re
import warnings
from functools import cache
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
from medoids.datasets import METRIC
from medoids.distances import dissimilarity
from medoids.inputs import check_data
from medoids.pipeline import choose_algorithm, described, prepare
from medoids.reproduction.peers import PEERS
from medoids.reproduction.trials import TIMES, Row, Trial
from medoids.result import TraceRecord
from medoids.settings import Settings

__all__ = ["fit_trial"]

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


def fit_trial(trial: Trial, X: Any, fits: int = 1) -> Row:
    """Fit ``fits`` times on one core; return the columns of a row beyond the settings, with the shortest times."""
    # Fits to these sizes compile everything that a fit to n points needs; small ones need no kernels.
    sizes = (200,) if trial.n <= 500 else (1_000,) if trial.n <= 3_000 else (1_000, 3_100)
    fit = _fit_peer if trial.algorithm in PEERS else _fit_ours
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopping after T swaps is intended
        _compile(METRIC[trial.data], trial.algorithm, str(X.dtype), scipy.sparse.issparse(X), sizes)
        rows = [fit(trial, X) for _ in range(fits)]
    fastest = {time: min((row[time] for row in rows), key=float) for time in TIMES if time in rows[0]}
    finished = datetime.datetime.now().isoformat(timespec="seconds")
    return {**rows[0], **fastest, "fits": str(fits), "finished": finished, **_environment()}


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
        tally = run.tally

        def counts() -> tuple[int, int, int]:
            every = tally.counts.values()
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
    processor = model[1].strip() if model else platform.processor() or platform.machine()
    return {
        "medoids_version": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "scikit_learn": version("scikit-learn"),
        "machine": f"{processor}, {os.cpu_count()} cores",
    }
