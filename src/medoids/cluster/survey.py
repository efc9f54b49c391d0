"""Asking the workers what is true of all rows together: their number, weights and distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.cluster.messages import Census, Copies, Task, in_row_order
from medoids.cluster.pool import Pool
from medoids.core.run import SMALLEST_LOSS
from medoids.distances import SMALL, Dissimilarity, Facts, Floats, Index, dissimilarity, find_metric, kind_of
from medoids.distances.protocol import Wrapper, numbers_of
from medoids.engine.arrays import Digests, Float64s, Rows
from medoids.storage.fingerprints import of_value

__all__ = ["Elsewhere", "Survey", "fingerprint", "give", "survey"]

# Rows of a fingerprint.
_SAMPLED = 256
# Kinds of data that can be shared.
_KINDS = ("vectors", "coordinates", "strings", "objects")
# Of the largest value: squared distances stay finite. (From SMALLEST_LOSS on they do not vanish.)
_LARGEST_VALUE = 1e153


class Elsewhere(Wrapper):
    """A distance whose objects are with the workers: those that a block needs are fetched for it."""

    def __init__(self, n: int, kind: Dissimilarity, facts: Facts, pool: Pool) -> None:
        super().__init__(kind)
        self.n, self._facts, self._pool = n, facts, pool

    def among(self, copies: Copies) -> Dissimilarity:
        """Return the distance among rows that are here."""
        return self._inner.hosting(copies.objects, copies.rows, self._facts)

    def block(self, rows: Index, columns: Index) -> Floats:
        i, j = numbers_of(rows, self.n), numbers_of(columns, self.n)
        both = np.union1d(i, j)
        return self.take(both).block(np.searchsorted(both, i), np.searchsorted(both, j))

    def exact_block(self, rows: Index, columns: Index) -> Float64s:
        raise NotImplementedError  # workers measure what is exact

    def take(self, rows: Index) -> Dissimilarity:
        """Return the distance among rows, given in ascending order, which are fetched."""
        here = self.among(self._pool.surely(lambda: give(self._pool, numbers_of(rows, self.n))))
        here.prepare()
        return here

    def digests(self, rows: Rows) -> Digests | None:
        found = self._pool.surely(lambda: self._pool.ask("digests", rows))
        return None if any(digests is None for _, digests in found) else in_row_order(found)[1]

    def cross(self, queries: Any) -> Float64s:
        raise NotImplementedError


def give(pool: Pool, rows: Rows) -> Copies:
    """Return rows of X, in ascending order, from the workers that have them."""
    return Copies(*in_row_order(pool.ask("give", rows)))


class Survey:
    """What the driver knows of all rows: their weights, the distance, and facts about it."""

    def __init__(self, some: list[Census], rows: int, facts: Facts, pool: Pool, task: Task) -> None:
        self.rows, self.columns, self.facts = rows, some[0].columns, facts
        sample = some[0].sample
        kind = dissimilarity(sample.objects, task.metric, task.metric_params)
        self.distance = Elsewhere(rows, kind.hosting(sample.objects, sample.rows, facts), facts, pool)
        self.degree = find_metric(task.metric).degree if isinstance(task.metric, str) else None
        weighed = [c.weighed for c in some if c.weighed is not None]
        self.weights = np.zeros(rows) if weighed else np.ones(rows)
        for here, weights in weighed:
            self.weights[here] = weights
        self.candidates = sum(c.candidates for c in some)


def _facts_of(some: list[Census], pool: Pool, task: Task) -> Facts:
    """Return what decides how distances are computed."""
    widths = sorted({c.columns for c in some})
    if len(widths) > 1:
        raise ValueError(f"partitions of X have {widths[0]} and {widths[-1]} columns; they must have the same")
    if "hamming" in str(task.metric) and kind_of(task.metric) == "strings":
        shortest, longest = min(c.shortest for c in some), max(c.longest for c in some)
        if shortest < longest:
            raise ValueError(
                f"metric={task.metric!r} takes strings of one length, but X has some of {shortest} and of {longest} "
                "characters; pad them, or use metric='levenshtein'"
            )
    n = sum(c.candidates for c in some)
    small = sum(c.rows for c in some) <= SMALL
    if some[0].sample.objects.dtype != object and widths[0] and isinstance(task.metric, str):
        centre = np.sum([c.sums for c in some], axis=0) / n
        top = max(pool.surely(lambda: pool.ask("top", centre)))
        if top > _LARGEST_VALUE:
            raise ValueError(f"X holds values of size {top:.3g}, whose squared distances overflow; rescale X")
        if 0 < top < SMALLEST_LOSS and find_metric(task.metric).degree:
            raise ValueError(f"values of X differ by {top:.3g} at most, and squared distances vanish; rescale X")
        return Facts(small, centre, top)
    longest, length = max(c.longest for c in some), sum(c.length for c in some) / n
    return Facts(small, longest=longest, length=length, tokens=any(c.tokens for c in some))


def survey(pool: Pool, task: Task) -> Survey:
    """Ask the workers for all that the driver needs to know."""
    if kind_of(task.metric) not in _KINDS:
        raise ValueError(f"metric={task.metric!r} is not available on a cluster; fit on one machine")
    census: list[Census] = pool.surely(lambda: pool.ask("census"))
    rows, some = sum(c.rows for c in census), [c for c in census if c.candidates]
    if not some:
        raise ValueError(
            "sample_weight is zero for every row; at least one weight must be positive" if rows else "X has no rows"
        )
    return Survey(some, rows, _facts_of(some, pool, task), pool, task)


def fingerprint(pool: Pool, surveyed: Survey) -> dict[str, Any]:
    """Return what tells these data from others, whatever their chunks: shape, type, and some rows."""
    rows = np.unique(np.linspace(0, surveyed.rows - 1, _SAMPLED).astype(np.intp))
    objects = pool.surely(lambda: give(pool, rows)).objects
    return {
        "shape": [surveyed.rows, surveyed.columns] if surveyed.columns else [surveyed.rows],
        "type": str(objects.dtype),
        "rows": of_value(objects),
        "weights": round(float(surveyed.weights.sum()), 6),
    }
