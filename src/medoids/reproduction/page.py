"""``README.md``: every table and figure beside the paper's, and in a sentence whether its claim held here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from medoids.reproduction.contests import agreement, peers
from medoids.reproduction.losses import fig_swaps, table_delta, table_loss
from medoids.reproduction.paper import Logs
from medoids.reproduction.results import Section, listed
from medoids.reproduction.rows import Rows
from medoids.reproduction.run import Run
from medoids.reproduction.settings import Scale, runs_of
from medoids.reproduction.speeds import fig_complexity, fig_k, fig_n, table_speedup
from medoids.storage.files import Outputs

__all__ = ["write_page"]

_SECTIONS: dict[str, tuple[str, Callable[[Rows, Scale, Logs], Section]]] = {
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


def write_page(rows: Rows, scale: Scale, logs: Logs, folder: Path) -> dict[str, str]:
    """Write ``README.md`` and its figures, from the rows and the logs alone; return whether each claim held."""
    text, pictures, verdicts = _page(rows, scale, logs)
    with Outputs() as outputs:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            outputs.claim(folder / "figures" / name).write_text(picture, encoding="utf-8")
        outputs.claim(folder / "README.md").write_text(text, encoding="utf-8")
    return verdicts


def _page(rows: Rows, scale: Scale, logs: Logs) -> tuple[str, dict[str, str], dict[str, str]]:
    parts, summary = [], []
    pictures: dict[str, str] = {}
    verdicts: dict[str, str] = {}
    for each, (title, render) in _SECTIONS.items():
        wanted = runs_of(each, scale)
        made = [run for run in wanted if run in rows]
        if not made:
            summary.append(
                f"| {each} | 0 of {len(wanted)} | Not run; `medoids reproduce {each} --scale {scale.name}` does. |"
            )
            continue
        section = render(rows, scale, logs)
        verdicts[each] = section.verdict
        summary.append(f"| [{each}](#{each}) | {len(made)} of {len(wanted)} | {section.verdict} |")
        parts.append(f"## {each}\n\n**{title}.** {section.verdict}\n\n{section.text}{_lacking(wanted, rows)}")
        pictures |= section.pictures
    table = "\n".join(["| | runs | does the claim hold here? |", "|---|---|---|", *summary])
    return "\n\n".join([_head(rows, scale.name), table, *parts]) + "\n", pictures, verdicts


def _lacking(wanted: list[Run], rows: Rows) -> str:
    """Name the runs that have no row, those of one algorithm on one set together."""
    lacking = [run for run in wanted if run not in rows]
    first = [run for run in lacking if run.sample == "distinct" or not run.seed]
    kinds: dict[str, list[str]] = {}
    for run in first:
        delta = "" if run.delta is None else f", delta {run.delta:g}"
        kinds.setdefault(f"{run.algorithm} on {run.data}", []).append(f"n = {run.n:,}, k = {run.k}{delta}")
    named = [f"{kind} ({'; '.join(each)})" for kind, each in kinds.items()]
    if len(lacking) > len(first):
        named.append(f"{len(lacking) - len(first)} runs with further seeds")
    return f"\n\nNot run: {listed(named)}." if named else ""


def _head(rows: Rows, scale: str) -> str:
    machines = sorted({row["machine"] for row in rows})
    versions = sorted(
        {f"medoids {r['medoids_version']}, Python {r['python']}, NumPy {r['numpy']}, Numba {r['numba']}" for r in rows}
    )
    return (
        f"# The paper's experiments, run again ({scale} scale)\n\n"
        f"Made by `medoids reproduce --scale {scale}` from [rows.csv](rows.csv), which has a row a run: settings, loss "
        "after each step, medoids, distances requested, computed and found in the cache, wall and CPU seconds of BUILD "
        "and SWAP, versions. Samples are the authors' own (drawn with replacement, seed 0), T = 10, a cache of 1,000 "
        "distances a point, delta = 1/(k n^3) as in the paper's theorems unless said otherwise. Seeds are those of the "
        "algorithm; the authors' logs have one.\n\n"
        "Times are CPU seconds of one thread (`n_jobs=1`): the machine was shared, and wall seconds, also in the rows, "
        "are longer by what others took; where BP takes seconds only, each run is made three times at the paper scale, "
        "and the shortest time counts. BUILD's time has the preparation of the data, and of `fastpam1` the matrix; "
        "compilation is left out. RNA counts, which the paper dropped, are of two other tissues than those of the "
        "logs, without repeated cells.\n\n"
        f"{listed(machines)}; {'; '.join(versions)}."
    )
