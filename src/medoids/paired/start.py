"""Medoids to start eager swaps from: those of a sample, by restarts on its matrix of distances, and then nearby ones.

A thousand points say which regions need a medoid, and single swaps can hardly correct a start that got this wrong. So
the time goes into several descents on the sample, which take a tenth of a second, rather than into BUILD on all points.

Where in its region a medoid should be, larger samples say: four times as large, and so on, up to all points. In each a
medoid makes way for one of the nearest points if that serves the sample better. Among images all points are about
equally near, and it would cost more than it saves.
"""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.budget import CHEAP_NS, POINTS_PER_CHUNK
from medoids.engine.threads import Threads, spans
from medoids.optimal.instance import Instance
from medoids.optimal.restarts import restart
from medoids.paired.places import Places

__all__ = ["close_in", "medoids_of_sample", "sample_size"]

# Points of the sample: one in this many, or some for each medoid, within limits. With 4,096 instead of 1,024 points the
# mean loss is 0.1% lower on covertype and gmm 1,000,000; of 100,000 they would take 0.2 to 0.4 s. With 64 instead of 16
# for each medoid, MNIST 70,000 at k = 100 takes 38 s instead of 49.
_SHARE, _PER_MEDOID, _LIMITS = 32, 64, (1024, 4096)
# Restarts on the sample: with 10, the mean loss on covertype under manhattan is 0.2% higher; 60 take thrice as long.
_RESTARTS = 20
# Then: points of the largest sample, points near a medoid that may take its place, and how often they are gathered, and
# all medoids tried each time: medoids that move leave points out of reach, so a loop might not end by itself.
_LARGEST, _NEAR, _SWEEPS = 1 << 18, 32, 8


def sample_size(n: int, k: int) -> int:
    """Return the number of points of a sample: a power of 2, and of many points at most a quarter.

    >>> sample_size(100_000, 10), sample_size(700, 10), sample_size(20_000, 300), sample_size(5_000, 300)
    (2048, 512, 4096, 1024)
    """
    wanted = min(max(n // _SHARE, _PER_MEDOID * k), n // 4)
    return int(2 ** np.floor(np.log2(min(n, np.clip(wanted, *_LIMITS)))))


def medoids_of_sample(problem: Problem, run: Run, points: Rows, weights: Float64s) -> Rows:
    """Return k rows that serve a weighted sample of points well; candidates are its points."""
    points, at = np.unique(points, return_inverse=True)
    weights = np.bincount(at, weights).astype(np.float64)
    candidates = np.union1d(points[problem.eligible[points]], problem.frozen).astype(np.intp)
    if len(candidates) < problem.k:
        others = np.setdiff1d(problem.candidates, candidates)
        candidates = np.union1d(candidates, run.random.choice(others, problem.k - len(candidates), replace=False))
    distance = run.distance  # by point, as the instance wants it: turning 4,096 rows would take a tenth of a second
    block = distance.block(points, candidates).T if distance.symmetric else distance.block(candidates, points)
    frozen = np.searchsorted(candidates, problem.frozen)
    instance = Instance.of(block, problem.k, weights=weights, frozen=frozen, check=run.check, spread=run.threads.map)
    at = np.minimum(np.searchsorted(points, candidates), len(points) - 1)
    others = np.flatnonzero(points[at] != candidates)
    at[others] = block[others].argmin(axis=1)
    first = _draw(block, weights, frozen, at, problem.k, run.random)
    seed = int(run.random.randint(np.iinfo(np.int32).max))
    found = restart(instance, first, _RESTARTS, seed, max_iter=problem.max_iter)
    return candidates[found.medoids]


def close_in(problem: Problem, places: Places, medoids: Rows) -> Rows:
    """Return medoids near the given ones that serve larger and larger samples better."""
    # Where distances are cheap, or where the swaps that this saves would take longer: their time grows with n.
    largest = _LARGEST if problem.distance.cost < CHEAP_NS or places.n > _LARGEST else 0
    for points, weights in places.samples(4 * sample_size(places.n, problem.k), largest, places.run.random):
        for _ in range(_SWEEPS):
            before, medoids = medoids, _move(problem, places, medoids, points, weights)
            if (medoids == before).all():
                break
    return medoids


def _move(problem: Problem, places: Places, medoids: Rows, points: Rows, weights: Float64s) -> Rows:
    """Replace medoids by near points of a sample as long as that lowers its loss."""
    distance, numbers = places.gather(np.concatenate([medoids, points]))
    own, others = numbers[: len(medoids)], numbers[len(medoids) :]
    rows, threads = np.empty((len(own), len(others)), places.kind), places.run.threads
    d1, d2, nearest = np.empty(len(others)), np.full(len(others), np.inf), np.empty(len(others), dtype=np.intp)

    def assign(chunk: slice) -> None:
        rows[:, chunk] = distance.block(own, others[chunk])
        block = rows[:, chunk].copy()
        nearest[chunk], d1[chunk] = block.argmin(axis=0), block.min(axis=0)
        block[nearest[chunk], np.arange(block.shape[1])] = np.inf  # np.partition takes far longer
        d2[chunk] = block.min(axis=0)

    threads.map(assign, spans(len(others), POINTS_PER_CHUNK), threaded=distance.threaded)
    free = problem.eligible[points] & ~np.isin(points, medoids)
    tried: list[tuple[Rows, Rows, Floats]] = [(points[:0], points[:0], rows[:0, :0])] * len(rows)

    def measure(slot: int) -> None:
        """Measure near points to those that may be nearer to one of them than to other medoids."""
        members = np.flatnonzero(free & (nearest == slot))
        near = members[np.argsort(rows[slot, members])[:_NEAR]]
        if len(near) and medoids[slot] not in problem.frozen:
            mine = np.flatnonzero(rows[slot] <= np.where(nearest == slot, d2, d1) + rows[slot, near].max())
            block = np.concatenate([rows[slot : slot + 1, mine], distance.block(others[near], others[mine])])
            tried[slot] = np.append(medoids[slot], points[near]), mine, block

    threads.map(measure, range(len(rows)), threaded=distance.threaded)
    movable = [slot for slot, (near, _, _) in enumerate(tried) if len(near)]
    found, at, still = medoids.copy(), np.zeros(len(rows), dtype=np.intp), 0
    weights = weights.astype(places.kind)
    for slot in _SWEEPS * movable:
        near, mine, block = tried[slot]
        losses = _sums(threads, np.delete(rows, slot, axis=0), mine, block, weights)
        best, still = int(losses.argmin()), still + 1
        if losses[best] < losses[at[slot]]:
            at[slot], found[slot], rows[slot, mine], still = best, near[best], block[best], 0
        if still == len(movable):
            break
    return found


def _sums(threads: Threads, rows: Floats, mine: Rows, block: Floats, weights: Floats) -> Float64s:
    """Return the loss of some points for each row of a block, beside other medoids with these rows."""
    chunks = spans(len(mine), POINTS_PER_CHUNK)
    parts = np.empty((len(chunks), len(block)))

    def work(number: int) -> None:
        some = mine[chunks[number]]
        other = rows[:, some].min(axis=0, initial=np.inf)
        parts[number] = np.minimum(block[:, chunks[number]], other) @ weights[some]

    threads.map(work, range(len(chunks)))
    sums: Float64s = parts.sum(axis=0)
    return sums


def _draw(block: Floats, weights: Float64s, frozen: Rows, nearest: Rows, k: int, random: np.random.RandomState) -> Rows:
    """Draw medoids as k-medoids++ does, in each step the one of a few that lowers the loss most.

    A candidate is drawn by the loss of the point that is nearest to it.
    """
    medoids = frozen.tolist()
    near = block[medoids].min(axis=0) if medoids else np.full(block.shape[1], np.inf)
    while len(medoids) < k:
        loss = np.maximum(near[nearest], 0) if medoids else np.ones(len(block))
        chance = weights[nearest] * loss
        chance[medoids] = 0
        if not chance.any():
            chance = np.ones(len(block))
            chance[medoids] = 0
        tried = random.choice(len(block), 2 + int(np.log(k)), p=chance / chance.sum())
        medoids.append(int(tried[(np.minimum(block[tried], near) @ weights).argmin()]))
        near = np.minimum(near, block[medoids[-1]])
    return np.array(medoids, dtype=np.intp)
