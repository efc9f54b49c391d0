"""Random objects of every kind, made from a seed, and their distances in plain loops.

A family is a kind of data with one metric: how to draw n objects, and d(a, b) written as in a textbook.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

Random = np.random.RandomState
Distance = Callable[[Any, Any], float]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# What the numbers are like. The last ones are where rounding, underflow and overflow show.
SORTS: dict[str, Callable[[Random, tuple[int, ...]], Any]] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "tenths": lambda random, shape: random.randint(-3, 4, size=shape) / 10,
    "integers": lambda random, shape: random.randint(-5, 6, size=shape).astype(float),
    "copies": lambda random, shape: random.normal(size=shape)[random.randint(0, min(3, shape[0]), size=shape[0])],
    "zero rows": lambda random, shape: random.normal(size=shape) * random.randint(0, 2, size=(shape[0], 1)),
    "constant rows": lambda random, shape: np.ones(shape) * random.randint(-2, 3, size=(shape[0], 1)),
    "float32": lambda random, shape: random.normal(size=shape).astype(np.float32),
    "powers": lambda random, shape: 10.0 ** random.randint(-12, 13, size=shape),
    "far away": lambda random, shape: 1e9 + random.normal(size=shape),
    "1e16": lambda random, shape: random.choice([-1e16, 1e16, -0.2, 0.0, 0.1, 1.0], size=shape),
    "tiny": lambda random, shape: 1e-170 * random.normal(size=shape),
    "huge": lambda random, shape: 1e120 * random.normal(size=shape),
    **{name: lambda random, shape, name=name: _whole(random, shape, name) for name in INTEGERS},
}


def _whole(random: Random, shape: tuple[int, ...], dtype: str) -> Any:
    """Return integers of a type: small ones, or as large as the type allows."""
    most = 6 if random.randint(2) else min(np.iinfo(dtype).max, 2**53)
    least = -most if np.iinfo(dtype).min < 0 else 0
    return random.randint(least, most, size=shape, dtype=np.int64).astype(dtype)


@dataclass(frozen=True)
class Family:
    """A kind of data with a metric.

    Attributes
    ----------
    metric : str or callable
    make : callable
        ``make(random, n, p, sort)`` returns n objects as the package takes them.
    distance : callable
        ``distance(a, b)`` with a as the medoid; None if the objects are the matrix itself.
    sorts : sequence of str
        The sorts of numbers that are sensible; only "normal" where there are no numbers.
    rounding : float
        Absolute error of a distance that float64 cannot avoid, where the formula subtracts equal numbers.
    items : callable
        Returns the objects one by one for ``distance``.
    """

    metric: Any
    make: Callable[[Random, int, int, str], Any]
    distance: Distance | None
    sorts: Sequence[str] = ("normal",)
    rounding: float = 0.0
    metric_params: dict[str, Any] | None = None
    items: Callable[[Any], list[Any]] = field(default=list)


def matrix_of(family: Family, X: Any) -> list[list[float]]:
    """Return d(i, s) for all pairs, in plain loops."""
    if family.distance is None:
        return [[float(value) for value in row] for row in X]
    items = family.items(X)
    return [[float(family.distance(a, b)) for b in items] for a in items]


def _rows(X: Any) -> list[list[float]]:
    return [[float(value) for value in row] for row in X]


def _sparse_rows(X: Any) -> list[list[float]]:
    return _rows(X.toarray())


def _scaled(a: list[float]) -> list[float]:
    """Divide by the largest magnitude, so that squares neither underflow nor overflow."""
    most = max(map(abs, a), default=0.0)
    return [x / most for x in a] if most else a


def sqeuclidean(a: list[float], b: list[float]) -> float:
    return sum((x - y) * (x - y) for x, y in zip(a, b, strict=True))


def manhattan(a: list[float], b: list[float]) -> float:
    return math.fsum(abs(x - y) for x, y in zip(a, b, strict=True))


def chebyshev(a: list[float], b: list[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def minkowski(a: list[float], b: list[float]) -> float:
    most = chebyshev(a, b)
    return most * math.fsum((abs(x - y) / most) ** 3 for x, y in zip(a, b, strict=True)) ** (1 / 3) if most else 0.0


def canberra(a: list[float], b: list[float]) -> float:
    return math.fsum(abs(x - y) / (abs(x) + abs(y)) for x, y in zip(a, b, strict=True) if x or y)


def braycurtis(a: list[float], b: list[float]) -> float:
    below = math.fsum(abs(x + y) for x, y in zip(a, b, strict=True))
    return manhattan(a, b) / below if below else 0.0


def hamming(a: list[float], b: list[float]) -> float:
    return sum(x != y for x, y in zip(a, b, strict=True)) / len(a)


def cosine(a: list[float], b: list[float]) -> float:
    """Two zero rows are at 0 from each other and at 1 from all others."""
    if not any(a) or not any(b):
        return float(any(a) or any(b))
    a, b = _scaled(a), _scaled(b)
    return 1 - math.fsum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def correlation(a: list[float], b: list[float]) -> float:
    return cosine(_centred(a), _centred(b))


def _centred(a: list[float]) -> list[float]:
    if min(a) == max(a):
        return [0.0] * len(a)
    mean = math.fsum(a) / len(a)
    return [x - mean for x in a]


def jaccard(a: frozenset[Any], b: frozenset[Any]) -> float:
    return 1 - len(a & b) / len(a | b) if a or b else 0.0


def nonzero_jaccard(a: list[float], b: list[float]) -> float:
    return jaccard(
        frozenset(at for at, value in enumerate(a) if value), frozenset(at for at, value in enumerate(b) if value)
    )


def levenshtein(a: str, b: str) -> float:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row, above = [i], row
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def indel(a: str, b: str) -> float:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row, above = [i], row
        for j, y in enumerate(b, start=1):
            row.append(above[j - 1] if x == y else min(above[j], row[-1]) + 1)
    return row[-1]


def dtw(a: list[float], b: list[float]) -> float:
    above = [0.0] + [math.inf] * len(b)
    for x in a:
        row = [math.inf]
        for j, y in enumerate(b, start=1):
            row.append((x - y) ** 2 + min(above[j], row[-1], above[j - 1]))
        above = row
    return math.sqrt(above[-1])


def haversine(a: list[float], b: list[float]) -> float:
    lat, lon = (a[0] - b[0]) / 2, (a[1] - b[1]) / 2
    inside = math.sin(lat) ** 2 + math.cos(a[0]) * math.cos(b[0]) * math.sin(lon) ** 2
    return 2 * math.asin(math.sqrt(min(1.0, inside)))


def gower(a: list[Any], b: list[Any]) -> float:
    """Of rows whose numbers are divided by their ranges already."""
    parts = [float(x != y) if isinstance(x, str) else abs(x - y) for x, y in zip(a, b, strict=True)]
    return math.fsum(parts) / len(parts)


def one_way(a: Any, b: Any) -> float:
    """An asymmetric distance that may be negative."""
    gaps = [float(x) - float(y) for x, y in zip(a, b, strict=True)]
    return sum(2 * gap if gap > 0 else gap / 2 for gap in gaps)


def plain_manhattan(a: Any, b: Any) -> float:
    return float(sum(abs(float(x) - float(y)) for x, y in zip(a, b, strict=True)))


def _vectors(random: Random, n: int, p: int, sort: str) -> Any:
    return SORTS[sort](random, (n, p))


def _non_negative(random: Random, n: int, p: int, sort: str) -> Any:
    return abs(_vectors(random, n, p, sort))


def _sparse(random: Random, n: int, p: int, sort: str) -> Any:
    return scipy.sparse.csr_array(_vectors(random, n, p, sort) * random.randint(0, 2, size=(n, p)))


def _matrix(random: Random, n: int, p: int, sort: str) -> Any:
    return SORTS[sort](random, (n, n))


def _symmetric(random: Random, n: int, p: int, sort: str) -> Any:
    D = abs(SORTS[sort](random, (n, n)))
    D = np.maximum(D, D.T)
    np.fill_diagonal(D, 0)
    return D


def _strings(random: Random, n: int, p: int, sort: str) -> list[str]:
    return ["".join(random.choice(list("abcé"), size=random.randint(0, p + 1))) for _ in range(n)]


def _sets(random: Random, n: int, p: int, sort: str) -> list[frozenset[int]]:
    return [frozenset(random.randint(0, 6, size=random.randint(0, p + 1)).tolist()) for _ in range(n)]


def _series(random: Random, n: int, p: int, sort: str) -> list[Any]:
    return [SORTS[sort](random, (random.randint(1, p + 2),)) for _ in range(n)]


def _places(random: Random, n: int, p: int, sort: str) -> Any:
    return np.column_stack([random.uniform(-np.pi / 2, np.pi / 2, n), random.uniform(-np.pi, np.pi, n)])


def _table(random: Random, n: int, p: int, sort: str) -> Any:
    columns: dict[str, Any] = {f"x{at}": SORTS[sort](random, (n,)) for at in range(p)}
    return pd.DataFrame({**columns, "colour": random.choice(["red", "green", "blue"], size=n)})


def _table_rows(X: Any) -> list[list[Any]]:
    """Return the rows with each column of numbers divided by its range; constant columns become 0."""
    columns = []
    for name in X.columns:
        values = X[name].tolist()
        if not isinstance(values[0], str):
            range_ = float(max(values)) - float(min(values))
            values = [(float(value) - float(min(values))) / range_ if range_ else 0.0 for value in values]
        columns.append(values)
    return [list(row) for row in zip(*columns, strict=True)]


EVERY = tuple(SORTS)
# Near-cancellation in the formula itself makes the others a matter of rounding.
_WELL_CONDITIONED = tuple(sort for sort in SORTS if sort not in ("far away", "1e16", "powers"))
_SMALL_SQUARES = tuple(sort for sort in SORTS if sort != "huge")
_RATIOS = ("normal", "tenths", "integers", "copies", "zero rows", "powers", "tiny", "uint8", "int32")
_FLOATS = ("normal", "tenths", "integers", "copies", "zero rows", "powers", "1e16", "tiny")

FAMILIES: dict[str, Family] = {
    "matrix": Family("precomputed", _matrix, None, EVERY),
    "symmetric": Family("precomputed", _symmetric, None, EVERY),
    "euclidean": Family("euclidean", _vectors, math.dist, EVERY, items=_rows),
    "sqeuclidean": Family("sqeuclidean", _vectors, sqeuclidean, _SMALL_SQUARES, items=_rows),
    "manhattan": Family("manhattan", _vectors, manhattan, EVERY, items=_rows),
    "chebyshev": Family("chebyshev", _vectors, chebyshev, EVERY, items=_rows),
    "minkowski": Family("minkowski", _vectors, minkowski, _WELL_CONDITIONED, metric_params={"p": 3}, items=_rows),
    "canberra": Family("canberra", _vectors, canberra, _RATIOS, items=_rows),
    "braycurtis": Family("braycurtis", _non_negative, braycurtis, _RATIOS, items=_rows),
    "hamming": Family("hamming", _vectors, hamming, ("tenths", "integers", "uint8", "int64"), items=_rows),
    "vector jaccard": Family("jaccard", _vectors, nonzero_jaccard, ("integers", "uint8", "tenths"), items=_rows),
    "cosine": Family("cosine", _vectors, cosine, _WELL_CONDITIONED, rounding=1e-13, items=_rows),
    "correlation": Family("correlation", _vectors, correlation, _WELL_CONDITIONED, rounding=1e-13, items=_rows),
    "sparse euclidean": Family("euclidean", _sparse, math.dist, _FLOATS, items=_sparse_rows),
    "sparse manhattan": Family("manhattan", _sparse, manhattan, _FLOATS, items=_sparse_rows),
    "sparse cosine": Family(
        "cosine", _sparse, cosine, ("normal", "integers", "copies", "zero rows"), rounding=1e-13, items=_sparse_rows
    ),
    "sparse jaccard": Family("jaccard", _sparse, nonzero_jaccard, ("integers",), items=_sparse_rows),
    "levenshtein": Family("levenshtein", _strings, levenshtein),
    "indel": Family("indel", _strings, indel),
    "jaccard": Family("jaccard", _sets, jaccard),
    "dtw": Family("dtw", _series, dtw, ("normal", "tenths", "integers", "int16", "far away"), items=_rows),
    "gower": Family("gower", _table, gower, ("normal", "tenths", "integers", "int32"), items=_table_rows),
    "haversine": Family("haversine", _places, haversine, items=_rows),
    "callable": Family(plain_manhattan, _vectors, plain_manhattan, ("normal", "tenths", "copies", "1e16")),
    "symmetric callable": Family(
        plain_manhattan, _vectors, plain_manhattan, ("normal", "tenths", "copies"), metric_params={"symmetric": True}
    ),
    "one way": Family(one_way, _vectors, one_way, ("normal", "tenths", "copies", "int8")),
}
