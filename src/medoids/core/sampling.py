"""Samples of rows, drawn by weight, that have enough candidates.

A row is drawn with a probability in proportion to its weight, and all that are drawn weigh the same in their sample; a
row that weighs more than its share of a sample is in each of them, with its own weight.
"""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.engine.arrays import Float64s, Rows

__all__ = ["draw", "with_candidates"]

# The smallest chance of a row: none may vanish, or too few would be left to draw.
_LEAST_CHANCE = 1e-300


def draw(
    problem: Problem, random: np.random.RandomState, keep: list[int], size: int | None = None
) -> tuple[Rows, Float64s]:
    """Return some rows, by default 40 + 2k as CLARA takes, in ascending order, and their weights in the sample.

    Those in ``keep``, the frozen ones and at least k candidates are among them.
    """
    keep = list(dict.fromkeys([*keep, *problem.frozen]))
    free = np.setdiff1d(problem.references, keep)
    size = min((40 + 2 * problem.k if size is None else size) - len(keep), len(free))
    drawn, each = _by_weight(free, problem.weights[free], size, random)
    sample = with_candidates(problem, random, np.concatenate([keep, drawn]).astype(np.intp), problem.k)
    return sample, np.maximum(problem.weights[sample], each)


def _by_weight(rows: Rows, weights: Float64s, size: int, random: np.random.RandomState) -> tuple[Rows, float]:
    """Draw rows in proportion to their weights; return them, and the weight of each unless its own is larger."""
    if size <= 0 or size == len(rows) or (weights == weights[0]).all():
        return random.choice(rows, max(size, 0), replace=False), 0.0
    order = np.argsort(-weights, kind="stable")
    rows, weights = rows[order], weights[order]
    # Rows are heavy as long as the next one weighs more than its share of what they leave.
    rest = np.cumsum(weights[::-1])[::-1]
    heavy = int(np.argmin(weights[:size] * np.arange(size, 0, -1) > rest[:size]))
    chance = np.maximum(weights[heavy:] / rest[heavy], _LEAST_CHANCE)
    drawn = random.choice(rows[heavy:], size - heavy, replace=False, p=chance / chance.sum())
    return np.concatenate([rows[:heavy], drawn]), float(rest[heavy]) / (size - heavy)


def with_candidates(problem: Problem, random: np.random.RandomState, rows: Rows, k: int) -> Rows:
    """Return some rows in ascending order, with further candidates drawn where they have fewer than k."""
    lacking = k - int(np.count_nonzero(problem.eligible[rows]))
    if lacking > 0:
        rows = np.concatenate([rows, random.choice(np.setdiff1d(problem.candidates, rows), lacking, replace=False)])
    return np.sort(rows)
