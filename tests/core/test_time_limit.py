"""A time limit ends any algorithm in any phase, with the best medoids so far and an exact assignment.

Time is a number that the tests set: nothing here depends on how fast the machine is.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from everything import ANY_METRIC
from medoids import Clustering, KMedoids, TraceRecord, k_medoids
from medoids.algorithms import ALGORITHMS
from medoids.core.rows import RowSource
from medoids.engine import interrupts
from medoids.pipeline import prepare
from medoids.settings import Settings

X = np.random.default_rng(0).normal(size=(120, 4))
# These choose their start on samples: it is one step.
ONE_STEP = {"clara", "clarans"}


class Clock:
    """Shows the seconds that it was set to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(interrupts, "clock", clock)
    return clock


def late_at(clock: Clock, phase: str, count: int) -> Callable[[TraceRecord], None]:
    """Make a callback after whose n-th record of a phase an hour has passed."""
    seen = 0

    def callback(record: TraceRecord) -> None:
        nonlocal seen
        seen += record.phase == phase
        if seen == count and record.phase == phase:
            clock.now = 3600

    return callback


def check_exact(found: Clustering, rows: Any = X) -> None:
    distances = cdist(rows, rows[found.medoid_indices])
    assert len(set(found.medoid_indices.tolist())) == len(found.medoid_indices)
    assert found.inertia == pytest.approx(distances.min(axis=1).sum(), rel=1e-9)
    assert found.labels.tolist() == distances.argmin(axis=1).tolist()
    assert found.trace[-1].loss == pytest.approx(found.loss, rel=1e-9)
    assert not found.converged


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - ONE_STEP))
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(X, id="small"),
        pytest.param(np.random.default_rng(1).normal(size=(3100, 2)), id="compiled", marks=pytest.mark.slow),
    ],
)
def test_build_is_completed_by_drawn_rows(algorithm: str, rows: Any, clock: Clock) -> None:
    gap = 0.5 if algorithm == "optimal" else 0.0  # a proof of the optimum would take a minute
    keywords: dict[str, Any] = {"algorithm": algorithm, "gap": gap, "random_state": 0}
    undisturbed = k_medoids(rows, 6, max_iter=300, callback=late_at(clock, "build", 2), **keywords)
    chosen = [step.medoid_in for step in undisturbed.trace[:2]]
    clock.now = 0
    with pytest.warns(ConvergenceWarning, match=r"at time_limit before the start was complete: 4 of 6 medoids"):
        found = k_medoids(rows, 6, time_limit=60, callback=late_at(clock, "build", 2), **keywords)
    assert found.medoid_indices[:2].tolist() == chosen
    assert [step.phase for step in found.trace] == ["build"] * 3
    assert (found.trace[-1].medoid_in, found.n_swaps) == (None, 0)
    check_exact(found, rows)


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - {"clara"}))
def test_swaps_so_far_are_kept(algorithm: str, clock: Clock) -> None:
    start = [0, 1, 2, 3, 4, 5]
    with pytest.warns(ConvergenceWarning, match=r"stopped at time_limit; increase time_limit"):
        found = k_medoids(
            X, 6, algorithm=algorithm, init=start, time_limit=60, callback=late_at(clock, "swap", 2), random_state=0
        )
    swaps = [step for step in found.trace if step.phase == "swap"]
    assert len(swaps) == found.n_swaps == 2
    expected = set(start) - {step.medoid_out for step in swaps} | {step.medoid_in for step in swaps}
    assert set(found.medoid_indices.tolist()) == expected
    check_exact(found)


@pytest.mark.parametrize("algorithm", ["auto", *sorted(ALGORITHMS)])
def test_a_limit_that_is_over_at_once_gives_a_quick_start(algorithm: str) -> None:
    with pytest.warns(ConvergenceWarning, match="6 of 6 medoids are drawn"):
        found = k_medoids(X, 6, algorithm=algorithm, time_limit=0, random_state=0)
    assert found.n_evaluations < 6 * 120 + 1000  # the rows of the medoids, and what was timed
    check_exact(found)


@pytest.mark.parametrize("algorithm", ["auto", *sorted(ALGORITHMS)])
def test_a_limit_that_is_not_reached_changes_nothing(algorithm: str, clock: Clock) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited = k_medoids(X, 6, algorithm=algorithm, time_limit=60, random_state=0)
    free = k_medoids(X, 6, algorithm=algorithm, random_state=0)
    assert limited.medoid_indices.tolist() == free.medoid_indices.tolist()
    assert (limited.loss, limited.n_swaps, limited.converged) == (free.loss, free.n_swaps, free.converged)


@pytest.mark.parametrize(
    ("algorithm", "swap"), [*((name, "best") for name in ["auto", *sorted(ANY_METRIC)]), ("pairedpam", "eager")]
)
def test_time_is_left_for_the_assignment_of_a_slow_metric(algorithm: str, swap: str, clock: Clock) -> None:
    def slow(a: Any, b: Any) -> float:
        clock.now += 1
        return float(np.abs(a - b).sum())

    keywords: dict[str, Any] = {"metric": slow, "algorithm": algorithm, "swap": swap, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit"):
        found = k_medoids(X, 3, time_limit=700, **keywords)
    assert clock.now <= 702
    assert found.inertia == pytest.approx(cdist(X, X[found.medoid_indices], "cityblock").min(axis=1).sum())


def test_the_medoids_of_a_first_sample_are_kept(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    keywords: dict[str, Any] = {"algorithm": "clara", "random_state": 0}
    first = k_medoids(X, 6, callback=lambda step: True, **keywords)
    assign = RowSource.assign

    def late(rows: RowSource, medoids: Any) -> Any:
        if rows.problem.n == 120 and len(medoids):
            clock.now = 3600
        return assign(rows, medoids)

    monkeypatch.setattr(RowSource, "assign", late)
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit; increase"):
        found = k_medoids(X, 6, time_limit=60, **keywords)
    assert found.medoid_indices.tolist() == first.medoid_indices.tolist()
    check_exact(found)


@pytest.mark.parametrize("algorithm", ["clara", "pairedpam"])
def test_a_quick_start_on_many_rows(algorithm: str) -> None:
    rows = np.random.default_rng(0).normal(size=(20_000, 3))
    weights = np.ones(20_000)
    weights[5:15_000], weights[17_000] = 0, 1e6
    keywords: dict[str, Any] = {"algorithm": algorithm, "sample_weight": weights, "frozen_medoids": [3, 16_000]}
    with pytest.warns(ConvergenceWarning, match="3 of 5 medoids are drawn at random"):
        found = k_medoids(rows, 5, time_limit=0, random_state=0, **keywords)
    assert found.medoid_indices[:2].tolist() == [3, 16_000]
    assert 17_000 in found.medoid_indices  # by far the most likely to be drawn
    assert (weights[found.medoid_indices] > 0).all()
    distances = cdist(rows, rows[found.medoid_indices])
    assert found.inertia == pytest.approx(weights @ distances.min(axis=1), rel=1e-9)
    assert found.labels.tolist() == distances.argmin(axis=1).tolist()


def test_chunks_of_points_give_what_single_medoids_give() -> None:
    rows = np.random.default_rng(0).integers(0, 4, size=(9000, 2)).astype(float)  # with many ties
    with prepare(rows, 40, None, Settings(frozen_medoids=[7, 8])) as (problem, run):
        medoids, source = np.r_[8, 7, 100:138], RowSource(problem, run)
        together, single = source.assign(medoids), source.assign([])
        for i in medoids.tolist():
            source.add(single, i)
    distances = cdist(rows[medoids], rows)
    for found in (together, single):
        assert found.nearest.tolist() == distances.argmin(axis=0).tolist()
        assert (found.medoids, found.fixed, found.loss) == (medoids.tolist(), [0, 1], distances.min(axis=0).sum())
        assert found.d2.tolist() == np.sort(distances, axis=0)[1].tolist()
    assert together.second.tolist() == single.second.tolist()


def test_steps_count_where_values_are_remembered(clock: Clock) -> None:
    """Of medoids that were chosen all distances are known: no time is left for them."""

    def slow(a: Any, b: Any) -> float:
        clock.now += 1
        return float(np.abs(a - b).sum())

    with pytest.warns(ConvergenceWarning, match="stopped at time_limit; increase"):
        found = k_medoids(X, 3, metric=slow, algorithm="clarans", init="random", time_limit=3000, random_state=0)
    assert found.n_swaps > 0
    assert 2999 <= clock.now <= 3002


@pytest.mark.slow
def test_calls_in_other_processes_end() -> None:
    def slow(a: float, b: float) -> float:
        time.sleep(0.01)
        return abs(a - b)

    # 160,000 calls of 10 ms, two at a time: 13 minutes.
    numbers = np.random.default_rng(0).normal(size=400).tolist()
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit"):
        found = k_medoids(numbers, 1, metric=slow, algorithm="fastpam1", time_limit=5, n_jobs=2)
    assert len(found.trace) == 1
    assert found.inertia == pytest.approx(np.abs(np.array(numbers) - numbers[found.medoid_indices[0]]).sum())


def test_what_must_be_a_medoid_is_one_and_what_must_not_is_none() -> None:
    weights = np.ones(120)
    weights[10:] = 0
    with pytest.warns(ConvergenceWarning, match="4 of 6 medoids"):
        found = k_medoids(X, 6, frozen_medoids=[3, 7], sample_weight=weights, time_limit=0, random_state=0)
    assert {3, 7} <= set(found.medoid_indices.tolist()) <= set(range(10))
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit; increase"):
        given = k_medoids(X, 3, init=[5, 6, 7], time_limit=0)
    assert given.medoid_indices.tolist() == [5, 6, 7]


def test_the_best_start_is_kept(clock: Clock) -> None:
    keywords: dict[str, Any] = {"init": "random", "n_init": 3, "random_state": 0}
    seen: list[TraceRecord] = []
    stop = late_at(clock, "build", 3)

    def watch(record: TraceRecord) -> None:
        seen.append(record)
        stop(record)

    with pytest.warns(ConvergenceWarning, match="time_limit"):
        found = k_medoids(X, 6, time_limit=60, callback=watch, **keywords)
    assert found.loss == pytest.approx(min(record.loss for record in seen), rel=1e-12)
    check_exact(found)


@pytest.mark.parametrize("algorithm", ["fastpam1", "pairedpam", "banditpam++"])
@pytest.mark.parametrize(("phase", "count"), [("build", 3), ("swap", 1)])
def test_a_checkpoint_goes_on_where_the_search_was(
    algorithm: str, phase: str, count: int, tmp_path: Path, clock: Clock
) -> None:
    keywords: dict[str, Any] = {"algorithm": algorithm, "random_state": 3}
    rows = np.random.default_rng(5).normal(size=(200, 2))
    undisturbed = k_medoids(rows, 12, **keywords)
    assert undisturbed.n_swaps > 1
    path = tmp_path / "steps"
    stop = late_at(clock, phase, count)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        k_medoids(rows, 12, time_limit=60, checkpoint=path, callback=stop, **keywords)
    with pytest.warns(ConvergenceWarning, match="time_limit"):  # which has no time to take it up
        again = k_medoids(rows, 12, time_limit=0, checkpoint=path, resume=True, **keywords)
    chosen = 3 if phase == "build" else 13
    assert [step.medoid_in is not None for step in again.trace] == [True] * chosen + [False] * (phase == "build")
    resumed = k_medoids(rows, 12, checkpoint=path, resume=True, **keywords)
    assert resumed.medoid_indices.tolist() == undisturbed.medoid_indices.tolist()
    assert resumed.converged


def test_the_estimator_takes_it() -> None:
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = KMedoids(4, time_limit=0, random_state=0).fit(X)
    assert not model.converged_
    assert model.predict(X).tolist() == model.labels_.tolist()


@pytest.mark.parametrize("value", [-1, "5", True, float("nan")])
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"time_limit=.* must be a number of seconds, at least 0, or None"):
        k_medoids(X, 3, time_limit=value)


def test_several_numbers_of_clusters_are_refused() -> None:
    with pytest.raises(ValueError, match=r"time_limit is for one number of clusters"):
        k_medoids(X, "auto", time_limit=5)
