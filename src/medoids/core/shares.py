"""References of similar weight: a row of large weight counts as several references, each with a share of its weight.

An algorithm that samples references uniformly would mostly miss a rare heavy row, in its means and in its estimates of
their spread alike, and so drop the best candidate without knowing better. As several references the row is in every
sample in proportion to its weight, and no reference weighs more than the mean. There are at most twice as many
references as rows.
"""

from __future__ import annotations

import numpy as np

from medoids.engine.arrays import Float64s, Rows

__all__ = ["count_shares", "largest_share"]

# Largest weight of a reference, in mean weights: just above 1, so that equal weights stay whole. With 4, two of 200
# fits with heavy weights missed PAM's loss, and with 1.5 one.
_LARGEST_SHARE = 1.05


def largest_share(total: float, rows: int) -> float:
    """Return the largest weight of a reference, for rows of positive weight with this total."""
    return _LARGEST_SHARE * total / rows


def count_shares(weights: Float64s, largest: float) -> Rows:
    """Return how many references each row counts as; 0 for a row of weight 0, which says nothing.

    >>> count_shares(np.array([1.0, 1.0, 0.0, 1.0, 33.0, 1.0]), 8.0)
    array([1, 1, 0, 1, 5, 1])
    """
    return np.maximum(np.ceil(weights / largest), weights > 0).astype(np.intp)
