"""Zhang and Shasha's algorithm over trees in postorder; ``trees.py`` says what the arrays are."""

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = ["edit"]


@inline
def _subtrees(labels, first, s, i, labels_y, first_y, t, j, insert, delete, rename, forest, tree):  # type: ignore[no-untyped-def]
    """Distances of all pairs of prefixes of two keyroots' subtrees, and with them of subtrees that share a first leaf.

    ``s`` and ``t`` are where the trees' nodes begin; forest[a, b] is the distance of the first a and b nodes.
    """
    low, low_y = first[s + i], first_y[t + j]
    forest[0, 0] = 0.0
    for a in range(1, i - low + 2):
        forest[a, 0] = forest[a - 1, 0] + delete
    for b in range(1, j - low_y + 2):
        forest[0, b] = forest[0, b - 1] + insert
    for a in range(1, i - low + 2):
        x = low + a - 1
        fx = first[s + x]
        for b in range(1, j - low_y + 2):
            y = low_y + b - 1
            fy = first_y[t + y]
            best = min(forest[a - 1, b] + delete, forest[a, b - 1] + insert)
            if fx == low and fy == low_y:
                change = rename if labels[s + x] != labels_y[t + y] else 0.0
                best = min(best, forest[a - 1, b - 1] + change)
                tree[x, y] = best
            else:
                best = min(best, forest[fx - low, fy - low_y] + tree[x, y])
            forest[a, b] = best


@kernel()
def edit(  # type: ignore[no-untyped-def]
    labels, first, roots, nodes, keys, rows,
    labels_y, first_y, roots_y, nodes_y, keys_y, columns,
    insert, delete, rename, out,
):  # fmt: skip
    """Fill ``out[a, b]`` with the cost of turning tree rows[a] into tree columns[b]."""
    most = most_y = 0
    for i in rows:
        most = max(most, nodes[i + 1] - nodes[i])
    for j in columns:
        most_y = max(most_y, nodes_y[j + 1] - nodes_y[j])
    forest, tree = np.empty((most + 1, most_y + 1)), np.empty((most, most_y))
    for a, i in enumerate(rows):
        for b, j in enumerate(columns):
            for x in range(keys[i], keys[i + 1]):
                for y in range(keys_y[j], keys_y[j + 1]):
                    _subtrees(
                        labels, first, nodes[i], roots[x], labels_y, first_y, nodes_y[j], roots_y[y],
                        insert, delete, rename, forest, tree,
                    )  # fmt: skip
            out[a, b] = tree[nodes[i + 1] - nodes[i] - 1, nodes_y[j + 1] - nodes_y[j] - 1]
