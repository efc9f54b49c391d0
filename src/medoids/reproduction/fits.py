"""One run, and what is known of it afterwards."""

from __future__ import annotations

import datetime
import os
import platform
import warnings
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
from medoids.datasets import METRIC
from medoids.distances import dissimilarity
from medoids.inputs import check_data
from medoids.pipeline import choose_algorithm, described, prepare
from medoids.reproduction.peers import PEERS
from medoids.reproduction.rows import TIMES, Row
from medoids.reproduction.run import Run
from medoids.result import TraceRecord
from medoids.settings import Settings

__all__ = ["fitted"]

_OURS = {
    "BP": "banditpam",
    "BP+VA": "banditpam+va",
    "BP+PIC": "banditpam+pic",
    "BP++": "banditpam++",
    "PairedPAM": "pairedpam",
    "FastPAM1": "fastpam1",
}
# A float32 matrix of 30,000 points, and room beside it.
_MEMORY = "6GiB"


def fitted(run: Run, X: Any, fits: int = 1) -> Row:
    """Fit on one core, so many times over; return what a row holds beside the settings, with the shortest times."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # T swaps are meant
        _compile(METRIC[run.data], run.algorithm, str(X.dtype), scipy.sparse.issparse(X), _like(run.n))
        fit = _peer if run.algorithm in PEERS else _ours
        found = fit(run, X)
        for _ in range(fits - 1):
            again = fit(run, X)
            found |= {time: min(found[time], again[time], key=float) for time in TIMES if time in found}
    return {**found, "fits": str(fits), "finished": datetime.datetime.now().isoformat(timespec="seconds"), **_where()}


def _ours(run: Run, X: Any) -> Row:
    settings = Settings(
        metric=METRIC[run.data],
        algorithm=_OURS[run.algorithm],
        max_iter=run.T,
        delta=run.delta,
        memory_limit=_MEMORY,
        random_state=run.seed,
        n_jobs=1,
    )
    began, cpu = perf_counter(), process_time()
    built: tuple[float, float, tuple[int, int, int]] | None = None
    with prepare(check_data(X, settings.metric), run.k, None, settings) as (problem, work):
        tally = work.tally

        def counts() -> tuple[int, int, int]:
            every = tally.counts.values()
            return sum(c.requested for c in every), sum(c.computed for c in every), sum(c.cached for c in every)

        def watch(step: TraceRecord) -> None:
            nonlocal built
            if step.phase == "build":
                built = perf_counter(), process_time(), counts()

        work.watch(watch)
        algorithm, reason = choose_algorithm(settings.algorithm, problem, work)
        solution = ALGORITHMS[algorithm](problem, work)
        solution.trace = work.trace
        found = described(solution, problem, work, algorithm, reason, settings)
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


def _peer(run: Run, X: Any) -> Row:
    """Fit with another package; its time stands as that of BUILD, which cannot be told from the rest."""
    began, cpu = perf_counter(), process_time()
    medoids = np.asarray(PEERS[run.algorithm].fit(X, run.k, METRIC[run.data], run.seed))
    seconds, cpu = perf_counter() - began, process_time() - cpu
    distances = dissimilarity(check_data(X, METRIC[run.data]), METRIC[run.data], None).exact_block(
        medoids, slice(0, run.n)
    )
    package = PEERS[run.algorithm].package
    return {
        "loss": repr(float(distances.min(axis=0).mean())),
        "medoids": " ".join(map(str, medoids.tolist())),
        "build_seconds": f"{seconds:.3f}",
        "build_cpu": f"{cpu:.3f}",
        "peer": f"{package} {version(package)}",
    }


@cache
def _compile(metric: str, algorithm: str, dtype: str, sparse: bool, sizes: tuple[int, ...]) -> None:
    """Compile the kernels on a few narrow rows, so that no run's time has it."""
    rows = np.random.default_rng(0).random((max(sizes), 16)).astype(dtype)
    X = scipy.sparse.csr_matrix(rows) if sparse else rows
    data = next(data for data in METRIC if METRIC[data] == metric)
    if algorithm in PEERS:
        PEERS[algorithm].fit(X[:200], 2, metric, 0)
    else:
        for n in sizes:
            _ours(Run(data, n, 4, 5, algorithm, delta=0.05), X[:n])


def _like(n: int) -> tuple[int, ...]:
    """Sizes whose fits take the paths that n points take: few points need no kernels."""
    return (200,) if n <= 500 else (1_000,) if n <= 3_000 else (1_000, 3_100)


@lru_cache(maxsize=1)
def _where() -> Row:
    return {
        "medoids_version": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "scikit_learn": version("scikit-learn"),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
