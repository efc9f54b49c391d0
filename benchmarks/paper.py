"""Claims of the paper, checked on the paper's own samples and on random subsets."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from benchmarks.datasets import METRIC, logged_runs, paper_sample, rows_of
from medoids import Clustering, k_medoids
from medoids.bandit import Independent
from medoids.distances import dissimilarity

__all__ = ["agreement", "counts", "coverage", "losses"]

FAMILY = {"BP": "banditpam", "BP+VA": "banditpam+va", "BP+PIC": "banditpam+pic", "BP++": "banditpam++"}


def _fit(X: np.ndarray, k: int, name: str, algorithm: str, **options: object) -> Clustering:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # T = 10 is meant
        return k_medoids(X, k, metric=METRIC[name], algorithm=algorithm, **options)


def losses() -> str:
    """Loss of the four variants on the authors' samples, T = 10, beside their logs and exact PAM."""
    lines = [
        "| sample | algorithm | mean loss | / logged BP++ - 1 | / PAM with T swaps - 1 | swaps | distances a point |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, k in [("MNIST", 10), ("CIFAR10", 10), ("NEWSGROUPS", 5)]:
        X = paper_sample(name, 10_000)
        logged = next(
            float(run["final_loss"])
            for run in logged_runs()
            if (run["dataset"], run["algorithm"], run["n"], run["k"], run["T"], run["swap_confidence"])
            == (name, "BP++", "10000", str(k), "10", "5")
        )
        pam = _fit(X, k, name, "fastpam1", max_iter=10)
        for label, algorithm in [("PAM (fastpam1)", "fastpam1"), *FAMILY.items()]:
            found = pam if algorithm == "fastpam1" else _fit(X, k, name, algorithm, max_iter=10, random_state=0)
            lines.append(
                f"| {name} 10,000, k = {k} | {label} | {found.loss:.6f} | {found.loss / logged - 1:.1e} | "
                f"{found.loss / pam.loss - 1:.1e} | {found.n_swaps} | {found.n_evaluations / 1e4:,.0f} |"
            )
    return "\n".join(lines)


def subsets(count: int, sizes: tuple[int, ...], ks: tuple[int, ...]):  # type: ignore[no-untyped-def]
    """Yield (name, n, k, X, seed) over the five sets in turn, sizes and ks alternating."""
    for seed, (name, n, k) in zip(range(count), _forever(product(METRIC, sizes, ks)), strict=False):
        yield name, n, k, rows_of(name, n, np.random.RandomState(seed)), seed


def _forever(items):  # type: ignore[no-untyped-def]
    items = list(items)
    while True:
        yield from items


def agreement() -> str:
    """How often BanditPAM++ gives PAM's medoids: 100 random subsets, and digits over 50 seeds."""
    same: dict[str, list[bool]] = {}
    for name, _, k, X, seed in subsets(100, (1000, 1500, 2000), (3, 5, 10)):
        pam = _fit(X, k, name, "fastpam1")
        found = _fit(X, k, name, "banditpam++", random_state=seed)
        rows = (X[np.sort(pam.medoid_indices)], X[np.sort(found.medoid_indices)])
        same.setdefault(name, []).append(bool(np.array_equal(*rows)))
    X = load_digits().data
    pam = k_medoids(X, 10)
    digits = [
        sorted(k_medoids(X, 10, algorithm="banditpam++", random_state=seed).medoid_indices)
        == sorted(pam.medoid_indices)
        for seed in range(50)
    ]
    rows = [f"| {name} ({METRIC[name]}) | {sum(hits)} of {len(hits)} |" for name, hits in same.items()]
    total = sum(sum(hits) for hits in same.values())
    return "\n".join(
        [
            "| n = 1,000 to 2,000, k = 3, 5, 10 | PAM's medoids |",
            "|---|---|",
            *rows,
            f"| all (bar: 99) | {total} of 100 |",
            f"| digits, k = 10, 50 seeds (bar: 50) | {sum(digits)} of 50 |",
        ]
    )


def counts() -> str:
    """Distances computed by the four variants, mean of 5 seeds."""
    lines = [f"| subset | {' | '.join(FAMILY)} | BP / BP++ |", "|---|---|---|---|---|---|"]
    for name, k in [("MNIST", 5), ("MNIST", 10), ("MNIST", 15), ("CIFAR10", 10), ("NEWSGROUPS", 5)]:
        n = 1000 if name == "CIFAR10" else 2000
        X = rows_of(name, n, np.random.RandomState(0))
        mean = {
            label: np.mean([_fit(X, k, name, a, max_iter=10, random_state=s).n_evaluations for s in range(5)])
            for label, a in FAMILY.items()
        }
        cells = " | ".join(f"{mean[label] / n:,.0f}" for label in FAMILY)
        lines.append(f"| {name} {n:,}, k = {k} | {cells} | {mean['BP'] / mean['BP++']:.2f} |")
    return "\n".join([*lines, "", "Distances a point, all phases."])


def coverage() -> str:
    """How often the true mean of a real arm leaves its interval: MNIST 5,000, BUILD's first step, t = 100 ... 1,000."""
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
