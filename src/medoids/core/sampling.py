"""Samples of rows that still have enough candidates."""

from __future__ import annotations

import numpy as np

from medoids.core.problem import Problem
from medoids.engine.arrays import Rows

__all__ = ["with_candidates"]


def with_candidates(problem: Problem, random: np.random.RandomState, rows: Rows, k: int) -> Rows:
    """Return some rows in ascending order, with further candidates drawn where they have fewer than k."""
    lacking = k - int(np.count_nonzero(problem.eligible[rows]))
    if lacking > 0:
        others = np.setdiff1d(problem.candidates, rows)
        rows = np.concatenate([rows, random.choice(others, lacking, replace=False)])
    return np.sort(rows)
