"""Nearest medoids of some of the points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.assignment import Assignment

__all__ = ["Part"]


class Part(Assignment):
    """The state of some of the points, or of none; the medoids may be elsewhere."""

    def _keep(self, slot: int, distances: npt.NDArray[np.float64]) -> None:
        assert self.table is not None
        self.table[slot] = distances
