"""The figures of the report in matplotlib.

`map`, `silhouette`, `loss` and `sizes` draw on an Axes and return it, `k_path` on two. Each has a display, such as
`MapDisplay`, whose ``from_estimator`` returns what was computed as well, as scikit-learn's displays do. Requires
matplotlib, which the extra ``report`` installs.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from medoids import k_medoids, plot
>>> X = load_iris().data
>>> found = k_medoids(X, 3)
>>> plot.map(found, X).get_title()
'3 medoids of 150 points'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medoids.displays import LossDisplay, MapDisplay, SilhouetteDisplay, SizesDisplay, pyplot
from medoids.reporting.palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from medoids.quality.k_path import KPath

__all__ = [
    "LossDisplay",
    "MapDisplay",
    "SilhouetteDisplay",
    "SizesDisplay",
    "k_path",
    "loss",
    "map",
    "silhouette",
    "sizes",
]


def map(clustering: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the points on a plane, with the medoids marked: by PCA for vectors, by landmark MDS for anything else.

    Parameters
    ----------
    clustering : Clustering or fitted KMedoids
    X : the data that it was fitted to
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    return MapDisplay.from_estimator(clustering, X, ax=ax).ax_


def silhouette(
    clustering: Any, X: Any, *, samples: int | None = None, random_state: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw the silhouettes of the points, sorted within each cluster, with their mean as a dashed line.

    Parameters
    ----------
    clustering : Clustering or fitted KMedoids
    X : the data that it was fitted to
    samples, random_state
        As in `medoids.silhouette`: how many points, and which.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from medoids import k_medoids, plot
    >>> X = load_iris().data
    >>> plot.silhouette(k_medoids(X, 3), X).get_legend().get_texts()[0].get_text()
    'mean 0.553'
    """
    return SilhouetteDisplay.from_estimator(clustering, X, samples=samples, random_state=random_state, ax=ax).ax_


def loss(clustering: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the mean distance after each step: circles where BUILD added a medoid, triangles where SWAP replaced one.

    Parameters
    ----------
    clustering : Clustering or fitted KMedoids
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    return LossDisplay.from_estimator(clustering, ax=ax).ax_


def sizes(clustering: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the number of points in each cluster.

    Parameters
    ----------
    clustering : Clustering or fitted KMedoids
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    return SizesDisplay.from_estimator(clustering, ax=ax).ax_


def k_path(path: KPath, *, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """Draw the loss and the silhouettes over the number of clusters, with the suggested numbers marked.

    Parameters
    ----------
    path : KPath
    axes : two matplotlib Axes, optional

    Returns
    -------
    sequence of two matplotlib.axes.Axes
    """
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(11, 3.8), layout="constrained")[1]
    ks, scores = path.scores["k"], path.scores
    left, right = axes
    left.plot(ks, scores["loss"], "o-", color=LIGHT[0])
    left.set(xlabel="number of clusters", ylabel="mean distance to the medoid")
    if len(ks) > 2:
        left.axvline(path.suggest("elbow"), color=LIGHT[0], linestyle=":", label=f"bend at {path.suggest('elbow')}")
        left.legend()
    right.errorbar(
        ks,
        scores["silhouette"],
        [1.96 * path.silhouettes[k].error if k > 1 else np.nan for k in ks.tolist()],
        fmt="s-",
        color=LIGHT[1],
        label="silhouette",
        capsize=2,
    )
    right.plot(ks, scores["medoid_silhouette"], "o-", color=LIGHT[2], label="medoid silhouette")
    right.set(xlabel="number of clusters", ylabel="mean silhouette")
    right.legend()
    return axes
