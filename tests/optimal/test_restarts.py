"""Restarts: no swap left, the same on any number of threads, better than where they began."""

from __future__ import annotations

import numpy as np
import pytest

from medoids.engine.threads import Threads
from medoids.optimal.instance import Instance
from medoids.optimal.restarts import perturb, restart
from pmedian import draw, orlib


def blobs(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2)) + 8 * random.integers(0, 4, size=(n, 2))
    return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


def losses_of_swaps(problem, medoids):
    for slot in np.flatnonzero(~np.isin(medoids, problem.frozen)):
        for row in np.setdiff1d(np.flatnonzero(problem.allowed), medoids):
            swapped = medoids.copy()
            swapped[slot] = row
            yield problem.loss(swapped)


@pytest.mark.parametrize("number", range(80))
def test_no_swap_improves_the_result(number):
    problem = draw(number).instance()
    others = np.setdiff1d(np.flatnonzero(problem.allowed), problem.frozen)
    start = np.concatenate([problem.frozen, others[: problem.k - len(problem.frozen)]])
    found = restart(problem, start, 5, seed=number)
    assert found.loss == problem.loss(found.medoids)
    assert found.loss <= problem.loss(start)
    assert len(set(found.medoids.tolist())) == problem.k
    assert set(problem.frozen.tolist()) <= set(found.medoids.tolist())
    assert problem.allowed[found.medoids].all()
    tolerance = 1e-9 * float((problem.weights[:, None] * np.abs(problem.by_point)).sum(axis=0).max())
    assert all(loss >= found.loss - tolerance for loss in losses_of_swaps(problem, found.medoids))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_result_depends_on_the_seed_alone(kind):
    # Large enough for several chunks of candidates, and for threads.
    random = np.random.default_rng(0)
    X = random.random((2500, 2))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)).astype(kind)
    start = np.arange(20)
    results = []
    for jobs in (1, 2, 3):
        with Threads(jobs) as threads:
            results.append(restart(Instance.of(D, 20, spread=threads.map), start, 4, seed=7))
    assert len({tuple(one.medoids.tolist()) for one in results}) == 1
    assert len({one.n_swaps for one in results}) == 1
    assert len({one.loss for one in results}) == 1
    other = restart(Instance.of(D, 20), start, 4, seed=8)
    assert other.n_swaps != results[0].n_swaps


def test_tells_which_restart_improved():
    problem = Instance.of(blobs(), 16)
    told = []
    found = restart(problem, np.arange(16), 20, seed=1, news=lambda *news: told.append(news))
    assert [number for number, _, _ in told] == list(range(21))
    losses = [loss for _, loss, _ in told]
    assert losses == sorted(losses, reverse=True)
    assert found.improved[-1][1] == pytest.approx(found.loss)
    assert [number for number, _ in found.improved] == sorted({number for number, _ in found.improved})
    for number, loss in found.improved:
        assert told[number][1] == loss
    assert problem.loss(told[-1][2]) == pytest.approx(found.loss)


def test_zero_restarts_descend_and_max_iter_bounds_that():
    problem = Instance.of(blobs(), 16)
    assert restart(problem, np.arange(16), 0, max_iter=0).medoids.tolist() == list(range(16))
    few = restart(problem, np.arange(16), 0, max_iter=3)
    assert few.n_swaps == 3
    assert restart(problem, np.arange(16), 0).loss < few.loss


def test_finds_published_optima_where_a_descent_does_not():
    D, p = orlib("pmed9")
    problem = Instance.of(D, p)
    assert restart(problem, np.arange(p), 0).loss > 2734
    assert restart(problem, np.arange(p), 50).loss == 2734


def test_check_stops_it():
    def check():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        restart(Instance.of(blobs(), 4, check=check), np.arange(4), 3)


def test_perturbs_what_may_be_moved():
    problem = Instance.of(blobs(100), 40, frozen=range(30), allowed=np.arange(100) < 60)
    for seed in range(20):
        slots, rows = perturb(problem, np.arange(40), np.random.default_rng(seed))
        assert 1 <= len(slots) == len(rows) <= 10
        assert (slots >= 30).all()
        assert ((rows >= 40) & (rows < 60)).all()
        assert len(set(rows.tolist())) == len(rows)
