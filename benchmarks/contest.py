"""Our algorithms and the peers side by side in one run: time, ratio, loss, distances, memory, and the floor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import load
from benchmarks.measure import in_turns, peak_memory
from medoids import k_medoids

__all__ = ["Contestant", "contest", "contestants", "draw"]

# Distances by which the floor is measured: some tenths of a second.
_PRODUCTS = 1 << 24

# How a contestant fits X; each is also run as text in a process of its own, for its memory.
_CODE = {
    "KMeans(n_init=1)": "from sklearn.cluster import KMeans\nmodel = KMeans({k}, n_init=1, random_state={seed}).fit(X)",
    "MiniBatchKMeans": (
        "from sklearn.cluster import MiniBatchKMeans\n"
        "model = MiniBatchKMeans({k}, n_init=1, random_state={seed}).fit(X)"
    ),
    "onebatch: OneBatchPAM": (
        "from onebatch import OneBatchPAM\n"
        "medoids = OneBatchPAM({k}, distance='{metric}', random_state={seed}).fit(X).medoid_indices_"
    ),
    "pairwise_distances, kmedoids.fasterpam": (
        "import kmedoids\nfrom sklearn.metrics import pairwise_distances\n"
        # A copy, because OpenBLAS 0.3.31 crashes in the product of 20,000 rows with themselves in two threads.
        "D = pairwise_distances(X, X.copy(), metric='{metric}')\n"
        "medoids = kmedoids.fasterpam(D, {k}, random_state={seed}).medoids"
    ),
}
_OURS = "from medoids import k_medoids\nfound = k_medoids(X, {k}, metric='{metric}', random_state={seed}, {keywords})"


@dataclass
class Contestant:
    """One way to cluster, and what was found out about it."""

    name: str
    code: str
    seconds: float = float("nan")
    medoids: list[np.ndarray] = field(default_factory=list)  # of the peers, whose losses are computed afterwards
    losses: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    memory: int = 0

    @property
    def ours(self) -> bool:
        return self.name.startswith("medoids")


def contestants(peers: list[str], ours: dict[str, str]) -> list[Contestant]:
    """Return peers by name, and our own by what follows ``medoids`` and the keywords of the fit."""
    return [Contestant(name, _CODE[name]) for name in peers] + [
        Contestant(f"medoids, {name}", _OURS.replace("{keywords}", keywords)) for name, keywords in ours.items()
    ]


def contest(
    data: str,
    n: int,
    k: int,
    metric: str,
    entries: list[Contestant],
    *,
    repetitions: int,
    memory: bool = True,
    most: int = 1 << 31,
) -> str:
    """Run all in turns with seeds 0, 1, ...; return the table. Ratios are to the first contestant's time.

    ``most`` is about the memory that any of them uses.
    """
    X = load(data, n)
    _compile(X, metric)
    works = {c.name: _fit(c, X, k, metric) for c in entries}
    timed = in_turns(works | {"floor": _products(X, metric)}, repetitions, most)
    for c in entries:
        c.seconds = timed[c.name][0]
        if memory:
            warm = "import medoids\nmedoids.k_medoids(X[:3200], 2, metric='{metric}', algorithm='pairedpam')\n"
            before = f"from benchmarks.datasets import load\nX = load({data!r}, {n})\n" + (warm if c.ours else "")
            c.memory = peak_memory(before.format(metric=metric), c.code.format(k=k, metric=metric, seed=0))
    return _table(data, X, k, metric, entries, repetitions, timed["floor"][0] / _PRODUCTS)


def _compile(X: np.ndarray, metric: str) -> None:
    for swap in ("best", "eager"):
        k_medoids(X[:3200], 3, metric=metric, algorithm="pairedpam", swap=swap, random_state=0)
    k_medoids(X[:3200], 3, metric=metric, algorithm="fastpam1")


def _fit(c: Contestant, X: np.ndarray, k: int, metric: str) -> Callable[[], Any]:
    seeds: Iterator[int] = count()

    def fit() -> None:
        scope: dict[str, Any] = {"X": X}
        exec(c.code.format(k=k, metric=metric, seed=next(seeds)), scope)  # the same text as in the memory run
        found = scope.get("found")
        if found is not None:
            c.losses.append(found.loss)
            c.distances.append(found.n_evaluations / len(X))
        elif "medoids" in scope:
            c.medoids.append(np.asarray(scope["medoids"]))

    return fit


def _products(X: np.ndarray, metric: str) -> Callable[[], Any]:
    """Return what lets BLAS (or our kernel, for other metrics) alone make `_PRODUCTS` distances, on all cores."""
    columns = 1024
    rows = _PRODUCTS // columns
    if metric in ("euclidean", "cosine"):
        A, B = X[:rows].astype(np.float32), X[:columns].astype(np.float32).T.copy()
        return lambda: A @ B
    from medoids.distances import dissimilarity
    from medoids.engine.threads import Threads, spans

    distance = dissimilarity(X, metric, None)
    distance.prepare()
    tiles = spans(rows, 256)

    def run() -> None:
        with Threads() as threads:
            threads.map(lambda tile: distance.block(tile, slice(0, columns)), tiles)

    return run


def _exact_loss(X: np.ndarray, metric: str, medoids: np.ndarray) -> float:
    from sklearn.metrics import pairwise_distances_argmin_min

    return float(pairwise_distances_argmin_min(X, X[medoids], metric=metric)[1].mean())


def _table(
    data: str, X: np.ndarray, k: int, metric: str, entries: list[Contestant], repetitions: int, one: float
) -> str:
    """``one`` is the seconds of one distance, at best."""
    for c in entries:
        c.losses += [_exact_loss(X, metric, medoids) for medoids in c.medoids]
    pam = min((min(c.losses) for c in entries if "PAM's path" in c.name), default=float("nan"))
    lines = [
        f"| {data} {len(X):,}, {metric}, k = {k} | seconds | / {entries[0].name} | loss / PAM's - 1 | "
        "distances a point | memory, MiB | time / floor |",
        "|---|---|---|---|---|---|---|",
    ]
    for c in entries:
        loss = f"{np.mean(c.losses) / pam - 1:+.1e}" if c.losses and pam == pam else "-"
        used = f"{np.mean(c.distances):,.0f}" if c.distances else "-"
        floor = f"{c.seconds / (one * np.mean(c.distances) * len(X)):.1f}" if c.distances else "-"
        memory = f"{c.memory / 2**20:,.0f}" if c.memory else "-"
        ratio = c.seconds / entries[0].seconds
        lines.append(f"| {c.name} | {c.seconds:.2f} | {ratio:.2f} | {loss} | {used} | {memory} | {floor} |")
    note = (
        f"Medians of {repetitions} seeds, in turns. Memory: what a fit adds to a process that holds X. Floor: "
        "what BLAS or the kernel needs for just the distances used, measured in the same turns."
    )
    return "\n".join([*lines, "", note])


def draw(title: str, entries: list[Contestant], path: Path) -> None:
    """Write a picture of the times and losses."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.45 * len(entries) + 1))
    names = [c.name for c in entries][::-1]
    axes.barh(
        names, [c.seconds for c in entries][::-1], color=["#0072B2" if c.ours else "#999999" for c in entries][::-1]
    )
    for y, c in enumerate(entries[::-1]):
        loss = f", loss {np.mean(c.losses):.4f}" if c.losses else ""
        axes.text(c.seconds, y, f" {c.seconds:.2f} s{loss}", va="center", fontsize=8)
    axes.set_title(title, fontsize=10)
    axes.set_xlim(0, 1.45 * max(c.seconds for c in entries))
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
