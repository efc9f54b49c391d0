"""Posing a problem whose rows are in shards: what is true of all of them, and the plan that follows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.algorithms.pairedpam import first_references, levels_of, share_memory
from medoids.cluster.messages import Census, Copies, Plan, Task
from medoids.cluster.pool import Pool
from medoids.cluster.references import batches
from medoids.core.shares import largest_share
from medoids.distances import SMALL, Dissimilarity, Facts, Floats, Index, dissimilarity, find_metric, kind_of
from medoids.storage.fingerprints import of_value

__all__ = ["Elsewhere", "Posed", "fingerprint", "pose", "settle"]

# Rows of a fingerprint.
_SAMPLED = 256
# Kinds of data that can be shared.
_KINDS = ("vectors", "coordinates", "strings", "objects")
# Of the largest value: squared distances stay finite.
_LARGEST = 1e153
# And do not vanish, nor do those of a part in 1e10 of it.
_SMALLEST = 1e-140


class Elsewhere(Dissimilarity):
    """A distance whose objects are with the shards: what it is, and no block of it."""

    def __init__(self, n: int, kind: Dissimilarity) -> None:
        self.n, self.dtype, self.exact = n, kind.dtype, kind.exact
        self.symmetric, self.cost, self.threaded = kind.symmetric, kind.cost, kind.threaded

    def block(self, rows: Index, columns: Index) -> Floats:
        raise NotImplementedError

    def take(self, rows: Index) -> Dissimilarity:
        raise NotImplementedError

    def cross(self, queries: Any) -> npt.NDArray[np.float64]:
        raise NotImplementedError


class Posed:
    """What the driver knows: numbers of rows and references, the weight of all, the distance, and the levels."""

    def __init__(
        self,
        census: list[Census],
        facts: Facts,
        kind: Dissimilarity,
        task: Task,
        batch_width: int | None,
        share: float,
        counts: list[list[int]],
    ) -> None:
        self.rows = sum(c.rows for c in census)
        self.candidates = sum(sum(c.candidates) for c in census)
        self.n = sum(sum(own) for own in counts)
        self.weight = sum(c.weight for c in census)
        self.census, self.facts, self.share, self.counts = census, facts, share, counts
        self.distance = Elsewhere(self.rows, kind)
        self.degree = find_metric(task.metric).degree if isinstance(task.metric, str) else None
        if batch_width is not None:
            self.spans = batches(self.n, batch_width)
            return
        # As on one machine with the same limit, whatever the number of workers: the same rounds, the same path.
        first = first_references(kind.cost)
        copy = self.n * kind.copy_bytes() // kind.n
        _, scarce = share_memory(self.n, task.k, first, kind.dtype.itemsize, task.memory_limit, copy)
        self.spans = levels_of(self.n, first, kind.cost, scarce=scarce)


def survey(pool: Pool, task: Task) -> tuple[list[Census], Facts]:
    """Ask the shards for what decides how distances are computed."""
    kind = kind_of(task.metric)
    census: list[Census] = pool.ask("census")
    some = [c for c in census if sum(c.candidates)]
    if not some:
        rows = sum(c.rows for c in census)
        raise ValueError(
            "sample_weight is zero for every row; at least one weight must be positive" if rows else "X has no rows"
        )
    widths = sorted({c.columns for c in some})
    if len(widths) > 1:
        raise ValueError(f"partitions of X have {widths[0]} and {widths[-1]} columns; they must have the same")
    if "hamming" in str(task.metric) and kind == "strings":
        shortest, longest = min(c.shortest for c in some), max(c.longest for c in some)
        if shortest < longest:
            raise ValueError(
                f"metric={task.metric!r} takes strings of one length, but X has some of {shortest} and of {longest} "
                "characters; pad them, or use metric='levenshtein'"
            )
    n = sum(sum(c.candidates) for c in some)
    small = sum(c.rows for c in some) <= SMALL
    if np.dtype(some[0].dtype) != object and widths[0] and isinstance(task.metric, str):
        centre = np.sum([c.sums for c in some], axis=0) / n
        top = max(pool.ask("top", centre))
        if top > _LARGEST:
            raise ValueError(f"X holds values of size {top:.3g}, whose squared distances overflow; rescale X")
        if 0 < top < _SMALLEST and find_metric(task.metric).degree:
            raise ValueError(f"values of X differ by {top:.3g} at most, and squared distances vanish; rescale X")
        return census, Facts(small, centre, top)
    return census, Facts(
        small,
        longest=max(c.longest for c in some),
        length=sum(c.length for c in some) / n,
        tokens=any(c.tokens for c in some),
    )


def pose(pool: Pool, task: Task, batch_width: int | None = None) -> Posed:
    """Ask the shards for all that the driver needs to know; with ``batch_width``, levels are BanditPAM++'s batches."""
    if kind_of(task.metric) not in _KINDS:
        raise ValueError(f"metric={task.metric!r} is not available on a cluster; fit on one machine")
    census, facts = survey(pool, task)
    sample: Copies = next(c for c in pool.ask("sample") if len(c.objects))
    kind = dissimilarity(sample.objects, task.metric, task.metric_params)
    hosted = kind.hosting(sample.objects, sample.numbers, facts)
    share = largest_share(sum(c.weight for c in census), sum(sum(c.candidates) for c in census))
    posed = Posed(census, facts, hosted, task, batch_width, share, pool.ask("count_shares", share))
    if batch_width is None and hosted.dtype == np.float32:
        posed.facts = replace(facts, most=max(pool.ask("most", facts)))
    return posed


def settle(pool: Pool, posed: Posed, random: np.random.RandomState, parts: list[list[int]]) -> None:
    """Let all shards, whose partitions ``parts`` numbers, take their places in the permutation that is drawn."""
    counts: dict[int, int] = {}
    for own, references in zip(parts, posed.counts, strict=True):
        counts.update(zip(own, references, strict=True))
    before, total = {}, 0
    for number in sorted(counts):
        before[number] = total
        total += counts[number]
    state = random.get_state()
    pool.settle(
        [Plan(posed.facts, posed.n, [before[i] for i in own], posed.share, state, posed.spans) for own in parts]
    )


def fingerprint(pool: Pool, posed: Posed) -> dict[str, Any]:
    """Return what tells these data from others, whatever their chunks: shape, type, and some rows."""
    numbers = np.unique(np.linspace(0, posed.rows - 1, _SAMPLED).astype(np.intp))
    found: list[Copies] = pool.ask("pick", numbers)
    rows = np.concatenate([some.numbers for some in found])
    objects = np.concatenate([some.objects for some in found if len(some.numbers)])
    columns = posed.census[0].columns
    return {
        "shape": [posed.rows, columns] if columns else [posed.rows],
        "type": str(objects.dtype),
        "rows": of_value(objects[np.argsort(rows)]),
        "weights": round(posed.weight, 6),
    }
