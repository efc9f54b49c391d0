"""What the paper prints, and what its authors' runs logged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

from medoids.datasets import DataNotFound, logged_runs
from medoids.datasets.stored import Folder

__all__ = ["SPEEDUP", "Log", "Logs", "disagreements", "read_logs", "rises"]

# Appendix Table 2: for k = 5, 10, 15.
SPEEDUP = {
    "both": {"MNIST": (3.07, 4.21, 4.15), "CIFAR10": (5.45, 5.77, 10.22), "NEWSGROUPS": (2.69, 4.94, 6.93)},
    "swap": {"MNIST": (3.80, 6.38, 5.15), "CIFAR10": (8.14, 6.97, 10.51), "NEWSGROUPS": (4.85, 6.68, 9.07)},
    "build": {"MNIST": (1.36, 1.75, 1.44), "CIFAR10": (1.92, 2.69, 2.52), "NEWSGROUPS": (1.59, 1.75, 1.86)},
}
# They write BP+CA for BP+PIC.
_ALGORITHMS = {"BP": "BP", "BP+VA": "BP+VA", "BP+CA": "BP+PIC", "BP++": "BP++"}
# The confidence of SWAP in all their runs but those on delta.
USUAL_CONFIDENCE = 5
# Losses are logged in float32.
_SAME = 1e-6


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
    misc: int  # for the standard deviations of arms
    build_ms: float
    swap_ms: float

    @property
    def total(self) -> int:
        return self.build + self.swap + self.misc


Logs = dict[tuple[str, int, int, int, str, int], Log]


def read_logs(folder: Folder = None) -> Logs:
    """Return the logs by data, n, k, T, algorithm and confidence; none where the file is not at hand."""
    try:
        rows = logged_runs(folder)
    except DataNotFound:
        return {}
    found = (_log(row) for row in rows if row["dataset"] != "SCRNA")  # whose data are not at hand
    return {(log.data, log.n, log.k, log.T, log.algorithm, log.confidence): log for log in found}


def _log(row: dict[str, str]) -> Log:
    return Log(
        data=row["dataset"],
        n=int(row["n"]),
        k=int(row["k"]),
        T=int(row["T"]),
        algorithm=_ALGORITHMS[row["algorithm"]],
        confidence=int(row["swap_confidence"]),
        loss=float(row["final_loss"]),
        losses=tuple(json.loads(row["loss_trajectory"])),
        steps=int(row["number_of_steps"]),
        build=int(row["build_distance_comps"]),
        swap=int(row["swap_distance_comps"]),
        # Of runs with the cache, the count with its first filling is at hand: BUILD and SWAP have it.
        misc=int(row["misc_distance_comps"]),
        build_ms=float(row["total_build_time"]),
        swap_ms=float(row["total_swap_time"]),
    )


def disagreements(logs: Logs) -> list[list[Log]]:
    """Return the runs on one sample with one k that logged different losses, all of a sample together."""
    samples: dict[tuple[str, int, int], list[Log]] = {}
    for log in logs.values():
        if log.T == 10 and log.confidence == USUAL_CONFIDENCE:
            samples.setdefault((log.data, log.n, log.k), []).append(log)
    return [
        sorted(runs, key=lambda log: log.algorithm)
        for _, runs in sorted(samples.items())
        if max(log.loss for log in runs) > min(log.loss for log in runs) * (1 + _SAME)
    ]


def rises(logs: Logs) -> list[tuple[Log, int, float]]:
    """Return the runs whose loss rose, with the step at which it did and by what share."""
    return [
        (log, step, after / before - 1)
        for log in logs.values()
        for step, (before, after) in enumerate(pairwise(log.losses), start=1)
        if after > before * (1 + _SAME)
    ]
