"""Objects of other packages: AnnData, GeoPandas, polars and pyarrow, by name."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from medoids import KMedoids, cluster_medoids, k_medoids
from medoids.anndata import kmedoids

X = load_iris().data


def annotated(**obsm: Any) -> Any:
    """An object with the attributes of AnnData that are used."""
    names = pd.Index([f"cell{i}" for i in range(len(X))])
    return SimpleNamespace(X=X, obs=pd.DataFrame(index=names), obsm=obsm, obsp={}, uns={}, obs_names=names)


@pytest.mark.parametrize("genuine", [False, True])
def test_anndata(genuine: bool, tmp_path: Path) -> None:
    if genuine:
        anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
        adata: Any = anndata.AnnData(X.copy())
        adata.obs_names = [f"cell{i}" for i in range(len(X))]
    else:
        adata = annotated()
    found = kmedoids(adata, 3)
    expected = k_medoids(X, 3)
    assert_array_equal(found.medoid_indices, expected.medoid_indices)
    assert adata.obs["kmedoids"].tolist() == [str(label) for label in expected.labels]
    assert adata.obs["kmedoids"].cat.categories.tolist() == ["0", "1", "2"]
    assert adata.uns["kmedoids"]["medoids"].tolist() == [f"cell{i}" for i in expected.medoid_indices]
    assert adata.uns["kmedoids"]["params"] == {"n_clusters": 3, "use_rep": "X", "metric": "euclidean"}
    if genuine:
        adata.write_h5ad(tmp_path / "cells.h5ad")
        again = anndata.read_h5ad(tmp_path / "cells.h5ad")
        assert again.uns["kmedoids"]["medoids"].tolist() == adata.uns["kmedoids"]["medoids"].tolist()
        assert again.obs["kmedoids"].tolist() == adata.obs["kmedoids"].tolist()
        again.obsm["X_pca"] = X[:, :2]
        assert_array_equal(kmedoids(again, 3).labels, k_medoids(X[:, :2], 3).labels)


def test_representations() -> None:
    adata = annotated(X_pca=X[:, :2], other=X[:, 2:])
    assert_array_equal(kmedoids(adata, 3).labels, k_medoids(X[:, :2], 3).labels)
    other = kmedoids(adata, 3, use_rep="other", key_added="clusters", metric="manhattan")
    assert_array_equal(other.labels, k_medoids(X[:, 2:], 3, metric="manhattan").labels)
    assert set(adata.obs) == {"kmedoids", "kmedoids_distance", "clusters", "clusters_distance"}
    with pytest.raises(ValueError, match=r"use_rep='umap' is unknown; it must be 'X' or one of \['X_pca', 'other'\]"):
        kmedoids(adata, 3, use_rep="umap")
    with pytest.raises(TypeError, match="takes an AnnData object; got ndarray"):
        kmedoids(X, 3)


def to_arrow(X: np.ndarray) -> Any:
    return pa.table({f"x{f}": column for f, column in enumerate(X.T)})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, to_arrow])
def test_frames_by_name(make: Any) -> None:
    frame = make(X)
    model = KMedoids(3).fit(frame)
    assert_array_equal(model.labels_, k_medoids(X, 3).labels)
    assert_array_equal(model.predict(frame), model.labels_)
    assert_array_equal(cluster_medoids(frame, model.labels_).medoid_indices, model.medoid_indices_)
    assert_array_equal(k_medoids(frame, 3, metric="gower").labels, k_medoids(pd.DataFrame(X), 3, metric="gower").labels)


WORDS = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]


@pytest.mark.parametrize(
    "make", [pa.array, lambda words: pa.chunked_array([words]), lambda words: pa.table({"t": words})]
)
def test_text_of_pyarrow(make: Any) -> None:
    expected = KMedoids(2, metric="levenshtein").fit(WORDS)
    model = KMedoids(2, metric="levenshtein").fit(make(WORDS))
    assert_array_equal(model.medoid_indices_, expected.medoid_indices_)
    assert_array_equal(model.predict(make(WORDS)), expected.labels_)
    with pytest.raises(ValueError, match=r"could not convert string to float: .*; "):
        k_medoids(make(WORDS), 2)
    with pytest.raises(ValueError, match=r"row 1 of X is missing \(None\)"):
        k_medoids(make(["ape", None]), 1, metric="levenshtein")


def test_a_single_column_of_pyarrow() -> None:
    assert k_medoids(pa.table({"a": [1.0, 2.0, 7.0]}), 2).labels.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match=r"X\[1, 0\] is nan. Remove such rows"):
        k_medoids(pa.table({"a": [1.0, None, 7.0]}), 2)


def test_what_is_not_taken_says_what_to_pass() -> None:
    with pytest.raises(TypeError, match=r"AnnData object; use medoids.anndata.kmedoids\(adata, k, use_rep=...\)"):
        k_medoids(annotated(), 3)
