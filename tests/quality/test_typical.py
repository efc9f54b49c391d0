"""The most typical members of given clusters, against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from medoids import cluster_medoids


def by_loops(distances: Any, labels: Any, n: int = 1, weights: Any = None) -> tuple[list[Any], list[list[int]], Any]:
    """Labels, the n members with the lowest sums in each cluster (the lowest row first if they tie), their means."""
    rows = len(labels)
    weights = np.ones(rows) if weights is None else weights
    names = sorted(set(labels) - {-1})
    chosen, means = [], []
    for name in names:
        members = [i for i in range(rows) if labels[i] == name and weights[i] > 0]
        total = sum(weights[s] for s in members)
        mean = {i: sum(weights[s] * distances[i][s] for s in members) / total for i in members}
        ranked = sorted(members, key=lambda i: (round(mean[i], 9), i))[:n]
        chosen.append(ranked)
        means.append([mean[i] for i in ranked])
    return names, chosen, means


def test_worked_by_hand() -> None:
    X = [[0.0], [1.0], [5.0], [100.0], [101.0], [103.0], [7.0]]
    found = cluster_medoids(X, ["b", "b", "b", "a", "a", "a", None])
    assert found.labels.tolist() == ["a", "b"]
    assert found.medoid_indices.tolist() == [4, 1]
    assert_allclose(found.mean_distances, [(1 + 0 + 2) / 3, (1 + 0 + 4) / 3])
    assert found.sizes.tolist() == [3, 3]


def test_ties_go_to_the_lowest_row() -> None:
    corners = [[0, 0], [0, 1], [1, 0], [1, 1]] * 3
    assert cluster_medoids(corners, [0] * 12, n=12).medoid_indices.tolist() == [list(range(12))]


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(
    "metric", ["euclidean", "sqeuclidean", "cosine", "correlation", "manhattan", "chebyshev", "canberra", "hamming"]
)
def test_vectors_of_any_metric_with_weights(metric: str, n: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 4)).round(1)
    X[7] = X[19] = 0  # without direction
    labels, weights = rng.integers(-1, 4, 90), rng.integers(0, 4, 90).astype(float)
    distances = np.nan_to_num(cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric)), nan=1.0)
    if metric in ("cosine", "correlation"):
        flat = X.std(axis=1) == 0 if metric == "correlation" else ~X.any(axis=1)
        distances[np.ix_(flat, flat)] = 0
    names, rows, means = by_loops(distances, labels, n, weights)
    found = cluster_medoids(X, labels, n=n, metric=metric, sample_weight=weights)
    assert found.labels.tolist() == names
    assert found.medoid_indices.reshape(len(names), -1).tolist() == rows
    assert_allclose(found.mean_distances.reshape(len(names), -1), means, rtol=1e-9, atol=1e-12)
    assert found.sizes.tolist() == [int((labels == name).sum()) for name in names]


@pytest.mark.parametrize(("columns", "share"), [(2, 0.2), (50, 0.02)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_bounds_leave_the_exact_answer(columns: int, share: float, offset: float) -> None:
    """More rows than one machine's small path: float32 blocks, bounds, and a small part of all distances."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 5000)
    X = rng.normal(size=(5000, columns)) + offset * labels[:, None]
    found = cluster_medoids(X, labels, n=5)
    for at, name in enumerate((0, 1)):
        members = np.flatnonzero(labels == name)
        sums = cdist(X[members], X[members]).sum(axis=1)
        assert_array_equal(found.medoid_indices[at], members[np.argsort(sums)[:5]])
        assert_allclose(found.mean_distances[at], np.sort(sums)[:5] / len(members), rtol=1e-9)
    assert found.n_evaluations < share * np.sum(np.bincount(labels) ** 2)


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_real_images(metric: str) -> None:
    digits = load_digits()
    found = cluster_medoids(digits.data, digits.target, metric=metric)
    names, rows, means = by_loops(
        cdist(digits.data, digits.data, metric if metric == "cosine" else "cityblock"), digits.target
    )
    assert found.labels.tolist() == names
    assert found.medoid_indices.tolist() == [row for (row,) in rows]
    assert_allclose(found.mean_distances, np.ravel(means))


def test_matrices_that_are_asymmetric_and_negative() -> None:
    rng = np.random.default_rng(3)
    D, labels = rng.integers(-9, 10, (40, 40)), rng.integers(0, 3, 40)
    _, rows, means = by_loops(D, labels, 2)
    found = cluster_medoids(D, labels, n=2, metric="precomputed")
    assert found.medoid_indices.tolist() == rows
    assert_allclose(found.mean_distances, means)


def test_a_callable_is_called_once_for_each_pair_inside_of_a_cluster() -> None:
    words = ["ape", "apes", "tape", "ox", "zebra", "zebras", "cobra"]
    labels = [1, 1, 1, -1, 2, 2, 2]
    calls = []

    def letters(a: str, b: str) -> float:
        calls.append((a, b))
        return len(set(a) ^ set(b))

    found = cluster_medoids(words, labels, metric=letters)
    assert [words[i] for i in found.medoid_indices] == ["ape", "zebra"]
    assert len(calls) == len(set(calls)) == found.n_evaluations == 18


def test_other_kinds_of_data() -> None:
    texts = ["kitten", "kittens", "mitten", "dog"]
    assert cluster_medoids(texts, [0, 0, 0, 1], metric="levenshtein").medoid_indices.tolist() == [0, 3]
    rows = csr_array(np.array([[1.0, 0, 0], [2, 0, 0], [4, 0, 0]]))
    assert cluster_medoids(rows, [5, 5, 5]).medoid_indices.tolist() == [1]
    series = [[0.0, 1], [0, 1, 1], [5, 5], [0, 2]]
    # From the first: 0, sqrt(25 + 16) and 1; from the last: 1, sqrt(2) and sqrt(25 + 9).
    assert cluster_medoids(series, [0, 0, 0, 0], metric="dtw").medoid_indices.tolist() == [0]


def test_gaps_of_a_table_are_not_typical() -> None:
    # Sums of distances: 1.25, 1.75, 2.0, and 1.0 of the row with a gap.
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0, np.nan], "b": [1.0, 2.0, 0.0, 1.0]})
    assert cluster_medoids(table, [0] * 4, metric="gower").medoid_indices.tolist() == [0]
    assert cluster_medoids(table[3:], [0], metric="gower").medoid_indices.tolist() == [0]


def test_any_type_of_label() -> None:
    X = np.arange(6.0)[:, None]
    for labels in (
        pd.Series(["x", "x", "x", "y", "y", None]),
        pd.Categorical(["x", "x", "x", "y", "y", None]),
        pl.Series(["x", "x", "x", "y", "y", None]),
        pa.chunked_array([["x", "x", "x", "y", "y", None]]),
        np.array(["x", "x", "x", "y", "y", -1], dtype=object),
    ):
        found = cluster_medoids(X, labels)
        assert (found.labels.tolist(), found.medoid_indices.tolist()) == (["x", "y"], [1, 3])
    found = cluster_medoids(X, [2.0, 2.0, 2.0, np.nan, -1.0, np.int64(-1)])
    assert (found.labels.tolist(), found.medoid_indices.tolist()) == ([2.0], [1])
    found = cluster_medoids(X, ["b", "b", 3, 3, ("t", 1), ("t", 1)])
    assert (found.labels.tolist(), found.medoid_indices.tolist()) == (["b", 3, ("t", 1)], [0, 2, 4])
    assert cluster_medoids(X, [("a", 1)] * 6).labels.tolist() == [("a", 1)]
    assert cluster_medoids(X, [True, True, True, False, False, False]).labels.tolist() == [False, True]


def test_fewer_members_than_asked_for_and_a_frame() -> None:
    found = cluster_medoids([[0.0], [1.0], [3.0], [9.0]], ["a", "a", "a", "b"], n=2)
    assert found.medoid_indices.tolist() == [[1, 0], [3, -1]]
    assert np.isnan(found.mean_distances[1, 1])
    frame = found.to_frame()
    assert frame.to_dict("list") == {
        "label": ["a", "a", "b"],
        "rank": [0, 1, 0],
        "row": [1, 0, 3],
        "mean_distance": pytest.approx([1.0, 4 / 3, 0.0]),
        "size": [3, 3, 1],
    }


def test_threads_do_not_matter() -> None:
    X = np.random.default_rng(4).normal(size=(6000, 3))
    one, two = (cluster_medoids(X, X[:, 0] > 0, n=3, n_jobs=jobs) for jobs in (1, 2))
    assert_array_equal(one.medoid_indices, two.medoid_indices)
    assert_array_equal(one.mean_distances, two.mean_distances)


def test_a_matrix_must_be_square() -> None:
    with pytest.raises(ValueError, match=r"distances among all rows, a square matrix; got \(2, 3\)"):
        cluster_medoids(np.ones((2, 3)), [0, 1], metric="precomputed")


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([0, 1], {}, "labels has 2 entries, but X has 3 rows"),
        ([-1, -1, -1], {}, "labels leaves no row"),
        (np.zeros((3, 2)), {}, "labels must be 1-D"),
        ([0, 1, 1], {"sample_weight": [0, 1, 1]}, "every row of the cluster 0 has sample_weight 0"),
        ([0, 1, 1], {"n": 0}, "n=0 must be at least 1"),
        ([0, 1, 1], {"metric": "euclid"}, "did you mean 'euclidean'"),
    ],
)
def test_errors_say_what_to_do(labels: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cluster_medoids([[0.0], [1.0], [2.0]], labels, **options)


@pytest.mark.parametrize("labels", [pd.DataFrame({"a": [0, 0, 1]}), pa.table({"a": [0, 0, 1]}), "segment", 5, None])
def test_labels_that_are_not_a_sequence_of_labels(labels: Any) -> None:
    with pytest.raises(TypeError, match=r"labels must be 1-D, a label for each row of X; got \w+. Pass a column of a"):
        cluster_medoids([[0.0], [1.0], [2.0]], labels)
