"""The settings of one run: what its row is known by."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Run"]


@dataclass(frozen=True)
class Run:
    """One fit.

    Attributes
    ----------
    data : str
        A name of `medoids.datasets.METRIC`, which also gives the distance.
    n, k, T : int
        Points, medoids, and the most swaps.
    algorithm : str
        As the paper calls it.
    delta : float or None
        The paper's parameter; None is each algorithm's own, 1/(k n^3) for the paper's.
    seed : int
        Of the algorithm, and of a "distinct" sample.
    sample : {"authors", "distinct"}
        Rows as the authors drew them, with replacement and seed 0, or distinct rows drawn with ``seed``.

    Examples
    --------
    >>> run = Run("MNIST", 10_000, 10, 10, "BP++", delta=1e-3)
    >>> Run.of(run.settings()) == run
    True
    >>> print(run)
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
        """Return them as they stand in a row."""
        return {
            "data": self.data,
            "sample": self.sample,
            "n": str(self.n),
            "k": str(self.k),
            "T": str(self.T),
            "algorithm": self.algorithm,
            "delta": "" if self.delta is None else repr(self.delta),
            "seed": str(self.seed),
        }

    @classmethod
    def of(cls, row: dict[str, str]) -> Run:
        """Return the settings that a row has."""
        delta = float(row["delta"]) if row["delta"] else None
        n, k, T, seed = (int(row[name]) for name in ("n", "k", "T", "seed"))
        return cls(row["data"], n, k, T, row["algorithm"], delta, seed, row["sample"])

    def __str__(self) -> str:
        delta = "" if self.delta is None else f", delta {self.delta:g}"
        seed = f", seed {self.seed}" if self.seed else ""
        return f"{self.algorithm} on {self.data} {self.n:,}, k = {self.k}{delta}{seed}"
