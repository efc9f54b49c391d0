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
import numpy.typing as npt

from medoids.distances.protocol import Dissimilarity, Index, by_lots
from medoids.distances.vocabulary import Vocabulary
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads

__all__ = ["Trees"]

Ints = npt.NDArray[np.int64]
# Nanoseconds of a pair of forests.
_CELL = 2.0


class Trees(Dissimilarity):
    """Trees under the cheapest edits.

    Parameters
    ----------
    trees : sequence of nested tuples or lists, or of ``ast`` nodes
    insert, delete, rename : float
        Costs of an edit. From medoid to point: what only the medoid has is deleted.
    """

    dtype = np.dtype(np.float64)
    exact = True
    threaded = True

    def __init__(self, trees: Any, *, insert: float, delete: float, rename: float) -> None:
        for name, cost in (("insert", insert), ("delete", delete), ("rename", rename)):
            if not isinstance(cost, (int, float, np.number)) or not 0 <= cost < np.inf:
                raise ValueError(f"metric_params={{{name!r}: {cost!r}}}: a cost must be a number >= 0")
        self._costs = float(insert), float(delete), float(rename)
        self.symmetric = insert == delete
        self._labels = Vocabulary()
        self._set([_Flat(tree, self._labels) for tree in trees])

    def _set(self, flat: list[_Flat]) -> None:
        self._flat = flat
        self._joined = _join(flat)
        self.n = len(flat)
        self.cost = 50.0 + _CELL * float(np.mean([tree.work for tree in flat])) ** 2

    def prepare(self, threads: Threads | None = None) -> None:
        self.block(slice(0, 1), slice(0, 1))  # compile once, not in each thread

    def block(self, rows: Index, columns: Index) -> Float64s:
        numbers = np.arange(self.n)
        return self._fill(numbers[rows], self._joined, numbers[columns])

    def _fill(self, i: Rows, other: tuple[Ints, ...], j: Rows) -> Float64s:
        from medoids.distances.kernels.trees import edit

        out = np.empty((len(i), len(j)))
        edit(*self._joined, i, *other, j, *self._costs, out)
        return out

    def take(self, rows: Index) -> Trees:
        part: Trees = object.__new__(Trees)
        part.__dict__ = self.__dict__.copy()
        part._set([self._flat[i] for i in np.arange(self.n)[rows]])
        return part

    def cross(self, queries: Any) -> Float64s:
        labels = self._labels.copy()
        other = _join([_Flat(query, labels) for query in queries])
        everyone = np.arange(self.n)
        return by_lots(lambda j: self._fill(everyone, other, j), self.n, len(queries), self.cost)


class _Flat:
    """A tree as arrays in postorder, children before their parent.

    Attributes
    ----------
    labels : of each node
    first : number of each node's leftmost leaf
    roots : the keyroots: nodes that are nobody's first child, in order
    work : nodes of all their subtrees, whose product over two trees is the number of steps of the algorithm
    """

    def __init__(self, tree: Any, labels: Vocabulary) -> None:
        names: list[Hashable] = []
        first: list[int] = []
        # A stack instead of recursion: programs may be nested deeper than Python allows.
        stack: list[tuple[Hashable, Iterator[Any], int]] = []
        label, children = _open(tree)
        stack.append((label, iter(children), 0))
        while stack:
            label, rest, leaf = stack[-1]
            child = next(rest, _END)
            if child is not _END:
                label, children = _open(child)
                stack.append((label, iter(children), len(names)))
                continue
            stack.pop()
            names.append(label)
            first.append(leaf)
        self.labels = np.array(labels.numbers(names), dtype=np.int64)
        self.first = np.array(first, dtype=np.int64)
        last = {leaf: node for node, leaf in enumerate(first)}
        self.roots = np.array(sorted(last.values()), dtype=np.int64)
        self.work = float((self.roots - self.first[self.roots] + 1).sum())


_END = object()


def _open(node: Any) -> tuple[Hashable, list[Any]]:
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
        return tuple(values), children
    if isinstance(node, (tuple, list)):
        return node[0], list(node[1:])
    label: Hashable = node
    return label, []


def _join(flat: list[_Flat]) -> tuple[Ints, ...]:
    """Return labels, first leaves and keyroots of all trees, and where each tree's nodes and keyroots start."""
    nodes = np.concatenate([[0], np.cumsum([len(tree.labels) for tree in flat])])
    roots = np.concatenate([[0], np.cumsum([len(tree.roots) for tree in flat])])
    parts = [np.concatenate([getattr(tree, name) for tree in flat]) for name in ("labels", "first", "roots")]
    return (*parts, nodes.astype(np.int64), roots.astype(np.int64))
