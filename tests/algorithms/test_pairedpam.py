"""PairedPAM: PAM's medoids, no distance twice, the memory limit, and its parts by themselves."""

from __future__ import annotations

import gc
import importlib
import itertools
import lzma
import tracemalloc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import data
from medoids import k_medoids
from medoids.paired.store import Store


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "k"),
    [("mnist", 2000, 5), ("mnist", 4000, 10), ("letter", 3500, 10), ("newsgroups", 2500, 20), ("scrna", 700, 5)],
)
@pytest.mark.parametrize("seed", range(2))
def test_pams_medoids_on_random_subsets(name: str, n: int, k: int, seed: int) -> None:
    X, metric = data.subset(name, n, seed)
    pam = k_medoids(X, k, metric=metric, algorithm="fastpam1")
    path, on_it = [(r.medoid_in, r.medoid_out) for r in pam.trace], 0
    for draw in range(3):
        found = k_medoids(X, k, metric=metric, algorithm="pairedpam", swap="best", random_state=seed + 10 * draw)
        assert sorted(found.medoid_indices) == sorted(pam.medoid_indices)
        assert found.inertia == pytest.approx(pam.inertia, rel=1e-9)
        on_it += [(r.medoid_in, r.medoid_out) for r in found.trace] == path
    assert on_it >= 2  # a bound may miss the best of nearly equal swaps, which is then made later


def test_copies_of_a_row_go_to_the_lowest_index() -> None:
    X = np.random.RandomState(0).normal(size=(3300, 20))
    X = X[np.random.RandomState(1).choice(1100, 3300)]  # every row about three times
    pam = k_medoids(X, 6, algorithm="fastpam1")
    for seed in range(3):
        found = k_medoids(X, 6, algorithm="pairedpam", random_state=seed)
        assert found.medoid_indices.tolist() == pam.medoid_indices.tolist()


@pytest.mark.slow
def test_fewer_distances_than_half_the_matrix() -> None:
    X, metric = data.subset("mnist", 5000, 0)
    found = k_medoids(X, 10, metric=metric, algorithm="pairedpam", random_state=0)
    assert found.n_evaluations < 0.5 * 5000**2


@pytest.mark.slow
def test_words_under_a_callable_that_is_called_once_a_pair() -> None:
    with lzma.open(data.path("words_american_english_104334.txt.xz"), "rt", encoding="utf-8") as file:
        words = file.read().split()
    words = [words[i] for i in np.random.RandomState(0).choice(len(words), 800, replace=False)]
    calls: dict[tuple[str, str], int] = {}

    def unlike(a: str, b: str) -> float:
        calls[a, b] = calls.get((a, b), 0) + 1
        return len(set(a) ^ set(b)) + abs(len(a) - len(b)) / 10

    found = k_medoids(words, 5, metric=unlike, algorithm="pairedpam", random_state=0)
    assert max(calls.values()) == 1
    assert found.n_evaluations == len(calls) < 800**2
    matrix = np.array([[unlike(a, b) for b in words] for a in words])
    pam = k_medoids(matrix, 5, metric="precomputed", algorithm="fastpam1")
    assert found.inertia == pytest.approx(pam.inertia, rel=1e-12)


@pytest.mark.parametrize("memory_limit", ["100kB", "1MB", "100MB"])
def test_what_does_not_fit_is_computed_again_and_changes_nothing(memory_limit: str) -> None:
    X, metric = data.subset("letter", 3500, 0)
    free = k_medoids(X, 6, metric=metric, algorithm="pairedpam", random_state=0)
    bound = k_medoids(X, 6, metric=metric, algorithm="pairedpam", random_state=0, memory_limit=memory_limit)
    assert bound.trace[-1].loss == free.trace[-1].loss
    assert bound.medoid_indices.tolist() == free.medoid_indices.tolist()
    assert (bound.n_evaluations > free.n_evaluations) == (memory_limit != "100MB")


@pytest.mark.parametrize("swap", ["best", "eager"])
@pytest.mark.parametrize("n", range(1, 9))
def test_a_handful_of_points_without_memory(n: int, swap: str) -> None:
    X = np.random.RandomState(n).normal(size=(n, 2))
    D = cdist(X, X)
    for k in range(1, n + 1):
        found = k_medoids(X, k, algorithm="pairedpam", swap=swap, memory_limit=1, random_state=0)
        assert found.converged
        medoids = found.medoid_indices.tolist()
        assert found.inertia == pytest.approx(D[medoids].min(axis=0).sum())
        swaps = [D[[*medoids[:j], i, *medoids[j + 1 :]]].min(axis=0).sum() for j in range(k) for i in range(n)]
        assert min(swaps) >= found.inertia - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("spread", [1.0, 1e-4])
def test_scarce_memory_and_clusters_far_apart(spread: float) -> None:
    # Ten clusters: 1 apart from the centre with a spread that is many coarse steps, or less than one.
    random = np.random.RandomState(0)
    X = np.repeat(1000.0 * random.normal(size=(10, 3)), 400, axis=0) + spread * random.normal(size=(4000, 3))
    pam = k_medoids(X, 10, algorithm="fastpam1")
    found = k_medoids(X, 10, algorithm="pairedpam", memory_limit="5MB", random_state=0)
    assert sorted(found.medoid_indices) == sorted(pam.medoid_indices)
    assert found.n_evaluations < 20 * len(X) ** 2  # of 30 steps; a search that tells nothing apart would meet all each


@pytest.mark.parametrize("algorithm", ["pairedpam", "banditpam++", "banditpam"])
def test_distances_whose_squares_overflow(algorithm: str) -> None:
    X = 1e200 * np.random.RandomState(0).normal(size=(300, 2))
    with pytest.raises(ValueError, match=r"squares overflow.*rescale X, or use algorithm='fastpam1'"):
        k_medoids(X, 3, metric="l1", algorithm=algorithm)


@pytest.mark.parametrize("init", ["build", "random", "k-medoids++", "lab"])
def test_weights_starts_and_a_loss_that_never_rises(init: str) -> None:
    X = np.random.RandomState(0).normal(size=(900, 3))
    w = np.random.RandomState(1).choice([0, 1.0, 5], 900)
    found = k_medoids(X, 5, algorithm="pairedpam", init=init, sample_weight=w, random_state=2)
    losses = [r.loss for r in found.trace]
    assert all(b < a for a, b in itertools.pairwise(losses))
    assert found.inertia == pytest.approx(w @ cdist(X, X[found.medoid_indices]).min(axis=1), rel=1e-12)
    assert (w[found.medoid_indices] > 0).all()
    rest = k_medoids(X, 5, init=found.medoid_indices, sample_weight=w, algorithm="fastpam1")
    assert rest.n_swaps == 0  # no swap improves


@pytest.mark.slow
@pytest.mark.parametrize("swap", ["best", "eager"])
def test_the_last_search_is_surer_than_the_others(swap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that drop arms far too early end before an optimum, unless the last one looks again."""
    X, metric = data.subset("letter", 6000, 0)
    D, k = cdist(X, X), 20

    def swaps_are_left(delta: float | None, seed: int) -> bool:
        keywords = {"algorithm": "pairedpam", "swap": swap, "random_state": seed}
        medoids = k_medoids(X, k, metric=metric, delta=delta, **keywords).medoid_indices
        losses = [np.minimum(D, np.delete(D[medoids], slot, axis=0).min(axis=0)).sum(axis=1).min() for slot in range(k)]
        return min(losses) < D[medoids].min(axis=0).sum() * (1 - 1e-9)

    assert any(swaps_are_left(0.9, seed) for seed in range(5))
    monkeypatch.setattr(importlib.import_module("medoids.paired.search"), "_WIDTH", 0.3)
    assert not any(swaps_are_left(None, seed) for seed in range(5))


def test_an_outlier_that_level_0_does_not_show() -> None:
    X = np.random.RandomState(0).normal(size=(4000, 2))
    X[1234] = 1e4, 1e4
    for seed in range(5):
        assert 1234 in k_medoids(X, 2, algorithm="pairedpam", random_state=seed).medoid_indices


@pytest.mark.slow
def test_auto_weighs_the_matrix_against_sampling() -> None:
    X, metric = data.subset("letter", 3500, 0)
    assert k_medoids(X[:3000], 4, metric=metric).algorithm == "fastpam1"  # small
    many = k_medoids(X, 100, metric=metric)
    assert many.algorithm == "fastpam1"  # PairedPAM's weak spot
    assert "cheaper than sampling" in many.reason
    words = [str(number) for number in range(1500)]

    def unlike(a: str, b: str) -> float:
        return abs(int(a) - int(b)) ** 0.5

    dear = k_medoids(words, 3, metric=unlike, random_state=0)
    assert dear.algorithm == "pairedpam"
    assert "sampled distances are cheaper" in dear.reason
    given = k_medoids(cdist(X[:500], X[:500]), 3, metric="precomputed")
    assert "is given" in given.reason


def test_auto_asks_no_clock_about_named_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).normal(size=(5000, 4))
    prices = []
    for seconds in (1e-12, 1e3):  # of one distance, on a machine that is idle or busy
        monkeypatch.setattr("medoids.algorithms.auto._measure", lambda problem, rows, s=seconds: (s, 1.0))
        found = k_medoids(X, 5, max_iter=0, callback=lambda step: True, random_state=0)
        prices.append((found.algorithm, found.reason))
    assert prices[0] == prices[1]


def test_auto_says_that_it_timed_a_callable() -> None:
    found = k_medoids(list(range(320)), 2, metric=lambda a, b: abs(a - b), random_state=0)
    assert "by a timing of some calls" in found.reason


def test_auto_takes_it_where_the_matrix_does_not_fit() -> None:
    X, metric = data.subset("letter", 3500, 0)
    found = k_medoids(X, 4, metric=metric, memory_limit="30MB", random_state=0)
    assert found.algorithm == "pairedpam"
    assert "more than memory_limit" in found.reason
    pam = k_medoids(X, 4, metric=metric, algorithm="fastpam1")
    assert found.inertia == pytest.approx(pam.inertia, rel=1e-9)


@pytest.mark.parametrize("swap", ["best", "eager"])
def test_a_start_leaves_no_distances_behind(swap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).normal(size=(3500, 4))
    made: list[weakref.ref[Store]] = []
    left_over: list[int] = []
    begin = Store.__init__

    def watched(self: Store, *args: Any, **keywords: Any) -> None:
        left_over.append(sum(levels() is not None for levels in made))
        made.append(weakref.ref(self))
        begin(self, *args, **keywords)

    monkeypatch.setattr(Store, "__init__", watched)
    gc.disable()  # nothing may wait for it
    try:
        k_medoids(X, 4, algorithm="pairedpam", swap=swap, init="random", n_init=3, random_state=0)
    finally:
        gc.enable()
    assert left_over == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("swap", ["best", "eager"])
def test_the_peak_of_all_allocations(swap: str) -> None:
    # 40,000 points store 82 MB of the first level; what a fit allocates beside the stored distances is bounded too.
    X = np.random.RandomState(0).normal(size=(40_000, 128)).astype(np.float32)
    k_medoids(X[:4000], 5, algorithm="pairedpam", swap=swap, random_state=0)  # compile
    limit = 250 * 2**20
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # three swaps are enough to see
        k_medoids(X, 5, algorithm="pairedpam", swap=swap, memory_limit=limit, max_iter=3, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 * limit < peak < limit + X.nbytes + 150 * 2**20
