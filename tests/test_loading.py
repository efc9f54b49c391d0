"""`KMedoids.export` and `load`: what a model predicts is the same before and after, under every metric."""

from __future__ import annotations

import ast
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import medoids
from medoids import KMedoids, available_metrics, certify, load

N, K = 40, 3
RANDOM = np.random.default_rng(3)
NUMBERS = RANDOM.poisson(0.9, size=(N, 4)) * RANDOM.uniform(0.5, 2, size=(N, 4)) * (1, 10, 100, 1000) + 0.25
GAPS = np.where((RANDOM.random(NUMBERS.shape) < 0.2) & (np.arange(4) > 0), np.nan, NUMBERS)
WORDS = ["".join(RANDOM.choice(list("abcd"), size=RANDOM.integers(2, 9))) for _ in range(N)]
FIVE = ["".join(RANDOM.choice(list("abcd"), size=5)) for _ in range(N)]
SERIES = [NUMBERS[i, : 1 + i % 4] for i in range(N)]
TREES = [("r", (word[0], *word[1:3]), word[-1]) for word in WORDS]
DAYS = [datetime(2024, 1, 1) + timedelta(hours=int(hours)) for hours in RANDOM.integers(0, 9999, N)]
MIXED = pd.DataFrame(
    {
        "length": np.where(RANDOM.random(N) < 0.1, np.nan, NUMBERS[:, 1]),
        "colour": pd.Series([word[0] for word in WORDS], dtype="category"),
        "grade": pd.Categorical(RANDOM.choice(["low", "middle", "high"], N), ["low", "middle", "high"], ordered=True),
        "alive": RANDOM.random(N) < 0.5,
        "rare": RANDOM.choice(["no", "yes"], N),
        "rank": RANDOM.integers(0, 9, N),
        "size": NUMBERS[:, 3],
        "code": RANDOM.integers(0, 3, N),
        "day": DAYS,
    }
)
TYPES = {"asymm": ["rare"], "ordratio": ["rank"], "logratio": "size", "factor": ["code"]}
# For each kind of data, and for some metrics, what is fitted: X and metric_params.
OF_KIND: dict[str, tuple[Any, dict[str, Any] | None]] = {
    "vectors": (NUMBERS, None),
    "sparse": (sparse.csr_array(NUMBERS.round()), None),
    "strings": (WORDS, None),
    "sets": ([{*word, len(word)} for word in WORDS], None),
    "series": (SERIES, None),
    "table": (MIXED, {"type": TYPES, "weights": {"size": 2.5}}),
    "trees": (TREES, None),
    "coordinates": (NUMBERS[:, :2] % 90, {"degrees": True, "radius": 6371.0088}),
    "matrix": (np.abs(NUMBERS[:, :1] - NUMBERS[:, 0]), None),
}
OF_METRIC: dict[tuple[str, str], tuple[Any, dict[str, Any] | None]] = {
    ("minkowski", "vectors"): (NUMBERS, {"p": 3}),
    ("nan_euclidean", "vectors"): (GAPS, None),
    ("jensenshannon", "vectors"): (NUMBERS, {"base": 2}),
    ("hamming", "strings"): (FIVE, None),
    ("normalized_hamming", "strings"): (FIVE, None),
    ("levenshtein", "strings"): (WORDS, {"weights": (1, 2, 3)}),
    ("dtw", "series"): (SERIES, {"window": 1}),
    ("erp", "series"): (SERIES, {"g": 0.5}),
    ("tree_edit", "trees"): (TREES, {"insert": 2}),
}
for _name in ("dice", "kulsinski", "rogerstanimoto", "russellrao", "sokalsneath", "yule", "jaccard"):
    OF_METRIC[_name, "vectors"] = RANDOM.random((N, 30)) < 0.5, None
# tests/test_places.py has points of GeoPandas.
EVERY = [(m.name, m.kind) for m in available_metrics() if (m.name, m.kind) != ("euclidean", "coordinates")]
# Further data of some metrics.
OTHERS: dict[str, tuple[Any, str, dict[str, Any] | None]] = {
    "float32": (NUMBERS.astype(np.float32), "euclidean", None),
    "whole numbers": (NUMBERS.astype(np.int16), "canberra", None),
    "infinite p": (NUMBERS, "minkowski", {"p": np.inf}),
    "far from 0": (NUMBERS + 1e9, "euclidean", None),
    "tiny": (NUMBERS * 1e-200, "euclidean", None),
    "given variances": (NUMBERS, "seuclidean", {"V": np.array([1.0, 2, 3, 4])}),
    "given covariances": (NUMBERS, "mahalanobis", {"V": np.cov(NUMBERS.T)}),
    "given inverse": (NUMBERS, "mahalanobis", {"VI": np.eye(4)}),
    "truth values": (NUMBERS > 1, "dice", None),
    "a frame": (pd.DataFrame(NUMBERS, columns=list("abcd")), "manhattan", None),
    "columns without names": (pd.DataFrame(NUMBERS), "manhattan", None),
    "radians": (NUMBERS[:, :2] % 1.5, "haversine", None),
    "channels first": (np.stack([NUMBERS, 2 * NUMBERS], axis=1), "dtw", {"layout": "channels_first"}),
    "channels last": (np.stack([NUMBERS, 2 * NUMBERS], axis=2), "msm", {"layout": "channels_last"}),
    "tokens": ([[word[:2], (len(word), b"x"), None] for word in WORDS], "levenshtein", None),
    "bytes": ([word.encode() for word in WORDS], "lcs", None),
    "a column": (pd.Series(WORDS), "jaro_winkler", {"prefix_weight": 0.2}),
    "sets of anything": ([{(len(word), word[0]), 2.5, True, None} for word in WORDS], "jaccard", None),
    "programs": ([ast.parse(f"f({len(w)}, {w!r}) + {w} * {len(w)}.0") for w in WORDS], "tree_edit", None),
    "an array as a table": (NUMBERS, "gower", {"categorical": [2], "weights": {0: 3.0}}),
    "objects as a table": (MIXED[["length", "colour", "alive"]].to_numpy(dtype=object), "gower", None),
    "polars": (pl.from_pandas(MIXED.drop(columns="colour")), "gower", {"type": TYPES}),
    "pyarrow": (pa.Table.from_pandas(MIXED), "gower", {"categorical": ["code"]}),
    "rectangular": (np.abs(NUMBERS[:20, :1] - NUMBERS[:, 0]), "precomputed", None),
}


def compare(model: KMedoids, X: Any, path: Path) -> KMedoids:
    """Write and load a model, and compare everything that it says of X."""
    model.export(path)
    loaded = load(path)
    expected = model.transform(X)
    assert_allclose(loaded.transform(X), expected, rtol=1e-12, atol=1e-12 * expected.max())
    assert loaded.transform(X).dtype == expected.dtype
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert loaded.score(X) == pytest.approx(model.score(X), rel=1e-12)
    assert loaded.medoid_indices_.tolist() == model.medoid_indices_.tolist()
    for name in ("n_clusters_", "loss_", "inertia_", "algorithm_", "reason_", "n_iter_", "converged_", "gap_"):
        assert getattr(loaded, name) == getattr(model, name), name
    for name in ("n_features_in_", "feature_names_in_"):
        assert hasattr(loaded, name) == hasattr(model, name), name
        assert_array_equal(getattr(loaded, name, 0), getattr(model, name, 0))
    again = path.with_suffix(".again")
    loaded.export(again)
    assert again.read_text() == path.read_text()
    return loaded


@pytest.mark.parametrize("case", EVERY, ids=" of ".join)
def test_every_metric(case: tuple[str, str], tmp_path: Path) -> None:
    metric, kind = case
    X, params = OF_METRIC.get((metric, kind), OF_KIND[kind])
    compare(KMedoids(K, metric=metric, metric_params=params).fit(X), X, tmp_path / "model.json")


@pytest.mark.parametrize("name", OTHERS)
def test_other_data(name: str, tmp_path: Path) -> None:
    X, metric, params = OTHERS[name]
    model = KMedoids(K, metric=metric, metric_params=params).fit(X)
    compare(model, X.T if name == "rectangular" else X, tmp_path / "model.json")


def test_ranges_and_variances_are_those_of_all_rows(tmp_path: Path) -> None:
    """By hand: the distance of 0 and 10 is 10 / 100 under gower, and 10 / sqrt(variance) under seuclidean."""
    X = np.array([[0.0], [0.0], [0.0], [10.0], [10.0], [100.0]])
    for metric, expected in (("gower", 0.1), ("seuclidean", 10 / np.sqrt(1560))):
        KMedoids(2, metric=metric, candidates=[0, 3]).fit(X).export(tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert_allclose(loaded.transform([[10.0]]), [[expected, 0]], rtol=1e-12)


@pytest.mark.slow
def test_a_large_fit_and_a_stream(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(3500, 4))  # beyond the size from which kernels are compiled
    for metric in ("euclidean", "manhattan", "mahalanobis"):
        compare(KMedoids(K, metric=metric, random_state=0).fit(X), X[:200], tmp_path / "model.json")
    stream = KMedoids(K, random_state=0)
    for batch in np.split(X[:1200], 3):
        stream.partial_fit(batch)
    compare(stream, X[:100], tmp_path / "stream.json")
    assert json.loads((tmp_path / "stream.json").read_text())["model"]["n"] == 1200


def test_parameters_are_kept(tmp_path: Path) -> None:
    model = KMedoids(K, metric="levenshtein", init="random", n_init=3, random_state=7, max_iter=50, n_jobs=1)
    model.fit(WORDS).export(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert {**loaded.get_params(), "n_jobs": 1} == model.get_params()
    assert loaded.fit(WORDS).medoid_indices_.tolist() == model.medoid_indices_.tolist()
    assert loaded.labels_.tolist() == model.labels_.tolist()
    loaded.set_params(n_clusters=2).fit(WORDS).export(tmp_path / "model")
    assert load(tmp_path / "model").n_clusters_ == 2


def test_centers(tmp_path: Path) -> None:
    X, metric, params = OF_KIND["table"][0], "gower", OF_KIND["table"][1]
    model = KMedoids(K, metric=metric, metric_params=params).fit(X)
    loaded = compare(model, X, tmp_path / "model.json")
    assert loaded.cluster_centers_.shape == (K, X.shape[1])
    day = X["day"].to_numpy("datetime64[us]")[model.medoid_indices_]
    assert loaded.cluster_centers_[:, -1].tolist() == day.tolist()
    rows = KMedoids(K).fit(NUMBERS.astype(np.float32))
    rows.export(tmp_path / "rows")
    centers = load(tmp_path / "rows").cluster_centers_
    assert_array_equal(centers, rows.cluster_centers_)
    assert centers.dtype == np.float32


def test_what_a_file_does_not_hold(tmp_path: Path) -> None:
    KMedoids(K).fit(NUMBERS).export(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert not hasattr(loaded, "labels_")
    with pytest.raises(ValueError, match=r"loaded from a file, which holds no labels; .* fit\(X\)"):
        certify(loaded, NUMBERS)
    assert medoids.load is load


def test_a_precomputed_model_wants_distances_to_all_rows(tmp_path: Path) -> None:
    D = OF_KIND["matrix"][0]
    KMedoids(K, metric="precomputed").fit(D).export(tmp_path / "model")
    with pytest.raises(ValueError, match="X has 3 features, but KMedoids is expecting 40 features"):
        load(tmp_path / "model").predict(D[:, :3])


@njit
def jitted(a: Any, b: Any) -> float:
    return float(abs(a[0] - b[0]))


@pytest.mark.parametrize("metric", [lambda a, b: float(abs(a[0] - b[0])), jitted], ids=["plain", "jitted"])
def test_a_function_is_refused(metric: Any, tmp_path: Path) -> None:
    model = KMedoids(K, metric=metric).fit(NUMBERS)
    with pytest.raises(ValueError, match=r"is a function, which a model file cannot hold: loading .* run code"):
        model.export(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("before")
    model = KMedoids(2, metric="jaccard").fit([{datetime(2024, 1, 1)}, {1j}, {2j}])
    with pytest.raises(ValueError, match=r"cannot be written to a file: .* is of type .*; use texts or numbers"):
        model.export(tmp_path / "model")
    assert (tmp_path / "model").read_text() == "before"
    with pytest.raises(OSError, match=r"cannot write .*: its folder does not exist"):
        KMedoids(2).fit(NUMBERS).export(tmp_path / "no" / "model")
    with pytest.raises(Exception, match="not fitted"):
        KMedoids(2).export(tmp_path / "model")


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "model"
    KMedoids(K).fit(NUMBERS).export(path)
    text = path.read_text()
    whole = json.loads(text)
    changed = json.loads(text)
    changed["model"]["medoids"]["rows"][0][0] += 1e-9
    cases = {
        json.dumps(changed): "was changed or damaged: its checksum",
        text[: len(text) // 2]: "was cut: .* line",
        json.dumps({**whole, "version": 1}): "is of version 1, and this program reads version 2; make it again",
        "{}": "does not say format 'medoids model'",
        "\x80\x04K\x01.": "not a model file",  # a pickle
    }
    for content, words in cases.items():
        path.write_text(content, encoding="latin-1")
        with pytest.raises(ValueError, match=words):
            load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
