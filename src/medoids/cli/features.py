"""From the contents of a file to the input of a metric: which columns, which metric, on which scale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import issparse

from medoids.cli.contents import Contents, ReadOptions, Selection
from medoids.cli.messages import Failure, WrongUsage
from medoids.cli.tables import canonical_table, default_metric, feature_columns, is_numeric, number_columns, text_column
from medoids.distances import Scaling, available_metrics, kinds_of, takes_gaps
from medoids.engine.arrays import Float64s
from medoids.engine.threads import spans
from medoids.wording import unknown

__all__ = ["Features", "as_rows", "make_features", "metric_kinds"]

# Rows checked for NaN at a time: an array on disk need not fit in memory.
_CHECKED_ROWS = 1 << 16


@dataclass
class Features:
    """The data of a fit and what belongs to them.

    Attributes
    ----------
    X : the input of the metric
    kind : str
        "vectors", "sparse", "table", "strings", "series" or "matrix".
    original : the same before scaling
    names : list of str or None
        Columns of vectors and tables.
    rest : pyarrow Table or None
        Columns of the file that are not features, written beside the medoids.
    from_table : bool
        Whether ``names`` are those of a table; columns of an array are called x0, x1, ...
    how : ReadOptions
        How the file was read.
    """

    X: Any
    kind: str
    metric: str
    original: Any
    names: list[str] | None = None
    ids: list[Any] | None = None
    id_name: str = "row"
    weights: Float64s | None = None
    scaling: Scaling | None = None
    rest: Any = None
    from_table: bool = False
    notes: list[str] = field(default_factory=list)
    how: ReadOptions = field(default_factory=ReadOptions)

    def __len__(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)


def metric_kinds(metric: str) -> set[str]:
    """Return the kinds of data that a metric takes.

    >>> sorted(metric_kinds("precomputed"))
    ['matrix']
    """
    if not kinds_of(metric):
        known = {name for entry in available_metrics() for name in (entry.name, *entry.aliases)}
        raise WrongUsage(f"--metric {metric} {unknown(metric, known)}")
    return set(kinds_of(metric))


def make_features(contents: Contents, selection: Selection, metric: str | None, scale: str) -> Features:
    """Choose the columns and the metric, and scale."""
    if len(contents) == 0:
        raise Failure(f"{contents.name} has no rows")
    if contents.kind == "table":
        found = _from_table(contents, selection, metric)
    elif contents.kind in ("array", "sparse"):
        found = _from_array(contents, selection, metric or "euclidean")
    else:
        found = _from_list(contents, selection, metric)
    found.how = contents.how
    if scale != "none":
        if found.kind != "vectors" or issparse(found.X):
            raise WrongUsage(f"--scale {scale} is for rows of numbers; these are {found.kind}, under {found.metric}")
        found.original = np.asarray(found.X, dtype=np.float64)
        found.scaling = Scaling.fit(found.original, scale)
        found.X = found.scaling(found.original)
    return found


def _from_table(contents: Contents, selection: Selection, metric: str | None) -> Features:
    table, name = contents.values, contents.name
    chosen = feature_columns(table.column_names, selection, name)
    texts = [column for column in chosen if not is_numeric(table[column].type)]
    notes = list(contents.notes)
    metric = metric or default_metric(contents, chosen, texts, notes)
    kinds = metric_kinds(metric)
    X: Any
    if "table" in kinds:
        kind, X = "table", canonical_table(table.select(chosen))
    elif "strings" in kinds and texts and len(chosen) == 1:
        if pa.types.is_temporal(table[chosen[0]].type):
            raise WrongUsage(f"--metric {metric} takes text, but column {chosen[0]!r} holds dates; use gower")
        kind, X = "strings", text_column(contents, chosen[0])
    elif kinds & {"vectors", "matrix", "coordinates", "series"}:
        kind = "matrix" if "matrix" in kinds else "vectors"
        X = number_columns(contents, chosen, metric)
        if kind == "matrix" and X.shape[0] != X.shape[1]:
            raise Failure(
                f"{name} has {X.shape[0]} rows and {X.shape[1]} columns of distances; "
                "a matrix of distances must be square"
            )
    else:
        raise WrongUsage(
            f"--metric {metric} takes {' or '.join(sorted(kinds))}, but {name} has the columns {', '.join(chosen)}; "
            "choose one with --columns, or another metric"
        )
    found = Features(X, kind, metric, X, names=chosen, from_table=True, notes=notes)
    if selection.id is not None:
        found.ids, found.id_name = table[selection.id].to_pylist(), selection.id
    if selection.weights is not None:
        found.weights = number_columns(contents, [selection.weights], "--weights")[:, 0]
        if (found.weights < 0).any():
            row = int(np.argmax(found.weights < 0))
            raise contents.cell_failure(
                row, selection.weights, f"is {found.weights[row]:g}; weights must not be negative"
            )
    if len(chosen) < table.num_columns:
        found.rest = table.drop_columns(chosen)
    return found


def _from_list(contents: Contents, selection: Selection, metric: str | None) -> Features:
    if given := next((option for option, value in vars(selection).items() if value is not None), None):
        raise WrongUsage(f"--{given} needs a file with columns, but {contents.name} holds {contents.kind}")
    default, kind = ("dtw", "series") if contents.kind == "series" else ("levenshtein", "strings")
    metric = metric or default
    if kind not in metric_kinds(metric):
        raise WrongUsage(f"{contents.name} holds {contents.kind}, and --metric {metric} does not take {kind}")
    return Features(
        contents.values,
        kind,
        metric,
        contents.values,
        notes=[f"{contents.name}: {len(contents):,} {contents.kind}, {metric} distance"],
    )


def _from_array(contents: Contents, selection: Selection, metric: str) -> Features:
    X, name, kinds, sparse = contents.values, contents.name, metric_kinds(metric), contents.kind == "sparse"
    if any(value is not None for value in (selection.id, selection.weights, selection.labels)):
        raise WrongUsage(f"--id, --weights and --labels name columns of a table, but {name} holds an array")
    if sparse and "sparse" not in kinds and "matrix" in kinds:
        raise WrongUsage(f"{name} is sparse, and a matrix of distances must not be: what is not stored has none")
    if not sparse and not kinds & {"vectors", "matrix", "coordinates", "series", "table"}:
        raise WrongUsage(f"--metric {metric} takes {' or '.join(sorted(kinds))}, but {name} holds numbers")
    kind = "sparse" if sparse else "matrix" if "matrix" in kinds else "vectors"
    columns = None
    if X.ndim == 3 and "series" in kinds:  # of several channels, whose layout the metric knows
        kind = "series"
        if selection.columns or selection.ignore:
            raise WrongUsage(
                f"--columns and --ignore choose columns, but {name} holds series, an array of shape {X.shape}"
            )
    else:
        if 0 in X.shape[1:]:
            raise Failure(f"{name} holds an array of shape {X.shape}, which has no columns")
        X = as_rows(X)
        if selection.columns or selection.ignore:
            columns = feature_columns([f"x{f}" for f in range(X.shape[1])], selection, name)
            X = X[:, [int(column[1:]) for column in columns]]
        checked = not sparse and X.dtype.kind == "f" and not takes_gaps(metric)
        for span in spans(X.shape[0], _CHECKED_ROWS) if checked else []:
            if not np.isfinite(X[span]).all():
                row, f = np.argwhere(~np.isfinite(X[span]))[0] + (span.start, 0)
                raise contents.cell_failure(
                    int(row), columns[f] if columns else f"x{f}", f"is {X[row, f]}; fill or remove the row"
                )
    return Features(X, kind, metric, X, names=columns, notes=list(contents.notes))


def as_rows(X: Any) -> Any:
    """Return an array of three dimensions, such as images, as rows of numbers."""
    return X.reshape(len(X), -1) if X.ndim == 3 else X
