"""Medoids to start eager swaps from: those of a sample, by restarts on its matrix of distances, and then nearby ones.

A thousand points say which regions need a medoid, and single swaps can hardly correct a start that got this wrong. So
the time goes into several descents on the sample, which take a tenth of a second, rather than into BUILD on all points.

Where in its region a medoid should be, larger samples say: four times as large, and so on, up to all points. In each a
medoid makes way for a promising point of its cluster if that serves the sample better. Among images all points are
about equally near, and it would cost more than it saves.
"""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.core.sampling import with_candidates
from medoids.distances import Dissimilarity
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.engine.budget import ARMS_PER_CHUNK, CHEAP_NS, POINTS_PER_CHUNK
from medoids.engine.threads import Threads, spans
from medoids.optimal.instance import Instance
from medoids.optimal.restarts import restart
from medoids.paired.places import Places

__all__ = ["close_in", "medoids_of_sample", "sample_size"]

# Points of the sample: one in this many, or some for each medoid, within limits. With 4,096 instead of 1,024 points the
# mean loss is 0.1% lower on covertype and gmm 1,000,000; of 100,000 they would take 0.2 to 0.4 s. With 64 instead of 16
# for each medoid, MNIST 70,000 at k = 100 takes 38 s instead of 49.
_SHARE, _PER_MEDOID, _LIMITS = 32, 64, (1024, 4096)
# Restarts on the sample, and twice as many from 131,072 points on: with half as many, the mean loss on covertype under
# manhattan is 0.16% higher; with twice as many, 100,000 points take 0.1 s longer.
_RESTARTS = 20
# Then: points of the largest sample; points of a cluster that its members are compared with, and how many members are
# tried, which lowers the mean loss on gmm 100,000 by 0.1% from those nearest to the medoid; and how often all are
# moved, and tried each time: medoids that move leave points out of reach, so a loop might not end by itself.
_LARGEST, _COMPARED, _TRIED, _SWEEPS = 1 << 20, 256, 32, 8


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
    candidates = with_candidates(problem, run.random, candidates, problem.k)
    distance = run.distance  # by point, as the instance wants it: turning 4,096 rows takes a tenth of a second
    block = distance.block(points, candidates).T if distance.symmetric else distance.block(candidates, points)
    frozen = np.searchsorted(candidates, problem.frozen)
    instance = Instance.of(block, problem.k, weights=weights, frozen=frozen, check=run.check, spread=run.threads.map)
    first = _draw(block, weights, frozen, problem.k, run.random)
    seed = int(run.random.randint(np.iinfo(np.int32).max))
    restarts = _RESTARTS if problem.n // _SHARE < _LIMITS[1] else 2 * _RESTARTS
    return candidates[restart(instance, first, restarts, seed, max_iter=problem.max_iter).medoids]


def close_in(problem: Problem, places: Places, medoids: Rows) -> Rows:
    """Return medoids near the given ones that serve larger and larger samples better."""
    # Where distances are cheap, or where the swaps that this saves would take longer: their time grows with n.
    largest = _LARGEST if problem.distance.cost < CHEAP_NS or 4 * places.n > _LARGEST else 0
    room = problem.memory_limit // (4 * places.kind.itemsize * (problem.k + 3 * _TRIED))
    for points, weights in places.samples(4 * sample_size(places.n, problem.k), min(largest, room), places.run.random):
        both, at = np.concatenate([medoids, points]), np.arange(len(medoids))
        distance, numbers = places.gather(both)  # once: on a cluster, rows are fetched
        # On all points, the search that follows says as much as another sweep.
        for _ in range(_SWEEPS if len(points) < places.n else 1):
            before, at = at, _move(places, distance, numbers, both, at, weights)
            if (at == before).all():
                break
        medoids = both[at]
    return medoids


def _move(places: Places, distance: Dissimilarity, numbers: Rows, both: Rows, at: Rows, weights: Float64s) -> Rows:
    """Replace medoids, at positions of ``both`` (these, then the sample), by points of their clusters if that helps."""
    problem, medoids, points, own, others = places.problem, both[at], both[len(at) :], numbers[at], numbers[len(at) :]
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
    weights = weights.astype(places.kind)
    tried: list[tuple[Rows, Rows, Floats]] = [(points[:0], points[:0], rows[:0, :0])] * len(rows)

    def measure(slot: int) -> None:
        """Measure promising members of a cluster to points that may be nearer to one of them than to other medoids."""
        mine = np.flatnonzero(nearest == slot)
        members, some = mine[free[mine]], mine[:: max(1, len(mine) // _COMPARED)]
        if len(members) and medoids[slot] not in problem.frozen:
            sums = np.empty(len(members))
            for chunk in spans(len(members), ARMS_PER_CHUNK):
                block = distance.block(others[members[chunk]], others[some])
                sums[chunk] = np.minimum(block, d2[some]) @ weights[some]
            near = members[np.argsort(sums)[:_TRIED]]
            mine = np.flatnonzero(rows[slot] <= np.where(nearest == slot, d2, d1) + rows[slot, near].max())
            block = np.concatenate([rows[slot : slot + 1, mine], distance.block(others[near], others[mine])])
            tried[slot] = np.append(at[slot], len(at) + near), mine, block

    threads.map(measure, range(len(rows)), threaded=distance.threaded)
    movable = [slot for slot, (near, _, _) in enumerate(tried) if len(near)]
    found, taken, still = at.copy(), np.zeros(len(rows), dtype=np.intp), 0
    for slot in _SWEEPS * movable:
        near, mine, block = tried[slot]
        losses = _sums(threads, np.delete(rows, slot, axis=0), mine, block, weights)
        best, still = int(losses.argmin()), still + 1
        if losses[best] < losses[taken[slot]]:
            taken[slot], found[slot], rows[slot, mine], still = best, near[best], block[best], 0
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


def _draw(block: Floats, weights: Float64s, frozen: Rows, k: int, random: np.random.RandomState) -> Rows:
    """Draw medoids as k-medoids++ does: the best of the candidates nearest to a few points drawn by loss."""
    medoids = frozen.tolist()
    while len(medoids) < k:
        near = block[medoids].min(axis=0) if medoids else np.full(block.shape[1], np.inf)
        loss = weights * np.maximum(near, 0) if medoids else weights
        loss = loss if loss.any() else weights  # only copies of medoids are left
        others = block[:, random.choice(len(loss), 2 + int(np.log(k)), p=loss / loss.sum())].astype(np.float64)
        others[medoids] = np.inf
        tried = others.argmin(axis=0)
        medoids.append(int(tried[(np.minimum(block[tried], near) @ weights).argmin()]))
    return np.array(medoids, dtype=np.intp)
