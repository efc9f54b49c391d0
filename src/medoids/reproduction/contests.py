"""Two tables that the paper does not have: how often the medoids are those of PAM, and the peers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from medoids.reproduction.markdown import DATA_TITLES, SAME_LOSS, Section, difference, table
from medoids.reproduction.paper import Logs
from medoids.reproduction.peers import PEERS
from medoids.reproduction.rows import ResultsFile
from medoids.reproduction.settings import ExperimentScale, trials_of

__all__ = ["agreement", "peers"]


def agreement(rows: ResultsFile, scale: ExperimentScale, logs: Logs) -> Section:
    """Count the subsets in which PairedPAM and BP++ have the medoids of exact PAM."""
    compared: Counter[tuple[str, str]] = Counter()
    agreed: Counter[tuple[str, str]] = Counter()
    for trial in trials_of("agreement", scale):
        pam, ours = rows.result(replace(trial, algorithm="FastPAM1")), rows.result(trial)
        if trial.algorithm != "FastPAM1" and pam and ours:
            same = pam.medoids == ours.medoids or abs(ours.loss / pam.loss - 1) <= SAME_LOSS
            for data in (trial.data, "all"):
                compared[data, trial.algorithm] += 1
                agreed[data, trial.algorithm] += same
    if not compared:
        return Section(["Not run."], "Not run.")
    names = ("PairedPAM", "BP++")
    lines = [
        [DATA_TITLES[data], *(f"{agreed[data, name]} of {compared[data, name]}" for name in names)]
        for data in dict.fromkeys(data for data, _ in compared if data != "all")
    ]
    verdicts = [f"{name} in {agreed['all', name]} of {compared['all', name]} subsets" for name in names]
    sizes = ", ".join(f"{n:,}" for n in scale.subset_sizes)
    note = (
        f"Random subsets of distinct rows, n = {sizes}, k = 3, 5, 10, until no swap improves the loss: the medoids of "
        "exact PAM (`fastpam1`), or duplicates of them with the same loss."
    )
    return Section([note, table(["data", *names], lines)], f"Medoids are those of PAM for {' and '.join(verdicts)}.")


def peers(rows: ResultsFile, scale: ExperimentScale, logs: Logs) -> Section:
    """Compare time and loss with other packages, a table per data set."""
    tables, gains = [], []
    for data, n in scale.peers.items():
        found = {t.algorithm: rows.result(t) for t in trials_of("peers", scale) if (t.data, t.n) == (data, n)}
        pam, paired = found["FastPAM1"], found["PairedPAM"]
        lines = []
        for name, each in found.items():
            title = PEERS[name].title if name in PEERS else f"{name}, ours"
            if each is None:
                lines.append([title, "not run", "-", "-", "-"])
                continue
            lines.append(
                [
                    title + (f" ({each.row['peer']})" if each.row["peer"] else ""),
                    f"{each.cpu():.2f}",
                    f"{each.cpu() / paired.cpu():.2f}" if paired else "-",
                    difference(each.loss, pam.loss) if pam else "-",
                    f"{each.distances() / n:,.0f}" if each.distances() else "-",
                ]
            )
            if name == "banditpam" and paired:
                gains.append(f"{each.cpu() / paired.cpu():,.1f} times on {DATA_TITLES[data]}")
        columns = ["CPU seconds", "/ PairedPAM", "loss / PAM's - 1", "distances per point"]
        tables.append(table([f"{DATA_TITLES[data]} {n:,}, k = 10", *columns], lines))
    note = (
        "Each on one core, once, until it stops. kmedoids is FasterPAM on the matrix of scikit-learn, whose time is "
        "included; for KMeans, the rows nearest to its centres are evaluated with the distance of the "
        "data set."
    )
    verdict = f"The package banditpam takes more CPU time than PairedPAM: {', '.join(gains)}."
    return Section([*tables, note], verdict if gains else "banditpam was not run.")
