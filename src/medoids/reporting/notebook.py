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
    state = "converged" if found.converged else "not converged"
    head = (
        f"<strong>{len(found.medoid_indices)} medoids of {len(found.labels):,} rows</strong>: loss {found.loss:.6g} "
        f"(inertia {found.inertia:.6g}), {escape(found.algorithm)}, {found.n_swaps} swaps, {state}"
    )
    body = f'<div style="flex: none">{_table(found)}</div>{_map(found)}'
    row = "display: flex; flex-wrap: wrap; gap: 2em; align-items: flex-start"
    return f'<div><p style="margin: 0 0 .5em">{head}</p><div style="{row}">{body}</div></div>'


def _table(found: Clustering) -> str:
    sizes = np.bincount(found.labels, minlength=len(found.medoid_indices))
    sums = np.bincount(found.labels, found.distances, minlength=len(found.medoid_indices))
    lines = []
    for j, medoid in enumerate(found.medoid_indices[:_MOST_LINES]):
        mean = sums[j] / sizes[j] if sizes[j] else 0.0
        dot = f'<span aria-hidden="true" style="color: {LIGHT[colour_of(j)]}">&#9679;</span>'
        lines.append(f"<tr><td>{dot} {j}</td><td>{medoid}</td><td>{sizes[j]:,}</td><td>{mean:.4g}</td></tr>")
    more = len(found.medoid_indices) - len(lines)
    if more > 0:
        lines.append(f'<tr><td colspan="4">and {more} more</td></tr>')
    names = "".join(f'<th scope="col">{name}</th>' for name in ("cluster", "medoid (row)", "size", "mean distance"))
    return f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _map(found: Clustering) -> str:
    """Draw some of the points, if their data are still in memory and distances cost no call of the user's function."""
    X = remembered_data(found)
    metric = found.parameters.get("metric", "euclidean")
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
    labels = found.labels[layout.rows]
    at = np.searchsorted(layout.rows, found.medoid_indices)
    parts = []
    for j in range(len(at)):
        points = "".join(f"M{a:.0f},{b:.0f}h0" for a, b in zip(x[labels == j], y[labels == j], strict=True))
        colour = f'stroke="{LIGHT[colour_of(j)]}" stroke-linecap="round" fill="none"'
        parts.append(f'<path d="{points}" {colour} stroke-width="4" opacity=".6"/>')
    for j, i in enumerate(at):
        style = f'fill="{LIGHT[colour_of(j)]}" stroke="currentColor" stroke-width="1.5"'
        parts.append(f'<circle cx="{x[i]:.0f}" cy="{y[i]:.0f}" r="6" {style}><title>medoid {j}</title></circle>')
    text = f"Map of the points ({layout.method}) with the medoids of {len(at)} clusters"
    box = f"{-_MAP_WIDTH / 2:g} {-_MAP_HEIGHT / 2:g} {_MAP_WIDTH} {_MAP_HEIGHT}"
    size = f'viewBox="{box}" width="{_MAP_WIDTH}" height="{_MAP_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{text}">{"".join(parts)}</svg>'
