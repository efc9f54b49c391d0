"""Where each point lies on a plane: PCA for vectors, landmark MDS if there are only distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize
from sklearn.utils.sparsefuncs import mean_variance_axis

from medoids.distances import Dissimilarity, kind_of
from medoids.engine.arrays import Float64s, Rows
from medoids.result import Clustering

__all__ = ["PlaneLayout", "drawn_rows", "place"]

# Points on a map: as many make a file of about 0.75 MB.
_MOST_DRAWN = 5_000
# Points drawn of even the smallest cluster.
_FEWEST_DRAWN = 10
# Landmarks besides the medoids: 20 to 200 give maps equally close to that of 800 (1,797 digits, manhattan).
_EXTRA_LANDMARKS = 100
# Landmarks in total for a distance of at least this cost: as few as a plane needs.
_COSTLY_DISTANCE, _COSTLY_LANDMARKS = 1_000.0, 10
# An axis of a map shorter than this share of the first is rounding: eigenvalues, its squares, are accurate to 1e-14.
_NEGLIGIBLE_AXIS = 1e-5


@dataclass(frozen=True)
class PlaneLayout:
    """Some of the points on a plane.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        The rows of X that are drawn, ascending, including the medoids.
    xy : ndarray of shape (m, 2)
    method, note : str
        How they were placed, and how to read the map.
    """

    rows: Rows
    xy: Float64s
    method: str
    note: str


def drawn_rows(labels: Rows, medoids: Rows, limit: int = _MOST_DRAWN) -> Rows:
    """Choose at most ``limit`` rows: the medoids, and of each cluster its share, but at least a few.

    >>> drawn_rows(np.array([0, 0, 1]), np.array([0, 2])).tolist()
    [0, 1, 2]
    """
    n, k = len(labels), len(medoids)
    if n <= limit:
        return np.arange(n)
    sizes = np.bincount(labels, minlength=k)
    quota = np.maximum(np.minimum(sizes, max(min(_FEWEST_DRAWN, limit // k), 1)), limit * sizes // n)
    largest_first = np.argsort(-sizes, kind="stable")
    while (rest := max(limit, k) - int(quota.sum())) != 0:
        # One point more or less in each of the largest clusters, where it shows least, until the sum fits.
        adjustable = largest_first[(quota < sizes if rest > 0 else quota > 1)[largest_first]]
        quota[adjustable[: abs(rest)]] += np.sign(rest)
    random, chosen = np.random.RandomState(0), [medoids]
    for cluster in np.flatnonzero(quota > 0):
        members = np.flatnonzero(labels == cluster)
        others = members[members != medoids[cluster]]
        chosen.append(random.choice(others, min(int(quota[cluster]) - 1, len(others)), replace=False))
    return np.sort(np.concatenate(chosen))


def place(
    clustering: Clustering, X: Any, distance: Dissimilarity, metric: Any, limit: int = _MOST_DRAWN
) -> PlaneLayout:
    """Place the points of a clustering on a plane, at most about ``limit`` of them."""
    rows = drawn_rows(clustering.labels, clustering.medoid_indices, limit)
    if metric == "haversine":
        latitude, longitude = np.asarray(X, dtype=np.float64)[rows].T
        return PlaneLayout(rows, np.column_stack([longitude, latitude]), "map", "East is right and north is up.")
    numeric = issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuf")
    if numeric and kind_of(metric) != "matrix" and metric not in ("dtw", "jaccard"):
        return _principal_components(X, rows, metric)
    return _landmark_mds(clustering, distance, rows)


def _principal_components(X: Any, rows: Rows, metric: Any) -> PlaneLayout:
    part: Any = X[rows].astype(np.float64)
    if metric in ("cosine", "correlation"):
        part = normalize(part)
    if issparse(part) and min(part.shape) < 3:
        part = part.toarray()
    if min(part.shape) < 2:
        # A single number per point: the height only keeps points apart.
        height = (np.arange(len(part)) * 0.618034 % 1 - 0.5) * 0.3 * (np.ptp(part) or 1.0)
        return PlaneLayout(
            rows, np.column_stack([part[:, 0], height]), "line", "Only the horizontal position is meaningful."
        )
    if issparse(part):
        varies = mean_variance_axis(part, 0)[1].any()
    else:
        part -= part.mean(axis=0)
        part /= np.abs(part).max() or 1.0  # squares of very large or small numbers would overflow or vanish
        varies = part.any()
    if not varies:
        return PlaneLayout(rows, np.zeros((len(rows), 2)), "PCA", "All points are equal.")
    model = PCA(2, svd_solver="arpack" if min(part.shape) > 2 else "full", random_state=0)
    with np.errstate(all="ignore"):
        xy = model.fit_transform(part)
        share = float(np.nan_to_num(model.explained_variance_ratio_).sum())
    return PlaneLayout(
        rows, np.nan_to_num(xy), "PCA", f"The two directions of largest variance, with {share:.0%} of it."
    )


def _landmark_mds(clustering: Clustering, distance: Dissimilarity, rows: Rows) -> PlaneLayout:
    """Place points by their distances to landmarks (de Silva and Tenenbaum 2004), the medoids and a few more."""
    medoids = clustering.medoid_indices
    others = np.random.RandomState(0).permutation(np.setdiff1d(rows, medoids))
    more = max(_COSTLY_LANDMARKS - len(medoids), 0) if distance.cost >= _COSTLY_DISTANCE else _EXTRA_LANDMARKS
    landmarks = np.concatenate([medoids, others[:more]])
    between = distance.exact_block(landmarks, landmarks)
    to_points = distance.exact_block(landmarks, rows)
    # The squares of very large or small numbers would overflow or vanish.
    unit = max(float(np.abs(between).max()), float(np.abs(to_points).max())) or 1.0
    between, to_points = between / unit, to_points / unit
    shift = min(float(between.min()), float(to_points.min()), 0.0)  # the squares of negative distances would mislead
    squares = (((between + between.T) / 2) - shift) ** 2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (squares - means - means[:, None] + means.mean()))
    top = values.argsort()[::-1][:2]
    scale = np.sqrt(np.maximum(values[top], 0))
    axes = np.divide(
        vectors[:, top], scale, out=np.zeros_like(vectors[:, top]), where=scale > _NEGLIGIBLE_AXIS * scale[0]
    )
    xy = -0.5 * unit * ((to_points - shift) ** 2 - means[:, None]).T @ axes
    # The sign of an eigenvector is arbitrary: choose it so that the same data give the same picture.
    xy *= np.where(xy[np.abs(xy).argmax(axis=0), np.arange(xy.shape[1])] < 0, -1, 1)
    xy = np.pad(xy, ((0, 0), (0, 2 - xy.shape[1])))  # a single landmark gives a single axis
    return PlaneLayout(
        rows,
        np.nan_to_num(xy),
        "Landmark MDS",
        f"Placed by the distances to {len(landmarks)} landmarks, including the medoids, as well as a plane allows.",
    )
