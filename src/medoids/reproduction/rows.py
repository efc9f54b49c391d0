"""The rows of finished runs: one CSV file, to which a row is added whole and durably, or not at all."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

from medoids.reproduction.run import Run

__all__ = ["COLUMNS", "TIMES", "Row", "Rows"]

Row = dict[str, str]

_SETTINGS = ("data", "sample", "n", "k", "T", "algorithm", "delta", "seed")
_FOUND = ("loss", "build_loss", "losses", "swaps", "converged", "medoids")
_COUNTS = tuple(f"{phase}_{kind}" for phase in ("build", "swap") for kind in ("requested", "computed", "cached"))
# What differs between two runs of the same settings.
TIMES = ("build_seconds", "build_cpu", "swap_seconds", "swap_cpu", "finished")
_WHERE = ("fits", "medoids_version", "python", "numpy", "numba", "scikit_learn", "peer", "machine")
COLUMNS = (*_SETTINGS, *_FOUND, *_COUNTS, *TIMES, *_WHERE)


class Rows:
    """The rows of a file, by the settings of their runs, in the order in which they were made.

    Parameters
    ----------
    path : path
        A CSV file; made with the first row.

    Examples
    --------
    >>> import tempfile
    >>> rows = Rows(Path(tempfile.mkdtemp()) / "rows.csv")
    >>> run = Run("MNIST", 1_000, 5, 10, "BP++")
    >>> rows.add(run, {"loss": "8.25"})
    >>> Rows(rows.path)[run]["loss"]
    '8.25'
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[Run, Row] = {}
        if path.exists():
            for row in self._read():
                self._rows.setdefault(Run.of(row), row)

    def _read(self) -> list[Row]:
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]  # a kill in the middle of a write leaves a line without an end
        if len(whole) < len(text):
            with open(self.path, "r+b") as file:
                file.truncate(len(whole))
        reader = csv.DictReader(io.StringIO(whole.decode()))
        if whole and tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(
                f"{self.path} has other columns than this version writes; move it away, or name another --out"
            )
        return list(reader)

    def add(self, run: Run, found: Row) -> None:
        """Write a row, so that it is there after a kill or a power cut."""
        row = {**dict.fromkeys(COLUMNS, ""), **run.settings(), **found}
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        if not self.path.exists() or self.path.stat().st_size == 0:
            writer.writeheader()
        writer.writerow(row)
        line = text.getvalue().encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            if os.write(handle, line) < len(line):
                raise OSError(f"{self.path} could not be written: the disk is full")
            os.fsync(handle)
        finally:
            os.close(handle)
        self._rows[run] = row

    def __contains__(self, run: Run) -> bool:
        return run in self._rows

    def __getitem__(self, run: Run) -> Row:
        return self._rows[run]

    def get(self, run: Run) -> Row | None:
        return self._rows.get(run)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)
