"""Soft membership: how much a point belongs to each medoid, by its distances to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.engine.arrays import Float64s

__all__ = ["memberships"]


def memberships(distances: Float64s, m: Any, first: int = 0) -> Float64s:
    """Return shares in proportion to d^(-1/(m-1)), of shape (rows, k); a row at distance 0 belongs there only.

    ``first`` is the number of the first row, for messages.

    >>> memberships(np.array([[1.0, 3.0], [0.0, 5.0]]), 2.0).tolist()
    [[0.75, 0.25], [1.0, 0.0]]
    """
    if not isinstance(m, (int, float, np.number)) or isinstance(m, bool) or not 1 < m < np.inf:
        raise ValueError(f"m={m!r} must be a number > 1; 2 is usual, and memberships harden towards 1")
    if distances.min(initial=0) < 0:
        row, slot = np.argwhere(distances < 0)[0]
        raise ValueError(
            f"the distance from medoid {slot} to row {first + row} of X is {distances[row, slot]:.6g}; memberships "
            "need distances >= 0: add a constant to the distances, or use predict or transform"
        )
    nearest = distances.min(axis=1, keepdims=True)
    # As shares of the nearest distance, no power overflows; at 0 that distance belongs to one or several medoids.
    ratios = np.divide(nearest, distances, out=np.ones(distances.shape), where=distances > 0)
    ratios[(nearest == 0)[:, 0]] = distances[(nearest == 0)[:, 0]] == 0
    powers = ratios ** (1 / (m - 1))
    shares: Float64s = powers / powers.sum(axis=1, keepdims=True)
    return shares
