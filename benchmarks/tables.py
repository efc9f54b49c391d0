"""The tables: each returns Markdown, with the bar beside what was measured."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from benchmarks.datasets import mnist
from benchmarks.measure import in_turns, peak_memory, seconds_of
from benchmarks.paper import agreement, counts, coverage, losses
from medoids import k_medoids

__all__ = ["FULL", "PAPER", "TABLES"]


def exact() -> str:
    """fastpam1 against a full matrix and the package kmedoids, MNIST 10,000."""
    import kmedoids
    from sklearn.metrics import pairwise_distances

    X = mnist()[:10_000].copy()
    k_medoids(X, 2, algorithm="fastpam1")  # compile

    def theirs():  # type: ignore[no-untyped-def]
        D = pairwise_distances(X)
        return kmedoids.fastpam1(D, kmedoids.pam_build(D, 10).medoids)

    timed = in_turns({"ours": lambda: k_medoids(X, 10, algorithm="fastpam1"), "theirs": theirs}, 3)
    (ours, found), (peers, reference) = timed["ours"], timed["theirs"]
    load = "from benchmarks.datasets import mnist\nfrom medoids import k_medoids\nX = mnist()[:10_000].copy()"
    warm = f"{load}\nk_medoids(X[:3100], 2, algorithm='fastpam1')"
    matrix = 4 * len(X) ** 2
    memory = peak_memory(warm, "k_medoids(X, 10, algorithm='fastpam1')")
    return "\n".join(
        [
            "| MNIST 10,000, k = 10, euclidean | seconds | mean loss |",
            "|---|---|---|",
            f"| pairwise_distances, kmedoids.pam_build, kmedoids.fastpam1 | {peers:.2f} | {reference.loss / 1e4:.6f} |",
            f"| medoids, algorithm='fastpam1' | {ours:.2f} | {found.loss:.6f} |",
            f"| ratio (bar: at most 0.33) | {ours / peers:.3f} | |",
            f"| memory above the process's / float32 matrix (bar: at most 1.2) | {memory / matrix:.3f} | |",
        ]
    )


def startup() -> str:
    """A new process that imports and fits iris, against scikit-learn's KMeans."""

    def run(module: str, name: str):  # type: ignore[no-untyped-def]
        code = f"from sklearn.datasets import load_iris; from {module} import {name}; {name}(3).fit(load_iris().data)"
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    timed = in_turns({"ours": run("medoids", "KMedoids"), "KMeans": run("sklearn.cluster", "KMeans")}, 7)
    ours, theirs = timed["ours"][0], timed["KMeans"][0]
    return "\n".join(
        [
            "| a new process: import, fit iris, k = 3 | seconds |",
            "|---|---|",
            f"| scikit-learn's KMeans | {theirs:.2f} |",
            f"| KMedoids | {ours:.2f} |",
            f"| ratio (bar: at most 1.5) | {ours / theirs:.2f} |",
        ]
    )


def bandit() -> str:
    """banditpam++ against the package banditpam, MNIST 10,000; one run of the package, which takes minutes."""
    from banditpam import KMedoids as Theirs

    X = mnist()[:10_000].copy()
    k_medoids(X[:4000], 3, algorithm="banditpam++", random_state=0)  # compile
    ours, found = seconds_of(lambda: k_medoids(X, 10, algorithm="banditpam++", random_state=0))
    model = Theirs(n_medoids=10, algorithm="BanditPAM")
    seconds, _ = seconds_of(lambda: model.fit(X, "L2"))
    again, _ = seconds_of(lambda: k_medoids(X, 10, algorithm="banditpam++", random_state=1))
    theirs = np.sqrt(((X[:, None] - X[np.asarray(model.medoids)]) ** 2).sum(axis=2)).min(axis=1).mean()
    paired, other = seconds_of(lambda: k_medoids(X, 10, algorithm="pairedpam", random_state=0))
    return "\n".join(
        [
            "| MNIST 10,000, k = 10, euclidean | seconds | mean loss | banditpam's time / this |",
            "|---|---|---|---|",
            f"| banditpam 6.0.2 | {seconds:.1f} | {theirs:.6f} | 1 |",
            f"| medoids, algorithm='banditpam++', before and after it | {ours:.1f}, {again:.1f} | {found.loss:.6f} | "
            f"{seconds / max(ours, again):.1f} (bar: 10) |",
            f"| medoids, algorithm='pairedpam' | {paired:.1f} | {other.loss:.6f} | {seconds / paired:.1f} |",
        ]
    )


def _floor(X: np.ndarray, distances: int) -> float:
    """Seconds that BLAS alone needs for so many distances between rows of X, in float32 and on all cores."""
    A, B = X[:20_000].astype(np.float32), X[:1024].astype(np.float32).T.copy()
    seconds, _ = seconds_of(lambda: [A @ B for _ in range(3)])
    return seconds * distances / (3 * len(A) * B.shape[1])


def paired() -> str:
    """PairedPAM beside scikit-learn's KMeans on MNIST, k = 10."""
    from sklearn.cluster import KMeans

    lines = [
        "| images | KMeans(n_init=1), s | PairedPAM, s | ratio | mean loss | distances a point | time / floor |",
        "|---|---|---|---|---|---|---|",
    ]
    k_medoids(mnist()[:4000], 3, algorithm="pairedpam", random_state=0)  # compile
    for n in (5_000, 20_000, 70_000):
        X = mnist()[:n].copy()
        counts: list[int] = []
        seeds = iter(range(100))

        def ours(X=X, counts=counts, seeds=seeds):  # type: ignore[no-untyped-def]
            found = k_medoids(X, 10, algorithm="pairedpam", random_state=next(seeds))
            counts.append(found.n_evaluations)
            return found

        other = iter(range(100))
        kmeans = lambda X=X, other=other: KMeans(10, n_init=1, random_state=next(other)).fit(X)  # noqa: E731
        timed = in_turns({"KMeans": kmeans, "PairedPAM": ours}, 3)
        (theirs, _), (seconds, found) = timed["KMeans"], timed["PairedPAM"]
        mean = float(np.mean(counts))
        lines.append(
            f"| {n:,} | {theirs:.2f} | {seconds:.2f} | {seconds / theirs:.2f} | {found.loss:.6f} | {mean / n:,.0f} | "
            f"{seconds / _floor(X, int(mean)):.1f} |"
        )
    return "\n".join([*lines, "", "Medians of 3 seeds; floor: what BLAS needs for just the distances used."])


TABLES = {"exact": exact, "startup": startup, "paired": paired}
# Minutes each, for the peers that take them.
FULL = {"bandit": bandit}
# Checks of the paper's claims: counts and losses, not times; up to an hour.
PAPER = {"losses": losses, "agreement": agreement, "counts": counts, "coverage": coverage}
