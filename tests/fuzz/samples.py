"""Problems with more rows than a first sample, where the sampling algorithms really sample.

They promise PAM's answer with high probability only, so the check is coarser: no swap may lower the loss by more than
a hundredth of it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from fuzz.counts import COUNTS
from fuzz.objects import SORTS, Random
from fuzz.problems import SHARE, WEIGHTS, weights_of
from medoids import k_medoids

# Share of the loss that a swap may still gain.
MISSED = 1e-2
METRICS = ("euclidean", "cityblock", "chebyshev", "precomputed")


@dataclass(frozen=True)
class Sample:
    """What to cluster, and how; everything follows from the seed."""

    metric: str
    sort: str
    n: int
    p: int
    seed: int
    k: int
    algorithm: str
    weights: str = "none"
    swap: str = "best"
    memory_limit: Any = "2GiB"


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    algorithm = draw(st.sampled_from(("pairedpam", "pairedpam", "auto", "banditpam++")))
    return Sample(
        metric=draw(st.sampled_from(METRICS)),
        sort=draw(st.just("normal") | st.sampled_from(("normal", "tenths", "copies", "far away", "int8", "powers"))),
        n=draw(st.integers(520, 1500)),
        p=draw(st.integers(1, 5)),
        seed=draw(st.integers(0, 2**32 - 1)),
        k=draw(st.integers(1, 6)),
        algorithm=algorithm,
        weights=draw(st.just("a few heavy") | st.sampled_from(WEIGHTS)),
        swap=draw(st.sampled_from(("best", "eager"))) if algorithm != "banditpam++" else "best",
        memory_limit=draw(st.sampled_from(("2GiB", "2GiB", "1MiB", "100KiB"))),
    )


def check(sample: Sample) -> None:
    """Fit a sample and fail if the loss is wrong or far from a local optimum."""
    random = Random(sample.seed)
    points = np.asarray(SORTS[sample.sort](random, (sample.n, sample.p)), dtype=np.float64)
    D = cdist(points, points, "euclidean" if sample.metric == "precomputed" else sample.metric)
    weights = weights_of(sample.weights, random, sample.n)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = k_medoids(
                D if sample.metric == "precomputed" else points,
                sample.k,
                sample_weight=weights,
                metric=sample.metric,
                algorithm=sample.algorithm,
                swap=sample.swap,
                memory_limit=sample.memory_limit,
                random_state=sample.seed % 1000,
                n_jobs=1,
            )
        w = np.ones(sample.n) if weights is None else weights
        medoids = found.medoid_indices.tolist()
        now = float(w @ D[medoids].min(axis=0))
        assert abs(found.inertia - now) <= SHARE * now, f"the loss is {now}, and {found.inertia} is reported"
        if found.converged:
            best = _lowest_after_a_swap(D, w, medoids)
            assert best >= now - MISSED * now, f"a swap leads from {now} to {best}, and the fit says that it converged"
    except BaseException:
        COUNTS.add("samples", sample.algorithm, "failed")
        raise
    COUNTS.add("samples", sample.algorithm, "passed")


def _lowest_after_a_swap(D: Any, w: Any, medoids: list[int]) -> float:
    lowest = np.inf
    for slot in range(len(medoids)):
        rest = medoids[:slot] + medoids[slot + 1 :]
        remaining = D[rest].min(axis=0) if rest else np.full(len(D), np.inf)
        losses = np.minimum(D, remaining) @ w
        lowest = min(lowest, float(losses[w > 0].min()))
    return lowest
