"""Starts from given rows, coordinates or objects, and scikit-learn-extra's heuristic."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from medoids import KMedoids, k_medoids
from medoids.settings import ALGORITHM_NAMES


def start(X: Any, k: int, init: Any, **options: Any) -> list[int]:
    """Medoids before any swap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(k_medoids(X, k, init=init, max_iter=0, **options).medoid_indices)


def test_coordinates_are_the_nearest_distinct_rows() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    assert start(X, 3, [[1.2], [0.9], [9.0]]) == [1, 0, 3]  # the second finds row 1 taken; rows 0 and 2: 0.9 and 1.1
    assert start(X, 3, np.array([[1], [1], [1]])) == [1, 0, 2]  # a tie goes to the lowest row
    assert start(X, 2, [[0.0], [0.0]], sample_weight=[0, 1, 1, 1, 1]) == [1, 2]
    assert start(X, 2, [4, 0]) == [4, 0]  # integers are row numbers, though these are coordinates as well
    assert start(pd.DataFrame(X, columns=["x"]), 2, pd.DataFrame({"x": [11.5, 0.1]})) == [4, 0]


def test_objects() -> None:
    words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]
    assert start(words, 2, ["zebras!", "ape"], metric="levenshtein") == [4, 0]
    assert start(words, 2, ["cobras", "apes"], metric=lambda a, b: abs(len(a) - len(b))) == [4, 1]
    assert start([{1, 2}, {3}, {3, 4}], 2, [{1}, {4}], metric="jaccard") == [0, 2]
    assert start([[0.0, 1], [5, 5, 5]], 2, [[5.0, 5], [0, 0, 1]], metric="dtw") == [1, 0]
    table = pd.DataFrame({"a": [1, 2, 9], "b": ["x", "y", "y"]})
    assert start(table, 2, pd.DataFrame({"a": [8, 1], "b": ["y", "x"]}), metric="gower") == [2, 0]


def test_a_fit_from_coordinates_counts_their_distances() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    centres = X[[5, 90]] + 1e-3
    by_rows, by_centres = (KMedoids(2, init=init, algorithm="fasterpam").fit(X) for init in ([5, 90], centres))
    assert_array_equal(by_rows.medoid_indices_, by_centres.medoid_indices_)
    assert by_centres.n_evaluations_ == by_rows.n_evaluations_ + 400


@pytest.mark.parametrize(
    ("init", "options", "message"),
    [
        ([[1.0], [2.0], [3.0]], {}, "init has 3 rows, but n_clusters=2"),
        ([[1.0, 2.0], [3.0, 4.0]], {}, "init has rows of 2 columns, but X has 1"),
        ([1.5, 2.5], {}, "a 1-D array of row indices, or 2 rows in the form of X"),
        ([[np.nan], [1.0]], {}, "as such a row: Input X contains NaN"),
        ([[0.0, 1.0], [1.0, 0.0]], {"metric": "precomputed"}, "where no row has coordinates, pass row indices"),
        ([0, 1, 2], {}, "init has 3 row indices, but n_clusters=2"),
        ("heuristics", {}, "'heuristic'"),
    ],
)
def test_what_cannot_be_a_start(init: Any, options: dict[str, Any], message: str) -> None:
    X = [[0.0, 1.0], [1.0, 0.0]] if options else [[0.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match=message):
        k_medoids(X, 2, init=init, **options)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_heuristic_takes_the_lowest_sums(weighted: bool) -> None:
    random = np.random.default_rng(1)
    X, weights = random.normal(size=(150, 2)), random.integers(0, 3, 150) if weighted else np.ones(150)
    sums = np.where(weights > 0, cdist(X, X) @ weights, np.inf)
    assert start(X, 4, "heuristic", sample_weight=weights) == list(np.argsort(sums)[:4])
    # scikit-learn-extra 0.3: np.argpartition(np.sum(D, axis=1), n_clusters - 1)[:n_clusters]
    assert sorted(start(X, 4, "heuristic", sample_weight=weights)) == sorted(np.argpartition(sums, 3)[:4])
    frozen = int(np.argsort(sums)[1])
    assert start(X, 3, "heuristic", sample_weight=weights, frozen_medoids=[frozen]) == [
        frozen,
        *np.argsort(sums)[[0, 2]],
    ]


@pytest.mark.parametrize("algorithm", [*ALGORITHM_NAMES, "auto"])
def test_every_algorithm_starts_from_the_heuristic(algorithm: str) -> None:
    X = np.random.default_rng(2).normal(size=(80, 2))
    found = k_medoids(X, 3, init="heuristic", algorithm=algorithm, random_state=0)
    assert found.loss == pytest.approx(cdist(X[found.medoid_indices], X).min(axis=0).mean())


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_other_columns_are_not_taken_by_place(make: Any) -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 9.0], "b": [5.0, 6.0, 7.0]})
    turned = make(frame[["b", "a"]].head(2))
    message = r"init has the columns \['b', 'a'\], but X has \['a', 'b'\]; pass them in the same order"
    with pytest.raises(ValueError, match=message):
        k_medoids(make(frame), 2, init=turned)
    with pytest.raises(ValueError, match=message):
        KMedoids(2, init=turned).fit(make(frame))
    assert sorted(k_medoids(make(frame), 2, init=make(frame.head(2))).medoid_indices) == [1, 2]
