"""Tree edit distance (Zhang and Shasha 1989) of ordered, labelled trees: nested sequences and Python's own ``ast``.

The least cost of turning one tree into another by deleting nodes (children move up), inserting them, and changing
labels. A tree is ``(label, child, child, ...)``, as tuple or list, and a leaf may be the label alone. A node of ``ast``
is labelled with its type and the names and constants that it holds.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from medoids.distances.encoded import Encoded, Vocabulary, starts_of
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.budget import COSTS

__all__ = ["Trees", "opened"]


class Trees(Encoded):
    """Trees under the cheapest edits.

    Parameters
    ----------
    trees : sequence of nested tuples or lists, or of ``ast`` nodes
    insert, delete, rename : float
        Costs of an edit. From medoid to point: what only the medoid has is deleted.
    """

    def __init__(self, trees: Any, *, insert: Any, delete: Any, rename: Any) -> None:
        for name, cost in (("insert", insert), ("delete", delete), ("rename", rename)):
            if not isinstance(cost, (int, float, np.number)) or not 0 <= cost < np.inf:
                raise ValueError(f"metric_params={{{name!r}: {cost!r}}}: a cost must be a number >= 0")
        self._costs = float(insert), float(delete), float(rename)
        self.symmetric = insert == delete
        self._labels = Vocabulary()
        self._store(_Forest([_Flat(tree, self._labels) for tree in trees]))

    def _store(self, objects: _Forest) -> None:
        self._objects, self.n = objects, len(objects.trees)
        self.cost = COSTS["trees"].of(float(np.mean([tree.work for tree in objects.trees])) ** 2)

    def _select(self, numbers: Rows) -> _Forest:
        return _Forest([self._objects.trees[i] for i in numbers])

    def _encode(self, queries: Any) -> _Forest:
        labels = Vocabulary(self._labels)
        return _Forest([_Flat(query, labels) for query in queries])

    def _compare(self, objects: _Forest, i: Rows, others: _Forest, j: Rows) -> Float64s:
        from medoids.distances.kernels.trees import edit

        out = np.empty((len(i), len(j)))
        edit(*objects.arrays, i, *others.arrays, j, *self._costs, out)
        return out


class _Forest:
    """Trees, and their labels, first leaves and keyroots joined, with where each tree's nodes and keyroots start."""

    def __init__(self, trees: list[_Flat]) -> None:
        self.trees = trees
        labels, first, roots = ([getattr(tree, name) for tree in trees] for name in ("labels", "first", "roots"))
        self.arrays = (*map(np.concatenate, (labels, first, roots)), starts_of(labels), starts_of(roots))


class _Flat:
    """A tree as arrays in postorder, children before their parent.

    Attributes
    ----------
    labels : of each node
    first : number of each node's leftmost leaf
    roots : the keyroots: nodes that are not a first child, in order
    work : nodes of all their subtrees, whose product over two trees is the number of steps of the algorithm
    """

    def __init__(self, tree: Any, labels: Vocabulary) -> None:
        names: list[Hashable] = []
        first: list[int] = []
        # A stack instead of recursion: programs may be nested deeper than Python allows.
        stack: list[tuple[Hashable, Iterator[Any], int]] = [(*opened(tree), 0)]
        while stack:
            label, children, leaf = stack[-1]
            if (child := next(children, _END)) is not _END:
                stack.append((*opened(child), len(names)))
            else:
                stack.pop()
                names.append(label)
                first.append(leaf)
        self.labels = np.array(labels.numbers(names), dtype=np.int64)
        self.first = np.array(first, dtype=np.int64)
        self.roots = np.array(sorted({leaf: node for node, leaf in enumerate(first)}.values()), dtype=np.int64)
        self.work = float((self.roots - self.first[self.roots] + 1).sum())


_END = object()


def opened(node: Any) -> tuple[Hashable, Iterator[Any]]:
    """Return a node's label and children."""
    if isinstance(node, ast.AST):
        values: list[Any] = [type(node).__name__]
        children: list[Any] = []
        for _, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            # Whether a name is read or written shows in its place already.
            children += [part for part in parts if isinstance(part, ast.AST) and not isinstance(part, ast.expr_context)]
            # With the type: 1, 1.0 and True are equal in Python, and not the same program.
            values += [(type(part).__name__, part) for part in parts if not isinstance(part, (ast.AST, type(None)))]
        return tuple(values), iter(children)
    return (node[0], iter(node[1:])) if isinstance(node, (tuple, list)) else (node, iter(()))
