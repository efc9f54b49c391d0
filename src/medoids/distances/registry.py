"""The metrics by name: what each is called, on what kinds of data it works, and how to make it.

A name may stand for several entries, one a kind of data; what X is then decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from medoids.distances.callables import CallableDistance, JittedDistance, is_jitted
from medoids.distances.calls import Calls
from medoids.distances.elementwise import CENTRED, Elementwise
from medoids.distances.gower import Gower
from medoids.distances.haversine import Haversine
from medoids.distances.inner_product import InnerProduct
from medoids.distances.precomputed import Precomputed
from medoids.distances.protocol import Dissimilarity, Floats, fits_float32
from medoids.distances.scaled import Scaled, exponent_of
from medoids.distances.series import Warping
from medoids.distances.sets import Sets
from medoids.distances.sparse import Sparse
from medoids.distances.strings import STRING_METRICS, Strings
from medoids.distances.trees import Trees

__all__ = [
    "METRICS",
    "SMALL",
    "Metric",
    "MetricInfo",
    "available_metrics",
    "dissimilarity",
    "find_metric",
    "kind_of",
    "kinds_of",
    "names_of_kind",
]

# Up to so many points everything runs in float64 through NumPy and scipy: exact at once, and no Numba to import.
SMALL = 3_000
# Coordinates in n^2 distances from which scipy's loops take longer than importing ours.
_LONG = 10**9
# Rows that are looked at together; Ctrl-C comes between.
_LOT = 4096


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
    kind : str
        What X must be.
    extra : str
        Of the package, that the metric needs; "" for none.
    degree : int or None
        d(c x, c y) = c^degree d(x, y), where squares, powers or sums of large or tiny values may leave float64.
    """

    name: str
    aliases: tuple[str, ...]
    formula: str
    make: Callable[[Any, dict[str, Any]], Dissimilarity]
    parameters: dict[str, Any] = field(default_factory=dict)
    kind: str = "vectors"
    extra: str = ""
    degree: int | None = None


def _fits_float32(X: Floats, centre: npt.NDArray[np.float64], p: float = 1.0) -> bool:
    """Whether squares and p-th powers of the centred values neither overflow nor vanish in float32."""
    from medoids.distances.kernels.elementwise import measure_rows

    lots = range(0, len(X), _LOT)
    top = max(measure_rows(X[start : start + _LOT], centre, np.empty(min(_LOT, len(X) - start))) for start in lots)
    return fits_float32(top, X.shape[1], p)


def _inner_product(name: str) -> Callable[[Any, dict[str, Any]], Dissimilarity]:
    def make(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
        small = len(X) <= SMALL
        return InnerProduct(X, name, dtype=np.float64 if small else None, compiled=not small)

    return make


def _elementwise(name: str) -> Callable[[Any, dict[str, Any]], Dissimilarity]:
    def make(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
        small = len(X) <= SMALL
        p = float(parameters.get("p", 2))
        # The others are ratios or tests of equality, which rounding to float32 would change.
        centre = X.mean(axis=0, dtype=np.float64) if not small and name in CENTRED else None
        single = centre is not None and _fits_float32(X, centre, p if name == "minkowski" else 1.0)
        compiled = not small or len(X) ** 2 * X.shape[1] > _LONG
        dtype = np.float32 if single else np.float64
        return Elementwise(X, name, p=p, dtype=dtype, compiled=compiled, centre=centre)

    return make


def _minkowski(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    p = parameters["p"]
    if not (isinstance(p, (int, float, np.number)) and p > 0):
        raise ValueError(f"metric_params={{'p': {p!r}}}: minkowski needs a number p > 0")
    # The special cases have faster code and no powers to round.
    special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(float(p))
    return METRICS[special].make(X, {}) if special else _elementwise("minkowski")(X, parameters)


def _strings(name: str) -> list[Metric]:
    """Return the entries of an edit distance: as it is, and as a share of the most that the lengths allow."""
    own: dict[str, dict[str, Any]] = {"levenshtein": {"weights": (1, 1, 1)}, "jaro_winkler": {"prefix_weight": 0.1}}
    parameters, formula = own.get(name, {}), STRING_METRICS[name][1]

    def entry(full: str, formula: str) -> Metric:
        def make(X: Any, given: dict[str, Any]) -> Dissimilarity:
            return Strings(X, full, _check_scorer(given))

        return Metric(full, (), formula, make, parameters, kind="strings", extra="strings")

    share = formula if name.startswith("jaro") else f"{name} as a share of its largest value for the two lengths"
    return [entry(name, formula), entry(f"normalized_{name}", share)]


def _check_scorer(parameters: dict[str, Any]) -> dict[str, Any]:
    weights = parameters.get("weights", (1, 1, 1))
    whole = isinstance(weights, (tuple, list)) and len(weights) == 3
    if not whole or not all(isinstance(w, (int, np.integer)) and 0 <= w < 2**15 for w in weights):
        raise ValueError(
            f"metric_params={{'weights': {weights!r}}}: levenshtein takes three whole numbers from 0 on, the costs of "
            "an insertion, a deletion and a substitution"
        )
    prefix = parameters.get("prefix_weight", 0.1)
    if not isinstance(prefix, (int, float, np.number)) or not 0 <= prefix <= 0.25:
        raise ValueError(f"metric_params={{'prefix_weight': {prefix!r}}}: jaro_winkler takes a number from 0 to 0.25")
    return {**parameters, "weights": tuple(weights)} if "weights" in parameters else parameters


def _sparse(name: str) -> Callable[[Any, dict[str, Any]], Dissimilarity]:
    return lambda X, parameters: Sparse(X, name)


def _haversine(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    radius = parameters["radius"]
    if not isinstance(radius, (int, float, np.number)) or not 0 < radius < np.inf:
        raise ValueError(f"metric_params={{'radius': {radius!r}}}: haversine needs a number > 0")
    return Haversine(X, degrees=bool(parameters["degrees"]), radius=float(radius))


_ENTRIES = [
    Metric("euclidean", ("l2",), "sqrt(sum (x - y)^2)", _inner_product("euclidean"), degree=1),
    Metric("sqeuclidean", (), "sum (x - y)^2", _inner_product("sqeuclidean"), degree=2),
    Metric("cosine", (), "1 - <x, y> / (|x| |y|)", _inner_product("cosine"), degree=0),
    Metric("correlation", (), "cosine after subtracting each row's mean", _inner_product("correlation"), degree=0),
    Metric("manhattan", ("l1", "cityblock"), "sum |x - y|", _elementwise("manhattan"), degree=1),
    Metric("chebyshev", ("linf",), "max |x - y|", _elementwise("chebyshev"), degree=1),
    Metric("minkowski", ("lp",), "(sum |x - y|^p)^(1/p)", _minkowski, {"p": 2}, degree=1),
    Metric("canberra", (), "sum |x - y| / (|x| + |y|)", _elementwise("canberra"), degree=0),
    Metric("braycurtis", (), "sum |x - y| / sum |x + y|", _elementwise("braycurtis"), degree=0),
    Metric("hamming", (), "mean [x != y]", _elementwise("hamming")),
    Metric("euclidean", ("l2",), "sqrt(sum (x - y)^2)", _sparse("euclidean"), kind="sparse", degree=1),
    Metric("sqeuclidean", (), "sum (x - y)^2", _sparse("sqeuclidean"), kind="sparse", degree=2),
    Metric("cosine", (), "1 - <x, y> / (|x| |y|)", _sparse("cosine"), kind="sparse"),
    Metric("manhattan", ("l1", "cityblock"), "sum |x - y|", _sparse("manhattan"), kind="sparse", degree=1),
    Metric("jaccard", (), "1 - |a and b| / |a or b|", lambda X, parameters: Sets(X), kind="sets"),
    Metric("jaccard", (), "the same of the columns that are not 0", _sparse("jaccard"), kind="sparse"),
    Metric("jaccard", (), "the same of the columns that are not 0", _elementwise("jaccard")),
    *(entry for name in STRING_METRICS for entry in _strings(name)),
    Metric(
        "dtw",
        (),
        "sqrt(min over warping paths of sum |x_i - y_j|^2)",
        lambda X, parameters: Warping(X, **parameters),
        {"window": None, "layout": None},
        kind="series",
        degree=1,
    ),
    Metric(
        "gower",
        (),
        "mean over columns of |x - y| / range, or of [x != y]",
        lambda X, parameters: Gower(X, **parameters),
        {"weights": None, "categorical": ()},
        kind="table",
    ),
    Metric(
        "tree_edit",
        ("ted", "zhang_shasha"),
        "least cost of inserting, deleting and renaming nodes",
        lambda X, parameters: Trees(X, **parameters),
        {"insert": 1, "delete": 1, "rename": 1},
        kind="trees",
    ),
    Metric(
        "haversine",
        (),
        "2 r asin sqrt(sin^2(dlat / 2) + cos lat cos lat' sin^2(dlon / 2))",
        _haversine,
        {"degrees": False, "radius": 1.0},
        kind="coordinates",
    ),
    Metric(
        "precomputed",
        (),
        "X[i, s] is d(i, s), with i as the medoid",
        lambda X, parameters: Precomputed(X),
        kind="matrix",
    ),
]
# name -> its first entry, the one for most data.
METRICS: dict[str, Metric] = {entry.name: entry for entry in reversed(_ENTRIES)}
_KINDS: dict[str, dict[str, Metric]] = {}
for _entry in _ENTRIES:
    _KINDS.setdefault(_entry.name, {})[_entry.kind] = _entry
_ALIASES = {alias: metric.name for metric in METRICS.values() for alias in (metric.name, *metric.aliases)}


class MetricInfo(NamedTuple):
    """What `available_metrics` tells of a metric."""

    name: str
    aliases: tuple[str, ...]
    kind: str
    formula: str
    parameters: dict[str, Any]
    extra: str


def available_metrics() -> list[MetricInfo]:
    """List every metric by name, with the kind of data, the formula, the parameters and the extra that it needs.

    Returns
    -------
    list of MetricInfo
        Named tuples ``(name, aliases, kind, formula, parameters, extra)``, one for each name and kind of data;
        ``parameters`` are the keys of ``metric_params`` with their defaults. ``pandas.DataFrame`` makes a table of
        them. Any callable ``f(a, b)`` is a metric as well.

    Examples
    --------
    >>> from medoids import available_metrics
    >>> [metric.name for metric in available_metrics() if metric.kind == "sparse"]
    ['euclidean', 'sqeuclidean', 'cosine', 'manhattan', 'jaccard']
    >>> next(metric for metric in available_metrics() if metric.name == "dtw").parameters
    {'window': None, 'layout': None}
    """
    return [MetricInfo(e.name, e.aliases, e.kind, e.formula, dict(e.parameters), e.extra) for e in _ENTRIES]


def names_of_kind(kind: str) -> list[str]:
    """Return the metrics for a kind of data.

    >>> names_of_kind("sets")
    ['jaccard']
    """
    return [entry.name for entry in _ENTRIES if entry.kind == kind]


def kinds_of(metric: Any) -> list[str]:
    """Return the kinds of data that a name stands for; none for a callable or an unknown name.

    >>> kinds_of("l1")
    ['vectors', 'sparse']
    """
    known = isinstance(metric, str) and metric in _ALIASES
    return list(_KINDS[_ALIASES[metric]]) if known else []


def find_metric(name: str, kind: str | None = None) -> Metric:
    """Look a name or alias up, for a kind of data or for the most common one.

    >>> find_metric("l1").name
    'manhattan'
    """
    if not isinstance(name, str) or name not in _ALIASES:
        near = get_close_matches(name.lower(), _ALIASES) if isinstance(name, str) else []
        guess = f"did you mean {' or '.join(map(repr, near))}? It" if near else "it"
        raise ValueError(f"metric={name!r} is unknown; {guess} must be a callable f(a, b) or one of {sorted(_ALIASES)}")
    kinds = _KINDS[_ALIASES[name]]
    return METRICS[_ALIASES[name]] if kind is None else kinds[kind]


def kind_of(metric: Any, X: Any = None) -> str:
    """Return what X must be under a metric, or is, where its name stands for several kinds.

    Returns
    -------
    str
        "vectors", "sparse", "matrix", "strings", "sets", "series", "table", "trees", "coordinates", or "objects"
        (anything, for a callable).
    """
    if callable(metric):
        return "vectors" if is_jitted(metric) else "objects"
    first = find_metric(metric)
    kinds = _KINDS[first.name]
    found = _recognise(X) if len(kinds) > 1 else first.kind
    return found if found in kinds else first.kind


def _recognise(X: Any) -> str:
    """Return "sparse", "sets", "strings" (text, or sequences of what is no number) or "vectors"."""
    if issparse(X):
        return "sparse"
    if hasattr(X, "columns"):
        names = list(X.columns)
        X = X[names[0]] if len(names) == 1 else None
    elif getattr(X, "ndim", 1) == 2 and X.dtype.kind in "OUS" and X.shape[1] == 1:
        X = X[:, 0]
    if X is None or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__iter__"):
        return "vectors"
    if getattr(getattr(X, "dtype", None), "kind", "O") in "iufb":
        return "vectors"
    column = hasattr(X, "to_list")
    for item in X:
        if isinstance(item, (set, frozenset)):
            return "sets"
        if isinstance(item, (str, bytes)):
            return "strings"
        if column and hasattr(item, "__len__"):
            return "strings" if isinstance(item, (str, bytes)) else "sets"  # a column of lists
        if isinstance(item, (list, tuple)) and item:
            return "vectors" if isinstance(item[0], (int, float, complex, np.number, np.ndarray)) else "strings"
        if not isinstance(item, (list, tuple)):
            return "vectors"
    return "vectors"


def _make(name: str, kind: str, parameters: dict[str, Any], X: Any) -> Dissimilarity:
    """Make the distance of vectors of moderate size; a function that can be pickled with a model."""
    return find_metric(name, kind).make(X, parameters)


def dissimilarity(
    X: Any, metric: Any, metric_params: dict[str, Any] | None = None, calls: Calls | None = None
) -> Dissimilarity:
    """Return the dissimilarity of validated data under a metric; ``calls`` says how a callable is called."""
    if metric_params is not None and not isinstance(metric_params, dict):
        raise TypeError(f"metric_params={metric_params!r} must be a dict of the metric's keywords, such as {{'p': 3}}")
    parameters = dict(metric_params or {})
    if callable(metric):
        symmetric = bool(parameters.pop("symmetric", False))
        if is_jitted(metric):
            return JittedDistance(X, metric, parameters, symmetric)
        return CallableDistance(X, metric, parameters, symmetric, calls)
    entry = find_metric(metric, kind_of(metric, X))
    unknown = sorted(set(parameters) - set(entry.parameters))
    if unknown:
        takes = f"takes {sorted(entry.parameters)}" if entry.parameters else "takes none"
        raise ValueError(f"metric_params: {unknown[0]!r} is unknown; metric={entry.name!r} {takes}")
    parameters = {**entry.parameters, **parameters}
    if entry.degree is not None:
        e = exponent_of(X, entry.degree)
        if e != 0:
            return Scaled(X, partial(_make, entry.name, entry.kind, parameters), e, entry.degree, entry.name)
    return entry.make(X, parameters)
