"""The file of ``cluster --save``: medoids, and what is needed to compare new data with them.

It is JSON, read by a JSON parser and by nothing else, so loading it never runs code::

    {"format": "medoids model", "version": 1, "sha256": "...", "model": {...}}

``sha256`` is the checksum of the text of ``model``, written with sorted keys and without spaces; it detects a file that
was changed or cut. It is not a signature: anyone who changes the file on purpose can also compute a new checksum.

``model`` has ``kind`` (vectors, sparse, table, strings, series, matrix), ``metric``, ``metric_params``, ``columns``
(names, or null), ``scaling`` (null, or ``centre`` and ``spread`` of each column), ``n`` (rows of the fit), ``rows``
(the medoids' numbers), ``width`` (columns of vectors), ``reading`` (how the file was read: ``format``, ``delimiter``,
``header``, ``decimal``, ``encoding``, ``array``, and in ``dates`` the format of each column of dates), ``medoids`` as
below, and, for information, ``algorithm``, ``loss``, ``sizes``, ``seed`` and ``made_by``.

========  ==========================================================================================================
kind      medoids
========  ==========================================================================================================
vectors   a list of numbers each
sparse    ``{"columns": [...], "values": [...]}`` each
strings   a text, or a list of tokens, each
series    a list of numbers each, or of lists of numbers for several channels
matrix    null: each new row has the distances to all rows of the fit
table     ``{"types": {column: type}, "rows": [...], "corners": [...]}``; values are null, numbers, booleans, texts, or
          microseconds since 1970 for type ``timestamp[us]``. The corners are two further rows, with the smallest and
          the largest value of each column of numbers, from which the ranges of the fit follow.
========  ==========================================================================================================
"""

from __future__ import annotations

import hashlib
import json
import reprlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from medoids._version import __version__
from medoids.cli.contents import Contents, ReadOptions
from medoids.cli.features import Features, Scaling, as_rows, metric_kinds
from medoids.cli.messages import Failure, WrongUsage
from medoids.cli.model_schema import check_model_body
from medoids.cli.tables import canonical_table, number_columns, reads_as_number, text_column
from medoids.distances import count_rows, dissimilarity
from medoids.engine.arrays import Float64s
from medoids.engine.threads import spans
from medoids.result import Clustering

__all__ = ["Model", "load_model", "save_model"]

_FILE_FORMAT, _FILE_VERSION = "medoids model", 1
_ARROW_TYPES = {
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "timestamp[us]": pa.timestamp("us"),
}
# What messages call the cells of these types.
_CELL_NAMES = {
    "int64": "a whole number",
    "double": "a number",
    "bool": "true or false",
    "string": "a text",
    "timestamp[us]": "a date",
}
_SAVE_AGAIN = "make it again with cluster --save"
# Kinds of contents that a kind of model takes; other kinds of models take numbers of any of these.
_ACCEPTED_CONTENTS = {"strings": ("texts",), "series": ("series", "array"), "table": ("table",)}
_NUMBER_CONTENTS = ("table", "array", "sparse")
# Rows of new data compared at a time, which bounds the memory of a prediction.
_PREDICTED_ROWS = 65_536


def save_model(draft: Path, found: Features, clustering: Clustering) -> None:
    """Write the model of a clustering."""
    parameters, rows = clustering.parameters, clustering.medoid_indices
    body = {
        "kind": found.kind,
        "metric": found.metric,
        "metric_params": parameters.get("metric_params"),
        "columns": found.names,
        "scaling": found.scaling and {name: value.tolist() for name, value in vars(found.scaling).items()},
        "n": len(found),
        "rows": rows.tolist(),
        "width": int(found.X.shape[1]) if found.kind in ("vectors", "sparse", "matrix") else None,
        "reading": found.how.stored(),
        "medoids": _encode(found.X, found.kind, rows),
        "algorithm": clustering.algorithm,
        "loss": clustering.loss,
        "sizes": np.bincount(clustering.labels, minlength=len(rows)).tolist(),
        "seed": parameters.get("random_state"),
        "made_by": f"medoids {__version__}",
    }
    whole = {"format": _FILE_FORMAT, "version": _FILE_VERSION, "sha256": _checksum(body), "model": body}
    draft.write_text(json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _checksum(body: Any) -> str | None:
    """Return the checksum of a model, or None if it is nested more deeply than JSON is written."""
    try:
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except RecursionError:
        return None
    return hashlib.sha256(text.encode()).hexdigest()


def _encode(X: Any, kind: str, rows: Any) -> Any:
    """Return the medoids as the module describes them."""
    if kind == "matrix":
        return None
    if kind == "table":
        types = {name: str(X[name].type) for name in X.column_names}
        corners = {name: X[name].take(rows[[0, 0]]) for name in types}
        for name, type_ in types.items():
            if type_ in ("int64", "double", "timestamp[us]"):
                ends = pc.min_max(X[name]).as_py()
                corners[name] = pa.array([ends["min"], ends["max"]], X[name].type)
        return {"types": types, "rows": _json_rows(X.take(rows)), "corners": _json_rows(pa.table(corners))}
    if kind == "sparse":
        part = csr_array(X[rows])
        slices = [slice(*ends) for ends in pairwise(part.indptr)]
        return [{"columns": part.indices[row].tolist(), "values": part.data[row].tolist()} for row in slices]
    return [X[i] if kind == "strings" else np.asarray(X[i], dtype=np.float64).tolist() for i in rows]


def _json_rows(table: Any) -> Any:
    for at, column in enumerate(table.columns):
        if pa.types.is_timestamp(column.type):
            table = table.set_column(at, table.column_names[at], column.cast(pa.int64()))
    return table.to_pylist()


class Model:
    """Medoids to compare with new data; ``body`` is the part ``model`` of the file ``path``."""

    def __init__(self, body: dict[str, Any], path: str) -> None:
        self.body = body
        self._path = path
        self.kind: str = body["kind"]
        self.metric: str = body["metric"]
        self.k = len(body["rows"])
        self.how = ReadOptions(**body["reading"])

    def text_columns(self) -> list[str]:
        """Return the columns whose cells are text, whatever the cells of another file look like."""
        if self.kind == "table":
            return [name for name, kind in self.body["medoids"]["types"].items() if kind == "string"]
        return list(self.body["columns"] or []) if self.kind == "strings" else []

    def distances(self, X: Any) -> Float64s:
        """Return the distances from each medoid to new data, of shape (k, rows)."""
        if self.kind == "matrix":
            return np.asarray(X[:, self.body["rows"]], dtype=np.float64).T
        from medoids.inputs import check_data  # loads scikit-learn, which a wrong file need not wait for

        try:
            fitted = dissimilarity(check_data(self._medoids(), self.metric), self.metric, self.body["metric_params"])
        except (ValueError, TypeError) as error:
            raise Failure(f"{self._path} is not a valid model: {error}; {_SAVE_AGAIN}") from None
        medoids = fitted.take(np.arange(self.k))
        chunks = spans(count_rows(X), _PREDICTED_ROWS)
        return np.hstack([medoids.cross(check_data(X[chunk], self.metric)) for chunk in chunks])

    def _medoids(self) -> Any:
        """Return the medoids as data of the metric; those of a table with its corners, which give the ranges."""
        medoids = self.body["medoids"]
        if self.kind == "vectors":
            return np.array(medoids, dtype=np.float64)
        if self.kind == "sparse":
            ends = np.cumsum([0, *(len(row["columns"]) for row in medoids)])
            columns = np.concatenate([np.array(row["columns"], dtype=np.int64) for row in medoids])
            values = np.concatenate([np.array(row["values"], dtype=np.float64) for row in medoids])
            return csr_array((values, columns, ends), shape=(len(medoids), self.body["width"]))
        if self.kind == "table":
            rows, types = [*medoids["rows"], *medoids["corners"]], medoids["types"]
            return pa.table({name: pa.array([row[name] for row in rows], _ARROW_TYPES[types[name]]) for name in types})
        return [np.array(series, dtype=np.float64) for series in medoids] if self.kind == "series" else medoids

    def data_of(self, contents: Contents) -> Any:
        """Return the rows of a file in the form that this model takes."""
        columns = self.body["columns"]
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
        types = self.body["medoids"]["types"]
        _check_columns(contents, list(types))
        table, columns = canonical_table(contents.values.select(list(types))), {}
        for name, kind in types.items():
            try:
                columns[name] = table[name].cast(_ARROW_TYPES[kind])
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                row = _first_misfit(table[name], kind, contents.how.decimal or ".")
                problem = f"is {reprlib.repr(table[name][row].as_py())}, but in the model's file it is"
                raise contents.cell_failure(row, name, f"{problem} {_CELL_NAMES[kind]}; correct it") from None
        return pa.table(columns)

    def _numbers_of(self, contents: Contents) -> Any:
        X, columns, width = contents.values, self.body["columns"], self.body["width"]
        if contents.kind == "table":
            names = X.column_names if self.kind == "matrix" or not columns else columns
            _check_columns(contents, names)
            X = number_columns(contents, names, "the model")
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
        if self.body["scaling"] is not None:
            scaling = Scaling(*(np.array(self.body["scaling"][name]) for name in ("centre", "spread")))
            X = scaling.apply(np.asarray(X, dtype=np.float64))
        return X.toarray() if contents.kind == "sparse" and self.kind == "vectors" else X


def _first_misfit(column: Any, kind: str, decimal: str) -> int:
    """Return the row of the first cell that is not of a type, in a column that cannot be converted to it."""
    for row, cell in enumerate(column):
        # A single cell that is not a number makes all cells of its column text.
        if pa.types.is_string(column.type) and kind in ("int64", "double"):
            if cell.is_valid and not reads_as_number(cell.as_py(), decimal):
                return row
            continue
        try:
            cell.cast(_ARROW_TYPES[kind])
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
        whole = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"cannot read the model file {path}: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Failure(f"{path} is not a model file, or was cut: {error}; {_SAVE_AGAIN}") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else "a number has thousands of digits"
        raise Failure(f"{path} is not a model file, or was cut: {reason}; {_SAVE_AGAIN}") from None
    if not isinstance(whole, dict) or whole.get("format") != _FILE_FORMAT:
        raise Failure(
            f"{path} is not a model file: it does not say format {_FILE_FORMAT!r}; make one with cluster --save"
        )
    if whole.get("version") != _FILE_VERSION:
        raise Failure(
            f"{path} is of version {whole.get('version')!r}, and this program reads version {_FILE_VERSION}; "
            f"{_SAVE_AGAIN}, or use another version of medoids"
        )
    body = whole.get("model")
    if not isinstance(body, dict) or whole.get("sha256", "") != _checksum(body):
        raise Failure(f"{path} was changed or damaged: its checksum does not match its content; {_SAVE_AGAIN}")
    try:
        check_model_body(body)
    except (ValueError, WrongUsage) as error:
        raise Failure(f"{path} is not a valid model: {error}; {_SAVE_AGAIN}") from None
    return Model(body, path)
