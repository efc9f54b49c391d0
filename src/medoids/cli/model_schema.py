"""The form of a model file, checked so that a crafted file leads to a message and no further."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

from medoids.cli.contents import FORMATS, is_date_format, is_delimiter
from medoids.cli.features import metric_kinds
from medoids.cli.raw_bytes import is_encoding
from medoids.storage.forms import (
    Form,
    anything,
    either,
    fixed,
    flag,
    is_text,
    mapping,
    matching,
    nothing,
    number,
    record,
    sequence,
    text,
    whole,
)

__all__ = ["check_model_body"]

_INT64 = whole(-(2**63), 2**63 - 1)
_CELL_FORMS: dict[str, Form] = {
    "int64": _INT64,
    "double": number(),
    "bool": flag,
    "string": text(),
    "timestamp[us]": _INT64,
}
_PLAIN_VALUE = either(nothing, flag, text(), number())
# A parameter of a metric has one value, several in a list, or one for each of some columns.
_METRIC_PARAMETER = either(sequence(_PLAIN_VALUE), mapping(_PLAIN_VALUE), _PLAIN_VALUE)
# Kinds of models whose data have a fixed number of columns.
_KINDS_WITH_WIDTH = ("vectors", "sparse", "matrix")
_MODEL_KINDS = (*_KINDS_WITH_WIDTH, "table", "strings", "series")
# Kinds of data, as metrics name them, that may also come as rows of numbers.
_KINDS_OF_VECTORS = {"vectors", "coordinates", "series", "table"}


def check_model_body(body: Any) -> None:
    """Raise a ValueError that says what is wrong and where, unless `save_model` could have written this."""
    record({"kind": text(_MODEL_KINDS), "n": whole(1), "width": either(nothing, whole(1))}, others=True)(body, "model")
    kind, n, width = body["kind"], body["n"], body["width"]
    if (width is not None) != (kind in _KINDS_WITH_WIDTH) or (kind == "matrix" and width != n):
        raise ValueError(f"model.width is {width}, which does not fit kind {kind} and n {n}")
    row = sequence(number(), length=width)
    record(
        {
            "kind": anything,
            "metric": text(),
            "metric_params": either(nothing, mapping(_METRIC_PARAMETER)),
            "columns": either(nothing, sequence(text(), length=width if kind == "vectors" else None, distinct=True)),
            "scaling": either(nothing, record({"centre": row, "spread": row})) if kind == "vectors" else nothing,
            "n": anything,
            "rows": sequence(whole(0, n - 1), least=1, distinct=True),
            "width": anything,
            "reading": _READING,
            "medoids": anything,
        },
        optional={
            "algorithm": text(),
            "loss": number(),
            "sizes": sequence(whole()),
            "seed": either(nothing, whole()),
            "made_by": text(),
        },
    )(body, "model")
    known = metric_kinds(body["metric"])
    if kind not in known and not (kind == "vectors" and known & _KINDS_OF_VECTORS):
        raise ValueError(f"model.metric is {body['metric']!r}, which does not take {kind}")
    if body["scaling"] is not None and min(body["scaling"]["spread"]) <= 0:
        raise ValueError("model.scaling.spread has a number that is not above 0")
    _medoids(kind, width, body["medoids"], len(body["rows"]))(body["medoids"], "model.medoids")
    types = body["medoids"]["types"] if kind == "table" else dict.fromkeys(body["columns"] or (), kind)
    for name in body["reading"]["dates"]:
        if types.get(name, "timestamp[us]") != "timestamp[us]":
            raise ValueError(f"model.reading.dates has column {reprlib.repr(name)}, which holds {types[name]}")


def _medoids(kind: str, width: int | None, medoids: Any, k: int) -> Form:
    """Return the form of ``k`` medoids; that of a table depends on its types."""
    if kind == "matrix":
        return nothing
    if kind == "table":
        record({"types": mapping(text(_CELL_FORMS)), "rows": anything, "corners": anything})(medoids, "model.medoids")
        if not medoids["types"]:
            raise ValueError("model.medoids.types has no columns")
        row = record({name: either(nothing, _CELL_FORMS[type_]) for name, type_ in medoids["types"].items()})
        return record({"types": anything, "rows": sequence(row, length=k), "corners": fixed(row, row)})
    if kind == "vectors":
        medoid = sequence(number(), length=width)
    elif kind == "sparse":
        medoid = _sparse_row(width or 1)
    elif kind == "series":
        medoid = either(sequence(number(), least=1), sequence(sequence(number(), least=1), least=1))
    else:
        medoid = either(text(), sequence(either(text(), number())))
    return sequence(medoid, length=k)


def _sparse_row(width: int) -> Form:
    def form(value: Any, where: str) -> None:
        columns = sequence(whole(0, width - 1), distinct=True)
        record({"columns": columns, "values": sequence(number())})(value, where)
        sequence(anything, length=len(value["columns"]))(value["values"], f"{where}.values")

    return form


def _text_that(test: Callable[[str], bool], wanted: str) -> Form:
    return matching(lambda value: is_text(value) and test(value), wanted)


# How the file was read.
_READING = record(
    {
        "format": either(nothing, text(FORMATS)),
        "delimiter": either(nothing, _text_that(is_delimiter, "one ASCII character")),
        "header": either(nothing, flag),
        "decimal": either(nothing, text((".", ","))),
        "encoding": either(nothing, _text_that(is_encoding, "an encoding")),
        "array": text(),
        "dates": mapping(_text_that(is_date_format, "a format with day, month and year")),
    }
)
