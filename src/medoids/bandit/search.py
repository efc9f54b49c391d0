"""Successive elimination: the loop of Algorithm 1, for BUILD and SWAP alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from medoids.bandit.bounds import Independent
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import spans

__all__ = ["Arms", "Survivors", "search"]


class Arms(Protocol):
    """What the search pulls."""

    @property
    def count(self) -> int: ...

    def pull(self, arms: Rows, order: Rows, batch: slice) -> tuple[Float64s, Float64s]:
        """Look at a batch of references; return (arms, faces) sums of the changes and of their squares."""
        ...

    def least_sigma(self, arms: Rows) -> Float64s:
        """Return what is known of each arm's standard deviation without looking: a floor."""
        ...


@dataclass
class Survivors:
    """Arms that are left, their (arms, faces) means, the references that these rest on, and whether that is all."""

    arms: Rows
    means: Float64s
    references: int
    exhausted: bool


def search(
    arms: Arms,
    order: Rows,
    size: int,
    bounds: Independent,
    report: Callable[[Rows, float], None] = lambda left, lowest: None,
) -> Survivors:
    """Drop arms until one is left or the references are used up, which makes the means of those left exact.

    References come in the given order, in batches of the given size. ``report`` is called with the arms that are left
    and the lowest mean that any of them may have.
    """
    left = np.arange(arms.count)
    sums = squares = np.zeros((len(left), 1))
    t = 0
    for batch in spans(len(order), size):
        new, new_squares = arms.pull(left, order, batch)
        sums, squares, t = sums + new, squares + new_squares, batch.stop
        if t == len(order):
            break
        # Deviation: the paper draws a batch of its own for sigma, once a step. The first batch serves both here, and
        # the later ones refine it: changes are skewed, and an arm near one outlier has a first batch that shows none
        # of its variance and would otherwise be dropped, or drop all others, when the outlier comes up.
        sigma = np.sqrt(np.maximum(squares / t - (sums / t) ** 2, 0))
        # An arm whose references so far show no change at all is not thereby known to have none.
        np.maximum(sigma, 0.1 * float(sigma.mean()), out=sigma)
        np.maximum(sigma, arms.least_sigma(left)[:, None], out=sigma)
        keep = bounds.keep(sums / t, sigma, t)
        report(left[keep], float((sums / t - bounds.width(sigma, t)).min()))
        left, sums, squares = left[keep], sums[keep], squares[keep]
        if len(left) == 1:
            break
    return Survivors(left, sums / t, t, t == len(order))
