"""Line charts as SVG: a panel per data set, side by side, readable on light and dark screens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medoids.reporting.charts import Axes
from medoids.reporting.formatting import escape, format_number
from medoids.reporting.palette import DARK, LIGHT, SHAPES, shape_of
from medoids.wording import abbreviate

__all__ = ["Line", "chart"]

# Pixels of a panel, and of the legend below all panels.
_PANEL_WIDTH, _PANEL_HEIGHT, _LEGEND_HEIGHT = 330.0, 250.0, 26.0
# Edges of the grid within a panel: left, top, right, bottom.
_GRID = (58.0, 34.0, 316.0, 208.0)


@dataclass(frozen=True)
class Line:
    """Points in order, with the number of their colour and shape."""

    name: str
    style: int
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    size: float = 1.0  # of the marks: larger ones stay visible below smaller ones

    @property
    def classes(self) -> str:
        return f"c{self.style}" + (" dash" if self.dashed else "")


def chart(
    panels: Mapping[str, Sequence[Line]],
    x_name: str,
    y_name: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    columns: int = 3,
) -> str:
    """Draw panels, each with its own axes, and a legend.

    Parameters
    ----------
    panels : mapping of str to sequence of Line
        The lines of each panel by its title. Lines and panels without points are left out.
    x_name, y_name : str
        Names of the axes.
    log_x, log_y : bool
        Whether the axes are logarithmic.
    columns : int
        Panels per row.
    """
    drawn = {title: shown for title, lines in panels.items() if (shown := [line for line in lines if line.points])}
    columns = min(columns, max(len(drawn), 1))
    height = math.ceil(len(drawn) / columns) * _PANEL_HEIGHT + _LEGEND_HEIGHT
    parts = []
    for at, (title, lines) in enumerate(drawn.items()):
        x, y = at % columns * _PANEL_WIDTH, at // columns * _PANEL_HEIGHT
        parts.append(f'<g transform="translate({x:g} {y:g})">{_panel(title, lines, x_name, y_name, log_x, log_y)}</g>')
    x = 14.0
    for name, line in {line.name: line for lines in drawn.values() for line in lines}.items():
        parts.append(
            f'<g transform="translate({x:g} {height - 12:g})"><line class="{line.classes}" x2="26"/>'
            f'<path class="c{line.style}" d="{SHAPES[shape_of(line.style)]}" '
            f'transform="translate(13 0) scale({line.size:g})"/>'
            f'<text x="32" y="4">{escape(name)}</text></g>'
        )
        x += 46 + 6.6 * len(name)
    width = max(columns * _PANEL_WIDTH, x)
    text = f"{y_name} against {x_name}: {', '.join(drawn)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{escape(text)}"><style>{_style()}</style>'
        f'<rect class="paper" width="{width:g}" height="{height:g}"/>{"".join(parts)}</svg>\n'
    )


def _style() -> str:
    light, dark = (
        "".join(f".c{at}{{stroke:{c}}}path.c{at}{{fill:{c}}}" for at, c in enumerate(palette))
        for palette in (LIGHT, DARK)
    )
    return (
        "text{font:12px system-ui,sans-serif;fill:#333}.title{font-weight:600}.grid{stroke:#ddd}.paper{fill:#fff}"
        "polyline,line{fill:none;stroke-width:1.6}.grid{stroke-width:1}.dash{stroke-dasharray:5 4}"
        f"{light}@media(prefers-color-scheme:dark){{text{{fill:#ddd}}.grid{{stroke:#444}}.paper{{fill:#111}}{dark}}}"
    )


def _panel(title: str, lines: Sequence[Line], x_name: str, y_name: str, log_x: bool, log_y: bool) -> str:
    xs, ys = zip(*(point for line in lines for point in line.points), strict=True)
    axes = Axes(xs, ys, _GRID, log_x=log_x, log_y=log_y)
    shown = sorted(set(xs))
    parts = [
        f'<text class="title" x="{_GRID[0]:g}" y="16">{escape(title)}</text>',
        f'<text x="{_GRID[0]:g}" y="30" font-size="11">{escape(y_name)}</text>',
        axes.grid(shown[:: math.ceil(len(shown) / 6)], x_name, abbreviate),
    ]
    for line in lines:
        style, shape = f"c{line.style}", SHAPES[shape_of(line.style)]
        named = ((x, y, f"{line.name}: {format_number(y)} at {format_number(x)}") for x, y in line.points)
        parts += [axes.line(line.points, line.classes), *(axes.mark(style, shape, *each, line.size) for each in named)]
    return "".join(parts)
