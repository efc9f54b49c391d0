"""Distances that the triangle inequality tells to be long are not computed, and nothing else is left out."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from medoids import k_medoids
from medoids.distances import Tally, dissimilarity
from medoids.engine.threads import Threads
from medoids.paired.landmarks import Landmarks
from medoids.paired.lanes import Tile
from medoids.paired.levels import Levels
from medoids.paired.tiles import Tiles

NAMES = {"l2": "euclidean", "l1": "cityblock", "chebyshev": "chebyshev"}


@pytest.mark.parametrize("metric", sorted(NAMES))
@pytest.mark.parametrize("n", [10, 900])  # fewer points than landmarks, and more
def test_no_near_reference_is_left_out(metric: str, n: int) -> None:
    X = np.random.RandomState(0).normal(size=(n, 2))
    D = cdist(X, X, NAMES[metric])
    with Threads(2) as threads:
        marks = Landmarks(dissimilarity(X, metric), threads)
    rest = np.arange(n)
    limit = np.random.RandomState(1).uniform(0.05, 0.8, n)
    left_out = 0
    for arms in np.array_split(marks.together(rest), -(-n // 30)):
        found = marks.within(arms, rest, limit)
        near = np.flatnonzero((D[arms] < limit).any(axis=0))
        assert set(near) <= set(found)
        left_out += n - len(found)
    assert sorted(marks.together(rest)) == list(range(n))
    if n > 100:
        assert left_out > 0.5 * n * -(-n // 30)  # of two coordinates, most are far


@pytest.mark.parametrize(("metric", "n"), [("l2", 600), ("l2", 3200), ("l1", 3200)])  # float64, float32
def test_what_a_limit_leaves_out_is_above_it(metric: str, n: int) -> None:
    X = np.random.RandomState(0).normal(size=(n, 2))
    D = cdist(X, X, NAMES[metric])
    references, arms = np.arange(100, n, 3), np.arange(0, n, 2)
    limit = np.random.RandomState(1).uniform(0, 0.5, len(references))
    found, tally = np.full((len(arms), len(references)), np.nan), Tally()

    def collect(found: np.ndarray, tile: Tile) -> None:
        for at, lanes in zip(tile.at, tile.values[tile.groups][:, tile.all_columns], strict=True):
            some = at >= 0
            found[at[some], tile.run] = lanes[:, some].T

    with Threads(2) as threads:
        levels = Levels(dissimilarity(X, metric), [slice(0, n)], 0, threads, tally, coarse=n > 3000)
        levels.scan(0, arms, partial(collect, found), references, limit)
    found *= levels.step
    expected = D[np.ix_(arms, references)]
    near = expected < limit
    tolerance = 0.55 * levels.step if levels.step != 1.0 else 1e-12
    np.testing.assert_allclose(found[near], expected[near], atol=tolerance)
    assert (found >= np.minimum(expected, limit) - tolerance).all()
    if n > 3000:  # several tiles
        assert tally.computed < 0.7 * found.size + 16 * n


@pytest.mark.parametrize("metric", ["l2", "l1"])
def test_landmarks_change_nothing_but_the_number_of_distances(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).normal(size=(4000, 2))
    fit = partial(k_medoids, X, 8, metric=metric, algorithm="pairedpam", memory_limit="1MB", random_state=0)
    found = fit()
    monkeypatch.setattr(Tiles, "_marks", lambda _: None)
    plain = fit()
    assert [(r.medoid_in, r.loss) for r in found.trace] == [(r.medoid_in, r.loss) for r in plain.trace]
    assert [r.references for r in found.trace] == [r.references for r in plain.trace]
    assert found.n_evaluations < 0.9 * plain.n_evaluations


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_distances_that_leave_float32(scale: float) -> None:
    X = scale * np.random.RandomState(0).normal(size=(1500, 2))
    pam = k_medoids(X, 5, metric="l1", algorithm="fastpam1")
    found = k_medoids(X, 5, metric="l1", algorithm="pairedpam", memory_limit="1MB", random_state=0)
    assert found.medoid_indices.tolist() == pam.medoid_indices.tolist()
    assert found.trace[-1].loss == pytest.approx(pam.trace[-1].loss, rel=1e-9)


@pytest.mark.parametrize(("limit", "spill", "asked"), [(100.0, False, 3), (0.01, False, 10), (0.01, True, 0)])
def test_landmarks_that_tell_nothing_are_asked_now_and_then(
    limit: float, spill: bool, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.RandomState(0).normal(size=(3200, 2))
    distance, calls, together = dissimilarity(X, "l2"), [], Landmarks.together
    distance.spill = spill  # a working copy on disk is read from front to back
    monkeypatch.setattr(Landmarks, "together", lambda self, points: calls.append(1) or together(self, points))
    with Threads(1) as threads:
        levels = Levels(distance, [slice(0, 300)], 0, threads, Tally(), coarse=True)
        for _ in range(10):
            levels.scan(0, np.arange(3200), lambda _: None, limit=np.full(300, limit))
    assert len(calls) == asked  # the first time, then after one scan, and after two


def test_products_of_short_rows() -> None:
    # Copies, near pairs far from the centre, and numbers of rows that fill neither a vector nor six.
    random = np.random.RandomState(0)
    X = np.concatenate([random.normal(size=(3100, 5)), 50 + 1e-3 * random.normal(size=(150, 5))])
    X[7] = X[3200] = X[3201]
    arms = np.array([0, 7, 9, *range(3190, 3250, 3)])
    for references in (np.array([3201]), np.arange(3195, 3208), slice(0, 7)):
        numbers = np.arange(len(X))[references]
        expected = cdist(X[arms], X[numbers])
        with Threads(1) as threads:
            distance = dissimilarity(X, "l2")
            distance.prepare(threads)
        places = random.permutation(64)[: len(arms)]
        values, step = np.zeros((4, len(numbers), 16), np.uint16), distance.most() / 65_000
        assert distance.steps(references, arms, step, places, values)
        found = values[places // 16, :, places % 16] * step
        np.testing.assert_allclose(found, expected, atol=0.51 * step)
        assert (found[expected == 0] == 0).all()
        assert np.count_nonzero(values) == np.count_nonzero(found)  # and no other lane was touched
