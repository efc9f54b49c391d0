"""Elastic distances of series, of equal or unequal lengths, with one channel or several.

    dtw(x, y) = sqrt(min over paths of the sum of |x_i - y_j|^2)

A path leads from the first samples to the last, in steps of one in i, in j, or in both. This is the convention of
dtaidistance, tslearn and aeon up to the square root, which aeon leaves out. The others also pay for each step, and have
aeon's definitions and defaults:

    erp   a step in i alone costs |x_i - g|, in j alone |y_j - g|; a path that begins with such steps costs all samples
          of that series, where Chen and Ng (2004) add only those that it skips (edit distance with real penalty)
    twe   a step in i alone costs |x_i - x_{i-1}| + nu + lmbda, and so for j; a step in both
          |x_i - y_j| + |x_{i-1} - y_{j-1}| + 2 nu |i - j|, with a sample 0 before the first (time warp edit, Marteau
          2009)
    msm   a step in i alone costs c, and where x_i is not between x_{i-1} and y_j also the way to the nearer one, and
          so for j; a step in both |x_i - y_j|; several channels are added (move-split-merge, Stefan et al. 2013)

Sakoe and Chiba's window keeps the path within r samples of the diagonals that start at the first and end at the last
samples:

    i - j <= r + max(0, n - m)    and    j - i <= r + max(0, m - n)    for series of lengths n and m

so that a path exists for any lengths (tslearn's ``sakoe_chiba_radius`` is r, dtaidistance's ``window`` r + 1).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from medoids.distances.encoded import Encoded, starts_of
from medoids.distances.scaled import Scalable
from medoids.distances.scaling import UnitRule
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS, SERIES_LANES
from medoids.engine.callers import callers_level

__all__ = ["Warping"]

_LAYOUTS = ("channels_last", "channels_first")
# All samples, of shape (samples, channels), and where each series starts.
_Joined = tuple[Float64s, Rows]


class Warping(Scalable, Encoded):
    """Series under an elastic distance.

    Parameters
    ----------
    metric : {"dtw", "erp", "twe", "msm"}
    series : sequence of n arrays of shape (length,) or of two dimensions, or one array of them
    window : int, float or None
        r in samples; or, between 0 and 1, as a share of the longer series, rounded down; None for no limit.
    layout : {"channels_last", "channels_first"} or None
        Whether arrays of two dimensions have the shape (length, channels) or (channels, length). None means
        "channels_last", with a warning if there are more channels than time steps.
    costs : float
        Parameters of the metric: g of erp, nu and lmbda of twe, c of msm.
    """

    symmetric = True

    def __init__(self, metric: str, series: Any, window: float | None, layout: str | None = None, **costs: Any) -> None:
        for name, value in costs.items():
            low, least = (-np.inf, "a finite number") if name == "g" else (0.0, "a finite number >= 0")
            if not isinstance(value, (int, float)) or not low <= value < np.inf or value == -np.inf:
                raise ValueError(f"metric_params={{{name!r}: {value!r}}}: metric={metric!r} needs {least}")
        self._metric, self._costs = metric, {name: float(value) for name, value in costs.items()}
        if layout not in (None, *_LAYOUTS):
            raise ValueError(f"metric_params={{'layout': {layout!r}}}: pass {' or '.join(map(repr, _LAYOUTS))}")
        self._window, self._layout = check_window(window), layout or _LAYOUTS[0]
        self._store(_join(_by_time(series, self._layout)))
        channels, longest = self._objects[0].shape[1], int(np.diff(self._objects[1]).max())
        if layout is None and channels > longest:
            steps = "time step" if longest == 1 else "time steps"
            warnings.warn(
                f"the series of X are read as {channels} channels of at most {longest} {steps}, with channels last; if "
                "X has the shape (n, channels, time), pass metric_params={'layout': 'channels_first'}, and if not, "
                "{'layout': 'channels_last'} to silence this warning",
                UserWarning,
                stacklevel=callers_level(),
            )

    def fitted(self) -> dict[str, Any]:
        return {"layout": self._layout}  # by which a warning about it is not repeated

    def _store(self, objects: _Joined) -> None:
        self._objects = values, starts = objects
        self.n = len(starts) - 1
        lengths = np.diff(starts)
        mean = float(lengths.mean())
        steps, share = self._window
        limit = np.inf if steps < 0 else 2 * max(steps, share * mean) + 1 + 2 * float(lengths.std())
        self.cost = COSTS["warping"].of(mean * min(mean, limit) * values.shape[1])

    def _select(self, numbers: Rows) -> _Joined:
        return _join(self._pieces(numbers))

    def _pieces(self, numbers: Rows) -> list[Float64s]:
        values, starts = self._objects
        return [values[starts[i] : starts[i + 1]] for i in numbers]

    def _encode(self, queries: Any) -> _Joined:
        values, starts = _join(_by_time(queries, self._layout))
        channels = self._objects[0].shape[1]
        if values.shape[1] != channels:
            raise ValueError(
                f"the series of X have {values.shape[1]} channels, but those of the fit had {channels}; "
                f"the layout of both is {self._layout!r}"
            )
        return values, starts

    def _compare(self, objects: _Joined, i: Rows, others: _Joined, j: Rows) -> Float64s:
        from medoids.distances.kernels.series import elastic_kernel

        (X, x_starts), (values, starts) = objects, others
        # Series of one length share a pass, so they are brought together.
        lengths = starts[j + 1] - starts[j]
        order = np.argsort(lengths, kind="stable")
        out = np.empty((len(i), len(j)))
        longest, channels = int(lengths.max(initial=1)), values.shape[1]
        y, ys = np.empty((longest, channels, SERIES_LANES)), np.empty((longest, SERIES_LANES))
        gaps, table = np.zeros((2, longest, SERIES_LANES)), np.empty((2, longest + 2, SERIES_LANES))
        sides = self._sides(X, x_starts), self._sides(values, starts)
        # What a cell needs to know beside the samples: c of msm, 2 nu of twe.
        p = self._costs.get("c", 2 * self._costs.get("nu", 0.0))
        elastic_kernel(self._metric)(
            X, sides[0], x_starts, i, values, sides[1], starts, j, order, *self._window, p, y, ys, gaps, table, out
        )
        return out

    def _sides(self, values: Float64s, starts: Rows) -> Float64s:
        """Return the cost of a step over each sample of one series alone."""
        if self._metric == "erp":
            found: Float64s = np.linalg.norm(values - self._costs["g"], axis=1)
        elif self._metric == "twe":
            before = np.concatenate([np.zeros((1, values.shape[1])), values[:-1]])
            before[starts[:-1]] = 0
            found = np.linalg.norm(values - before, axis=1) + self._costs["nu"] + self._costs["lmbda"]
        else:
            found = np.zeros(len(values))
        return found

    def scaling(self) -> tuple[list[Float64s], Callable[[Any], Scalable], UnitRule] | None:
        if self._metric != "dtw":
            return None  # whose squares could leave the range of float64
        pieces = self._pieces(np.arange(self.n))
        # In the layout in which they came, as the queries do.
        series = [piece.T for piece in pieces] if self._layout == "channels_first" else pieces
        return series, self._among, UnitRule("dtw", 1)

    def _among(self, series: Any) -> Warping:
        """Return the same distance among other series."""
        other = copy(self)
        other._store(self._encode(series))
        return other

    def cross_unscaled(self, queries: Any) -> Float64s:
        return Encoded.cross(self, queries)


def check_window(window: Any) -> tuple[int, float]:
    """Return the window in samples and as a share, the larger of which counts; -1 samples for no limit.

    >>> check_window(None), check_window(5), check_window(0.1)
    ((-1, 0.0), (5, 0.0), (0, 0.1))
    """
    if window is None:
        return -1, 0.0
    if isinstance(window, (int, np.integer)) and not isinstance(window, bool) and window >= 0:
        return int(window), 0.0
    if isinstance(window, (float, np.floating)) and 0 <= window <= 1:
        return 0, float(window)
    raise ValueError(
        f"metric_params={{'window': {window!r}}}: pass a whole number of samples, a share of the longer series "
        "between 0.0 and 1.0, or None for no limit"
    )


def _by_time(series: Any, layout: str) -> list[Float64s]:
    """Return each series as an array of shape (length, channels)."""
    out: list[Float64s] = []
    for row, one in enumerate(series):
        values = np.asarray(one, dtype=np.float64)
        if values.ndim == 1:
            values = values[:, None]
        elif layout == "channels_first":
            values = values.T
        if out and values.shape[1] != out[0].shape[1]:
            raise ValueError(f"row {row} of X has {values.shape[1]} channels, but row 0 has {out[0].shape[1]}")
        out.append(values)
    return out


def _join(parts: list[Float64s]) -> tuple[Float64s, Rows]:
    """Return all samples, of shape (samples, channels), and where each series starts."""
    return np.ascontiguousarray(np.concatenate(parts)), starts_of(parts)
