"""Medoids to start eager swaps from: those of a sample, by restarts on its matrix of distances.

A few thousand points say which regions need a medoid, and single swaps can hardly correct a start that got this wrong.
So the time goes into several descents on the sample, which take a tenth of a second, rather than into BUILD on all.
"""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.engine.arrays import Float64s, Floats, Rows
from medoids.optimal.instance import Instance
from medoids.optimal.restarts import restart

__all__ = ["medoids_of_sample", "sample_size"]

# Points of the sample: at most this number, at least this number for each medoid, and no more than this number of
# distances for each point of X.
_MOST, _PER_MEDOID, _DISTANCES_PER_POINT = 2048, 16, 64
# Restarts on the sample.
_RESTARTS = 20


def sample_size(n: int, k: int) -> int:
    """Return the number of points of a sample: a power of 2.

    >>> sample_size(100_000, 10), sample_size(5_000, 10), sample_size(1_000_000, 300)
    (2048, 512, 4096)
    """
    most = min(max(_MOST, _PER_MEDOID * k), max(int(np.sqrt(_DISTANCES_PER_POINT * n)), 2 * k))
    return int(2 ** np.floor(np.log2(min(n, most))))


def medoids_of_sample(problem: Problem, run: Run, points: Rows, weights: Float64s) -> Rows:
    """Return k rows that serve a weighted sample of points well; candidates are its points."""
    points, at = np.unique(points, return_inverse=True)
    weights = np.bincount(at, weights).astype(np.float64)
    candidates = np.union1d(points[problem.eligible[points]], problem.frozen).astype(np.intp)
    if len(candidates) < problem.k:
        others = np.setdiff1d(problem.candidates, candidates)
        candidates = np.union1d(candidates, run.random.choice(others, problem.k - len(candidates), replace=False))
    block = run.distance.block(candidates, points)
    frozen = np.searchsorted(candidates, problem.frozen)
    instance = Instance.of(block, problem.k, weights=weights, frozen=frozen, check=run.check, spread=run.threads.map)
    first = _draw(block, weights, frozen, problem.k, run.random)
    seed = int(run.random.randint(np.iinfo(np.int32).max))
    found = restart(instance, first, _RESTARTS, seed, max_iter=problem.max_iter)
    return candidates[found.medoids]


def _draw(block: Floats, weights: Float64s, frozen: Rows, k: int, random: np.random.RandomState) -> Rows:
    """Draw medoids as k-medoids++ does, in each step the one of a few that lowers the loss most."""
    medoids, nearest = frozen.tolist(), block.argmin(axis=1)  # a candidate is drawn by the loss of its nearest point
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
