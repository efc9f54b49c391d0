"""The results of a command: tables of labels and medoids, and a summary."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from scipy.sparse import issparse

from medoids.cli.features import Features
from medoids.cli.messages import truncated
from medoids.cli.spreadsheets import protected
from medoids.result import CLOSED_GAP, Clustering
from medoids.wording import counted

__all__ = [
    "beside_rows",
    "cluster_summary",
    "labels_table",
    "medoids_table",
    "one_line",
    "proof_line",
    "write_table",
]

# Medoids with more columns, which few programs open, are written without them.
_MOST_MEDOID_COLUMNS = 2_000
# Characters of a medoid, and numbers of a vector, in the summary.
_MEDOID_CHARACTERS, _MEDOID_NUMBERS = 10_000, 40


def write_table(table: Any, target: Any, suffix: str) -> None:
    """Write a table in the format of a suffix, by default CSV; ``target`` is a path or a binary stream."""
    if suffix == ".parquet":
        parquet.write_table(table, target)
    elif suffix == ".jsonl":
        lines = (json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in table.to_pylist())
        target.write_text("".join(lines), encoding="utf-8")
    else:
        for at, column in enumerate(table.columns):
            if pa.types.is_list(column.type):  # which a CSV file cannot hold
                table = table.set_column(at, table.column_names[at], pa.array(map(json.dumps, column.to_pylist())))
        options = arrow_csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ",", quoting_style="needed")
        arrow_csv.write_csv(protected(table), str(target) if isinstance(target, Path) else target, options)


def labels_table(labels: Any, distances: Any, ids: list[Any] | None, id_name: str) -> Any:
    """Return a row for each row of the file: its number or id, its cluster, the distance to the medoid."""
    return pa.table({id_name: np.arange(len(labels)) if ids is None else ids, "cluster": labels, "distance": distances})


def _sizes_and_means(clustering: Clustering) -> tuple[Any, Any]:
    """Return the size of each cluster and the mean distance to its medoid."""
    k = len(clustering.medoid_indices)
    sizes = np.bincount(clustering.labels, minlength=k)
    return sizes, np.bincount(clustering.labels, clustering.distances, k) / np.maximum(sizes, 1)


def medoids_table(found: Features, clustering: Clustering) -> Any:
    """Return a row for each cluster: the medoid's row, the cluster's size and mean distance, the medoid itself."""
    rows = clustering.medoid_indices
    sizes, means = _sizes_and_means(clustering)
    return beside_rows(
        {"cluster": np.arange(len(rows)), "row": rows, "size": sizes, "mean_distance": means}, found, rows
    )


def beside_rows(columns: dict[str, Any], found: Features, rows: Any) -> Any:
    """Return a table of some columns, and of all columns of the file in some of its rows."""
    others = {} if found.rest is None else _columns_by_name(found.rest.take(rows))
    for name, values in (others | _medoid_columns(found, rows)).items():
        while name in columns:
            name += "_"
        columns[name] = values
    return pa.table(columns)


def _columns_by_name(table: Any) -> dict[str, Any]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _medoid_columns(found: Features, rows: Any) -> dict[str, Any]:
    X = found.original
    if isinstance(X, pa.Table):
        return _columns_by_name(X.take(rows))
    if found.kind == "strings":
        return {"text": [_as_text(X[i]) for i in rows]}
    if found.kind == "series":
        return {"values": [np.asarray(X[i]).tolist() for i in rows]}
    if found.kind == "matrix" or X.shape[1] > _MOST_MEDOID_COLUMNS:
        return {}
    part = X[rows].toarray() if issparse(X) else X[rows]
    return {
        name: _without_point(column)
        for name, column in zip(found.names or [f"x{f}" for f in range(X.shape[1])], part.T, strict=True)
    }


def _without_point(column: Any) -> Any:
    """Return a column of whole numbers as integers, so that they are written without a decimal point."""
    whole = column.dtype.kind == "f" and (column == np.round(column)).all() and (abs(column) < 2**53).all()
    return column.astype(np.int64) if whole else np.ascontiguousarray(column)


def _as_text(medoid: Any) -> str:
    return medoid if isinstance(medoid, str) else " ".join(medoid)


def one_line(found: Features, row: int) -> str:
    """Return a medoid in one line."""
    X = found.original
    if found.kind == "matrix":
        return ""
    if isinstance(X, pa.Table):
        return ", ".join(f"{name} {value}" for name, value in X.slice(row, 1).to_pylist()[0].items())
    if found.kind == "strings":
        return _as_text(X[row])
    if issparse(X):
        return f"{X[[row]].nnz:,} of {X.shape[1]:,} columns are not 0"
    values = np.asarray(X[row]).ravel()[:_MEDOID_NUMBERS].tolist()
    shown = [str(int(v)) if v == int(v) else f"{v:.4g}" for v in values if math.isfinite(v)]
    return ", ".join(map(" ".join, zip(found.names, shown, strict=False))) if found.names else " ".join(shown)


def _proof(clustering: Clustering) -> dict[str, Any]:
    """Return what "optimal" has proved; numbers that JSON does not have are None."""
    if clustering.gap is None:
        return {}
    found = {"lower_bound": clustering.lower_bound, "gap": clustering.gap}
    finite = {name: value if value is not None and math.isfinite(value) else None for name, value in found.items()}
    return {**finite, "proved": clustering.proved, "nodes": clustering.nodes}


def cluster_summary(found: Features, clustering: Clustering, seconds: float) -> dict[str, Any]:
    """Return the result for JSON, without labels."""
    sizes, means = _sizes_and_means(clustering)
    medoids = [
        {
            "cluster": j,
            "row": int(row),
            **({found.id_name: found.ids[row]} if found.ids is not None else {}),
            "size": int(sizes[j]),
            "mean_distance": float(means[j]),
            "medoid": truncated(one_line(found, int(row)), _MEDOID_CHARACTERS),
        }
        for j, row in enumerate(clustering.medoid_indices)
    ]
    return {
        "n": len(clustering.labels),
        "k": len(medoids),
        "metric": found.metric,
        "algorithm": clustering.algorithm,
        "reason": clustering.reason,
        "loss": clustering.loss,
        "inertia": clustering.inertia,
        "n_swaps": clustering.n_swaps,
        "converged": clustering.converged,
        "n_evaluations": clustering.n_evaluations,
        **_proof(clustering),
        "seconds": round(seconds, 3),
        "medoids": medoids,
    }


def proof_line(result: dict[str, Any]) -> str:
    """Return what a summary says of the best possible loss."""
    if result["gap"] is None:
        return "no lower bound on the loss was found"
    tree = f", {counted(result['nodes'], 'node')} of branch and bound" if result["nodes"] else ""
    if result["gap"] <= CLOSED_GAP:
        return f"proved: no {result['k']} medoids have a lower loss{tree}"
    return (
        f"{'proved' if result['proved'] else 'not reached'}: the loss is at most {100 * result['gap']:.2g}% above the "
        f"best, which is at least {result['lower_bound']:.6g}{tree}"
    )
