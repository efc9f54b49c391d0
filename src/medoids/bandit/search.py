"""Successive elimination: the loop of Algorithm 1, for BUILD and SWAP alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from medoids.bandit.bounds import Independent
from medoids.bandit.references import References

__all__ = ["Arms", "Found", "search"]

Float64s = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


class Arms(Protocol):
    """What the search pulls."""

    count: int

    def pull(self, arms: Rows, order: Rows, batch: slice, *, squares: bool) -> tuple[Float64s, Float64s | None]:
        """Look at a batch of references; return (arms, faces) sums of the changes and, if asked, of their squares."""
        ...

    def least_sigma(self) -> float:
        """Return a floor for the standard deviation of a change."""
        ...


@dataclass
class Found:
    """Arms that are left, their (arms, faces) means, the references that these rest on, and whether that is all."""

    arms: Rows
    means: Float64s
    references: int
    exhausted: bool


def search(arms: Arms, references: References, bounds: Independent) -> Found:
    """Drop arms until one is left or the references are used up, which makes the means of those left exact."""
    order = references.order()
    left = np.arange(arms.count)
    sums: Float64s = np.zeros((0, 0))
    sigma: Float64s = np.zeros((0, 0))
    t = 0
    for batch in references.batches(order):
        first = t == 0
        new, squares = arms.pull(left, order, batch, squares=first)
        t = batch.stop
        if first:
            # Deviation: the paper draws a batch of its own for sigma. Its first batch serves both, and costs once.
            assert squares is not None
            sums = new
            sigma = np.sqrt(np.maximum(squares / t - (new / t) ** 2, 0))
            # An arm whose first batch shows no change at all is not thereby known to have none.
            np.maximum(sigma, max(0.1 * float(sigma.mean()), arms.least_sigma()), out=sigma)
        else:
            sums = sums + new
        if t == len(order):
            break
        keep = bounds.keep(sums / t, sigma, t)
        left, sums, sigma = left[keep], sums[keep], sigma[keep]
        if len(left) == 1:
            break
    return Found(left, sums / t, t, t == len(order))
