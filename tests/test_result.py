"""How results show themselves."""

from __future__ import annotations

import gc
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from medoids import k_medoids, k_path

LINE = np.array([[0.0], [1.0], [2.0], [9.0], [11.0]])


def test_a_clustering_is_short_and_says_what_it_is() -> None:
    X = np.random.RandomState(0).normal(size=(900, 2))
    found = k_medoids(X, 40)
    lines = repr(found).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) < 160
    assert lines[0].startswith(f"Clustering(k=40, n=900, loss={found.loss:.6g}, ")
    first = ", ".join(map(str, found.medoid_indices[:3]))
    assert f"medoid_indices=[{first}, ..., " in lines[1]


def test_a_path_is_short_and_has_its_scores() -> None:
    X = np.random.RandomState(0).normal(size=(900, 2))
    path = k_path(X, range(1, 5))
    lines = repr(path).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) < 160
    assert lines[0].startswith("KPath(k=[1, 2, 3, 4], n=900, algorithm=")
    for name, line in zip(("loss", "medoid_silhouette"), lines[1:], strict=True):
        values = line.split("[")[1].split("]")[0].split(",")
        np.testing.assert_allclose(list(map(float, values)), path.scores[name], atol=1e-4)


def test_the_weights_of_a_fit_are_kept_and_not_shared() -> None:
    X, w = np.random.RandomState(0).normal(size=(20, 2)), np.arange(1.0, 21)
    found = k_medoids(X, 2, sample_weight=w)
    w[:] = 0
    assert found.sample_weight.tolist() == list(range(1, 21))
    assert k_medoids(X, 2).sample_weight is None
    assert k_path(X, [2], sample_weight=np.arange(1.0, 21)).clusterings[2].sample_weight.tolist() == list(range(1, 21))


def test_a_frame_has_a_line_for_each_row() -> None:
    """By hand: medoids are rows 1 and 3 (the first of a tie)."""
    found = k_medoids(LINE, 2, metric="manhattan")
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("list") == {
        "cluster": [0, 0, 0, 1, 1],
        "medoid": [1, 1, 1, 3, 3],
        "distance": [1.0, 0.0, 1.0, 0.0, 2.0],
        "is_medoid": [False, True, False, True, False],
    }
    assert found.to_frame("polars").equals(pl.from_pandas(frame))
    assert found.to_frame("pyarrow").equals(pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata())
    weighted = k_medoids(LINE, 2, sample_weight=[1, 1, 1, 1, 5]).to_frame()
    assert weighted["weight"].tolist() == [1, 1, 1, 1, 5]
    assert weighted["medoid"].tolist() == [1, 1, 1, 4, 4]


def test_a_frame_of_an_unknown_or_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    found = k_medoids(LINE, 2)
    with pytest.raises(
        ValueError, match=r"backend='excel' is unknown; it must be one of \['pandas', 'polars', 'pyarrow'\]"
    ):
        found.to_frame("excel")
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ImportError, match="needs polars: pip install polars"):
        found.to_frame("polars")


def test_a_notebook_shows_medoids_sizes_loss_and_a_map() -> None:
    found = k_medoids(LINE, 2)
    page = found._repr_html_()
    assert "<strong>2 medoids of 5 rows</strong>: loss 0.8 (inertia 4)" in page
    cells = re.findall(r"<td>(?:<span.*?</span> )?(.*?)</td>", page)
    assert cells == ["0", "1", "3", "0.6667", "1", "3", "2", "1"]
    assert page.count("<circle") == 2
    assert page.count("h0") == 5  # points of the map
    assert "script" not in page


def test_the_map_is_drawn_only_from_data_that_exist() -> None:
    """A result keeps no data alive; functions of the user are not called to show it."""
    X = np.random.RandomState(0).normal(size=(50, 2))
    found, calls = k_medoids(X, 3), []
    assert "<svg" in found._repr_html_()
    assert "<svg" not in pickle.loads(pickle.dumps(found))._repr_html_()
    del X
    gc.collect()
    assert "<svg" not in found._repr_html_()
    assert "<svg" not in k_medoids(["ape", "apes", "zebra"], 2, metric="levenshtein")._repr_html_()

    def apart(a: np.ndarray, b: np.ndarray) -> float:
        calls.append(1)
        return float(np.abs(a - b).sum())

    own = k_medoids(LINE, 2, metric=apart)
    calls.clear()
    assert "<svg" not in own._repr_html_()
    assert not calls


def test_many_clusters_and_points_stay_small() -> None:
    X = np.random.RandomState(0).normal(size=(20_000, 2)).astype(np.float32)
    page = k_medoids(X, 60, algorithm="clara", random_state=0)._repr_html_()
    assert "and 45 more" in page
    assert len(page) < 40_000


@pytest.mark.filterwarnings("ignore:.*distinct:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.array([[1e300], [1e300], [0]]), np.array([["a", 1], ["b", 2]])])
def test_a_map_of_awkward_data(X: np.ndarray) -> None:
    data: object = pd.DataFrame(X, columns=["a", "b"]) if X.dtype.kind == "U" else X
    found = k_medoids(data, 2, metric="gower" if data is not X else "euclidean")
    assert "<svg" in found._repr_html_()
    assert "nan" not in found._repr_html_()
