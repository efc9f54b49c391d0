"""The medoid silhouette as the goal: swaps against plain loops, and values that the package kmedoids reaches."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import data
from medoids import KMedoids, k_medoids, medoid_silhouette
from medoids.algorithms.fastermsc import RatioAssignment
from medoids.exact.matrix import MatrixRows
from medoids.pipeline import prepare
from medoids.settings import Settings

X = np.random.default_rng(0).normal(size=(40, 2))
SILHOUETTE: dict[str, Any] = {"objective": "medoid_silhouette"}


def ratios(D: np.ndarray, medoids: Any, weights: Any) -> float:
    """The weighted sum of d1 / d2, in a loop."""
    total = 0.0
    for s in range(D.shape[1]):
        d1, d2 = sorted(D[list(medoids), s])[:2]
        total += weights[s] * (d1 / d2 if d2 > 0 else 1.0)
    return total


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_losses_of_all_swaps_are_those_of_plain_loops(k: int) -> None:
    rows = np.concatenate([X, X[:6]])  # with duplicates
    weights = np.random.default_rng(1).integers(0, 4, 46).astype(float)
    weights[:k] = 1
    D = cdist(rows, rows)
    with prepare(rows, k, weights, Settings(frozen_medoids=[1])) as (problem, run):
        state = RatioAssignment(MatrixRows(problem, run, exact=True), range(k))
        assert state.loss == pytest.approx(ratios(D, range(k), weights))
        for i in range(k, 46):
            expected = [ratios(D, [m if m != j else i for m in range(k)], weights) for j in range(k)]
            expected[1] = np.inf  # frozen
            assert state.swap_losses(D[i]) == pytest.approx(expected)
        if k > 2:
            left = [ratios(D, [m for m in range(k) if m != j], weights) for j in range(k) if j != 1]
            assert state.without_one().loss == pytest.approx(min(left))


@pytest.mark.parametrize("algorithm", ["auto", "fasterpam", "fastpam1", "pam"])
def test_no_swap_raises_the_silhouette(algorithm: str) -> None:
    found = k_medoids(X, 4, algorithm=algorithm, **SILHOUETTE)
    D, medoids, one = cdist(X, X), found.medoid_indices.tolist(), np.ones(40)
    reached = ratios(D, medoids, one)
    for i in set(range(40)) - set(medoids):
        for j in medoids:
            assert ratios(D, [*(set(medoids) - {j}), i], one) >= reached - 1e-9
    assert found.converged
    assert found.trace[-1].loss == pytest.approx(reached / 40)
    assert medoid_silhouette(found, X).value == pytest.approx(1 - reached / 40)
    assert found.inertia == pytest.approx(D[medoids].min(axis=0).sum())
    assert found.labels.tolist() == D[medoids].argmin(axis=0).tolist()
    losses = [step.loss for step in found.trace if step.phase != "build"]
    assert losses == sorted(losses, reverse=True)


def test_it_is_the_better_goal_for_the_silhouette() -> None:
    near, apart = k_medoids(X, 4), k_medoids(X, 4, **SILHOUETTE)
    assert medoid_silhouette(apart, X).value > medoid_silhouette(near, X).value
    assert apart.loss > near.loss


def test_dynmsc_finds_four_blobs() -> None:
    random = np.random.default_rng(2)
    rows = np.concatenate([random.normal(c, 0.3, (15, 2)) for c in ((0, 0), (5, 0), (0, 5), (5, 5))])
    model = KMedoids("auto", k_range=range(2, 9), **SILHOUETTE).fit(rows)
    assert model.n_clusters_ == 4
    assert model.reason_.startswith("k = 4: of k = 2 to 8 it has the highest medoid silhouette, ")
    assert sorted(np.bincount(model.labels_)) == [15] * 4
    assert model.predict(rows).tolist() == model.labels_.tolist()
    assert KMedoids("auto", k_range=[2, 3, 6], **SILHOUETTE).fit(rows).n_clusters_ in (3, 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits", "letter"])
def test_the_values_of_kmedoids_are_reached(name: str) -> None:
    kmedoids = pytest.importorskip("kmedoids", reason="the package kmedoids (extra bench) is not installed")
    if name == "digits":
        rows, k = load_digits().data, 10
    else:
        rows, k = np.load(data.path("letter_20000x16_uint8.npz"))["X"][:3000].astype(float), 26
    D, one = cdist(rows, rows), np.ones(len(rows))
    start = np.random.RandomState(0).choice(len(rows), k, replace=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = kmedoids.fastermsc(D, start.astype(np.uintp), max_iter=300)
    ours = k_medoids(rows, k, init=start, **SILHOUETTE)
    assert ratios(D, ours.medoid_indices, one) <= ratios(D, theirs.medoids, one) * (1 + 1e-9)


def test_weights_equal_repetition() -> None:
    weights = np.random.default_rng(3).integers(1, 4, 40)
    weighted = k_medoids(X, 4, sample_weight=weights, init=[0, 1, 2, 3], **SILHOUETTE)
    repeated = k_medoids(np.repeat(X, weights, axis=0), 4, init=np.cumsum(weights)[:4] - 1, **SILHOUETTE)
    assert weighted.trace[-1].loss == pytest.approx(repeated.trace[-1].loss)


def test_it_resumes_and_ends_early(tmp_path: Path) -> None:
    def cut(step: Any) -> None:
        if step.phase == "swap":
            raise KeyboardInterrupt

    keywords: dict[str, Any] = {"checkpoint": tmp_path / "steps", "init": [0, 1, 2, 3], **SILHOUETTE}
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 4, callback=cut, **keywords)
    resumed = k_medoids(X, 4, resume=True, **keywords)
    undisturbed = k_medoids(X, 4, init=[0, 1, 2, 3], **SILHOUETTE)
    assert resumed.medoid_indices.tolist() == undisturbed.medoid_indices.tolist()
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        assert k_medoids(X, 4, init=[0, 1, 2, 3], max_iter=1, **SILHOUETTE).n_swaps == 1
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        assert not k_medoids(X, 4, time_limit=0, random_state=0, **SILHOUETTE).converged


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"objective": "silhouette"}, r"objective='silhouette' is unknown; it must be one of"),
        ({"algorithm": "clara"}, r"is for algorithm='auto' or 'fasterpam' or 'fastpam1' or 'pam', not 'clara'"),
        ({"n_restarts": 3}, r"cannot be combined with n_restarts; leave n_restarts out"),
        ({"max_size": 20}, r"cannot be combined with max_size; leave max_size out"),
        ({"n_clusters": 1}, r"n_clusters must be at least 2"),
        ({"n_clusters": "auto", "k_range": [1, 2]}, r"k_range must begin at 2 or after"),
        ({"metric": lambda a, b: -1.0}, r"compares distances as ratios, and d\(0, 0\) is -1\.0; use a metric"),
        ({"memory_limit": 8000}, r"needs the 40 x 40 distance matrix, 12\.5 KiB, which is more than memory_limit"),
    ],
)
def test_what_it_cannot_do_is_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        k_medoids(X, **{"n_clusters": 4, **SILHOUETTE, **keywords})
