"""The start of eager swaps: medoids of a sample, then near points that serve larger samples better."""

from __future__ import annotations

import numpy as np
import pytest

from medoids import Clustering, k_medoids
from medoids.paired import start


def first_medoids(X: np.ndarray, seed: int, **settings: object) -> Clustering:
    with pytest.warns(match="max_iter"):
        return k_medoids(X, 5, algorithm="pairedpam", swap="eager", max_iter=0, random_state=seed, **settings)


def excess(X: np.ndarray) -> float:
    """Mean excess of the start over the loss of the best of some fits."""
    best = min(k_medoids(X, 5, algorithm="pairedpam", swap="eager", random_state=seed).loss for seed in range(3))
    return float(np.mean([first_medoids(X, seed).loss for seed in range(5)]) / best - 1)


@pytest.mark.slow
def test_closing_in_lowers_the_loss_of_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).uniform(size=(20_000, 2))
    with_it = excess(X)
    monkeypatch.setattr(start, "_LARGEST", 0)
    assert with_it < 0.5 * excess(X)


def test_frozen_medoids_stay_and_rows_that_may_not_be_medoids_do_not_become_any() -> None:
    X = np.random.RandomState(1).uniform(size=(9_000, 2))
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)  # rows of weight 0 are no candidates
    for seed in range(3):
        found = first_medoids(X, seed, sample_weight=weights, frozen_medoids=[7, 4000])
        assert {7, 4000} <= set(found.medoid_indices.tolist())
        assert (weights[found.medoid_indices] > 0).all()
        assert len(set(found.medoid_indices.tolist())) == 5


def test_copies_of_rows_never_fill_two_places() -> None:
    X = np.random.RandomState(2).randint(0, 3, size=(6_000, 2)).astype(float)
    for seed in range(3):
        found = first_medoids(X, seed)
        assert len(set(found.medoid_indices.tolist())) == 5
