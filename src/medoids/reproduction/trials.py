"""Trials, their results, and the CSV file to which rows are appended completely and durably, or not at all."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["COLUMNS", "PHASES", "TIMES", "Result", "ResultsFile", "Row", "Trial"]

Row = dict[str, str]

# What differs between two fits with the same settings.
TIMES = ("build_seconds", "build_cpu", "swap_seconds", "swap_cpu", "finished")
COLUMNS = (
    *("data", "sample", "n", "k", "T", "algorithm", "delta", "seed"),
    *("loss", "build_loss", "losses", "swaps", "converged", "medoids"),
    *("build_requested", "build_computed", "build_cached", "swap_requested", "swap_computed", "swap_cached"),
    *TIMES,
    *("fits", "medoids_version", "python", "numpy", "numba", "scikit_learn", "peer", "machine"),
)

# The phases whose columns `Result.distances` and `Result.cpu` add up.
PHASES = {"both": ("build", "swap"), "swap": ("swap",), "build": ("build",)}


@dataclass(frozen=True)
class Trial:
    """One fit.

    Attributes
    ----------
    data : str
        A name in `medoids.datasets.METRIC`, which also gives the distance.
    n, k, T : int
        Number of points, number of medoids and maximum number of swaps.
    algorithm : str
        Name that the paper uses.
    delta : float or None
        The paper's parameter. None is the default of the algorithm, 1/(k n^3) for those of the paper.
    seed : int
        Seed of the algorithm and of a "distinct" sample.
    sample : {"authors", "distinct"}
        Rows as the authors drew them, with replacement and seed 0, or distinct rows drawn with ``seed``.

    Examples
    --------
    >>> trial = Trial("MNIST", 10_000, 10, 10, "BP++", delta=1e-3)
    >>> Trial.of(trial.settings()) == trial
    True
    >>> print(trial)
    BP++ on MNIST 10,000, k = 10, delta 0.001
    """

    data: str
    n: int
    k: int
    T: int
    algorithm: str
    delta: float | None = None
    seed: int = 0
    sample: str = "authors"

    def settings(self) -> dict[str, str]:
        """Return the settings as text, as they appear in a row."""
        return {name: "" if value is None else str(value) for name, value in asdict(self).items()}

    @classmethod
    def of(cls, row: dict[str, str]) -> Trial:
        """Return the settings in a row."""
        return cls(
            row["data"],
            int(row["n"]),
            int(row["k"]),
            int(row["T"]),
            row["algorithm"],
            float(row["delta"]) if row["delta"] else None,
            int(row["seed"]),
            row["sample"],
        )

    def __str__(self) -> str:
        delta = "" if self.delta is None else f", delta {self.delta:g}"
        seed = f", seed {self.seed}" if self.seed else ""
        return f"{self.algorithm} on {self.data} {self.n:,}, k = {self.k}{delta}{seed}"


@dataclass(frozen=True)
class Result:
    """A row as numbers."""

    row: Row

    @property
    def loss(self) -> float:
        return float(self.row["loss"])

    @property
    def losses(self) -> list[float]:
        """Losses after BUILD and after each swap."""
        return [float(self.row["build_loss"]), *map(float, self.row["losses"].split())]

    @property
    def steps(self) -> int:
        """What the paper divides by: 1 for BUILD, plus the searches of SWAP, including a last one without success."""
        return 1 + int(self.row["swaps"]) + (self.row["converged"] == "True")

    def distances(self, phase: str = "both") -> int:
        return sum(int(self.row[f"{each}_computed"] or 0) for each in PHASES[phase])

    def cpu(self, phase: str = "both") -> float:
        return sum(float(self.row[f"{each}_cpu"] or 0) for each in PHASES[phase])

    def per_step(self, unit: str) -> float:
        """Return "CPU seconds" or "distances", divided by the number of steps."""
        return (self.cpu() if unit == "CPU seconds" else self.distances()) / self.steps


class ResultsFile(dict[Trial, Row]):
    """The rows of a file by trial, in the order in which they were added.

    Parameters
    ----------
    path : path
        A CSV file; created with the first row.

    Examples
    --------
    >>> import tempfile
    >>> rows = ResultsFile(Path(tempfile.mkdtemp()) / "rows.csv")
    >>> trial = Trial("MNIST", 1_000, 5, 10, "BP++")
    >>> rows.add(trial, {"loss": "8.25"})
    >>> ResultsFile(rows.path)[trial]["loss"]
    '8.25'
    >>> rows.result(trial).loss
    8.25
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        text = path.read_bytes() if path.exists() else b""
        complete = text[: text.rfind(b"\n") + 1]  # a process killed during a write leaves an unfinished line
        if len(complete) < len(text):
            os.truncate(path, len(complete))
        reader = csv.DictReader(io.StringIO(complete.decode()))
        if complete and tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path} has other columns than this version writes; move it away, or name another --out")
        for row in reader:
            self.setdefault(Trial.of(row), row)

    def add(self, trial: Trial, outcome: Row) -> None:
        """Append a row that survives a kill or a power cut."""
        row = {**dict.fromkeys(COLUMNS, ""), **trial.settings(), **outcome}
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        if not self.path.exists() or self.path.stat().st_size == 0:
            writer.writeheader()
        writer.writerow(row)
        # A single unbuffered write: the line is there completely, or unfinished at the end of the file.
        line = text.getvalue().encode()
        with open(self.path, "ab", buffering=0) as file:
            if file.write(line) < len(line):
                raise OSError(f"{self.path} could not be written: the disk is full")
            self[trial] = row  # first: an interrupt during the next line must not leave the row only in the file
            os.fsync(file.fileno())

    def result(self, trial: Trial) -> Result | None:
        """Return the result of a trial, or None if it was not run."""
        return Result(self[trial]) if trial in self else None
