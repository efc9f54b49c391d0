"""The file of results: CSV with a row per finished trial, appended completely and durably or not at all."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path

from medoids.reproduction.trial import Trial

__all__ = ["COLUMNS", "PHASES", "TIMES", "Result", "ResultsFile", "Row"]

Row = dict[str, str]

_SETTINGS = ("data", "sample", "n", "k", "T", "algorithm", "delta", "seed")
_OUTCOME = ("loss", "build_loss", "losses", "swaps", "converged", "medoids")
_COUNTS = tuple(f"{phase}_{kind}" for phase in ("build", "swap") for kind in ("requested", "computed", "cached"))
# What differs between two fits with the same settings.
TIMES = ("build_seconds", "build_cpu", "swap_seconds", "swap_cpu", "finished")
_ENVIRONMENT = ("fits", "medoids_version", "python", "numpy", "numba", "scikit_learn", "peer", "machine")
COLUMNS = (*_SETTINGS, *_OUTCOME, *_COUNTS, *TIMES, *_ENVIRONMENT)

# The phases whose columns `Result.distances` and `Result.cpu` add up.
PHASES = {"both": ("build", "swap"), "swap": ("swap",), "build": ("build",)}


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

    @property
    def medoids(self) -> frozenset[int]:
        return frozenset(map(int, self.row["medoids"].split()))

    def distances(self, phase: str = "both") -> int:
        return sum(int(self.row[f"{each}_computed"] or 0) for each in PHASES[phase])

    def cpu(self, phase: str = "both") -> float:
        return sum(float(self.row[f"{each}_cpu"] or 0) for each in PHASES[phase])


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
        if path.exists():
            for row in self._read():
                self.setdefault(Trial.of(row), row)

    def _read(self) -> list[Row]:
        text = self.path.read_bytes()
        complete = text[: text.rfind(b"\n") + 1]  # a process killed during a write leaves an unfinished line
        if len(complete) < len(text):
            os.truncate(self.path, len(complete))
        reader = csv.DictReader(io.StringIO(complete.decode()))
        if complete and tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(
                f"{self.path} has other columns than this version writes; move it away, or name another --out"
            )
        return list(reader)

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
            os.fsync(file.fileno())
        self[trial] = row

    def result(self, trial: Trial) -> Result | None:
        """Return the result of a trial, or None if it was not run."""
        row = self.get(trial)
        return None if row is None else Result(row)
