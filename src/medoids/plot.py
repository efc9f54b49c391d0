"""The figures of the report in matplotlib: `map`, `loss` and `sizes` draw on an Axes and return it, `k_path` on two.

Requires matplotlib, which the extra ``report`` installs.

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

from medoids.quality.fitted import clustering_of, measured, trace_of
from medoids.reporting.layout import place
from medoids.reporting.palette import LIGHT, MATPLOTLIB_MARKERS, colour_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from medoids.quality.k_path import KPath

__all__ = ["k_path", "loss", "map", "sizes"]


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
    found, distance, metric, checked = measured(clustering, X)
    ax = _axes(ax, (7, 5.5))
    layout = place(found, checked, distance, metric)
    labels = found.labels[layout.rows]
    styles: list[dict[str, Any]] = [
        {"color": LIGHT[colour_of(j)], "marker": MATPLOTLIB_MARKERS[shape_of(j)]}
        for j in range(len(found.medoid_indices))
    ]
    for j, style in enumerate(styles):
        x, y = layout.xy[labels == j].T
        ax.scatter(x, y, s=14, alpha=0.6, linewidths=0, **style)
    at = np.searchsorted(layout.rows, found.medoid_indices)
    for j, ((x, y), style) in enumerate(zip(layout.xy[at], styles, strict=True)):
        ax.scatter(x, y, s=130, edgecolors="white", linewidths=1.6, zorder=3, **style, label=f"medoid {j}")
        ax.annotate(str(j), (x, y), xytext=(0, 8), textcoords="offset points", ha="center", weight="bold", zorder=4)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[], title=f"{len(styles)} medoids of {len(found.labels):,} points")
    ax.set_xlabel(f"{layout.method}: {layout.note}", fontsize="small")
    return ax


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
    trace = trace_of(clustering)
    ax = _axes(ax, (6, 3.6))
    losses = np.array([step.loss for step in trace])
    steps = np.arange(1, len(trace) + 1)
    ax.plot(steps, losses, color=LIGHT[0], linewidth=1.5)
    for phase, marker, face in (("build", "o", "white"), ("swap", "^", LIGHT[0]), ("restart", "s", LIGHT[0])):
        at = np.array([step.phase == phase for step in trace], dtype=bool)
        if at.any():
            ax.plot(steps[at], losses[at], marker, color=LIGHT[0], markerfacecolor=face, label=phase.upper())
    ax.set(xlabel="step", ylabel="mean distance to the medoid")
    ax.legend()
    return ax


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
    found = clustering_of(clustering)
    ax = _axes(ax, (6, 3.6))
    counts = np.bincount(found.labels, minlength=len(found.medoid_indices))
    bars = ax.bar(np.arange(len(counts)), counts, color=[LIGHT[colour_of(j)] for j in range(len(counts))])
    if len(counts) <= 30:
        ax.bar_label(bars, fmt="{:,.0f}", fontsize="small")
        ax.set_xticks(np.arange(len(counts)))
    ax.set(xlabel="cluster", ylabel="points")
    return ax


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
        axes = _pyplot().subplots(1, 2, figsize=(11, 3.8), layout="constrained")[1]
    ks, scores = path.scores["k"], path.scores
    left, right = axes
    left.plot(ks, scores["loss"], "o-", color=LIGHT[0])
    left.set(xlabel="number of clusters", ylabel="mean distance to the medoid")
    if len(ks) > 2:
        left.axvline(path.suggest("elbow"), color=LIGHT[0], linestyle=":", label=f"bend at {path.suggest('elbow')}")
        left.legend()
    errors = [1.96 * path.silhouettes[k].error if k > 1 else np.nan for k in ks.tolist()]
    right.errorbar(ks, scores["silhouette"], errors, fmt="s-", color=LIGHT[1], label="silhouette", capsize=2)
    right.plot(ks, scores["medoid_silhouette"], "o-", color=LIGHT[2], label="medoid silhouette")
    right.set(xlabel="number of clusters", ylabel="mean silhouette")
    right.legend()
    return axes


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    return ax if ax is not None else _pyplot().subplots(figsize=size, layout="constrained")[1]


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError('medoids.plot needs matplotlib; install it with pip install "medoids[report]"') from None
    return pyplot
