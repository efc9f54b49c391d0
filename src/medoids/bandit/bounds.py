"""When an arm may be dropped."""

from __future__ import annotations

import numpy as np

from medoids.engine.arrays import Bools, Float64s

__all__ = ["Independent"]


class Independent:
    """Each face has an interval of its own: mean -+ sigma sqrt(log(1/delta) / t) (Algorithm 1, lines 12 and 15).

    An arm stays while the lower end of one of its faces is not above the lowest upper end of all (line 16).

    Parameters
    ----------
    delta : float
        The paper's parameter; an interval misses with probability at most 2 sqrt(delta), the sub-Gaussian tail of
        this width: P(|mean - mu| > sigma w / sqrt(t)) <= 2 exp(-w^2 / 2) with w^2 = log(1/delta).
    """

    def __init__(self, delta: float) -> None:
        self.w = float(np.sqrt(np.log(1 / delta)))

    def width(self, sigma: Float64s, t: int) -> Float64s:
        """Half the length of the intervals after t references."""
        return np.asarray(sigma * (self.w / np.sqrt(t)))

    def keep(self, means: Float64s, sigma: Float64s, t: int) -> Bools:
        """Return which arms stay, given (arms, faces) means and standard deviations."""
        width = self.width(sigma, t)
        return np.asarray(((means - width) <= (means + width).min()).any(axis=1))
