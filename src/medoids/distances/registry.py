"""The metrics by name: what each is called, on what kind of data it works, and how to make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from medoids.distances.callables import CallableDistance, JittedDistance, is_jitted
from medoids.distances.elementwise import CENTRED, Elementwise
from medoids.distances.inner_product import InnerProduct
from medoids.distances.precomputed import Precomputed
from medoids.distances.protocol import Dissimilarity, Floats

__all__ = ["METRICS", "SMALL", "Metric", "dissimilarity", "find_metric", "kind_of"]

# Up to so many points everything runs in float64 through NumPy and scipy: exact at once, and no Numba to import.
SMALL = 3_000
# Coordinates in n^2 distances from which scipy's loops take longer than importing ours.
_LONG = 10**9


@dataclass(frozen=True)
class Metric:
    """One entry of the registry.

    Attributes
    ----------
    name, aliases : str, tuple of str
    formula : str
        One line of maths.
    make : callable
        ``make(X, parameters)`` returns a `Dissimilarity`.
    parameters : dict
        Names that ``metric_params`` may hold, with their defaults.
    """

    name: str
    aliases: tuple[str, ...]
    formula: str
    make: Callable[[Any, dict[str, Any]], Dissimilarity]
    parameters: dict[str, Any] = field(default_factory=dict)
    kind: str = "vectors"


def _fits_float32(X: Floats, p: float = 1.0) -> bool:
    """Whether squares and p-th powers of the centred values neither overflow nor vanish in float32."""
    centre = X.mean(axis=0, dtype=np.float64)
    top = max(float(np.abs(X[start : start + 1024] - centre).max()) for start in range(0, len(X), 1024))
    if not 1e-15 < top < 1e15:
        return False
    # From a thousandth of the norms on, a distance is made of powers in float32; a sum over columns must fit, too.
    low, high = p * np.log10(1e-3 * top), p * np.log10(2 * top) + np.log10(X.shape[1])
    return bool(low > -37 and high < 38)


def _inner_product(name: str) -> Callable[[Any, dict[str, Any]], Dissimilarity]:
    def make(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
        small = len(X) <= SMALL
        single = not small and (name in ("cosine", "correlation") or _fits_float32(X))
        return InnerProduct(X, name, dtype=np.float32 if single else np.float64, compiled=not small)

    return make


def _elementwise(name: str) -> Callable[[Any, dict[str, Any]], Dissimilarity]:
    def make(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
        small = len(X) <= SMALL
        p = float(parameters.get("p", 2))
        # The others are ratios or tests of equality, which rounding to float32 would change.
        single = not small and name in CENTRED and _fits_float32(X, p if name == "minkowski" else 1.0)
        compiled = not small or len(X) ** 2 * X.shape[1] > _LONG
        return Elementwise(X, name, p=p, dtype=np.float32 if single else np.float64, compiled=compiled)

    return make


def _minkowski(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    p = parameters["p"]
    if not (isinstance(p, (int, float, np.number)) and p > 0):
        raise ValueError(f"metric_params={{'p': {p!r}}}: minkowski needs a number p > 0")
    # The special cases have faster code and no powers to round.
    special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(float(p))
    return METRICS[special].make(X, {}) if special else _elementwise("minkowski")(X, parameters)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        Metric("euclidean", ("l2",), "sqrt(sum (x - y)^2)", _inner_product("euclidean")),
        Metric("sqeuclidean", (), "sum (x - y)^2", _inner_product("sqeuclidean")),
        Metric("cosine", (), "1 - <x, y> / (|x| |y|)", _inner_product("cosine")),
        Metric("correlation", (), "cosine after subtracting each row's mean", _inner_product("correlation")),
        Metric("manhattan", ("l1", "cityblock"), "sum |x - y|", _elementwise("manhattan")),
        Metric("chebyshev", ("linf",), "max |x - y|", _elementwise("chebyshev")),
        Metric("minkowski", ("lp",), "(sum |x - y|^p)^(1/p)", _minkowski, {"p": 2}),
        Metric("canberra", (), "sum |x - y| / (|x| + |y|)", _elementwise("canberra")),
        Metric("braycurtis", (), "sum |x - y| / sum |x + y|", _elementwise("braycurtis")),
        Metric("hamming", (), "mean [x != y]", _elementwise("hamming")),
        Metric(
            "precomputed",
            (),
            "X[i, s] is d(i, s), with i as the medoid",
            lambda X, parameters: Precomputed(X),
            kind="matrix",
        ),
    ]
}
_ALIASES = {alias: metric.name for metric in METRICS.values() for alias in (metric.name, *metric.aliases)}


def find_metric(name: str) -> Metric:
    """Look a name or alias up.

    >>> find_metric("l1").name
    'manhattan'
    """
    try:
        return METRICS[_ALIASES[name]]
    except (KeyError, TypeError):
        raise ValueError(
            f"metric={name!r} is unknown; it must be a callable f(a, b) or one of {sorted(_ALIASES)}"
        ) from None


def kind_of(metric: Any) -> str:
    """Return what X must be under a metric: "vectors", "matrix" or "objects" (anything, for a callable)."""
    if callable(metric):
        return "vectors" if is_jitted(metric) else "objects"
    return find_metric(metric).kind


def dissimilarity(X: Any, metric: Any, metric_params: dict[str, Any] | None = None) -> Dissimilarity:
    """Return the dissimilarity of validated data under a metric."""
    if metric_params is not None and not isinstance(metric_params, dict):
        raise TypeError(f"metric_params={metric_params!r} must be a dict of the metric's keywords, such as {{'p': 3}}")
    parameters = dict(metric_params or {})
    if callable(metric):
        symmetric = bool(parameters.pop("symmetric", False))
        maker = JittedDistance if is_jitted(metric) else CallableDistance
        return maker(X, metric, parameters, symmetric)
    entry = find_metric(metric)
    unknown = sorted(set(parameters) - set(entry.parameters))
    if unknown:
        takes = f"takes {sorted(entry.parameters)}" if entry.parameters else "takes none"
        raise ValueError(f"metric_params: {unknown[0]!r} is unknown; metric={entry.name!r} {takes}")
    return entry.make(X, {**entry.parameters, **parameters})
