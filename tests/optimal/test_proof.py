"""Bounds hold whatever the multipliers are."""

from __future__ import annotations

import numpy as np
import pytest

from medoids.optimal.dual import climb, lagrangian_bound, prices_of
from medoids.optimal.instance import Instance
from medoids.optimal.prefixes import Prefixes
from medoids.optimal.proof import Goal, Multipliers, single, verify
from pmedian import draw


def start_of(problem):
    return problem.allowed.copy(), np.isin(np.arange(problem.n_candidates), problem.frozen)


@pytest.mark.parametrize("number", range(60))
def test_garbage_multipliers_never_go_above_the_optimum(number):
    small = draw(number)
    problem, best = small.instance(), small.optimum()
    alive, inside = start_of(problem)
    lists = Prefixes(problem, alive, 1 + number % problem.n_candidates)
    random = np.random.default_rng(number)
    for _ in range(20):
        count = int(random.integers(1, 40))
        points = random.integers(0, problem.n_points, count)
        levels = random.normal(size=count) * 10.0 ** random.integers(-3, 6)
        shares = random.normal(size=count) * 10.0 ** random.integers(-3, 3)
        if random.random() < 0.2:
            levels[0], shares[-1] = random.choice([np.nan, np.inf, -np.inf], 2)
        found = verify(problem, lists, Multipliers(points, levels, shares), alive, inside)
        assert found.value <= best + 1e-12 * abs(best)


def test_a_bound_by_hand():
    # Points at 0, 1, 10, 11. With prices 5 each: rho = 5 + 4 = 9 for all four, so 20 - 2 * 9 = 2, which is the optimum.
    x = np.array([0.0, 1.0, 10.0, 11.0])
    problem = Instance.of(np.abs(x[:, None] - x), 2)
    alive, inside = start_of(problem)
    lists = Prefixes(problem, alive, 4)
    found = verify(problem, lists, single(np.full(4, 5.0)), alive, inside)
    assert found.value == pytest.approx(2.0, abs=1e-12)
    assert found.value < 2.0
    assert found.rho.tolist() == [9.0] * 4
    # Half a multiplier: 4 * 2.5 - 2 * 4.5, and low_s = 0 for the rest.
    half = verify(problem, lists, Multipliers(np.arange(4), np.full(4, 5.0), np.full(4, 0.5)), alive, inside)
    assert half.value == pytest.approx(1.0, abs=1e-12)


def test_prefixes_of_any_length_give_the_same_savings():
    random = np.random.default_rng(1)
    problem = Instance.of(random.random((12, 30)), 3)
    prices = random.random(30) * 1.2
    plain = np.maximum(prices[:, None] - problem.by_point, 0).sum(axis=0)
    for length in (1, 3, 12):
        lists = Prefixes(problem, problem.allowed, length)
        np.testing.assert_allclose(lists.savings(np.arange(30), prices, np.ones(30)), plain, rtol=1e-12)
        alive = np.arange(12) % 3 > 0
        lists.drop(alive)
        np.testing.assert_allclose(lists.savings(np.arange(30), prices, np.ones(30))[alive], plain[alive], rtol=1e-12)
        assert (lists.low <= problem.by_point[:, alive].min(axis=1)).all()
        count = (problem.by_point[:, [1, 4, 5]] < prices[:, None]).sum(axis=1)
        np.testing.assert_array_equal(lists.counts(np.array([1, 4, 5]), prices), count)


@pytest.mark.parametrize("number", range(0, 60, 2))
def test_fixing_keeps_an_optimal_solution(number):
    small = draw(number)
    problem, best = small.instance(), small.optimum()
    alive, inside = start_of(problem)
    lists = Prefixes(problem, alive, problem.n_candidates)
    random = np.random.default_rng(number)
    prices = np.quantile(problem.by_point, 0.3, axis=1) * random.uniform(0.5, 1.5, problem.n_points)
    found = verify(problem, lists, single(prices), alive, inside)
    never, always = found.fix(alive, inside, best * (1 + 1e-9) if best > 0 else best * (1 - 1e-9) + 1e-9)
    left = np.flatnonzero(alive & ~never).tolist()
    kept = type(small)(small.D, small.k, small.weights, alive & ~never, np.flatnonzero(inside | always).tolist())
    assert set(kept.frozen) <= set(left)
    assert kept.optimum() == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("number", range(0, 100, 3))
def test_the_dual_reaches_the_linear_relaxation(number):
    small = draw(number)
    problem = small.instance()
    medoids = np.concatenate([problem.frozen, np.setdiff1d(np.flatnonzero(problem.allowed), problem.frozen)])[
        : problem.k
    ]
    bound = lagrangian_bound(problem, medoids, gap=0.0)
    assert bound <= small.optimum() + 1e-12 * abs(small.optimum())
    goal = Goal(1e-7, False)
    found = climb(problem, prices_of(problem, medoids), goal, small.optimum)
    reached = min(found.bound, goal.cutoff(small.optimum()))
    assert reached >= relaxation(problem) - 0.01 * abs(small.optimum()) - 1e-9


def relaxation(problem):
    """The value of the linear relaxation, by SciPy."""
    from scipy.optimize import linprog

    n, N = problem.by_point.shape
    cost = np.concatenate([np.zeros(N), (problem.weights[:, None] * problem.by_point).ravel().astype(float)])
    served = np.concatenate([np.zeros((n, N)), np.kron(np.eye(n), np.ones(N))], axis=1)
    chosen = np.concatenate([np.ones(N), np.zeros(n * N)])
    only_open = np.concatenate([np.tile(-np.eye(N), (n, 1)), np.eye(n * N)], axis=1)
    lower = np.isin(np.arange(N), problem.frozen).astype(float)
    bounds = [*zip(lower, problem.allowed.astype(float), strict=True), *[(0, 1)] * (n * N)]
    answer = linprog(
        cost, only_open, np.zeros(n * N), np.vstack([served, chosen]), np.append(np.ones(n), problem.k), bounds
    )
    assert answer.success
    return answer.fun


def test_integers_are_rounded_up():
    goal = Goal(1e-7, integral=True)
    assert goal.raised(10.2) == 11.0
    assert goal.raised(10.0) == 10.0
    assert 10.0 < goal.cutoff(11.0) < 10.01
    assert Goal(0.1, integral=False).cutoff(11.0) == pytest.approx(10.0, rel=1e-3)
    # (loss - bound) / |bound| <= gap where losses are negative.
    bound = Goal(0.1, integral=False).cutoff(-9.0)
    assert -10.01 < bound < -9.99
