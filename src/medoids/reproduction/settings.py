"""Which trials each table and figure of the paper needs, at each scale, and how long they take, roughly."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from medoids.reproduction.peers import PEERS
from medoids.reproduction.trials import Trial

__all__ = ["NAMES", "OURS", "PAPER_K", "PAPER_T", "SCALES", "ExperimentScale", "expected_seconds", "plan", "trials_of"]

OURS = ("BP", "BP+VA", "BP+PIC", "BP++", "PairedPAM", "FastPAM1")
# k in Table 1 and Appendix Figures 1 to 3 of the paper; for RNA, k in the earlier paper.
PAPER_K = {"MNIST": 10, "CIFAR10": 10, "NEWSGROUPS": 5, "SCRNA-WORM": 5, "SCRNA-BLADDER": 5}
# The paper's maximum number of swaps; agreement and peers run until no swap improves the loss.
PAPER_T, UNTIL_CONVERGENCE = 10, 300
DELTAS = (1e-2, 1e-3, 1e-5, 1e-10)
# Expected seconds that separate the classes of cost: cheap trials run first.
_COST_CLASSES = (60.0, 200.0, 400.0)
# Microseconds per distance on one core, including what is done with it.
_MICROSECONDS = {"MNIST": 0.037, "CIFAR10": 0.18, "NEWSGROUPS": 0.022, "SCRNA-WORM": 0.15, "SCRNA-BLADDER": 0.9}
# Distances per point for k medoids, with delta = 1/(k n^3).
_DISTANCES: dict[str, Callable[[int], float]] = {
    "BP": lambda k: 1_000 * k**2,
    "BP+VA": lambda k: 3_500 * k,
    "BP+PIC": lambda k: 400 * k**2,
    "BP++": lambda k: 2_500 * k,
}


@dataclass(frozen=True)
class ExperimentScale:
    """How large the experiments are."""

    name: str
    sizes: dict[str, tuple[int, ...]]  # n in table-loss, fig-n and fig-complexity
    large: dict[str, tuple[int, ...]]  # further n in the figures, where no n x n matrix fits
    ablated: dict[str, tuple[int, ...]]  # n at which fig-n and fig-complexity also have BP+VA and BP+PIC
    fixed: dict[str, int]  # n in the tables and figures over k, delta and T
    ks: tuple[int, ...]
    seeds: tuple[int, ...]
    subsets: int  # number of subsets in agreement
    subset_sizes: tuple[int, ...]
    peers: dict[str, int]
    fits: int = 1  # fits of a short trial, of which the shortest time counts
    judged: tuple[tuple[str, int, int], ...] = ()  # further (data, n, k) whose logs exact PAM checks

    def all_sizes(self, data: str) -> tuple[int, ...]:
        """Return every n of a data set in the figures."""
        return self.sizes[data] + self.large.get(data, ())


_THREE = ("MNIST", "CIFAR10", "NEWSGROUPS")
_PAPER_SIZES = (10_000, 15_000, 20_000, 25_000, 30_000)
SCALES = {
    "paper": ExperimentScale(
        name="paper",
        sizes=dict.fromkeys(_THREE, _PAPER_SIZES)
        | {"SCRNA-WORM": (1_000, 2_000, 3_000, 4_186), "SCRNA-BLADDER": (1_000, 2_100)},
        large={"MNIST": (40_000, 55_000, 70_000), "NEWSGROUPS": (40_000, 50_000)},
        ablated={
            "MNIST": (10_000, 20_000, 30_000, 70_000),
            "CIFAR10": (10_000, 20_000),
            "NEWSGROUPS": (10_000, 20_000, 30_000, 50_000),
            "SCRNA-WORM": (1_000, 2_000, 3_000, 4_186),
            "SCRNA-BLADDER": (1_000, 2_100),
        },
        fixed=dict.fromkeys(_THREE, 10_000) | {"SCRNA-WORM": 4_186},
        ks=(5, 10, 15),
        seeds=(0, 1, 2),
        subsets=100,
        subset_sizes=(1_000, 1_500, 2_000),
        peers={"MNIST": 10_000, "NEWSGROUPS": 10_000, "CIFAR10": 3_000},
        fits=3,
        judged=(("MNIST", 10_000, 15), ("CIFAR10", 10_000, 15), ("CIFAR10", 20_000, 15)),
    ),
    "quick": ExperimentScale(
        name="quick",
        sizes={
            "MNIST": (500, 1_000, 1_500),
            "CIFAR10": (300, 400, 500),
            "NEWSGROUPS": (500, 1_000, 1_500),
            "SCRNA-WORM": (500, 1_000, 1_500),
            "SCRNA-BLADDER": (300, 500),
        },
        large={"MNIST": (3_000,), "NEWSGROUPS": (3_000,)},
        ablated={
            "MNIST": (500, 1_500),
            "CIFAR10": (300, 500),
            "NEWSGROUPS": (500, 1_500),
            "SCRNA-WORM": (500, 1_500),
            "SCRNA-BLADDER": (300, 500),
        },
        fixed={"MNIST": 1_000, "CIFAR10": 300, "NEWSGROUPS": 1_000, "SCRNA-WORM": 1_000},
        ks=(5, 10, 15),
        seeds=(0,),
        subsets=10,
        subset_sizes=(300, 500),
        peers={"MNIST": 1_000, "NEWSGROUPS": 1_000, "CIFAR10": 500},
    ),
}


def _table_loss(scale: ExperimentScale) -> Iterable[Trial]:
    compared = [(data, n, PAPER_K[data]) for data, sizes in scale.sizes.items() for n in sizes]
    cells = [*product(compared, ("BP++", "FastPAM1", "PairedPAM", "BP")), *product(scale.judged, ("FastPAM1", "BP++"))]
    return [Trial(data, n, k, PAPER_T, algorithm) for (data, n, k), algorithm in cells]


def _table_speedup(scale: ExperimentScale) -> Iterable[Trial]:
    return [
        Trial(data, n, k, PAPER_T, algorithm, seed=seed)
        for seed, (data, n), k, algorithm in product(scale.seeds, scale.fixed.items(), scale.ks, ("BP", "BP++"))
        if not seed or data != "CIFAR10"  # whose further seeds would take an hour to show what three other sets show
    ]


def _table_delta(scale: ExperimentScale) -> Iterable[Trial]:
    kinds = [(None, "FastPAM1"), *product((*DELTAS, None), ("BP", "BP++"))]
    return [
        Trial(data, n, PAPER_K[data], PAPER_T, algorithm, delta=delta)
        for (data, n), (delta, algorithm) in product(scale.fixed.items(), kinds)
    ]


def _fig_k(scale: ExperimentScale) -> Iterable[Trial]:
    return [
        Trial(data, n, k, PAPER_T, algorithm)
        for (data, n), k, algorithm in product(scale.fixed.items(), scale.ks, OURS)
    ]


def _fig_n(scale: ExperimentScale) -> Iterable[Trial]:
    for data, sizes in scale.sizes.items():
        limited = {"BP+VA": scale.ablated[data], "BP+PIC": scale.ablated[data], "FastPAM1": sizes}
        for n, algorithm in product(scale.all_sizes(data), OURS):
            if n in limited.get(algorithm, (n,)):
                yield Trial(data, n, PAPER_K[data], PAPER_T, algorithm)
        for seed, n, algorithm in product(scale.seeds[1:], scale.all_sizes(data), ("BP++", "PairedPAM")):
            yield Trial(data, n, PAPER_K[data], PAPER_T, algorithm, seed=seed)


def _fig_swaps(scale: ExperimentScale) -> Iterable[Trial]:
    return [
        Trial(data, n, PAPER_K[data], PAPER_T, algorithm)
        for (data, n), algorithm in product(scale.fixed.items(), ("BP", "BP++", "FastPAM1"))
    ]


def _peers(scale: ExperimentScale) -> Iterable[Trial]:
    return [
        Trial(data, n, 10, UNTIL_CONVERGENCE, algorithm)
        for (data, n), algorithm in product(scale.peers.items(), ("PairedPAM", "FastPAM1", "BP++", *reversed(PEERS)))
    ]


def _agreement(scale: ExperimentScale) -> Iterable[Trial]:
    kinds = list(product(scale.sizes, scale.subset_sizes, (3, 5, 10)))
    for seed in range(scale.subsets):
        data, n, k = kinds[seed * 7 % len(kinds)]  # 7 shares no factor with 45 or 30: neighbours differ
        for algorithm in ("FastPAM1", "PairedPAM", "BP++"):
            yield Trial(data, n, k, UNTIL_CONVERGENCE, algorithm, seed=seed, sample="distinct")


NAMES = {
    "table-loss": _table_loss,
    "table-speedup": _table_speedup,
    "table-delta": _table_delta,
    "fig-k": _fig_k,
    "fig-complexity": _fig_n,  # the same trials, seen as distances and as time
    "fig-n": _fig_n,
    "fig-swaps": _fig_swaps,
    "agreement": _agreement,
    "peers": _peers,
}


def trials_of(name: str, scale: ExperimentScale) -> list[Trial]:
    """Return the trials that a table or figure needs.

    >>> len(trials_of("table-delta", SCALES["paper"]))
    44
    """
    return list(dict.fromkeys(NAMES[name](scale)))


def plan(names: Iterable[str], scale: ExperimentScale) -> list[Trial]:
    """Return the trials of several tables and figures, each once, with costly ones and further seeds last."""
    return sorted(
        dict.fromkeys(trial for name in names for trial in trials_of(name, scale)),
        key=lambda trial: (
            trial.sample == "authors" and trial.seed > 0,
            bisect(_COST_CLASSES, expected_seconds(trial)),
        ),
    )


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
