"""The model file: medoids, and what is needed to compare new data with them, as checked JSON.

It is read by a JSON parser and by nothing else, so that loading it never runs code::

    {"format": "medoids model", "version": 2, "sha256": "...", "model": {...}}

``sha256`` is the checksum of the text of ``model``, written with sorted keys and without spaces; it detects a file that
was changed or cut. It is not a signature: anyone who changes the file on purpose can also compute a new checksum.

``model`` has these parts; docs/model-files.md describes them.

=================  ================================================================================================
kind               what X is: vectors, coordinates, sparse, matrix, table, strings, sets, series or trees
metric             the name, with ``metric_params``
fitted             what was fitted to all rows: see ``Dissimilarity.fitted``, and ``scaling`` of the command
n, rows            rows of the fit, and the numbers of the medoids among them
width, columns     how many columns there are, and their names, or null
medoids            as ``model_medoids.py`` describes them
settings           other parameters of the estimator that are plain values
result             loss, algorithm and so on
reading            how the command read the file, or null
crs                of points of GeoPandas, as WKT, to which new points are converted; or null
made_by            the program and its version
=================  ================================================================================================
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from medoids._version import __version__
from medoids.distances import Dissimilarity, restored
from medoids.distances.gower import table_columns
from medoids.inputs import check_data
from medoids.storage.files import Outputs
from medoids.storage.model_medoids import as_centers, as_data, decode_medoids, encode_medoids
from medoids.storage.model_schema import check_model_body
from medoids.storage.plain import from_json, to_json

__all__ = [
    "InvalidModel",
    "export_model",
    "invalid",
    "model_body",
    "model_text",
    "parameters_of",
    "read_model",
    "restored_medoids",
]

_FILE_FORMAT, _FILE_VERSION = "medoids model", 2
# Settings of other types, such as rows of init, belong to the data of the fit.
_PLAIN_SETTINGS = (int, float, str, type(None))
_MAKE_AGAIN = "make it again with KMedoids.export or cluster --save"


class InvalidModel(ValueError):
    """A file is not a model, or not one that could have been written."""


def model_body(
    kind: str,
    metric: Any,
    metric_params: dict[str, Any] | None,
    distance: Dissimilarity,
    centers: Any,
    *,
    n: int,
    rows: Any,
    names: list[Any] | None,
    settings: dict[str, Any],
    result: dict[str, Any],
    reading: dict[str, Any] | None = None,
    fitted: dict[str, Any] | None = None,
    crs: str | None = None,
) -> dict[str, Any]:
    """Return the part ``model`` of a file; raise a ValueError if something of it cannot be written.

    ``distance`` is the one among the medoids, ``centers``; ``fitted`` is added to what was fitted to it.
    """
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        raise ValueError(
            f"metric={name} is a function, which a model file cannot hold: loading it would have to run code. Use a "
            "metric that has a name (medoids.available_metrics()), or keep medoid_indices_ and the data; pickle can "
            "store the estimator for those who trust the file"
        )
    width = n if kind == "matrix" else int(centers.shape[1]) if kind in ("vectors", "coordinates", "sparse") else None
    try:
        body = {
            "kind": kind,
            "metric": metric,
            "metric_params": metric_params and to_json(_without_arrays(metric_params)),
            "fitted": to_json({**distance.fitted(), **(fitted or {})}),
            "n": n,
            "rows": np.asarray(rows).tolist(),
            "width": width,
            "columns": list(table_columns(centers)) if kind == "table" else names if width else None,
            "medoids": encode_medoids(centers, kind),
            "settings": {name: value for name, value in settings.items() if isinstance(value, _PLAIN_SETTINGS)},
            "result": {name: to_json(value) for name, value in result.items()},
            "reading": to_json(reading),
            "crs": crs,
            "made_by": f"medoids {__version__}",
        }
        check_model_body(body)
    except (TypeError, ValueError) as error:
        raise ValueError(f"this model cannot be written to a file: {error}; use texts or numbers instead") from None
    return body


def _without_arrays(value: Any) -> Any:
    """Return parameters with lists instead of arrays and tuples, which metrics take as well."""
    if isinstance(value, dict):
        return {name: _without_arrays(part) for name, part in value.items()}
    return [_without_arrays(part) for part in value] if isinstance(value, (list, tuple, np.ndarray)) else value


def model_text(body: dict[str, Any]) -> str:
    """Return the content of the file of a model."""
    whole = {"format": _FILE_FORMAT, "version": _FILE_VERSION, "sha256": _checksum(body), "model": body}
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _checksum(body: Any) -> str | None:
    """Return the checksum of a model, or None if it is nested more deeply than JSON is written."""
    try:
        return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    except RecursionError:
        return None


def export_model(path: Any, body: dict[str, Any]) -> None:
    """Write a model file, whole or not at all."""
    with Outputs() as outputs:
        outputs.claim(path).write_text(model_text(body), encoding="utf-8")


def read_model(path: Any) -> dict[str, Any]:
    """Return the part ``model`` of a file; raise `InvalidModel` if it is not as it was written."""
    try:
        whole = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidModel(f"{path} is not a model file, or was cut: {error}; {_MAKE_AGAIN}") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else "a number has thousands of digits"
        raise InvalidModel(f"{path} is not a model file, or was cut: {reason}; {_MAKE_AGAIN}") from None
    if not isinstance(whole, dict) or whole.get("format") != _FILE_FORMAT:
        raise InvalidModel(f"{path} is not a model file: it does not say format {_FILE_FORMAT!r}; {_MAKE_AGAIN}")
    if whole.get("version") != _FILE_VERSION:
        raise InvalidModel(
            f"{path} is of version {whole.get('version')!r}, and this program reads version {_FILE_VERSION}; "
            f"{_MAKE_AGAIN}, or use another version of medoids"
        )
    body = whole.get("model")
    if not isinstance(body, dict) or whole.get("sha256", "") != _checksum(body):
        raise InvalidModel(f"{path} was changed or damaged: its checksum does not match its content; {_MAKE_AGAIN}")
    try:
        check_model_body(body)
    except ValueError as error:
        raise invalid(path, error) from None
    return body


def invalid(path: Any, error: Exception) -> InvalidModel:
    """Return the error of a file that says something impossible."""
    return InvalidModel(f"{path} is not a valid model: {error}; {_MAKE_AGAIN}")


def parameters_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """Return ``metric_params`` of a model."""
    found: dict[str, Any] | None = from_json(body["metric_params"])
    return found


def restored_medoids(body: dict[str, Any], path: Any) -> tuple[Any, Dissimilarity]:
    """Return the medoids of a model as ``cluster_centers_``, None for a matrix, and the distance from them."""
    kind, metric, fitted = body["kind"], body["metric"], from_json(body["fitted"])
    k = len(body["rows"])
    if kind == "matrix":
        return None, restored(np.zeros((k, k)), metric, kind, None, {})
    try:
        decoded = decode_medoids(body["medoids"], kind, body["width"])
        data = as_data(decoded, kind, body["columns"])
        if kind != "table":
            data = check_data(data, metric, kind=kind)
        distance = restored(data, metric, kind, parameters_of(body), fitted)
    except (ValueError, TypeError, OverflowError) as error:
        raise invalid(path, error) from None
    return as_centers(decoded, body["medoids"]["types"]) if kind == "table" else data, distance
