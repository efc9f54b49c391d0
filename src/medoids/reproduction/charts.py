"""Lines over numbers as SVG: a panel a data set, side by side, readable on light and dark screens."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from medoids.reporting.palette import DARK, LIGHT, SHAPES
from medoids.reporting.wording import escaped, number

__all__ = ["Line", "Panel", "chart"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 330.0, 250.0, 58.0, 34.0, 40.0, 14.0
_LEGEND = 26.0


@dataclass(frozen=True)
class Line:
    """Points in order, under a name whose number chooses colour and shape."""

    name: str
    style: int
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    size: float = 1.0  # of the marks: larger ones stay visible under smaller


@dataclass(frozen=True)
class Panel:
    """One data set."""

    title: str
    lines: Sequence[Line]


def chart(panels: Sequence[Panel], across: str, up: str, *, log_x: bool, log_y: bool, columns: int = 3) -> str:
    """Draw the panels, each with scales of its own, and under them what the lines are.

    Parameters
    ----------
    panels : sequence of Panel
        Those without points are left out.
    across, up : str
        Names of the axes.
    log_x, log_y : bool
        Whether equal steps are equal ratios.
    columns : int
        Panels in a row.
    """
    drawn = [panel for panel in panels if any(line.points for line in panel.lines)]
    columns = min(columns, max(len(drawn), 1))
    lanes = math.ceil(len(drawn) / columns)
    parts = []
    for at, panel in enumerate(drawn):
        x, y = at % columns * _WIDTH, at // columns * _HEIGHT
        parts.append(f'<g transform="translate({x:g} {y:g})">{_panel(panel, across, up, log_x, log_y)}</g>')
    named = {line.name: line for panel in drawn for line in panel.lines if line.points}
    width, height = columns * _WIDTH, lanes * _HEIGHT + _LEGEND
    x = 14.0
    for name, line in named.items():
        parts.append(
            f'<g transform="translate({x:g} {height - 12:g})"><line class="c{line.style}{_dash(line)}" x1="0" x2="26" '
            f'y1="0" y2="0"/>{_mark(line, 13, 0, name)}<text x="32" y="4">{escaped(name)}</text></g>'
        )
        x += 46 + 6.6 * len(name)
    width = max(width, x)
    words = f"{up} against {across}: {', '.join(panel.title for panel in drawn)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{escaped(words)}"><style>{_style()}</style>'
        f'<rect class="paper" width="{width:g}" height="{height:g}"/>{"".join(parts)}</svg>\n'
    )


def _style() -> str:
    def colours(palette: list[str]) -> str:
        return "".join(f".c{at}{{stroke:{c}}}path.c{at}{{fill:{c}}}" for at, c in enumerate(palette))

    base = "text{font:12px system-ui,sans-serif;fill:#333}.title{font-weight:600}.grid{stroke:#ddd}.paper{fill:#fff}"
    dark = "text{fill:#ddd}.grid{stroke:#444}.paper{fill:#111}"
    return (
        f"{base}polyline,line{{fill:none;stroke-width:1.6}}.grid{{stroke-width:1}}.dash{{stroke-dasharray:5 4}}"
        f"{colours(LIGHT)}@media(prefers-color-scheme:dark){{{dark}{colours(DARK)}}}"
    )


def _dash(line: Line) -> str:
    return " dash" if line.dashed else ""


def _mark(line: Line, x: float, y: float, words: str) -> str:
    shape = SHAPES[line.style % len(SHAPES)]
    return (
        f'<path class="c{line.style}" d="{shape}" transform="translate({x:.1f} {y:.1f}) scale({line.size:g})">'
        f"<title>{escaped(words)}</title></path>"
    )


def _panel(panel: Panel, across: str, up: str, log_x: bool, log_y: bool) -> str:
    points = [point for line in panel.lines for point in line.points]
    horizontal = _scale([x for x, _ in points], log_x, _LEFT + 10, _WIDTH - _RIGHT - 10)
    vertical = _scale([y for _, y in points], log_y, _HEIGHT - _BOTTOM - 8, _TOP + 8)
    parts = [
        f'<text class="title" x="{_LEFT:g}" y="16">{escaped(panel.title)}</text>',
        f'<text x="{_LEFT:g}" y="30" font-size="11">{escaped(up)}</text>',
        f'<text x="{_WIDTH - _RIGHT:g}" y="{_HEIGHT - 6:g}" text-anchor="end">{escaped(across)}</text>',
    ]
    for value in _ticks([y for _, y in points], log_y):
        y = vertical(value)
        parts.append(f'<line class="grid" x1="{_LEFT:g}" x2="{_WIDTH - _RIGHT:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>')
    shown = sorted({x for x, _ in points})
    step = max(1, math.ceil(len(shown) / 6))
    for value in shown[::step]:
        x = horizontal(value)
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 22:g}" text-anchor="middle">{_short(value)}</text>')
    for line in panel.lines:
        if not line.points:
            continue
        places = [(horizontal(x), vertical(y)) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="c{line.style}{_dash(line)}" points="{path}"/>')
        for (x, y), (a, b) in zip(places, line.points, strict=True):
            parts.append(_mark(line, x, y, f"{line.name}: {number(b)} at {number(a)}"))
    return "".join(parts)


def _scale(values: Sequence[float], log: bool, first: float, last: float) -> Callable[[float], float]:
    def measure(value: float) -> float:
        return math.log(value) if log else value

    low, high = measure(min(values)), measure(max(values))
    if high - low < 1e-9 * max(abs(high), 1e-9):
        low, high = low - 0.5, high + 0.5
    return lambda value: first + (measure(value) - low) / (high - low) * (last - first)


def _ticks(values: Sequence[float], log: bool) -> list[float]:
    """Return round numbers within some values, at most about six.

    >>> _ticks([3, 700], log=True)
    [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]
    """
    low, high = min(values), max(values)
    if not log:
        from medoids.reporting.charts import ticks

        return [float(tick) for tick in ticks(low, high if high > low else low + 1.0, 5)]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [times * 10.0**power for power in powers for times in (1, 2, 5) if low <= times * 10.0**power <= high]
    coarse = [10.0**power for power in powers if low <= 10.0**power <= high]
    return coarse if len(fine) > 7 and len(coarse) > 1 else fine


def _short(value: float) -> str:
    """Write an axis's number in few characters.

    >>> _short(15_000), _short(2.5e6), _short(0.05), _short(7.25)
    ('15k', '2.5M', '0.05', '7.25')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"
