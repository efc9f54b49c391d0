"""What a fit found: the functions that look at a clustering take a `Clustering` or a fitted estimator.

The estimator may be that of one machine or that of a Dask cluster, whose labels, distances and weights, and whose X,
are brought into memory here.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from medoids.distances import Count, Dissimilarity, count_points, count_rows, dissimilarity
from medoids.engine.arrays import Float64s
from medoids.inputs import check_data
from medoids.result import Clustering
from medoids.settings import OPTIMAL_RESTARTS, check_weights

__all__ = ["clustering_of", "data_of", "in_memory", "is_model", "measured", "trace_of", "weights_of"]

# Parameters of an estimator that say nothing of the result.
_NOT_RESULT = {"callback", "checkpoint", "client", "resume", "verbose"}


def is_model(thing: Any) -> bool:
    """Whether this is a `Clustering` or an estimator, rather than data."""
    return isinstance(thing, (Clustering, BaseEstimator))


def in_memory(X: Any, client: Any = None) -> Any:
    """Return what a Dask collection holds, and anything else as it is."""
    return X.compute(scheduler=client) if hasattr(X, "__dask_graph__") else X


def check_model(model: Any) -> None:
    """Refuse what is not a clustering, and an estimator that is not fitted."""
    if not is_model(model):
        raise TypeError(f"the first argument must be a Clustering or a fitted KMedoids; got {type(model).__name__}")
    if isinstance(model, Clustering):
        return
    check_is_fitted(model)
    if not hasattr(model, "medoid_indices_"):
        raise TypeError(
            f"the first argument must be a Clustering or a fitted KMedoids; got {type(model).__name__}. Pass the "
            "KMedoids inside of it, and X as that estimator gets it"
        )
    if not hasattr(model, "labels_"):
        raise ValueError(
            "the model was loaded from a file, which holds no labels; it can predict and transform, and fit(X) makes "
            "what is missing"
        )


def trace_of(model: Any) -> Any:
    """Return the steps of a fit."""
    check_model(model)
    return model.trace if isinstance(model, Clustering) else model.trace_


def clustering_of(model: Any) -> Clustering:
    """Return what a fitted estimator found as a `Clustering`, and a `Clustering` as it is."""
    check_model(model)
    if isinstance(model, Clustering):
        return model
    parameters = {name: value for name, value in model.get_params().items() if name not in _NOT_RESULT}
    client = getattr(model, "client", None)
    if hasattr(model, "client"):
        parameters["algorithm"] = model.algorithm_  # "auto" means another one on a single machine
    return Clustering(
        medoid_indices=model.medoid_indices_,
        labels=in_memory(model.labels_, client),
        distances=in_memory(model.distances_, client),
        inertia=model.inertia_,
        loss=model.loss_,
        n_swaps=model.n_iter_,
        converged=model.converged_,
        algorithm=model.algorithm_,
        reason=model.reason_,
        n_evaluations=model.n_evaluations_,
        counts={"fit": Count(model.n_evaluations_, model.n_evaluations_, 0)},
        trace=model.trace_,
        parameters={**parameters, "n_clusters": model.n_clusters_},
        sample_weight=in_memory(model._sample_weight, client),
        **_proof_of(model),
    )


def _proof_of(model: Any) -> dict[str, Any]:
    """Return what an estimator knows of restarts and of the best possible loss."""
    restarts = OPTIMAL_RESTARTS if model.algorithm_ == "optimal" and not model.n_restarts else model.n_restarts
    if getattr(model, "gap_", None) is None:
        return {"n_restarts": restarts}
    return {"n_restarts": restarts, "lower_bound": model.lower_bound_, "gap": model.gap_, "proved": model.converged_}


def data_of(model: Any, X: Any) -> tuple[Clustering, Any]:
    """Return a clustering, and the data that it was made of as its metric takes them."""
    if not is_model(model):
        raise TypeError(
            "the model comes first: a Clustering or a fitted KMedoids, followed by X; got "
            f"{type(model).__name__} and {type(X).__name__}"
        )
    found = clustering_of(model)
    metric = found.parameters.get("metric", "euclidean")
    # An estimator knows the columns that it was fitted to, a Clustering does not.
    estimator = None if isinstance(model, Clustering) else model
    checked = check_data(in_memory(X), metric, estimator, reset=estimator is None)
    points = count_points(checked, metric)
    if points != len(found.labels):
        raise ValueError(
            f"X has {points} rows, but the clustering has {len(found.labels)} points; pass the data that it was made of"
        )
    return found, checked


def measured(model: Any, X: Any) -> tuple[Clustering, Dissimilarity, Any, Any]:
    """Return a clustering, the distance that it was made with, the metric, and X as that takes it."""
    found, checked = data_of(model, X)
    if count_rows(checked) != len(found.labels):
        raise ValueError(
            f"X is a matrix of {count_rows(checked)} candidates and {len(found.labels)} points, and distances among "
            "the points are needed here; pass a square matrix, or the data"
        )
    metric = found.parameters.get("metric", "euclidean")
    return found, dissimilarity(checked, metric, found.parameters.get("metric_params")), metric, checked


def weights_of(found: Clustering, sample_weight: Any) -> Float64s:
    """Return the weights that were given, or else those of the fit."""
    return check_weights(found.sample_weight if sample_weight is None else in_memory(sample_weight), len(found.labels))
