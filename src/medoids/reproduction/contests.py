"""Two tables of ours: how often the medoids are PAM's, and the peers."""

from __future__ import annotations

from medoids.reproduction.paper import Logs
from medoids.reproduction.results import DATA, SAME, Result, Section, excess, result, table
from medoids.reproduction.rows import Rows
from medoids.reproduction.run import Run
from medoids.reproduction.settings import PEERS, Scale, runs_of

__all__ = ["agreement", "peers"]


def agreement(rows: Rows, scale: Scale, logs: Logs) -> Section:
    """In how many subsets PairedPAM and BP++ have the medoids of exact PAM."""
    subsets = dict.fromkeys((run.data, run.n, run.k, run.T, run.seed) for run in runs_of("agreement", scale))
    hits: dict[str, dict[str, list[bool]]] = {}
    for data, n, k, T, seed in subsets:
        found = {
            name: result(rows, Run(data, n, k, T, name, seed=seed, sample="distinct"))
            for name in ("FastPAM1", "PairedPAM", "BP++")
        }
        pam = found["FastPAM1"]
        for name in ("PairedPAM", "BP++"):
            ours = found[name]
            if pam and ours:
                hits.setdefault(data, {}).setdefault(name, []).append(_same(pam, ours))
    if not hits:
        return Section("Not run.", "Not run.", {})
    lines = [
        [DATA[data], *(f"{sum(each.get(name, []))} of {len(each.get(name, []))}" for name in ("PairedPAM", "BP++"))]
        for data, each in hits.items()
    ]
    total = {name: [hit for each in hits.values() for hit in each.get(name, [])] for name in ("PairedPAM", "BP++")}
    verdict = "; ".join(f"{name} has PAM's medoids in {sum(h)} of {len(h)} subsets" for name, h in total.items()) + "."
    sizes = ", ".join(f"{n:,}" for n in scale.subset_sizes)
    text = (
        f"Random subsets of distinct rows, n = {sizes}, k = 3, 5, 10, until no swap improves: the medoids of exact PAM "
        "(`fastpam1`), or copies of them with the same loss.\n\n" + table(["data", "PairedPAM", "BP++"], lines)
    )
    return Section(text, verdict, {})


def _same(pam: Result, ours: Result) -> bool:
    return pam.medoids == ours.medoids or abs(ours.loss / pam.loss - 1) <= SAME


def peers(rows: Rows, scale: Scale, logs: Logs) -> Section:
    """Time and loss of other packages, a table a set."""
    tables, gains = [], []
    for data, n in scale.peers.items():
        runs = [run for run in runs_of("peers", scale) if (run.data, run.n) == (data, n)]
        found = {run.algorithm: result(rows, run) for run in runs}
        pam, paired = found["FastPAM1"], found["PairedPAM"]
        lines = []
        for name, each in found.items():
            if each is None:
                lines.append([_called(name), "not run", "-", "-", "-"])
                continue
            lines.append(
                [
                    _called(name) + (f" ({each.row['peer']})" if each.row["peer"] else ""),
                    f"{each.cpu():.2f}",
                    f"{each.cpu() / paired.cpu():.2f}" if paired else "-",
                    excess(each.loss, pam) if pam else "-",
                    f"{each.distances() / n:,.0f}" if each.distances() else "-",
                ]
            )
            if name == "banditpam" and paired:
                gains.append(f"{each.cpu() / paired.cpu():,.1f} times on {DATA[data]}")
        heads = [f"{DATA[data]} {n:,}, k = 10", "CPU seconds", "/ PairedPAM", "loss / PAM's - 1", "distances a point"]
        tables.append(table(heads, lines))
    note = (
        "Each on one core, once, until it stops by itself. kmedoids is FasterPAM on scikit-learn's matrix, which is in "
        "its time; of KMeans the rows nearest to its centres are judged, under the set's own distance."
    )
    verdict = (
        f"PairedPAM takes less CPU time than the package banditpam: {', '.join(gains)}."
        if gains
        else "banditpam was not run."
    )
    return Section("\n\n".join([*tables, note]), verdict, {})


def _called(name: str) -> str:
    return {"KMeans": "KMeans(n_init=1)", "kmedoids": "kmedoids.fasterpam", "onebatch": "OneBatchPAM"}.get(
        name, name if name in PEERS else f"{name}, ours"
    )
