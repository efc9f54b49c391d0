"""Several algorithms on the same data, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from medoids.api import k_medoids
from medoids.cli.failures import Failure
from medoids.cli.translating import in_options
from medoids.distances import SMALL

__all__ = ["above_best", "compare", "draw"]

# Sums in another order differ by this part of a loss.
_EQUAL = 1e-10


def above_best(loss: float, best: float) -> float:
    """Return by what part a loss is above the best; 0 where they differ by rounding only.

    >>> above_best(0.1 + 0.2, 0.3), above_best(1.5, 1.0)
    (0.0, 0.5)
    """
    difference = loss - best
    return difference / abs(best or 1) if difference > _EQUAL * max(abs(loss), abs(best)) else 0.0


def compare(X: Any, k: int, algorithms: Sequence[str], **parameters: Any) -> list[dict[str, Any]]:
    """Run each algorithm; the line of one that cannot run says why."""
    lines: list[dict[str, Any]] = []
    for algorithm in algorithms:
        _warm_up(X, algorithm, parameters)
        began = perf_counter()
        try:
            found = k_medoids(X, k, algorithm=algorithm, **parameters)
        except ValueError as error:
            lines.append({"algorithm": algorithm, "error": str(error)})
            continue
        lines.append(
            {
                "algorithm": algorithm,
                "ran": found.algorithm,
                "loss": found.loss,
                "seconds": round(perf_counter() - began, 3),
                "n_evaluations": found.n_evaluations,
                "of_n_squared": found.n_evaluations / len(found.labels) ** 2,
                "n_swaps": found.n_swaps,
                "converged": found.converged,
                "medoids": found.medoid_indices.tolist(),
            }
        )
    if all("error" in line for line in lines):
        raise Failure(f"no algorithm could run: {in_options(lines[0]['error'])}")
    return lines


def _warm_up(X: Any, algorithm: str, parameters: dict[str, Any]) -> None:
    """Load or compile what a fit needs before the clock runs; the first algorithm would pay for all of them."""
    if not isinstance(X, np.ndarray) or len(X) <= SMALL:
        return
    few = {**parameters, "sample_weight": None, "max_iter": 1, "verbose": 0}
    # What is wrong with an algorithm on these data shows, and is told, in the fit itself.
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore")
        k_medoids(X[: SMALL + 1], 2, algorithm=algorithm, **few)


def draw(lines: Sequence[dict[str, Any]], path: Path, format: str, title: str) -> None:
    """Draw loss, time and distances as bars, side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise Failure('--plot needs matplotlib; install it with pip install "medoids[report]"') from None
    from medoids.reporting.palette import LIGHT

    shown = [line for line in lines if "error" not in line]
    best = min(line["loss"] for line in shown)
    panels = {
        "loss above the best, %": [100 * above_best(line["loss"], best) for line in shown],
        "seconds": [line["seconds"] for line in shown],
        "distances, % of n²": [100 * line["of_n_squared"] for line in shown],
    }
    figure = Figure(figsize=(11, 1.4 + 0.42 * len(shown)), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for at, (ax, (name, values)) in enumerate(zip(axes, panels.items(), strict=True)):
        bars = ax.barh([line["algorithm"] for line in shown], values, color=LIGHT[at])
        ax.bar_label(bars, fmt="{:.3g}", padding=3)
        ax.margins(x=0.18)
        ax.set_title(name, fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    figure.suptitle(title)
    figure.savefig(path, format=format, dpi=150)
