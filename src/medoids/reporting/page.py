"""The page of a clustering."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import Any

import numpy as np

from medoids._version import __version__
from medoids.engine.arrays import Float64s
from medoids.reporting.charts import distance_strip, legend_mark, loss_chart, map_chart, silhouette_chart
from medoids.reporting.document import (
    chart_key,
    document,
    medoid_cards,
    own_file,
    repetition,
    row_name,
    section,
    tiles,
)
from medoids.reporting.formatting import escape, format_number, format_percent
from medoids.reporting.layout import PlaneLayout
from medoids.reporting.palette import colour_of
from medoids.reporting.things import Things
from medoids.result import CLOSED_GAP, Clustering
from medoids.settings import Settings

__all__ = ["Findings", "page"]


@dataclass(frozen=True)
class Findings:
    """What the page shows.

    Attributes
    ----------
    silhouettes : ndarray of shape (drawn,) or None
        1 - d1 / d2 of the drawn points; None for a single cluster.
    """

    clustering: Clustering
    weights: Float64s
    layout: PlaneLayout
    silhouettes: Float64s | None
    things: Things
    ids: Sequence[Any] | None
    title: str
    data: str
    command: str | None

    @property
    def sizes(self) -> Any:
        return np.bincount(self.clustering.labels, minlength=len(self.clustering.medoid_indices))

    @property
    def mean_silhouettes(self) -> Float64s:
        """The mean silhouette of each cluster."""
        labels, k = self.clustering.labels[self.layout.rows], len(self.clustering.medoid_indices)
        return np.bincount(labels, self.silhouettes, k) / np.maximum(np.bincount(labels, minlength=k), 1)

    @property
    def mean_silhouette(self) -> float:
        """The mean over clusters, weighted by size: more than their share of small clusters is drawn."""
        return float(self.mean_silhouettes @ self.sizes / self.sizes.sum())


def page(findings: Findings) -> str:
    """Return the whole file."""
    about = f"The {findings.things.noun} that represents each cluster. It keeps its number, colour and shape below."
    chart, data = _map(findings)
    body = (
        f"{section('medoids', 'Medoids', about, medoid_cards(findings.things, findings.ids), panel=False)}"
        f"{chart}{_clusters(findings)}"
        f'<div class="two">{_silhouettes(findings)}{_loss(findings) if findings.clustering.trace else ""}</div>'
        f'<div class="two">{_counts(findings)}{_again(findings)}</div>'
    )
    return document(findings.title, _header(findings), body, data, own_file("page.js"))


def _metric(found: Clustering) -> str:
    metric = found.parameters.get("metric", "euclidean")
    return str(metric) if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))


def _header(findings: Findings) -> str:
    found = findings.clustering
    n, sizes = len(found.labels), findings.sizes
    facts = [
        ("points", f"{n:,}", findings.data),
        ("clusters", f"{len(sizes):,}", f"{sizes.min():,} to {sizes.max():,} points each"),
        (
            "mean distance to the medoid",
            format_number(found.loss),
            f"{_metric(found)} distance; the sum is {format_number(found.inertia)}",
        ),
    ]
    warning = (
        "<b>Not converged.</b> The search was stopped by max_iter, a time limit, a callback or an interrupt: a further "
        "swap may lower the loss."
    )
    if findings.silhouettes is not None:
        facts.append(
            ("medoid silhouette", f"{findings.mean_silhouette:.3f}", "1: far from other medoids, 0: on a border")
        )
    if found.gap is not None:
        facts.append(("gap to the optimum", *_proof(found, found.gap)))
        warning = (
            "<b>Not proved.</b> The search ended before the gap that was asked for was reached: other medoids may have "
            "a lower loss, by at most the gap."
        )
    facts.append(
        (
            "distances computed",
            format_percent(found.n_evaluations / n**2),
            f"{found.n_evaluations:,} of n² = {n**2:,}",
        )
    )
    if found.trace:
        restarts = f"; {found.n_restarts:,} restarts" if found.n_restarts else ""
        facts.append(("swaps", f"{found.n_swaps:,}", f"last step after {found.trace[-1].seconds:.2f} s{restarts}"))
    return (
        f'<header><p class="eyebrow">k-medoids report</p><h1>{escape(findings.title)}</h1>'
        '<p class="lead">Each medoid is a real member of the data, the most central of its cluster; each point belongs '
        f"to its nearest medoid. <b>{escape(found.algorithm)}</b> ran: {escape(found.reason)}.</p>"
        + ("" if found.converged else f'<p class="warning">{warning}</p>')
        + f"{tiles(facts)}</header>"
    )


def _proof(found: Clustering, gap: float) -> tuple[str, str]:
    """Return the gap of a result of "optimal", and what is known of it."""
    if gap == np.inf:
        return "unknown", "no lower bound on the loss was found"
    bound = f"no {len(found.medoid_indices)} medoids have a mean below {format_number(found.lower_bound)}"
    if gap <= CLOSED_GAP:
        return "0", f"proved optimal: {bound}"
    return f"{100 * gap:.2g}%", f"{'proved' if found.proved else 'not yet what was asked for'}: {bound}"


def _map(findings: Findings) -> tuple[str, dict[str, Any]]:
    found, layout, things, ids = findings.clustering, findings.layout, findings.things, findings.ids
    rows, n, medoids = layout.rows, len(found.labels), found.medoid_indices.tolist()
    names = [f"medoid {j}: {row_name(ids, row)}" for j, row in enumerate(medoids)]
    chart, order = map_chart(layout.xy, found.labels[rows], np.searchsorted(rows, medoids).tolist(), names)
    hover = [
        [
            row_name(ids, row),
            f"medoid {label}" if row in medoids else f"cluster {label}, distance {format_number(found.distances[row])}",
            things.line(row),
        ]
        for row, label in zip(rows[order].tolist(), found.labels[rows[order]].tolist(), strict=True)
    ]
    drawn = "" if len(rows) == n else f" {len(rows):,} of {n:,} points are drawn, including some of every cluster."
    about = f"{layout.method}: {escape(layout.note)}{drawn} Point at one to see what it is; choose clusters below."
    legend = "".join(
        f'<button type="button" class="k{colour_of(j)}" data-focus="{j}" aria-pressed="false" '
        f'aria-label="show only cluster {j}">{legend_mark(j)}{j}</button>'
        for j in range(len(medoids))
    )
    body = f'<div class="panel map-panel">{chart}<div class="legend">{legend}</div></div>'
    return section("map", "Map", about, body, panel=False), {
        "hover": hover,
        "order": order.tolist(),
        "thumbnails": things.thumbnails(rows[order]),
    }


def _clusters(findings: Findings) -> str:
    found, sizes = findings.clustering, findings.sizes
    weighted = bool((findings.weights != findings.weights[0]).any())
    masses = np.bincount(found.labels, findings.weights, len(sizes)) if weighted else sizes
    members = [found.distances[found.labels == j] if sizes[j] else np.zeros(1) for j in range(len(sizes))]
    quantiles = [np.quantile(each, [0.05, 0.25, 0.5, 0.75, 0.95, 1]).tolist() for each in members]
    low = min(0.0, float(found.distances.min()))
    # The axis ends a little beyond the longest whisker: one distant point would squeeze all boxes.
    high = min(low + 1.25 * (max(each[4] for each in quantiles) - low), float(found.distances.max()))
    means = None if findings.silhouettes is None else findings.mean_silhouettes
    lines = []
    for j, row in enumerate(found.medoid_indices.tolist()):
        q25, q50, q75, _, q100 = (format_number(q) for q in quantiles[j][1:])
        text = f"distances to medoid {j}: median {q50}, half of them from {q25} to {q75}, farthest {q100}"
        name = escape(findings.things.name(row) or row_name(findings.ids, row))
        weight = f'<td class="number wide-only">{format_number(masses[j])}</td>' if weighted else ""
        silhouette = f'<td class="number wide-only">{means[j]:.3f}</td>' if means is not None else ""
        lines.append(
            f'<tr class="k{colour_of(j)}"><td><button type="button" data-focus="{j}" aria-pressed="false" '
            f'aria-label="show cluster {j} on the map">{legend_mark(j)}{j}</button></td>'
            f'<td class="name wide-only" title="{name}">{name}</td>'
            f'<td class="number">{sizes[j]:,}</td>{weight}'
            f'<td class="bars"><i class="bar" style="width:{100 * masses[j] / masses.max():.1f}%"></i></td>'
            f'<td class="strips">{distance_strip(quantiles[j], low, high, text)}</td>'
            f'<td class="number">{format_number(members[j].mean())}</td>{silhouette}</tr>'
        )
    heads = [
        '<th>cluster</th><th class="wide-only">medoid</th><th class="number">points</th>',
        '<th class="number wide-only">weight</th>' if weighted else "",
        f"<th></th><th>distance to the medoid, {format_number(low)} to {format_number(high)}</th>",
        '<th class="number">mean</th>',
        '<th class="number wide-only">silhouette</th>' if means is not None else "",
    ]
    return section(
        "clusters",
        "Sizes and distances",
        "Boxes span the middle half of the distances in a cluster, with the median; lines span the 5th to the 95th "
        "percentile, and a tick marks the farthest point, at the edge if it lies beyond.",
        f'<table class="clusters"><thead><tr>{"".join(heads)}</tr></thead><tbody>{"".join(lines)}</tbody></table>',
    )


def _silhouettes(findings: Findings) -> str:
    if findings.silhouettes is None:
        return section(
            "silhouette",
            "Silhouette",
            "With a single cluster, there is no other medoid to compare with.",
            "",
            panel=False,
        )
    labels, mean = findings.clustering.labels[findings.layout.rows], findings.mean_silhouette
    return section(
        "silhouette",
        "Silhouette",
        "How much nearer a point is to its medoid than to the next one, 1 − d₁/d₂. "
        f"The dashed line is the mean, {mean:.3f}.",
        silhouette_chart(findings.silhouettes, labels, findings.mean_silhouettes, mean),
    )


def _loss(findings: Findings) -> str:
    chart = loss_chart(findings.clustering.trace) + chart_key("BUILD adds a medoid", "SWAP replaces one", shape=2)
    return section(
        "loss",
        "Loss after each step",
        "The exact mean distance to the nearest medoid after every step. It never rises.",
        chart,
    )


def _counts(findings: Findings) -> str:
    found, n = findings.clustering, len(findings.clustering.labels)
    whole = max(n**2, found.n_evaluations)
    bars, lines = "", ""
    for at, (phase, count) in enumerate((p, c) for p, c in found.counts.items() if c.requested):
        name, colour = escape(phase), f"k{at % 8}"
        if count.computed:
            bars += f'<i class="{colour}" style="width:{100 * count.computed / whole:.2f}%" title="{name}"></i>'
        lines += (
            f'<tr class="{colour}"><td><i class="swatch"></i>{name}</td>'
            f'<td class="number">{count.computed:,}</td><td class="number">{format_percent(count.computed / n**2)}</td>'
            f'<td class="number">{count.cached:,}</td></tr>'
        )
    text = f"{found.n_evaluations:,} distances computed, {format_percent(found.n_evaluations / n**2)} of all pairs"
    return section(
        "distances",
        "Distances computed",
        f"All pairs of {n:,} points are n² = {n**2:,} distances, the full width of the bar.",
        f'<div class="shares" role="img" aria-label="{text}">{bars}</div>'
        '<table class="plain"><thead><tr><th>phase</th><th class="number">computed</th><th class="number">of n²</th>'
        f'<th class="number">from cache</th></tr></thead><tbody>{lines}</tbody></table>',
    )


def _again(findings: Findings) -> str:
    found = findings.clustering
    defaults = {field.name: field.default for field in fields(Settings)}
    keywords = [
        f"{name}={_code(value)}"
        for name, value in found.parameters.items()
        if name not in ("n_clusters", "callback", "verbose") and _code(value) != _code(defaults.get(name))
    ]
    seed, metric_params = found.parameters.get("random_state"), found.parameters.get("metric_params")
    facts = {
        "data": findings.data,
        "algorithm": found.algorithm,
        "metric": _metric(found) + (f", {metric_params}" if metric_params else ""),
        "seed": "none: random choices differ from run to run" if seed is None else seed,
        "medoids": f"medoids {__version__}",
        "Python": f"{platform.python_version()}, {platform.machine()}, {platform.system()}",
        "libraries": ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba")),
    }
    lines = "".join(f'<tr><th scope="row">{name}</th><td>{escape(value)}</td></tr>' for name, value in facts.items())
    arguments = ", ".join(["X", str(len(found.medoid_indices)), *keywords])
    return repetition(
        [findings.command, f"from medoids import k_medoids\n\nfound = k_medoids({arguments})"],
        f'<table class="plain">{lines}</table>',
    )


def _code(value: Any) -> str:
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return getattr(value, "__name__", repr(value)) if callable(value) else repr(value)
