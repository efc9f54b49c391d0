"""What a model file holds of a fitted estimator, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.distances import Dissimilarity
from medoids.settings import Settings
from medoids.storage.model_file import export_model, model_body, parameters_of, restored_medoids

__all__ = ["attributes_of", "export_estimator", "parameters_from"]

# Settings that say how a fit runs, and not what it finds; the metric has a place of its own.
_NOT_STORED = {"metric", "metric_params", "callback", "checkpoint", "resume", "n_jobs", "verbose"}
# Names in the file, and those of the estimator.
_RESULT_NAMES = {
    "algorithm": "algorithm_",
    "reason": "reason_",
    "loss": "loss_",
    "inertia": "inertia_",
    "n_swaps": "n_iter_",
    "n_evaluations": "n_evaluations_",
    "converged": "converged_",
    "lower_bound": "lower_bound_",
    "gap": "gap_",
}


def export_estimator(model: Any, kind: str, distance: Dissimilarity, path: Any) -> None:
    """Write the model file of a fitted estimator; ``distance`` is the one among its medoids.

    One that was loaded, and not fitted since then, gives the same file again.
    """
    if hasattr(model, "_model_file"):
        export_model(path, model._model_file)
        return
    result = {name: getattr(model, own) for name, own in _RESULT_NAMES.items() if hasattr(model, own)}
    labels = getattr(model, "labels_", None)
    if isinstance(labels, np.ndarray) and not hasattr(model, "n_samples_seen_"):
        result["sizes"] = np.bincount(labels, minlength=len(model.medoid_indices_)).tolist()
    names = getattr(model, "feature_names_in_", None)
    body = model_body(
        kind,
        model.metric,
        model.metric_params,
        distance,
        getattr(model, "cluster_centers_", None),
        n=_rows_of_fit(model, kind),
        rows=model.medoid_indices_,
        names=None if names is None else [str(name) for name in names],
        settings={name: getattr(model, name) for name in stored_settings()},
        result=result,
        crs=getattr(model, "_crs", None),
    )
    export_model(path, body)


def _rows_of_fit(model: Any, kind: str) -> int:
    if kind == "matrix":
        return int(model.n_features_in_)
    return int(model.n_samples_seen_ if hasattr(model, "n_samples_seen_") else model.labels_.shape[0])


def stored_settings() -> list[str]:
    """Return the names of the settings that a model file may have."""
    return ["n_clusters", *(name for name in Settings.names() if name not in _NOT_STORED)]


def parameters_from(body: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator that a model was made with, as far as they are stored."""
    unknown = sorted(set(body["settings"]) - set(stored_settings()))
    if unknown:
        raise ValueError(f"model.settings has {unknown[0]!r}, which is no setting")
    return {**body["settings"], "metric": body["metric"], "metric_params": parameters_of(body)}


def attributes_of(body: dict[str, Any], path: Any) -> dict[str, Any]:
    """Return the attributes of a fitted estimator that follow from a model file."""
    centers, distance = restored_medoids(body, path)
    result, names = body["result"], body["columns"]
    found: dict[str, Any] = {own: result[name] for name, own in _RESULT_NAMES.items() if name in result}
    found |= {
        "medoid_indices_": np.array(body["rows"], dtype=np.intp),
        "n_clusters_": len(body["rows"]),
        "_model_file": body,
        "_kind": body["kind"],
        "_medoids": distance,
        "_sample_weight": None,
    }
    if body["crs"] is not None:
        found["_crs"] = body["crs"]
    if centers is not None:
        found["cluster_centers_"] = centers
    width = body["width"] or (len(names) if names else None)
    if width is not None:
        found["n_features_in_"] = width
    if names and all(isinstance(name, str) for name in names):
        found["feature_names_in_"] = np.array(names, dtype=object)
    return found
