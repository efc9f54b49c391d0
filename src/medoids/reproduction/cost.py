"""How long a trial takes, roughly: for the estimate before the start and for the order of trials."""

from __future__ import annotations

import math
from collections.abc import Callable

from medoids.reproduction.trials import Trial

__all__ = ["expected_seconds"]

# Microseconds per distance on one core, including what is done with it.
_MICROSECONDS = {"MNIST": 0.037, "CIFAR10": 0.18, "NEWSGROUPS": 0.022, "SCRNA-WORM": 0.15, "SCRNA-BLADDER": 0.9}
# Distances per point for k medoids, with delta = 1/(k n^3).
_DISTANCES: dict[str, Callable[[int], float]] = {
    "BP": lambda k: 1_000 * k**2,
    "BP+VA": lambda k: 3_500 * k,
    "BP+PIC": lambda k: 400 * k**2,
    "BP++": lambda k: 2_500 * k,
}


def expected_seconds(trial: Trial) -> float:
    """Return about how many seconds a trial takes on one core.

    >>> expected_seconds(Trial("CIFAR10", 30_000, 10, 10, "BP")) > 300
    True
    """
    distances, microseconds = 4_000.0, _MICROSECONDS[trial.data]
    if trial.algorithm in _DISTANCES:
        # For small n a search ends when all references are used.
        distances = _DISTANCES[trial.algorithm](trial.k) * min(1, trial.n / 4_000)
        if trial.delta is not None:
            distances *= math.log(1 / trial.delta) / math.log(trial.k * trial.n**3)
    elif trial.algorithm in ("FastPAM1", "kmedoids"):
        distances = trial.n * (0.7 if trial.algorithm == "FastPAM1" else 5)
    elif trial.algorithm == "banditpam":
        distances, microseconds = 20_000.0 * trial.k, microseconds + 0.3
    return 0.2 + microseconds * 1e-6 * distances * trial.n
