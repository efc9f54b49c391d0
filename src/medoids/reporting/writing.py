"""`report`: a clustering as one HTML file."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from medoids.quality.fitted import in_memory, measured, weights_of
from medoids.quality.k_path import KPath
from medoids.quality.silhouettes import medoid_silhouettes
from medoids.reporting.choosing import choice_page
from medoids.reporting.layout import place
from medoids.reporting.page import Findings, page
from medoids.reporting.tables import NamedColumns, Table
from medoids.reporting.things import Images, Objects, Series, Things
from medoids.result import Clustering
from medoids.storage.files import Outputs

__all__ = ["report"]

# A smaller square number of columns is more likely to be a coincidence than the pixels of an image.
_SMALLEST_IMAGE_SIDE = 8
# Names that only count: "x12", "pixel 3", "1x28".
_COUNTING_NAME = re.compile(r"\D*\d+(x\d+)?")


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
            k: _recognise(each, original, metric, feature_names, image_shape)
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
                things=_recognise(found, original, metric, feature_names, image_shape),
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


def _recognise(
    clustering: Clustering,
    X: Any,
    metric: Any,
    names: Sequence[str] | None,
    image_shape: tuple[int, ...] | None,
) -> Things:
    """Return the rows of X as things that can be shown."""
    if metric == "precomputed":
        return Things(clustering)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if image_shape is None and names is None and not _may_be_pixels(frame.columns, len(frame.columns)):
            return Table(clustering, NamedColumns.of_frame(frame))
        names = frame.columns if names is None else names
        X = frame.to_numpy()
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()  # a column of texts
    if metric == "dtw":
        return Series(clustering, X)
    array = csr_array(X) if issparse(X) else _as_array(X)
    if array is None:
        return Objects(clustering, X)
    p = array.shape[1]
    if names is not None and len(names) != p:
        raise ValueError(f"feature_names has {len(names)} names, but X has {p} columns")
    if not issparse(array) and (shape := _image_shape(array, names, image_shape)):
        return Images(clustering, array, shape)
    return Table(
        clustering, NamedColumns([f"x{f}" for f in range(p)] if names is None else list(map(str, names)), array)
    )


def _as_array(X: Any) -> npt.NDArray[Any] | None:
    """Return X as a 2-D array of numbers, or None if it is something else."""
    if isinstance(X[0], (str, bytes)):  # an array of texts would have the longest one's length in every row
        return None
    try:
        array = np.asarray(X)
    except ValueError:  # sequences of different lengths
        return None
    return array if array.ndim == 2 and array.dtype.kind in "iufb" else None


def _may_be_pixels(names: Sequence[str] | None, p: int) -> bool:
    """Return whether columns may be pixels: a square number of them, with names that only count or without names."""
    side = math.isqrt(p)
    numbered = names is None or all(_COUNTING_NAME.fullmatch(str(name)) for name in names)
    return side * side == p and side >= _SMALLEST_IMAGE_SIDE and numbered


def _image_shape(
    X: npt.NDArray[Any], names: Sequence[str] | None, given: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    p = X.shape[1]
    if given is None:
        positive = _may_be_pixels(names, p) and X[:: max(len(X) // 2000, 1)].min() >= 0
        return (math.isqrt(p), math.isqrt(p)) if positive else None
    given = tuple(given)
    if math.prod(given) != p or len(given) < 2 or given[2:] not in ((), (1,), (3,)):
        raise ValueError(
            f"image_shape={given} does not fit rows of {p} numbers; pass (height, width) or "
            f"(height, width, 3) with a product of {p}"
        )
    return given[:2] if given[2:] == (1,) else given
