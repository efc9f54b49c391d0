"""Compiled loops of the tree: see ``tree.py``."""

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = ["find_leaves", "split_tree"]


@inline
def _tie(Z, s):  # type: ignore[no-untyped-def]
    """What tells points apart that have one coordinate in common, as many have whose distances are whole numbers."""
    total = 0.0
    for z in range(Z.shape[0]):
        total += Z[z, s]
    return 1e-6 * total / Z.shape[0]


@kernel()
def split_tree(Z, mass, depth, coordinate, cut):  # type: ignore[no-untyped-def]
    """Cut points, given as (coordinates, points), ``depth`` times into halves of nearly equal mass.

    Each time by the coordinate that varies most; equal points stay together.
    """
    q, n = Z.shape
    order, values, ties = np.arange(n), np.empty(n), np.empty(n)
    for s in range(n):
        ties[s] = _tie(Z, s)
    stops = np.full(2 << depth, n)  # of each node's points in the order; they begin where those of the one before stop
    for node in range(1, 1 << depth):
        start, stop = 0 if node & (node - 1) == 0 else stops[node - 1], stops[node]
        cut[node], stops[2 * node] = np.inf, stop
        if stop - start > 1:
            # By a few of the points: the cut is what has to be exact.
            step, best = max(1, (stop - start) // 32), -1.0
            for z in range(q):
                total, squares, seen = 0.0, 0.0, 0
                for e in range(start, stop, step):
                    x = Z[z, order[e]] - Z[z, order[start]]
                    total += x
                    squares += x * x
                    seen += 1
                spread = squares / seen - (total / seen) ** 2
                if spread > best:
                    best, coordinate[node] = spread, z
            whole = 0.0
            for e in range(start, stop):
                values[e] = Z[coordinate[node], order[e]] + ties[order[e]]
                whole += mass[order[e]]
            low, high, below = start, stop - 1, 0.0  # quickselect, by mass
            while low < high:
                x, i, j = values[(low + high) // 2], low, high
                while i <= j:
                    while values[i] < x:
                        i += 1
                    while values[j] > x:
                        j -= 1
                    if i <= j:
                        values[i], values[j] = values[j], values[i]
                        order[i], order[j] = order[j], order[i]
                        i += 1
                        j -= 1
                left, middle = 0.0, 0.0
                for e in range(low, j + 1):
                    left += mass[order[e]]
                for e in range(j + 1, i):
                    middle += mass[order[e]]
                if 2 * (below + left) >= whole and j >= low:
                    high = j
                elif 2 * (below + left + middle) >= whole or i > high:
                    low = high = min(j + 1, high)
                else:
                    low, below = i, below + left + middle
            x, less, same, more = values[low], 0.0, 0.0, np.inf
            for e in range(start, stop):
                if values[e] < x:
                    less += mass[order[e]]
                elif values[e] > x:
                    more = min(more, values[e])
                else:
                    same += mass[order[e]]
            cut[node] = x if less > 0 and whole - 2 * less <= 2 * (less + same) - whole else more
            i = start
            for e in range(start, stop):
                if values[e] < cut[node]:
                    order[e], order[i] = order[i], order[e]
                    values[e], values[i] = values[i], values[e]
                    i += 1
            stops[2 * node] = i
        stops[2 * node + 1] = stop


@kernel()
def find_leaves(Z, coordinate, cut, out):  # type: ignore[no-untyped-def]
    """The leaf of each point: below a node, points whose coordinate is less than the cut go left."""
    for s in range(Z.shape[1]):
        node, tie = 1, _tie(Z, s)
        while node < len(cut):
            node = 2 * node + (0 if Z[coordinate[node], s] + tie < cut[node] else 1)
        out[s] = node - len(cut)
