"""The page of a path: the scores of each number of clusters, and its medoids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medoids.quality.k_path import KPath
from medoids.reporting.charts import curve_chart
from medoids.reporting.document import chart_key, document, medoid_cards, repetition, section, tiles
from medoids.reporting.formatting import escape, format_number, format_percent
from medoids.reporting.things import Things

__all__ = ["choice_page"]


def choice_page(
    path: KPath, things: Mapping[int, Things], ids: Sequence[Any] | None, title: str, data: str, command: str | None
) -> str:
    """Return the whole file."""
    n, ks = len(next(iter(path.clusterings.values())).labels), path.scores["k"].tolist()
    chosen = path.suggest() if ks[-1] > 1 else ks[0]
    criteria = (["medoid_silhouette", "silhouette"] if ks[-1] > 1 else []) + (["elbow"] if len(ks) > 2 else [])
    reasons = "".join(f"<li>{escape(path.explain(criterion))}</li>" for criterion in criteria)
    computed = f"{path.n_evaluations:,} of n² = {n**2:,}, for all k"
    facts = [
        ("points", f"{n:,}", data),
        ("suggested", f"k = {chosen}", f"of {ks[0]} to {ks[-1]}, by the medoid silhouette"),
        ("distances computed", format_percent(path.n_evaluations / n**2), computed),
    ]
    header = (
        f'<header><p class="eyebrow">k-medoids: how many clusters?</p><h1>{escape(title)}</h1>'
        f'<ul class="lead">{reasons}</ul>{tiles(facts)}</header>'
    )
    cards = "".join(
        f"<details{' open' if k == chosen else ''}><summary>k = {k}</summary>{medoid_cards(each, ids)}</details>"
        for k, each in things.items()
    )
    body = [
        _curves(path, ks, chosen),
        _scores(path, ks, chosen),
        section("medoids", "Medoids", "The medoid of each cluster, for each number of clusters.", cards, panel=False),
        repetition([command]) if command else "",
    ]
    return document(title, header, "".join(body))


def _curves(path: KPath, ks: list[int], chosen: int) -> str:
    bend = path.suggest("elbow") if len(ks) > 2 else chosen
    chart = curve_chart(ks, {"loss": path.scores["loss"].tolist()}, bend, f"Loss for {ks[0]} to {ks[-1]} clusters")
    about = "The mean distance to the nearest medoid. It falls with more clusters; it bends most at the dashed line."
    parts = section("loss", "Loss", about, chart)
    if ks[-1] > 1:
        names = ("medoid silhouette", "silhouette")
        curves = {name: path.scores[name.replace(" ", "_")].tolist() for name in names}
        chart = curve_chart(ks, curves, chosen, f"Silhouettes for {ks[0]} to {ks[-1]} clusters")
        about = "How much nearer points are to their own cluster than to the next. The dashed line is the suggestion."
        parts += section("silhouettes", "Silhouettes", about, chart + chart_key(*names, shape=1))
    return f'<div class="two">{parts}</div>'


def _scores(path: KPath, ks: list[int], chosen: int) -> str:
    lines = []
    for at, k in enumerate(ks):
        row = {name: column[at] for name, column in path.scores.items()}
        error = path.silhouettes[k].error if k in path.silhouettes else 0.0
        width = f" ± {1.96 * error:.3f}" if error else ""
        two = ["", ""] if k == 1 else [f"{row['medoid_silhouette']:.3f}", f"{row['silhouette']:.3f}{width}"]
        cells = [format_number(row["loss"]), *two, f"{row['smallest_cluster']:,}", f"{path.clusterings[k].n_swaps:,}"]
        name = f"<b>{k}</b>" if k == chosen else str(k)
        lines.append(f"<tr><td>{name}</td>" + "".join(f'<td class="number">{cell}</td>' for cell in cells) + "</tr>")
    names = ("loss", "medoid silhouette", "silhouette", "smallest cluster", "swaps")
    heads = "<th>k</th>" + "".join(f'<th class="number">{name}</th>' for name in names)
    return section(
        "scores",
        "Scores",
        "The suggested number is bold.",
        f'<table class="plain"><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table>',
    )
