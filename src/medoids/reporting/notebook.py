"""A clustering as a notebook shows it: a line, a table of the clusters, and a small map of the points."""

from __future__ import annotations

from html import escape

import numpy as np

from medoids.quality.fitted import measured
from medoids.reporting.layout import place
from medoids.reporting.palette import LIGHT, colour_of
from medoids.result import Clustering, remembered_data

__all__ = ["clustering_html"]

# Lines of the table, and points of the map: a cell of a notebook is stored with what it shows.
_MOST_LINES = 15
_MOST_POINTS = 1_000
_MAP_WIDTH, _MAP_HEIGHT = 320, 220


def clustering_html(found: Clustering) -> str:
    """Return medoids, sizes, loss and, while the data are in memory, a map."""
    return (
        f'<div><p style="margin: 0 0 .5em"><strong>{len(found.medoid_indices)} medoids of {len(found.labels):,} rows'
        f"</strong>: loss {found.loss:.6g} (inertia {found.inertia:.6g}), {escape(found.algorithm)}, "
        f"{found.n_swaps} swaps, {'converged' if found.converged else 'not converged'}</p>"
        '<div style="display: flex; flex-wrap: wrap; gap: 2em; align-items: flex-start">'
        f'<div style="flex: none">{_table(found)}</div>{_map(found)}</div></div>'
    )


def _table(found: Clustering) -> str:
    k = len(found.medoid_indices)
    sizes = np.bincount(found.labels, minlength=k)
    means = np.bincount(found.labels, found.distances, k) / np.maximum(sizes, 1)
    lines = []
    for j, medoid in enumerate(found.medoid_indices[:_MOST_LINES]):
        dot = f'<span aria-hidden="true" style="color: {LIGHT[colour_of(j)]}">&#9679;</span>'
        lines.append(f"<tr><td>{dot} {j}</td><td>{medoid}</td><td>{sizes[j]:,}</td><td>{means[j]:.4g}</td></tr>")
    if k > _MOST_LINES:
        lines.append(f'<tr><td colspan="4">and {k - _MOST_LINES} more</td></tr>')
    names = "".join(f'<th scope="col">{name}</th>' for name in ("cluster", "medoid (row)", "size", "mean distance"))
    return f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _map(found: Clustering) -> str:
    """Draw some of the points, if their data are still in memory and distances cost no call of the user's function."""
    X, metric = remembered_data(found), found.parameters.get("metric", "euclidean")
    if X is None or not isinstance(metric, str):
        return ""
    try:
        _, distance, _, checked = measured(found, X)
    except ValueError:  # the data have changed since
        return ""
    layout = place(found, checked, distance, metric, _MOST_POINTS)
    low, high = layout.xy.min(axis=0), layout.xy.max(axis=0)
    scale = min((_MAP_WIDTH - 20) / max(high[0] - low[0], 1e-300), (_MAP_HEIGHT - 20) / max(high[1] - low[1], 1e-300))
    if not np.isfinite(scale):
        return ""
    x, y = ((layout.xy - (low + high) / 2) * scale * [1, -1]).T
    labels, points, medoids = found.labels[layout.rows], "", ""
    for j, i in enumerate(np.searchsorted(layout.rows, found.medoid_indices)):
        path = "".join(f"M{a:.0f},{b:.0f}h0" for a, b in zip(x[labels == j], y[labels == j], strict=True))
        colour = LIGHT[colour_of(j)]
        points += (
            f'<path d="{path}" stroke="{colour}" stroke-linecap="round" fill="none" stroke-width="4" opacity=".6"/>'
        )
        medoids += (
            f'<circle cx="{x[i]:.0f}" cy="{y[i]:.0f}" r="6" fill="{colour}" stroke="currentColor" stroke-width="1.5">'
            f"<title>medoid {j}</title></circle>"
        )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="{-_MAP_WIDTH / 2:g} {-_MAP_HEIGHT / 2:g} {_MAP_WIDTH} {_MAP_HEIGHT}" '
        f'width="{_MAP_WIDTH}" height="{_MAP_HEIGHT}" role="img" '
        f'aria-label="Map of the points ({layout.method}) with the medoids of {len(found.medoid_indices)} clusters">'
        f"{points}{medoids}</svg>"
    )
