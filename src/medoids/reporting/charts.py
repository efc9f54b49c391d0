"""The figures of the report as SVG. Colours are classes, so that the page's style sheet serves light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from medoids.engine.arrays import Float64s, Rows
from medoids.reporting.palette import SHAPES, colour_of, shape_of
from medoids.reporting.wording import escaped, number
from medoids.result import TraceRecord

__all__ = [
    "curve_chart",
    "distance_strip",
    "legend_mark",
    "loss_chart",
    "map_chart",
    "shape_symbols",
    "silhouette_chart",
]


def shape_symbols() -> str:
    """Define the shapes once for all figures of a page."""
    paths = "".join(f'<path id="shape{s}" d="{path}"/>' for s, path in enumerate(SHAPES))
    return f'<svg class="hidden" aria-hidden="true"><defs>{paths}</defs></svg>'


def legend_mark(cluster: int) -> str:
    """A cluster's colour and shape, in the size of a letter."""
    return (
        f'<svg class="mark k{colour_of(cluster)}" viewBox="-6 -6 12 12" aria-hidden="true">'
        f'<use href="#shape{shape_of(cluster)}"/></svg>'
    )


def map_chart(xy: Float64s, labels: Rows, medoids: Sequence[int], names: Sequence[str]) -> tuple[str, Rows]:
    """Draw points, cluster by cluster, and over them the medoids; return also the order in which points are drawn.

    Parameters
    ----------
    xy : ndarray of shape (m, 2)
    labels : ndarray of shape (m,)
    medoids : positions in ``xy`` of the medoids
    names : what each medoid is called, in plain text
    """
    width, pad = 960.0, 26.0
    low, high = xy.min(axis=0), xy.max(axis=0)
    largest = float((high - low).max()) or 1.0
    span = np.maximum((high - low) / largest, 1e-6) * largest  # points on a line, or on one spot
    height = float(np.clip((width - 2 * pad) * span[1] / span[0] + 2 * pad, 420, 680))
    scale = min((width - 2 * pad) / span[0], (height - 2 * pad) / span[1])
    middle = (low + high) / 2
    place = np.column_stack(
        [width / 2 + (xy[:, 0] - middle[0]) * scale, height / 2 - (xy[:, 1] - middle[1]) * scale]
    ).round(1)
    groups, order = [], []
    size = "small" if len(xy) > 1500 else "large"
    for j in range(len(medoids)):
        members = np.flatnonzero(labels == j)
        order.append(members)
        uses = "".join(f'<use href="#shape{shape_of(j)}" x="{x:g}" y="{y:g}"/>' for x, y in place[members])
        groups.append(f'<g class="points k{colour_of(j)}" data-cluster="{j}">{uses}</g>')
    marks = []
    for j, at in enumerate(medoids):
        x, y = place[at]
        label = escaped(names[j])
        marks.append(
            f'<g class="medoid k{colour_of(j)}" data-cluster="{j}" data-point="{at}" transform="translate({x:g} {y:g})"'
            f' tabindex="0" role="img" aria-label="{label}"><title>{label}</title><g class="sized">'
            f'<use class="halo" href="#shape{shape_of(j)}"/><use href="#shape{shape_of(j)}"/></g>'
            f'<text class="sized" y="-14">{j}</text></g>'
        )
    drawn = np.concatenate(order)
    words = f"Map of {len(xy):,} points in {len(medoids)} clusters, with the medoids marked by their numbers"
    return (
        f'<svg class="map {size}" viewBox="0 0 {width:g} {height:.0f}" role="group" aria-label="{escaped(words)}">'
        f"{''.join(groups)}<circle class='ring' r='9' visibility='hidden'/>{''.join(marks)}</svg>",
        drawn,
    )


def distance_strip(quantiles: Sequence[float], low: float, high: float, words: str) -> str:
    """A box of quartiles on a whisker from the 5th to the 95th percentile, and a tick for the farthest point.

    ``quantiles`` are the 5, 25, 50, 75, 95 and 100 % points.
    """
    span = (high - low) or 1.0
    q5, q25, q50, q75, q95, q100 = (min(100 * (q - low) / span, 99.5) for q in quantiles)
    return (
        f'<svg class="strip" viewBox="0 0 100 16" preserveAspectRatio="none" role="img" aria-label="{escaped(words)}">'
        f"<title>{escaped(words)}</title>"
        f'<line class="whisker" x1="{q5:.1f}" x2="{q95:.1f}" y1="8" y2="8"/>'
        f'<rect x="{q25:.1f}" width="{max(q75 - q25, 0.4):.1f}" y="3" height="10"/>'
        f'<line class="median" x1="{q50:.1f}" x2="{q50:.1f}" y1="1" y2="15"/>'
        f'<line class="farthest" x1="{q100:.1f}" x2="{q100:.1f}" y1="5" y2="11"/></svg>'
    )


def ticks(low: float, high: float, count: int = 5) -> Float64s:
    """Round numbers between two.

    >>> ticks(0, 1).tolist()
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    step = 10.0 ** np.floor(np.log10((high - low) / count))
    for times in (1, 2, 5, 10):
        if (high - low) / (step * times) <= count:
            step *= times
            break
    first = np.ceil(low / step - 1e-9)
    found: Float64s = np.round(np.arange(first, np.floor(high / step + 1e-9) + 1) * step, 12) + 0.0  # never -0
    return found


def silhouette_chart(values: Float64s, labels: Rows, means: Float64s, overall: float) -> str:
    """Every point a thin bar, sorted within its cluster; the width of the block is its share of points."""
    width, left, top, bottom, gap = 640.0, 56.0, 8.0, 40.0, 4.0
    k = len(means)
    low = min(0.0, float(np.floor(values.min() * 5) / 5))
    room = max(260.0, 14.0 * k)
    height = top + room + gap * (k - 1) + bottom

    def across(s: float) -> float:
        return left + (s - low) / (1 - low) * (width - left - 14)

    parts = [_vertical_axis(ticks(low, 1.0), across, top, height - bottom)]
    y = top
    for j in range(k):
        sorted_ = np.sort(values[labels == j])[::-1]
        tall = room * len(sorted_) / len(values)
        if len(sorted_) > 150:
            sorted_ = sorted_[np.linspace(0, len(sorted_) - 1, 150).round().astype(int)]
        edges = np.linspace(y, y + tall, len(sorted_) + 1)
        corners = []
        for s, a, b in zip(sorted_, edges[:-1], edges[1:], strict=True):
            corners += [f"{across(s):.1f},{a:.1f}", f"{across(s):.1f},{b:.1f}"]
        shape = f"M{across(0):.1f},{y:.1f}L{' '.join(corners)}L{across(0):.1f},{y + tall:.1f}z"
        words = f"cluster {j}: mean {means[j]:.3f}"
        parts.append(f'<path class="k{colour_of(j)}" data-cluster="{j}" d="{shape}"><title>{words}</title></path>')
        if tall >= 9 or k <= 30:
            parts.append(
                f'<text class="tick" x="{left - 10:g}" y="{y + tall / 2 + 4:.1f}" text-anchor="end">{j}</text>'
            )
        y += tall + gap
    x = across(overall)
    parts.append(f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{top:g}" y2="{height - bottom:g}"/>')
    words = f"Medoid silhouettes of {len(values):,} points in {k} clusters; mean {overall:.3f}"
    return _chart(width, height, words, parts)


class _Frame:
    """Where values over numbers are drawn: scales, horizontal lines and the names of both axes."""

    width, height, left, top, bottom = 640.0, 300.0, 74.0, 14.0, 40.0

    def __init__(self, numbers: Sequence[int], values: Float64s, above: float) -> None:
        self.first, self.last = numbers[0], numbers[-1]
        low, high = float(values.min()), float(values.max())
        if high - low < 1e-12 * max(abs(high), 1e-300):
            low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
        self.low, self.high = low - 0.06 * (high - low), high + above * (high - low)

    def across(self, number: float) -> float:
        return self.left + 14 + (number - self.first) / max(self.last - self.first, 1) * (self.width - self.left - 42)

    def down(self, value: float) -> float:
        return self.top + (self.high - value) / (self.high - self.low) * (self.height - self.top - self.bottom)

    def axes(self, shown: Sequence[int], name: str) -> list[str]:
        parts = []
        for tick in ticks(self.low, self.high):
            y = self.down(float(tick))
            parts.append(f'<line class="grid" x1="{self.left:g}" x2="{self.width - 10:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(
                f'<text class="tick" x="{self.left - 8:g}" y="{y + 5:.1f}" text-anchor="end">'
                f"{number(float(tick))}</text>"
            )
        y = self.height - 20
        parts += [
            f'<text class="tick" x="{self.across(t):.1f}" y="{y:g}" text-anchor="middle">{t}</text>' for t in shown
        ]
        x, y = self.width - 10, self.height - 3
        return [*parts, f'<text class="tick axis" x="{x:g}" y="{y:g}" text-anchor="end">{name}</text>']

    def line(self, points: Iterable[tuple[int, float]]) -> str:
        places = " ".join(f"{self.across(x):.1f},{self.down(y):.1f}" for x, y in points)
        return f'<polyline class="line" points="{places}"/>'

    def mark(self, kind: str, shape: str, x: float, y: float, words: str) -> str:
        place = f"{self.across(x):.1f} {self.down(y):.1f}"
        return f'<path class="{kind}" d="{shape}" transform="translate({place})"><title>{escaped(words)}</title></path>'


def loss_chart(trace: Sequence[TraceRecord]) -> str:
    """The mean distance after each step: hollow circles for BUILD, filled triangles for SWAP."""
    steps = range(1, len(trace) + 1)
    losses = np.array([step.loss for step in trace])
    frame = _Frame(steps, losses, above=0.04)
    whole = sorted({round(float(t)) for t in ticks(1, max(len(trace), 2), 8)} & set(steps))
    parts = [*frame.axes(whole, "step"), frame.line(zip(steps, losses, strict=True))]
    for s, step in zip(steps, trace, strict=True):
        if len(trace) > 400 and 1 < s < len(trace):
            continue
        shape = SHAPES[2] if step.phase == "swap" else SHAPES[0]
        change = "start" if step.medoid_in is None else f"row {step.medoid_in:,} in"
        change += "" if step.medoid_out is None else f", row {step.medoid_out:,} out"
        words = f"step {s}, {step.phase}: {change}; loss {number(step.loss)} after {step.n_evaluations:,} distances"
        parts.append(frame.mark(f"step {escaped(step.phase)}", shape, s, step.loss, words))
    words = f"Loss after each of {len(trace)} steps, from {number(losses[0])} to {number(losses[-1])}"
    return _chart(frame.width, frame.height, words, parts)


def curve_chart(ks: Sequence[int], curves: dict[str, Sequence[float]], chosen: int, words: str) -> str:
    """One or more values over the number of clusters, each with its own shape; a dashed line at the chosen number."""
    known = np.array([value for values in curves.values() for value in values if np.isfinite(value)])
    frame = _Frame(ks, known, above=0.06)
    parts = frame.axes(ks if len(ks) <= 20 else ks[:: len(ks) // 10], "clusters")
    x = frame.across(chosen)
    y = frame.height - frame.bottom
    parts.append(f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{frame.top:g}" y2="{y:g}"/>')
    for at, (name, values) in enumerate(curves.items()):
        points = [(k, value) for k, value in zip(ks, values, strict=True) if np.isfinite(value)]
        parts.append(frame.line(points))
        kind = "step swap" if at else "step"
        parts += [frame.mark(kind, SHAPES[at], k, v, f"k = {k}: {name} {number(v)}") for k, v in points]
    return _chart(frame.width, frame.height, words, parts)


def _chart(width: float, height: float, words: str, parts: Sequence[str]) -> str:
    size = f"0 0 {width:g} {height:.0f}"
    return f'<svg class="chart" viewBox="{size}" role="img" aria-label="{escaped(words)}">{"".join(parts)}</svg>'


def _vertical_axis(values: Float64s, across: object, top: float, bottom: float) -> str:
    assert callable(across)
    return "".join(
        f'<line class="grid" x1="{across(v):.1f}" x2="{across(v):.1f}" y1="{top:g}" y2="{bottom:g}"/>'
        f'<text class="tick" x="{across(v):.1f}" y="{bottom + 20:g}" text-anchor="middle">{v:g}</text>'
        for v in values
    )
