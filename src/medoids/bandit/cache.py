"""The permutation-invariant cache: distances from every point to the head of one fixed order of references.

All BUILD and SWAP steps look at references in this order from its head, so what one step computed the next one finds
(Section 4.2 of the paper).
"""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.distances import Floats
from medoids.engine.arrays import Rows
from medoids.engine.budget import ARMS_PER_CHUNK
from medoids.engine.threads import Threads, spans

__all__ = ["PermutationCache"]


class PermutationCache:
    """Distances d(i, order[q]) for q < width, computed when first asked for.

    Parameters
    ----------
    problem : Problem
    threads : Threads
    order : ndarray
        The fixed permutation.
    width : int
        Maximum number of distances to keep per point; fewer if ``memory_limit`` demands it.
    batch : int
        Entries are computed and kept by whole batches.
    """

    def __init__(self, problem: Problem, threads: Threads, order: Rows, width: int, batch: int) -> None:
        distance = problem.distance
        affordable = problem.memory_limit // (problem.n * distance.dtype.itemsize)
        self.width = int(min(width, affordable, len(order))) // batch * batch
        self._distance, self._threads, self.order, self._batch = distance, threads, order, batch
        self._values = np.empty((problem.n, self.width), dtype=distance.dtype)
        self._known = np.zeros((problem.n, self.width // batch), dtype=bool)

    def fill(self, rows: Rows, batch: slice) -> int:
        """Compute what is missing of a batch for some rows; return the number of distances computed."""
        column = batch.start // self._batch
        missing = np.unique(rows[~self._known[rows, column]])
        references = self.order[batch]

        def work(chunk: slice) -> None:
            self._values[missing[chunk], batch] = self._distance.block(missing[chunk], references)

        self._threads.map(work, spans(len(missing), ARMS_PER_CHUNK), threaded=self._distance.threaded)
        self._known[missing, column] = True
        return len(missing) * len(references)

    def read(self, rows: Rows, batch: slice) -> Floats:
        """Return distances that `fill` has computed."""
        return self._values[rows, batch]
