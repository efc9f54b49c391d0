"""The claims on losses: Table 1, Appendix Table 1 (delta) and Appendix Figure 3 (T)."""

from __future__ import annotations

from itertools import pairwise

from medoids.reproduction.charts import Line, Panel, chart
from medoids.reproduction.paper import USUAL_CONFIDENCE, Logs, disagreements, rises
from medoids.reproduction.results import DATA, SAME, Section, excess, listed, relative, result, table
from medoids.reproduction.rows import Rows
from medoids.reproduction.run import Run
from medoids.reproduction.settings import DELTAS, USUAL_K, Scale, T

__all__ = ["fig_swaps", "table_delta", "table_loss"]

# Of SWAP's gain: what is left after it is "very little change".
_MOST = 0.9
# What the logs can tell: their losses are float32.
_AS_LOGGED = 1e-5


def table_loss(rows: Rows, scale: Scale, logs: Logs) -> Section:
    """Losses of BP++ over those of BP, beside the logs and exact PAM."""
    ratios: dict[tuple[int, ...], list[list[str]]] = {}  # by the sizes, which are a table's columns
    details, off, unlike, compared, missed = [], [], [], 0, 0
    for data, sizes in scale.sizes.items():
        k = USUAL_K[data]
        line = [f"{DATA[data]}, k = {k}"]
        for n in sizes:
            bp, plus, pam, paired = (
                result(rows, Run(data, n, k, T, name)) for name in ("BP", "BP++", "FastPAM1", "PairedPAM")
            )
            where = f"{DATA[data]} {n:,}"
            ratio = plus.loss / bp.loss if bp and plus else None
            missed += ratio is None
            line.append("not run" if ratio is None else relative(ratio))
            if ratio is not None and f"{ratio:.2f}" != "1.00":
                off.append(where)
            if not plus:
                continue
            log = logs.get((data, n, k, T, "BP++", USUAL_CONFIDENCE))
            compared += log is not None
            if log and abs(plus.loss / log.loss - 1) > _AS_LOGGED:
                unlike.append(f"{where} ({plus.loss / log.loss - 1:+.1e})")
            details.append(
                [
                    where,
                    f"{plus.loss:.6f}",
                    f"{log.loss:.6f}" if log else "-",
                    f"{plus.loss / log.loss - 1:+.1e}" if log else "-",
                    *(excess(plus.loss, other) for other in (pam, paired)),
                ]
            )
        ratios.setdefault(sizes, []).append(line)
    verdict = "Held: every ratio rounds to 1.00" if not off else f"Not held: the ratio is not 1.00 on {listed(off)}"
    verdict += f" ({missed} of the cells were not run)." if missed else "."
    if compared:
        verdict += f" Our BP++ has the authors' logged BP++ loss, to {_AS_LOGGED:.0e}, on {compared - len(unlike)} of "
        verdict += f"{compared} samples" + (f"; not on {listed(unlike)}." if unlike else ".")
    heads = [
        "sample",
        "mean loss of BP++",
        "logged BP++",
        "ours / logged - 1",
        "BP++ / PAM - 1",
        "BP++ / PairedPAM - 1",
    ]
    text = [
        "Loss of BP++ over loss of BP; the paper prints 1.00 in all cells of its three sets.",
        *(table(["n =", *(f"{n:,}" for n in sizes)], lines) for sizes, lines in ratios.items()),
        table(heads, details),
        "PAM is exact (`fastpam1`), with the same T = 10 swaps at most.",
        _judged(rows, logs),
    ]
    return Section("\n\n".join(text), verdict, {})


def _judged(rows: Rows, logs: Logs) -> str:
    """The logs that cannot all be right, with exact PAM as the judge."""
    if not logs:
        return "The authors' logs are not at hand (paper_logged_runs.csv of the folder of data)."
    if not any(Run(log.data, log.n, log.k, T, "FastPAM1") in rows for log in logs.values()):
        return "The authors' logs are of larger samples than these: see the paper scale."
    lines = []
    for runs in disagreements(logs):
        data, n, k = runs[0].data, runs[0].n, runs[0].k
        pam, ours = (result(rows, Run(data, n, k, T, name)) for name in ("FastPAM1", "BP++"))
        right = [log.algorithm for log in runs if abs(log.loss / pam.loss - 1) <= _AS_LOGGED] if pam else []
        lines.append(
            [
                f"{DATA[data]} {n:,}, k = {k}",
                "; ".join(f"{log.algorithm} {log.loss:.6f}" for log in runs),
                f"{pam.loss:.6f}" if pam else "not run",
                f"{ours.loss:.6f}" if ours else "not run",
                (listed(right) if right else "none") if pam else "-",
            ]
        )
    risen = [
        f"{log.algorithm} on {DATA[log.data]} {log.n:,}, k = {log.k}, confidence {log.confidence}: "
        f"step {step}, {by:+.1e}"
        for log, step, by in rises(logs)
    ]
    rising = sum(_rose(row["build_loss"], row["losses"]) for row in rows if row["losses"])
    return "\n\n".join(
        [
            "**Logs that disagree among themselves** (one sample, one k, T = 10):",
            table(["sample", "logged losses", "exact PAM", "our BP++", "logs with PAM's loss"], lines),
            f"**Logs whose loss rises within a run**: {'; '.join(risen) or 'none'}. BanditPAM++ as logged takes a swap "
            "that its estimate favours; ours takes it only if the exact loss falls. Of our "
            f"{len(rows)} rows {rising or 'none'} rise{'s' if rising == 1 else ''}.",
        ]
    )


def _rose(start: str, after: str) -> bool:
    losses = [float(start), *map(float, after.split())]
    return any(b > a for a, b in pairwise(losses))


def table_delta(rows: Rows, scale: Scale, logs: Logs) -> Section:
    """Losses of BP++ over those of BP for several delta, and what they cost."""
    lines, counts, off, apart, missed = [], [], [], [], 0
    for data, n in scale.fixed.items():
        k = USUAL_K[data]
        pam = result(rows, Run(data, n, k, T, "FastPAM1"))
        cells, used = [], []
        for delta in (*DELTAS, None):
            bp, plus = (result(rows, Run(data, n, k, T, name, delta=delta)) for name in ("BP", "BP++"))
            if bp is None or plus is None:
                cells.append("not run")
                used.append("not run")
                missed += 1
                continue
            cells.append(relative(plus.loss / bp.loss))
            where = f"{DATA[data]} at {'1/(k n^3)' if delta is None else f'{delta:g}'}"
            if pam and abs(plus.loss / pam.loss - 1) > SAME:
                cells[-1] += f"; of PAM's {plus.loss / pam.loss - 1:+.1e}"
                apart.append(where)
            if f"{plus.loss / bp.loss:.2f}" != "1.00":
                off.append(where)
            used.append(f"{bp.distances() / n:,.0f} / {plus.distances() / n:,.0f}")
        lines.append([f"{DATA[data]}, n = {n:,}, k = {k}", *cells])
        counts.append([DATA[data], *used])
    heads = ["data", *(f"{delta:g}" for delta in DELTAS), "1/(k n^3)"]
    verdict = f"Not held: {listed(off)}." if off else "Held: every ratio rounds to 1.00 at every delta."
    verdict += (
        f" BP++ has exact PAM's loss but on {listed(apart)}." if apart else " BP++ has exact PAM's loss everywhere."
    )
    verdict += f" {missed} cells were not run." if missed else ""
    text = "\n\n".join(
        [
            "Loss of BP++ over loss of BP; the paper prints 1.00 everywhere. A second figure is there where BP++ "
            "misses exact PAM's loss.",
            table(heads, lines),
            "Distances a point, BP / BP++:",
            table(heads, counts),
        ]
    )
    return Section(text, verdict, {})


def fig_swaps(rows: Rows, scale: Scale, logs: Logs) -> Section:
    """Losses over the number of swaps, a panel a set."""
    panels, lines, unlike, after = [], [], [], []
    for data, n in scale.fixed.items():
        k = USUAL_K[data]
        runs = {name: result(rows, Run(data, n, k, T, name)) for name in ("BP", "BP++", "FastPAM1")}
        if not runs["BP++"]:
            continue
        losses = runs["BP++"].losses
        bp = runs["BP"]
        if bp and (
            len(bp.losses) != len(losses) or any(abs(a / b - 1) > SAME for a, b in zip(bp.losses, losses, strict=True))
        ):
            unlike.append(DATA[data])
        curves = []
        for name, style, size in (("FastPAM1", 5, 1.8), ("BP", 0, 1.3), ("BP++", 3, 0.8)):
            if run := runs[name]:
                held = run.losses + [run.losses[-1]] * (T + 1 - len(run.losses))
                curves.append(Line(name, style, list(enumerate(held)), size=size))
        logged = logs.get((data, n, k, T, "BP++", USUAL_CONFIDENCE))
        if logged:
            curves.append(Line("BP++, logged", 7, list(enumerate(logged.losses))[: T + 1], dashed=True, size=0.5))
        panels.append(Panel(f"{DATA[data]}, n = {n:,}, k = {k}", curves))
        first = losses[min(k, len(losses) - 1)]
        gain = (losses[0] - first) / (losses[0] - losses[-1]) if losses[0] > losses[-1] else 1.0
        after.append(gain)
        lines.append([DATA[data], str(k), f"{losses[0]:.6f}", f"{losses[-1]:.6f}", str(len(losses) - 1), f"{gain:.1%}"])
    if not panels:
        return Section("Not run.", "Not run.", {})
    verdict = "Held" if min(after) >= _MOST and not unlike else "Held in part"
    verdict += f": at least {min(after):.0%} of what SWAP gains is gained by T = k swaps; BP and BP++ " + (
        "go through the same losses on every set." if not unlike else f"part ways on {listed(unlike)}."
    )
    text = "\n\n".join(
        [
            "Mean loss after each swap (T = 0 is BUILD's).",
            "![Loss against T](figures/fig-swaps.svg)",
            table(["data", "k", "after BUILD", "at the end", "swaps made (T = 10)", "gained by T = k"], lines),
        ]
    )
    picture = chart(panels, "T", "mean loss", log_x=False, log_y=False, columns=2)
    return Section(text, verdict, {"fig-swaps.svg": picture})
