"""The figures of the report as SVG, and the axes of line charts.

Colours are classes, so that the style sheet serves light and dark screens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from medoids.engine.arrays import Float64s, Rows
from medoids.reporting.formatting import escape, format_number
from medoids.reporting.palette import SHAPES, colour_of, shape_of
from medoids.result import TraceRecord

__all__ = [
    "Axes",
    "curve_chart",
    "distance_strip",
    "legend_mark",
    "loss_chart",
    "map_chart",
    "silhouette_chart",
]

# The width and height of a line chart, and the edges of its grid: left, top, right, bottom.
_CHART_SIZE, _CHART_GRID = (640.0, 300.0), (74.0, 14.0, 630.0, 260.0)


def axis_scale(low: float, high: float, first: float, last: float, log: bool = False) -> Callable[[float], float]:
    """Return the function that maps [low, high] to positions from ``first`` to ``last``.

    >>> axis_scale(0, 10, 100, 200)(5), axis_scale(1, 100, 0, 1, log=True)(10)
    (150.0, 0.5)
    """
    transform: Callable[[float], float] = math.log if log else float
    start, end = transform(low), transform(high)
    if end - start <= 1e-12 * max(abs(start), abs(end)):  # a single value is drawn in the middle
        return lambda value: (first + last) / 2
    return lambda value: first + (transform(value) - start) / (end - start) * (last - first)


def ticks(low: float, high: float, count: int = 5, log: bool = False) -> list[float]:
    """Return about ``count`` round numbers between two numbers.

    >>> ticks(0, 1), ticks(3, 700, log=True)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0])
    """
    if log:
        powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        coarse = [power for power in powers if low <= power <= high]
        fine = [times * power for power in powers for times in (1, 2, 5) if low <= times * power <= high]
        return coarse if len(fine) > 7 and len(coarse) > 1 else fine
    if high <= low:
        return [float(low)]
    step = 10.0 ** math.floor(math.log10((high - low) / count))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


class Axes:
    """The axes of a line chart.

    Parameters
    ----------
    xs, ys : sequence of float
        All values that are drawn.
    box : tuple of float
        Left, top, right and bottom edge of the grid.
    log_x, log_y : bool
        Whether equal distances are equal ratios.
    """

    def __init__(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        box: tuple[float, float, float, float],
        *,
        log_x: bool = False,
        log_y: bool = False,
    ) -> None:
        self.box = box
        left, top, right, bottom = box
        self.x = axis_scale(min(xs), max(xs), left + 12, right - 12, log_x)
        self.y = axis_scale(min(ys), max(ys), bottom - 10, top + 10, log_y)
        self.y_ticks = ticks(min(ys), max(ys), log=log_y)

    def grid(self, x_ticks: Iterable[float], x_name: str, label: Callable[[float], str]) -> str:
        """Draw horizontal lines, the numbers on both axes and the name of the horizontal one."""
        left, _, right, bottom = self.box
        rows = [
            f'<line class="grid" x1="{left:g}" x2="{right:g}" y1="{self.y(tick):.1f}" y2="{self.y(tick):.1f}"/>'
            f'<text class="tick" x="{left - 8:g}" y="{self.y(tick) + 5:.1f}" text-anchor="end">{label(tick)}</text>'
            for tick in self.y_ticks
        ]
        columns = [
            f'<text class="tick" x="{self.x(tick):.1f}" y="{bottom + 20:g}" text-anchor="middle">{label(tick)}</text>'
            for tick in x_ticks
        ]
        return (
            "".join([*rows, *columns])
            + f'<text class="tick axis" x="{right:g}" y="{bottom + 37:g}" text-anchor="end">{escape(x_name)}</text>'
        )

    def line(self, points: Iterable[tuple[float, float]], style: str = "line") -> str:
        places = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return f'<polyline class="{style}" points="{places}"/>'

    def mark(self, style: str, shape: str, x: float, y: float, text: str, size: float = 1.0) -> str:
        place = f"translate({self.x(x):.1f} {self.y(y):.1f})" + ("" if size == 1 else f" scale({size:g})")
        return f'<path class="{style}" d="{shape}" transform="{place}"><title>{escape(text)}</title></path>'


def legend_mark(cluster: int) -> str:
    """Draw the colour and shape of a cluster in the size of a letter."""
    return (
        f'<svg class="mark k{colour_of(cluster)}" viewBox="-6 -6 12 12" aria-hidden="true">'
        f'<use href="#shape{shape_of(cluster)}"/></svg>'
    )


def map_chart(xy: Float64s, labels: Rows, medoids: Sequence[int], names: Sequence[str]) -> tuple[str, Rows]:
    """Draw the points of each cluster and the medoids on top; return also the order in which points are drawn.

    Parameters
    ----------
    xy : ndarray of shape (m, 2)
    labels : ndarray of shape (m,)
    medoids : positions of the medoids in ``xy``
    names : names of the medoids as plain text
    """
    width, pad = 960.0, 26.0
    low, high = xy.min(axis=0), xy.max(axis=0)
    largest = float((high - low).max()) or 1.0
    span = np.maximum((high - low) / largest, 1e-6) * largest  # points may lie on a line, or all on one spot
    height = float(np.clip((width - 2 * pad) * span[1] / span[0] + 2 * pad, 420, 680))
    scale = min((width - 2 * pad) / span[0], (height - 2 * pad) / span[1])
    place = (np.array([width / 2, height / 2]) + (xy - (low + high) / 2) * [scale, -scale]).round(1)
    groups, marks = [], []
    for j, (at, name) in enumerate(zip(medoids, map(escape, names), strict=True)):
        shape = f'href="#shape{shape_of(j)}"'
        uses = "".join(f'<use {shape} x="{x:g}" y="{y:g}"/>' for x, y in place[labels == j])
        groups.append(f'<g class="points k{colour_of(j)}" data-cluster="{j}">{uses}</g>')
        marks.append(
            f'<g class="medoid k{colour_of(j)}" data-cluster="{j}" data-point="{at}" '
            f'transform="translate({place[at, 0]:g} {place[at, 1]:g})" tabindex="0" role="img" aria-label="{name}">'
            f'<title>{name}</title><g class="sized"><use class="halo" {shape}/><use {shape}/></g>'
            f'<text class="sized" y="-14">{j}</text></g>'
        )
    text = f"Map of {len(xy):,} points in {len(medoids)} clusters, with the medoids marked by their numbers"
    return (
        f'<svg class="map {"small" if len(xy) > 1500 else "large"}" viewBox="0 0 {width:g} {height:.0f}" role="group" '
        f'aria-label="{text}">'
        f"{''.join(groups)}<circle class='ring' r='9' visibility='hidden'/>{''.join(marks)}</svg>"
    ), np.argsort(labels, kind="stable")


def distance_strip(quantiles: Sequence[float], low: float, high: float, text: str) -> str:
    """Draw a box of quartiles, a whisker from the 5th to the 95th percentile, and a tick for the farthest point.

    ``quantiles`` are the 5, 25, 50, 75, 95 and 100% quantiles.
    """
    q5, q25, q50, q75, q95, q100 = (min(100 * (q - low) / ((high - low) or 1.0), 99.5) for q in quantiles)
    return (
        f'<svg class="strip" viewBox="0 0 100 16" preserveAspectRatio="none" role="img" aria-label="{escape(text)}">'
        f"<title>{escape(text)}</title>"
        f'<line class="whisker" x1="{q5:.1f}" x2="{q95:.1f}" y1="8" y2="8"/>'
        f'<rect x="{q25:.1f}" width="{max(q75 - q25, 0.4):.1f}" y="3" height="10"/>'
        f'<line class="median" x1="{q50:.1f}" x2="{q50:.1f}" y1="1" y2="15"/>'
        f'<line class="farthest" x1="{q100:.1f}" x2="{q100:.1f}" y1="5" y2="11"/></svg>'
    )


def silhouette_chart(values: Float64s, labels: Rows, means: Float64s, overall: float) -> str:
    """Draw each point as a thin bar, sorted within its cluster; the height of a cluster is its share of points."""
    width, left, top, gap = 640.0, 56.0, 8.0, 4.0
    k = len(means)
    low = min(0.0, float(np.floor(values.min() * 5) / 5))
    room = max(260.0, 14.0 * k)
    bottom = top + room + gap * (k - 1)
    across = axis_scale(low, 1.0, left, width - 14)
    parts = [
        f'<line class="grid" x1="{across(v):.1f}" x2="{across(v):.1f}" y1="{top:g}" y2="{bottom:g}"/>'
        f'<text class="tick" x="{across(v):.1f}" y="{bottom + 20:g}" text-anchor="middle">{v:g}</text>'
        for v in ticks(low, 1.0)
    ]
    y = top
    for j in range(k):
        members = np.sort(values[labels == j])[::-1]
        tall = room * len(members) / len(values)
        edges = np.linspace(y, y + tall, len(members) + 1)
        corners = " ".join(
            f"{across(s):.1f},{a:.1f} {across(s):.1f},{b:.1f}"
            for s, a, b in zip(members, edges[:-1], edges[1:], strict=True)
        )
        parts.append(
            f'<path class="k{colour_of(j)}" data-cluster="{j}" '
            f'd="M{across(0):.1f},{y:.1f}L{corners}L{across(0):.1f},{y + tall:.1f}z">'
            f"<title>cluster {j}: mean {means[j]:.3f}</title></path>"
        )
        if tall >= 9 or k <= 30:
            parts.append(
                f'<text class="tick" x="{left - 10:g}" y="{y + tall / 2 + 4:.1f}" text-anchor="end">{j}</text>'
            )
        y += tall + gap
    return _chart(
        width,
        bottom + 40,
        f"Medoid silhouettes of {len(values):,} points in {k} clusters; mean {overall:.3f}",
        [*parts, _dashed_line(across(overall), top, bottom)],
    )


def loss_chart(trace: Sequence[TraceRecord]) -> str:
    """Draw the mean distance after each step: hollow circles for BUILD, filled triangles for SWAP."""
    steps = range(1, len(trace) + 1)
    losses = [step.loss for step in trace]
    axes = Axes(steps, losses, _CHART_GRID)
    whole = [tick for tick in ticks(1, max(len(trace), 2), 8) if tick in steps]
    parts = [axes.grid(whole, "step", format_number), axes.line(zip(steps, losses, strict=True))]
    for s, step in zip(steps, trace, strict=True):
        if len(trace) <= 400 or s in (1, len(trace)):
            change = "start" if step.medoid_in is None else f"row {step.medoid_in:,} in"
            change += "" if step.medoid_out is None else f", row {step.medoid_out:,} out"
            cost = f"loss {format_number(step.loss)} after {step.n_evaluations:,} distances"
            parts.append(
                axes.mark(
                    f"step {escape(step.phase)}",
                    SHAPES[2 if step.phase == "swap" else 0],
                    s,
                    step.loss,
                    f"step {s}, {step.phase}: {change}; {cost}",
                )
            )
    return _chart(
        *_CHART_SIZE,
        f"Loss after each of {len(trace)} steps, from {format_number(losses[0])} to {format_number(losses[-1])}",
        parts,
    )


def curve_chart(ks: Sequence[int], curves: dict[str, Sequence[float]], chosen: int, text: str) -> str:
    """Draw curves over the number of clusters, each with its own shape, and a dashed line at the chosen number."""
    axes = Axes(ks, [value for values in curves.values() for value in values if np.isfinite(value)], _CHART_GRID)
    parts = [
        axes.grid(ks if len(ks) <= 20 else ks[:: len(ks) // 10], "clusters", format_number),
        _dashed_line(axes.x(chosen), _CHART_GRID[1], _CHART_GRID[3]),
    ]
    for (name, values), style, shape in zip(curves.items(), ("step", "step swap"), SHAPES, strict=False):
        points = [(k, value) for k, value in zip(ks, values, strict=True) if np.isfinite(value)]
        marks = (axes.mark(style, shape, k, v, f"k = {k}: {name} {format_number(v)}") for k, v in points)
        parts += [axes.line(points), *marks]
    return _chart(*_CHART_SIZE, text, parts)


def _dashed_line(x: float, top: float, bottom: float) -> str:
    return f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{top:g}" y2="{bottom:g}"/>'


def _chart(width: float, height: float, text: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {width:g} {height:.0f}" role="img" aria-label="{escape(text)}">'
        f"{''.join(parts)}</svg>"
    )
