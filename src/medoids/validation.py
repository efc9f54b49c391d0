"""Every check of what a user passes, and every message: what is wrong, where, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from medoids.algorithms import ALGORITHMS, EAGER
from medoids.distances import Floats, kind_of
from medoids.initialization import INITS

__all__ = [
    "check_algorithm",
    "check_callback",
    "check_choice",
    "check_count",
    "check_data",
    "check_delta",
    "check_init",
    "check_memory",
    "check_n_clusters",
    "check_swap",
    "check_weights",
    "parse_bytes",
]

_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", start=1):
    _UNITS |= {f"{_letter}IB": 1024**_power, f"{_letter}B": 1000**_power, _letter: 1024**_power}


def parse_bytes(memory_limit: Any) -> int:
    """Bytes of a number or of a string such as "2GiB".

    >>> parse_bytes("2GiB"), parse_bytes("1.5 MB"), parse_bytes(4096)
    (2147483648, 1500000, 4096)
    """
    if isinstance(memory_limit, (int, float, np.number)) and 0 < memory_limit < np.inf:
        return int(memory_limit)
    text = memory_limit if isinstance(memory_limit, str) else ""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or match[2].upper() not in _UNITS or float(match[1]) == 0:
        raise ValueError(
            f"memory_limit={memory_limit!r} is not an amount of memory; pass bytes, or a string such as '2GiB'"
        )
    return int(float(match[1]) * _UNITS[match[2].upper()])


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; it must be one of {sorted(choices)}")
    return value


def check_algorithm(algorithm: Any) -> str:
    return check_choice("algorithm", algorithm, ["auto", *ALGORITHMS])


def check_swap(swap: Any, algorithm: str) -> str:
    check_choice("swap", swap, ["best", "eager"])
    if swap == "eager" and algorithm not in EAGER:
        raise ValueError(f"swap='eager' is for algorithm={' or '.join(map(repr, EAGER))}, not {algorithm!r}")
    return str(swap)


def check_count(name: str, value: Any, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be an integer")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}")
    return int(value)


def check_delta(delta: Any) -> float | None:
    if delta is None:
        return None
    if not isinstance(delta, (int, float, np.number)) or not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} must be a number between 0 and 1, or None for the algorithm's own")
    return float(delta)


def check_callback(callback: Any) -> None:
    if callback is not None and not callable(callback):
        raise TypeError(f"callback={callback!r} must be callable, or None")


def check_n_clusters(n_clusters: Any, n: int, n_positive: int) -> int:
    k = check_count("n_clusters", n_clusters, 1)
    if k > n:
        raise ValueError(f"n_clusters={k} is more than the number of samples, n_samples={n}; ask for at most {n}")
    if k > n_positive:
        raise ValueError(
            f"n_clusters={k} is more than the number of rows with a positive sample_weight, {n_positive}; "
            "a row of weight 0 is never a medoid"
        )
    return k


def check_weights(sample_weight: Any, n: int) -> npt.NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        weights = np.full(n, float(sample_weight))
    else:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="sample_weight"
        )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be 1-D, one number for each row of X; got shape {weights.shape}")
    if len(weights) != n:
        raise ValueError(f"sample_weight has {len(weights)} entries, but X has {n} rows; pass one weight for each row")
    for wrong, word in ((~np.isfinite(weights), "not finite"), (weights < 0, "negative")):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"sample_weight[{row}]={weights[row]} is {word}; weights must be finite and >= 0")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive")
    return weights


def check_init(init: Any, n: int, k: int, weights: npt.NDArray[np.float64]) -> str | npt.NDArray[np.intp]:
    if isinstance(init, str):
        return check_choice("init", init, INITS)
    rows = np.asarray(init)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(f"init must be one of {sorted(INITS)} or a 1-D array of row indices; got {init!r}")
    if len(rows) != k:
        raise ValueError(f"init has {len(rows)} row indices, but n_clusters={k}; pass one index for each cluster")
    for at, row in enumerate(rows.tolist()):
        if not 0 <= row < n:
            raise ValueError(f"init[{at}]={row} is not a row of X, which has rows 0 to {n - 1}")
        if weights[row] == 0:
            raise ValueError(f"init[{at}]={row} has sample_weight 0, and a row of weight 0 is never a medoid")
    values, counts = np.unique(rows, return_counts=True)
    if len(values) < k:
        raise ValueError(f"init repeats row {values[counts > 1][0]}; initial medoids must be different rows")
    return rows.astype(np.intp)


def check_memory(algorithm: str, n: int, need: int, limit: int) -> None:
    if need > limit:
        raise ValueError(
            f"algorithm={algorithm!r} needs the {n} x {n} distance matrix, {need / 2**30:.3g} GiB, which is more than "
            f"memory_limit={limit / 2**30:.3g} GiB; raise memory_limit, or use algorithm='pairedpam', "
            "'banditpam++', 'clara' or 'clarans', which need no matrix"
        )


def check_data(X: Any, metric: Any, estimator: Any = None, *, reset: bool = True) -> Any:
    """Return X as the metric takes it: a 2-D array of finite numbers, a matrix, or a sequence of objects.

    With an estimator, also what scikit-learn does: remember or compare the number and names of features.
    """
    kind = kind_of(metric)
    if issparse(X):
        raise TypeError(
            "X is a sparse matrix, and metrics on sparse data are not available; convert it with X.toarray() if that "
            "fits in memory"
        )
    if kind == "objects" and not _tabular(X):
        return _check_objects(X)
    if kind == "vectors":
        _refuse_text(X, metric)
    if kind == "matrix" and getattr(X, "ndim", 2) == 1:
        raise ValueError(
            "metric='precomputed' needs a square matrix; got a 1-D array. Expected 2D array: turn condensed distances "
            "into one with scipy.spatial.distance.squareform(X)"
        )
    options: dict[str, Any] = {"ensure_all_finite": False, "dtype": None if kind == "objects" else "numeric"}
    if kind == "objects":
        options["ensure_min_features"] = 1
    if estimator is not None:
        X = validate_data(estimator, X, reset=reset, **options)
    else:
        X = check_array(X, **options)
    if kind != "objects" and X.dtype.kind not in "iufb":
        raise ValueError(f"X has dtype {X.dtype}, but metric={metric!r} takes numbers; convert it to float first")
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind in "iufb":
        if X.dtype.kind == "b" or X.dtype in (np.float16, np.longdouble):
            X = X.astype(np.float64)  # types that kernels do not know
        _check_finite(X, kind)
    if kind == "matrix" and reset:
        _check_square(X)
    return X


def _tabular(X: Any) -> bool:
    return hasattr(X, "shape") and len(X.shape) == 2


def _check_objects(X: Any) -> Any:
    """Any sequence, for a callable: a list, a 1-D array, a column of a frame."""
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(
            f"X must be an array or a sequence of objects, one for each row; got {type(X).__name__}. "
            "Pass list(X) for a generator or a set"
        )
    if hasattr(X, "shape") and len(X.shape) == 0:
        raise ValueError(f"X must be an array or a sequence of objects; got a scalar, {X!r}")
    if len(X) == 0:
        raise ValueError("Found array with 0 sample(s): X is empty; pass at least one object")
    if isinstance(X, np.ndarray):
        return X
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    if not hasattr(X, "__getitem__") or isinstance(X, dict):
        raise TypeError(f"X must be a sequence that can be indexed by row number; got {type(X).__name__}")
    return X


def _refuse_text(X: Any, metric: Any) -> None:
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    if isinstance(first, (str, bytes)) or getattr(getattr(X, "dtype", None), "kind", None) in ("U", "S"):
        value = first if first is not None else np.asarray(X).flat[0]
        raise ValueError(
            f"could not convert string to float: metric={metric!r} takes rows of numbers, but row 0 of X is {value!r}; "
            "pass metric=f with your own f(a, b) for text and other objects"
        )


def _check_finite(X: Floats, kind: str) -> None:
    if X.dtype.kind != "f":
        return
    for start in range(0, len(X), 4096):
        part = X[start : start + 4096]
        # A sum is finite only if all of its terms are (it may overflow, so a look at each follows).
        with np.errstate(all="ignore"):
            if np.isfinite(part.sum()):
                continue
        wrong = ~np.isfinite(part)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            value = part[row, column]
            word = "NaN" if np.isnan(value) else "infinity"
            remedy = (
                "Distances must be finite: put a large number there, or remove the row and its column"
                if kind == "matrix"
                else "Remove such rows, or fill them, for example with sklearn.impute.SimpleImputer"
            )
            raise ValueError(f"Input X contains {word}: X[{start + row}, {column}] is {value}. {remedy}")


def _check_square(X: Floats) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square matrix of distances between the samples; got shape {X.shape}"
        )
