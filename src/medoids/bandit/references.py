"""In which order references are looked at: drawn anew in every step, or by one permutation for the whole fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from medoids.engine.arrays import Rows

__all__ = ["FixedPermutation", "FreshDraws", "References"]


class References:
    """Batches of references without replacement, up to all of them.

    Parameters
    ----------
    rows : ndarray
        The references to draw from.
    batch : int
        The paper's B.
    random : numpy.random.RandomState
    """

    def __init__(self, rows: Rows, batch: int, random: np.random.RandomState) -> None:
        self.rows, self.batch, self.random = rows, batch, random

    def order(self) -> Rows:
        """Return the order of this step."""
        raise NotImplementedError

    def batches(self, order: Rows) -> Iterator[slice]:
        """Cut the order into batches, as slices of it."""
        for start in range(0, len(order), self.batch):
            yield slice(start, min(start + self.batch, len(order)))


class FreshDraws(References):
    """BanditPAM: each step draws its own references."""

    def order(self) -> Rows:
        return self.random.permutation(self.rows)


class FixedPermutation(References):
    """BanditPAM++ (Theorem 2): one permutation, and every step starts at its head, where distances are cached."""

    def __init__(self, rows: Rows, batch: int, random: np.random.RandomState) -> None:
        super().__init__(rows, batch, random)
        self._order = random.permutation(rows)

    def order(self) -> Rows:
        return self._order
