"""swap="eager": it ends where no swap helps, on falling losses, whatever the start, the weights and the distance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import data
from medoids import KMedoids, k_medoids


def best_swap(D: np.ndarray, medoids: np.ndarray) -> float:
    """Lowest loss that one swap leads to, by trying all."""
    lowest = np.inf
    for j in range(len(medoids)):
        rest = D[np.delete(medoids, j)].min(axis=0)
        lowest = min(lowest, float(np.minimum(D, rest).sum(axis=1).min()))
    return lowest


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n", "k"), [("mnist", 3100, 8), ("letter", 3500, 10), ("newsgroups", 3200, 6)])
def test_no_swap_helps_at_the_end(name: str, n: int, k: int) -> None:
    X, metric = data.subset(name, n, 0)
    found = k_medoids(X, k, metric=metric, algorithm="pairedpam", swap="eager", random_state=0)
    D = cdist(X, X, {"l2": "euclidean", "cosine": "cosine"}[metric])
    assert found.converged
    assert found.inertia == pytest.approx(D[found.medoid_indices].min(axis=0).sum(), rel=1e-6)
    assert best_swap(D, found.medoid_indices) > found.inertia * (1 - 1e-9)


@pytest.mark.parametrize("init", ["build", "random", "k-medoids++"])
def test_losses_fall_and_medoids_differ(init: str) -> None:
    X, metric = data.subset("mnist", 3100, 1)
    weights = np.random.RandomState(0).randint(0, 3, len(X))
    found = k_medoids(
        X, 12, metric=metric, algorithm="pairedpam", swap="eager", init=init, sample_weight=weights, random_state=0
    )
    losses = [step.loss for step in found.trace]
    assert losses == sorted(losses, reverse=True)
    assert len(set(found.medoid_indices.tolist())) == 12
    assert (weights[found.medoid_indices] > 0).all()
    assert found.n_swaps == sum(step.phase == "swap" for step in found.trace)


def test_max_iter_bounds_the_swaps() -> None:
    X, metric = data.subset("mnist", 3100, 2)
    for most in (0, 1, 3):
        with pytest.warns(match="max_iter"):
            found = k_medoids(
                X, 10, metric=metric, algorithm="pairedpam", swap="eager", init="random", max_iter=most, random_state=0
            )
        assert found.n_swaps == most


@pytest.mark.slow
def test_fewer_distances_than_pams_path_at_a_loss_about_as_low() -> None:
    X, metric = data.subset("mnist", 20_000, 0)
    settings = {"metric": metric, "algorithm": "pairedpam", "random_state": 0}
    best = k_medoids(X, 10, **settings)
    eager = k_medoids(X, 10, swap="eager", **settings)
    assert eager.n_evaluations < best.n_evaluations
    assert eager.loss < 1.005 * best.loss


def test_a_callable_is_called_once_a_pair() -> None:
    calls: dict[tuple[float, float], int] = {}

    def apart(a: float, b: float) -> float:
        calls[a, b] = calls.get((a, b), 0) + 1
        return abs(a - b) ** 1.5

    X = np.random.RandomState(0).normal(size=400).tolist()
    found = k_medoids(X, 5, metric=apart, algorithm="pairedpam", swap="eager", random_state=0)
    assert max(calls.values()) == 1
    assert found.n_evaluations == len(calls)


def test_who_takes_it() -> None:
    X = np.random.RandomState(0).normal(size=(50, 2))
    KMedoids(3, swap="eager").fit(X)
    with pytest.raises(ValueError, match="swap='eager' is for algorithm='auto' or 'pairedpam', not 'pam'"):
        KMedoids(3, algorithm="pam", swap="eager").fit(X)
    with pytest.raises(ValueError, match="swap='greedy'"):
        KMedoids(3, swap="greedy").fit(X)
