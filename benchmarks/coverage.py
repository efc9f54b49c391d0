"""A claim on the bounds, checked on real arms."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from benchmarks.datasets import covertype, letter, rows_of
from benchmarks.engine import birch, gmm, heavy, uniform
from medoids import k_medoids
from medoids.bandit import Independent
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.distances import Tally, dissimilarity
from medoids.engine.threads import Threads
from medoids.paired.local import OneShard
from medoids.paired.search import Search
from medoids.paired.shard import Bar

__all__ = ["coverage"]

_WIDTHS = (2.0, 3.0, 3.5)
# Layouts of a set, each with its own references and 400 arms; these are not independent of each other.
_LAYOUTS = 60


def coverage() -> str:
    """How often the true mean of a real arm leaves its interval: BanditPAM's in BUILD, PairedPAM's near an optimum."""
    return f"MNIST 5,000, first step, t = 100 to 1,000:\n\n{_bandit()}\n\nPairedPAM, two levels:\n\n{_paired()}"


def _bandit() -> str:
    random = np.random.RandomState(0)
    X = rows_of("MNIST", 5000, random)
    arms = random.choice(5000, 200, replace=False)
    D = dissimilarity(X, "l2").exact_block(arms, slice(0, 5000))
    mean, sigma = D.mean(axis=1), D.std(axis=1)
    lines = [
        "| delta | bound 2 sqrt(delta) | misses, true sigma | misses, sigma of the first batch |",
        "|---|---|---|---|",
    ]
    for delta in (0.1, 0.01):
        bounds = Independent(delta)
        misses = {"true": 0, "first": 0}
        tries = 0
        for _ in range(50):
            order = random.permutation(5000)
            first = D[:, order[:100]].std(axis=1)
            for t in (100, 300, 1000):
                error = np.abs(D[:, order[:t]].mean(axis=1) - mean)
                misses["true"] += int((error > bounds.width(sigma, t)).sum())
                misses["first"] += int((error > bounds.width(first, t)).sum())
                tries += len(arms)
        shares = [f"{misses[kind] / tries:.4f}" for kind in ("true", "first")]
        lines.append(f"| {delta} | {2 * np.sqrt(delta):.3f} | {shares[0]} | {shares[1]} |")
    return "\n".join(lines)


def _paired() -> str:
    """Shares of arms whose lower bound is above the exact change: alone and beside pivots, on the first two levels."""
    random = np.random.RandomState(0)
    sets = {
        "uniform 100,000 x 2": uniform(),
        "birch 100,000 x 2": birch(),
        "gmm 100,000 x 10": gmm(),
        "heavy 58,000 x 9": heavy(),
        "letter 20,000 x 16": letter().astype(np.float64),
        "covertype 100,000 x 54": covertype()[random.choice(581_012, 100_000, replace=False)].astype(np.float64),
        "MNIST 20,000 x 784": rows_of("MNIST", 20_000, random),
    }
    nominal = ", ".join(f"{NormalDist().cdf(-width):.1e}" for width in _WIDTHS)
    lines = [
        f"| data | arms judged | alone, widths {', '.join(map(str, _WIDTHS))} | beside pivots | nominal |",
        "|---|---|---|---|---|",
    ]
    for name, X in sets.items():
        judged, alone, beside = 0, np.zeros(len(_WIDTHS)), np.zeros(len(_WIDTHS))
        medoids = k_medoids(X, 10, algorithm="pairedpam", swap="eager", random_state=0).medoid_indices
        for seed in range(_LAYOUTS):
            some = _misses(X, medoids, seed)
            judged, alone, beside = judged + some[0], alone + some[1], beside + some[2]
        shares = (", ".join(f"{m / judged:.1e}" for m in misses) for misses in (alone, beside))
        lines.append(f"| {name} | {judged:,} | {' | '.join(shares)} | {nominal} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _misses(X: np.ndarray, medoids: np.ndarray, seed: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Judge random arms of a new layout; return their number, and of how many the bounds are too high, by width."""
    problem = Problem(dissimilarity(X, "l2"), np.ones(len(X)), len(medoids), "build", 300, 2**31)
    judged, alone, beside = 0, np.zeros(len(_WIDTHS)), np.zeros(len(_WIDTHS))
    with Threads() as threads:
        run = Run(problem, threads, np.random.RandomState(seed), Tally())
        places = OneShard(problem, run)
        search, shard = Search(places, places.strata, 0.0), places.shard
        assignment = RowSource(problem, run).assign(medoids)
        places.follow(assignment)
        search.begin(assignment.medoids, [], assignment.loss / len(X), swaps=True)
        rows = np.setdiff1d(run.random.choice(len(X), 400, replace=False), medoids)
        search._learn(rows.tolist())
        exact = {i: search._known[i] for i in rows.tolist()}
        pivots = sorted(exact, key=exact.__getitem__)[:8]
        search._known = {i: search._known[i] for i in pivots}
        for depth in (0, 1):
            view = search._view(depth)
            for at, width in enumerate(_WIDTHS):
                for near, misses in (([], alone), (search._pivots(view), beside)):
                    shard.restore_left(np.setdiff1d(rows, pivots))
                    shard.judge(view, Bar(np.inf, width), near, afresh=False)
                    found = zip(shard.rows_left().tolist(), shard._lower, strict=True)
                    misses[at] += sum(lower > exact[i] for i, lower in found)
            judged += len(shard.rows_left())
    return judged, alone, beside
