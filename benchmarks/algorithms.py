"""Every algorithm by name on the same rows: loss, distances, seconds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.datasets import FOLDER, letter
from benchmarks.measure import seconds_of
from medoids import Clustering, k_medoids
from medoids.settings import ALGORITHM_NAMES, NEEDS_MATRIX

__all__ = ["algorithms"]

_ROWS, _K, _LIMIT = 2000, 10, 40.0


def algorithms() -> str:
    """Every algorithm: loss, distances and seconds"""
    beans = np.load(FOLDER / "drybean_13611x16_float64.npz")["X"]
    beans = (beans - beans.mean(axis=0)) / beans.std(axis=0)
    parts = [
        f"{_ROWS:,} rows drawn at random, k = {_K}, euclidean, seed 0, at most {_LIMIT:g} s each. *All* counts every "
        "distance that was computed, as a share of the n (n - 1) / 2 pairs; *unique* counts pairs: those that a "
        "function in Python is called with if values are remembered, so for sampling algorithms it is another fit."
    ]
    for name, X in (("Dry Bean, standardised", beans), ("letter", letter())):
        rows = X[np.random.RandomState(0).choice(len(X), _ROWS, replace=False)]
        parts.append("\n".join(_table(name, rows)))
    return "\n\n".join(parts)


def _table(title: str, X: np.ndarray) -> list[str]:
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    pairs, found = _ROWS * (_ROWS - 1) / 2, {}
    for name in (*ALGORITHM_NAMES, "pairedpam, eager"):
        keywords: dict[str, Any] = {"algorithm": name.removesuffix(", eager")}
        if keywords["algorithm"] == "pairedpam":
            keywords["swap"] = "eager" if name.endswith("eager") else "best"
        _fit(X[:500], **keywords)  # compile
        found[name] = (*seconds_of(lambda keywords=keywords: _fit(X, **keywords)), _unique(D, keywords))
    best = min(fit.loss for _, fit, _ in found.values())
    lines = [f"| {title} | above the best loss | all | unique | s | |", "|---|---|---|---|---|---|"]
    for name, (seconds, fit, unique) in found.items():
        note = "" if fit.converged else "stopped at the limit"
        share = "100%" if unique is None else f"{unique / pairs:.0%}"
        computed = f"{fit.n_evaluations / pairs:.0%}"
        lines.append(f"| `{name}` | {fit.loss / best - 1:.2%} | {computed} | {share} | {seconds:.2f} | {note} |")
    return lines


def _unique(D: np.ndarray, keywords: dict[str, Any]) -> int | None:
    """Return the number of different pairs that an algorithm asks for; None for all."""
    if keywords["algorithm"] in NEEDS_MATRIX:
        return None

    def look_up(a: Any, b: Any) -> float:
        return float(D[int(a[0]), int(b[0])])

    promise = {"symmetric": True, "triangle": True}
    rows = np.arange(float(_ROWS))[:, None]
    return _fit(rows, metric=look_up, metric_params=promise, **keywords).n_evaluations


def _fit(X: np.ndarray, **keywords: Any) -> Clustering:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says what was stopped
        return k_medoids(X, _K, time_limit=_LIMIT, random_state=0, **keywords)
