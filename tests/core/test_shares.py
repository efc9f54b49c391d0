"""Rows of large weight under algorithms that sample references."""

from __future__ import annotations

import numpy as np
import pytest

from medoids import certify, k_medoids
from medoids.core.sampling import _by_weight
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


@pytest.mark.parametrize(
    "algorithm",
    [
        "pairedpam",
        "banditpam++",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("banditpam", "banditpam+va", "banditpam+pic")),
    ],
)
@pytest.mark.parametrize("kind", ["five", "twenty", "pareto"])
def test_heavy_rows_are_not_missed(kind: str, algorithm: str) -> None:
    for seed in range(4 if algorithm in ("pairedpam", "banditpam++") else 1):
        random = np.random.RandomState(seed)
        X, k = random.normal(size=(1000, 2)), 3 + seed
        weights = _weights(kind, random, 1000)
        exact = k_medoids(X, k, sample_weight=weights, algorithm="fastpam1")
        found = k_medoids(X, k, sample_weight=weights, algorithm=algorithm, random_state=seed)
        assert found.inertia == pytest.approx(exact.inertia, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "pairedpam", "banditpam++"])
@pytest.mark.parametrize("kind", ["five", "twenty", "pareto"])
def test_heavy_rows_among_5000(kind: str, algorithm: str) -> None:
    random = np.random.RandomState(0)
    X, weights = random.normal(size=(5000, 30)), _weights(kind, random, 5000)
    exact = k_medoids(X, 3, sample_weight=weights, algorithm="fastpam1")
    found = k_medoids(X, 3, sample_weight=weights, algorithm=algorithm, random_state=0)
    assert found.algorithm == ("pairedpam" if algorithm == "auto" else algorithm)
    assert found.inertia == pytest.approx(exact.inertia, rel=1e-9)


# What approximate algorithms may lose: about as much as with equal weights, for which the mean over these seeds is
# 4.4% for CLARA and 0.7% for CLARANS. Samples that ignore weights lose 23% to 11,000%.
@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["clara", "clarans"])
@pytest.mark.parametrize("kind", ["five", "twenty", "pareto"])
def test_approximate_algorithms_see_heavy_rows(kind: str, algorithm: str) -> None:
    above = []
    for seed in range(10):
        random = np.random.RandomState(seed)
        X, k = random.normal(size=(1000, 2)), 3 + seed % 4
        weights = _weights(kind, random, 1000)
        exact = k_medoids(X, k, sample_weight=weights, algorithm="fastpam1")
        found = k_medoids(X, k, sample_weight=weights, algorithm=algorithm, random_state=seed)
        above.append(found.inertia / exact.inertia - 1)
    assert np.mean(above) < 0.05


@pytest.mark.parametrize("size", [1, 5, 40, 99, 100])
def test_a_sample_by_weight(size: int) -> None:
    random = np.random.RandomState(0)
    weights = np.r_[1e6, 1e-200, random.pareto(1.2, 98)]
    rows, each = _by_weight(np.arange(100, 200), weights, size, random)
    assert len(set(rows.tolist())) == len(rows) == size
    assert 100 in rows
    # A sample stands for all rows: their weights are the weights of all.
    assert np.maximum(weights[rows - 100], each).sum() == pytest.approx(weights.sum(), rel=0.05)


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
