"""The page of a path: what speaks for which number of clusters, and the medoids for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medoids.quality.k_path import KPath
from medoids.reporting.charts import curve_chart
from medoids.reporting.page import document, medoid_cards, section
from medoids.reporting.palette import SHAPES
from medoids.reporting.things import Things
from medoids.reporting.wording import escaped, number, percent

__all__ = ["choice_page"]


def choice_page(
    path: KPath, things: Mapping[int, Things], ids: Sequence[Any] | None, title: str, data: str, command: str | None
) -> str:
    """Return the whole file."""
    n = len(next(iter(path.clusterings.values())).labels)
    ks = path.scores["k"].tolist()
    compared = ks[-1] > 1
    chosen = path.suggest() if compared else ks[0]
    reasons = [path.explain("medoid_silhouette"), path.explain("silhouette")] if compared else []
    reasons += [path.explain("elbow")] if len(ks) > 2 else []
    tiles = [
        ("points", f"{n:,}", data),
        ("suggested", f"k = {chosen}", f"of {ks[0]} to {ks[-1]}, by the medoid silhouette"),
        (
            "distances computed",
            percent(path.n_evaluations / n**2),
            f"{path.n_evaluations:,} of n² = {n**2:,}, for all k",
        ),
    ]
    boxes = "".join(f"<div><dt>{a}</dt><dd>{escaped(b)}<small>{escaped(c)}</small></dd></div>" for a, b, c in tiles)
    said = "".join(f"<li>{escaped(reason)}</li>" for reason in reasons)
    header = (
        f'<header><p class="eyebrow">k-medoids: how many clusters?</p><h1>{escaped(title)}</h1>'
        f'<ul class="lead">{said}</ul><dl class="tiles">{boxes}</dl></header>'
    )
    body = _curves(path, ks, chosen) + _scores(path, ks, chosen) + _medoids(things, ids, chosen) + _again(command)
    return document(title, header, body)


def _curves(path: KPath, ks: list[int], chosen: int) -> str:
    bend = path.suggest("elbow") if len(ks) > 2 else chosen
    loss = curve_chart(ks, {"loss": path.scores["loss"].tolist()}, bend, f"Loss for {ks[0]} to {ks[-1]} clusters")
    parts = [
        section(
            "loss",
            "Loss",
            "The mean distance to the nearest medoid. It falls with more clusters; at the dashed line it bends most.",
            f'<div class="panel">{loss}</div>',
        )
    ]
    if ks[-1] > 1:
        curves = {
            "medoid silhouette": path.scores["medoid_silhouette"].tolist(),
            "silhouette": path.scores["silhouette"].tolist(),
        }
        chart = curve_chart(ks, curves, chosen, f"Silhouettes for {ks[0]} to {ks[-1]} clusters")
        key = (
            f'<p class="key"><span><svg viewBox="-6 -6 12 12"><path d="{SHAPES[0]}"/></svg> medoid silhouette</span>'
            f'<span><svg class="swap" viewBox="-6 -6 12 12"><path d="{SHAPES[1]}"/></svg> silhouette</span></p>'
        )
        about = "How much nearer points are to their own cluster than to the next. The dashed line is the suggestion."
        parts.append(section("silhouettes", "Silhouettes", about, f'<div class="panel">{chart}{key}</div>'))
    return f'<div class="two">{"".join(parts)}</div>'


def _scores(path: KPath, ks: list[int], chosen: int) -> str:
    lines = []
    for at, k in enumerate(ks):
        row = {name: column[at] for name, column in path.scores.items()}
        error = path.silhouettes[k].error if k in path.silhouettes else 0.0
        width = f" ± {1.96 * error:.3f}" if error else ""
        two = ["", ""] if k == 1 else [f"{row['medoid_silhouette']:.3f}", f"{row['silhouette']:.3f}{width}"]
        cells = [number(row["loss"]), *two, f"{row['smallest_cluster']:,}", f"{path.clusterings[k].n_swaps:,}"]
        name = f"<b>{k}</b>" if k == chosen else str(k)
        lines.append(f"<tr><td>{name}</td>" + "".join(f'<td class="number">{cell}</td>' for cell in cells) + "</tr>")
    heads = ["loss", "medoid silhouette", "silhouette", "smallest cluster", "swaps"]
    head = "<th>k</th>" + "".join(f'<th class="number">{name}</th>' for name in heads)
    table = f'<table class="plain"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return section("scores", "Scores", "The suggested number is bold.", f'<div class="panel">{table}</div>')


def _medoids(things: Mapping[int, Things], ids: Sequence[Any] | None, chosen: int) -> str:
    parts = [
        f"<details{' open' if k == chosen else ''}><summary>k = {k}</summary>{medoid_cards(each, ids)}</details>"
        for k, each in things.items()
    ]
    return section("medoids", "Medoids", "What stands for each cluster, for each number of them.", "".join(parts))


def _again(command: str | None) -> str:
    if command is None:
        return ""
    about = "The same data, parameters and seed give the same medoids on any number of threads."
    return section(
        "again", "Do it again", about, f'<div class="panel"><pre class="code">{escaped(command)}</pre></div>'
    )
