"""The model of ``cluster --save``, and files of new data in the form that a model takes.

``storage/model_file.py`` describes the file. The command adds ``reading``: how the file of the fit was read, with
``format``, ``delimiter``, ``header``, ``decimal``, ``encoding``, ``array``, and in ``dates`` the format of each column
of dates; ``kind``, in what form its rows reached the metric; and ``columns``, their names in that file. A model that
Python exported has none of this: the kind of its data says what it takes.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from medoids.cli.contents import FORMATS, Contents, ReadOptions, is_date_format, is_delimiter
from medoids.cli.features import Features, as_rows, metric_kinds
from medoids.cli.messages import Failure
from medoids.cli.raw_bytes import is_encoding
from medoids.cli.tables import canonical_table, number_columns, reads_as_number, text_column
from medoids.distances import Dissimilarity, count_rows, kind_of, take_rows, takes_gaps
from medoids.engine.arrays import Float64s
from medoids.engine.threads import spans
from medoids.result import Clustering
from medoids.storage.estimators import stored_settings
from medoids.storage.forms import Form, either, flag, is_text, mapping, matching, nothing, record, sequence, text
from medoids.storage.model_file import InvalidModel, invalid, model_body, model_text, read_model, restored_medoids

__all__ = ["Model", "check_reading", "load_model", "save_model"]

# The types of columns, and what messages call their cells.
_ARROW_TYPES = {
    "int64": (pa.int64(), "a whole number"),
    "double": (pa.float64(), "a number"),
    "bool": (pa.bool_(), "true or false"),
    "string": (pa.string(), "a text"),
    "timestamp[us]": (pa.timestamp("us"), "a date"),
}
# Kinds of contents that a kind of model takes; other kinds of models take numbers of any of these.
_ACCEPTED_CONTENTS = {"strings": ("texts",), "series": ("series", "array"), "table": ("table",)}
_NUMBER_CONTENTS = ("table", "array", "sparse")
# In what form rows of a file reach a metric, for a model that Python exported; no file holds sets or trees.
_FORMS_OF_KINDS = {
    "vectors": "vectors",
    "coordinates": "vectors",
    "sparse": "sparse",
    "matrix": "matrix",
    "table": "table",
    "strings": "strings",
    "series": "series",
}
# Rows of new data compared at a time, which bounds the memory of a prediction.
_PREDICTED_ROWS = 65_536


def save_model(draft: Path, found: Features, clustering: Clustering, distance: Dissimilarity) -> None:
    """Write the model of a clustering; ``distance`` is the one among the medoids."""
    parameters, rows = clustering.parameters, clustering.medoid_indices
    scaling = found.scaling and {name: value.tolist() for name, value in vars(found.scaling).items()}
    kind = kind_of(found.metric, found.X)
    draft.write_text(
        model_text(
            model_body(
                kind,
                found.metric,
                parameters.get("metric_params"),
                distance,
                None if kind == "matrix" else take_rows(found.original, rows),
                n=len(found),
                rows=rows,
                names=found.names if found.from_table and found.kind in ("vectors", "matrix") else None,
                settings={name: parameters[name] for name in stored_settings() if name in parameters},
                result={
                    "algorithm": clustering.algorithm,
                    "reason": clustering.reason,
                    "loss": clustering.loss,
                    "inertia": clustering.inertia,
                    "n_swaps": clustering.n_swaps,
                    "n_evaluations": clustering.n_evaluations,
                    "converged": clustering.converged,
                    "lower_bound": clustering.lower_bound,
                    "gap": clustering.gap,
                    "sizes": np.bincount(clustering.labels, minlength=len(rows)).tolist(),
                },
                reading={**found.how.stored(), "kind": found.kind, "columns": found.names},
                fitted={"scaling": scaling} if scaling else None,
            )
        ),
        encoding="utf-8",
    )


class Model:
    """Medoids to compare with new data; ``body`` is the part ``model`` of the file ``path``."""

    def __init__(self, body: dict[str, Any], path: str) -> None:
        self.body = body
        self._path = path
        self.metric: str = body["metric"]
        self.k = len(body["rows"])
        reading = dict(body["reading"] or {})
        self.kind: str = reading.pop("kind", None) or _form_of(body, path)
        named = body["columns"] is not None and all(isinstance(name, str) for name in body["columns"])
        self._columns: list[str] | None = reading.pop("columns", body["columns"] if named else None)
        self.how = ReadOptions(**reading)

    def text_columns(self) -> list[str]:
        """Return the columns whose cells are text, whatever the cells of another file look like."""
        if self.kind == "table":
            types = self.body["medoids"]["types"]
            return [str(name) for name, type_ in zip(self.body["columns"], types, strict=True) if type_ == "string"]
        return list(self._columns or []) if self.kind == "strings" else []

    def distances(self, X: Any) -> Float64s:
        """Return the distances from each medoid to new data, of shape (k, rows)."""
        if self.kind == "matrix":
            return np.asarray(X[:, self.body["rows"]], dtype=np.float64).T
        from medoids.inputs import check_data  # loads scikit-learn, which a wrong file need not wait for

        try:
            medoids = restored_medoids(self.body, self._path)[1]
        except InvalidModel as error:
            raise Failure(str(error)) from None
        return np.hstack(
            [
                medoids.cross(check_data(X[chunk], self.metric, kind=self.body["kind"]))
                for chunk in spans(count_rows(X), _PREDICTED_ROWS)
            ]
        )

    def data_of(self, contents: Contents) -> Any:
        """Return the rows of a file in the form that this model takes."""
        columns = self._columns
        if self.kind == "strings" and columns and contents.kind == "table":
            _check_columns(contents, columns[:1])
            return text_column(contents, columns[0])
        accepted = _ACCEPTED_CONTENTS.get(self.kind, _NUMBER_CONTENTS)
        if contents.kind not in accepted:
            raise Failure(
                f"{contents.name} holds data of kind {contents.kind}; the model takes data of kind "
                f"{' or '.join(accepted)}"
            )
        if self.kind == "table":
            return self._table_of(contents)
        return contents.values if self.kind in ("strings", "series") else self._numbers_of(contents)

    def _table_of(self, contents: Contents) -> Any:
        types = dict(zip(self.body["columns"], self.body["medoids"]["types"], strict=True))
        strange = next((name for name, type_ in types.items() if type_ == "other" or not isinstance(name, str)), None)
        if strange is not None:
            raise Failure(
                f"{self._path} was made of a table whose column {strange!r} is like none of a file; use medoids.load "
                "in Python"
            )
        _check_columns(contents, list(types))
        table, columns = canonical_table(contents.values.select(list(types))), {}
        for name, kind in types.items():
            try:
                columns[name] = table[name].cast(_ARROW_TYPES[kind][0])
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                row = _first_misfit(table[name], kind, contents.how.decimal or ".")
                given = reprlib.repr(table[name][row].as_py())
                raise contents.cell_failure(
                    row, name, f"is {given}, but in the model's file it is {_ARROW_TYPES[kind][1]}; correct it"
                ) from None
        return pa.table(columns)

    def _numbers_of(self, contents: Contents) -> Any:
        X, columns, width = contents.values, self._columns, self._width()
        if contents.kind == "table":
            names = X.column_names if self.kind == "matrix" or not columns else columns
            _check_columns(contents, names)
            X = number_columns(contents, names, self.metric if takes_gaps(self.metric) else "the model")
        elif X.ndim == 3 and "series" in metric_kinds(self.metric):
            raise Failure(
                f"{contents.name} holds series of several channels, but the model was made of series of one channel"
            )
        else:
            X = as_rows(X)
            # Columns of an array are called x0, x1, ...; the model may have been made of some of them.
            wanted = [int(name[1:]) for name in columns or [] if name.startswith("x") and name[1:].isdigit()]
            if len(wanted) == width and max(wanted) < X.shape[1]:
                X = X[:, wanted]
        if X.shape[1] != width:
            raise Failure(f"{contents.name} has {X.shape[1]} columns, but the model was made with {width}")
        return X.toarray() if contents.kind == "sparse" and self.kind == "vectors" else X

    def _width(self) -> int:
        """Return the number of columns of numbers: of vectors, or of what else came as rows of numbers."""
        if self.body["width"] is not None:
            return int(self.body["width"])
        return len(self.body["columns"] if self.body["kind"] == "table" else self.body["medoids"][0])


def _form_of(body: dict[str, Any], path: str) -> str:
    if body["kind"] == "table" and all(isinstance(name, int) for name in body["columns"]):
        return "vectors"  # columns of an array, by number
    if body["kind"] not in _FORMS_OF_KINDS:
        raise Failure(f"{path} is a model of {body['kind']}, which no file holds; use medoids.load in Python")
    return _FORMS_OF_KINDS[body["kind"]]


def _first_misfit(column: Any, kind: str, decimal: str) -> int:
    """Return the row of the first cell that is not of a type, in a column that cannot be converted to it."""
    for row, cell in enumerate(column):
        # A single cell that is not a number makes all cells of its column text.
        if pa.types.is_string(column.type) and kind in ("int64", "double"):
            if cell.is_valid and not reads_as_number(cell.as_py(), decimal):
                return row
        else:
            try:
                cell.cast(_ARROW_TYPES[kind][0])
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                return row
    return 0


def _check_columns(contents: Contents, names: list[str]) -> None:
    """Refuse a table without a column of the model."""
    present = contents.values.column_names
    if missing := [name for name in names if name not in set(present)]:
        raise Failure(
            f"{contents.name} has no column {missing[0]!r}, which the model was made with; it has {', '.join(present)}"
        )


def load_model(path: str) -> Model:
    """Read a model file, and refuse one that is not as it was written."""
    try:
        body = read_model(path)
        check_reading(body, path)
    except OSError as error:
        raise Failure(f"cannot read the model file {path}: {error.strerror}") from None
    except InvalidModel as error:
        raise Failure(str(error)) from None
    return Model(body, path)


def _text_that(test: Callable[[str], bool], wanted: str) -> Form:
    return matching(lambda value: is_text(value) and test(value), wanted)


# How the file of the fit was read.
_READING = record(
    {
        "format": either(nothing, text(FORMATS)),
        "delimiter": either(nothing, _text_that(is_delimiter, "one ASCII character")),
        "header": either(nothing, flag),
        "decimal": either(nothing, text((".", ","))),
        "encoding": either(nothing, _text_that(is_encoding, "an encoding")),
        "array": text(),
        "dates": mapping(_text_that(is_date_format, "a format with day, month and year")),
        "kind": text(sorted(set(_FORMS_OF_KINDS.values()))),
        "columns": either(nothing, sequence(text(), distinct=True)),
    }
)


def check_reading(body: dict[str, Any], path: str) -> None:
    """Refuse what the command cannot have written of how it read a file."""
    reading, kind = body["reading"], body["kind"]
    if reading is None:
        return
    try:
        _READING(reading, "model.reading")
        # Series and tables may have come as rows of numbers.
        if reading["kind"] not in (_FORMS_OF_KINDS.get(kind), "vectors" if kind in ("series", "table") else None):
            raise ValueError(f"model.reading.kind is {reading['kind']!r}, which does not fit kind {kind}")
        types = dict.fromkeys(reading["columns"] or (), reading["kind"])
        if reading["kind"] == "table":
            types = dict(zip(body["columns"], body["medoids"]["types"], strict=True))
        for name in reading["dates"]:
            if types.get(name, "timestamp[us]") != "timestamp[us]":
                raise ValueError(f"model.reading.dates has column {reprlib.repr(name)}, which holds {types[name]}")
    except ValueError as error:
        raise invalid(path, error) from None
