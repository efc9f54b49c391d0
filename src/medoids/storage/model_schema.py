"""The form of a model file, checked so that a crafted file leads to a message and no further."""

from __future__ import annotations

from functools import partial
from typing import Any

from medoids.distances import find_metric, kinds_of, takes_gaps
from medoids.storage.forms import (
    Form,
    anything,
    either,
    flag,
    mapping,
    nothing,
    number,
    record,
    sequence,
    text,
    whole,
)
from medoids.storage.model_medoids import CELL_TYPES, DTYPES
from medoids.storage.plain import plain_value

__all__ = ["check_model_body"]

_INT64 = whole(-(2**63), 2**63 - 1)
_CELL_FORMS: dict[str, Form] = {
    "int64": number(),
    "double": number(),
    "bool": flag,
    "string": text(),
    "timestamp[us]": number(-(2**63), 2**63 - 1024),  # floats where some are missing
    "other": plain_value,
}
# Kinds of data with a number of columns, and those whose columns may have names.
_KINDS_WITH_WIDTH = ("vectors", "coordinates", "sparse", "matrix")
_KINDS_WITH_NAMES = (*_KINDS_WITH_WIDTH, "table")
_MODEL_KINDS = (*_KINDS_WITH_NAMES, "strings", "sets", "series", "trees")
_PLAIN_VALUES = mapping(plain_value)
_RESULT = record(
    {},
    optional={
        "algorithm": text(),
        "reason": text(),
        "loss": number(),
        "inertia": number(),
        "n_swaps": whole(),
        "n_evaluations": whole(),
        "converged": flag,
        "lower_bound": either(nothing, number()),
        "gap": either(nothing, number(0)),
        "sizes": sequence(whole()),
    },
)
_NAME = either(_INT64, text())
_SCALE = number(0)
_COLUMN = record(
    {"name": _NAME, "weight": _SCALE},
    optional={
        "low": number(),
        "range": _SCALE,
        "order": sequence(plain_value),
        "ranks": sequence(number(), distinct=True),
        "logarithms": flag,
        "categories": flag,
        "presence": sequence(plain_value, most=2),
    },
)


def check_model_body(body: Any) -> None:
    """Raise a ValueError that says what is wrong and where, unless `model_body` could have made this."""
    record({"kind": text(_MODEL_KINDS), "n": whole(1), "width": either(nothing, whole(1))}, others=True)(body, "model")
    kind, n, width = body["kind"], body["n"], body["width"]
    if (width is not None) != (kind in _KINDS_WITH_WIDTH) or (kind == "matrix" and width != n):
        raise ValueError(f"model.width is {width}, which does not fit kind {kind} and n {n}")
    names: Form = nothing
    if kind == "table":
        names = sequence(_NAME, least=1, distinct=True)
    elif kind in _KINDS_WITH_NAMES:
        names = either(nothing, sequence(text(), length=width, distinct=True))
    record(
        {
            "kind": anything,
            "metric": text(),
            "metric_params": either(nothing, _PLAIN_VALUES),
            "fitted": anything,
            "n": anything,
            "rows": sequence(whole(0, n - 1), least=1, distinct=True),
            "width": anything,
            "columns": names,
            "medoids": anything,
            "settings": _PLAIN_VALUES,
            "result": _RESULT,
            "reading": either(nothing, _PLAIN_VALUES),
            "crs": either(nothing, text()),
        },
        optional={"made_by": text()},
    )(body, "model")
    if kind not in kinds_of(body["metric"]):
        raise ValueError(f"model.metric is {body['metric']!r}, which does not take {kind}")
    _check_fitted(body)
    _medoids(body)(body["medoids"], "model.medoids")


def _check_fitted(body: dict[str, Any]) -> None:
    """Check what was fitted: a parameter of the metric, the columns of a table, or the scale of the columns."""
    kind, width = body["kind"], body["width"]
    row = sequence(number(), length=width)
    forms: dict[str, dict[str, Form]] = {
        "vectors": {"scaling": record({"centre": row, "spread": row}), "V": row, "VI": sequence(row, length=width)},
        "series": {"layout": text(("channels_first", "channels_last"))},
        "table": {"columns": sequence(_COLUMN, length=len(body["columns"] or ()))},
    }
    record({}, optional=forms.get(kind))(body["fitted"], "model.fitted")
    for name in ("V", "VI"):
        if name in body["fitted"] and name not in find_metric(body["metric"], kind).parameters:
            raise ValueError(f"model.fitted has {name}, which metric {body['metric']} does not take")
    if min(body["fitted"].get("scaling", {"spread": [1]})["spread"]) <= 0:
        raise ValueError("model.fitted.scaling.spread has a number that is not above 0")
    if kind == "table":
        _check_columns(body)


def _check_columns(body: dict[str, Any]) -> None:
    if (columns := body["fitted"].get("columns")) is None:
        raise ValueError("model.fitted has no columns")
    if {column["name"] for column in columns} != set(body["columns"]):
        raise ValueError("model.fitted.columns has other names than model.columns")
    for at, column in enumerate(columns):
        ways = [name for name in ("categories", "presence", "range") if name in column]
        if len(ways) != 1 or ("low" in column) != ("range" in column):
            raise ValueError(f"model.fitted.columns[{at}] must have categories, presence, or low and range")


def _medoids(body: dict[str, Any]) -> Form:
    """Return the form of the medoids; that of a table depends on its types."""
    kind, width, k = body["kind"], body["width"], len(body["rows"])
    if kind == "matrix":
        return nothing
    if kind == "table":
        types = sequence(text(CELL_TYPES), length=len(body["columns"]))
        record({"types": types, "rows": anything})(body["medoids"], "model.medoids")
        row: Form = partial(_table_row, types=body["medoids"]["types"])
        return record({"types": anything, "rows": sequence(row, length=k)})
    if kind in ("vectors", "coordinates", "sparse"):
        cell = either(nothing, number()) if takes_gaps(body["metric"]) else number()
        row = partial(_sparse_row, width=width or 1) if kind == "sparse" else sequence(cell, length=width)
        return record({"dtype": text(DTYPES), "rows": sequence(row, length=k)})
    samples = sequence(number(), least=1)
    series = either(samples, sequence(samples, least=1))
    forms = {"series": series, "strings": plain_value, "sets": sequence(plain_value), "trees": _tree}
    return sequence(forms[kind], length=k)


def _table_row(value: Any, where: str, *, types: list[str]) -> None:
    sequence(anything, length=len(types))(value, where)
    for at, (cell, type_) in enumerate(zip(value, types, strict=True)):
        either(nothing, _CELL_FORMS[type_])(cell, f"{where}[{at}]")


def _tree(value: Any, where: str) -> None:
    record({"labels": sequence(plain_value, least=1), "children": sequence(whole())})(value, where)
    children = value["children"]
    sequence(anything, length=len(value["labels"]))(children, f"{where}.children")
    missing = 1
    for at, count in enumerate(children):
        if missing == 0:
            raise ValueError(f"{where}.children[{at}] is of a node that no other has as a child")
        missing += count - 1
    if missing:
        raise ValueError(f"{where}.children counts {missing} more nodes than there are")


def _sparse_row(value: Any, where: str, *, width: int) -> None:
    record({"columns": sequence(whole(0, width - 1), distinct=True), "values": sequence(number())})(value, where)
    sequence(anything, length=len(value["columns"]))(value["values"], f"{where}.values")
