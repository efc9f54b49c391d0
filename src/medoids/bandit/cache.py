"""The permutation-invariant cache: distances from every point to the head of one fixed order of references.

All BUILD and SWAP steps look at references in this order from its head, so what one step computed the next one finds
(Section 4.2 of the paper).
"""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.distances import Floats
from medoids.engine.arrays import Rows
from medoids.engine.threads import spans

__all__ = ["PermutationCache"]


class PermutationCache:
    """Distances d(i, order[q]) for q < width, computed when first asked for.

    Parameters
    ----------
    problem : Problem
    order : ndarray
        The fixed permutation.
    width : int
        Most distances to keep for a point; less where ``memory_limit`` says so.
    batch : int
        Entries are computed and kept by whole batches.
    """

    def __init__(self, problem: Problem, order: Rows, width: int, batch: int) -> None:
        distance = problem.distance
        affordable = problem.memory_limit // (problem.n * distance.dtype.itemsize)
        self.width = int(min(width, affordable, len(order))) // batch * batch
        self._problem, self._order, self._batch = problem, order, batch
        self._values = np.empty((problem.n, self.width), dtype=distance.dtype)
        self._known = np.zeros((problem.n, self.width // batch), dtype=bool)

    def holds(self, batch: slice) -> bool:
        """Whether a batch lies within the cache."""
        return bool(batch.stop <= self.width)

    def fill(self, rows: Rows, batch: slice) -> int:
        """Compute what is missing of a batch for some rows; return how many distances that were."""
        column = batch.start // self._batch
        missing = np.unique(rows[~self._known[rows, column]])
        references = self._order[batch]

        def work(lot: slice) -> None:
            self._values[missing[lot], batch] = self._problem.distance.inner.block(missing[lot], references)

        distance = self._problem.distance
        self._problem.threads.map(work, spans(len(missing), 1024), threaded=distance.threaded)
        self._known[missing, column] = True
        return len(missing) * len(references)

    def read(self, rows: Rows, batch: slice) -> Floats:
        """Return distances that `fill` has computed."""
        return self._values[rows, batch]
