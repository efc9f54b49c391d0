"""The best mixture of two solutions, part by part.

Take the medoids that two solutions share as given. Two of the others interact only where some point has both nearer
than all shared ones, so they fall into independent parts, and a point's distance to its nearest medoid depends on one
part alone. For each part either solution's medoids can be taken, and the gains add up: the best choice that keeps k
medoids is a small knapsack, and its loss is at most the lower of the two. (The partition crossover of Whitley, Hains
and Howe 2009 for tours does the same.) With many medoids this joins what separate restarts have found in separate
regions; with few there is mostly one part only.
"""

from __future__ import annotations

import numpy as np

from medoids.engine.arrays import Rows
from medoids.engine.compile import inline, kernel
from medoids.optimal.instance import Instance

__all__ = ["best_mixture"]


@inline
def _root(parent, e):  # type: ignore[no-untyped-def]
    while parent[e] != e:
        e = parent[e]
    return e


@kernel()
def _parts(R, w, shared, mine, yours, parent, gain):  # type: ignore[no-untyped-def]
    """Join medoids that interact, and sum what a point gains by yours instead of mine to one of its part."""
    a = len(mine)
    for s in range(len(w)):
        if w[s] == 0:
            continue
        row, limit = R[s], np.inf
        for i in shared:
            limit = min(limit, row[i])
        first, here, there = -1, limit, limit
        for e in range(a + len(yours)):
            d = row[mine[e]] if e < a else row[yours[e - a]]
            if d < limit:
                if e < a:
                    here = min(here, d)
                else:
                    there = min(there, d)
                if first < 0:
                    first = _root(parent, e)
                else:
                    other = _root(parent, e)
                    parent[max(first, other)] = min(first, other)
                    first = min(first, other)
        if first >= 0:
            gain[first] += w[s] * (here - there)


def best_mixture(problem: Instance, mine: Rows, yours: Rows) -> Rows | None:
    """Return the best mixture, or None if that is one of the two or the two have all their parts in common."""
    only_mine, only_yours = np.setdiff1d(mine, yours), np.setdiff1d(yours, mine)
    t = len(only_mine)
    if t < 2 or t == len(mine):
        return None
    parent, gain = np.arange(2 * t), np.zeros(2 * t)
    _parts(problem.by_point, problem.weights, np.intersect1d(mine, yours), only_mine, only_yours, parent, gain)
    roots = np.array([_find(parent, e) for e in range(2 * t)])
    # A point's gain was added to the root of its part at that time.
    gains = np.bincount(roots, weights=gain, minlength=2 * t)
    balance = np.bincount(roots[t:], minlength=2 * t) - np.bincount(roots[:t], minlength=2 * t)
    parts = np.unique(roots).tolist()
    taken = _choose({part: (float(gains[part]), int(balance[part])) for part in parts})
    if not taken or len(taken) == len(parts):
        return None
    change = np.isin(roots, sorted(taken))
    kept = np.setdiff1d(mine, only_mine[change[:t]])
    return np.concatenate([kept, only_yours[change[t:]]])


def _find(parent: Rows, e: int) -> int:
    while parent[e] != e:
        e = int(parent[e])
    return e


def _choose(parts: dict[int, tuple[float, int]]) -> set[int]:
    """Parts with the highest sum of gains whose balances sum to 0; those that neither gain nor lose are taken.

    >>> sorted(_choose({1: (5.0, 1), 2: (-3.0, -1), 3: (-1.0, 0), 4: (-6.0, -1)}))
    [1, 2]
    """
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for part, (gain, balance) in parts.items():
        if balance == 0:
            if gain >= 0:
                best = {at: (sum_ + gain, (*taken, part)) for at, (sum_, taken) in best.items()}
            continue
        for at, (sum_, taken) in list(best.items()):
            if at + balance not in best or sum_ + gain > best[at + balance][0]:
                best[at + balance] = (sum_ + gain, (*taken, part))
    return set(best[0][1])
