"""The tables: each returns Markdown, with the bar beside what was measured."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.algorithms import algorithms
from benchmarks.cluster import cluster
from benchmarks.contest import contest, contestants, draw
from benchmarks.coverage import coverage
from benchmarks.datasets import METRIC, load, mnist, rows_of, words
from benchmarks.engine import agreement, tables
from benchmarks.measure import fresh, in_turns, peak_memory, seconds_of
from benchmarks.optimum import optimum
from benchmarks.restarts import restarts
from medoids import cluster_medoids, k_medoids

__all__ = ["FULL", "RESULTS", "TABLES"]

RESULTS = Path(__file__).parent / "results"


def exact() -> str:
    """fastpam1 against a full matrix and the package kmedoids, MNIST 10,000."""
    import kmedoids
    from sklearn.metrics import pairwise_distances

    X = mnist()[:10_000].copy()
    k_medoids(X, 2, algorithm="fastpam1")  # compile

    def theirs():  # type: ignore[no-untyped-def]
        D = pairwise_distances(X)
        return kmedoids.fastpam1(D, kmedoids.pam_build(D, 10).medoids)

    timed = in_turns({"ours": lambda: k_medoids(X, 10, algorithm="fastpam1"), "theirs": theirs}, 2)
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


def typical() -> str:
    """cluster_medoids against KMeans, whose 20 clusters it looks at, 100,000 x 50."""
    from scipy.spatial.distance import cdist
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs

    data = {
        "blobs of deviation 1": make_blobs(100_000, 50, centers=20, random_state=0)[0],
        "blobs of deviation 8": make_blobs(100_000, 50, centers=20, cluster_std=8, random_state=0)[0],
        "uniform": np.random.default_rng(0).random((100_000, 50)),
    }
    lines = [
        "| data | KMeans(20, n_init=1), s | cluster_medoids, s | ratio (bar: 1.5) | distances | as brute force |",
        "|---|---|---|---|---|---|",
    ]
    for name, X in data.items():
        labels = KMeans(20, n_init=1, random_state=0).fit_predict(X)
        cluster_medoids(X[:4000], labels[:4000])  # compile
        works = {
            "kmeans": partial(KMeans(20, n_init=1, random_state=0).fit, X),
            "ours": partial(cluster_medoids, X, labels),
        }
        timed = in_turns(works, 3)
        (kmeans, _), (ours, found) = timed["kmeans"], timed["ours"]
        right = 0
        for number, row in enumerate(found.medoid_indices):
            members = np.flatnonzero(labels == number)
            right += int(row == members[cdist(X[members], X[members]).sum(axis=1).argmin()])
        share = np.sum(found.sizes.astype(float) ** 2) / found.n_evaluations
        lines.append(f"| {name} | {kmeans:.2f} | {ours:.2f} | {ours / kmeans:.2f} | 1 in {share:.0f} | {right} of 20 |")
    return "\n".join(lines)


def startup() -> str:
    """A new process that imports and fits iris, against scikit-learn's KMeans."""

    def run(module: str, name: str):  # type: ignore[no-untyped-def]
        code = f"from sklearn.datasets import load_iris; from {module} import {name}; {name}(3).fit(load_iris().data)"
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    timed = in_turns({"ours": run("medoids", "KMedoids"), "KMeans": run("sklearn.cluster", "KMeans")}, 5, memory=0)
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


def peers() -> str:
    """k-medoids at the speed of k-means: our algorithms and the peers on MNIST, k = 10."""
    everyone = contestants(
        ["KMeans(n_init=1)", "MiniBatchKMeans", "onebatch: OneBatchPAM", "pairwise_distances, kmedoids.fasterpam"],
        {
            "pairedpam (PAM's path)": "algorithm='pairedpam', swap='best'",
            "pairedpam, swap='eager'": "algorithm='pairedpam', swap='eager'",
            "fastpam1 (matrix)": "algorithm='fastpam1'",
        },
    )
    small = contest("MNIST", 20_000, 10, "euclidean", everyone, repetitions=3)
    # No n x n matrix of 70,000 rows.
    few = contestants(
        ["KMeans(n_init=1)", "MiniBatchKMeans", "onebatch: OneBatchPAM"],
        {
            "pairedpam (PAM's path)": "algorithm='pairedpam', swap='best'",
            "pairedpam, swap='eager'": "algorithm='pairedpam', swap='eager'",
        },
    )
    large = contest("MNIST", 70_000, 10, "euclidean", few, repetitions=3, most=1 << 30)
    draw("MNIST, 70,000 images, k = 10", few, RESULTS / "peers.svg")
    return f"{small}\n\n{large}\n\n![Seconds of each](peers.svg)"


def cifar() -> str:
    """L1: CIFAR10, k = 10, beside KMeans, and beside banditpam on 5,000 images (once)."""
    from banditpam import KMedoids as Theirs

    entries = contestants(["KMeans(n_init=1)"], {"pairedpam (PAM's path)": "algorithm='pairedpam', swap='best'"})
    table = contest("CIFAR10", 20_000, 10, "manhattan", entries, repetitions=3)
    X = load("CIFAR10", 5_000).astype(float)
    k_medoids(X[:3200], 3, metric="l1", algorithm="pairedpam", random_state=0)  # compile
    ours, _ = seconds_of(lambda: k_medoids(X, 10, metric="l1", algorithm="pairedpam", random_state=0))
    model = Theirs(n_medoids=10, algorithm="BanditPAM")
    theirs, _ = seconds_of(lambda: model.fit(X, "L1"))
    line = f"banditpam 6.0.2 on 5,000: {theirs:.1f} s, ours {ours:.2f} s: {theirs / ours:.0f} times (bar: 60)."
    return f"{table}\n\n{line}"


def covertype() -> str:
    """581,012 rows of covertype, k = 10: seconds and memory."""
    lines = [
        "| metric, path | seconds (bar: 60) | memory above X, MiB (bar: 2,048) | distances a point | swaps | loss |",
        "|---|---|---|---|---|---|",
    ]
    for metric in ("manhattan", "euclidean"):
        for swap in ("best", "eager"):
            keywords = f"metric='{metric}', algorithm='pairedpam', swap='{swap}', random_state=0"
            before = (
                "from medoids import k_medoids\nfrom benchmarks.datasets import load\nX = load('covertype', 581_012)\n"
                f"k_medoids(X[:4000], 3, {keywords})"
            )
            fit = f"found = k_medoids(X, 10, {keywords})"
            answer = "[found.n_evaluations / len(X), found.n_swaps, found.loss]"
            memory, seconds, (used, swaps, loss) = fresh(before, fit, answer)
            row = f"{seconds:.1f} | {memory / 2**20:,.0f} | {used:,.0f} | {swaps} | {loss:.3f}"
            lines.append(f"| {metric}, {swap} | {row} |")
    return "\n".join(lines)


def growth() -> str:
    """How time grows: in n on MNIST at k = 10, and in k on MNIST 20,000, where auto takes the matrix."""
    k_medoids(mnist()[:4000], 3, algorithm="pairedpam", random_state=0)  # compile
    k_medoids(mnist()[:4000], 3, algorithm="fastpam1")
    sizes = (5_000, 10_000, 20_000, 40_000, 70_000)
    in_n = in_turns({n: _fit_mnist(n, 10, "pairedpam") for n in sizes}, 3)
    ks = (5, 10, 20, 50, 100, 200)
    in_k = in_turns({k: _fit_mnist(20_000, k, "auto") for k in ks[:-1]}, 3)
    # The first medoid of the trace is there when the matrix is.
    exact_ = in_turns({k: _fit_mnist(20_000, k, "fastpam1") for k in ks[1:]}, 2)
    after = {k: found.trace[-1].seconds - found.trace[0].seconds for k, (_, found) in exact_.items()}
    exponents = [
        _exponent(sizes, [in_n[n][0] for n in sizes]),
        _exponent(ks[:-1], [in_k[k][0] for k in ks[:-1]]),
        _exponent(ks[1:], [after[k] for k in ks[1:]]),
    ]
    return "\n".join(
        [
            "| n, pairedpam, k = 10 | " + " | ".join(f"{n:,}" for n in sizes) + " | exponent (bar: 1.2) |",
            "|---" * (len(sizes) + 2) + "|",
            "| seconds | " + " | ".join(f"{in_n[n][0]:.2f}" for n in sizes) + f" | {exponents[0]:.2f} |",
            "",
            "| k, n = 20,000 | " + " | ".join(map(str, ks)) + " | exponent |",
            "|---" * (len(ks) + 2) + "|",
            "| auto takes | " + " | ".join(in_k[k][1].algorithm for k in ks[:-1]) + " | | |",
            "| auto, seconds | "
            + " | ".join(f"{in_k[k][0]:.2f}" for k in ks[:-1])
            + f" | | {exponents[1]:.2f} (bar: 0.5) |",
            "| fastpam1, seconds after the first medoid | | "
            + " | ".join(f"{after[k]:.2f}" for k in ks[1:])
            + f" | {exponents[2]:.2f} (bar: 0.4) |",
        ]
    )


def _fit_mnist(n: int, k: int, algorithm: str):  # type: ignore[no-untyped-def]
    X = mnist()[:n].copy()
    return lambda: k_medoids(X, k, algorithm=algorithm, random_state=0)


def _exponent(x, y) -> float:  # type: ignore[no-untyped-def]
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def calls() -> str:
    """A Python callable, taken as asymmetric, on 3,000 words, k = 5: calls against n^2."""
    from rapidfuzz.distance import Levenshtein

    found = k_medoids(words(3_000), 5, metric=Levenshtein.distance, algorithm="pairedpam", random_state=0)
    return f"| distances / n^2 (bar: 0.5) |\n|---|\n| {found.n_evaluations / 3_000**2:.3f} |"


def first() -> str:
    """Seconds that the first fit of 4,000 rows in a new process takes above the second: kernels on disk, and not."""
    code = (
        "import numpy as np, time\nfrom medoids import k_medoids\n"
        "X = np.random.default_rng(0).normal(size=(4000, 20))\n"
        "def fit():\n    began = time.perf_counter()\n"
        "    k_medoids(X, 5, algorithm='pairedpam', random_state=0)\n    return time.perf_counter() - began\n"
        "print(fit() - fit())"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        seconds = []
        for _ in range(4):
            done = subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
            )
            seconds.append(float(done.stdout))
    cached = sorted(seconds[1:])[1]
    return f"| on disk (bar: 1) | not (bar: 12) |\n|---|---|\n| {cached:.2f} | {seconds[0]:.1f} |"


def large_k() -> str:
    """Large k: MNIST 20,000 at k = 100 against fasterpam, and 70,000, too many for PAM's path, against KMeans."""
    small = contest(
        "MNIST",
        20_000,
        100,
        "euclidean",
        contestants(["pairwise_distances, kmedoids.fasterpam"], {"auto (PAM's path)": "algorithm='auto'"}),
        repetitions=2,
        memory=False,
    )
    large = contest(
        "MNIST",
        70_000,
        100,
        "euclidean",
        contestants(["KMeans(n_init=1)"], {"auto (eager swaps)": "algorithm='auto'"}),
        repetitions=1,
        memory=False,
    )
    return f"{small}\n\n{large}"


def seeds() -> str:
    """Ten seeds on MNIST 70,000, k = 10: medoids of delta = 1/(k n^3), and distances used."""
    X, k = mnist(), 10
    strict = k_medoids(X, k, algorithm="pairedpam", swap="best", delta=1 / (k * len(X) ** 3), random_state=0)
    found = [k_medoids(X, k, algorithm="pairedpam", swap="best", random_state=seed) for seed in range(10)]
    same = sum(set(one.medoid_indices) == set(strict.medoid_indices) for one in found)
    used = [one.n_evaluations / len(X) for one in found]
    return "\n".join(
        [
            "| medoids of delta = 1/(k n^3) (bar: 10 of 10) | distances a point, mean (bar: 1,700) | of each seed |",
            "|---|---|---|",
            f"| {same} of 10 | {np.mean(used):,.0f} | {', '.join(f'{one:,.0f}' for one in used)} |",
            "",
            f"With delta = 1/(k n^3), seed 0: {strict.n_evaluations / len(X):,.0f} distances a point.",
        ]
    )


_DELTAS = {"w = 2.5": np.exp(-(2.5**2)), "w = 3": np.exp(-9.0), "default, w = 3.5": None, "w = 4": np.exp(-16.0)}


def delta() -> str:
    """PairedPAM's medoids against PAM's, and distances used, for several widths: 100 subsets for the default."""
    found: dict[str, list[tuple[bool, float]]] = {name: [] for name in [*_DELTAS, "1/(k n^3)"]}
    missed = []
    for number in range(100):
        random = np.random.RandomState(number)
        data = ("MNIST", "CIFAR10", "NEWSGROUPS", "LETTER", "SCRNA")[number % 5]
        # Wide rows are dear: fewer of them.
        n = 2_000 if data in ("CIFAR10", "SCRNA") else (2_000, 3_000, 4_000, 5_000)[number // 5 % 4]
        k = (5, 10, 20)[number // 20 % 3]
        X = rows_of(data, n, random)
        exact_ = k_medoids(X, k, metric=METRIC[data], algorithm="fastpam1")
        widths = _DELTAS | {"1/(k n^3)": 1 / (k * n**3)}
        for name, value in widths.items():
            if name.startswith("default") or number < 40:
                keywords = {"algorithm": "pairedpam", "swap": "best", "delta": value, "random_state": number}
                ours = k_medoids(X, k, metric=METRIC[data], **keywords)
                same = abs(ours.loss / exact_.loss - 1) < 1e-9
                found[name].append((same, ours.n_evaluations / n**2))
                if name.startswith("default") and not same:
                    missed.append(f"{data} {n:,}, k = {k}: loss {ours.loss / exact_.loss - 1:+.1e}")
    lines = ["| width | PAM's loss | of | distances / n^2 |", "|---|---|---|---|"]
    note = "Other widths saw the first 40 subsets, k = 5 and 10; the default also k = 20, which takes a larger share."
    for name, runs in found.items():
        lines.append(
            f"| {name} | {sum(same for same, _ in runs)} | {len(runs)} | {np.mean([share for _, share in runs]):.3f} |"
        )
    return "\n".join([*lines, "", f"Missed at the default: {'; '.join(missed) or 'none'}. {note}"])


TABLES = {
    "exact": exact,
    "startup": startup,
    "first": first,
    "calls": calls,
    "typical": typical,
    "tables": tables,
    "peers": peers,
}
# Minutes each, for the peers that take them.
FULL = {
    "bandit": bandit,
    "cluster": cluster,
    "cifar": cifar,
    "covertype": covertype,
    "growth": growth,
    "large_k": large_k,
    "seeds": seeds,
    "delta": delta,
    "agreement": agreement,
    "coverage": coverage,
    "optimum": optimum,
    "restarts": restarts,
    "algorithms": algorithms,
}
