"""Tabu search against the plain-loop oracle, brute force and PAM."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import oracle
from medoids import k_medoids


def problem(seed: int, n: int = 24) -> Any:
    return np.random.default_rng(seed).uniform(size=(n, 2))


def best_loss(D: Any, k: int, weights: Any) -> float:
    return min(float(D[list(medoids)].min(axis=0) @ weights) for medoids in combinations(range(len(D)), k))


@pytest.mark.parametrize("k", [2, 4])
def test_it_reaches_optima_that_pam_misses(k: int) -> None:
    """Of 25 problems, by brute force over all medoids: PAM ends above some optima, tabu search above fewer."""
    missed = {"pam": 0, "tabu": 0}
    for seed in range(25):
        X = problem(seed, 18)
        D = cdist(X, X)
        optimum = best_loss(D, k, np.ones(18))
        pam, tabu = (k_medoids(X, k, algorithm=name) for name in ("pam", "tabu"))
        assert tabu.inertia <= pam.inertia * (1 + 1e-9)
        for name, found in (("pam", pam), ("tabu", tabu)):
            missed[name] += found.inertia > optimum * (1 + 1e-9)
    assert missed["pam"] >= 3
    assert missed["tabu"] == 0


@pytest.mark.parametrize("keywords", [{}, {"init": [0, 1, 2]}, {"frozen_medoids": [5]}, {"weights": True}])
def test_its_loss_is_true_and_no_swap_improves_it(keywords: dict[str, Any]) -> None:
    weights = np.arange(24.0) % 4 if keywords.pop("weights", False) else np.ones(24)
    for seed in range(4):
        X = problem(seed)
        D = cdist(X, X)
        found = k_medoids(X, 3, algorithm="tabu", sample_weight=weights, **keywords)
        medoids = found.medoid_indices.tolist()
        assert found.inertia == pytest.approx(oracle.loss(D, medoids, weights))
        assert all(weights[i] > 0 for i in medoids)
        assert found.converged
        losses = [step.loss for step in found.trace]
        assert losses == sorted(losses, reverse=True)
        if "frozen_medoids" in keywords:
            assert 5 in medoids
        else:
            assert oracle.swap(D, medoids, weights) is None


def test_it_takes_pams_path_to_the_first_local_optimum() -> None:
    X = load_iris().data
    pam, tabu = (k_medoids(X, 6, algorithm=name, init=[0, 1, 2, 3, 4, 5]) for name in ("pam", "tabu"))
    steps = [(step.phase, step.medoid_in, step.medoid_out) for step in pam.trace]
    assert [(step.phase, step.medoid_in, step.medoid_out) for step in tabu.trace][: len(steps)] == steps
    assert tabu.n_swaps > pam.n_swaps > 3
    assert tabu.loss <= pam.loss


def test_max_iter_counts_steps_upward_too() -> None:
    X = problem(0)
    pam = k_medoids(X, 4, algorithm="pam")
    with pytest.warns(match="did not converge within max_iter"):
        found = k_medoids(X, 4, algorithm="tabu", max_iter=pam.n_swaps + 3)
    assert (found.n_swaps, found.converged) == (pam.n_swaps + 3, False)
    assert found.loss <= pam.loss


@pytest.mark.parametrize(("n", "k"), [(5, 5), (6, 5), (9, 1), (3, 2)])
def test_few_rows_or_medoids(n: int, k: int) -> None:
    X = problem(3, n)
    found = k_medoids(X, k, algorithm="tabu")
    assert found.inertia == pytest.approx(best_loss(cdist(X, X), k, np.ones(n)))
    assert found.converged
