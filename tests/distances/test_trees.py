"""Tree edit distance, beside its recursive definition."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import Any

import numpy as np
import pytest

import oracle
from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity
from medoids.inputs import check_data

WHOLE = slice(None)


def normal(tree: Any) -> tuple[Any, ...]:
    """(label, children), all tuples."""
    if not isinstance(tree, (tuple, list)):
        return tree, ()
    return tree[0], tuple(normal(child) for child in tree[1:])


@cache
def forests(a: tuple[Any, ...], b: tuple[Any, ...], insert: float, delete: float, rename: float) -> float:
    """Distance of two ordered forests, by the recursion that defines it."""
    costs = insert, delete, rename
    if not a and not b:
        return 0
    options = []
    if a:
        (label, children), rest = a[-1], a[:-1]
        options.append(forests(rest + children, b, *costs) + delete)
    if b:
        (other, grandchildren), others = b[-1], b[:-1]
        options.append(forests(a, others + grandchildren, *costs) + insert)
    if a and b:
        change = 0 if label == other else rename
        options.append(forests(rest, others, *costs) + forests(children, grandchildren, *costs) + change)
    return min(options)


def random_tree(random: np.random.Generator, size: int) -> Any:
    label = str(random.choice(list("abc")))
    if size == 1:
        return label if random.random() < 0.5 else (label,)
    sizes = random.multinomial(size - 1, np.ones(3) / 3)
    return [label, *(random_tree(random, int(part)) for part in sizes if part)]


def test_by_hand() -> None:
    # Zhang and Shasha's own example: c moves out of d, which one deletion and one insertion do.
    first = ("f", ("d", "a", ("c", "b")), "e")
    second = ("f", ("c", ("d", "a", "b")), "e")
    trees = [first, second, "f", ("f", "d", "e"), ["g"]]
    found = dissimilarity(check_data(trees, "tree_edit"), "tree_edit").block(WHOLE, WHOLE)
    assert found[0, 1] == 2
    assert found[0, 2] == 5  # delete all but the root
    assert found[0, 3] == 3
    assert found[2, 4] == 1
    assert (np.diag(found) == 0).all()


@pytest.mark.parametrize("costs", [(1, 1, 1), (2, 2, 3), (1, 3, 1.5), (1, 1, 5), (1, 1, 0)])
def test_as_defined(costs: tuple[float, float, float]) -> None:
    random = np.random.default_rng(0)
    trees = [random_tree(random, 1 + i % 8) for i in range(24)]
    expected = [[forests((normal(a),), (normal(b),), *costs) for b in trees] for a in trees]
    insert, delete, rename = costs
    distance = dissimilarity(trees, "tree_edit", {"insert": insert, "delete": delete, "rename": rename})
    np.testing.assert_allclose(distance.block(WHOLE, WHOLE), expected, rtol=1e-12)
    assert distance.symmetric == (insert == delete)
    pick = np.array([7, 0, 23])
    np.testing.assert_allclose(distance.take(pick).cross(trees), np.array(expected)[pick], rtol=1e-12)


def test_the_medoid_is_turned_into_the_point() -> None:
    # "f" becomes ("f", "a") by an insertion.
    found = dissimilarity(["f", ("f", "a")], "ted", {"insert": 2, "delete": 7}).block(WHOLE, WHOLE)
    assert found.tolist() == [[0, 2], [7, 0]]


def test_programs() -> None:
    sources = ["x = 1", "y = 1", "x = 1.0", "x = 1\nprint(x)", "x = True"]
    found = dissimilarity([ast.parse(source) for source in sources], "tree_edit").block(WHOLE, WHOLE)
    # Another name or constant is a change of one label; print(x) are four nodes more: Expr, Call and two Names.
    assert found[0].tolist() == [0, 1, 1, 4, 1]


def test_a_deep_tree() -> None:
    tree: Any = "leaf"
    for _ in range(3000):
        tree = ("node", tree)
    assert dissimilarity(check_data([tree, ("node", tree)], "tree_edit"), "tree_edit").block(WHOLE, WHOLE)[0, 1] == 1


def test_new_labels() -> None:
    model = KMedoids(1, metric="tree_edit").fit([("a", "b"), ("a", "b")])
    assert model.transform([("a", "new"), ("new", "newer"), ("a", "b")]).tolist() == [[1], [2], [0]]


@pytest.mark.parametrize(
    ("trees", "params", "message"),
    [
        ([("a",), ("a", ())], {}, r"row 1 of X has a node without a label, \(\); a tree is \(label, child"),
        ([("a",), (["b"], "c")], {}, r"row 1 of X has the label \['b'\], which is not hashable"),
        ([("a",), None], {}, r"row 1 of X is missing"),
        ([("a",)], {"rename": -1}, r"'rename': -1.*a cost must be a number >= 0"),
        ([("a",)], {"move": 1}, r"'move' is unknown; metric='tree_edit' takes \['delete', 'insert', 'rename'\]"),
    ],
)
def test_bad_trees(trees: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        k_medoids(trees, 1, metric="tree_edit", metric_params=params)


def small_functions(count: int) -> list[ast.AST]:
    """Functions of the standard library and of NumPy's Python code, of few nodes each."""
    import calendar
    import collections
    import fractions
    import statistics
    import string
    import tarfile
    import zipfile

    found: list[ast.AST] = []
    modules = [calendar, collections, fractions, statistics, string, tarfile, zipfile, textwrap, inspect, ast]
    for module in modules:
        nodes = ast.walk(ast.parse(inspect.getsource(module)))
        found += [n for n in nodes if isinstance(n, ast.FunctionDef) and len(list(ast.walk(n))) <= 60]
    assert len(found) >= count
    return found[:count]


@pytest.mark.slow
def test_pams_medoids_of_200_functions() -> None:
    functions = small_functions(200)
    D = dissimilarity(functions, "tree_edit").block(WHOLE, WHOLE)
    expected = oracle.pam_by_columns(D, 5)
    for algorithm in ("auto", "pairedpam", "banditpam++"):
        found = k_medoids(functions, 5, metric="tree_edit", algorithm=algorithm, random_state=0)
        assert found.inertia == D[expected].min(axis=0).sum()
        assert found.medoid_indices.tolist() == expected
