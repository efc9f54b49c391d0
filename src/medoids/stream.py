"""Medoids that follow a stream in bounded memory: a weighted sample of all rows so far, and medoids of the sample.

Each row of the stream gets an importance, its weight times 1/2 + d / (2 mean d), with d its distance to the nearest
medoid when it came (1 in the first batch), and a priority, its importance over a uniform random number. The rows of the
highest priorities are kept. With t the highest priority that was not, a row of importance q was kept with probability
min(1, q / t), and its weight is divided by that (priority sampling: Duffield, Lund and Thorup 2007): the weighted loss
of any medoids over the sample has the loss over all rows as its expectation, whatever the order of the stream. Rows far
from all medoids count more, and are kept more often.

Medoids descend from those before, and whenever the stream has doubled also from a fresh start.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from medoids.api import fit_checked
from medoids.distances import Dissimilarity, count_rows, take_rows
from medoids.engine.arrays import Float64s, Rows
from medoids.result import Clustering
from medoids.settings import Settings, check_weights

__all__ = ["Stream", "check_stream"]

# Rows that are kept: this many, and for each medoid.
_KEPT_ROWS, _KEPT_ROWS_PER_MEDOID = 4000, 100


def check_stream(settings: Settings, n_clusters: Any, kind: str) -> None:
    """Refuse what a stream cannot do."""
    if n_clusters == "auto":
        raise ValueError("partial_fit takes a number of clusters, not 'auto'; k_path on a batch suggests one")
    if kind in ("matrix", "table"):
        why = "distances to later rows" if kind == "matrix" else "ranges of columns, which later rows change"
        raise ValueError(f"partial_fit would need {why}; use fit on all rows, or another metric")
    only = ("min_size", "max_size", "objective", "max_evaluations", "frozen_medoids", "candidates", "checkpoint")
    defaults = Settings().described()
    for name in only:
        value = getattr(settings, name)
        if value is not None and not (isinstance(value, str) and value == defaults[name]):
            pickled = "; pickle the estimator between batches instead" if name == "checkpoint" else ""
            raise ValueError(f"partial_fit has no {name}; leave {name} out{pickled}")
    if not isinstance(settings.init, str):
        raise ValueError("partial_fit starts from a batch, in which rows of init are unknown; leave init out")


@dataclass
class Stream:
    """The rows that are kept of a stream.

    Attributes
    ----------
    rows : array, sparse array or list
        What is kept.
    numbers : ndarray of int
        Their numbers since the first batch.
    weights, importances, priorities : ndarray
        Of these rows.
    threshold : float
        The highest priority of a row that was not kept.
    seen, total : int, float
        Rows and weight so far.
    fresh : int
        Rows at the last fresh start.
    random : RandomState
    """

    random: np.random.RandomState
    rows: Any = None
    numbers: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    weights: Float64s = field(default_factory=lambda: np.zeros(0))
    importances: Float64s = field(default_factory=lambda: np.zeros(0))
    priorities: Float64s = field(default_factory=lambda: np.zeros(0))
    threshold: float = 0.0
    seen: int = 0
    total: float = 0.0
    fresh: int = 0

    @classmethod
    def begin(cls, random_state: Any) -> Stream:
        return cls(check_random_state(check_random_state(random_state).randint(2**31 - 1)))

    def add(self, X: Any, sample_weight: Any, distances: Float64s | None, k: int, keep: Rows) -> None:
        """Take up a batch; ``distances`` are those to the nearest medoids, and the rows ``keep`` stay in any case."""
        n = count_rows(X)
        weights = check_weights(sample_weight, n)
        importances = weights.copy()
        mean = 0.0 if distances is None else float(weights @ distances) / float(weights.sum())
        if distances is not None and mean > 0:
            importances *= 0.5 + 0.5 * distances / mean
        self.rows = X if self.rows is None else _joined(self.rows, X)
        self.numbers = np.concatenate([self.numbers, np.arange(self.seen, self.seen + n)])
        self.weights = np.concatenate([self.weights, weights])
        self.importances = np.concatenate([self.importances, importances])
        self.priorities = np.concatenate([self.priorities, importances / (1 - self.random.random_sample(n))])
        self.seen, self.total = self.seen + n, self.total + float(weights.sum())
        most = max(_KEPT_ROWS, _KEPT_ROWS_PER_MEDOID * k)
        if len(self.numbers) <= most:
            return
        order = np.argsort(-self.priorities, kind="stable")
        self.threshold = max(self.threshold, float(self.priorities[order[most]]))
        kept = (self.priorities > self.threshold) | np.isin(self.numbers, keep)
        at = np.flatnonzero(kept)
        self.rows, self.numbers = take_rows(self.rows, at), self.numbers[at]
        self.weights, self.importances = self.weights[at], self.importances[at]
        self.priorities = self.priorities[at]

    def shares(self) -> Float64s:
        """Return the weight of the stream that each row stands for; 0 for a medoid that is not part of the sample."""
        if self.threshold == 0:
            return self.weights
        chance = np.minimum(1, self.importances / self.threshold)
        return np.where(self.priorities > self.threshold, self.weights / np.maximum(chance, 1e-300), 0)

    def fit(self, k: int, medoids: Rows | None, settings: Settings) -> tuple[Clustering, Dissimilarity]:
        """Return the medoids of what is kept; from those before, and from a fresh start when the stream has doubled."""
        # The medoids so far may be candidates even if they are no part of the sample.
        every = np.arange(len(self.numbers))
        settings = replace(settings, candidates=every, random_state=self.random.randint(2**31 - 1))
        found = None
        if medoids is not None:
            before = np.searchsorted(self.numbers, medoids)
            found = fit_checked(self.rows, k, self.shares(), replace(settings, init=before, n_init=1))
        if self.seen >= 2 * self.fresh:
            self.fresh = self.seen
            other = fit_checked(self.rows, k, self.shares(), settings)
            if found is None or other[0].loss < found[0].loss:
                found = other
        assert found is not None
        return found


def _joined(rows: Any, more: Any) -> Any:
    if isinstance(rows, np.ndarray) and isinstance(more, np.ndarray):
        return np.concatenate([rows, more])
    return sparse.vstack([rows, more], format="csr") if sparse.issparse(rows) else [*rows, *more]
