"""What the paper prints, and what the authors' runs logged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

from medoids.datasets import DataNotFound, logged_runs
from medoids.datasets.files import Folder

__all__ = ["LOG_PRECISION", "SPEEDUP", "USUAL_CONFIDENCE", "Log", "Logs", "disagreements", "read_logs", "rises"]

# Appendix Table 2, for k = 5, 10, 15.
SPEEDUP = {
    "both": {"MNIST": (3.07, 4.21, 4.15), "CIFAR10": (5.45, 5.77, 10.22), "NEWSGROUPS": (2.69, 4.94, 6.93)},
    "swap": {"MNIST": (3.80, 6.38, 5.15), "CIFAR10": (8.14, 6.97, 10.51), "NEWSGROUPS": (4.85, 6.68, 9.07)},
    "build": {"MNIST": (1.36, 1.75, 1.44), "CIFAR10": (1.92, 2.69, 2.52), "NEWSGROUPS": (1.59, 1.75, 1.86)},
}
# The logs write BP+CA for BP+PIC.
_LOGGED_NAMES = {"BP": "BP", "BP+VA": "BP+VA", "BP+CA": "BP+PIC", "BP++": "BP++"}
# The confidence of SWAP in all logged runs except those on delta.
USUAL_CONFIDENCE = 5
# Relative difference up to which logged losses, which are sums in float32, are equal.
LOG_PRECISION = 1e-5


@dataclass(frozen=True)
class Log:
    """One of the authors' runs."""

    data: str
    n: int
    k: int
    T: int
    algorithm: str
    confidence: int  # of SWAP: intervals have w^2 = confidence + log(arms)
    loss: float
    losses: tuple[float, ...]  # after BUILD and each step
    steps: int
    build: int  # distances computed
    swap: int
    misc: int  # distances for the standard deviations of arms
    milliseconds: float


Logs = dict[tuple[str, int, int, int, str, int], Log]


def read_logs(folder: Folder = None) -> Logs:
    """Return the logs by data, n, k, T, algorithm and confidence; none if the file is not available."""
    try:
        rows = logged_runs(folder)
    except DataNotFound:
        return {}
    logs = (
        Log(
            data=row["dataset"],
            n=int(row["n"]),
            k=int(row["k"]),
            T=int(row["T"]),
            algorithm=_LOGGED_NAMES[row["algorithm"]],
            confidence=int(row["swap_confidence"]),
            loss=float(row["final_loss"]),
            losses=tuple(json.loads(row["loss_trajectory"])),
            steps=int(row["number_of_steps"]),
            build=int(row["build_distance_comps"]),
            swap=int(row["swap_distance_comps"]),
            # In runs with the cache, the distances that fill it are counted in BUILD and SWAP.
            misc=int(row["misc_distance_comps"]),
            milliseconds=float(row["total_build_time"]) + float(row["total_swap_time"]),
        )
        for row in rows
        if row["dataset"] != "SCRNA"  # whose data are not available
    )
    return {(log.data, log.n, log.k, log.T, log.algorithm, log.confidence): log for log in logs}


def disagreements(logs: Logs) -> list[list[Log]]:
    """Return, for each sample and k on which logged losses differ, its logs."""
    samples: dict[tuple[str, int, int], list[Log]] = {}
    for log in logs.values():
        if log.T == 10 and log.confidence == USUAL_CONFIDENCE:
            samples.setdefault((log.data, log.n, log.k), []).append(log)
    return [
        sorted(runs, key=lambda log: log.algorithm)
        for _, runs in sorted(samples.items())
        if max(log.loss for log in runs) > min(log.loss for log in runs) * (1 + LOG_PRECISION)
    ]


def rises(logs: Logs) -> list[tuple[Log, int, float]]:
    """Return the logs whose loss rises, each with the step and the share by which it does."""
    return [
        (log, step, after / before - 1)
        for log in logs.values()
        for step, (before, after) in enumerate(pairwise(log.losses), start=1)
        if after > before * (1 + LOG_PRECISION)
    ]
