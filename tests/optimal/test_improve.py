"""Restarts lower the loss of a converged fit, on a matrix and without, and end where no swap improves."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from medoids import KMedoids, TraceRecord, certify, k_medoids, k_path

X = np.random.RandomState(0).rand(500, 2)  # without clusters there are many local optima
D = cdist(X, X)


def best_of_all(rows: np.ndarray, k: int, weights: np.ndarray) -> float:
    """Try every choice of k rows."""
    distances = cdist(rows, rows)
    return min(
        float(weights @ distances[list(chosen)].min(axis=0)) for chosen in itertools.combinations(range(len(rows)), k)
    )


def check(found: Any, k: int, weights: np.ndarray | None = None) -> None:
    w = np.ones(len(X)) if weights is None else weights
    assert len(set(found.medoid_indices.tolist())) == k
    assert found.inertia == pytest.approx(float(w @ D[found.medoid_indices].min(axis=0)))
    assert found.labels.tolist() == D[found.medoid_indices].argmin(axis=0).tolist()
    assert certify(found, X).swap is None


@pytest.mark.parametrize("algorithm", ["auto", "pam", "fastpam1", "fasterpam", "fastpam", "pairedpam", "banditpam++"])
def test_a_lower_loss_that_no_swap_improves(algorithm: str) -> None:
    keywords: dict[str, Any] = {"algorithm": algorithm, "random_state": 0}
    before = k_medoids(X, 30, **keywords)
    after = k_medoids(X, 30, n_restarts=20, **keywords)
    assert after.inertia < before.inertia * (1 - 1e-3)
    assert after.n_swaps > before.n_swaps
    check(after, 30)


def test_the_optimum_of_small_problems() -> None:
    found = 0
    for seed in range(12):
        random = np.random.RandomState(seed)
        rows, weights = random.normal(size=(14, 2)), random.randint(1, 4, 14).astype(float)
        loss = k_medoids(rows, 3, sample_weight=weights, n_restarts=20, random_state=seed).inertia
        best = best_of_all(rows, 3, weights)
        assert loss >= best * (1 - 1e-9)
        found += loss <= best * (1 + 1e-9)
    assert found == 12


def test_without_a_matrix() -> None:
    keywords: dict[str, Any] = {"algorithm": "pairedpam", "random_state": 1, "memory_limit": 500_000}
    before, after = (k_medoids(X, 30, n_restarts=count, **keywords) for count in (0, 30))
    assert after.inertia <= before.inertia
    check(after, 30)


def test_frozen_medoids_weights_and_candidates_of_weight_0() -> None:
    weights = np.random.RandomState(2).randint(0, 3, len(X)).astype(float)
    frozen = np.flatnonzero(weights)[:2].tolist()
    found = k_medoids(X, 20, sample_weight=weights, frozen_medoids=frozen, n_restarts=10, random_state=0)
    assert set(frozen) <= set(found.medoid_indices.tolist())
    assert (weights[found.medoid_indices] > 0).all()
    check(found, 20, weights)


def test_threads_do_not_matter() -> None:
    one, two = (k_medoids(X, 25, n_restarts=15, random_state=3, n_jobs=jobs) for jobs in (1, 2))
    assert one.medoid_indices.tolist() == two.medoid_indices.tolist()
    assert one.inertia == two.inertia


def test_the_trace_tells_which_restart_improved() -> None:
    steps: list[TraceRecord] = []
    found = k_medoids(X, 30, n_restarts=20, random_state=0, callback=steps.append)
    (restart,) = [step for step in found.trace if step.phase == "restart"]
    assert 1 <= restart.candidates <= 20
    assert found.trace == steps
    losses = [step.loss for step in found.trace if step.phase != "build"]
    assert losses == sorted(losses, reverse=True)


def test_a_fit_that_is_resumed_makes_the_same_restarts(tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"n_restarts": 10, "random_state": 5, "init": "random"}
    whole = k_medoids(X, 30, **keywords)
    path = tmp_path / "fit"

    def stop(step: TraceRecord) -> None:
        if step.phase == "restart":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 30, checkpoint=path, callback=stop, **keywords)
    resumed = k_medoids(X, 30, checkpoint=path, resume=True, **keywords)
    assert resumed.medoid_indices.tolist() == whole.medoid_indices.tolist()
    with pytest.raises(ValueError, match="n_restarts is 3 here and 10 in the file"):
        k_medoids(X, 30, checkpoint=path, resume=True, **{**keywords, "n_restarts": 3})


@pytest.mark.parametrize("algorithm", ["alternate", "clara", "clarans"])
def test_algorithms_without_a_local_optimum_refuse(algorithm: str) -> None:
    with pytest.raises(ValueError, match=f"n_restarts=5 is for algorithms .* not for '{algorithm}'"):
        KMedoids(3, algorithm=algorithm, n_restarts=5).fit(X)


def test_other_values_are_refused() -> None:
    with pytest.raises(ValueError, match="n_restarts=-1 must be at least 0"):
        KMedoids(3, n_restarts=-1).fit(X)


@pytest.mark.parametrize("algorithm", ["fastpam1", "pairedpam"])
def test_a_path_restarts_at_each_k(algorithm: str) -> None:
    keywords: dict[str, Any] = {"algorithm": algorithm, "random_state": 0}
    before, after = (k_path(X, (20, 30), n_restarts=count, **keywords) for count in (0, 10))
    for k, found in after.clusterings.items():
        assert found.loss <= before.losses[k]
        assert found.n_restarts == 10
        check(found, k)
    assert after.losses[30] < before.losses[30] * (1 - 1e-3)
    assert KMedoids("auto", k_range=[30], n_restarts=10, **keywords).fit(X).loss_ < before.losses[30] * (1 - 1e-3)
