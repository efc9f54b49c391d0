"""A lower bound on every choice of k medoids: the dual of the k-median relaxation, by subgradient ascent.

For any number v_s given to each point s, and w_s its share of the weight,

    loss(M) = sum_s w_s min_{i in M} d(i, s)  >=  sum_s w_s v_s - sum_{i in M} rho_i
    rho_i   = sum_s w_s max(0, v_s - d(i, s))

since the nearest medoid alone makes up for v_s - d, and the others take off at least 0. So the sum of the k largest
rho_i bounds every M at once, whatever v is and whether d is symmetric, a metric, or negative. The best v gives the
value of the linear relaxation (y_i in [0, 1] instead of {0, 1}), which on real data is mostly within a percent of the
best loss. v climbs along the subgradient 1 - |{i among the k largest: d(i, s) < v_s}| with Polyak's steps towards a
known loss, each direction keeping a part of the one before (Camerini, Fratta and Maffioli 1975).
"""

from __future__ import annotations

import numpy as np

from medoids.distances import SMALL, Floats
from medoids.engine.arrays import Bools, Float64s
from medoids.engine.budget import MATRIX_ENTRIES, SUM_TILE
from medoids.engine.threads import Threads, spans
from medoids.exact.matrix import MARGIN

__all__ = ["dual_bound"]


# Maximum number of steps; a gap to the known loss that is not worth another step; share of the previous direction.
_DUAL_STEPS = 120
_CLOSE_GAP = 1e-4
_KEPT_DIRECTION = 0.6
# After this many steps without a better bound the step shrinks, and the ascent continues from the best v.
_DUAL_PATIENCE, _DUAL_SHRINK, _SMALLEST_STEP = 6, 0.6, 0.02
_DUAL_ROUNDING = 1e-12


def dual_bound(
    by_reference: Floats,  # (m, n): [s, i] is d(i, s)
    weights: Float64s,  # (m,)
    allowed: Bools,  # (n,): rows that may be medoids
    k: int,
    d1: Float64s,  # (m,): distances to the nearest medoid of a known solution
    d2: Float64s,  # (m,): to the second nearest
    threads: Threads,
    *,
    exact: bool,
) -> float:
    """Return a number that no k medoids' mean distance to these points falls below."""
    w = weights / weights.sum()
    known = float(w @ d1)
    v = np.where(np.isfinite(d2), (d1 + np.where(np.isfinite(d2), d2, 0.0)) / 2, d1)
    # Outside of these the slope is known to lead back, and sums of large prices would cancel to noise.
    low, high = by_reference.min(axis=1).astype(np.float64), by_reference.max(axis=1).astype(np.float64)
    v = np.clip(v, low, high)
    rounding = _DUAL_ROUNDING if exact else MARGIN  # what the sums below may be wrong by, as a share of the prices
    best, best_v = -np.inf, v
    direction = np.zeros(len(v))
    length, idle = 1.0, 0
    for _ in range(_DUAL_STEPS):
        rho = _savings(by_reference, v, w, threads)
        rho[~allowed] = -np.inf
        top = np.argpartition(-rho, k - 1)[:k]
        value = float(w @ v - rho[top].sum() - rounding * (w @ np.abs(v)))
        if value > best + 1e-6 * abs(known):
            idle = 0
        else:
            idle += 1
        if value > best:
            best, best_v = value, v
        if known - best <= _CLOSE_GAP * abs(known) or length < _SMALLEST_STEP:
            break
        slope = 1.0 - np.count_nonzero(by_reference[:, top] < v[:, None], axis=1)
        if idle >= _DUAL_PATIENCE:
            idle, length, v = 0, length * _DUAL_SHRINK, best_v
        direction = slope + _KEPT_DIRECTION * direction
        norm = float(w @ direction**2)
        if norm == 0:
            break
        v = np.clip(v + length * (known - value) / norm * direction, low, high)
    return min(best, known)


def _savings(by_reference: Floats, v: Float64s, w: Float64s, threads: Threads) -> Float64s:
    """rho_i of every row."""
    m, n = by_reference.shape
    rho = np.zeros(n)
    if n <= SMALL:
        for span in spans(m, max(1, (1 << 20) // n)):
            rho += w[span] @ np.maximum(v[span, None] - by_reference[span], 0)
        return rho
    from medoids.exact.kernels import add_savings

    def work(arms: slice) -> None:
        for span in spans(m, MATRIX_ENTRIES // SUM_TILE[0]):
            add_savings(by_reference[span], v[span], w[span], arms.start, arms.stop, rho)

    threads.map(work, spans(n, SUM_TILE[0]))
    return rho
