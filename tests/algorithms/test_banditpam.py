"""BanditPAM, BanditPAM++ and the two steps between: PAM's path, honest counts, the cache."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import data
from medoids import k_medoids

FAMILY = ["banditpam", "banditpam+va", "banditpam+pic", "banditpam++"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:did not converge within max_iter=2")
@pytest.mark.parametrize("algorithm", FAMILY)
@pytest.mark.parametrize("name", ["mnist", "letter", "newsgroups", "scrna"])
def test_pams_path_with_at_most_t_swaps(name: str, algorithm: str) -> None:
    X, metric = data.subset(name, 500, 1)
    pam = k_medoids(X, 8, metric=metric, algorithm="fastpam1", max_iter=2)
    found = k_medoids(X, 8, metric=metric, algorithm=algorithm, max_iter=2, random_state=0)
    assert found.n_swaps <= 2
    assert [(r.medoid_in, r.medoid_out) for r in found.trace] == [(r.medoid_in, r.medoid_out) for r in pam.trace]
    assert found.inertia == pytest.approx(pam.inertia, rel=1e-12)


def paper_sample(name: str, n: int) -> tuple[np.ndarray, str]:
    """Draw with replacement, as the authors did: repeated points must not confuse anything."""
    rows = np.random.RandomState(0)
    if name == "mnist":
        X = data.mnist()[np.random.RandomState(42).permutation(70000)] / 255
        return X[rows.choice(70000, n)], "l2"
    if name == "cifar10":
        pixels, labels, index = data.cifar10()
        place = np.full(50000, -1)
        place[index] = np.arange(30000)
        drawn = place[rows.choice(50000, n)]
        return np.hstack([pixels[drawn], labels[drawn, None]]) / 255, "l1"
    X = np.load(data.path("newsgroups_minilm_10000x384_float32.npy"))
    return X[rows.choice(10000, n)], "cosine"


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", FAMILY)
@pytest.mark.parametrize(("name", "n"), [("mnist", 1500), ("cifar10", 250), ("newsgroups", 1500)])
def test_pams_loss_on_the_papers_samples(name: str, n: int, algorithm: str) -> None:
    X, metric = paper_sample(name, n)
    pam = k_medoids(X, 5, metric=metric, algorithm="fastpam1")
    found = k_medoids(X, 5, metric=metric, algorithm=algorithm, random_state=0)
    assert found.inertia == pytest.approx(pam.inertia, rel=1e-9)
    np.testing.assert_array_equal(X[found.medoid_indices], X[pam.medoid_indices])


@pytest.mark.parametrize(("name", "n", "k"), [("mnist", 1000, 5), ("letter", 2000, 3), ("newsgroups", 1500, 10)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_pams_medoids_on_random_subsets(name: str, n: int, k: int, seed: int) -> None:
    X, metric = data.subset(name, n, seed)
    pam = k_medoids(X, k, metric=metric, algorithm="fastpam1")
    found = k_medoids(X, k, metric=metric, algorithm="banditpam++", random_state=seed)
    assert sorted(found.medoid_indices.tolist()) == sorted(pam.medoid_indices.tolist())


def test_an_outlier_that_the_first_batch_does_not_show() -> None:
    # One cell far from all: BUILD must take it, though 999 of 1,000 references say that it gains nothing.
    X = np.random.RandomState(0).normal(size=(1000, 2))
    X[123] = 3000, 3000
    for seed in range(5):
        found = k_medoids(X, 2, algorithm="banditpam++", random_state=seed)
        assert 123 in found.medoid_indices


@pytest.mark.slow
def test_digits_over_50_seeds() -> None:
    X = load_digits().data
    pam = sorted(k_medoids(X, 10, algorithm="fastpam1").medoid_indices.tolist())
    for seed in range(50):
        found = k_medoids(X, 10, algorithm="banditpam++", random_state=seed)
        assert sorted(found.medoid_indices.tolist()) == pam
        assert found.converged


@pytest.mark.parametrize("algorithm", FAMILY)
def test_the_loss_never_rises_and_a_swap_always_lowers_it(algorithm: str) -> None:
    X = np.random.RandomState(0).normal(size=(400, 3))
    w = np.random.RandomState(1).choice([0, 1.0, 5], 400)
    for init in ("build", "random", "k-medoids++", "lab"):
        found = k_medoids(X, 5, algorithm=algorithm, init=init, sample_weight=w, random_state=2)
        losses = [r.loss for r in found.trace]
        assert all(b < a for a, b in itertools.pairwise(losses))
        assert found.inertia == pytest.approx(w @ cdist(X, X[found.medoid_indices]).min(axis=1), rel=1e-12)
        assert (w[found.medoid_indices] > 0).all()


@pytest.mark.parametrize("algorithm", FAMILY)
@pytest.mark.parametrize("cache_width", [0, 100, 1000])
def test_counts_are_the_calls(algorithm: str, cache_width: int) -> None:
    points = np.random.RandomState(0).normal(size=(150, 2)).tolist()
    calls = 0

    def metric(a: list[float], b: list[float]) -> float:
        nonlocal calls
        calls += 1
        return abs(a[0] - b[0]) + abs(a[1] - b[1])

    # Too little memory to remember every value of a callable, which would hide what the algorithm itself caches.
    found = k_medoids(
        points, 3, metric=metric, algorithm=algorithm, cache_width=cache_width, memory_limit=10**6, random_state=0
    )
    assert found.n_evaluations == calls == sum(count.computed for count in found.counts.values())
    assert set(found.counts) <= {"build", "swap", "sigma", "assignment", "exact"}
    for count in found.counts.values():
        assert count.requested == count.computed + count.cached
    if cache_width < 100 or algorithm in ("banditpam", "banditpam+va"):
        assert sum(count.cached for count in found.counts.values()) == 0


def test_a_cached_distance_is_computed_once() -> None:
    points = np.random.RandomState(0).normal(size=(200, 2))
    seen: dict[tuple[int, int], int] = {}

    def metric(a: np.ndarray, b: np.ndarray) -> float:
        pair = (int(a[0]), int(b[0]))
        seen[pair] = seen.get(pair, 0) + 1
        return float(abs(a[1] - b[1]))

    X = np.column_stack([np.arange(200), points[:, 0]])
    found = k_medoids(X, 3, metric=metric, algorithm="banditpam++", random_state=0)
    # All 200 references fit in the cache; only the exact rows of finalists are computed beside it.
    exact = found.counts["exact"].computed
    assert sum(seen.values()) - exact <= 200 * 200


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnist", "letter", "newsgroups"])
def test_counts_fall_in_the_papers_order(name: str) -> None:
    X, metric = data.subset(name, 900, 0)
    mean = {
        algorithm: np.mean(
            [
                k_medoids(X, 5, metric=metric, algorithm=algorithm, random_state=seed, cache_width=400).n_evaluations
                for seed in range(5)
            ]
        )
        for algorithm in FAMILY
    }
    assert mean["banditpam"] > mean["banditpam+va"] >= mean["banditpam++"]
    assert mean["banditpam"] > mean["banditpam+pic"] >= mean["banditpam++"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:did not converge within max_iter=3")
def test_the_gain_over_banditpam_grows_with_k() -> None:
    X, metric = data.subset("mnist", 600, 0)
    ratio = {}
    for k in (5, 15):
        counts = [
            [k_medoids(X, k, metric=metric, algorithm=a, random_state=s, max_iter=3).n_evaluations for s in range(5)]
            for a in ("banditpam", "banditpam++")
        ]
        ratio[k] = np.mean(counts[0]) / np.mean(counts[1])
    assert ratio[15] > ratio[5] > 1


def test_memory_limit_narrows_the_cache_and_not_the_answer() -> None:
    X, metric = data.subset("letter", 1000, 0)
    wide = k_medoids(X, 4, metric=metric, algorithm="banditpam++", random_state=0)
    narrow = k_medoids(X, 4, metric=metric, algorithm="banditpam++", random_state=0, memory_limit="2MB")
    assert narrow.medoid_indices.tolist() == wide.medoid_indices.tolist()
    assert narrow.n_evaluations > wide.n_evaluations


def test_smaller_delta_looks_at_more() -> None:
    X, metric = data.subset("letter", 1000, 0)
    counts = [
        k_medoids(X, 4, metric=metric, algorithm="banditpam+va", random_state=0, delta=delta).counts["swap"].computed
        for delta in (0.1, 1e-10)
    ]
    assert counts[0] < counts[1]
    with pytest.raises(ValueError, match="delta=2 must be a number between 0 and 1"):
        k_medoids(X, 4, algorithm="banditpam++", delta=2)
