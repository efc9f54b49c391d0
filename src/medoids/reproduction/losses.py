"""The claims about losses: Table 1, Appendix Table 1 (delta) and Appendix Figure 3 (T).

Two tables that the paper does not have: how often the medoids are those of PAM, and the losses and times of peers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from medoids.reproduction.charts import Line, chart
from medoids.reproduction.markdown import (
    DATA_TITLES,
    SAME_LOSS,
    Section,
    enumerate_names,
    format_ratio,
    share_above,
    table,
)
from medoids.reproduction.paper import LOG_PRECISION, USUAL_CONFIDENCE, Logs, disagreements, rises
from medoids.reproduction.peers import PEERS
from medoids.reproduction.settings import DELTAS, PAPER_K, PAPER_T, ExperimentScale, trials_of
from medoids.reproduction.trials import Result, ResultsFile, Trial

__all__ = ["agreement", "fig_swaps", "peers", "table_delta", "table_loss"]

# Share of SWAP's gain after which there is "very little change", as the paper says.
_MOST_OF_THE_GAIN = 0.9


def table_loss(rows: ResultsFile, scale: ExperimentScale, logs: Logs) -> Section:
    """Compare the losses of BP++ with those of BP, of the logs and of exact PAM."""
    ratios: dict[tuple[int, ...], list[list[str]]] = {}  # lines by sizes, which are the columns of a table
    details, off, from_log, missed = [], [], [], 0
    for data, sizes in scale.sizes.items():
        k = PAPER_K[data]
        cells = []
        for n in sizes:
            bp, plus, pam, paired = (
                rows.result(Trial(data, n, k, PAPER_T, name)) for name in ("BP", "BP++", "FastPAM1", "PairedPAM")
            )
            where = f"{DATA_TITLES[data]} {n:,}"
            cells.append(format_ratio(plus.loss / bp.loss) if bp and plus else "not run")
            if not cells[-1].startswith(("1.00", "not run")):
                off.append(where)
            if not plus:
                continue
            logged = ["-", "-"]
            if log := logs.get((data, n, k, PAPER_T, "BP++", USUAL_CONFIDENCE)):
                from_log.append((where, plus.loss / log.loss - 1))
                logged = [f"{log.loss:.6f}", f"{plus.loss / log.loss - 1:+.1e}"]
            exact = [share_above(plus.loss, other.loss) if other else "not run" for other in (pam, paired)]
            details.append([where, f"{plus.loss:.6f}", *logged, *exact])
        missed += cells.count("not run")
        ratios.setdefault(sizes, []).append([f"{DATA_TITLES[data]}, k = {k}", *cells])
    held = f"Not held: the ratio is not 1.00 on {enumerate_names(off)}" if off else "Held: every ratio rounds to 1.00"
    verdict = held + (f" ({missed} cells were not run)." if missed else ".")
    if from_log:
        unlike = [f"{where} ({share:+.1e})" for where, share in from_log if abs(share) > LOG_PRECISION]
        verdict += (
            f" The loss of our BP++ equals the logged one, to {LOG_PRECISION:.0e}, on {len(from_log) - len(unlike)} of "
            f"{len(from_log)} samples" + (f"; not on {enumerate_names(unlike)}." if unlike else ".")
        )
    losses = ("mean loss of BP++", "logged BP++", "ours / logged - 1", "BP++ / PAM - 1", "BP++ / PairedPAM - 1")
    return Section(
        [
            "Loss of BP++ divided by loss of BP; the paper prints 1.00 in all cells for its three data sets.",
            *(table(["n =", *(f"{n:,}" for n in sizes)], lines) for sizes, lines in ratios.items()),
            table(["sample", *losses], details),
            "PAM is exact (`fastpam1`), also with at most T = 10 swaps.",
            *_logs_judged_by_pam(rows, logs),
        ],
        verdict,
    )


def _logs_judged_by_pam(rows: ResultsFile, logs: Logs) -> list[str]:
    """Compare logs that contradict each other with exact PAM."""
    if not logs:
        return ["The authors' logs are not available (paper_logged_runs.csv is not in the data folder)."]
    if not any(Trial(log.data, log.n, log.k, PAPER_T, "FastPAM1") in rows for log in logs.values()):
        return ["The authors' logs are of larger samples than these: see the paper scale."]
    lines = []
    for group in disagreements(logs):
        data, n, k = group[0].data, group[0].n, group[0].k
        pam, ours = (rows.result(Trial(data, n, k, PAPER_T, name)) for name in ("FastPAM1", "BP++"))
        right = [log.algorithm for log in group if pam and abs(log.loss / pam.loss - 1) <= LOG_PRECISION] or ["none"]
        lines.append(
            [
                f"{DATA_TITLES[data]} {n:,}, k = {k}",
                "; ".join(f"{log.algorithm} {log.loss:.6f}" for log in group),
                *(f"{found.loss:.6f}" if found else "not run" for found in (pam, ours)),
                enumerate_names(right) if pam else "-",
            ]
        )
    risen = [
        f"{log.algorithm} on {DATA_TITLES[log.data]} {log.n:,}, k = {log.k}, confidence {log.confidence}: "
        f"step {step}, {by:+.1e}"
        for log, step, by in rises(logs)
    ]
    rising = sum(any(b > a for a, b in pairwise(Result(row).losses)) for row in rows.values() if row["losses"])
    return [
        "**Logs that disagree with each other** (same sample, same k, T = 10):",
        table(["sample", "logged losses", "exact PAM", "our BP++", "logs with PAM's loss"], lines),
        f"**Logs in which the loss rises**: {'; '.join(risen) or 'none'}. BanditPAM++ as logged accepts a swap that "
        "its estimate favours; ours accepts it only if the exact loss falls. The loss rises in "
        f"{rising or 'none'} of our {len(rows)} rows.",
    ]


def table_delta(rows: ResultsFile, scale: ExperimentScale, logs: Logs) -> Section:
    """Compare the losses of BP++ and BP for several values of delta, and their costs."""
    lines, counts, off, apart, missed = [], [], [], [], 0
    for data, n in scale.fixed.items():
        k = PAPER_K[data]
        pam = rows.result(Trial(data, n, k, PAPER_T, "FastPAM1"))
        cells, used = [], []
        for delta in (*DELTAS, None):
            bp, plus = (rows.result(Trial(data, n, k, PAPER_T, name, delta=delta)) for name in ("BP", "BP++"))
            cells.append(format_ratio(plus.loss / bp.loss) if bp and plus else "not run")
            used.append(f"{bp.distances() / n:,.0f} / {plus.distances() / n:,.0f}" if bp and plus else "not run")
            where = f"{DATA_TITLES[data]} at {'1/(k n^3)' if delta is None else f'{delta:g}'}"
            if not cells[-1].startswith(("1.00", "not run")):
                off.append(where)
            if bp and plus and pam and (above := share_above(plus.loss, pam.loss)) != "0":
                cells[-1] += f"; {above} from PAM's"
                apart.append(where)
        missed += cells.count("not run")
        lines.append([f"{DATA_TITLES[data]}, n = {n:,}, k = {k}", *cells])
        counts.append([DATA_TITLES[data], *used])
    heads = ["data", *(f"{delta:g}" for delta in DELTAS), "1/(k n^3)"]
    held = f"Not held: {enumerate_names(off)}." if off else "Held: every ratio rounds to 1.00 at every delta."
    but = f" except on {enumerate_names(apart)}" if apart else ""
    gaps = f" {missed} cells were not run." if missed else ""
    return Section(
        [
            "Loss of BP++ divided by loss of BP; the paper prints 1.00 everywhere. Where BP++ does not reach the loss "
            "of exact PAM, a second number says by how much.",
            table(heads, lines),
            "Distances per point, BP / BP++:",
            table(heads, counts),
        ],
        f"{held} BP++ has the loss of exact PAM everywhere{but}.{gaps}",
    )


def fig_swaps(rows: ResultsFile, scale: ExperimentScale, logs: Logs) -> Section:
    """Draw the loss over the number of swaps, a panel per data set."""
    panels: dict[str, list[Line]] = {}
    lines, unlike, gains = [], [], []
    for data, n in scale.fixed.items():
        k = PAPER_K[data]
        pam, bp, plus = (rows.result(Trial(data, n, k, PAPER_T, name)) for name in ("FastPAM1", "BP", "BP++"))
        if not plus:
            continue
        losses = plus.losses
        if bp and (
            len(bp.losses) != len(losses)
            or any(abs(a / b - 1) > SAME_LOSS for a, b in zip(bp.losses, losses, strict=True))
        ):
            unlike.append(DATA_TITLES[data])
        curves = []
        for name, found, style, size in (("FastPAM1", pam, 5, 1.8), ("BP", bp, 0, 1.3), ("BP++", plus, 3, 0.8)):
            if found:
                padded = found.losses + [found.losses[-1]] * (PAPER_T + 1 - len(found.losses))
                curves.append(Line(name, style, list(enumerate(padded)), size=size))
        if log := logs.get((data, n, k, PAPER_T, "BP++", USUAL_CONFIDENCE)):
            curves.append(Line("BP++, logged", 7, list(enumerate(log.losses[: PAPER_T + 1])), dashed=True, size=0.5))
        panels[f"{DATA_TITLES[data]}, n = {n:,}, k = {k}"] = curves
        by_k = losses[min(k, len(losses) - 1)]
        gains.append((losses[0] - by_k) / (losses[0] - losses[-1]) if losses[0] > losses[-1] else 1.0)
        lines.append(
            [
                DATA_TITLES[data],
                str(k),
                f"{losses[0]:.6f}",
                f"{losses[-1]:.6f}",
                str(len(losses) - 1),
                f"{gains[-1]:.1%}",
            ]
        )
    if not panels:
        return Section(["Not run."], "Not run.")
    held = "Held" if min(gains) >= _MOST_OF_THE_GAIN and not unlike else "Held in part"
    paths = f"differ on {enumerate_names(unlike)}" if unlike else "have the same losses on every data set"
    return Section(
        [
            "Mean loss after each swap (T = 0 is the loss of BUILD).",
            table(["data", "k", "after BUILD", "at the end", "swaps made (T = 10)", "gained by T = k"], lines),
        ],
        f"{held}: at least {min(gains):.0%} of what SWAP gains is gained within T = k swaps; BP and BP++ {paths}.",
        chart(panels, "T", "mean loss", columns=2),
    )


def agreement(rows: ResultsFile, scale: ExperimentScale, logs: Logs) -> Section:
    """Count the subsets in which PairedPAM and BP++ have the medoids of exact PAM."""
    compared: Counter[tuple[str, str]] = Counter()
    agreed: Counter[tuple[str, str]] = Counter()
    for trial in trials_of("agreement", scale):
        pam, ours = rows.result(replace(trial, algorithm="FastPAM1")), rows.result(trial)
        if trial.algorithm != "FastPAM1" and pam and ours:
            same = (
                set(pam.row["medoids"].split()) == set(ours.row["medoids"].split())
                or abs(ours.loss / pam.loss - 1) <= SAME_LOSS
            )
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
    note = (
        f"Random subsets of distinct rows, n = {', '.join(f'{n:,}' for n in scale.subset_sizes)}, k = 3, 5, 10, until "
        "no swap improves the loss: the medoids of exact PAM (`fastpam1`), or duplicates of them with the same loss."
    )
    verdicts = (
        f"{name} has PAM's medoids in {agreed['all', name]} of {compared['all', name]} subsets" for name in names
    )
    return Section([note, table(["data", *names], lines)], f"{'; '.join(verdicts)}.")


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
                    share_above(each.loss, pam.loss) if pam else "-",
                    f"{each.distances() / n:,.0f}" if each.distances() else "-",
                ]
            )
            if name == "banditpam" and paired:
                gains.append(f"{each.cpu() / paired.cpu():,.1f} times on {DATA_TITLES[data]}")
        heads = ["CPU seconds", "/ PairedPAM", "loss / PAM's - 1", "distances per point"]
        tables.append(table([f"{DATA_TITLES[data]} {n:,}, k = 10", *heads], lines))
    note = (
        "Each on one core, once, until it stops. kmedoids is FasterPAM on the matrix of scikit-learn, whose time is "
        "included; for KMeans, the rows nearest to its centres are evaluated with the distance of the "
        "data set."
    )
    verdict = f"The package banditpam takes more CPU time than PairedPAM: {', '.join(gains)}."
    return Section([*tables, note], verdict if gains else "banditpam was not run.")
