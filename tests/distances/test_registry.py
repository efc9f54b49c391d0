"""Every kind of data through the one protocol: all algorithms, weights, new data, copies; and the list of metrics."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import oracle
from everything import ANY_METRIC
from medoids import KMedoids, available_metrics, k_medoids
from medoids.distances import count_rows, dissimilarity, take_rows
from medoids.distances.registry import METRICS
from medoids.inputs import check_data

N, K = 45, 3
RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.poisson(0.7, size=(N, 6)) * RANDOM.uniform(0.5, 2, size=(N, 6))
WORDS = ["".join(RANDOM.choice(list("abcd"), size=RANDOM.integers(1, 9))) for _ in range(N)]
TREES = [("r", *((word[0], *word[1:3]) for word in (w[:3], w[3:6]) if word)) for w in WORDS]
FRAME = pd.DataFrame({"x": RANDOM.normal(size=N), "c": [word[0] for word in WORDS], "b": RANDOM.random(N) < 0.5})
KINDS: dict[str, tuple[Any, str, dict[str, Any] | None]] = {
    "strings": (WORDS, "levenshtein", None),
    "fractions of strings": (pd.Series(WORDS), "jaro_winkler", None),
    "asymmetric strings": (WORDS, "levenshtein", {"weights": (1, 2, 3)}),
    "tokens": ([list(word) for word in WORDS], "normalized_indel", None),
    "sparse": (sparse.csr_array(NUMBERS), "manhattan", None),
    "sparse, cosine": (sparse.csr_array(NUMBERS), "cosine", None),
    "sets": ([set(word) for word in WORDS], "jaccard", None),
    "series": ([NUMBERS[i, : 1 + i % 6] for i in range(N)], "dtw", {"window": 1}),
    "series, with costs": ([NUMBERS[i, : 1 + i % 6] for i in range(N)], "msm", {"c": 0.5}),
    "gaps": (np.where((NUMBERS > 1.5) & (np.arange(NUMBERS.shape[1]) > 0), np.nan, NUMBERS), "nan_euclidean", None),
    "truth values": (NUMBERS > 0, "rogerstanimoto", None),
    "covariances": (NUMBERS, "mahalanobis", {"VI": np.diag(1.0 + np.arange(NUMBERS.shape[1]))}),
    "distributions": (np.abs(NUMBERS), "jensenshannon", {"base": 2}),
    "pandas": (FRAME, "gower", None),
    "polars": (pl.from_pandas(FRAME), "gower", {"weights": {"x": 2.5}}),
    "trees": (TREES, "tree_edit", None),
    "asymmetric trees": (TREES, "tree_edit", {"insert": 2}),
    "places": (NUMBERS[:, :2] / 10, "haversine", None),
}


@pytest.fixture(params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any], np.ndarray]:
    X, metric, params = KINDS[request.param]
    matrix = dissimilarity(check_data(X, metric), metric, params).block(slice(None), slice(None))
    return X, {"metric": metric, "metric_params": params}, np.asarray(matrix, dtype=float)


Kind = tuple[Any, dict[str, Any], np.ndarray]


@pytest.mark.parametrize("algorithm", ["auto", *ANY_METRIC])
def test_every_algorithm(kind: Kind, algorithm: str) -> None:
    X, metric, D = kind
    found = k_medoids(X, K, **metric, algorithm=algorithm, random_state=0)
    assert found.inertia == pytest.approx(D[found.medoid_indices].min(axis=0).sum(), rel=1e-9)
    if algorithm in ("auto", "pam", "fastpam1", "pairedpam"):
        expected, _ = oracle.pam(D.tolist(), K)
        assert found.inertia == pytest.approx(D[expected].min(axis=0).sum(), rel=1e-9)


def test_weights_are_repetition(kind: Kind) -> None:
    X, metric, D = kind
    weights = np.random.default_rng(1).integers(0, 4, N)
    found = k_medoids(X, K, **metric, sample_weight=weights)
    expected, _ = oracle.pam(D.tolist(), K, weights.tolist())
    assert found.inertia == pytest.approx(D[expected].min(axis=0) @ weights, rel=1e-9)
    rows = np.repeat(np.arange(N), weights)
    again = k_medoids(take_rows(check_data(X, metric["metric"]), rows), K, **metric)
    # gower's ranges are those of the rows that are there.
    if metric["metric"] != "gower":
        assert again.inertia == pytest.approx(found.inertia, rel=1e-9)


def test_new_data_and_a_round_trip_through_pickle(kind: Kind) -> None:
    X, metric, D = kind
    model = KMedoids(K, **metric).fit(X)
    np.testing.assert_allclose(model.transform(X), D[model.medoid_indices_].T, rtol=1e-9, atol=1e-12)
    nearest = model.transform(X).min(axis=1)
    assert model.score(X) == pytest.approx(-nearest.sum())
    assert -model.score(X) == pytest.approx(model.inertia_, rel=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.transform(X).argmin(axis=1))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(copy.transform(X), model.transform(X))
    assert count_rows(model.cluster_centers_) == K
    np.testing.assert_array_equal(clone(model).fit(X).labels_, model.labels_)


def test_threads_do_not_matter(kind: Kind) -> None:
    X, metric, _ = kind
    one, two = (k_medoids(X, K, **metric, algorithm="pairedpam", random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.medoid_indices.tolist() == two.medoid_indices.tolist()
    assert (one.inertia, one.n_evaluations) == (two.inertia, two.n_evaluations)


# --- the list ------------------------------------------------------------------------------------------------------


def test_every_metric_is_listed_once_a_kind_and_can_be_found() -> None:
    listed = available_metrics()
    assert len({(metric.name, metric.kind) for metric in listed}) == len(listed)
    assert {metric.name for metric in listed} == set(METRICS)
    for metric in listed:
        assert metric.formula
        assert metric.extra == ("strings" if metric.kind == "strings" else "")
    assert {metric.kind for metric in listed if metric.name == "hamming"} == {"vectors", "strings"}
    assert pd.DataFrame(listed).columns.tolist() == ["name", "aliases", "kind", "formula", "parameters", "extra"]


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("levenstein", "'levenshtein'"),
        ("Manhatan", "'manhattan'"),
        ("damerau-levenshtein", "'damerau_levenshtein'"),
        ("havershine", "'haversine'"),
        ("gowers", "'gower'"),
    ],
)
def test_unknown_names_get_the_nearest(name: str, guess: str) -> None:
    with pytest.raises(ValueError, match=rf"metric='{name}' is unknown; did you mean {guess}"):
        k_medoids(WORDS, 2, metric=name)


def test_a_name_that_is_like_none() -> None:
    with pytest.raises(ValueError, match=r"metric='qqq' is unknown; it must be a callable f\(a, b\) or one of \["):
        k_medoids(WORDS, 2, metric="qqq")


def test_the_page_lists_every_metric() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| (\w+) \| ([^|]*) \| ([^|]*) \|$", page, re.MULTILINE)
    written = [(name, aliases.strip(), kind, params.strip()) for name, aliases, kind, _, params in rows]
    expected = [
        (
            metric.name,
            ", ".join(f"`{alias}`" for alias in metric.aliases),
            metric.kind,
            ", ".join(f"`{name}={value!r}`" for name, value in metric.parameters.items()),
        )
        for metric in available_metrics()
    ]
    assert written == expected
    assert [formula.strip() for _, _, _, formula, _ in rows] == [
        metric.formula.replace("|", "¦") for metric in available_metrics()
    ]


# --- the wrong kind of data ----------------------------------------------------------------------------------------


def table(**columns: Any) -> list[Any]:
    return [pd.DataFrame(columns), pl.DataFrame(columns)]


@pytest.mark.parametrize("frame", table(size=[1.0, 2.0], city=["Oslo", "Rome"]))
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_a_column_of_text_is_named(frame: Any, metric: str) -> None:
    with pytest.raises(ValueError, match=r"column 'city' of X holds text \('Oslo' in row 0\).*metric='gower'"):
        k_medoids(frame, 1, metric=metric)
    with pytest.raises(ValueError, match=r"column 'city' of X holds text"):
        KMedoids(1, metric=metric).fit(frame)


def test_columns_of_categories_and_of_dates_are_named() -> None:
    frame = pd.DataFrame({"a": [1, 2], "kind": pd.Categorical([1, 2]), "day": pd.to_datetime(["2020-01-01"] * 2)})
    with pytest.raises(ValueError, match=r"column 'kind' of X holds categorical.*metric='gower'"):
        k_medoids(frame, 1)
    with pytest.raises(ValueError, match=r"column 'day' of X holds datetime.*metric='gower'"):
        k_medoids(frame[["a", "day"]], 1)
    with pytest.raises(ValueError, match=r"column 'day' of X holds datetime"):
        k_medoids(pl.from_pandas(frame[["a", "day"]]), 1)


@pytest.mark.parametrize("metric", ["euclidean", "canberra"])
def test_rows_of_unequal_lengths_are_named(metric: str) -> None:
    message = r"row 2 of X has 3 values, but row 0 has 2: .*metric='dtw'.*f\(a, b\)"
    with pytest.raises(ValueError, match=message):
        k_medoids([[1, 2], [3, 4], [5, 6, 7], [8]], 1, metric=metric)
    with pytest.raises(ValueError, match=message):
        k_medoids([np.zeros(2), np.zeros(2), np.zeros(3)], 1, metric=metric)


def test_series_of_several_channels_under_a_metric_of_vectors() -> None:
    cube = np.zeros((4, 3, 2))
    for rows in (cube, list(cube)):
        with pytest.raises(ValueError, match=r"dim 3.*np\.reshape\(X, \(len\(X\), -1\)\), or use metric='dtw'"):
            k_medoids(rows, 1)


@pytest.mark.parametrize(
    "pack", [pd.Series, pl.Series, lambda w: pd.DataFrame({"w": w}), lambda w: pl.DataFrame({"w": w}), list]
)
def test_a_column_of_text_hands_plain_strings_to_a_callable(pack: Any) -> None:
    seen = set()

    def letters(a: str, b: str) -> int:
        seen.update({type(a), type(b)})
        return len(set(a) ^ set(b))

    words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]
    model = KMedoids(2, metric=letters).fit(pack(words))
    assert seen == {str}
    assert model.cluster_centers_ == ["ape", "zebra"]
    assert model.predict(pack(words)).tolist() == model.labels_.tolist()


def test_sets_and_lazy_frames_under_a_metric_of_vectors() -> None:
    with pytest.raises(ValueError, match=r"row 0 of X is a set; use metric='jaccard'"):
        k_medoids([{1}, {2}], 1)
    with pytest.raises(TypeError, match=r"X is a lazy frame.*X\.collect\(\)"):
        KMedoids(1).fit(pl.LazyFrame({"a": [1, 2]}))


def test_a_column_of_lists_holds_sets() -> None:
    lists = [[1, 2], [2, 3]]
    for column in (pl.DataFrame({"a": lists}), pl.Series(lists), pd.Series(lists)):
        assert k_medoids(column, 1, metric="jaccard").inertia == pytest.approx(2 / 3)


def test_text_under_a_metric_of_vectors_points_to_strings() -> None:
    for rows in (["ape", "bee"], pd.Series(["ape", "bee"])):
        with pytest.raises(ValueError, match=r"row 0 of X is 'ape'; pass metric=f .*metric='levenshtein'"):
            k_medoids(rows, 1)


def test_features_of_an_earlier_fit_are_forgotten() -> None:
    model = KMedoids(2).fit(NUMBERS)
    assert model.n_features_in_ == 6
    model.set_params(metric="levenshtein").fit(WORDS)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("n", "limit", "message"), [(100, "1KiB", "78.1 KiB.*memory_limit=1 KiB"), (20, 500, "3.12 KiB")]
)
def test_amounts_of_memory_in_suitable_units(n: int, limit: Any, message: str) -> None:
    # n x n float64: 80,000 bytes are 78.1 KiB, 3,200 bytes are 3.12 KiB.
    with pytest.raises(ValueError, match=message):
        k_medoids(np.arange(n)[:, None], 2, algorithm="pam", memory_limit=limit)
