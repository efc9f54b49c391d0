"""`report`: a clustering as one HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from medoids.quality.fitted import in_memory, measured, weights_of
from medoids.quality.k_path import KPath
from medoids.quality.silhouettes import medoid_silhouettes
from medoids.reporting.choosing import choice_page
from medoids.reporting.layout import place
from medoids.reporting.page import Findings, page
from medoids.reporting.recognition import recognise
from medoids.storage.files import Outputs

__all__ = ["report"]


def report(
    clustering: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    feature_names: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    image_shape: tuple[int, ...] | None = None,
    shown: Any = None,
    sample_weight: Any = None,
    command: str | None = None,
) -> Path:
    """Write a clustering as one HTML file that needs no network and no other file.

    It shows the medoids as what they are (images, rows with the features that distinguish their cluster, texts,
    series), the sizes of clusters and their distances, a map, silhouettes, the loss after each step, the number of
    distances computed, and how to repeat the fit.

    Parameters
    ----------
    clustering : Clustering, fitted KMedoids or KPath
        A path gives another page: its curves, what they suggest, and the medoids for each number of clusters. The
        labels of a fit on a Dask cluster, and X if it is a Dask collection, are loaded into memory.
    X : the data that it was fitted to
    path : str or path-like
        Where to write. The file appears when it is complete.
    title : str, optional
    feature_names : sequence of str, optional
        Names of the columns of an array; a data frame has its own.
    ids : sequence, optional
        Names of the rows; their numbers by default.
    image_shape : tuple, optional
        (height, width) or (height, width, 3), if rows are pixels. Rows of a square number of at least 64
        non-negative numbers without names are taken for images by default.
    shown : optional
        The same rows in the units in which to show them, if X was scaled.
    sample_weight : array-like of shape (n,), optional
        The weights of the fit by default.
    command : str, optional
        A command that repeats the fit, to be quoted.

    Returns
    -------
    pathlib.Path

    Notes
    -----
    The silhouette is the medoid silhouette (Van der Laan, Pollard and Bryan 2003; Lenssen and Schubert 2022),
    1 - d1 / d2 with the distances to the nearest and the second nearest medoid. At most 5,000 points are drawn.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from medoids import k_medoids, report
    >>> iris = load_iris()
    >>> found = k_medoids(iris.data, 3)
    >>> page = report(found, iris.data, tempfile.mkdtemp() + "/iris.html", feature_names=iris.feature_names)
    >>> "sepal length" in page.read_text()
    True
    """
    X = in_memory(X)
    model = next(iter(clustering.clusterings.values())) if isinstance(clustering, KPath) else clustering
    found, distance, metric, checked = measured(model, X)
    n, k = len(found.labels), len(found.medoid_indices)
    if ids is not None and len(ids) != n:
        raise ValueError(f"ids has {len(ids)} entries, but the clustering has {n} points; pass one for each row")
    original = X if shown is None else shown
    if isinstance(clustering, KPath):
        things = {
            k: recognise(each, original, metric, feature_names, image_shape)
            for k, each in clustering.clusterings.items()
        }
        html = choice_page(
            clustering, things, ids, title or f"How many clusters in {n:,} points?", _describe(X), command
        )
    else:
        layout = place(found, checked, distance, metric)
        distances = distance.exact_block(found.medoid_indices, layout.rows)
        html = page(
            Findings(
                clustering=found,
                weights=weights_of(found, sample_weight),
                layout=layout,
                silhouettes=medoid_silhouettes(*np.partition(distances, 1, axis=0)[:2]) if k > 1 else None,
                things=recognise(found, original, metric, feature_names, image_shape),
                ids=ids,
                title=title or f"{k} medoids of {n:,} points",
                data=_describe(X),
                command=command,
            )
        )
    with Outputs() as outputs:
        outputs.claim(path).write_text(html, encoding="utf-8")
    return Path(path)


def _describe(X: Any) -> str:
    shape = getattr(X, "shape", None)
    if shape is None or len(shape) == 1:
        return f"{len(X):,} objects"
    kind = (" sparse" if issparse(X) else "") + (f" {X.dtype}" if hasattr(X, "dtype") else "")
    return f"{' x '.join(f'{size:,}' for size in shape)}{kind}"
