"""`report`: a clustering as one HTML file."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from medoids.distances import kind_of
from medoids.engine.arrays import Float64s
from medoids.quality.fitted import in_memory, measured, weights_of
from medoids.quality.k_path import KPath
from medoids.quality.silhouettes import medoid_silhouettes
from medoids.reporting.choosing import choice_page
from medoids.reporting.layout import Layout, distances_to_medoids, place
from medoids.reporting.page import page
from medoids.reporting.tables import Columns, Table
from medoids.reporting.things import Images, Numbered, Objects, Series, Things
from medoids.result import Clustering
from medoids.storage.files import Outputs

__all__ = ["Findings", "placed_as", "report"]


# Fewer pixels than this on a side are more likely to be measurements that happen to be a square number.
_SMALLEST_IMAGE = 8
# Names that only count: "x12", "pixel 3", "1x28".
_COUNTING = re.compile(r"\D*\d+(x\d+)?")


@dataclass(frozen=True)
class Findings:
    """What the page shows.

    Attributes
    ----------
    silhouettes : ndarray of shape (drawn,) or None
        1 - d1 / d2 of the drawn points; None with a single cluster.
    """

    clustering: Clustering
    weights: Float64s
    layout: Layout
    silhouettes: Float64s | None
    things: Things
    ids: Sequence[Any] | None
    title: str
    data: str
    command: str | None


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
    """Write a clustering as one HTML file that needs nothing else: no network, no other file.

    It has the medoids as what they are (images, rows with the features that set their cluster apart, texts, series),
    the sizes of clusters and their distances, a map, silhouettes, the loss after each step, the distances that were
    computed, and how to do it again.

    Parameters
    ----------
    clustering : Clustering, fitted KMedoids or KPath
        A path gives another page: its curves, what they suggest, and the medoids for each number of clusters. For a
        fit on a Dask cluster, its labels, and X if that is a Dask collection, are brought into memory.
    X : the data that it was fitted to
    path : str or path-like
        Where to write. The file appears when it is complete.
    title : str, optional
    feature_names : sequence of str, optional
        Names of the columns of an array; a data frame brings its own.
    ids : sequence, optional
        What to call each row; its number by default.
    image_shape : tuple, optional
        (height, width) or (height, width, 3), where rows are pixels. Rows of a square number of at least 64
        non-negative numbers without names count as images by themselves.
    shown : optional
        The same rows in the units in which to show them, where X was scaled.
    sample_weight : array-like of shape (n,), optional
        By default those of the fit.
    command : str, optional
        A command that does it again, to be quoted.

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
    if isinstance(clustering, KPath):
        html = _choice(clustering, X, title, feature_names, ids, image_shape, shown, command)
    else:
        html = page(_findings(clustering, X, title, feature_names, ids, image_shape, shown, sample_weight, command))
    with Outputs() as outputs:
        outputs.claim(path).write_text(html, encoding="utf-8")
    return Path(path)


def _findings(
    clustering: Any,
    X: Any,
    title: str | None,
    feature_names: Sequence[str] | None,
    ids: Sequence[Any] | None,
    image_shape: tuple[int, ...] | None,
    shown: Any,
    sample_weight: Any,
    command: str | None,
) -> Findings:
    clustering, distance, metric, checked = measured(clustering, X)
    n, k = len(clustering.labels), len(clustering.medoid_indices)
    if ids is not None and len(ids) != n:
        raise ValueError(f"ids has {len(ids)} entries, but the clustering has {n} points; pass one for each row")
    weights = weights_of(clustering, sample_weight)
    layout = place(clustering, checked, distance, metric, placed_as(metric, checked))
    silhouettes = None
    if k > 1:
        two = np.partition(distances_to_medoids(distance, clustering.medoid_indices, layout.rows), 1, axis=0)[:2]
        silhouettes = medoid_silhouettes(two[0], two[1])
    original = X if shown is None else shown
    things = _things(clustering, original, metric, feature_names, image_shape)
    return Findings(
        clustering=clustering,
        weights=weights,
        layout=layout,
        silhouettes=silhouettes,
        things=things,
        ids=ids,
        title=title or f"{k} medoids of {n:,} points",
        data=_described(X),
        command=command,
    )


def _choice(
    path: KPath,
    X: Any,
    title: str | None,
    feature_names: Sequence[str] | None,
    ids: Sequence[Any] | None,
    image_shape: tuple[int, ...] | None,
    shown: Any,
    command: str | None,
) -> str:
    found = next(iter(path.clusterings.values()))
    metric = measured(found, X)[2]
    n = len(found.labels)
    if ids is not None and len(ids) != n:
        raise ValueError(f"ids has {len(ids)} entries, but the clustering has {n} points; pass one for each row")
    original = X if shown is None else shown
    things = {
        k: _things(clustering, original, metric, feature_names, image_shape)
        for k, clustering in path.clusterings.items()
    }
    return choice_page(path, things, ids, title or f"How many clusters in {n:,} points?", _described(X), command)


def placed_as(metric: Any, X: Any) -> str:
    """Vectors lie where they lie; anything else is placed by its distances."""
    numeric = issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuf")
    return "vectors" if numeric and kind_of(metric) != "matrix" and metric not in ("dtw", "jaccard") else "objects"


def _things(
    clustering: Clustering,
    X: Any,
    metric: Any,
    names: Sequence[str] | None,
    image_shape: tuple[int, ...] | None,
) -> Things:
    if metric == "precomputed":
        return Numbered(clustering)
    if _is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        if image_shape is None and names is None and not _pixels(frame.columns, len(frame.columns)):
            return Table(clustering, Columns.of_frame(frame))
        names = list(frame.columns) if names is None else names
        X = frame.to_numpy()
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()  # a column of texts
    if metric == "dtw":
        return Series(clustering, X)
    if issparse(X):
        return Table(clustering, Columns.of_array(csr_array(X), names))
    array = _as_array(X)
    if array is None:
        return Objects(clustering, X)
    if names is not None and len(names) != array.shape[1]:
        raise ValueError(f"feature_names has {len(names)} names, but X has {array.shape[1]} columns")
    shape = _image_shape(array, names, image_shape)
    return Images(clustering, array, shape) if shape else Table(clustering, Columns.of_array(array, names))


def _is_frame(X: Any) -> bool:
    try:
        nw.from_native(X, eager_only=True)
    except TypeError:
        return False
    return True


def _as_array(X: Any) -> npt.NDArray[Any] | None:
    """X as a 2-D array of numbers, if it is one."""
    if isinstance(X, np.ndarray):
        return X if X.ndim == 2 and X.dtype.kind in "iufb" else None
    first = X[0] if len(X) else None
    if isinstance(first, (str, bytes)) or not hasattr(first, "__len__"):
        return None
    try:
        array = np.asarray(X)
    except ValueError:
        return None
    return array if array.ndim == 2 and array.dtype.kind in "iufb" else None


def _pixels(names: Sequence[str] | None, p: int) -> bool:
    """Whether columns may be pixels: a square number of them, with names that only count, or none."""
    side = math.isqrt(p)
    numbered = names is None or all(_COUNTING.fullmatch(str(name)) for name in names)
    return side * side == p and side >= _SMALLEST_IMAGE and numbered


def _image_shape(
    X: npt.NDArray[Any], names: Sequence[str] | None, given: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    p = X.shape[1]
    if given is not None:
        if math.prod(given) != p or len(given) not in (2, 3) or (len(given) == 3 and given[2] not in (1, 3)):
            raise ValueError(
                f"image_shape={tuple(given)} does not fit rows of {p} numbers; pass (height, width) or "
                f"(height, width, 3) with a product of {p}"
            )
        return tuple(given[:2]) if len(given) == 3 and given[2] == 1 else tuple(given)
    if not _pixels(names, p) or X[:: max(len(X) // 2000, 1)].min() < 0:
        return None
    return math.isqrt(p), math.isqrt(p)


def _described(X: Any) -> str:
    shape = getattr(X, "shape", None)
    if shape is None or len(shape) == 1:
        return f"{len(X):,} objects"
    kind = f" {X.dtype}" if hasattr(X, "dtype") else ""
    sparse = " sparse" if issparse(X) else ""
    return f"{' x '.join(f'{size:,}' for size in shape)}{sparse}{kind}"
