"""Known optima of p-median problems, and how near each method comes: ``python -m benchmarks.optimum [NAME ...]``."""

from __future__ import annotations

import argparse
import csv
import sys
import tarfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.datasets import FOLDER
from benchmarks.measure import machine, seconds_of
from medoids import certify, k_medoids

__all__ = ["Case", "cases", "optimum", "orlib", "tsplib"]

_PMEDIAN = FOLDER / "pmedian"
_STARTS, _RESTARTS = 5, (10, 50)


@dataclass(frozen=True)
class Case:
    """A problem of ``optima.csv``; ``distances`` reads it, ``vectors`` too where the distance is euclidean."""

    name: str
    p: int
    optimum: float
    distance: str
    distances: Callable[[], np.ndarray]
    vectors: Callable[[], np.ndarray] | None = None

    @property
    def family(self) -> str:
        if self.name.startswith("pmed"):
            return "OR-Library"
        if self.distance.startswith("floor"):
            return "TSPLIB, p <= 300" if self.p <= 300 else "TSPLIB, p > 300"
        return "not rounded"


@lru_cache(maxsize=1)
def orlib(name: str) -> np.ndarray:
    """Shortest paths of a graph of OR-Library; of a repeated edge the last line counts."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    with tarfile.open(_PMEDIAN / "orlib_pmed1-40.tar.xz") as archive:
        file = archive.extractfile(f"{name}.txt")
        assert file is not None
        numbers = np.array(file.read().split(), dtype=int)
    n, edges = numbers[:2]
    graph = np.zeros((n, n))
    for i, j, cost in numbers[3 : 3 + 3 * edges].reshape(-1, 3):
        graph[i - 1, j - 1] = graph[j - 1, i - 1] = cost
    return shortest_path(csr_array(graph), directed=False)


def tsplib(name: str) -> np.ndarray:
    """Coordinates of a file of TSPLIB."""
    lines = (_PMEDIAN / f"{name}.tsp").read_text().split("NODE_COORD_SECTION")[1].split("EOF")[0].strip().splitlines()
    return np.array([line.split()[1:3] for line in lines], dtype=float)


def _vectors(name: str) -> np.ndarray:
    from sklearn.datasets import load_digits, load_iris

    if name.endswith("iris"):
        return load_iris().data
    if name.endswith("digits"):
        return load_digits().data
    if name.startswith("ren2022/"):  # the last column is a label
        return np.loadtxt(_PMEDIAN / f"ren2022_{name.partition('/')[2]}.txt", delimiter=",")[:, :-1]
    return tsplib(name)


@lru_cache(maxsize=1)
def _matrix(name: str, distance: str) -> np.ndarray:
    from scipy.spatial.distance import cdist

    if name.startswith("pmed"):
        return orlib(name)
    X = _vectors(name)
    D = cdist(X, X, "sqeuclidean" if distance.startswith("sqeuclidean") else "euclidean")
    return np.floor(D) if distance.startswith("floor") else D


def cases() -> Iterator[Case]:
    """All problems of the folder with known optima."""
    with (_PMEDIAN / "optima.csv").open() as file:
        for row in csv.DictReader(file):
            name, distance = row["instance"], row["distance"]
            vectors = None
            if distance.startswith("euclidean"):
                vectors = lambda name=name: _vectors(name)  # noqa: E731
            read = lambda name=name, distance=distance: _matrix(name, distance)  # noqa: E731
            yield Case(name, int(row["p"]), float(row["optimum"]), distance, read, vectors)


@dataclass
class _Row:
    """Gaps to the optimum, as shares, and seconds of each method."""

    case: Case
    gaps: dict[str, float]
    seconds: dict[str, float]
    nodes: int
    proved: bool


def _measure(case: Case, seconds: float, peers: bool) -> _Row:
    """Run every method on a problem."""
    D, p = case.distances(), case.p
    gaps: dict[str, float] = {}
    took: dict[str, float] = {}

    def note(name: str, time: float, value: float) -> None:
        gaps[name], took[name] = value / case.optimum - 1, time

    def fit(**keywords: Any) -> tuple[float, Any]:
        return seconds_of(lambda: k_medoids(D, p, metric="precomputed", random_state=0, **keywords))

    time, pam = fit(algorithm="fastpam1")
    note("PAM", time, pam.inertia)
    for number in _RESTARTS:
        time, found = fit(algorithm="fastpam1", n_restarts=number)
        note(f"{number} restarts", time, found.inertia)
    time, certificate = seconds_of(lambda: certify(D, pam.medoid_indices, metric="precomputed"))
    note("certify", time, certificate.lower_bound * len(D))
    if peers:
        _peers(case, D, note)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says what is not proved
        time, found = fit(algorithm="optimal", time_limit=seconds)
    note("optimal", time, found.inertia)
    gaps["proved bound"] = found.lower_bound * len(D) / case.optimum - 1
    return _Row(case, gaps, took, found.nodes, found.proved)


def _peers(case: Case, D: np.ndarray, note: Callable[[str, float, float], None]) -> None:
    """The packages that compute the same loss: kmedoids, and banditpam where distances are euclidean and p small."""
    import kmedoids

    time, best = seconds_of(
        lambda: min(float(kmedoids.fasterpam(D, case.p, random_state=seed).loss) for seed in range(_STARTS))
    )
    note("fasterpam", time, best)
    if case.vectors is None or case.p > 10:
        return
    try:
        from banditpam import KMedoids
    except ImportError:
        return
    model = KMedoids(n_medoids=case.p, algorithm="BanditPAM")
    X = case.vectors()
    time, _ = seconds_of(lambda: model.fit(X, "L2"))
    note("banditpam", time, float(D[np.asarray(model.medoids)].min(axis=0).sum()))


def _compile() -> None:
    """Load what is compiled, so that the first problem does not pay for it."""
    D = np.random.default_rng(0).random((40, 40))
    k_medoids(D, 4, metric="precomputed", algorithm="optimal", gap=0.1)
    certify(D, np.arange(4), metric="precomputed")


_METHODS = ("PAM", "10 restarts", "50 restarts", "fasterpam", "banditpam", "certify", "optimal")


def _cell(row: _Row, method: str) -> str:
    if method not in row.gaps:
        return ""
    text = f"{100 * row.gaps[method]:+.3f}"
    return f"{'0' if float(text) == 0 else text} ({row.seconds[method]:.2g} s)"


def _table(rows: list[_Row]) -> str:
    lines = [
        "| instance | p | optimum | " + " | ".join(_METHODS) + " | proved | nodes |",
        "|---" * (5 + len(_METHODS)) + "|",
    ]
    for row in rows:
        case = row.case
        proved = "yes" if row.proved else f"bound {100 * row.gaps['proved bound']:+.3f}"
        cells = " | ".join(_cell(row, method) for method in _METHODS)
        lines.append(f"| {case.name} | {case.p} | {case.optimum:.10g} | {cells} | {proved} | {row.nodes} |")
    return "\n".join(lines)


def _summary(rows: list[_Row]) -> str:
    lines = ["| instances | method | mean gap, % | worst, % | optimal | seconds, mean |", "|---|---|---|---|---|---|"]
    for family in dict.fromkeys(row.case.family for row in rows):
        own = [row for row in rows if row.case.family == family]
        for method in _METHODS:
            there = [row for row in own if method in row.gaps]
            if not there:
                continue
            gaps = 100 * np.array([row.gaps[method] for row in there])
            hits = int(np.count_nonzero(np.abs(gaps) < 1e-5))
            time = np.mean([row.seconds[method] for row in there])
            worst = gaps[np.abs(gaps).argmax()]
            text = f"{gaps.mean():+.4f} | {worst:+.3f} | {hits} of {len(there)} | {time:.2f}"
            lines.append(f"| {family} | {method} | {text} |")
        proved = [row for row in own if row.proved]
        longest = max((row.seconds["optimal"] for row in proved), default=0.0)
        lines.append(f"| {family} | proved | | | {len(proved)} of {len(own)} | longest {longest:.1f} |")
    return "\n".join(lines)


def _mean_gap(rows: list[_Row], method: str) -> float:
    return float(np.mean([100 * row.gaps[method] for row in rows]))


def _bars(rows: list[_Row]) -> str:
    """Return what is asked of each family beside what was measured."""
    graphs = [row for row in rows if row.case.family == "OR-Library"]
    towns = [row for row in rows if row.case.family == "TSPLIB, p <= 300"]
    known = [row for row in towns if row.case.name != "u1432" and row.case.p <= 100]
    few = [row for row in towns if row.case.p <= 100 and (row.case.name, row.case.p) != ("u1432", 50)]
    lines = ["| what | bar | measured | |", "|---|---|---|---|"]

    def add(there: list[_Row], what: str, bar: str, measured: str, met: bool) -> None:
        if there:
            lines.append(f"| {what} | {bar} | {measured} | {'met' if met else 'not met'} |")

    if graphs:
        gap, hits = _mean_gap(graphs, "50 restarts"), sum(abs(row.gaps["50 restarts"]) < 1e-7 for row in graphs)
        text = f"{gap:.4f}%; {hits} of {len(graphs)}"
        add(graphs, "OR-Library, 50 restarts: mean gap; optimal", "0.03%; 30", text, gap <= 0.03 and hits >= 30)
        proved = sum(row.proved and abs(row.gaps["optimal"]) < 1e-7 for row in graphs)
        add(graphs, "OR-Library: optimum proved", "38", f"{proved} of {len(graphs)}", proved >= 38)
    if towns:
        gap = _mean_gap(towns, "50 restarts")
        add(towns, "TSPLIB, p = 5 to 300, 50 restarts: mean gap", "0.10%", f"{gap:.4f}%", gap <= 0.10)
        below = -_mean_gap(known, "certify") if known else 0.0
        add(known, "rl1304, fl1400, p <= 100: certify below the optimum", "0.10%", f"{below:.4f}%", below <= 0.10)
        proved = sum(row.proved for row in few)
        text = f"{proved} of {len(few)}"
        add(few, "TSPLIB, p <= 100, without u1432 p = 50: proved", "all", text, proved == len(few))
    return "\n".join(lines)


def optimum(names: list[str] | None = None, *, seconds: float = 60, most: int = 500, peers: bool = True) -> str:
    """How far from the optimum: gaps in percent (and seconds) on problems with published optima."""
    _compile()
    rows = []
    for case in cases():
        if (not names or any(case.name.startswith(name) for name in names)) and case.p <= most:
            rows.append(_measure(case, seconds, peers))
            print(_table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    note = (
        f"Gaps to the optimum in percent, with seconds. certify: its lower bound, from PAM's medoids; fasterpam: best "
        f"of {_STARTS} starts of the package kmedoids; optimal: at most {seconds:g} s. All on a given matrix."
    )
    return f"{_bars(rows)}\n\n{_summary(rows)}\n\n{_table(rows)}\n\n{note}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.optimum", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="INSTANCE", help="beginnings of names, as pmed or fl1400")
    parser.add_argument("--seconds", type=float, default=60, help="time limit of optimal for each problem")
    parser.add_argument("--most", type=int, default=500, help="largest p")
    parser.add_argument("--no-peers", action="store_true", help="leave other packages out")
    parser.add_argument("--out", type=Path, help="file to write; by default the table is only printed")
    asked = parser.parse_args()
    page = optimum(asked.names, seconds=asked.seconds, most=asked.most, peers=not asked.no_peers)
    page = f"# {(optimum.__doc__ or '').strip()}\n\n{page}\n\n{machine()}\n"
    print(page)
    if asked.out is not None:
        asked.out.write_text(page)


if __name__ == "__main__":
    main()
