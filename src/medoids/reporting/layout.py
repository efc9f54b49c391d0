"""Where each point lies on a plane: PCA for vectors, landmark MDS for whatever has only distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize
from sklearn.utils.sparsefuncs import mean_variance_axis

from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Rows
from medoids.result import Clustering

__all__ = ["LIMIT", "Layout", "distances_to_medoids", "drawn_rows", "place"]


# Points that are drawn at most.
LIMIT = 5_000
# A cluster shows at least so many of its points, however small its share.
_FEWEST = 10
# Landmarks beside the medoids; where a distance is dear, only as many as a plane needs.
_LANDMARKS, _DEAR_LANDMARKS = 100, 10
_DEAR = 1_000.0
# The length of an axis of the map, as a share of the first one's, below which it is rounding: eigenvalues, its square,
# are good to about 1e-14.
_FLAT = 1e-5
# Names of metrics that see directions only.
_DIRECTIONS = ("cosine", "correlation")


@dataclass(frozen=True)
class Layout:
    """Some of the points on a plane.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Which rows of X are drawn, ascending; the medoids are among them.
    xy : ndarray of shape (m, 2)
    method, note : str
        How they were placed, and what to know when reading the map.
    """

    rows: Rows
    xy: Float64s
    method: str
    note: str


def drawn_rows(labels: Rows, medoids: Rows, limit: int = LIMIT) -> Rows:
    """Choose at most ``limit`` rows: the medoids, and of each cluster its share, but a few of even the smallest.

    >>> drawn_rows(np.array([0, 0, 1]), np.array([0, 2])).tolist()
    [0, 1, 2]
    """
    n, k = len(labels), len(medoids)
    if n <= limit:
        return np.arange(n)
    sizes = np.bincount(labels, minlength=k)
    quota = np.maximum(np.minimum(sizes, max(min(_FEWEST, limit // k), 1)), limit * sizes // n)
    while (rest := limit - int(quota.sum())) != 0:
        # The largest cluster gives or takes: a handful of points more or less do not show in it.
        step = 1 if rest > 0 else -1
        open_ = np.flatnonzero((quota < sizes) if rest > 0 else (quota > 1))
        if not len(open_):
            break
        quota[open_[np.argsort(-sizes[open_], kind="stable")[: abs(rest)]]] += step
    random = np.random.RandomState(0)
    chosen = [medoids]
    for cluster in np.flatnonzero(quota > 0):
        members = np.flatnonzero(labels == cluster)
        others = members[members != medoids[cluster]]
        chosen.append(random.choice(others, min(int(quota[cluster]) - 1, len(others)), replace=False))
    return np.sort(np.concatenate(chosen))


def distances_to_medoids(distance: Dissimilarity, medoids: Rows, rows: Rows) -> Float64s:
    """Distances d(medoid, row) as an array of shape (k, rows)."""
    return distance.exact_block(medoids, rows)


def place(
    clustering: Clustering, X: Any, distance: Dissimilarity, metric: Any, kind: str, limit: int = LIMIT
) -> Layout:
    """Put the points of a clustering on a plane."""
    rows = drawn_rows(clustering.labels, clustering.medoid_indices, limit)
    if metric == "haversine":
        latitude, longitude = np.asarray(X, dtype=np.float64)[rows].T
        return Layout(rows, np.column_stack([longitude, latitude]), "map", "East is right and north is up.")
    if kind == "vectors":
        return _principal(X, rows, metric)
    return _landmarks(clustering, distance, rows)


def _principal(X: Any, rows: Rows, metric: Any) -> Layout:
    part: Any = X[rows].astype(np.float64) if issparse(X) else np.asarray(X[rows], dtype=np.float64)
    if metric in _DIRECTIONS:
        part = normalize(part)
    if min(part.shape) < 3:
        dense: Float64s = part.toarray() if issparse(part) else part
        if dense.shape[1] >= 2 and len(dense) >= 2:
            xy = PCA(2).fit_transform(dense)
            return Layout(rows, xy, "PCA", "Directions of greatest variance.")
        # One number for each point: the height is only there to keep points apart.
        height = (np.arange(len(dense)) * 0.618034 % 1 - 0.5) * 0.3 * (np.ptp(dense) or 1.0)
        return Layout(rows, np.column_stack([dense[:, 0], height]), "line", "Only the horizontal position has meaning.")
    if issparse(part):
        varies = bool(mean_variance_axis(part, 0)[1].any())
    else:
        part = part - part.mean(axis=0)
        # Squares of very large or small numbers would overflow or vanish.
        part /= np.abs(part).max() or 1.0
        varies = bool(part.any())
    if not varies:
        return Layout(rows, np.zeros((len(rows), 2)), "PCA", "All points are equal.")
    model = PCA(2, svd_solver="arpack", random_state=0)
    with np.errstate(all="ignore"):
        xy = model.fit_transform(part)
        share = float(np.nan_to_num(model.explained_variance_ratio_).sum())
    note = f"The two directions of greatest variance, which hold {share:.0%} of it."
    return Layout(rows, np.nan_to_num(xy), "PCA", note)


def _landmarks(clustering: Clustering, distance: Dissimilarity, rows: Rows) -> Layout:
    """Place points by their distances to landmarks (de Silva and Tenenbaum 2004): the medoids and a few more."""
    medoids = clustering.medoid_indices
    wanted = _DEAR_LANDMARKS if distance.cost >= _DEAR else len(medoids) + _LANDMARKS
    others = np.setdiff1d(rows, medoids)
    extra = np.random.RandomState(0).permutation(others)[: max(wanted - len(medoids), 0)]
    landmarks = np.concatenate([medoids, extra])
    between = distance.exact_block(landmarks, landmarks)
    to_points = distance.exact_block(landmarks, rows)
    # Squares of very large or small numbers would overflow or vanish.
    unit = max(float(np.abs(between).max()), float(np.abs(to_points).max())) or 1.0
    between, to_points = between / unit, to_points / unit
    shift = min(float(between.min()), float(to_points.min()), 0.0)  # negative distances have no squares to speak of
    squares = (((between + between.T) / 2) - shift) ** 2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (squares - means - means[:, None] + means.mean()))
    top = values.argsort()[::-1][:2]
    scale = np.sqrt(np.maximum(values[top], 0))
    # An axis that is nearly nothing beside the first is rounding, which the division would blow up.
    axes = np.divide(vectors[:, top], scale, out=np.zeros_like(vectors[:, top]), where=scale > _FLAT * scale[0])
    xy = -0.5 * unit * ((to_points - shift) ** 2 - means[:, None]).T @ axes
    # The sign of an eigenvector is arbitrary: fix it, so that the same data give the same picture.
    xy *= np.where(xy[np.abs(xy).argmax(axis=0), np.arange(xy.shape[1])] < 0, -1, 1)
    if xy.shape[1] < 2:
        xy = np.column_stack([xy, np.zeros(len(xy))])
    note = f"Placed by distances to {len(landmarks)} landmarks, the medoids among them, as well as a plane allows."
    return Layout(rows, np.nan_to_num(xy), "Landmark MDS", note)
