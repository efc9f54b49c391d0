"""Soft membership against the formula of fuzzy c-medoids."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from medoids import KMedoids

X = load_iris().data


@pytest.mark.parametrize("m", [1.05, 1.5, 2, 3.0])
def test_the_formula(m: float) -> None:
    model = KMedoids(3).fit(X)
    found = model.predict_proba(X, m=m)
    for i, distances in enumerate(model.transform(X)):
        if distances.min() == 0:
            expected = (distances == 0) / (distances == 0).sum()
        else:
            # Krishnapuram et al. 2001: u_j = 1 / sum over l of (d_j / d_l)^(1 / (m - 1))
            expected = [1 / sum((d / other) ** (1 / (m - 1)) for other in distances) for d in distances]
        assert_allclose(found[i], expected, rtol=1e-9)
    assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert_array_equal(found[model.medoid_indices_], np.eye(3))
    assert_array_equal(found.argmax(axis=1), model.predict(X))


def test_any_metric_and_a_pipeline() -> None:
    words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]
    model = KMedoids(2, metric="levenshtein").fit(words)
    # From ape 1, from zebra 5; from tape's neighbour grape 2 and 4.
    assert_allclose(model.predict_proba(["tape", "ape"]), [[5 / 6, 1 / 6], [1, 0]])
    frame = pd.DataFrame(X)
    pipe = make_pipeline(StandardScaler(), KMedoids(3)).fit(frame)
    assert_allclose(pipe.predict_proba(frame).sum(axis=1), 1, atol=1e-12)
    D = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 3.0], [4.0, 3.0, 0.0]])
    given = KMedoids(2, metric="precomputed").fit(D)
    queries = np.array([[2.0, 2.0, 6.0]])
    d = queries[0, given.medoid_indices_]
    assert_allclose(given.predict_proba(queries), [(1 / d) / (1 / d).sum()])


def test_medoids_that_are_copies_share() -> None:
    with pytest.warns(match="distinct medoids"):
        model = KMedoids(2).fit([[0.0], [0.0]])
    assert_array_equal(model.predict_proba([[0.0], [3.0]]), [[0.5, 0.5], [0.5, 0.5]])


def test_extreme_distances() -> None:
    model = KMedoids(2).fit([[0.0], [1e200]])
    assert_allclose(model.predict_proba([[1e-200], [5e199]], m=1.01), [[1, 0], [0.5, 0.5]])


def test_refused() -> None:
    D = np.array([[0.0, 2.0], [2.0, 0.0]])
    model = KMedoids(2, metric="precomputed").fit(D)
    with pytest.raises(ValueError, match=r"the distance from medoid 1 to row 1 of X is -3; memberships need .* >= 0"):
        model.predict_proba([[1.0, 2.0], [1.0, -3.0]])
    for m in (1, 0.5, "2", np.inf):
        with pytest.raises(ValueError, match="must be a number > 1"):
            model.predict_proba(D, m=m)
