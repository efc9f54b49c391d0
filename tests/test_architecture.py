"""Imports point down only and never in a circle, and no two modules give one name to different things."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
# The rooms, from the top down: a module may import its own line and the lines below. "" is the package itself.
LINES = [
    {
        "",
        "estimator",
        "loading",
        "api",
        "anndata",
        "stream",
        "dask",
        "cli",
        "reporting",
        "plot",
        "displays",
        "demo",
        "reproduction",
        "datasets",
    },
    {"quality"},
    {"pipeline", "cluster"},
    {"algorithms"},
    {"exact", "paired", "bandit", "optimal"},
    {"core"},
    {"settings", "inputs", "places", "result", "progress", "callbacks", "storage", "distances"},
    {"engine", "wording", "_version"},
]
HEIGHT = {room: -number for number, line in enumerate(LINES) for room in line}
# Public names that two modules share on purpose: an estimator and its face on Dask; silhouettes, a path over k, and the
# figures of both; and what the entry point of a program is called.
SHARED = {"KMedoids", "k_path", "main", "silhouette"}
# The two imports upward, inside of methods: a path over k draws itself, and a result shows itself in a notebook.
UPWARD = {"medoids.quality.k_path imports medoids.plot", "medoids.result imports medoids.reporting.notebook"}


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax trees of all modules, by dotted name; a package is its ``__init__``."""
    found = {}
    for path in sorted(SOURCE.glob("medoids/**/*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes, those inside functions too, but not what only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from nodes(node)


def imported(name: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each module of the package that a module imports, wherever it does."""
    for node in nodes(modules()[name]):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = [part if part in modules() else node.module for part in parts]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            targets = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
        yield from ((node.lineno, target) for target in targets if target in modules())


def room(name: str) -> str:
    return [*name.split("."), ""][1]


def test_every_module_is_in_a_room() -> None:
    assert {room(name) for name in modules()} - set(HEIGHT) == set()


@pytest.mark.parametrize("name", sorted({room(name) for name in modules()}))
def test_imports_point_down(name: str) -> None:
    upward = {
        f"{module}:{line} imports {target}"
        for module in modules()
        if room(module) == name
        for line, target in imported(module)
        if HEIGHT.get(room(target), 0) > HEIGHT.get(name, 0) and f"{module} imports {target}" not in UPWARD
    }
    assert not upward, "\n".join(sorted(upward))


def test_no_imports_in_a_circle() -> None:
    graph = {
        name: {target for _, target in imported(name) if f"{name} imports {target}" not in UPWARD} - {name}
        for name in modules()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" is imported by ".join(error.args[1]))


def defined(tree: ast.Module) -> Iterator[str]:
    """Yield the classes, public functions and constants that a module defines; imports do not count."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and not node.name.startswith("_")):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            yield from (name for name in names if re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name))


def test_no_name_has_two_meanings() -> None:
    homes = defaultdict(list)
    for module, tree in modules().items():
        for name in dict.fromkeys(defined(tree)):
            homes[name].append(module.removeprefix("medoids."))
    several = {name: found for name, found in sorted(homes.items()) if len(found) > 1 and name not in SHARED}
    assert not several, "\n" + "\n".join(f"{name}: {', '.join(found)}" for name, found in several.items())
