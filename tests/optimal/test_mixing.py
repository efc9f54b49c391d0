"""Mixtures of two solutions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from medoids.optimal.instance import Instance
from medoids.optimal.mixing import best_mixture


def test_takes_the_better_of_two_far_regions():
    # Each region has a shared medoid; the first solution is right on the left, the second on the right.
    x = np.array([0.0, 10.0, 11.0, 12.0, 1000.0, 1010.0, 1011.0, 1012.0])
    problem = Instance.of(np.abs(x[:, None] - x), 4)
    mixed = best_mixture(problem, np.array([0, 2, 4, 7]), np.array([0, 3, 4, 6]))
    assert sorted(mixed.tolist()) == [0, 2, 4, 6]


def test_unbalanced_parts_are_taken_together():
    # On the left the first solution has two medoids more, on the right the second one; far off the first is better.
    x = np.array([0.0, 5.0, 50.0, 1000.0, 1050.0, 1100.0, 3000.0, 3009.0, 3010.0, 3011.0])
    problem = Instance.of(np.abs(x[:, None] - x), 6)
    mixed = best_mixture(problem, np.array([0, 3, 6, 1, 2, 8]), np.array([0, 3, 6, 4, 5, 9]))
    assert sorted(mixed.tolist()) == [0, 3, 4, 5, 6, 8]
    assert problem.loss(mixed) == 5 + 50 + 2


@pytest.mark.parametrize("seed", range(40))
def test_never_worse_than_both_and_only_of_their_medoids(seed):
    random = np.random.default_rng(seed)
    X = random.random((60, 2))
    problem = Instance.of(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)), 12, weights=random.integers(0, 3, 60))
    mine = random.choice(60, 12, replace=False)
    yours = mine.copy()
    yours[:4] = random.choice(np.setdiff1d(np.arange(60), mine), 4, replace=False)
    mixed = best_mixture(problem, mine, yours)
    both = min(problem.loss(mine), problem.loss(yours))
    if mixed is not None:
        assert len(set(mixed.tolist())) == 12
        assert set(np.intersect1d(mine, yours)) <= set(mixed.tolist()) <= {*mine.tolist(), *yours.tolist()}
        assert problem.loss(mixed) <= both + 1e-12
    # All mixtures, of single medoids, are a larger choice.
    shared, pool = np.intersect1d(mine, yours), np.setxor1d(mine, yours)
    best = min(problem.loss(np.array([*shared, *rest])) for rest in combinations(pool.tolist(), 4))
    assert best <= (both if mixed is None else problem.loss(mixed)) + 1e-12


def test_nothing_to_mix():
    problem = Instance.of(np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))), 2)
    assert best_mixture(problem, np.array([0, 3]), np.array([0, 3])) is None
    assert best_mixture(problem, np.array([0, 3]), np.array([0, 4])) is None
    assert best_mixture(problem, np.array([0, 3]), np.array([1, 4])) is None
