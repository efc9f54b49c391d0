"""What a model file must look like: forms of each part, so that no crafted file leads further than to a message."""

from __future__ import annotations

from typing import Any

from medoids.cli.features import kinds_of
from medoids.cli.read_options import ReadOptions
from medoids.storage.forms import (
    Form,
    anything,
    either,
    fixed,
    flag,
    mapping,
    nothing,
    number,
    record,
    sequence,
    text,
    whole,
)

__all__ = ["check_model"]

_KINDS = ("vectors", "sparse", "table", "strings", "series", "matrix")
_INT64 = whole(-(2**63), 2**63 - 1)
_CELLS: dict[str, Form] = {
    "int64": _INT64,
    "double": number(),
    "bool": flag,
    "string": text(),
    "timestamp[us]": _INT64,
}
# Kinds of data that may also come as rows of numbers.
_ROWS = {"vectors", "coordinates", "series", "table"}
_WIDE = ("vectors", "sparse", "matrix")


def check_model(body: Any) -> None:
    """Raise ValueError, which says what is wrong and where, unless this is what `save` writes."""
    record({"kind": text(_KINDS), "n": whole(1), "width": either(nothing, whole(1))}, others=True)(body, "model")
    kind, n, width = body["kind"], body["n"], body["width"]
    if (width is not None) != (kind in _WIDE):
        raise ValueError(f"model.width is {width}, which does not fit kind {kind}")
    if kind == "matrix" and width != n:
        raise ValueError(f"model.width is {width}; a matrix has as many columns as rows, {n}")
    columns = sequence(text(), length=width, distinct=True) if kind == "vectors" else sequence(text(), distinct=True)
    row = sequence(number(), length=width)
    record(
        {
            "kind": anything,
            "metric": _metric(kind),
            "metric_params": either(nothing, mapping(anything)),
            "columns": either(nothing, columns),
            "scaling": either(nothing, record({"centre": row, "spread": row})) if kind == "vectors" else nothing,
            "n": anything,
            "rows": sequence(whole(0, n - 1), least=1, distinct=True),
            "width": anything,
            "reading": _reading,
            "medoids": anything,
        },
        optional=dict.fromkeys(("algorithm", "loss", "sizes", "seed", "made_by"), anything),
    )(body, "model")
    if body["scaling"] is not None and not all(body["scaling"]["spread"]):
        raise ValueError("model.scaling.spread has a 0")
    k = len(body["rows"])
    if kind == "table":
        _check_table(body["medoids"], k)
    else:
        (nothing if kind == "matrix" else sequence(_medoid(kind, width), length=k))(body["medoids"], "model.medoids")
    if kind == "sparse":
        for at, medoid in enumerate(body["medoids"]):
            sequence(anything, length=len(medoid["columns"]))(medoid["values"], f"model.medoids[{at}].values")


def _metric(kind: str) -> Form:
    def form(value: Any, where: str) -> None:
        text()(value, where)
        known = kinds_of(value)
        if kind not in known and not (kind == "vectors" and known & _ROWS):
            raise ValueError(f"{where} is {value!r}, which does not take {kind}")

    return form


def _reading(value: Any, where: str) -> None:
    ReadOptions.recalled(value)


def _medoid(kind: str, width: int | None) -> Form:
    if kind == "vectors":
        return sequence(number(), length=width)
    if kind == "sparse":
        columns = sequence(whole(0, (width or 1) - 1), distinct=True)
        return record({"columns": columns, "values": sequence(number())})
    if kind == "series":
        return either(sequence(number(), least=1), sequence(sequence(number(), least=1), least=1))
    return either(text(), sequence(either(text(), number())))


def _check_table(medoids: Any, k: int) -> None:
    where = "model.medoids"
    types = mapping(text(_CELLS))
    record({"types": types, "rows": anything, "corners": anything})(medoids, where)
    if not medoids["types"]:
        raise ValueError(f"{where}.types has no columns")
    cells = record({name: either(nothing, _CELLS[type_]) for name, type_ in medoids["types"].items()})
    sequence(cells, length=k)(medoids["rows"], f"{where}.rows")
    fixed(cells, cells)(medoids["corners"], f"{where}.corners")
