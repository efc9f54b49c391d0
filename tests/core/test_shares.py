"""Rows of large weight under algorithms that sample references."""

from __future__ import annotations

import numpy as np
import pytest

from medoids import certify, k_medoids
from medoids.core.shares import count_shares, largest_share


def _weights(kind: str, random: np.random.RandomState, n: int) -> np.ndarray:
    weights = np.ones(n)
    if kind == "five":
        weights[random.choice(n, 5, replace=False)] = 1e5
    elif kind == "twenty":
        weights[random.choice(n, 20, replace=False)] = 300
    else:
        weights = random.pareto(1.2, n)
    return weights


def test_equal_weights_stay_whole() -> None:
    for weight in (1.0, 0.1, 1e-300, 1e12):
        weights = np.full(7, weight)
        assert count_shares(weights, largest_share(weights.sum(), 7)).tolist() == [1] * 7


@pytest.mark.parametrize("kind", ["five", "twenty", "pareto"])
def test_no_share_is_large_and_their_number_is_bounded(kind: str) -> None:
    weights = _weights(kind, np.random.RandomState(0), 1000)
    counts = count_shares(weights, largest_share(weights.sum(), 1000))
    assert (weights / counts).max() <= 1.05 * weights.mean()
    assert 1000 <= counts.sum() <= 2000


@pytest.mark.parametrize("algorithm", ["pairedpam", "banditpam++"])
@pytest.mark.parametrize("kind", ["five", "twenty", "pareto"])
def test_heavy_rows_are_not_missed(kind: str, algorithm: str) -> None:
    for seed in range(4):
        random = np.random.RandomState(seed)
        X, k = random.normal(size=(1000, 2)), 3 + seed
        weights = _weights(kind, random, 1000)
        exact = k_medoids(X, k, sample_weight=weights, algorithm="fastpam1")
        found = k_medoids(X, k, sample_weight=weights, algorithm=algorithm, random_state=seed)
        assert found.inertia == pytest.approx(exact.inertia, rel=1e-9)


def test_a_few_rows_of_enormous_weight() -> None:
    random = np.random.RandomState(47)
    X, weights = random.normal(size=(1000, 2)), np.ones(1000)
    weights[random.choice(1000, 5, replace=False)] = 1e5
    for swap in ("best", "eager"):
        found = k_medoids(X, 3, sample_weight=weights, algorithm="pairedpam", swap=swap, random_state=0)
        assert certify(X, found.medoid_indices, sample_weight=weights).swap is None


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("algorithm", ["pairedpam", "banditpam++"])
def test_the_unit_of_weights_says_nothing(algorithm: str, scale: float) -> None:
    # 1e30 squared leaves float32, in which distances are sampled from 3,000 rows on.
    random = np.random.RandomState(0)
    X, weights = random.normal(size=(3200, 8)), random.uniform(0.5, 2, 3200)
    settings = {"algorithm": algorithm, "random_state": 0, "max_iter": 0, "delta": 1e-3}
    with pytest.warns(match="max_iter"):
        found, like = (k_medoids(X, 3, sample_weight=w, **settings) for w in (scale * weights, weights))
    assert found.medoid_indices.tolist() == like.medoid_indices.tolist()
    assert found.loss == pytest.approx(like.loss)
