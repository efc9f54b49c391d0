"""Draw the pictures of the documentation from real searches: ``python docs/pictures.py`` (extra ``report``)."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from medoids import k_medoids
from medoids.bandit import Independent, search
from medoids.bandit.arms import BuildArms
from medoids.core.problem import Problem
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.distances import Tally, dissimilarity
from medoids.engine.threads import Threads

HERE = Path(__file__).parent


class Watched(Independent):
    """Bounds that remember what they saw: (t, means, widths, kept) of every round."""

    def __init__(self, delta: float) -> None:
        super().__init__(delta)
        self.rounds: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []

    def keep(self, means: np.ndarray, sigma: np.ndarray, t: int) -> np.ndarray:
        kept = super().keep(means, sigma, t)
        self.rounds.append((t, means[:, 0], self.width(sigma, t)[:, 0], kept))
        return kept


def watch() -> Watched:
    """Search for the first medoid of scikit-learn's digits."""
    X = load_digits().data
    n = len(X)
    with Threads(1) as threads:
        problem = Problem(dissimilarity(X, "euclidean"), np.ones(n), 10, "build", 0, 2**30)
        run = Run(problem, threads, np.random.RandomState(0), Tally())
        bounds = Watched(1 / (10 * n**3))
        order = run.random.permutation(np.arange(n))
        search(BuildArms(problem, run, RowSource(problem, run).assign([]), "build", None), order, 100, bounds)
    return bounds


def arms(path: Path) -> None:
    rounds = watch().rounds
    pam = k_medoids(load_digits().data, 10).trace[0].medoid_in
    left = np.arange(len(rounds[0][1]))
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 6.4), height_ratios=[2, 1], sharex=True)
    for number, (t, means, widths, kept) in enumerate(rounds):
        shown = np.arange(0, len(left), 12) if number == 0 else np.flatnonzero(left % 12 == 0)
        for at in shown:
            colour, alpha = ("#0072b2", 0.45) if kept[at] else ("#d55e00", 0.35)
            x = t + 80 * (left[at] / 1797 - 0.5)
            top.plot([x, x], [means[at] - widths[at], means[at] + widths[at]], color=colour, alpha=alpha, lw=0.9)
        top.hlines((means + widths).min(), t - 45, t + 45, color="black", lw=1.6)
        best = np.flatnonzero(left == pam)
        top.plot(t + 80 * (pam / 1797 - 0.5), means[best[0]], "*", color="black", ms=9)
        left = left[kept]
    top.set_ylabel("mean distance to the references")
    top.set_title("The first medoid of 1,797 digits: intervals of every 12th arm")
    handles = [
        plt.Line2D([], [], color="#0072b2", label="stays"),
        plt.Line2D([], [], color="#d55e00", label="dropped in this round"),
        plt.Line2D([], [], color="black", label="lowest upper end"),
        plt.Line2D([], [], color="black", marker="*", ls="", ms=9, label="PAM's choice"),
    ]
    top.legend(handles=handles, ncols=4, loc="lower right", fontsize=8)
    ts = [0, *(t for t, *_ in rounds)]
    counts = [1797, *(int(kept.sum()) for *_, kept in rounds)]
    bottom.step(ts, counts, where="post", color="#0072b2")
    bottom.set_yscale("log")
    bottom.set_ylabel("arms left")
    bottom.set_xlabel("references looked at")
    figure.tight_layout()
    figure.savefig(path)


def gaps(path: Path) -> None:
    """Gaps to published optima, from the table that ``python -m benchmarks optimum`` writes."""
    page = (HERE.parent / "benchmarks" / "results" / "optimum.md").read_text()
    table = page[page.index("| instance | p |") :].split("\n\n")[0].splitlines()
    names = [cell.strip() for cell in table[0].strip("|").split("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    methods = {"PAM": "#d55e00", "fasterpam": "#cc79a7", "10 restarts": "#56b4e9", "50 restarts": "#0072b2"}
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, width_ratios=[1, 1])
    for axis, title, is_own in (
        (axes[0], "OR-Library, 40 problems", lambda name: name.startswith("pmed")),
        (axes[1], "TSPLIB, rl1304, fl1400, u1432", lambda name: name in ("rl1304", "fl1400", "u1432")),
    ):
        own = [row for row in rows if is_own(row[0])]
        for method, colour in methods.items():
            values = sorted(float(row[names.index(method)].split(" (")[0]) for row in own)
            share = 100 * np.arange(1, len(values) + 1) / len(values)
            axis.step(
                [0, *values],
                [0, *share],
                where="post",
                color=colour,
                label={"fasterpam": "FasterPAM"}.get(method, method),
            )
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("at most this far above the optimum, %")
        axis.set_xlim(-0.05, 2.6)
    axes[0].set_ylabel("share of the problems, %")
    axes[1].legend(loc="lower right", fontsize=8, title="FasterPAM: best of 5", title_fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "medoids", "svg.fonttype": "none"})
    arms(HERE / "arms.svg")
    gaps(HERE / "optimum.svg")
