"""Models of the command and of Python are the same files: each reads those of the other, and predicts the same."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from cli.conftest import Run
from medoids import KMedoids, load
from medoids.cli.cluster import cluster
from medoids.cli.messages import Failure
from medoids.cli.model import load_model
from medoids.cli.reading import read

RANDOM = np.random.default_rng(5)
N, K = 40, 3
NUMBERS = RANDOM.gamma(2.0, size=(N, 3)) * (1, 10, 100)
FRAME = pd.DataFrame(
    {
        "length": NUMBERS[:, 0],
        "rank": RANDOM.integers(0, 9, N),
        "colour": RANDOM.choice(["red", "green", "blue"], N),
        "rare": RANDOM.random(N) < 0.4,
        "day": [datetime(2024, 1, 1) + timedelta(days=int(days)) for days in RANDOM.integers(0, 300, N)],
    }
)
FRAME.loc[3, "length"] = np.nan


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"x{suffix}"
    if suffix == ".npy":
        np.save(path, NUMBERS)
    elif suffix == ".table.csv":
        FRAME.to_csv(path, index=False)
    elif suffix == ".txt":
        path.write_text("".join(f"{round(x)}{round(y)}\n" for x, y, _ in NUMBERS.tolist()))
    elif suffix == ".gaps.csv":
        gaps = np.where((RANDOM.random(NUMBERS.shape) < 0.2) & (np.arange(3) > 0), np.nan, NUMBERS)
        pd.DataFrame(gaps, columns=list("abc")).to_csv(path, index=False)
    else:
        pd.DataFrame(NUMBERS, columns=list("abc")).to_csv(path, index=False)
    return path


def data_for_python(path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".txt":
        return path.read_text().splitlines()
    return pd.read_csv(path, parse_dates=["day"] if ".table" in path.name else False)


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "euclidean": (".csv", {}),
    "scaled": (".csv", {"scale": "standard"}),
    "scaled and some columns": (".csv", {"scale": "robust", "columns": "a,c"}),
    "scaled, of an array": (".npy", {"scale": "standard", "metric": "manhattan"}),
    "variances": (".csv", {"metric": "seuclidean"}),
    "covariances, scaled": (".csv", {"metric": "mahalanobis", "scale": "standard"}),
    "gower": (".table.csv", {"metric_param": ['type={"asymm": ["rare"], "ordratio": ["rank"]}', 'weights={"day": 2}']}),
    "gower of an array": (".npy", {"metric": "gower"}),
    "gower of numbers": (".csv", {"metric": "gower"}),
    "gaps": (".gaps.csv", {"metric": "nan_euclidean"}),
    "words": (".txt", {}),
    "series in columns": (".csv", {"metric": "dtw", "metric_param": ["window=1"]}),
    "places": (".csv", {"metric": "haversine", "columns": "a,b", "metric_param": ["degrees=true"]}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_model_of_the_command(name: str, tmp_path: Path) -> None:
    suffix, options = CASES[name]
    path, model, labels = written(tmp_path, suffix), tmp_path / "model", tmp_path / "labels.csv"
    cluster(str(path), K, save=str(model), output=str(labels), quiet=True, **options)
    expected = pd.read_csv(labels)
    loaded = load_model(str(model))
    distances = loaded.distances(loaded.data_of(read(str(path))))
    assert_array_equal(distances.argmin(axis=0), expected["cluster"])
    np.testing.assert_allclose(distances.min(axis=0), expected["distance"], rtol=1e-9, atol=1e-9)
    X = data_for_python(path)
    if "columns" in options:
        X = X[options["columns"].split(",")]
    if name == "series in columns":
        X = X.to_numpy()
    estimator = load(model)
    assert_array_equal(estimator.predict(X), expected["cluster"])
    np.testing.assert_allclose(estimator.transform(X).T, distances, rtol=1e-12, atol=1e-12)
    if name == "scaled":
        assert_array_equal(estimator.cluster_centers_, NUMBERS[estimator.medoid_indices_])
        assert estimator.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("suffix", "metric", "params"),
    [
        (".csv", "mahalanobis", None),
        (".npy", "gower", None),
        (".npy", "dtw", None),
        (".table.csv", "gower", {"type": {"asymm": ["rare"], "ordratio": ["rank"]}}),
        (".gaps.csv", "nan_euclidean", None),
        (".txt", "levenshtein", None),
        (".csv", "haversine", {"degrees": True}),
    ],
)
def test_a_model_of_python(suffix: str, metric: str, params: Any, tmp_path: Path) -> None:
    path = written(tmp_path, suffix)
    X = data_for_python(path)
    X = X[["a", "b"]] if metric == "haversine" else X
    model = KMedoids(K, metric=metric, metric_params=params).fit(X)
    model.export(tmp_path / "model")
    loaded = load_model(str(tmp_path / "model"))
    assert_array_equal(loaded.distances(loaded.data_of(read(str(path)))).argmin(axis=0), model.predict(X))


def test_ordered_categories_of_a_frame(medoids: Run, tmp_path: Path) -> None:
    order = ["low", "middle", "high", "highest"]
    grades = RANDOM.choice(order, N)
    frame = pd.DataFrame({"grade": pd.Categorical(grades, order, ordered=True), "x": NUMBERS[:, 0]})
    model = KMedoids(K, metric="gower").fit(frame)
    model.export(tmp_path / "model")
    frame.to_csv(tmp_path / "x.csv", index=False)
    found = json.loads(medoids("predict", "model", "x.csv", "--json").stdout)
    assert found["labels"] == model.predict(frame).tolist()
    frame.assign(grade=["lowest"] * N).to_csv(tmp_path / "y.csv", index=False)
    assert "'lowest', which is not one of its ordered categories" in medoids("predict", "model", "y.csv", code=1).stderr


def test_what_no_file_holds(tmp_path: Path) -> None:
    KMedoids(2, metric="jaccard").fit([{1}, {2}, {1, 3}]).export(tmp_path / "model")
    with pytest.raises(Failure, match=r"is a model of sets, which no file holds; use medoids.load in Python"):
        load_model(str(tmp_path / "model"))
