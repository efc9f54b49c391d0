"""The keywords that all faces share: their defaults, their checks, and messages that say what is wrong and what to do.

X is checked in ``inputs.py``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from medoids.engine.arrays import Float64s, Rows
from medoids.result import TraceRecord

__all__ = [
    "ALGORITHM_NAMES",
    "EAGER",
    "INITS",
    "METRIC_ALGORITHMS",
    "NEEDS_MATRIX",
    "NOT_LOCAL",
    "OPTIMAL_RESTARTS",
    "RECTANGULAR",
    "SILHOUETTE_ALGORITHMS",
    "WITHOUT_BOUNDS",
    "Settings",
    "check_algorithm",
    "check_budget",
    "check_budget_of_matrix",
    "check_callback",
    "check_checkpoint",
    "check_choice",
    "check_count",
    "check_delta",
    "check_frozen",
    "check_gap",
    "check_init",
    "check_k_range",
    "check_memory",
    "check_n_clusters",
    "check_objective",
    "check_restarts",
    "check_rows",
    "check_sizes",
    "check_starts",
    "check_swap",
    "check_time_limit",
    "check_tol",
    "check_weights",
    "format_bytes",
    "names_rows",
    "parse_bytes",
    "usable_weights",
]

# The algorithms by name, so that a setting can be checked without loading them; those that need an n x n matrix; and
# those that take swap="eager".
ALGORITHM_NAMES = (
    "pairedpam",
    "banditpam",
    "banditpam+va",
    "banditpam+pic",
    "banditpam++",
    "pam",
    "fastpam1",
    "fastpam",
    "fasterpam",
    "alternate",
    "clara",
    "clarans",
    "optimal",
    "tabu",
    "active",
)
NEEDS_MATRIX = frozenset({"pam", "fastpam1", "fastpam", "fasterpam", "alternate", "optimal", "tabu"})
EAGER = ("auto", "pairedpam")
# Those that rely on the triangle inequality, and refuse other metrics.
METRIC_ALGORITHMS = frozenset({"active"})
# Those that take a rectangular matrix of candidates and points.
RECTANGULAR = ("auto", "pairedpam", "pam", "fastpam1", "fastpam", "fasterpam", "optimal")
# Those that need not end where no swap improves, so that restarts have nothing to start from.
NOT_LOCAL = frozenset({"alternate", "clara", "clarans"})
# Those that sample without bounds on what they overlook.
WITHOUT_BOUNDS = frozenset({"clara", "clarans"})
# Restarts of "optimal" where no other number is asked for: they find the optimum of most problems, in little time.
OPTIMAL_RESTARTS = 50
# Those that can make the medoid silhouette their goal.
SILHOUETTE_ALGORITHMS = ("auto", "fasterpam", "fastpam1", "pam")
# Starts: BUILD, those that are drawn at random, and the rows with the lowest sums of distances.
INITS = ("build", "random", "k-medoids++", "lab", "heuristic")
_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", start=1):
    _UNITS |= {f"{_letter}IB": 1024**_power, f"{_letter}B": 1000**_power, _letter: 1024**_power}


@dataclass(frozen=True)
class Settings:
    """The keywords that the estimators and the functions share; `KMedoids` documents them."""

    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    algorithm: str = "auto"
    objective: str = "distance"
    init: Any = "build"
    n_init: int = 1
    n_restarts: int = 0
    swap: str = "auto"
    tol: float = 0.0
    max_iter: int = 300
    time_limit: float | None = None
    gap: float = 0.0
    max_evaluations: int | None = None
    delta: float | None = None
    cache_width: int = 1000
    memory_limit: Any = "2GiB"
    k_range: Any = None
    frozen_medoids: Any = None
    candidates: Any = None
    min_size: int | None = None
    max_size: int | None = None
    callback: Callable[[TraceRecord], object] | None = None
    checkpoint: Any = None
    resume: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    @classmethod
    def of(cls, arguments: Mapping[str, Any], **others: Any) -> Settings:
        """Return the settings among some arguments, such as ``locals()`` or the attributes of an estimator.

        >>> Settings.of({"metric": "cosine", "X": None}, max_iter=3).max_iter
        3
        """
        named = {field.name: arguments[field.name] for field in fields(cls) if field.name in arguments}
        return cls(**{**named, **others})

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all keywords."""
        return [field.name for field in fields(cls)]

    def described(self, *, without: Iterable[str] = ()) -> dict[str, Any]:
        """Return the settings as a dictionary."""
        return {name: getattr(self, name) for name in self.names() if name not in without}


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


def format_bytes(size: float) -> str:
    """Bytes in a unit that suits them.

    >>> format_bytes(512), format_bytes(24 * 1024), format_bytes(3.2e9)
    ('512 bytes', '24 KiB', '2.98 GiB')
    """
    if size < 1024:
        return f"{size:.0f} bytes"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        size /= 1024
        if size < 1000 or unit == "TiB":
            break
    return f"{size:.3g} {unit}"


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; it must be one of {sorted(choices)}")
    return value


def check_algorithm(algorithm: Any) -> str:
    return check_choice("algorithm", algorithm, ["auto", *ALGORITHM_NAMES])


def check_swap(swap: Any, algorithm: str) -> str:
    check_choice("swap", swap, ["auto", "best", "eager"])
    if swap == "eager" and algorithm not in EAGER:
        raise ValueError(f"swap='eager' is for algorithm={' or '.join(map(repr, EAGER))}, not {algorithm!r}")
    return str(swap)


def check_count(name: str, value: Any, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be an integer")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}")
    return int(value)


def check_starts(n_init: Any, algorithm: str) -> int:
    count = check_count("n_init", n_init, 1)
    if count > 1 and algorithm == "optimal":
        raise ValueError(
            f"n_init={count} is not for algorithm='optimal', which makes one start and restarts from its result; leave "
            "n_init out, or pass a larger n_restarts"
        )
    return count


def check_tol(tol: Any) -> float:
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.number)) or not 0 <= tol < 1:
        raise ValueError(f"tol={tol!r} must be a number from 0 on and below 1: a share of the loss")
    return float(tol)


def check_restarts(n_restarts: Any, algorithm: str) -> int:
    count = check_count("n_restarts", n_restarts, 0)
    if count and algorithm in NOT_LOCAL:
        raise ValueError(
            f"n_restarts={count} is for algorithms that end where no swap improves, not for {algorithm!r}; use "
            "algorithm='auto', or leave n_restarts out"
        )
    return count


def check_gap(gap: Any, algorithm: str) -> float:
    if isinstance(gap, bool) or not isinstance(gap, (int, float, np.number)) or not 0 <= gap < np.inf:
        raise ValueError(f"gap={gap!r} must be a share of the lower bound, at least 0, such as 0.001 for 0.1%")
    if gap and algorithm != "optimal":
        raise ValueError(
            f"gap={gap} is for algorithm='optimal', which proves it, not for {algorithm!r}; certify bounds the gap of "
            "any result"
        )
    return float(gap)


def check_delta(delta: Any) -> float | None:
    if delta is None:
        return None
    if not isinstance(delta, (int, float, np.number)) or not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} must be a number between 0 and 1, or None for the algorithm's own")
    return float(delta)


def check_time_limit(time_limit: Any, n_clusters: Any) -> float | None:
    if time_limit is None:
        return None
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float, np.number)) or not time_limit >= 0:
        raise ValueError(f"time_limit={time_limit!r} must be a number of seconds, at least 0, or None")
    if isinstance(n_clusters, str) and n_clusters == "auto":
        raise ValueError(
            "time_limit is for one number of clusters, and n_clusters='auto' fits several; pass a number, or leave "
            "time_limit out"
        )
    return float(time_limit)


def check_budget(max_evaluations: Any, n_clusters: Any) -> int | None:
    if max_evaluations is None:
        return None
    most = check_count("max_evaluations", max_evaluations, 1)
    if isinstance(n_clusters, str) and n_clusters == "auto":
        raise ValueError(
            "max_evaluations is for one number of clusters, and n_clusters='auto' fits several; pass a number, or "
            "leave max_evaluations out"
        )
    return most


def check_budget_of_matrix(algorithm: str, n: int, need: int, left: float) -> None:
    if need > left:
        raise ValueError(
            f"algorithm={algorithm!r} needs the {n} x {n} distance matrix, {need:,} distances, and max_evaluations "
            f"leaves {max(0, int(left)):,} beside those of the final assignment; raise max_evaluations, or use "
            "algorithm='pairedpam', 'banditpam++', 'clara' or 'clarans', which need no matrix"
        )


def check_callback(callback: Any) -> None:
    if callback is not None and not callable(callback):
        raise TypeError(f"callback={callback!r} must be callable, or None")


def check_checkpoint(checkpoint: Any, resume: Any, n_clusters: Any) -> None:
    if not isinstance(resume, (bool, np.bool_)):
        raise TypeError(f"resume={resume!r} must be True or False; the file is named by checkpoint")
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=PATH, the file to resume from")
    if not isinstance(checkpoint, (str, os.PathLike, type(None))):
        raise TypeError(f"checkpoint={checkpoint!r} must be the path of a file, or None")
    if checkpoint is not None and n_clusters == "auto":
        raise ValueError(
            "checkpoint is for one number of clusters, and n_clusters='auto' fits several; pass a number, or leave "
            "checkpoint out"
        )


def check_n_clusters(n_clusters: Any, n: int, n_usable: int, *, named: bool = False) -> int:
    k = check_count("n_clusters", n_clusters, 1)
    if k > n:
        raise ValueError(f"n_clusters={k} is more than the number of samples, n_samples={n}; ask for at most {n}")
    if k > n_usable and named:
        raise ValueError(f"n_clusters={k} is more than the number of candidates, {n_usable}; name more of them")
    if k > n_usable:
        raise ValueError(
            f"n_clusters={k} is more than the number of rows with a positive sample_weight, {n_usable}; "
            "a row of weight 0 is never a medoid unless candidates names it"
        )
    return k


def check_weights(sample_weight: Any, n: int, *, points: str = "row") -> Float64s:
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        weights = np.full(n, float(sample_weight))
    else:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="sample_weight"
        )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be 1-D, one number for each {points} of X; got shape {weights.shape}")
    if len(weights) != n:
        raise ValueError(
            f"sample_weight has {len(weights)} entries, but X has {n} {points}s; pass one weight for each {points}"
        )
    for wrong, word in ((~np.isfinite(weights), "not finite"), (weights < 0, "negative")):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"sample_weight[{row}]={weights[row]} is {word}; weights must be finite and >= 0")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive")
    return weights


def check_init(init: Any, n: int, k: int, weights: Float64s) -> str | Rows:
    if isinstance(init, str):
        return check_choice("init", init, INITS)
    rows = np.asarray(init)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(f"init must be one of {sorted(INITS)} or a 1-D array of row indices; got {init!r:.200}")
    if len(rows) != k:
        raise ValueError(f"init has {len(rows)} row indices, but n_clusters={k}; pass one index for each cluster")
    return check_rows("init", rows, n, weights)


def names_rows(init: Any) -> bool:
    """Whether ``init`` is a name or row numbers, rather than the rows themselves: coordinates or other objects.

    >>> names_rows("build"), names_rows([3, 5]), names_rows([[0.5, 1.0], [2.0, 3.0]]), names_rows(["ape", "zebra"])
    (True, True, False, False)
    """
    if isinstance(init, str):
        return True
    try:
        rows = np.asarray(init)
    except ValueError:  # rows of unequal lengths
        return False
    return rows.ndim == 0 or (rows.ndim == 1 and (rows.dtype.kind in "iu" or len(rows) == 0))


def check_rows(name: str, given: Any, n: int, weights: Float64s) -> Rows:
    """Check that some rows can be medoids together."""
    rows = np.asarray(given)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and len(rows)):
        raise ValueError(f"{name} must be a 1-D array of row indices; got {given!r}")
    for at, row in enumerate(rows.tolist()):
        if not 0 <= row < n:
            raise ValueError(f"{name}[{at}]={row} is not a row of X, which has rows 0 to {n - 1}")
        if weights[row] == 0:
            raise ValueError(
                f"{name}[{at}]={row} has sample_weight 0, and a row of weight 0 is never a medoid unless candidates "
                "names it"
            )
    values, counts = np.unique(rows, return_counts=True)
    if len(values) < len(rows):
        what = "initial medoids" if name == "init" else "medoids" if name != "candidates" else "candidates"
        raise ValueError(f"{name} repeats row {values[counts > 1][0]}; {what} must be different rows")
    return rows.astype(np.intp)


def check_frozen(frozen: Any, init: str | Rows, n: int, k: int, weights: Float64s) -> tuple[int, ...]:
    if frozen is None:
        return ()
    rows = check_rows("frozen_medoids", frozen, n, weights)
    if len(rows) > k:
        raise ValueError(f"frozen_medoids has {len(rows)} rows, more than n_clusters={k}; ask for more clusters")
    if not isinstance(init, str):
        missing = np.setdiff1d(rows, init)
        if len(missing):
            raise ValueError(f"init lacks row {missing[0]} of frozen_medoids; a frozen medoid is one from the start")
    return tuple(rows.tolist())


def check_candidates(candidates: Any, n: int) -> str | Rows | None:
    if candidates is None or (isinstance(candidates, str) and candidates == "all"):
        return candidates
    rows = np.asarray(candidates)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or isinstance(candidates, str):
        raise ValueError(
            f"candidates={candidates!r} is unknown; it must be None (all rows, but under gower those without gaps), "
            "'all' (every row), or a 1-D array of row indices"
        )
    return check_rows("candidates", rows, n, np.ones(n))


def usable_weights(weights: Float64s, candidates: str | Rows | None, n: int) -> Float64s:
    """Return what is 0 only for rows that cannot be medoids: weights, but for candidates that are named.

    With a rectangular matrix, rows are no points, have no weights, and can all be medoids.
    """
    if len(weights) != n:
        return np.ones(n)
    if candidates is None or isinstance(candidates, str):
        return weights
    usable = weights.copy()
    usable[candidates] = 1.0
    return usable


def check_objective(objective: Any, algorithm: str, k: Any, settings: Settings) -> str:
    """Check what is to be optimized, and that the rest of the settings can do that."""
    check_choice("objective", objective, ["distance", "medoid_silhouette"])
    if objective == "distance":
        return "distance"
    if algorithm not in SILHOUETTE_ALGORITHMS:
        raise ValueError(
            f"objective='medoid_silhouette' is for algorithm={' or '.join(map(repr, SILHOUETTE_ALGORITHMS))}, not "
            f"{algorithm!r}"
        )
    others = {"n_restarts": 0, "min_size": None, "max_size": None, "max_evaluations": None}
    wrong = [name for name, default in others.items() if getattr(settings, name) != default]
    for name in [*wrong, "swap"][: len(wrong) or settings.swap == "eager"]:
        raise ValueError(f"objective='medoid_silhouette' cannot be combined with {name}; leave {name} out")
    if settings.checkpoint is not None and settings.n_init > 1:
        raise ValueError("objective='medoid_silhouette' with several starts has no checkpoint; leave n_init out")
    if k == 1:
        raise ValueError("objective='medoid_silhouette' compares clusters; n_clusters must be at least 2")
    return "medoid_silhouette"


def check_sizes(min_size: Any, max_size: Any, n: int, k: Any, algorithm: str) -> tuple[int, int] | None:
    """Return the limits on the number of rows of a cluster; None if there are none."""
    if min_size is None and max_size is None:
        return None
    for what, wrong in (("n_clusters='auto'", k == "auto"), ("algorithm='optimal'", algorithm == "optimal")):
        if wrong:
            raise ValueError(
                f"min_size and max_size cannot be combined with {what}; pass a number of clusters and another "
                "algorithm, or leave the limits out"
            )
    least = 0 if min_size is None else check_count("min_size", min_size, 0)
    most = n if max_size is None else check_count("max_size", max_size, 1)
    if least > most:
        raise ValueError(f"min_size={least} is more than max_size={most}")
    if k * least > n:
        raise ValueError(
            f"min_size={least} cannot be met: {k} clusters of at least {least} rows are {k * least} rows, and X has "
            f"{n}; min_size may be at most {n // k}, or n_clusters at most {n // least}"
        )
    if k * most < n:
        raise ValueError(
            f"max_size={most} cannot be met: {k} clusters of at most {most} rows hold {k * most} rows, and X has {n}; "
            f"max_size must be at least {-(-n // k)}, or n_clusters at least {-(-n // most)}"
        )
    return least, most


def check_k_range(k_range: Any, n_positive: int, least: int) -> list[int]:
    """Return the numbers of clusters to try, ascending; by default 2 to 10, or fewer if there are not enough rows."""
    if k_range is None:
        if not (ks := list(range(max(2, least), min(10, n_positive - 1) + 1))):
            raise ValueError(
                f"{n_positive} rows are too few to choose a number of clusters; pass k_range or n_clusters"
            )
        return ks
    if isinstance(k_range, (str, bytes)) or not isinstance(k_range, Iterable):
        raise TypeError(f"k_range={k_range!r} must be a range or a list of integers, such as range(2, 21)")
    if not (ks := sorted({check_count("k_range", k, 1) for k in k_range})):
        raise ValueError("k_range is empty; pass at least one number of clusters, such as range(2, 21)")
    if ks[-1] > n_positive:
        raise ValueError(f"k_range goes to {ks[-1]}, but only {n_positive} rows can be medoids; end it there or before")
    if ks[0] < least:
        raise ValueError(f"k_range begins at {ks[0]}, but {least} medoids are frozen; begin it there or after")
    return ks


def check_memory(algorithm: str, n: int, need: int, limit: int) -> None:
    if need > limit:
        raise ValueError(
            f"algorithm={algorithm!r} needs the {n} x {n} distance matrix, {format_bytes(need)}, which is more than "
            f"memory_limit={format_bytes(limit)}; raise memory_limit, or use algorithm='pairedpam', "
            "'banditpam++', 'clara' or 'clarans', which need no matrix"
        )
