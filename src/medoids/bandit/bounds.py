"""When an arm may be dropped."""

from __future__ import annotations

import numpy as np

from medoids.engine.arrays import Bools, Float64s

__all__ = ["Independent", "Paired"]


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
        width: Float64s = sigma * (self.w / np.sqrt(t))
        return width

    def keep(self, means: Float64s, sigma: Float64s, t: int) -> Bools:
        """Return which arms stay, given (arms, faces) means and standard deviations."""
        width = self.width(sigma, t)
        kept: Bools = ((means - width) <= (means + width).min()).any(axis=1)
        return kept


class Paired:
    """Arms that saw the same references are compared by their differences, not by two intervals.

    Nearly tied arms, which separate intervals need almost all references to separate, are usually similar: their values
    rise and fall together, and the spread of the difference is small. A face is dropped when its mean difference from
    the leader exceeds

        w sd(difference) / sqrt(t) sqrt(1 - t/n),    w = sqrt(log(1/delta))

    whose last factor is the finite-population correction: at t = n the width is 0.

    Parameters
    ----------
    delta : float
        Nominally a comparison errs with probability at most exp(-w^2 / 2) = sqrt(delta).
    n : int
        References in all.
    """

    def __init__(self, delta: float, n: int) -> None:
        self.w, self.n = float(np.sqrt(np.log(1 / delta))), n

    def width(self, t: int) -> float:
        """Return the width of the bound after t references for a spread of 1."""
        return self.w * float(np.sqrt(max(0.0, 1 / t - 1 / self.n)))
