"""Every name of scipy's cdist and scikit-learn, with their values."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import _METRICS_NAMES, cdist, jensenshannon, pdist, squareform
from sklearn.metrics import _dist_metrics
from sklearn.metrics.pairwise import _VALID_METRICS, nan_euclidean_distances

from medoids import KMedoids, cluster_medoids, k_medoids
from medoids.distances import METRICS, dissimilarity, find_metric
from medoids.inputs import check_data

WHOLE = slice(None)
# Not a distance of its own (a callable), and one that neither scipy nor scikit-learn computes any longer.
NOT_NAMES = {"pyfunc", "wminkowski"}
NAMES = sorted({*_METRICS_NAMES, *_VALID_METRICS, *_dist_metrics.METRIC_MAPPING64} - NOT_NAMES)
BOOLEAN = ["dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]


def made(X: Any, metric: str, **parameters: Any) -> Any:
    return dissimilarity(check_data(X, metric), metric, parameters or None)


def vectors(n: int = 40, p: int = 5) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p)) * [1, 2, 3, 4, 50][:p] + 7


@pytest.mark.parametrize("metric", NAMES)
def test_every_name_clusters(metric: str) -> None:
    assert find_metric(metric).name in METRICS
    X = np.random.default_rng(3).random((60, 2 if metric == "haversine" else 20))
    X[:, 1:][X[:, 1:] < 0.4] = 0
    model = KMedoids(3, metric=metric, random_state=0).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.transform(X).min(axis=1), model.distances_, atol=1e-7)


@pytest.mark.parametrize("metric", sorted(set(_METRICS_NAMES) - set(BOOLEAN)))
@pytest.mark.parametrize("n", [40, 3100])
def test_values_of_scipy(metric: str, n: int) -> None:
    """Also above the size at which our own kernels take over."""
    X = np.abs(vectors(n))
    some = np.arange(0, n, max(1, n // 40))
    # Fitted to X, not to what is compared.
    fitted: dict[str, Any] = {}
    if metric == "seuclidean":
        fitted = {"V": X.var(axis=0, ddof=1)}
    if metric == "mahalanobis":
        fitted = {"VI": np.linalg.inv(np.cov(X.T))}
    expected = cdist(X[some], X[some], metric, **fitted)
    distance = made(X, metric)
    assert_allclose(distance.exact_block(some, some), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(distance.block(some, some), expected, rtol=1e-4, atol=1e-5)
    new = np.abs(vectors(n + 3))[-3:]
    assert_allclose(distance.take(some).cross(new), cdist(X[some], new, metric, **fitted), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", BOOLEAN)
@pytest.mark.parametrize("dtype", [bool, float])
def test_truth_values_of_scipy(metric: str, dtype: Any) -> None:
    X = np.random.default_rng(1).random((60, 9)) < np.linspace(0.1, 0.9, 60)[:, None]
    X[:2] = False
    expected = np.nan_to_num(cdist(X, X, metric), nan=0.0)
    assert_allclose(made(X.astype(dtype), metric).block(WHOLE, WHOLE), expected, atol=1e-12)
    assert_allclose(made(X.astype(dtype), metric).cross(X[:5].astype(dtype)), expected[:, :5], atol=1e-12)


def test_names_that_scipy_has_dropped() -> None:
    # 1 1 0 0 0 and 1 0 1 0 0: both 1, one 1, other 1, none 2.
    X = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0]])
    assert made(X, "kulsinski").block(WHOLE, WHOLE)[0, 1] == pytest.approx((1 + 1 - 1 + 5) / (1 + 1 + 5))
    assert made(X, "sokalmichener").block(WHOLE, WHOLE)[0, 1] == pytest.approx(4 / (1 + 2 + 4))
    assert made(X, "matching").block(WHOLE, WHOLE)[0, 1] == pytest.approx(2 / 5)


def test_gaps_as_scikit_learn_has_them() -> None:
    X = vectors()
    X[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
    X[np.isnan(X).sum(axis=1) > 2] = 1.0
    distance = made(X, "nan_euclidean")
    assert_allclose(distance.block(WHOLE, WHOLE), nan_euclidean_distances(X), atol=1e-6)
    assert_allclose(distance.take(np.arange(4)).cross(X), nan_euclidean_distances(X)[:4], atol=1e-6)
    found = k_medoids(X, 3, metric="nan_euclidean")
    assert_array_equal(found.labels, nan_euclidean_distances(X)[found.medoid_indices].argmin(axis=0))
    with pytest.raises(ValueError, match="row 0 and row 1 of X have no column with a value in both"):
        k_medoids([[1.0, np.nan], [np.nan, 2.0]], 1, metric="nan_euclidean")
    with pytest.raises(ValueError, match="NaN in every column of row 1; remove"):
        k_medoids([[1.0, np.nan], [np.nan, np.nan]], 1, metric="nan_euclidean")
    with pytest.raises(ValueError, match="metric='nan_euclidean' takes NaN"):
        k_medoids(X, 3)


def test_variances_are_fitted_once() -> None:
    X = vectors()
    model = KMedoids(3, metric="mahalanobis").fit(X)
    VI = np.linalg.inv(np.cov(X.T))
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):  # the training data's, whatever is asked for
        assert_allclose(each.transform(X[:2]), cdist(X[:2], X[model.medoid_indices_], "mahalanobis", VI=VI), rtol=1e-9)
    given = KMedoids(3, metric="mahalanobis", metric_params={"VI": VI}).fit(X)
    assert_array_equal(given.medoid_indices_, model.medoid_indices_)
    found = cluster_medoids(X, X[:, 0] > 7, metric="seuclidean")
    D = squareform(pdist(X, "seuclidean"))
    for name, row in zip(found.labels, found.medoid_indices, strict=True):
        members = np.flatnonzero((X[:, 0] > 7) == name)
        assert row == members[D[np.ix_(members, members)].sum(axis=1).argmin()]


def test_a_constant_column_is_not_divided() -> None:
    X = np.array([[1.0, 5.0], [3.0, 5.0]])
    assert made(X, "seuclidean").block(WHOLE, WHOLE)[0, 1] == pytest.approx(np.sqrt(4 / 2))


@pytest.mark.parametrize("base", [None, 2])
def test_bases_of_logarithms(base: Any) -> None:
    X = np.abs(vectors())
    expected = [[jensenshannon(x, y, base) for y in X] for x in X]
    assert_allclose(made(X, "jensenshannon", base=base).block(WHOLE, WHOLE), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("metric", "X", "parameters", "message"),
    [
        ("mahalanobis", [[1, 2], [2, 4], [3, 6]], {}, "cannot be inverted, because some column is constant or follows"),
        ("mahalanobis", [[1, 2], [2, 5], [3, 6]], {"VI": [[1, 0]]}, r"VI must be the inverse .* of shape \(2, 2\)"),
        ("mahalanobis", [[1, 2], [2, 5], [3, 6]], {"VI": [[1, 0], [0, -1]]}, "negative eigenvalue"),
        ("seuclidean", [[1, 2]], {}, "at least 2 rows"),
        ("seuclidean", [[1, 2], [3, 4]], {"V": [1, 0]}, r"V\[1\] is 0.0; variances must be positive"),
        ("jensenshannon", [[1, 2], [3, -4]], {}, r"X\[1, 1\] is -4"),
        ("jensenshannon", [[1, 2], [0, 0]], {}, "row 1 of X is 0 in every column"),
        ("jensenshannon", [[1, 2], [0, 1]], {"base": 0}, "needs a number > 1"),
    ],
)
def test_what_cannot_be_measured(metric: str, X: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        k_medoids(np.array(X, dtype=float), 1, metric=metric, metric_params=parameters)


def test_condensed_distances() -> None:
    X = vectors()
    condensed = pdist(X)
    assert_array_equal(
        KMedoids(3, metric="precomputed").fit(condensed).medoid_indices_,
        KMedoids(3, metric="precomputed").fit(squareform(condensed)).medoid_indices_,
    )
    found = k_medoids(condensed.astype(np.float32).tolist(), 3, metric="precomputed")
    assert_array_equal(found.medoid_indices, k_medoids(squareform(condensed), 3, metric="precomputed").medoid_indices)
    with pytest.raises(ValueError, match=r"n \(n - 1\) / 2 numbers as scipy.* got 5 values"):
        k_medoids(np.ones(5), 1, metric="precomputed")
