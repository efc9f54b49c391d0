"""What a command gives: labels and medoids as files, a summary for people, the same for machines."""

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

from medoids.cli.failures import WrongUsage
from medoids.cli.features import Features
from medoids.cli.spreadsheets import protected
from medoids.result import Clustering

__all__ = ["check_table_path", "labels_table", "medoid_text", "medoids_table", "summary", "write_table"]

_TABLES = (".csv", ".tsv", ".parquet", ".jsonl")
# More columns than this of a sparse matrix are not written out.
_WIDE = 2_000


def check_table_path(option: str, path: str | None) -> None:
    if path not in (None, "-") and Path(str(path)).suffix not in _TABLES:
        raise WrongUsage(f"{option} {path}: the name must end in {', '.join(_TABLES[:-1])} or {_TABLES[-1]}")


def write_table(table: Any, draft: Any, suffix: str) -> None:
    """Write a table in the format that a suffix tells; ``draft`` is a path or a binary stream."""
    if suffix == ".parquet":
        parquet.write_table(table, draft)
    elif suffix == ".jsonl":
        lines = "".join(json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in table.to_pylist())
        if isinstance(draft, Path):
            draft.write_text(lines, encoding="utf-8")
        else:
            draft.write(lines.encode())
    else:
        options = arrow_csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ",", quoting_style="needed")
        arrow_csv.write_csv(protected(_flat(table)), str(draft) if isinstance(draft, Path) else draft, options)


def _flat(table: Any) -> Any:
    """Return a table with lists, which a CSV file cannot hold, as JSON."""
    for at, column in enumerate(table.columns):
        if pa.types.is_list(column.type):
            table = table.set_column(at, table.column_names[at], pa.array(map(json.dumps, column.to_pylist())))
    return table


def labels_table(found: Features, labels: Any, distances: Any) -> Any:
    """One line for each row of the file: its number or id, its cluster, the distance to the medoid."""
    rows = pa.array(found.ids) if found.ids is not None else pa.array(np.arange(len(labels)))
    return pa.table({found.id_name: rows, "cluster": pa.array(labels), "distance": pa.array(distances)})


def medoids_table(found: Features, clustering: Clustering) -> Any:
    """One line for each cluster: the medoid's row, the cluster's size and mean distance, the medoid itself."""
    rows = clustering.medoid_indices
    k = len(rows)
    sizes = np.bincount(clustering.labels, minlength=k)
    columns: dict[str, Any] = {
        "cluster": pa.array(np.arange(k)),
        "row": pa.array(rows),
        "size": pa.array(sizes),
        "mean_distance": pa.array(np.bincount(clustering.labels, clustering.distances, k) / np.maximum(sizes, 1)),
    }
    if found.rest is not None:
        rest = found.rest.take(rows)
        columns |= {_free(name, columns): rest[name] for name in rest.column_names}
    X = found.original
    if isinstance(X, pa.Table):
        part = X.take(rows)
        columns |= {_free(name, columns): part[name] for name in part.column_names}
    elif issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        if found.kind != "matrix" and X.shape[1] <= _WIDE:
            part = X[rows].toarray() if issparse(X) else X[rows]
            names = found.names or [f"x{f}" for f in range(X.shape[1])]
            columns |= {_free(name, columns): _shortest(part[:, f]) for f, name in enumerate(names)}
    elif found.kind == "strings":
        columns["text"] = pa.array([_plain(X[i]) for i in rows])
    else:
        columns["values"] = pa.array([np.asarray(X[i]).tolist() for i in rows])
    return pa.table(columns)


def _free(name: str, taken: dict[str, Any]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)


def _shortest(values: Any) -> Any:
    """Whole numbers without a decimal point."""
    whole = values.dtype.kind == "f" and bool((values == np.round(values)).all()) and bool((abs(values) < 2**53).all())
    return pa.array(values.astype(np.int64) if whole else values)


def _plain(text: Any) -> str:
    return text if isinstance(text, str) else " ".join(text)


def medoid_text(found: Features, row: int, width: int = 60) -> str:
    """A medoid in one line."""
    X = found.original
    if found.kind == "matrix":
        return ""
    if isinstance(X, pa.Table):
        text = ", ".join(f"{name} {value}" for name, value in X.slice(row, 1).to_pylist()[0].items())
    elif found.kind == "strings":
        text = _plain(X[row])
    elif issparse(X):
        part = X[[row]]
        text = f"{part.nnz:,} of {X.shape[1]:,} columns are not 0"
    else:
        values = np.asarray(X[row]).ravel()[:40].tolist()
        shown = [str(int(v)) if v == int(v) else f"{v:.4g}" for v in values if math.isfinite(v)]
        text = (
            ", ".join(f"{n} {v}" for n, v in zip(found.names, shown, strict=False)) if found.names else " ".join(shown)
        )
    return text if len(text) <= width else text[: width - 1] + "…"


def summary(found: Features, clustering: Clustering, seconds: float) -> dict[str, Any]:
    """The result for machines, without labels."""
    n, k = len(clustering.labels), len(clustering.medoid_indices)
    sizes = np.bincount(clustering.labels, minlength=k)
    means = np.bincount(clustering.labels, clustering.distances, k) / np.maximum(sizes, 1)
    medoids = [
        {
            "cluster": j,
            "row": int(row),
            **({found.id_name: found.ids[row]} if found.ids is not None else {}),
            "size": int(sizes[j]),
            "mean_distance": float(means[j]),
            "medoid": medoid_text(found, int(row), width=10_000),
        }
        for j, row in enumerate(clustering.medoid_indices)
    ]
    return {
        "n": n,
        "k": k,
        "metric": found.metric,
        "algorithm": clustering.algorithm,
        "reason": clustering.reason,
        "loss": clustering.loss,
        "inertia": clustering.inertia,
        "n_swaps": clustering.n_swaps,
        "converged": clustering.converged,
        "n_evaluations": clustering.n_evaluations,
        "seconds": round(seconds, 3),
        "medoids": medoids,
    }
