"""Silhouettes against scikit-learn and the package kmedoids, and the errors of sampled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import silhouette_samples, silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import data
from medoids import KMedoids, k_medoids, medoid_silhouette, silhouette


@pytest.mark.parametrize("metric", ["l2", "l1", "cosine"])
def test_exact_is_scikit_learns(metric: str) -> None:
    X = np.random.RandomState(0).normal(size=(300, 4)) + 2
    found = k_medoids(X, 5, metric=metric)
    ours = silhouette(found, X)
    np.testing.assert_allclose(ours.samples, silhouette_samples(X, found.labels, metric=metric), atol=1e-9)
    assert ours.value == pytest.approx(silhouette_score(X, found.labels, metric=metric), abs=1e-9)
    assert ours.error == 0
    assert ours.interval() == (ours.value, ours.value)


def test_by_hand_with_a_cluster_of_one_and_weights() -> None:
    X = np.array([[0.0], [1.0], [3.0], [10.0]])
    model = KMedoids(2, init=[1, 3]).fit(X)
    # Row 0: a = (1 + 3) / 2, b = 10. Row 1: a = (1 + 2) / 2, b = 9. Row 2: a = (3 + 2) / 2, b = 7. Row 3 is alone: 0.
    expected = [1 - 2 / 10, 1 - 1.5 / 9, 1 - 2.5 / 7, 0]
    np.testing.assert_allclose(silhouette(model, X).samples, expected)
    # Row 1 counts twice: a of row 0 is (2 * 1 + 3) / 3 and of row 2 (3 + 2 * 2) / 3; its own stays.
    weighted = silhouette(model, X, sample_weight=[1, 2, 1, 1])
    values = [1 - 5 / 30, 1 - 1.5 / 9, 1 - 7 / 21, 0]
    np.testing.assert_allclose(weighted.samples, values)
    assert weighted.value == pytest.approx((values[0] + 2 * values[1] + values[2]) / 5)


def test_a_row_of_weight_0_changes_nothing() -> None:
    X = np.random.RandomState(0).normal(size=(60, 2))
    w = np.ones(60)
    w[50:] = 0
    rest = k_medoids(X[:50], 3)
    found = k_medoids(X, 3, sample_weight=w)
    assert silhouette(found, X, sample_weight=w).value == pytest.approx(silhouette(rest, X[:50]).value)
    assert medoid_silhouette(found, X, sample_weight=w).value == pytest.approx(medoid_silhouette(rest, X[:50]).value)


def test_asymmetric_distances_are_from_members_to_the_point() -> None:
    D = np.random.RandomState(0).uniform(1, 2, size=(8, 8))
    np.fill_diagonal(D, 0)
    found = k_medoids(D, 2, metric="precomputed")
    transposed = silhouette_samples(D.T, found.labels, metric="precomputed")  # whose row is the point's
    np.testing.assert_allclose(silhouette(found, D).samples, transposed)


def test_sampled_intervals_hold_the_exact_value() -> None:
    X, metric = data.subset("letter", 2000, 0)
    found = k_medoids(X, 8, metric=metric)
    exact = silhouette_score(X, found.labels, metric="euclidean")
    held = 0
    for seed in range(100):
        low, high = silhouette(found, X, samples=200, random_state=seed).interval()
        held += low <= exact <= high
    assert held >= 90
    assert silhouette(found, X, samples=2000).value == pytest.approx(exact, abs=1e-9)


def test_large_data_are_sampled_and_the_distances_counted() -> None:
    X = np.random.RandomState(0).normal(size=(2500, 3))
    found = silhouette(k_medoids(X, 3), X, memory_limit="1MB", random_state=0)
    assert len(found.rows) == 1000
    assert found.error > 0
    assert found.n_evaluations == 1000 * 2500


def test_medoid_silhouette_is_that_of_kmedoids() -> None:
    kmedoids = pytest.importorskip("kmedoids", reason="a peer, of the extra bench")
    X = np.random.RandomState(0).normal(size=(200, 3)).round(1)
    X[:20] = X[20:40]  # copies
    D = cdist(X, X)
    for k in (2, 5, 30):
        found = k_medoids(X, k)
        mean, samples = kmedoids.medoid_silhouette(D, found.medoid_indices.astype(np.uint64), True)
        ours = medoid_silhouette(found, X)
        np.testing.assert_allclose(ours.samples, samples, atol=1e-9)
        assert ours.value == pytest.approx(mean, abs=1e-9)
    # Two medoids at the same place: 0 / 0 counts as 0.
    with pytest.warns(ConvergenceWarning, match="distinct medoids"):
        same = k_medoids(D, 2, metric="precomputed", frozen_medoids=[0, 20])
    mean, _ = kmedoids.medoid_silhouette(D, same.medoid_indices.astype(np.uint64), True)
    assert medoid_silhouette(same, D).value == pytest.approx(mean)


def test_the_weights_of_the_fit_are_the_default() -> None:
    X, w = np.random.RandomState(0).normal(size=(30, 2)), np.arange(1.0, 31)
    for found in (k_medoids(X, 3, sample_weight=w), KMedoids(3).fit(X, sample_weight=w)):
        for function in (silhouette, medoid_silhouette):
            assert function(found, X).value == pytest.approx(function(found, X, sample_weight=w).value, rel=1e-12)
            assert function(found, X).value != pytest.approx(function(found, X, sample_weight=1).value, rel=1e-6)


@pytest.mark.parametrize("function", [silhouette, medoid_silhouette])
def test_what_is_not_a_clustering(function: Any) -> None:
    X = np.random.RandomState(0).normal(size=(30, 2))
    found = k_medoids(X, 2)
    for first, second in [(found.labels, X), (X, found.labels), (X, found)]:
        with pytest.raises(TypeError, match="Clustering or a fitted KMedoids, followed by X; got ndarray"):
            function(first, second)
    with pytest.raises(TypeError, match="For labels of another origin use sklearn"):
        function(found.labels, X)
    with pytest.raises(NotFittedError, match="KMedoids instance is not fitted yet"):
        function(KMedoids(2), X)
    pipeline = make_pipeline(StandardScaler(), KMedoids(2)).fit(X)
    with pytest.raises(TypeError, match=r"got Pipeline\. Pass the KMedoids inside of it"):
        function(pipeline, X)


def test_wrong_asking() -> None:
    X = np.random.RandomState(0).normal(size=(30, 2))
    for function in (silhouette, medoid_silhouette):
        with pytest.raises(ValueError, match="there is one only"):
            function(k_medoids(X, 1), X)
        with pytest.raises(ValueError, match="X has 29 rows, but the clustering has 30 points"):
            function(k_medoids(X, 2), X[:29])
