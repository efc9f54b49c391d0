"""The tables: each returns Markdown, with the bar beside what was measured."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.datasets import mnist
from benchmarks.measure import in_turns, peak_memory
from benchmarks.paper import agreement, counts, coverage, losses
from medoids import k_medoids

__all__ = ["PAPER", "TABLES"]


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


TABLES = {"exact": exact, "startup": startup}
# Checks of the paper's claims: counts and losses, not times; up to an hour.
PAPER = {"losses": losses, "agreement": agreement, "counts": counts, "coverage": coverage}
