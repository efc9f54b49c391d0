"""`certify`: swaps against the oracle, the bound against brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import data
import oracle
from medoids import KMedoids, certify, k_medoids


def random_problem(seed: int) -> tuple[np.ndarray, int, np.ndarray]:
    """Distances of every kind: metric, asymmetric, negative; with and without weights."""
    random = np.random.RandomState(seed)
    n, k = random.randint(5, 13), random.randint(1, 5)
    if seed % 4 == 0:
        X = random.normal(size=(n, 2))
        D = cdist(X, X)
    elif seed % 4 == 1:
        D = random.uniform(size=(n, n))
    elif seed % 4 == 2:
        D = random.normal(size=(n, n))
    else:
        D = random.randint(0, 5, size=(n, n)).astype(float)
    w = random.choice([0.5, 1, 3], n) if seed % 3 == 0 else np.ones(n)
    return D, k, w


@pytest.mark.slow
def test_the_bound_is_never_above_the_best_and_swaps_are_the_oracles() -> None:
    tight = 0
    for seed in range(200):
        D, k, w = random_problem(seed)
        best = min(D[list(m)].min(axis=0) @ w for m in itertools.combinations(range(len(D)), k)) / w.sum()
        start = np.random.RandomState(seed).choice(len(D), k, replace=False)
        found = certify(D, start, metric="precomputed", sample_weight=w)
        assert found.lower_bound <= best + 1e-9 * abs(best)
        tight += found.lower_bound > best - 0.05 * max(abs(best), D.std())
        swap = oracle.swap(D.tolist(), start.tolist(), w.tolist())
        if swap is None:
            assert found.swap is None
            assert found.gain == 0
        else:
            slot, i = swap
            assert found.swap == (start[slot], i)
            after = [*start[:slot], i, *start[slot + 1 :]]
            gain = (oracle.loss(D, start, w) - oracle.loss(D, after, w)) / w.sum()
            assert found.gain == pytest.approx(gain)
        assert found.exact
        assert found.error_probability == 0
        assert found.bound_probability == 1
    assert tight > 150  # most of the relaxations are nearly as good as the best choice


@pytest.mark.slow
def test_letter_is_within_a_tenth() -> None:
    X, metric = data.subset("letter", 5000, 0)
    pam = k_medoids(X, 10, metric=metric, algorithm="fastpam1")
    found = certify(X, pam.medoid_indices, metric=metric)
    assert found.swap is None
    assert found.loss == pytest.approx(pam.loss)
    assert 0.9 * pam.loss < found.lower_bound < pam.loss
    assert found.gap == pytest.approx(pam.loss / found.lower_bound - 1)
    assert str(found).startswith("no swap improves; within ")


@pytest.mark.slow
def test_where_n_is_large_the_paired_search_and_samples_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # The limit of what counts as large is lowered, so that the same question can be answered exactly as well.
    X, metric = data.subset("letter", 4000, 1)
    pam = k_medoids(X, 8, metric=metric, algorithm="fastpam1")
    whole = certify(X, pam.medoid_indices, metric=metric)
    worse = pam.medoid_indices.copy()
    worse[3] = next(i for i in range(4000) if i not in worse)
    best = certify(X, worse, metric=metric)
    monkeypatch.setattr("medoids.quality.certificate._CHEAP_RELAXED", 4_000_000)
    found = certify(X, pam.medoid_indices, metric=metric, memory_limit="60MB", random_state=0)
    assert not found.exact
    assert found.swap is None
    assert found.error_probability == 0.001
    assert found.bound_probability == 0.95
    assert 0.85 * pam.loss < found.lower_bound < whole.lower_bound * 1.01
    assert "(with probability 0.95)" in str(found)
    other = certify(X, worse, metric=metric, memory_limit="60MB", random_state=0)
    assert other.swap == best.swap
    assert other.gain == pytest.approx(best.gain)
    assert other.error_probability == 0


def test_k_equal_to_n_and_rows_of_weight_0() -> None:
    X = np.random.RandomState(0).normal(size=(12, 2))
    assert certify(X, np.arange(12)).lower_bound == pytest.approx(0, abs=1e-12)
    w = np.ones(12)
    w[9:] = 0
    a, b = certify(X, [0, 1], sample_weight=w), certify(X[:9], [0, 1])
    assert (a.loss, a.swap, a.gain) == (pytest.approx(b.loss), b.swap, pytest.approx(b.gain))
    assert a.lower_bound == pytest.approx(b.lower_bound, rel=1e-3)


def by_estimator(X: Any, k: int, sample_weight: Any, **settings: Any) -> KMedoids:
    return KMedoids(k, **settings).fit(X, sample_weight=sample_weight)


@pytest.mark.parametrize("fit", [by_estimator, k_medoids])
def test_a_model_brings_medoids_metric_and_weights(fit: Any) -> None:
    random = np.random.RandomState(0)
    X, w = random.exponential(size=(40, 3)), random.choice([1.0, 50.0], 40)
    settings = {"metric": "minkowski", "metric_params": {"p": 3}, "max_iter": 0, "init": [0, 1, 2]}
    with pytest.warns(ConvergenceWarning):
        model = fit(X, 3, sample_weight=w, **settings)
    found = certify(model, X)
    D = cdist(X, X, "minkowski", p=3)
    assert found.loss == pytest.approx(oracle.loss(D, [0, 1, 2], w) / w.sum())
    slot, i = oracle.swap(D.tolist(), [0, 1, 2], w.tolist())
    assert found.swap == (slot, i)  # the medoid of a slot is the row of that number
    # Weights that are given take the place of those of the fit.
    assert certify(model, X, sample_weight=1).loss == pytest.approx(oracle.loss(D, [0, 1, 2], np.ones(40)) / 40)
    for wrong in ({"metric": "l1"}, {"metric_params": {"p": 1}}):
        with pytest.raises(ValueError, match="takes metric and metric_params from the model"):
            certify(model, X, **wrong)
    with pytest.raises(TypeError, match=r"the model comes first: certify\(model, X\)"):
        certify(X, model)
    with pytest.raises(ValueError, match="X has 39 rows, but the clustering has 40 points"):
        certify(model, X[:39])


def test_a_model_knows_its_columns() -> None:
    frame = pd.DataFrame(np.random.RandomState(0).normal(size=(20, 2)), columns=["a", "b"])
    model = KMedoids(2).fit(frame)
    certify(model, frame)
    with pytest.raises(ValueError, match="feature names should match"):
        certify(model, frame[["b", "a"]])


@pytest.mark.parametrize("fit", [by_estimator, k_medoids])
@pytest.mark.parametrize("frozen", [[7], [7, 3], [7, 3, 11]])
def test_frozen_medoids_stay(fit: Any, frozen: list[int]) -> None:
    random = np.random.RandomState(0)
    X, w = random.exponential(size=(30, 2)), np.ones(30)
    D = cdist(X, X)
    model = fit(X, 3, sample_weight=None, frozen_medoids=frozen)
    found = certify(model, X)
    medoids = found.medoid_indices.tolist()
    assert found.swap is None
    # Without the frozen rows there is a better choice.
    assert oracle.swap(D.tolist(), medoids, w.tolist()) is not None
    assert certify(X, medoids).swap is not None
    assert certify(X, medoids, frozen_medoids=frozen).swap is None
    assert certify(model, X, frozen_medoids=[]).swap is not None
    with pytest.raises(ValueError, match="frozen_medoids"):
        certify(X, medoids, frozen_medoids=[next(i for i in range(30) if i not in medoids)])


def test_what_is_left_out() -> None:
    X = np.random.RandomState(0).normal(size=(12, 2))
    with pytest.raises(TypeError, match=r"also needs the data that the model was fitted to: certify\(model, X\)"):
        certify(k_medoids(X, 2))
    with pytest.raises(TypeError, match=r"also needs the rows of the medoids, certify\(X, medoid_indices\)"):
        certify(X)


def test_a_model_that_is_not_fitted() -> None:
    with pytest.raises(NotFittedError, match="KMedoids instance is not fitted yet"):
        certify(KMedoids(2), np.zeros((4, 1)))


def test_wrong_rows() -> None:
    X = np.random.RandomState(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=r"medoid_indices\[1\]=12 is not a row of X, which has rows 0 to 11"):
        certify(X, [0, 12])
    with pytest.raises(ValueError, match="medoid_indices repeats row 3"):
        certify(X, [3, 3])
    with pytest.raises(ValueError, match="1-D array of row indices"):
        certify(X, [0.5])
