"""PairedPAM: PAM's medoids, no distance twice, the memory limit, and its parts by themselves."""

from __future__ import annotations

import gc
import importlib
import itertools
import lzma
import tracemalloc
import warnings
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import data
from medoids import k_medoids
from medoids.distances import Tally, dissimilarity
from medoids.engine import LANES
from medoids.engine.threads import Threads
from medoids.paired.lanes import Tile
from medoids.paired.levels import Levels, rounds
from medoids.paired.moments import Moments, State


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "k"),
    [("mnist", 2000, 5), ("mnist", 4000, 10), ("letter", 3500, 10), ("newsgroups", 2500, 20), ("scrna", 700, 5)],
)
@pytest.mark.parametrize("seed", range(2))
def test_pams_medoids_on_random_subsets(name: str, n: int, k: int, seed: int) -> None:
    X, metric = data.subset(name, n, seed)
    pam = k_medoids(X, k, metric=metric, algorithm="fastpam1")
    found = k_medoids(X, k, metric=metric, algorithm="pairedpam", random_state=seed)
    assert [(r.medoid_in, r.medoid_out) for r in found.trace] == [(r.medoid_in, r.medoid_out) for r in pam.trace]
    assert found.inertia == pytest.approx(pam.inertia, rel=1e-9)


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


@pytest.mark.parametrize("memory_limit", ["100kB", "1MB", "30MB"])
def test_what_does_not_fit_is_computed_again_and_changes_nothing(memory_limit: str) -> None:
    X, metric = data.subset("letter", 3500, 0)
    free = k_medoids(X, 6, metric=metric, algorithm="pairedpam", random_state=0)
    bound = k_medoids(X, 6, metric=metric, algorithm="pairedpam", random_state=0, memory_limit=memory_limit)
    assert bound.trace[-1].loss == free.trace[-1].loss
    assert bound.medoid_indices.tolist() == free.medoid_indices.tolist()
    assert (bound.n_evaluations > free.n_evaluations) == (memory_limit != "30MB")


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


def test_stored_distances_obey_the_limit() -> None:
    X = np.random.RandomState(0).normal(size=(2000, 3))
    with Threads(1) as threads:
        levels = Levels(dissimilarity(X, "l2"), rounds(2000, 128), 3_000_000, threads, Tally())
        for l in range(len(levels)):
            levels.fill(l, np.arange(2000))
        assert sum(level.values.nbytes for level in levels.levels) <= 3_000_000
        assert levels[0].stored == 2000


def test_levels_give_the_distances_stored_or_not() -> None:
    X = np.random.RandomState(0).normal(size=(500, 3))
    D = cdist(X, X)
    arms = np.array([3, 4, 77, 78, 79, 100, 250, 251, 499])
    for limit in (10_000, 10_000_000):
        with Threads(2) as threads:
            levels = Levels(dissimilarity(X, "l2"), rounds(500, 64), limit, threads, Tally())
            levels.fill(1, np.array([4, 250, 499]))
            levels.fill(1, arms)
            span = levels[1].span
            for references in (None, np.array([span.start, span.start + 3, span.stop - 1])):
                wanted = np.arange(span.start, span.stop) if references is None else references
                found = np.full((len(arms), len(wanted)), np.nan)
                levels.scan(1, arms, partial(_collect, found), references)
                np.testing.assert_allclose(found, D[np.ix_(arms, wanted)], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(levels.row(1, 78), D[78, span], rtol=1e-9)


def _collect(found: np.ndarray, tile: Tile) -> None:
    for g, lane in itertools.product(range(len(tile.groups)), range(LANES)):
        number = tile.at[g, lane]
        if number >= 0:
            assert np.isnan(found[number, tile.run]).all()  # an arm and a reference meet once
            found[number, tile.run] = tile.values[tile.groups[g], tile.all_columns, lane]


@pytest.mark.parametrize("threads", [1, 2])
def test_arms_that_are_asked_for_take_the_room_of_others(threads: int) -> None:
    X = np.random.RandomState(0).rand(200, 3)
    D, tally = cdist(X, X), Tally()
    with Threads(threads) as pool:
        # Room for 13 groups of 16 arms in the first level, which are all, and for 7 in the second, which are half.
        distance, room = dissimilarity(X, "l2", None), 8 * (13 * 16 * 8 + 7 * 16 * 160)
        levels = Levels(distance, [slice(0, 8), slice(8, 168), slice(168, 200)], room, pool, tally)
        levels.fill(0, levels.everyone)
        levels.fill(1, np.arange(0, 200, 2))
        assert tally.computed == 200 * 8 + 100 * 160
        levels.fill(1, np.arange(1, 200, 2))
        assert tally.computed == 200 * 8 + 112 * 160  # the last group has 12 lanes left, and the others stay
        assert levels.holds(1, np.arange(0, 200, 2))
        computed = 112
        # First about as many as there is room for, then fewer, so that memory is given back.
        for asked, groups, new in (
            (np.concatenate([np.arange(0, 100, 2), np.arange(121, 200, 2)]), 7, 40),
            (np.concatenate([np.arange(0, 60, 2), np.arange(25, 85, 2)]), 4, 30),
        ):
            levels.fill(1, asked, only=True)
            computed += new  # what was stored of those asked for is not computed again
            assert tally.computed == 200 * 8 + computed * 160
            assert levels.holds(0, levels.everyone)
            assert levels.holds(1, asked)
            assert sum(level.values.nbytes for level in levels.levels) <= room
            assert len(levels[1].values) == groups
            for arm in asked.tolist():
                assert levels.row(1, arm) == pytest.approx(D[arm, 8:168])
        levels.fill(1, levels.everyone, only=True)  # too many, and nearly all that is stored is asked for: all stay
        assert levels.holds(1, asked)


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("beside", [True, False])
def test_means_are_regressed_on_what_is_known(beside: bool, trusted: bool) -> None:
    """Against least squares, for 40 arms with 3 faces: on the removal of each slot and, beside it, on the pivot."""
    from medoids.exact.kernels import judge_faces, meet_faces

    random, t, arms, k, width = np.random.RandomState(0), 60, 40, 3, 0.2
    slot = random.randint(k, size=t)
    removal = (slot[:, None] == np.arange(k)) * random.rand(t, 1)
    pivot = random.normal(size=t)
    own, share = random.normal(size=(t, arms, k)), random.rand(3, arms, k)
    changes = share[0] * own + share[1] * removal[:, None] + share[2] * pivot[:, None, None] - 1
    known_removal, lead = removal.mean(axis=0) - random.rand(k) / 10, float(pivot.mean()) + 0.05
    floor = np.zeros(arms)
    floor[:5] = 2.0

    def sums(values: np.ndarray) -> np.ndarray:
        return values.sum(axis=0)

    moments = np.zeros(arms), np.zeros(arms), sums(changes), sums(changes**2), sums(removal[:, None] * changes)
    r = removal.mean(axis=0)
    wider = 1.3
    known = r, r - known_removal, removal.var(axis=0), np.full(k, wider if trusted else 0.0)
    reach, best, gap = np.empty((3, arms))
    face = np.zeros(arms, dtype=np.intp)
    if beside:
        V, U = np.zeros(arms), sums((changes - pivot[:, None, None]) ** 2)
        of_pivot = float(pivot.mean()), lead, float(pivot @ pivot), sums(removal * pivot[:, None])
        to = reach, best, face, gap
        meet_faces(moments, np.arange(arms), (V, U), t, known, of_pivot, width, floor, 0, arms, to)
    else:
        judge_faces(moments, t, known, width, floor, 0, arms, reach, best, face)

    def regress(y: np.ndarray, on: list[np.ndarray], above: list[float]) -> tuple[float, float]:
        X = np.array([np.ones(t), *on]).T
        slopes = np.linalg.lstsq(X, y)[0]
        return y.mean() - slopes[1:] @ np.array(above), float((y - X @ slopes).std())

    expected = np.empty((2, arms, k))
    on, above = ([pivot], [pivot.mean() - lead]) if beside else ([], [])
    for i, j in itertools.product(range(arms), range(k)):
        y, r_j, excess = changes[:, i, j], removal[:, j], known[1][j]
        mean, spread = regress(y, on, above)
        reach_ij = width * max(spread, floor[i]) - mean
        if trusted:  # either bound may rule a face out
            mean, spread = regress(y, [*on, r_j], [*above, excess])
            reach_ij = min(reach_ij, width * wider * max(spread, floor[i]) - mean)
        else:  # as if all of the removal were in the change
            mean = regress(y - r_j, on, above)[0] + known_removal[j]
        expected[:, i, j] = reach_ij, mean
    np.testing.assert_allclose(reach, expected[0].max(axis=1), rtol=1e-9)
    np.testing.assert_allclose(best, expected[1].min(axis=1), rtol=1e-9)
    assert face.tolist() == expected[1].argmin(axis=1).tolist()


@pytest.mark.parametrize("metric", ["l2", "sqeuclidean", "l1", "chebyshev", "cosine"])
def test_coarse_distances_are_within_half_a_step(metric: str) -> None:
    X = np.random.RandomState(0).normal(size=(3200, 4)) + 3  # more than what runs in float64
    D = cdist(X[:50], X[:300], {"l1": "cityblock", "l2": "euclidean"}.get(metric, metric))
    for limit in (10_000, 10_000_000):
        with Threads(2) as threads:
            levels = Levels(dissimilarity(X, metric), [slice(0, 300)], limit, threads, Tally(), coarse=True)
            levels.fill(0, np.arange(50))
            found = np.full((50, 300), np.nan)
            levels.scan(0, np.arange(50), partial(_collect, found))
        assert D.max() / 65_535 < levels.step < 10 * D.max() / 65_535
        np.testing.assert_allclose(levels.step * found, D, atol=0.51 * levels.step)


def test_the_largest_distance_fits_in_16_bits() -> None:
    # Opposite corners: their distance is the bound, to the last digit or beyond it.
    X = np.random.RandomState(0).normal(size=(3200, 300)).astype(np.float32)
    X[0], X[1] = 1e3 + X[2], -1e3 - X[2]
    for metric, name in (("l1", "cityblock"), ("l2", "euclidean"), ("cosine", "cosine")):
        with Threads(1) as threads:
            levels = Levels(dissimilarity(X, metric), [slice(0, 2)], 10**6, threads, Tally(), coarse=True)
            found = np.full((1, 2), np.nan)
            levels.scan(0, np.array([0]), partial(_collect, found))
        np.testing.assert_allclose(levels.step * found, cdist(X[:1], X[:2], name), rtol=1e-4, atol=levels.step)


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


def test_rounds_cover_all_references_once() -> None:
    for n, first in itertools.product([1, 5, 511, 512, 513, 5000, 70000], [128, 512]):
        spans = rounds(n, first)
        assert [i for span in spans for i in range(span.start, span.stop)] == list(range(n))


def _state(D: np.ndarray, medoids: list[int], w: np.ndarray) -> State:
    near = np.sort(D[medoids], axis=0)
    return State(near[0], near[1], D[medoids].argmin(axis=0), w, len(medoids), True)


@pytest.mark.parametrize("n", [60, 2600])  # the second is sorted in stretches and asked for in another order
@pytest.mark.parametrize("changed", [False, True])
def test_moments_are_those_of_all_swaps(n: int, changed: bool) -> None:
    # Against plain sums: the change of the loss, of its square and its product with what removal costs.
    random = np.random.RandomState(0)
    X, w = random.normal(size=(n, 2)), random.choice([0.5, 1, 2], n)
    D, medoids, references = cdist(X, X), [5, 17, 40], np.arange(n)
    state, arms = _state(D, medoids, w), np.arange(0, n, n // 30)
    with Threads(1) as threads:
        levels = Levels(dissimilarity(X, "l2"), [slice(0, n)], 10**9, threads, Tally())
        levels.fill(0, levels.everyone)
        moments = Moments(len(arms), 3)
        if changed:
            old = _state(D, [5, 18, 40], w)
            levels.scan(0, arms, moments.adder(levels, old, 0))
            differ = (state.d1 != old.d1) | (state.d2 != old.d2) | (state.slot != old.slot)
            references = np.flatnonzero(differ)
            levels.scan(0, arms, moments.changer(levels, state, old, references), references)
        else:
            levels.scan(0, arms, moments.adder(levels, state, 0))
    for (at, i), j in itertools.product(enumerate(arms), range(3)):
        rest = [m for slot, m in enumerate(medoids) if slot != j]
        change = w * (np.minimum(D[i], D[rest].min(axis=0)) - state.d1)
        removal = np.where(state.slot == j, w * (state.d2 - state.d1), 0)
        assert moments.S[at] + moments.T[at, j] == pytest.approx(change.sum(), abs=1e-8)
        assert moments.Q[at] + moments.R[at, j] == pytest.approx((change**2).sum(), abs=1e-8)
        assert moments.P[at, j] == pytest.approx((change * removal).sum(), abs=1e-8)


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
    X, metric = data.subset("letter", 3500, 0)
    D = cdist(X, X)

    def swaps_are_left(delta: float | None, seed: int) -> bool:
        found = k_medoids(X, 8, metric=metric, algorithm="pairedpam", swap=swap, delta=delta, random_state=seed)
        medoids = found.medoid_indices
        losses = [np.minimum(D, np.delete(D[medoids], slot, axis=0).min(axis=0)).sum(axis=1).min() for slot in range(8)]
        return min(losses) < D[medoids].min(axis=0).sum() * (1 - 1e-9)

    assert any(swaps_are_left(0.9, seed) for seed in range(5))
    monkeypatch.setattr(importlib.import_module("medoids.algorithms.pairedpam"), "DELTA", 0.9)
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
    made: list[weakref.ref[Levels]] = []
    left_over: list[int] = []
    begin = Levels.__init__

    def watched(self: Levels, *args: Any, **keywords: Any) -> None:
        left_over.append(sum(levels() is not None for levels in made))
        made.append(weakref.ref(self))
        begin(self, *args, **keywords)

    monkeypatch.setattr(Levels, "__init__", watched)
    gc.disable()  # nothing may wait for it
    try:
        k_medoids(X, 4, algorithm="pairedpam", swap=swap, init="random", n_init=3, random_state=0)
    finally:
        gc.enable()
    assert left_over == [0, 0, 0]


@pytest.mark.parametrize("swap", ["best", "eager"])
def test_the_peak_of_all_allocations(swap: str) -> None:
    # 40,000 points would store 240 MB and more; what a fit allocates beside the stored distances is bounded too.
    X = np.random.RandomState(0).normal(size=(40_000, 8)).astype(np.float32)
    k_medoids(X[:4000], 5, algorithm="pairedpam", swap=swap, random_state=0)  # compile
    limit = 100 * 2**20
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # three swaps are enough to see
        k_medoids(X, 5, algorithm="pairedpam", swap=swap, memory_limit=limit, max_iter=3, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 * limit < peak < limit + X.nbytes + 150 * 2**20
