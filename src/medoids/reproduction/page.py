"""``README.md``: every table and figure next to the paper's, and whether its claim held here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from medoids.reproduction.losses import agreement, fig_swaps, peers, table_delta, table_loss
from medoids.reproduction.markdown import Section, enumerate_names, table
from medoids.reproduction.paper import Logs
from medoids.reproduction.settings import ExperimentScale, trials_of
from medoids.reproduction.speeds import fig_complexity, fig_k, fig_n, table_speedup
from medoids.reproduction.trials import ResultsFile
from medoids.storage.files import Outputs
from medoids.wording import counted

__all__ = ["write_page"]

_SECTIONS: dict[str, tuple[str, Callable[[ResultsFile, ExperimentScale, Logs], Section]]] = {
    "table-loss": ("Table 1: BP++ has the loss of BP", table_loss),
    "fig-k": ("Figure 1: time against k", fig_k),
    "fig-n": ("Appendix Figure 1: time against n", fig_n),
    "fig-complexity": ("Appendix Figure 2: distances against n", fig_complexity),
    "table-delta": ("Appendix Table 1: the loss for several delta", table_delta),
    "fig-swaps": ("Appendix Figure 3: the loss against T", fig_swaps),
    "table-speedup": ("Appendix Table 2: speedups of BUILD and SWAP", table_speedup),
    "agreement": ("Ours: the medoids of PAM", agreement),
    "peers": ("Ours: the peers", peers),
}


def write_page(rows: ResultsFile, scale: ExperimentScale, logs: Logs, folder: Path) -> dict[str, str]:
    """Write ``README.md`` and its figures from the rows and the logs alone; return the verdict on each claim."""
    parts, summary, verdicts = [], [], {}
    with Outputs() as outputs:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        for name, (title, render) in _SECTIONS.items():
            trials = trials_of(name, scale)
            absent = [trial for trial in trials if trial not in rows]
            done = f"{len(trials) - len(absent)} of {len(trials)}"
            if len(absent) == len(trials):
                summary.append([name, done, f"Not run; `medoids reproduce {name} --scale {scale.name}` does."])
                continue
            section = render(rows, scale, logs)
            verdicts[name] = section.verdict
            summary.append([f"[{name}](#{name})", done, section.verdict])
            first, *others = section.paragraphs
            parts += [f"## {name}", f"**{title}.** {section.verdict}", first]
            if section.picture:
                outputs.claim(folder / "figures" / f"{name}.svg").write_text(section.picture, encoding="utf-8")
                parts.append(f"![{title}](figures/{name}.svg)")
            parts += others
            if absent:
                groups = Counter(f"{trial.algorithm} on {trial.data}" for trial in absent)
                names = [f"{group} ({counted(count, 'run')})" for group, count in groups.items()]
                parts.append(f"Not run: {enumerate_names(names)}.")
        page = [_introduction(rows, scale.name), table(["", "runs", "does the claim hold here?"], summary), *parts]
        outputs.claim(folder / "README.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    return verdicts


def _introduction(rows: ResultsFile, scale: str) -> str:
    versions = sorted(
        {
            f"medoids {row['medoids_version']}, Python {row['python']}, NumPy {row['numpy']}, Numba {row['numba']}"
            for row in rows.values()
        }
    )
    return (
        f"# The paper's experiments, run again ({scale} scale)\n\n"
        f"Made by `medoids reproduce --scale {scale}` from [rows.csv](rows.csv), which has one row per run: settings, "
        "loss after each step, medoids, distances requested, computed and found in the cache, wall and CPU seconds of "
        "BUILD and SWAP, versions. Samples are the authors' own (drawn with replacement, seed 0), T = 10, the cache "
        "has 1,000 distances per point, and delta = 1/(k n^3) as in the paper's theorems unless stated otherwise. "
        "Seeds are those of the algorithm; the authors' logs have one.\n\n"
        "Times are CPU seconds of one thread (`n_jobs=1`): the machine was shared, and wall seconds, which are also in "
        "the rows, include waiting for others. Where BP takes only seconds, each run is repeated three times at the "
        "paper scale, and the shortest time counts. The time of BUILD includes the preparation of the data and, for "
        "`fastpam1`, the matrix; compilation is excluded. RNA counts, which the paper dropped, are from two other "
        "tissues than those of the logs, without repeated cells.\n\n"
        f"{enumerate_names(sorted({row['machine'] for row in rows.values()}))}; {'; '.join(versions)}."
    )
