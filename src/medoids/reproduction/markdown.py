"""What rows say: values as numbers, and the words in which tables and sentences are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from medoids.reproduction.rows import Row, Rows
from medoids.reproduction.run import Run

__all__ = ["DATA", "SAME", "Result", "Section", "excess", "listed", "relative", "result", "spread", "table"]

# Two losses of float64 that were summed in different orders.
SAME = 1e-9
# How the sets are called on the page.
DATA = {
    "MNIST": "MNIST (L2)",
    "CIFAR10": "CIFAR10 (L1)",
    "NEWSGROUPS": "20 Newsgroups (cosine)",
    "SCRNA-WORM": "scRNA worm (L1)",
    "SCRNA-BLADDER": "scRNA bladder (L1)",
}

_PHASES = {"both": ("build", "swap")}


@dataclass(frozen=True)
class Section:
    """A table or figure of the page: its text, whether its claim held, and its pictures by file name."""

    text: str
    verdict: str
    pictures: dict[str, str]


@dataclass(frozen=True)
class Result:
    """One row, in numbers. Phases are "build", "swap" and "both"."""

    row: Row

    @property
    def loss(self) -> float:
        return float(self.row["loss"])

    @property
    def losses(self) -> list[float]:
        """After BUILD and after each swap."""
        return [float(self.row["build_loss"]), *map(float, self.row["losses"].split())]

    @property
    def iterations(self) -> int:
        """SWAP's searches, with the last one that found nothing: what the paper divides by, less 1 for BUILD."""
        return int(self.row["swaps"]) + (self.row["converged"] == "True")

    @property
    def medoids(self) -> frozenset[int]:
        return frozenset(map(int, self.row["medoids"].split()))

    def distances(self, phase: str = "both") -> int:
        return sum(int(self.row[f"{each}_computed"] or 0) for each in _PHASES.get(phase, (phase,)))

    def cpu(self, phase: str = "both") -> float:
        return sum(float(self.row[f"{each}_cpu"] or 0) for each in _PHASES.get(phase, (phase,)))


def result(rows: Rows, run: Run) -> Result | None:
    """Return what was found in a run, or None where it has not been made."""
    row = rows.get(run)
    return None if row is None else Result(row)


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown.

    >>> print(table(["k", "loss"], [["5", "7.9"]]))
    | k | loss |
    |---|---|
    | 5 | 7.9 |
    """
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *body])


def relative(ratio: float, digits: int = 2) -> str:
    """Write a ratio near 1 as the paper does, and by how much it is off where it is.

    >>> relative(1.0), relative(1.0012)
    ('1.00', '1.00 (+1.2e-03)')
    """
    off = ratio - 1
    return f"{ratio:.{digits}f}" + (f" ({off:+.1e})" if abs(off) > SAME else "")


def excess(loss: float, other: Result | None) -> str:
    """Write by what share a loss is above another's."""
    if other is None:
        return "not run"
    off = loss / other.loss - 1
    return "0" if abs(off) <= SAME else f"{off:+.1e}"


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Write a mean, and the standard deviation where there are several.

    >>> spread([2.0]), spread([1.0, 3.0])
    ('2.00', '2.00 ± 1.41')
    """
    if not values:
        return "not run"
    return f"{mean(values):.{digits}f}" + (f" ± {stdev(values):.{digits}f}" if len(values) > 1 else "")


def listed(names: Sequence[str], most: int = 1_000) -> str:
    """Write names in a row, at most so many of them.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
