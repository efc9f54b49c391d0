"""The HTML that all pages share: the document, sections, tiles, legends and cards of medoids."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from medoids._version import __version__
from medoids.reporting.charts import legend_mark
from medoids.reporting.formatting import escape, format_number, format_percent, shorten
from medoids.reporting.palette import DARK, LIGHT, SHAPES, colour_of
from medoids.reporting.things import Things

__all__ = ["chart_key", "document", "medoid_cards", "own_file", "repetition", "row_name", "section", "tiles"]


def own_file(name: str) -> str:
    """Return the text of a file of this package."""
    return files("medoids.reporting").joinpath(name).read_text(encoding="utf-8")


def document(title: str, header: str, body: str, data: Any = None, script: str = "") -> str:
    """Return a self-contained file; ``data`` is what the script reads."""
    shapes = "".join(f'<path id="shape{s}" d="{path}"/>' for s, path in enumerate(SHAPES))
    palettes = {"LIGHT": LIGHT, "DARK": DARK}
    style = re.sub(r"(LIGHT|DARK)(\d)", lambda match: palettes[match[1]][int(match[2])], own_file("page.css"))
    # Only this script may run, and nothing may be loaded: text that escaping missed could still do nothing.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    if script:
        # "<", ">" and "&" are escaped, so that the data cannot end the element.
        text = (
            json.dumps(data, separators=(",", ":"))
            .replace("<", "\\u003c")
            .replace(">", "\\u003e")
            .replace("&", "\\u0026")
        )
        script = (
            f'<div id="tip" role="tooltip" hidden></div>\n'
            f'<script type="application/json" id="data">{text}</script>\n<script>{script}</script>'
        )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="medoids {__version__}">
<title>{escape(title)}</title>
<style>{style}</style></head>
<body><svg class="hidden" aria-hidden="true"><defs>{shapes}</defs></svg>
{header}
<main>{body}</main>
<footer>Made by medoids {__version__}. This file needs no network and no other file.</footer>
{script}
</body></html>
"""


def section(name: str, title: str, about: str, body: str, *, panel: bool = True) -> str:
    """Return a part of the page with its heading, a sentence about it, and a body that is framed by default."""
    framed = f'<div class="panel">{body}</div>' if panel else body
    return f'<section id="{name}"><h2>{title}</h2><p class="about">{about}</p>{framed}</section>'


def tiles(entries: Iterable[tuple[str, str, str]]) -> str:
    """Return boxes with a name, a value and a note each."""
    boxes = (f"<div><dt>{a}</dt><dd>{escape(b)}<small>{escape(c)}</small></dd></div>" for a, b, c in entries)
    return f'<dl class="tiles">{"".join(boxes)}</dl>'


def chart_key(hollow: str, filled: str, shape: int) -> str:
    """Return what the hollow circles and the filled shapes of a line chart are."""
    return (
        f'<p class="key"><span><svg viewBox="-6 -6 12 12"><path d="{SHAPES[0]}"/></svg> {hollow}</span>'
        f'<span><svg class="swap" viewBox="-6 -6 12 12"><path d="{SHAPES[shape]}"/></svg> {filled}</span></p>'
    )


def repetition(codes: Iterable[str | None], more: str = "") -> str:
    """Return the section that says how to repeat a fit: commands or programs, and more."""
    about = "The same data, parameters and seed give the same medoids on any number of threads."
    blocks = (f'<pre class="code">{escape(code)}</pre>' for code in codes if code)
    return section("again", "Repeat this", about, "".join(blocks) + more)


def row_name(ids: Sequence[Any] | None, row: int) -> str:
    """Return the name of a row as plain text."""
    return f"row {row:,}" if ids is None else shorten(str(ids[row]), 60)


def medoid_cards(things: Things, ids: Sequence[Any] | None) -> str:
    """Show each medoid as what it is."""
    found, cards = things.clustering, []
    for j, row in enumerate(found.medoid_indices.tolist()):
        members = found.distances[found.labels == j]
        mean = float(members.mean()) if len(members) else 0.0
        name = escape(row_name(ids, row))
        cards.append(
            f'<li class="card k{colour_of(j)}" data-medoid="{j}"><h3>{legend_mark(j)} {j}'
            f'<span class="row" title="{name}">{name}</span></h3>'
            f'<p class="facts">{len(members):,} points, {format_percent(len(members) / len(found.labels))} · '
            f"mean distance {format_number(mean)}</p>{things.card(j)}</li>"
        )
    return f'<ol class="cards{" wide" if things.wide else ""}">{"".join(cards)}</ol>'
