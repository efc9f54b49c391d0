"""The page that tells what a long run tried."""

from __future__ import annotations

from collections import Counter
from datetime import date

from fuzz.worker import Round

_WHAT = {
    "problems": "small problems of every metric, compared with plain loops",
    "samples": "problems of 520 to 1,500 rows, where algorithms sample",
    "files": "damaged files, models and checkpoints, given to the command",
    "signals": "fits that were interrupted, terminated or killed, then resumed",
}
_HOW = """\
## What is tried

- **Problems**: a metric, numbers of some sort (tenths, copies, integers of every type, 1e16, 1e-170, 1e120, ...),
  weights (equal, zeros, 1e-12 to 1e12, a few heavy rows, ...), an algorithm and its options. The distances are
  computed again in plain Python loops. The reported loss, labels and distances must agree with them to 1e-9 of the
  sum of w |d|; no single swap may lower the loss by more than that after an algorithm that promises a local
  optimum; `pam`, `fastpam1`, `pairedpam` and `auto` must end where PAM in plain loops ends if no choice on the way
  is a tie; `predict(X)` and `score(X)` must agree with the fit, and a second fit with another number of threads
  must be the same. Warnings count as failures, and so does any error but a refusal that the settings deserve.
- **Samples**: the loss must be right, and no swap may lower it by more than a hundredth.
- **Files**: flipped bits, cuts, copied and inserted bytes, extreme headers, and models and checkpoints that were
  changed and got a new checksum. The command must end with code 0, or with a message; never with a traceback or a
  crash. Its output is whole, or as it was before; nothing else is left in the folder.
- **Signals**: SIGINT, SIGTERM and SIGKILL at random moments, up to three times, each time resumed from the
  checkpoint. The last run must give the result of a run that was never stopped, and no draft may be left.

## Trying it

`make test` tries a few hundred examples, the same ones each time. `make fuzz MINUTES=60` tries new ones for an hour
in `PROCESSES=1` or 2 processes; `make fuzz SUMMARY=docs/notes/fuzz.md` also writes this page. It ends with code 1
if anything failed. A failure is printed with a line like the following, which tries the same example again, from
the folder `tests`:

```sh
../.venv/bin/python -m fuzz --again "Problem(family='matrix', sort='int8', n=4, p=1, seed=0, k=2, algorithm='pam')"
```
"""


def summary(total: Round, minutes: float, processes: int, command: str) -> str:
    """Return the page, as Markdown."""
    kinds = Counter[str]()
    ends = Counter[tuple[str, str]]()
    for (kind, _, end), count in total.tries.items():
        kinds[kind] += count
        ends[kind, end] += count
    lines = [
        "# Fuzzing",
        "",
        "Random problems, damaged files and signals, to find wrong answers, hangs, tracebacks and half-written files.",
        "",
        f"## The last run: {date.today()}",
        "",
        f"`{command}`: {minutes:.0f} minutes in {processes} process{'es' if processes > 1 else ''}, "
        f"{sum(kinds.values()):,} tries, {len(total.failures)} failures. (A refusal is an error message where one is "
        "due.)",
        "",
        "| kind | what | minutes | tries | passed | refused | failed |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in kinds:
        own = [f"{ends[kind, end]:,}" for end in ("passed", "refused", "failed")]
        spent = f"{total.seconds.get(kind, 0) / 60:.1f}"
        lines.append(f"| {kind} | {_WHAT[kind]} | {spent} | {kinds[kind]:,} | {' | '.join(own)} |")
    for kind, subject in (
        ("problems", "algorithm"),
        ("samples", "algorithm"),
        ("files", "file"),
        ("signals", "signals"),
    ):
        if kinds[kind]:
            lines += ["", *_by_subject(total, kind, subject)]
    if total.failures:
        lines += ["", "## Failures", ""]
        lines += [line for failure in total.failures for line in ("```text", failure, "```", "")]
    return "\n".join([*lines, "", _HOW])


def _by_subject(total: Round, kind: str, subject: str) -> list[str]:
    """Tries of a kind by algorithm, file or signal."""
    tries = Counter[str]()
    for (own, name, _), count in total.tries.items():
        if own == kind:
            tries[name] += count
    if kind == "signals":  # by the number of each, not by their order
        tries = Counter(
            {name: sum(c * key.split().count(name) for key, c in tries.items()) for name in _signals(tries)}
        )
    rows = [f"| {name} | {count:,} |" for name, count in sorted(tries.items())]
    return [f"| {kind}, by {subject} | tries |", "|---|---|", *rows]


def _signals(tries: Counter[str]) -> set[str]:
    return {name for key in tries for name in key.split()}
