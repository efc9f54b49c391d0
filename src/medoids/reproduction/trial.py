"""The settings of one fit, which identify its row in the file of results."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["Trial"]


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
        delta = float(row["delta"]) if row["delta"] else None
        n, k, T, seed = (int(row[name]) for name in ("n", "k", "T", "seed"))
        return cls(row["data"], n, k, T, row["algorithm"], delta, seed, row["sample"])

    def __str__(self) -> str:
        delta = "" if self.delta is None else f", delta {self.delta:g}"
        seed = f", seed {self.seed}" if self.seed else ""
        return f"{self.algorithm} on {self.data} {self.n:,}, k = {self.k}{delta}{seed}"
