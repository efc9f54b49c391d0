"""The figures as objects, after the habit of scikit-learn: ``from_estimator`` computes, ``plot`` draws.

A display keeps what it computed, so that it can be drawn again on other axes. After `plot`, ``ax_`` and ``figure_`` are
where it was drawn. The functions of `medoids.plot` do both steps at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from medoids.quality.fitted import clustering_of, measured, trace_of
from medoids.quality.silhouettes import Silhouette, silhouette
from medoids.reporting.layout import PlaneLayout, place
from medoids.reporting.palette import LIGHT, MATPLOTLIB_MARKERS, colour_of, shape_of
from medoids.result import Clustering, TraceRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LossDisplay", "MapDisplay", "SilhouetteDisplay", "SizesDisplay", "pyplot"]


@dataclass(eq=False)
class _Display:
    """Where a figure was drawn."""

    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def _drawn_on(self, ax: Axes | None, size: tuple[float, float]) -> Axes:
        self.ax_ = ax if ax is not None else pyplot().subplots(figsize=size, layout="constrained")[1]
        self.figure_ = self.ax_.figure  # type: ignore[assignment]
        return self.ax_


@dataclass(eq=False)
class MapDisplay(_Display):
    """The points on a plane, with the medoids marked.

    Attributes
    ----------
    clustering : Clustering
    layout : PlaneLayout
        ``rows`` that are drawn, where (``xy``), and by which ``method``.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from medoids import KMedoids
    >>> from medoids.plot import MapDisplay
    >>> X = load_iris().data
    >>> display = MapDisplay.from_estimator(KMedoids(3).fit(X), X)
    >>> display.ax_.get_title()
    '3 medoids of 150 points'
    """

    clustering: Clustering
    layout: PlaneLayout

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Axes | None = None) -> MapDisplay:
        """Place the points of a fitted KMedoids, or of a Clustering, and draw them.

        Parameters
        ----------
        estimator : fitted KMedoids or Clustering
        X : the data that it was fitted to
        ax : matplotlib Axes, optional

        Returns
        -------
        MapDisplay
        """
        found, distance, metric, checked = measured(estimator, X)
        return cls(found, place(found, checked, distance, metric)).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> MapDisplay:
        """Draw the map, on new axes unless some are given."""
        ax = self._drawn_on(ax, (7, 5.5))
        found, layout = self.clustering, self.layout
        labels = found.labels[layout.rows]
        styles: list[dict[str, Any]] = [
            {"color": LIGHT[colour_of(j)], "marker": MATPLOTLIB_MARKERS[shape_of(j)]}
            for j in range(len(found.medoid_indices))
        ]
        for j, style in enumerate(styles):
            ax.scatter(layout.xy[labels == j, 0], layout.xy[labels == j, 1], s=14, alpha=0.6, linewidths=0, **style)
        at = np.searchsorted(layout.rows, found.medoid_indices)
        for j, ((x, y), style) in enumerate(zip(layout.xy[at], styles, strict=True)):
            ax.scatter(x, y, s=130, edgecolors="white", linewidths=1.6, zorder=3, **style, label=f"medoid {j}")
            ax.annotate(str(j), (x, y), xytext=(0, 8), textcoords="offset points", ha="center", weight="bold", zorder=4)
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xticks=[], yticks=[], title=f"{len(styles)} medoids of {len(found.labels):,} points")
        ax.set_xlabel(f"{layout.method}: {layout.note}", fontsize="small")
        return self


@dataclass(eq=False)
class SilhouetteDisplay(_Display):
    """The silhouettes of the points, sorted within each cluster, with their mean.

    Attributes
    ----------
    clustering : Clustering
    silhouette : Silhouette
        Of all points, or of those that were drawn.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    clustering: Clustering
    silhouette: Silhouette

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, samples: int | None = None, random_state: Any = None, ax: Axes | None = None
    ) -> SilhouetteDisplay:
        """Compute the silhouettes of a fitted KMedoids, or of a Clustering, and draw them.

        Parameters
        ----------
        estimator : fitted KMedoids or Clustering
        X : the data that it was fitted to
        samples, random_state
            As in `medoids.silhouette`: how many points, and which.
        ax : matplotlib Axes, optional

        Returns
        -------
        SilhouetteDisplay
        """
        values = silhouette(estimator, X, samples=samples, random_state=random_state)
        return cls(clustering_of(estimator), values).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> SilhouetteDisplay:
        """Draw the silhouettes, on new axes unless some are given."""
        ax = self._drawn_on(ax, (6, 5))
        labels = self.clustering.labels[self.silhouette.rows]
        k = len(self.clustering.medoid_indices)
        gap = max(1, len(labels) // 100)
        bottom, middles = 0, []
        for j in range(k):
            values = np.sort(self.silhouette.samples[labels == j])
            ax.fill_betweenx(np.arange(bottom, bottom + len(values)), values, color=LIGHT[colour_of(j)], linewidth=1)
            middles.append(bottom + len(values) / 2)
            bottom += len(values) + gap
        mean = self.silhouette.value
        ax.axvline(mean, color="black", linestyle="--", linewidth=1, label=f"mean {mean:.3f}")
        ax.set(xlabel="silhouette", ylabel="cluster", ylim=(bottom, -gap))
        ax.set_yticks(middles if k <= 30 else [], [str(j) for j in range(k)] if k <= 30 else [])
        ax.legend()
        return self


@dataclass(eq=False)
class LossDisplay(_Display):
    """The mean distance after each step: circles where BUILD added a medoid, triangles where SWAP replaced one.

    Attributes
    ----------
    trace : list of TraceRecord
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    trace: list[TraceRecord]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> LossDisplay:
        """Draw the steps of a fitted KMedoids, or of a Clustering.

        Parameters
        ----------
        estimator : fitted KMedoids or Clustering
        ax : matplotlib Axes, optional

        Returns
        -------
        LossDisplay
        """
        return cls(trace_of(estimator)).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> LossDisplay:
        """Draw the curve, on new axes unless some are given."""
        ax = self._drawn_on(ax, (6, 3.6))
        losses = np.array([step.loss for step in self.trace])
        steps = np.arange(1, len(self.trace) + 1)
        ax.plot(steps, losses, color=LIGHT[0], linewidth=1.5)
        for phase, marker, face in (("build", "o", "white"), ("swap", "^", LIGHT[0]), ("restart", "s", LIGHT[0])):
            at = np.array([step.phase == phase for step in self.trace], dtype=bool)
            if at.any():
                ax.plot(steps[at], losses[at], marker, color=LIGHT[0], markerfacecolor=face, label=phase.upper())
        ax.set(xlabel="step", ylabel="mean distance to the medoid")
        ax.legend()
        return self


@dataclass(eq=False)
class SizesDisplay(_Display):
    """The number of points in each cluster.

    Attributes
    ----------
    sizes : ndarray of shape (k,)
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    sizes: Any

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> SizesDisplay:
        """Count the points of each cluster of a fitted KMedoids, or of a Clustering, and draw the counts.

        Parameters
        ----------
        estimator : fitted KMedoids or Clustering
        ax : matplotlib Axes, optional

        Returns
        -------
        SizesDisplay
        """
        found = clustering_of(estimator)
        return cls(np.bincount(found.labels, minlength=len(found.medoid_indices))).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> SizesDisplay:
        """Draw the bars, on new axes unless some are given."""
        ax = self._drawn_on(ax, (6, 3.6))
        at = np.arange(len(self.sizes))
        bars = ax.bar(at, self.sizes, color=[LIGHT[colour_of(j)] for j in range(len(at))])
        if len(at) <= 30:
            ax.bar_label(bars, fmt="{:,.0f}", fontsize="small")
            ax.set_xticks(at)
        ax.set(xlabel="cluster", ylabel="points")
        return self


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError('medoids.plot needs matplotlib; install it with pip install "medoids[report]"') from None
    return pyplot
