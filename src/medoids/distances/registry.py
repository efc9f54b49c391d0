"""The metrics by name: aliases, the kind of data that each works on, and how to make it.

A name may stand for several entries, one for each kind of data; X then decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.sparse import issparse

from medoids.distances.booleans import BOOLEAN, Booleans
from medoids.distances.callables import CallableDistance, JittedDistance, is_jitted
from medoids.distances.calls import Calls
from medoids.distances.elementwise import Elementwise
from medoids.distances.gower import Gower
from medoids.distances.haversine import EARTH_RADIUS, Degrees, Haversine
from medoids.distances.inner_product import InnerProduct
from medoids.distances.known import NanEuclidean
from medoids.distances.precomputed import Precomputed
from medoids.distances.protocol import Dissimilarity, Floats
from medoids.distances.scaled import Scalable, Scaled
from medoids.distances.scaling import UnitRule
from medoids.distances.series import Warping
from medoids.distances.sparse import Sets, Sparse
from medoids.distances.strings import STRING_METRICS, Strings
from medoids.distances.transformed import Scaling, Transformed, covariance_map, shares_of_rows, variance_map
from medoids.distances.trees import Trees
from medoids.engine.budget import SCIPY_COORDINATES, SMALL

__all__ = [
    "METRICS",
    "SMALL",
    "MetricEntry",
    "MetricInfo",
    "available_metrics",
    "dissimilarity",
    "find_metric",
    "kind_of",
    "kinds_of",
    "names_of_kind",
    "restored",
    "takes_gaps",
]

# p of (sum |x - y|^p)^(1/p), which is squared in sqeuclidean.
_MINKOWSKI_POWERS = {"euclidean": 2, "sqeuclidean": 2, "manhattan": 1, "chebyshev": np.inf}


@dataclass(frozen=True)
class MetricEntry:
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
        The optional dependencies of the package that the metric needs; "" for none.
    gaps : bool
        Whether values may be missing (NaN), for vectors.
    degree : int or None
        d(c x, c y) = c^degree d(x, y), for metrics whose squares, powers or sums may leave the range of float64.
    """

    name: str
    aliases: tuple[str, ...]
    formula: str
    make: Callable[[Any, dict[str, Any]], Dissimilarity]
    parameters: dict[str, Any] = field(default_factory=dict)
    kind: str = "vectors"
    extra: str = ""
    gaps: bool = False
    degree: int | None = None


def _make_vectors(name: str, X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    small = len(X) <= SMALL
    dtype = np.float64 if small else None
    if name in ("euclidean", "sqeuclidean", "cosine", "correlation"):
        return InnerProduct(X, name, dtype=dtype, compiled=not small)
    many = len(X) ** 2 * X.shape[1] > SCIPY_COORDINATES
    return Elementwise(X, name, p=float(parameters.get("p", 2)), dtype=dtype, compiled=many or not small)


def _minkowski(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    p = parameters["p"]
    if not (isinstance(p, (int, float, np.number)) and p > 0):
        raise ValueError(f"metric_params={{'p': {p!r}}}: minkowski needs a number p > 0")
    # The special cases have faster code and no powers to round.
    special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(float(p))
    return METRICS[special].make(X, {}) if special else _make_vectors("minkowski", X, parameters)


def _seuclidean(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    transform = variance_map(X, **parameters)
    return Transformed(_make_vectors("euclidean", transform(X), {}), transform, transform.fitted)


def _mahalanobis(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    transform = covariance_map(X, **parameters)
    return Transformed(_make_vectors("euclidean", transform(X), {}), transform, transform.fitted)


def _jensenshannon(X: Floats, parameters: dict[str, Any]) -> Dissimilarity:
    base = np.e if parameters["base"] is None else parameters["base"]
    if not isinstance(base, (int, float, np.number)) or not 1 < base < np.inf:
        raise ValueError(f"metric_params={{'base': {base!r}}}: jensenshannon needs a number > 1, or None for e")
    factor = 0.5 / float(np.log(base))
    return Transformed(_make_vectors("jensenshannon", shares_of_rows(X), {"p": factor}), shares_of_rows)


def _booleans(name: str, *aliases: str) -> MetricEntry:
    return MetricEntry(name, aliases, BOOLEAN[name][1], lambda X, parameters: Booleans(X, name))


def _strings(name: str) -> list[MetricEntry]:
    """Return the entries of an edit distance: itself, and as a share of the largest value that the lengths allow."""
    own: dict[str, dict[str, Any]] = {"levenshtein": {"weights": (1, 1, 1)}, "jaro_winkler": {"prefix_weight": 0.1}}
    formula = STRING_METRICS[name][1]
    share = formula if name.startswith("jaro") else f"{name} as a share of its largest value for the two lengths"
    return [
        MetricEntry(full, (), text, partial(Strings, full), own.get(name, {}), kind="strings", extra="strings")
        for full, text in ((name, formula), (f"normalized_{name}", share))
    ]


def _vectors(name: str, formula: str, *aliases: str, degree: int | None = None) -> MetricEntry:
    return MetricEntry(name, aliases, formula, partial(_make_vectors, name), degree=degree)


def _sparse(name: str, formula: str, *aliases: str, degree: int | None = None) -> MetricEntry:
    return MetricEntry(name, aliases, formula, lambda X, parameters: Sparse(X, name), kind="sparse", degree=degree)


def _series(name: str, formula: str, costs: dict[str, Any] | None = None, *, degree: int | None = None) -> MetricEntry:
    parameters = {"window": None, "layout": None, **(costs or {})}
    return MetricEntry(
        name, (), formula, lambda X, given: Warping(name, X, **given), parameters, kind="series", degree=degree
    )


_METRIC_ENTRIES = [
    _vectors("euclidean", "sqrt(sum (x - y)^2)", "l2", degree=1),
    _vectors("sqeuclidean", "sum (x - y)^2", degree=2),
    _vectors("cosine", "1 - <x, y> / (|x| |y|)", degree=0),
    _vectors("correlation", "cosine after subtracting each row's mean", degree=0),
    _vectors("manhattan", "sum |x - y|", "l1", "cityblock", degree=1),
    _vectors("chebyshev", "max |x - y|", "linf", "infinity", degree=1),
    MetricEntry("minkowski", ("lp", "p"), "(sum |x - y|^p)^(1/p)", _minkowski, {"p": 2}, degree=1),
    _vectors("canberra", "sum |x - y| / (|x| + |y|)", degree=0),
    _vectors("braycurtis", "sum |x - y| / sum |x + y|", degree=0),
    _vectors("hamming", "mean [x != y]", "matching"),
    MetricEntry("seuclidean", (), "sqrt(sum (x - y)^2 / V), V the variances", _seuclidean, {"V": None}),
    MetricEntry(
        "mahalanobis",
        (),
        "sqrt((x - y) VI (x - y)), VI the inverse of the covariances V",
        _mahalanobis,
        {"V": None, "VI": None},
    ),
    MetricEntry(
        "nan_euclidean",
        (),
        "euclidean of the columns known in both, times sqrt(columns / known)",
        lambda X, parameters: NanEuclidean(X),
        gaps=True,
    ),
    MetricEntry(
        "jensenshannon",
        (),
        "root of the Jensen-Shannon divergence of x / sum x and y / sum y",
        _jensenshannon,
        {"base": None},
    ),
    _booleans("dice"),
    _booleans("kulsinski"),
    _booleans("rogerstanimoto", "sokalmichener"),
    _booleans("russellrao"),
    _booleans("sokalsneath"),
    _booleans("yule"),
    _sparse("euclidean", "sqrt(sum (x - y)^2)", "l2", degree=1),
    _sparse("sqeuclidean", "sum (x - y)^2", degree=2),
    _sparse("cosine", "1 - <x, y> / (|x| |y|)"),
    _sparse("manhattan", "sum |x - y|", "l1", "cityblock", degree=1),
    MetricEntry(
        "euclidean",
        ("l2",),
        "great circle in metres, of points of GeoPandas in degrees",
        lambda X, parameters: Haversine(X, degrees=True, radius=EARTH_RADIUS),
        kind="coordinates",
    ),
    MetricEntry("jaccard", (), "1 - |a and b| / |a or b|", lambda X, parameters: Sets(X), kind="sets"),
    _sparse("jaccard", "the same of the columns that are not 0"),
    _vectors("jaccard", "the same of the columns that are not 0"),
    *(entry for name in STRING_METRICS for entry in _strings(name)),
    _series("dtw", "sqrt(min over warping paths of sum |x_i - y_j|^2)", degree=1),
    _series("erp", "least cost of aligning samples, or skipping them at |x_i - g|", {"g": 0.0}),
    _series("twe", "least cost of aligning samples in time, or deleting them", {"nu": 0.001, "lmbda": 1.0}),
    _series("msm", "least cost of moving, splitting and merging samples", {"c": 1.0}),
    MetricEntry(
        "gower",
        (),
        "mean over columns of |x - y| / range, or of [x != y]",
        lambda X, parameters: Gower(X, **parameters),
        {"weights": None, "categorical": (), "type": None},
        kind="table",
    ),
    MetricEntry(
        "tree_edit",
        ("ted", "zhang_shasha"),
        "least cost of inserting, deleting and renaming nodes",
        lambda X, parameters: Trees(X, **parameters),
        {"insert": 1, "delete": 1, "rename": 1},
        kind="trees",
    ),
    MetricEntry(
        "haversine",
        (),
        "2 r asin sqrt(sin^2(dlat / 2) + cos lat cos lat' sin^2(dlon / 2))",
        lambda X, parameters: Haversine(X, **parameters),
        {"degrees": False, "radius": 1.0},
        kind="coordinates",
    ),
    MetricEntry(
        "precomputed",
        (),
        "X[i, s] is d(i, s), with i as the medoid",
        lambda X, parameters: Precomputed(X),
        kind="matrix",
    ),
]
# name -> its first entry, the one for most data.
METRICS: dict[str, MetricEntry] = {entry.name: entry for entry in reversed(_METRIC_ENTRIES)}
# name -> kind of data -> entry
_ENTRIES_BY_KIND: dict[str, dict[str, MetricEntry]] = {
    name: {entry.kind: entry for entry in _METRIC_ENTRIES if entry.name == name} for name in METRICS
}
_ALIASES = {alias: metric.name for metric in METRICS.values() for alias in (metric.name, *metric.aliases)}


class MetricInfo(NamedTuple):
    """A metric as `available_metrics` describes it."""

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
    return [MetricInfo(e.name, e.aliases, e.kind, e.formula, dict(e.parameters), e.extra) for e in _METRIC_ENTRIES]


def names_of_kind(kind: str) -> list[str]:
    """Return the metrics for a kind of data.

    >>> names_of_kind("sets")
    ['jaccard']
    """
    return [entry.name for entry in _METRIC_ENTRIES if entry.kind == kind]


def kinds_of(metric: Any) -> list[str]:
    """Return the kinds of data that a metric works on; none for a callable or an unknown name.

    >>> kinds_of("l1")
    ['vectors', 'sparse']
    """
    return list(_ENTRIES_BY_KIND[_ALIASES[metric]]) if isinstance(metric, str) and metric in _ALIASES else []


def takes_gaps(metric: Any) -> bool:
    """Whether values of vectors may be missing under a metric.

    >>> takes_gaps("nan_euclidean"), takes_gaps("euclidean")
    (True, False)
    """
    return isinstance(metric, str) and metric in _ALIASES and METRICS[_ALIASES[metric]].gaps


def find_metric(name: Any, kind: str | None = None) -> MetricEntry:
    """Look up a name or alias, for a kind of data or for the most common one.

    >>> find_metric("l1").name
    'manhattan'
    """
    if not isinstance(name, str) or name not in _ALIASES:
        near = get_close_matches(name.lower(), _ALIASES) if isinstance(name, str) else []
        guess = f"did you mean {' or '.join(map(repr, near))}? It" if near else "it"
        raise ValueError(f"metric={name!r} is unknown; {guess} must be a callable f(a, b) or one of {sorted(_ALIASES)}")
    return METRICS[_ALIASES[name]] if kind is None else _ENTRIES_BY_KIND[_ALIASES[name]][kind]


def kind_of(metric: Any, X: Any = None) -> str:
    """Return the kind of data that a metric needs; if there are several, the one that X is.

    Returns
    -------
    str
        "vectors", "sparse", "matrix", "strings", "sets", "series", "table", "trees", "coordinates", or "objects"
        (anything, for a callable).
    """
    if callable(metric):
        return "vectors" if is_jitted(metric) else "objects"
    first = find_metric(metric)
    kinds = _ENTRIES_BY_KIND[first.name]
    found = _recognise(X) if len(kinds) > 1 else first.kind
    return found if found in kinds else first.kind


def _recognise(X: Any) -> str:
    """Return "sparse", "coordinates", "sets", "strings" (text, or sequences of anything but numbers) or "vectors"."""
    if issparse(X):
        return "sparse"
    if isinstance(X, Degrees):
        return "coordinates"
    if hasattr(X, "columns"):
        X = X[getattr(X, "column_names", X.columns)[0]] if len(X.columns) == 1 else None
        X = X.to_numpy() if hasattr(X, "to_pylist") else X
    elif getattr(X, "ndim", 1) == 2 and X.dtype.kind in "OUS" and X.shape[1] == 1:
        X = X[:, 0]
    number = getattr(getattr(X, "dtype", None), "kind", "O") in "iufb"
    if X is None or number or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__iter__"):
        return "vectors"
    column = hasattr(X, "to_list")
    for item in X:
        if isinstance(item, (str, bytes)):
            return "strings"
        if isinstance(item, (set, frozenset)) or (column and hasattr(item, "__len__")):  # a column of lists
            return "sets"
        if not isinstance(item, (list, tuple)):
            return "vectors"
        if item:
            return "vectors" if isinstance(item[0], (int, float, complex, np.number, np.ndarray)) else "strings"
    return "vectors"


def _make(name: str, kind: str, parameters: dict[str, Any], X: Any) -> Scalable:
    """Make the distance of vectors of moderate size; unlike a closure, it can be pickled with a model."""
    return cast(Scalable, find_metric(name, kind).make(X, parameters))


def dissimilarity(
    X: Any, metric: Any, metric_params: dict[str, Any] | None = None, calls: Calls | None = None
) -> Dissimilarity:
    """Return the dissimilarity of validated data under a metric; ``calls`` determines how a callable is called."""
    if metric_params is not None and not isinstance(metric_params, dict):
        raise TypeError(f"metric_params={metric_params!r} must be a dict of the metric's keywords, such as {{'p': 3}}")
    parameters = dict(metric_params or {})
    if callable(metric):
        symmetric, triangle = (bool(parameters.pop(name, False)) for name in ("symmetric", "triangle"))
        function: Dissimilarity = (
            JittedDistance(X, metric, parameters, symmetric)
            if is_jitted(metric)
            else CallableDistance(X, metric, parameters, symmetric, calls)
        )
        function.triangle = triangle
        return function
    return _named(X, metric, kind_of(metric, X), parameters, {})


def restored(
    X: Any, metric: str, kind: str, metric_params: dict[str, Any] | None, fitted: dict[str, Any]
) -> Dissimilarity:
    """Return the dissimilarity among some of the objects of a fit, with what ``fitted()`` said was fitted to all.

    ``scaling`` among this says how rows were scaled before the fit: X and new data are those before.

    >>> restored(np.array([[1.0, 5.0]]), "seuclidean", "vectors", None, {"V": [4.0, 25.0]}).cross(np.zeros((1, 2)))
    array([[1.11803399]])
    """
    parameters = {name: value for name, value in fitted.items() if name != "scaling"}
    if "scaling" not in fitted:
        return _named(X, metric, kind, dict(metric_params or {}), parameters)
    scaling = Scaling(*(np.array(fitted["scaling"][name], dtype=np.float64) for name in ("centre", "spread")))
    inner = _named(scaling(X), metric, kind, dict(metric_params or {}), parameters)
    return Transformed(inner, scaling, {"scaling": fitted["scaling"]})


def _named(X: Any, metric: str, kind: str, parameters: dict[str, Any], fitted: dict[str, Any]) -> Dissimilarity:
    """Return the dissimilarity of a metric that has a name."""
    entry = find_metric(metric, kind)
    if unknown := sorted(set(parameters) - set(entry.parameters)):
        takes = f"takes {sorted(entry.parameters)}" if entry.parameters else "takes none"
        raise ValueError(f"metric_params: {unknown[0]!r} is unknown; metric={entry.name!r} {takes}")
    parameters = {**entry.parameters, **parameters, **fitted}
    if entry.degree is not None:
        scaling = UnitRule(entry.name, entry.degree, parameters.get("p", _MINKOWSKI_POWERS.get(entry.name)))
        if (e := scaling.unit(X, float32=entry.kind == "vectors" and len(X) > SMALL)) is not None:
            return Scaled(X, partial(_make, entry.name, entry.kind, parameters), e, scaling)
    return entry.make(X, parameters)
