"""Which runs each table and figure of the paper is made of, at each scale."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from medoids.reproduction.cost import expected_seconds
from medoids.reproduction.run import Run

__all__ = ["FAMILY", "NAMES", "OURS", "PEERS", "SCALES", "Scale", "plan", "runs_of"]

FAMILY = ("BP", "BP+VA", "BP+PIC", "BP++")
OURS = (*FAMILY, "PairedPAM", "FastPAM1")
PEERS = ("banditpam", "kmedoids", "onebatch", "KMeans")
# The paper's k in Table 1 and Appendix Figures 1 to 3; that of the earlier paper for RNA.
USUAL_K = {"MNIST": 10, "CIFAR10": 10, "NEWSGROUPS": 5, "SCRNA-WORM": 5, "SCRNA-BLADDER": 5}
# Their T; agreement and peers go on until no swap improves.
T, NO_END = 10, 300
DELTAS = (1e-2, 1e-3, 1e-5, 1e-10)
# Seconds that divide the cheap runs, which are made first, from the dearer ones.
_DEAR = (60.0, 200.0, 400.0)


@dataclass(frozen=True)
class Scale:
    """How large the experiments are."""

    name: str
    sizes: dict[str, tuple[int, ...]]  # n of table-loss, fig-n and fig-complexity
    large: dict[str, tuple[int, ...]]  # further n of the figures, where no n x n matrix fits
    ablated: dict[str, tuple[int, ...]]  # n at which fig-n and fig-complexity have BP+VA and BP+PIC too
    fixed: dict[str, int]  # n of the tables and figures in k, delta and T
    ks: tuple[int, ...]
    seeds: tuple[int, ...]
    subsets: int  # of agreement
    subset_sizes: tuple[int, ...]
    peers: dict[str, int]
    fits: int = 1  # of a short run, for its time
    judged: tuple[tuple[str, int, int], ...] = ()  # further (data, n, k) whose logs are to be judged by exact PAM


_THREE = ("MNIST", "CIFAR10", "NEWSGROUPS")
_PAPER_SIZES = (10_000, 15_000, 20_000, 25_000, 30_000)
SCALES = {
    "paper": Scale(
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
    "quick": Scale(
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


def _table_loss(scale: Scale) -> Iterable[Run]:
    for data, sizes in scale.sizes.items():
        for n, algorithm in product(sizes, ("BP++", "FastPAM1", "PairedPAM", "BP")):
            yield Run(data, n, USUAL_K[data], T, algorithm)
    for data, n, k in scale.judged:
        yield Run(data, n, k, T, "FastPAM1")
        yield Run(data, n, k, T, "BP++")


def _table_speedup(scale: Scale) -> Iterable[Run]:
    for seed, (data, n), k in product(scale.seeds, scale.fixed.items(), scale.ks):
        if seed and data == "CIFAR10":
            continue  # an hour for what three other sets show
        for algorithm in ("BP", "BP++"):
            yield Run(data, n, k, T, algorithm, seed=seed)


def _table_delta(scale: Scale) -> Iterable[Run]:
    for data, n in scale.fixed.items():
        yield Run(data, n, USUAL_K[data], T, "FastPAM1")
        for delta, algorithm in product((*DELTAS, None), ("BP", "BP++")):
            yield Run(data, n, USUAL_K[data], T, algorithm, delta=delta)


def _fig_k(scale: Scale) -> Iterable[Run]:
    for (data, n), k, algorithm in product(scale.fixed.items(), scale.ks, OURS):
        yield Run(data, n, k, T, algorithm)


def _fig_n(scale: Scale) -> Iterable[Run]:
    for data, sizes in scale.sizes.items():
        k = USUAL_K[data]
        everywhere = (*sizes, *scale.large.get(data, ()))
        for n in everywhere:
            for algorithm in OURS:
                if algorithm in ("BP+VA", "BP+PIC") and n not in scale.ablated[data]:
                    continue
                if algorithm == "FastPAM1" and n not in sizes:
                    continue
                yield Run(data, n, k, T, algorithm)
        for seed, n, algorithm in product(scale.seeds[1:], everywhere, ("BP++", "PairedPAM")):
            yield Run(data, n, k, T, algorithm, seed=seed)


def _fig_swaps(scale: Scale) -> Iterable[Run]:
    for (data, n), algorithm in product(scale.fixed.items(), ("BP", "BP++", "FastPAM1")):
        yield Run(data, n, USUAL_K[data], T, algorithm)


def _peers(scale: Scale) -> Iterable[Run]:
    for (data, n), algorithm in product(scale.peers.items(), ("PairedPAM", "FastPAM1", "BP++", *PEERS[::-1])):
        yield Run(data, n, 10, NO_END, algorithm)


def _agreement(scale: Scale) -> Iterable[Run]:
    kinds = list(product(scale.sizes, scale.subset_sizes, (3, 5, 10)))
    for seed in range(scale.subsets):
        data, n, k = kinds[seed * 7 % len(kinds)]  # 7 shares no factor with 45 or 30: neighbours differ
        for algorithm in ("FastPAM1", "PairedPAM", "BP++"):
            yield Run(data, n, k, NO_END, algorithm, seed=seed, sample="distinct")


NAMES = {
    "table-loss": _table_loss,
    "table-speedup": _table_speedup,
    "table-delta": _table_delta,
    "fig-k": _fig_k,
    "fig-complexity": _fig_n,  # the same runs, seen as distances and as time
    "fig-n": _fig_n,
    "fig-swaps": _fig_swaps,
    "agreement": _agreement,
    "peers": _peers,
}


def runs_of(name: str, scale: Scale) -> list[Run]:
    """Return the runs that a table or figure needs.

    >>> len(runs_of("table-delta", SCALES["paper"]))
    44
    """
    return list(dict.fromkeys(NAMES[name](scale)))


def plan(names: Iterable[str], scale: Scale) -> list[Run]:
    """Return the runs of several, each once, in the order in which they are made: dear ones and further seeds last."""
    everything = dict.fromkeys(run for name in names for run in runs_of(name, scale))

    def late(run: Run) -> tuple[bool, int]:
        return run.sample == "authors" and run.seed > 0, bisect(_DEAR, expected_seconds(run))

    return sorted(everything, key=late)
