"""The page of a report: HTML around what was found."""

from __future__ import annotations

import base64
import hashlib
import json
import platform
import re
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from medoids._version import __version__
from medoids.reporting.charts import (
    distance_strip,
    legend_mark,
    loss_chart,
    map_chart,
    shape_symbols,
    silhouette_chart,
)
from medoids.reporting.palette import DARK, LIGHT, SHAPES, colour_of
from medoids.reporting.wording import escaped, number, percent, shortened

if TYPE_CHECKING:  # a page is made for findings
    from collections.abc import Sequence

    from medoids.reporting.report import Findings
    from medoids.reporting.things import Things

__all__ = ["document", "medoid_cards", "page", "section"]

_DEFAULTS: dict[str, Any] = {
    "metric": "euclidean",
    "metric_params": None,
    "algorithm": "auto",
    "init": "build",
    "n_init": 1,
    "swap": "best",
    "max_iter": 300,
    "delta": None,
    "cache_width": 1000,
    "memory_limit": "2GiB",
    "random_state": None,
    "n_jobs": None,
}


def page(findings: Findings) -> str:
    """Return the whole file."""
    script = files("medoids.reporting").joinpath("page.js").read_text(encoding="utf-8")
    chart, data = _map(findings)
    sections = [
        _medoids(findings),
        chart,
        _clusters(findings),
        f'<div class="two">{_silhouettes(findings)}{_loss(findings)}</div>',
        f'<div class="two">{_counts(findings)}{_again(findings)}</div>',
    ]
    return document(findings.title, _header(findings), "".join(sections), data, script)


def document(title: str, header: str, body: str, data: Any = None, script: str = "") -> str:
    """Return a file that needs no other one: HTML around a header and sections."""
    style = files("medoids.reporting").joinpath("page.css").read_text(encoding="utf-8")
    for name, colours in (("LIGHT", LIGHT), ("DARK", DARK)):
        style = re.sub(rf"{name}(\d)", lambda match, c=colours: c[int(match[1])], style)  # type: ignore[misc]
    # Only this script may run, and nothing may be loaded: what escaping might miss stays text.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    scripted = ""
    if script:
        scripted = (
            f'<div id="tip" role="tooltip" hidden></div>\n'
            f'<script type="application/json" id="data">{_json(data)}</script>\n<script>{script}</script>'
        )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="medoids {__version__}">
<title>{escaped(title)}</title>
<style>{style}</style></head>
<body>{shape_symbols()}
{header}
<main>{body}</main>
<footer>Made by medoids {__version__}. This file needs no network and no other file.</footer>
{scripted}
</body></html>
"""


def _json(value: Any) -> str:
    """JSON that cannot end the element that it stands in."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def section(name: str, title: str, about: str, body: str) -> str:
    """Return a part of the page with its heading and what it is about."""
    return f'<section id="{name}"><h2>{title}</h2><p class="about">{about}</p>{body}</section>'


def _name(findings: Findings, row: int) -> str:
    return _row_name(findings.ids, row)


def _row_name(ids: Sequence[Any] | None, row: int) -> str:
    """What a row is called, as plain text."""
    return f"row {row:,}" if ids is None else shortened(str(ids[row]), 60)


def _metric(findings: Findings) -> str:
    metric = findings.clustering.parameters.get("metric", "euclidean")
    return str(metric) if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))


def _header(findings: Findings) -> str:
    found = findings.clustering
    n, k = len(found.labels), len(found.medoid_indices)
    sizes = np.bincount(found.labels, minlength=k)
    tiles = [
        ("points", f"{n:,}", findings.data),
        ("clusters", f"{k:,}", f"{sizes.min():,} to {sizes.max():,} points each"),
        (
            "mean distance to the medoid",
            number(found.loss),
            f"{_metric(findings)} distance; the sum is {number(found.inertia)}",
        ),
    ]
    if findings.silhouettes is not None:
        tiles.append(("medoid silhouette", f"{_overall(findings):.3f}", "1: far from other medoids, 0: on a border"))
    share = found.n_evaluations / n**2
    tiles.append(("distances computed", percent(share), f"{found.n_evaluations:,} of n² = {n**2:,}"))
    if found.trace:
        tiles.append(("swaps", f"{found.n_swaps:,}", f"last step after {found.trace[-1].seconds:.2f} s"))
    boxes = "".join(f"<div><dt>{a}</dt><dd>{escaped(b)}<small>{escaped(c)}</small></dd></div>" for a, b, c in tiles)
    warning = ""
    if not found.converged:
        warning = (
            '<p class="warning"><b>Not finished.</b> The search was stopped by max_iter, a callback or an interrupt: '
            "a further swap may lower the loss.</p>"
        )
    return (
        f'<header><p class="eyebrow">k-medoids report</p><h1>{escaped(findings.title)}</h1>'
        '<p class="lead">Each medoid is a real member of the data, the most central of its cluster; each point belongs '
        f"to its nearest medoid. <b>{escaped(found.algorithm)}</b> ran: {escaped(found.reason)}.</p>"
        f'{warning}<dl class="tiles">{boxes}</dl></header>'
    )


def _medoids(findings: Findings) -> str:
    things = findings.things
    about = f"The {things.noun} that stands for each cluster. It keeps its number, colour and shape below."
    return section("medoids", "Medoids", about, medoid_cards(things, findings.ids))


def medoid_cards(things: Things, ids: Sequence[Any] | None) -> str:
    """Show each medoid as what it is."""
    found = things.clustering
    sizes = np.bincount(found.labels, minlength=len(found.medoid_indices))
    cards = []
    for j, row in enumerate(found.medoid_indices):
        mean = float(found.distances[found.labels == j].mean()) if sizes[j] else 0.0
        facts = f"{sizes[j]:,} points, {percent(sizes[j] / len(found.labels))} · mean distance {number(mean)}"
        name = escaped(_row_name(ids, int(row)))
        cards.append(
            f'<li class="card k{colour_of(j)}" data-medoid="{j}"><h3>{legend_mark(j)} {j}'
            f'<span class="row" title="{name}">{name}</span></h3>'
            f'<p class="facts">{facts}</p>{things.card(j)}</li>'
        )
    wide = " wide" if things.wide else ""
    return f'<ol class="cards{wide}">{"".join(cards)}</ol>'


def _map(findings: Findings) -> tuple[str, dict[str, Any]]:
    found, layout, things = findings.clustering, findings.layout, findings.things
    rows = layout.rows
    labels = found.labels[rows]
    at = np.searchsorted(rows, found.medoid_indices)
    names = [f"medoid {j}: {_name(findings, int(row))}" for j, row in enumerate(found.medoid_indices)]
    chart, order = map_chart(layout.xy, labels, at.tolist(), names)
    medoids = set(found.medoid_indices.tolist())
    hover = []
    for row in rows[order].tolist():
        j = int(found.labels[row])
        kind = f"medoid {j}" if row in medoids else f"cluster {j}, distance {number(found.distances[row])}"
        hover.append([_name(findings, row), kind, things.line(row)])
    n = len(found.labels)
    drawn = "" if len(rows) == n else f" {len(rows):,} of {n:,} points are drawn, some of every cluster."
    about = f"{layout.method}: {escaped(layout.note)}{drawn} Point at one to see what it is; choose clusters below."
    legend = "".join(
        f'<button type="button" class="k{colour_of(j)}" data-focus="{j}" aria-pressed="false" '
        f'aria-label="show cluster {j} alone">{legend_mark(j)}{j}</button>'
        for j in range(len(found.medoid_indices))
    )
    body = f'<div class="panel map-panel">{chart}<div class="legend">{legend}</div></div>'
    data = {"hover": hover, "order": order.tolist(), "thumbnails": things.thumbnails(rows[order])}
    return section("map", "Map", about, body), data


def _overall(findings: Findings) -> float:
    """Mean silhouette, each cluster by its size: a small cluster has more than its share of points drawn."""
    sizes = np.bincount(findings.clustering.labels, minlength=len(findings.clustering.medoid_indices))
    return float(_means(findings) @ sizes / sizes.sum())


def _means(findings: Findings) -> Any:
    assert findings.silhouettes is not None
    k = len(findings.clustering.medoid_indices)
    labels = findings.clustering.labels[findings.layout.rows]
    return np.bincount(labels, findings.silhouettes, k) / np.maximum(np.bincount(labels, minlength=k), 1)


def _clusters(findings: Findings) -> str:
    found = findings.clustering
    k = len(found.medoid_indices)
    sizes = np.bincount(found.labels, minlength=k)
    weighted = bool((findings.weights != findings.weights[0]).any())
    masses = np.bincount(found.labels, findings.weights, k) if weighted else sizes
    low = min(0.0, float(found.distances.min()))
    # The longest line and some room: one far point would press all boxes together.
    reach = [float(np.quantile(found.distances[found.labels == j], 0.95)) for j in range(k) if sizes[j]]
    high = min(low + 1.25 * (max(reach) - low), float(found.distances.max()))
    means = _means(findings) if findings.silhouettes is not None else None
    lines = []
    for j, row in enumerate(found.medoid_indices.tolist()):
        members = found.distances[found.labels == j]
        quantiles = np.quantile(members, [0.05, 0.25, 0.5, 0.75, 0.95, 1]).tolist() if len(members) else [0.0] * 6
        words = (
            f"distances to medoid {j}: median {number(quantiles[2])}, half of them from {number(quantiles[1])} to "
            f"{number(quantiles[3])}, farthest {number(quantiles[5])}"
        )
        share = masses[j] / masses.max()
        name = escaped(findings.things.name(row) or _name(findings, row))
        weight = f'<td class="number wide-only">{number(float(masses[j]))}</td>' if weighted else ""
        silhouette = f'<td class="number wide-only">{means[j]:.3f}</td>' if means is not None else ""
        lines.append(
            f'<tr class="k{colour_of(j)}"><td><button type="button" data-focus="{j}" aria-pressed="false" '
            f'aria-label="show cluster {j} on the map">{legend_mark(j)}{j}</button></td>'
            f'<td class="name wide-only" title="{name}">{name}</td>'
            f'<td class="number">{sizes[j]:,}</td>{weight}'
            f'<td class="bars"><i class="bar" style="width:{100 * share:.1f}%"></i></td>'
            f'<td class="strips">{distance_strip(quantiles, low, high, words)}</td>'
            f'<td class="number">{number(float(members.mean()) if len(members) else 0.0)}</td>{silhouette}</tr>'
        )
    heads = ["<th>cluster</th>", '<th class="wide-only">medoid</th>', '<th class="number">points</th>']
    heads += ['<th class="number wide-only">weight</th>'] if weighted else []
    heads += [
        "<th></th>",
        f"<th>distance to the medoid, {number(low)} to {number(high)}</th>",
        '<th class="number">mean</th>',
    ]
    heads += ['<th class="number wide-only">silhouette</th>'] if means is not None else []
    about = (
        "Boxes hold the middle half of a cluster's distances with the median; lines reach from the 5th to the 95th "
        "percentile, and a tick marks the farthest point, at the edge where it lies beyond."
    )
    table = f'<table class="clusters"><thead><tr>{"".join(heads)}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return section("clusters", "Sizes and distances", about, f'<div class="panel">{table}</div>')


def _silhouettes(findings: Findings) -> str:
    if findings.silhouettes is None:
        return section("silhouette", "Silhouette", "There is no other medoid to compare with: k = 1.", "")
    labels = findings.clustering.labels[findings.layout.rows]
    overall = _overall(findings)
    chart = silhouette_chart(findings.silhouettes, labels, _means(findings), overall)
    about = (
        "How much nearer a point is to its medoid than to the next one, 1 − d₁/d₂. "
        f"The dashed line is the mean, {overall:.3f}."
    )
    return section("silhouette", "Silhouette", about, f'<div class="panel">{chart}</div>')


def _loss(findings: Findings) -> str:
    trace = findings.clustering.trace
    if not trace:
        return ""
    about = "The mean distance to the nearest medoid, exact after every step. It never rises."
    key = (
        f'<p class="key"><span><svg viewBox="-6 -6 12 12"><path d="{SHAPES[0]}"/></svg> BUILD adds a medoid</span>'
        f'<span><svg class="swap" viewBox="-6 -6 12 12"><path d="{SHAPES[2]}"/></svg> SWAP replaces one</span></p>'
    )
    return section("loss", "Loss after each step", about, f'<div class="panel">{loss_chart(trace)}{key}</div>')


def _counts(findings: Findings) -> str:
    found = findings.clustering
    n = len(found.labels)
    whole = max(n**2, found.n_evaluations)
    counts = {phase: count for phase, count in found.counts.items() if count.requested}
    bars = "".join(
        f'<i class="k{at % 8}" style="width:{100 * count.computed / whole:.2f}%" title="{escaped(phase)}"></i>'
        for at, (phase, count) in enumerate(counts.items())
        if count.computed
    )
    lines = "".join(
        f'<tr class="k{at % 8}"><td><i class="swatch"></i>{escaped(phase)}</td>'
        f'<td class="number">{count.computed:,}</td><td class="number">{percent(count.computed / n**2)}</td>'
        f'<td class="number">{count.cached:,}</td></tr>'
        for at, (phase, count) in enumerate(counts.items())
    )
    about = f"All pairs of {n:,} points would be n² = {n**2:,} distances, the full width of the bar."
    words = f"{found.n_evaluations:,} distances computed, {percent(found.n_evaluations / n**2)} of all pairs"
    table = (
        '<table class="plain"><thead><tr><th>phase</th><th class="number">computed</th><th class="number">of n²</th>'
        f'<th class="number">from cache</th></tr></thead><tbody>{lines}</tbody></table>'
    )
    body = f'<div class="panel"><div class="shares" role="img" aria-label="{words}">{bars}</div>{table}</div>'
    return section("distances", "Distances computed", about, body)


def _again(findings: Findings) -> str:
    found = findings.clustering
    parameters = {
        name: value for name, value in found.parameters.items() if name not in ("n_clusters", "callback", "verbose")
    }
    told = [f"{name}={_code(value)}" for name, value in parameters.items() if _differs(name, value)]
    call = ", ".join(["X", str(len(found.medoid_indices)), *told])
    code = f"from medoids import k_medoids\n\nfound = k_medoids({call})"
    parts = [f'<pre class="code">{escaped(code)}</pre>']
    if findings.command:
        parts.insert(0, f'<pre class="code">{escaped(findings.command)}</pre>')
    seed = found.parameters.get("random_state")
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    facts = {
        "data": findings.data,
        "algorithm": found.algorithm,
        "metric": _metric(findings) + (f", {parameters['metric_params']}" if parameters.get("metric_params") else ""),
        "seed": "none: random choices differ from run to run" if seed is None else seed,
        "medoids": "medoids " + __version__,
        "Python": f"{platform.python_version()}, {platform.machine()}, {platform.system()}",
        "libraries": ", ".join(f"{name} {number_}" for name, number_ in versions.items()),
    }
    lines = "".join(f'<tr><th scope="row">{name}</th><td>{escaped(value)}</td></tr>' for name, value in facts.items())
    parts.append(f'<table class="plain">{lines}</table>')
    about = "The same data, parameters and seed give the same medoids on any number of threads."
    return section("again", "Do it again", about, f'<div class="panel">{"".join(parts)}</div>')


def _differs(name: str, value: Any) -> bool:
    default = _DEFAULTS.get(name)
    return not (value is default or (isinstance(value, (str, int, float)) and value == default))


def _code(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return getattr(value, "__name__", repr(value)) if callable(value) else repr(value)
