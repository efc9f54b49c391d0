"""The file of ``cluster --save``: medoids and what is needed to put new data beside them.

It is JSON, read by a JSON parser and by nothing else, so loading it never runs code::

    {"format": "medoids model", "version": 1, "sha256": "...", "model": {...}}

``sha256`` is that of the text of ``model``, written with sorted keys and without spaces: a file that was changed or cut
is found out. It is a checksum and no signature: who changes the file on purpose can also make a new one.

``model`` has ``kind`` (vectors, sparse, table, strings, series, matrix), ``metric``, ``metric_params``, ``columns``
(names, or null), ``scaling`` (null, or ``centre`` and ``spread`` of each column), ``n`` (rows of the fit), ``rows``
(the medoids' numbers), ``width`` (columns of vectors), ``reading`` (how the file was read: ``format``, ``delimiter``,
``header``, ``decimal``, ``encoding``, ``array``, and in ``dates`` the format of each column of dates), ``medoids`` as
below, and, for people, ``algorithm``, ``loss``, ``sizes``, ``seed`` and ``made_by``.

========  ==========================================================================================================
kind      medoids
========  ==========================================================================================================
vectors   a list of numbers each
sparse    ``{"columns": [...], "values": [...]}`` each
strings   a text, or a list of tokens, each
series    a list of numbers each, or of lists of numbers for several channels
matrix    null: new data have a distance to each row of the fit
table     ``{"types": {column: type}, "rows": [...], "corners": [...]}``; values are null, numbers, booleans, texts, or
          microseconds since 1970 for type ``timestamp[us]``. The corners are two further rows, with the smallest and
          the largest value of each column of numbers, from which the ranges of the fit follow.
========  ==========================================================================================================
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from medoids._version import __version__
from medoids.cli.failures import Failure, WrongUsage
from medoids.cli.features import Features, Scaling, canonical, flattened, kinds_of, numbers_of
from medoids.cli.model_form import check_model
from medoids.cli.read_options import ReadOptions
from medoids.cli.reading import Contents
from medoids.distances import Dissimilarity, dissimilarity
from medoids.engine.arrays import Float64s
from medoids.result import Clustering

__all__ = ["Model", "load", "save"]


FORMAT, VERSION = "medoids model", 1
_TYPES = {
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "timestamp[us]": pa.timestamp("us"),
}
# Rows of new data that are compared at a time.
_ROWS = 65_536


def save(draft: Path, found: Features, clustering: Clustering) -> None:
    """Write the model of a clustering."""
    parameters = clustering.parameters
    rows = clustering.medoid_indices
    body = {
        "kind": found.kind,
        "metric": found.metric,
        "metric_params": parameters.get("metric_params"),
        "columns": found.names,
        "scaling": None
        if found.scaling is None
        else {"centre": found.scaling.centre.tolist(), "spread": found.scaling.spread.tolist()},
        "n": len(found),
        "rows": rows.tolist(),
        "width": int(found.X.shape[1]) if found.kind in ("vectors", "sparse", "matrix") else None,
        "reading": found.how.remembered(),
        "medoids": _encoded(found, rows),
        "algorithm": clustering.algorithm,
        "loss": clustering.loss,
        "sizes": np.bincount(clustering.labels, minlength=len(rows)).tolist(),
        "seed": parameters.get("random_state"),
        "made_by": f"medoids {__version__}",
    }
    whole = {"format": FORMAT, "version": VERSION, "sha256": _digest(body), "model": body}
    draft.write_text(json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _digest(body: Any) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _encoded(found: Features, rows: Any) -> Any:
    X = found.X
    if found.kind == "matrix":
        return None
    if found.kind == "vectors":
        return np.asarray(X[rows], dtype=np.float64).tolist()
    if found.kind == "sparse":
        part = csr_array(X[rows])
        ends = part.indptr
        return [{"columns": part.indices[a:b].tolist(), "values": part.data[a:b].tolist()} for a, b in pairwise(ends)]
    if found.kind == "table":
        part = _plain(X.take(rows))
        types = {name: str(X[name].type) for name in X.column_names}
        low, high = dict(part[0]), dict(part[0])
        for name in X.column_names:
            if types[name] in ("int64", "double", "timestamp[us]"):
                ends_ = pc.min_max(pc.drop_null(X[name])).as_py()
                extremes = pa.table({name: pa.array([ends_["min"], ends_["max"]], type=X[name].type)})
                low[name], high[name] = (row[name] for row in _plain(extremes))
        return {"types": types, "rows": part, "corners": [low, high]}
    return [np.asarray(X[i], dtype=np.float64).tolist() if found.kind == "series" else X[i] for i in rows]


def _plain(table: Any) -> list[dict[str, Any]]:
    columns = {
        name: table[name].cast(pa.int64()) if pa.types.is_timestamp(table[name].type) else table[name]
        for name in table.column_names
    }
    plain: list[dict[str, Any]] = pa.table(columns).to_pylist()
    return plain


@dataclass(frozen=True)
class Model:
    """Medoids, ready to be compared with new data."""

    body: dict[str, Any]

    @property
    def k(self) -> int:
        return len(self.body["rows"])

    @property
    def how(self) -> ReadOptions:
        """How the file was read that the model was made of."""
        return ReadOptions.recalled(self.body["reading"])

    def text_columns(self) -> list[str]:
        """Return the columns whose cells are text, whatever the cells of another file look like."""
        if self.body["kind"] == "table":
            return [name for name, kind in self.body["medoids"]["types"].items() if kind == "string"]
        return list(self.body["columns"] or []) if self.body["kind"] == "strings" else []

    def distances(self, X: Any) -> Float64s:
        """Distances from each medoid to new data, of shape (k, rows)."""
        if self.body["kind"] == "matrix":
            return np.asarray(X[:, self.body["rows"]], dtype=np.float64).T
        from medoids.inputs import check_data  # loads scikit-learn, which a wrong file need not wait for

        metric = self.body["metric"]
        near = self._distance()
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        parts = [X[start : start + _ROWS] for start in range(0, count, _ROWS)]
        return np.hstack([near.cross(check_data(part, metric)) for part in parts])

    def _distance(self) -> Dissimilarity:
        """The distance among the medoids, with what was fitted to the training data."""
        from medoids.inputs import check_data

        body = self.body
        metric, medoids = body["metric"], body["medoids"]
        if body["kind"] == "vectors":
            X: Any = np.array(medoids, dtype=np.float64)
        elif body["kind"] == "sparse":
            ends = np.cumsum([0, *(len(row["columns"]) for row in medoids)])
            columns = np.concatenate([np.array(row["columns"], dtype=np.int64) for row in medoids])
            values = np.concatenate([np.array(row["values"], dtype=np.float64) for row in medoids])
            X = csr_array((values, columns, ends), shape=(len(medoids), body["width"]))
        elif body["kind"] == "table":
            X = _table([*medoids["rows"], *medoids["corners"]], medoids["types"])
        elif body["kind"] == "series":
            X = [np.array(series, dtype=np.float64) for series in medoids]
        else:
            X = medoids
        every = dissimilarity(check_data(X, metric), metric, body["metric_params"])
        return every.take(np.arange(self.k))

    def data_of(self, contents: Contents) -> Any:
        """Return the rows of a file as this model takes them."""
        body, name = self.body, contents.name
        kind = body["kind"]
        if kind in ("strings", "series"):
            if contents.kind == "table" and kind == "strings" and body["columns"]:
                column = body["columns"][0]
                if column not in contents.values.column_names:
                    raise Failure(f"{name} has no column {column!r}, which the model was made with")
                return [str(value) for value in contents.values[column].to_pylist()]
            wanted = "texts" if kind == "strings" else "series"
            if contents.kind != wanted and not (kind == "series" and contents.kind == "array"):
                raise Failure(f"{name} holds a {contents.kind}, but the model was made of {wanted}")
            return contents.values
        if kind == "table":
            return self._table_of(contents)
        if contents.kind == "table":
            names = body["columns"] if kind != "matrix" else None
            X: Any = numbers_of(contents, names or contents.values.column_names)
        elif contents.kind in ("array", "sparse"):
            X = self._columns_of(contents)
        else:
            raise Failure(f"{name} holds {contents.kind}, but the model was made of {kind}")
        if X.shape[1] != body["width"]:
            raise Failure(f"{name} has {X.shape[1]} columns, but the model was made with {body['width']}")
        if body["scaling"] is not None:
            scaling = Scaling(np.array(body["scaling"]["centre"]), np.array(body["scaling"]["spread"]))
            X = scaling.apply(np.asarray(X, dtype=np.float64))
        return X.toarray() if contents.kind == "sparse" and kind == "vectors" else X

    def _columns_of(self, contents: Contents) -> Any:
        """Columns of an array are called x0, x1, ...; those of the fit are taken, where it took some of them."""
        if contents.values.ndim == 3 and "series" in kinds_of(self.body["metric"]):
            raise Failure(
                f"{contents.name} holds series of several channels, but the model was made of series of one channel"
            )
        X, columns = flattened(contents.values), self.body["columns"]
        if (
            columns
            and all(name.startswith("x") and name[1:].isdigit() for name in columns)
            and X.shape[1] != len(columns)
        ):
            wanted = [int(name[1:]) for name in columns]
            if max(wanted) < X.shape[1]:
                return X[:, wanted]
        return X

    def _table_of(self, contents: Contents) -> Any:
        types = self.body["medoids"]["types"]
        if contents.kind != "table":
            raise Failure(f"{contents.name} holds a {contents.kind}, but the model was made of a table")
        table = contents.values
        for name in types:
            if name not in table.column_names:
                have = ", ".join(table.column_names)
                raise Failure(f"{contents.name} has no column {name!r}, which the model was made with; it has {have}")
        table = canonical(table.select(list(types)))
        columns = {}
        for name, kind in types.items():
            try:
                columns[name] = table[name].cast(_TYPES[kind])
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                reason = str(error).splitlines()[0]
                raise Failure(f"{contents.name}: column {name!r} is not {kind}, as in the model: {reason}") from None
        return pa.table(columns)


def _table(rows: list[dict[str, Any]], types: dict[str, str]) -> Any:
    return pa.table({name: pa.array([row[name] for row in rows], type=_TYPES[kind]) for name, kind in types.items()})


def load(path: str) -> Model:
    """Read a model file, and refuse one that is not as it was written."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Failure(f"there is no model file {path}") from None
    except UnicodeDecodeError:
        raise Failure(f"{path} is not a model file: it is not text; make one with cluster --save") from None
    except OSError as error:
        raise Failure(f"cannot read the model file {path}: {error.strerror}") from None
    try:
        whole = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise Failure(f"{path} is not a model file, or was cut: {where}") from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise Failure(f"{path} is not a model file: it does not say format {FORMAT!r}; make one with cluster --save")
    if whole.get("version") != VERSION:
        raise Failure(
            f"{path} is of version {whole.get('version')!r}, and this program reads version {VERSION}; "
            "make it again with cluster --save, or use another version of medoids"
        )
    body = whole.get("model")
    if not isinstance(body, dict) or whole.get("sha256") != _digest(body):
        raise Failure(f"{path} was changed or damaged: its checksum does not fit its content; make it again")
    try:
        check_model(body)
    except (ValueError, WrongUsage) as error:
        raise Failure(f"{path} is not a valid model: {error}; make it again with cluster --save") from None
    return Model(body)
