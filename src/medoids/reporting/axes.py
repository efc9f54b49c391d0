"""Axes of line charts in SVG: scales, round numbers, grid, lines and marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from medoids.reporting.formatting import escape

__all__ = ["Axes", "axis_scale", "ticks"]


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
        name = f'<text class="tick axis" x="{right:g}" y="{bottom + 37:g}" text-anchor="end">{escape(x_name)}</text>'
        return "".join([*rows, *columns, name])

    def line(self, points: Iterable[tuple[float, float]], style: str = "line") -> str:
        places = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return f'<polyline class="{style}" points="{places}"/>'

    def mark(self, style: str, shape: str, x: float, y: float, text: str, size: float = 1.0) -> str:
        place = f"translate({self.x(x):.1f} {self.y(y):.1f})" + ("" if size == 1 else f" scale({size:g})")
        return f'<path class="{style}" d="{shape}" transform="{place}"><title>{escape(text)}</title></path>'
