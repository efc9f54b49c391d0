"""Equal points, which a search takes as one: as arms they are the same, and as references their weights add up.

Only where equal objects are at 0 from each other, and at the same distance from any other: `Dissimilarity.digests`.
"""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.engine.arrays import Float64s, Rows

__all__ = ["merge_equal"]

# Points that are looked at first: if no two of them are equal, of a million some thousand are at most.
_LOOKED_AT = 4096


def merge_equal(problem: Problem, points: Rows) -> tuple[Rows, Float64s, Rows]:
    """Return points that differ, their weights, and for each of the given points the number of the one it is equal to.

    Of equal points the first one stays that may become a medoid. Nothing is merged where that would leave fewer than k.
    """
    weights, unmerged = problem.weights[points], np.arange(len(points))
    if not problem.starts_with_build or problem.frozen:  # rows that were given need not be the first of equal ones
        return points, weights, unmerged
    looked_at = np.unique(np.random.RandomState(0).randint(len(points), size=_LOOKED_AT))
    some = problem.distance.digests(points[looked_at])
    if some is None or len(np.unique(some[:, 0])) == len(some):
        return points, weights, unmerged
    digests = problem.distance.digests(points)
    assert digests is not None
    at = np.argsort(~problem.eligible[points], kind="stable")
    _, first, group = np.unique(digests[at, 0], return_index=True, return_inverse=True)
    alike = np.empty(len(points), dtype=np.intp)
    alike[at] = at[first][group]
    kept = np.unique(alike)
    same = (digests == digests[alike]).all()
    if not same or len(kept) == len(points) or np.count_nonzero(problem.eligible[points[kept]]) < problem.k:
        return points, weights, unmerged
    alike = np.searchsorted(kept, alike)
    return points[kept], np.bincount(alike, weights).astype(np.float64), alike
