"""The optimum against brute force and published values; what ends a search early."""

from __future__ import annotations

import json

import numpy as np
import pytest

from medoids.optimal import solve as solving
from medoids.optimal.instance import Instance
from medoids.optimal.solve import solve_exactly
from pmedian import draw, orlib, tsplib

pytest.importorskip("highspy", reason="stages 3 and 4 need highspy")


@pytest.mark.parametrize("tenth", range(10))
def test_equals_brute_force(tenth):
    for number in range(30 * tenth, 30 * tenth + 30):
        small = draw(number)
        best = small.optimum()
        found = solve_exactly(small.instance(), n_restarts=0 if number % 2 else 3, seed=number)
        assert found.loss == pytest.approx(best, rel=1e-9, abs=1e-12), number
        assert found.lower_bound <= best + 1e-12 * abs(best), number
        assert found.proved, number
        assert found.note == ""
        assert len(set(found.medoids.tolist())) == small.k
        assert set(small.frozen) <= set(found.medoids.tolist())
        if small.allowed is not None:
            assert set(found.medoids.tolist()) <= {*np.flatnonzero(small.allowed).tolist(), *small.frozen}


# OR-Library's pmedopt.txt.
@pytest.mark.parametrize(("name", "optimum"), [("pmed1", 5819), ("pmed8", 4445), ("pmed12", 6634), ("pmed15", 1729)])
def test_published_optima_of_or_library(name, optimum):
    D, p = orlib(name)
    found = solve_exactly(Instance.of(D, p))
    assert (found.loss, found.lower_bound, found.proved) == (optimum, optimum, True)


# Duran-Mateluna, Ales and Elloumi 2023, Table 2.
@pytest.mark.parametrize(("name", "p", "optimum"), [("rl1304", 5, 3099073), ("fl1400", 10, 100601)])
def test_published_optima_of_tsplib(name, p, optimum):
    found = solve_exactly(Instance.of(tsplib(name), p), n_restarts=10)
    assert (found.loss, found.lower_bound, found.proved) == (optimum, optimum, True)


def random_problem(n=60, k=6, **rest):
    """Random distances have a weak relaxation, so that branch and bound has much to do."""
    return Instance.of(np.random.default_rng(0).random((n, n)), k, **rest)


def test_needs_branch_and_bound():
    found = solve_exactly(random_problem(30, 4))
    assert found.proved
    assert found.nodes > 1


def test_a_gap_asked_for_ends_the_search():
    exact = solve_exactly(random_problem(40, 4))
    rough = solve_exactly(random_problem(40, 4), gap=0.1)
    assert rough.proved
    assert rough.gap <= 0.1
    assert rough.nodes < exact.nodes
    assert rough.lower_bound <= exact.loss <= rough.loss


def test_the_memory_limit_returns_the_best_so_far():
    problem = random_problem()
    after_dual = solve_exactly(problem, memory_limit=20_000)
    assert not after_dual.proved
    assert "memory_limit" in after_dual.note
    assert 0 < after_dual.lower_bound < after_dual.loss
    before_dual = solve_exactly(problem, memory_limit=1_000)
    assert before_dual.gap == np.inf
    assert before_dual.loss == pytest.approx(problem.loss(before_dual.medoids))


class Enough(Exception):
    """A search is told to end."""


def test_what_check_raises_ends_the_search_and_the_last_progress_is_known():
    calls, told = 0, []

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 400:
            raise Enough

    with pytest.raises(Enough):
        solve_exactly(random_problem(check=check), progress=told.append)
    assert told[-1].gap > 0
    assert random_problem().loss(told[-1].medoids) == told[-1].loss


def test_goes_on_from_a_state():
    problem = random_problem(40, 4)
    first = solve_exactly(problem, gap=0.08)
    state = json.loads(json.dumps(first.state))
    second = solve_exactly(problem, state=state)
    exact = solve_exactly(problem)
    assert second.proved
    assert second.loss == exact.loss
    assert first.lower_bound <= second.lower_bound
    # Without memory for anything, it still knows what it was told.
    none = solve_exactly(problem, state=state, memory_limit=0)
    assert (none.loss, none.lower_bound) == (first.loss, first.lower_bound)


def test_without_highspy_the_dual_gives_the_gap(monkeypatch):
    monkeypatch.setattr(solving, "has_solver", lambda: False)
    found = solve_exactly(random_problem(40, 4))
    assert not found.proved
    assert "medoids[optimal]" in found.note
    assert 0 < found.lower_bound < found.loss
    # What needs no LP is proved all the same.
    points = np.concatenate([np.arange(5.0), 100 + np.arange(5.0)])
    easy = solve_exactly(Instance.of(np.abs(points[:, None] - points), 2))
    assert (easy.loss, easy.proved, easy.note) == (12.0, True, "")


def test_progress_never_loses_ground():
    told = []
    found = solve_exactly(random_problem(40, 4), progress=told.append)
    losses, bounds = [one.loss for one in told], [one.lower_bound for one in told]
    assert losses == sorted(losses, reverse=True)
    assert bounds == sorted(bounds)
    assert {one.stage for one in told} >= {"dual", "tree"}
    assert (told[-1].loss, told[-1].lower_bound, told[-1].nodes) == (found.loss, found.lower_bound, found.nodes)


def test_k_of_all_candidates_and_of_one():
    D = np.array([[0.0, 2.0, 5.0], [2.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    every = solve_exactly(Instance.of(D, 3))
    assert (every.loss, every.lower_bound, every.proved) == (0.0, 0.0, True)
    one = solve_exactly(Instance.of(D, 1))
    assert (one.medoids.tolist(), one.loss, one.proved) == ([1], 3.0, True)


def test_an_optimum_of_zero_is_proved():
    D = np.array([[0.0, 0.0, 5.0, 5.0], [0.0, 0.0, 5.0, 5.0], [5.0, 5.0, 0.0, 0.5], [5.0, 5.0, 0.0, 0.0]])
    found = solve_exactly(Instance.of(D, 2))
    assert (found.loss, found.lower_bound, found.gap, found.proved) == (0.0, 0.0, 0.0, True)


def test_k_out_of_range_is_refused():
    with pytest.raises(ValueError, match="k=4 must lie between"):
        Instance.of(np.zeros((3, 5)), 4)
    with pytest.raises(ValueError, match="number of frozen medoids, 2"):
        Instance.of(np.zeros((3, 5)), 1, frozen=[0, 2])
