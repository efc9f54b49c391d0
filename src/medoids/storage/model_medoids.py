"""The medoids of a model file: rows of each kind of data as JSON, and back.

===================  ===============================================================================================
kind                 medoids
===================  ===============================================================================================
vectors,             ``{"dtype": "float64", "rows": [[...], ...]}``; null for a missing value
coordinates
sparse               ``{"dtype": ..., "rows": [{"columns": [...], "values": [...]}, ...]}``
strings              a list of texts, or of lists of tokens
sets                 a list of lists of members
series               a list of lists of numbers, or of lists of these for arrays of two dimensions
trees                a list of ``{"labels": [...], "children": [...]}``: nodes in the order in which they are met, each
                     before its children, and how many it has; a node of ``ast`` is its label
table                ``{"types": [...], "rows": [[...], ...]}``, in the order of the model's ``columns``; types are
                     int64, double, bool, string, timestamp[us] (cells are microseconds since 1970) and other
matrix               null: each new row has the distances to all rows of the fit
===================  ===============================================================================================

Tokens, members, labels and cells are written as `storage.plain` describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from medoids.distances.gower import table_columns
from medoids.distances.gower_types import is_missing
from medoids.distances.trees import opened
from medoids.storage.plain import from_json, to_json

__all__ = ["CELL_TYPES", "DTYPES", "as_centers", "as_data", "decode_medoids", "encode_medoids"]

# Types of numbers that rows may have; kernels take no others.
DTYPES = ("float64", "float32", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
CELL_TYPES = ("int64", "double", "bool", "string", "timestamp[us]", "other")


def encode_medoids(centers: Any, kind: str) -> Any:
    """Return medoids as JSON; raise TypeError if they hold something that it cannot."""
    if kind == "matrix":
        return None
    if kind in ("vectors", "coordinates"):
        numbers = np.asarray(centers)
        return {"dtype": str(numbers.dtype), "rows": [[_cell(value) for value in row] for row in numbers.tolist()]}
    if kind == "sparse":
        part = csr_array(centers)
        slices = [slice(*ends) for ends in pairwise(part.indptr)]
        rows = [{"columns": part.indices[row].tolist(), "values": part.data[row].tolist()} for row in slices]
        return {"dtype": str(part.dtype), "rows": rows}
    if kind == "table":
        return _encode_table(centers)
    return [_ENCODERS[kind](medoid) for medoid in centers]


def _cell(value: Any) -> Any:
    return None if is_missing(value) else to_json(value)


def _encode_table(centers: Any) -> dict[str, Any]:
    columns = [_times(values) for values in table_columns(centers).values()]
    rows = [[_cell(values[row]) for values in columns] for row in range(len(columns[0]))]
    return {"types": _cell_types(centers), "rows": rows}


def _times(values: Any) -> Any:
    """Return times of NumPy as microseconds, and other values as they are."""
    if values.dtype.kind not in "mM":
        return values
    whole = values.astype(f"{values.dtype.kind}8[us]").astype(np.int64).astype(object)
    return np.where(np.isnat(values), None, whole)


def _cell_types(X: Any) -> list[str]:
    """Return the type of the cells of each column, as one of `CELL_TYPES`."""
    if isinstance(X, np.ndarray):
        return [_array_type(values) for values in X.T]
    import narwhals as nw

    found = []
    for column in nw.from_native(X, eager_only=True).iter_columns():
        dtype = column.dtype
        if isinstance(dtype, (nw.Datetime, nw.Date)):
            found.append("timestamp[us]")
        elif dtype.is_integer():
            found.append("int64")
        elif dtype.is_numeric():
            found.append("double")
        elif dtype == nw.Boolean:
            found.append("bool")
        elif dtype in (nw.String, nw.Categorical, nw.Enum):
            found.append("string")
        else:
            found.append(_array_type(np.array([*column.to_list(), None], dtype=object)[:-1]))
    return found


def _array_type(values: Any) -> str:
    kinds = {"i": "int64", "u": "int64", "f": "double", "b": "bool", "U": "string", "M": "timestamp[us]"}
    if values.dtype.kind in kinds:
        return kinds[values.dtype.kind]
    known = [value for value in values.tolist() if not is_missing(value)]
    for name, type_ in (("bool", bool), ("string", str), ("double", (int, float))):
        if known and all(isinstance(value, type_) for value in known):
            return name
    return "other"


def _encode_text(text: Any) -> Any:
    return to_json(list(text) if isinstance(text, (list, tuple)) else text)


def _encode_tree(tree: Any) -> dict[str, Any]:
    labels, children = [], []
    stack = [tree]
    while stack:
        label, below = opened(stack.pop())
        parts = list(below)
        labels.append(to_json(label))
        children.append(len(parts))
        stack += reversed(parts)
    return {"labels": labels, "children": children}


_ENCODERS = {
    "strings": _encode_text,
    "sets": lambda members: to_json(frozenset(members))["set"],
    "series": lambda series: np.asarray(series, dtype=np.float64).tolist(),
    "trees": _encode_tree,
}


def decode_medoids(medoids: Any, kind: str, width: int | None) -> Any:
    """Return what `encode_medoids` was given, as `check_data` takes it; a table as its types and rows of cells."""
    if kind in ("vectors", "coordinates"):
        rows = [[np.nan if value is None else value for value in row] for row in medoids["rows"]]
        return _typed(rows, medoids["dtype"])
    if kind == "sparse":
        rows = medoids["rows"]
        ends = np.cumsum([0, *(len(row["columns"]) for row in rows)])
        columns = np.concatenate([np.array(row["columns"], dtype=np.int64) for row in rows])
        values = _typed([value for row in rows for value in row["values"]], medoids["dtype"])
        return csr_array((values, columns, ends), shape=(len(rows), width))
    if kind == "table":
        return [[from_json(cell) for cell in row] for row in medoids["rows"]]
    if kind == "strings":
        return [from_json(text) for text in medoids]
    if kind == "sets":
        return [frozenset(from_json(members)) for members in medoids]
    if kind == "series":
        return [np.array(series, dtype=np.float64) for series in medoids]
    return [_decode_tree(tree) for tree in medoids]


def _typed(numbers: list[Any], dtype: str) -> Any:
    """Return an array of a type that holds the numbers as they are."""
    given = np.array(numbers)
    with np.errstate(all="ignore"):
        found = given.astype(dtype)
    if not np.array_equal(found, given, equal_nan=found.dtype.kind == "f"):
        raise ValueError(f"model.medoids.rows has numbers that are not of the type {dtype}")
    return found


def _decode_tree(tree: dict[str, Any]) -> Any:
    nodes = zip(map(from_json, tree["labels"]), tree["children"], strict=True)
    return _node(nodes)


def _node(nodes: Iterator[tuple[Any, int]]) -> Any:
    """Return the tree of nodes, each before its children, without recursion."""
    stack: list[tuple[Any, int, list[Any]]] = []
    while True:
        label, count = next(nodes)
        stack.append((label, count, []))
        while len(stack[-1][2]) == stack[-1][1]:
            label, count, parts = stack.pop()
            # A leaf is its label alone, unless that would be taken for a node.
            done = (label, *parts) if parts or isinstance(label, (tuple, list)) else label
            if not stack:
                return done
            stack[-1][2].append(done)


def as_data(decoded: Any, kind: str, names: list[Any] | None) -> Any:
    """Return decoded medoids in the form that a distance takes: a table as columns by name."""
    if kind != "table":
        return decoded
    columns = [np.array([*cells, None], dtype=object)[:-1] for cells in zip(*decoded, strict=True)]
    return dict(zip(names or range(len(columns)), columns, strict=True))


def as_centers(decoded: Any, types: list[str]) -> Any:
    """Return the rows of a table as ``cluster_centers_``: a 2-D array of objects, with dates as dates."""
    rows = np.empty((len(decoded), len(decoded[0])), dtype=object)
    for at, row in enumerate(decoded):
        for f, (cell, type_) in enumerate(zip(row, types, strict=True)):
            rows[at, f] = np.datetime64(int(cell), "us") if type_ == "timestamp[us]" and cell is not None else cell
    return rows
