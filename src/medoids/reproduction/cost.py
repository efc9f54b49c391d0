"""What a run will take, roughly: for the estimate before the start, and for the order of runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from medoids.reproduction.run import Run

__all__ = ["expected_seconds", "short"]

# Seconds within which BP's run must lie for all runs on its data to be repeated.
_SHORT = 10.0
# Microseconds of one distance on one core, with what is done with it.
_MICROSECONDS = {"MNIST": 0.037, "CIFAR10": 0.18, "NEWSGROUPS": 0.022, "SCRNA-WORM": 0.15, "SCRNA-BLADDER": 0.9}
# Distances a point at k medoids, with delta = 1/(k n^3).
_DISTANCES: dict[str, Callable[[int], float]] = {
    "BP": lambda k: 1_000 * k**2,
    "BP+VA": lambda k: 3_500 * k,
    "BP+PIC": lambda k: 400 * k**2,
    "BP++": lambda k: 2_500 * k,
}


def expected_seconds(run: Run) -> float:
    """Return about how many seconds a run takes on one core.

    >>> expected_seconds(Run("CIFAR10", 30_000, 10, 10, "BP")) > 300
    True
    """
    microseconds = _MICROSECONDS[run.data]
    if run.algorithm in _DISTANCES:
        # At small n a search ends when all references are used.
        distances = min(_DISTANCES[run.algorithm](run.k), _DISTANCES[run.algorithm](run.k) * run.n / 4_000)
        if run.delta is not None:
            distances *= math.log(1 / run.delta) / math.log(run.k * run.n**3)
    elif run.algorithm in ("FastPAM1", "kmedoids"):
        distances = run.n * (0.7 if run.algorithm == "FastPAM1" else 5)
    elif run.algorithm == "banditpam":
        distances, microseconds = 20_000 * run.k, microseconds + 0.3
    else:
        distances = 4_000
    return 0.2 + microseconds * 1e-6 * distances * run.n


def short(run: Run) -> bool:
    """Whether a run and all that it is compared with are short enough to be made several times, for their times.

    >>> short(Run("NEWSGROUPS", 10_000, 5, 10, "BP++")), short(Run("MNIST", 10_000, 10, 10, "PairedPAM"))
    (True, False)
    """
    return expected_seconds(replace(run, algorithm="BP")) < _SHORT
