"""Tables of few columns: the default beside k-means and PAM's path; and how often sampling misses PAM's loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import mean, median

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans

from benchmarks.datasets import covertype, dry_bean, letter
from benchmarks.measure import seconds_of
from medoids import k_medoids

__all__ = ["agreement", "birch", "gmm", "heavy", "tables", "uniform"]

_SEEDS = 5


def uniform(n: int = 100_000) -> np.ndarray:
    return np.random.default_rng(0).random((n, 2))


def birch(n: int = 100_000) -> np.ndarray:
    """100 Gaussians of standard deviation 1 on a grid with spacing 4."""
    random = np.random.default_rng(0)
    centres = np.stack(np.meshgrid(np.arange(10), np.arange(10)), -1).reshape(-1, 2) * 4.0
    return centres[random.integers(0, 100, n)] + random.normal(size=(n, 2))


def gmm(n: int = 100_000, columns: int = 10) -> np.ndarray:
    """30 Gaussians of different sizes."""
    random = np.random.default_rng(0)
    centres, sizes = random.normal(size=(30, columns)) * 3, random.uniform(0.5, 2, 30)
    label = random.integers(0, 30, n)
    return (centres[label] + random.normal(size=(n, columns)) * sizes[label, None]).astype(np.float32)


def heavy(n: int = 58_000) -> np.ndarray:
    """Integers with outliers."""
    r = np.random.default_rng(0)
    scale = 1 + (r.random(n) < 0.01)[:, None] * r.pareto(0.8, (n, 1)) * 20
    return np.round(r.normal(size=(n, 9)) * r.uniform(2, 40, 9) * scale)


_SETS: dict[str, tuple[Callable[[], np.ndarray], str]] = {
    "uniform 100,000 x 2": (uniform, "l2"),
    "birch 100,000 x 2": (birch, "l2"),
    "gmm 100,000 x 10": (gmm, "l2"),
    "heavy 58,000 x 9": (heavy, "l2"),
    "letter 20,000 x 16": (lambda: letter().astype(np.float64), "l2"),
    "dry bean 13,611 x 16": (dry_bean, "l2"),
    "gmm 1,000,000 x 10": (lambda: gmm(1_000_000), "l2"),
    "covertype 581,012 x 54": (lambda: covertype().astype(np.float32), "l2"),
    "covertype, manhattan": (lambda: covertype().astype(np.float32), "l1"),
}


def tables() -> str:
    """Tables, k = 10: the default in turns with KMeans(n_init=1), medians of five seeds; losses beside PAM's."""
    k_medoids(gmm(6_000), 10, random_state=0)  # compile
    k_medoids(heavy(6_000), 10, random_state=0)
    k_medoids(gmm(6_000), 10, swap="best", algorithm="pairedpam", random_state=0)
    k_medoids(gmm(6_000), 10, metric="l1", random_state=0)
    lines = [
        "| data | KMeans, s | default, s | / KMeans | distances a point | PAM's path, s | distances a point "
        "| mean loss / PAM's - 1 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, (make, metric) in _SETS.items():
        lines.append(_row(name, make(), metric))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _row(name: str, X: np.ndarray, metric: str) -> str:
    kmeans, ours, counts, losses = [], [], [], []
    for seed in range(_SEEDS):
        kmeans.append(seconds_of(partial(KMeans(10, n_init=1, random_state=seed).fit, X))[0])
        seconds, found = seconds_of(partial(k_medoids, X, 10, metric=metric, random_state=seed))
        ours.append(seconds)
        counts.append(found.n_evaluations / len(X))
        losses.append(found.loss)
    path = partial(k_medoids, X, 10, metric=metric, algorithm="pairedpam", swap="best", random_state=0)
    best, pam = seconds_of(path)
    return (
        f"| {name} | {median(kmeans):.2f} | {median(ours):.2f} | {median(ours) / median(kmeans):.1f} "
        f"| {mean(counts):,.0f} | {best:.1f} | {pam.n_evaluations / len(X):,.0f} "
        f"| {100 * (mean(losses) / pam.loss - 1):+.2f}% |"
    )


def _kinds() -> dict[str, Callable[[np.random.RandomState, int], tuple[np.ndarray, str, np.ndarray | None]]]:
    def blobs(r: np.random.RandomState, n: int, p: int = 4) -> np.ndarray:
        return r.normal(size=(n, p)) + 4 * r.normal(size=(8, p))[r.randint(0, 8, n)]

    def unequal(r: np.random.RandomState, n: int) -> np.ndarray:
        label = np.searchsorted(np.cumsum([0.9, 0.06, 0.03]), r.uniform(size=n))
        return r.normal(size=(n, 3)) + 10.0 * label[:, None]

    def outliers(r: np.random.RandomState, n: int) -> np.ndarray:
        return r.normal(size=(n, 3)) * np.where(r.uniform(size=n) < 0.01, 50, 1)[:, None]

    def asymmetric(r: np.random.RandomState, n: int) -> np.ndarray:
        X = blobs(r, n, 3)
        return np.maximum(X[:, None, :] - X[None], 0).sum(axis=2) + 0.1 * np.abs(X[:, None, :] - X[None]).sum(axis=2)

    def heavy(r: np.random.RandomState, n: int) -> np.ndarray:
        w = np.ones(n)
        w[r.choice(n, 5, replace=False)] = 1e5
        return w

    return {
        "Gaussian": lambda r, n: (r.normal(size=(n, 5)), "l2", None),
        "clusters": lambda r, n: (blobs(r, n), "l2", None),
        "uniform, 1 column": lambda r, n: (r.uniform(size=(n, 1)), "l2", None),
        "outliers": lambda r, n: (outliers(r, n), "l2", None),
        "unequal clusters": lambda r, n: (unequal(r, n), "l1", None),
        "Cauchy": lambda r, n: (r.standard_cauchy(size=(n, 2)), "l2", None),
        "Pareto": lambda r, n: (r.pareto(1.2, (n, 2)), "l1", None),
        "duplicates": lambda r, n: (blobs(r, n // 5, 2)[r.randint(0, n // 5, n)], "l2", None),
        "integers": lambda r, n: (r.randint(0, 6, (n, 3)).astype(float), "l1", None),
        "one-hot": lambda r, n: (np.eye(12)[r.randint(0, 12, (n, 3))].reshape(n, -1), "hamming", None),
        "sparse": lambda r, n: (scipy.sparse.random(n, 50, 0.1, "csr", random_state=r), "cosine", None),
        "asymmetric": lambda r, n: (asymmetric(r, min(n, 2000)), "precomputed", None),
        "weights Pareto(1.2)": lambda r, n: (blobs(r, n, 3), "l2", r.pareto(1.2, n) + 0.01),
        "5 weights of 1e5": lambda r, n: (r.normal(size=(n, 2)), "l2", heavy(r, n)),
    }


def agreement(problems: int = 3_000) -> str:
    """Losses of PairedPAM above those of exact PAM: random problems of 14 kinds, n = 700 to 5,000, k = 2 to 10."""
    kinds = _kinds()
    each = -(-problems // len(kinds))
    lines = ["| kind | problems | worse | largest excess |", "|---|---|---|---|"]
    total = 0
    for number, (kind, make) in enumerate(kinds.items()):
        worse, most = 0, 0.0
        for seed in range(each):
            random = np.random.RandomState(1000 * number + seed)
            n, k = random.randint(700, 5001), random.randint(2, 11)
            X, metric, weights = make(random, n)
            settings = {"metric": metric, "sample_weight": weights, "random_state": seed}
            exact = k_medoids(X, k, algorithm="fastpam1", **settings)
            found = k_medoids(X, k, algorithm="pairedpam", swap="best", **settings)
            excess = found.loss / exact.loss - 1 if exact.loss else 0.0
            worse, most = worse + (excess > 1e-9), max(most, excess)
        total += worse
        lines.append(f"| {kind} | {each} | {worse} | {100 * most:.2f}% |")
        print(lines[-1], flush=True)
    lines.append(f"| all | {each * len(kinds)} | {total} | |")
    return "\n".join(lines)
