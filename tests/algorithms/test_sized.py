"""Limits on the sizes of clusters: the assignment against brute force, medoids and assignment against a MILP."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import data
from medoids import KMedoids, k_medoids
from medoids.algorithms import ALGORITHMS
from medoids.exact.transport import transport

RANDOM = np.random.default_rng(0)
# Three clusters of 30, 20 and 10 rows, which do not fit into three of about equal size.
X = np.concatenate([RANDOM.normal(c, 1, (m, 2)) for c, m in (((0, 0), 30), ((4, 4), 20), ((0, 5), 10))])


def brute_force(costs: np.ndarray, least: int, most: int) -> float:
    k, n = costs.shape
    return min(
        float(costs[list(labels), range(n)].sum())
        for labels in product(range(k), repeat=n)
        if all(least <= labels.count(j) <= most for j in range(k))
    )


def optimum(D: np.ndarray, k: int, least: int, most: int, weights: np.ndarray) -> float:
    """The best medoids and assignment: y_i says whether row i is a medoid, x_is whether s belongs to it."""
    n = len(D)
    one, each = sparse.identity(n), sparse.identity(n * n)
    sizes = sparse.kron(one, np.ones((1, n)))
    constraints = [
        LinearConstraint(sparse.hstack([sparse.csr_array((n, n)), sparse.hstack([one] * n)]), 1, 1),
        LinearConstraint(sparse.hstack([-most * one, sizes]), -np.inf, 0),
        LinearConstraint(sparse.hstack([-least * one, sizes]), 0, np.inf),
        LinearConstraint(sparse.hstack([np.ones((1, n)), sparse.csr_array((1, n * n))]), k, k),
        LinearConstraint(sparse.hstack([-sparse.kron(one, np.ones((n, 1))), each]), -np.inf, 0),
    ]
    cost = np.concatenate([np.zeros(n), (D * weights).ravel()])
    whole = np.concatenate([np.ones(n), np.zeros(n * n)])
    found = milp(cost, constraints=constraints, integrality=whole, bounds=Bounds(0, 1), options={"mip_rel_gap": 1e-3})
    assert found.status == 0
    return float(found.mip_dual_bound)


@pytest.mark.parametrize("seed", range(100))
def test_the_assignment_is_that_of_brute_force(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, k = int(random.integers(4, 9)), int(random.integers(1, 4))
    least, most = int(random.integers(0, n // k + 1)), int(random.integers(-(-n // k), n + 1))
    # With many ties; with negative costs; of a few rows that cost nothing.
    costs = [random.integers(0, 4, (k, n)).astype(float), random.normal(size=(k, n)), random.random((k, n))][seed % 3]
    costs[:, random.random(n) < 0.2] = 0
    found = transport(costs, least, most)
    sizes = np.bincount(found.labels, minlength=k)
    assert least <= sizes.min() <= sizes.max() <= most
    best = brute_force(costs, least, most)
    assert found.loss == pytest.approx(best, abs=1e-9)
    assert best - 1e-7 <= found.bound <= best + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("k", "weighted", "normal"), [(4, False, True), (6, False, False), (6, True, False)])
def test_medoids_and_assignment_are_within_a_percent_of_the_optimum(k: int, weighted: bool, normal: bool) -> None:
    rows = np.random.default_rng(k).normal(size=(60, 3)) if normal else X
    weights = np.random.default_rng(1).integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    limits = {"min_size": 60 // k - 1, "max_size": -(-60 // k) + 1}
    found = k_medoids(rows, k, sample_weight=weights, random_state=0, **limits)
    best = optimum(cdist(rows, rows), k, *limits.values(), weights)
    assert best * (1 - 1e-9) <= found.inertia <= 1.01 * best


def check(found: Any, rows: Any, least: int, most: int, weights: Any = 1.0) -> None:
    """Sizes are within the limits, and no better assignment to these medoids exists."""
    sizes = np.bincount(found.labels, minlength=len(found.medoid_indices))
    assert least <= sizes.min() <= sizes.max() <= most
    table = cdist(rows[found.medoid_indices], rows)
    np.testing.assert_allclose(found.distances, table[found.labels, np.arange(len(rows))], rtol=1e-9, atol=1e-9)
    assert found.inertia == pytest.approx(float((weights * found.distances).sum()), rel=1e-9)
    assert found.inertia == pytest.approx(transport(table * weights, least, most).loss, rel=1e-6)
    assert found.trace[-1].loss == pytest.approx(found.loss)


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - {"optimal"}))
def test_every_algorithm_and_every_step(algorithm: str) -> None:
    found = k_medoids(X, 3, algorithm=algorithm, min_size=19, max_size=21, random_state=0)
    check(found, X, 19, 21)
    at = [step.phase for step in found.trace].index("sizes")
    losses = [step.loss for step in found.trace[at:]]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]  # swaps helped
    assert found.labels[found.medoid_indices].tolist() == [0, 1, 2]


def test_weights_multiply_distances_and_limits_count_rows() -> None:
    weights = np.random.default_rng(3).integers(1, 9, 60).astype(float)
    check(k_medoids(X, 4, sample_weight=weights, max_size=16), X, 0, 16, weights)
    weights[:20] = 0
    found = k_medoids(X, 4, sample_weight=weights, max_size=15)
    check(found, X, 15, 15, weights)
    assert (found.medoid_indices >= 20).all()


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "precomputed", lambda a, b: float(np.abs(a - b).max())])
def test_any_metric(metric: Any) -> None:
    rows = cdist(X, X) if metric == "precomputed" else X
    found = k_medoids(rows, 5, metric=metric, min_size=11, random_state=0)
    assert np.bincount(found.labels).min() >= 11


def test_limits_that_bind_nothing_change_nothing() -> None:
    free, loose = k_medoids(X, 3), k_medoids(X, 3, min_size=1, max_size=60)
    assert loose.inertia == pytest.approx(free.inertia)
    assert loose.labels.tolist() == free.labels.tolist()


def test_duplicates_fill_up_clusters() -> None:
    with pytest.warns(ConvergenceWarning, match="distinct medoids"):
        found = k_medoids(np.zeros((9, 1)), 3, min_size=3)
    assert np.bincount(found.labels).tolist() == [3, 3, 3]
    assert found.labels[found.medoid_indices].tolist() == [0, 1, 2]


def test_frozen_medoids_stay() -> None:
    found = k_medoids(X, 3, frozen_medoids=[0, 1], max_size=20)
    assert found.medoid_indices[:2].tolist() == [0, 1]
    check(found, X, 20, 20)


def test_predict_is_the_nearest_medoid() -> None:
    model = KMedoids(3, max_size=20).fit(X)
    assert np.bincount(model.labels_).tolist() == [20, 20, 20]
    assert model.predict(X).tolist() == cdist(X, model.cluster_centers_).argmin(axis=1).tolist()


@pytest.mark.parametrize("limit", [{"time_limit": 0}, {"max_evaluations": 400}, {"max_iter": 0}])
def test_a_fit_that_is_cut_short_obeys_the_sizes(limit: dict[str, Any]) -> None:
    with pytest.warns(ConvergenceWarning):
        found = k_medoids(X, 3, algorithm="pairedpam", min_size=19, max_size=21, random_state=0, **limit)
    sizes = np.bincount(found.labels)
    assert 19 <= sizes.min() <= sizes.max() <= 21
    assert not found.converged
    assert found.trace[-1].loss == pytest.approx(found.loss)
    assert found.n_evaluations <= limit.get("max_evaluations", np.inf)


def test_a_callback_stops_it() -> None:
    found = k_medoids(X, 3, max_size=20, callback=lambda step: step.phase == "sizes")
    assert [step.phase for step in found.trace][-1] == "sizes"
    assert not found.converged


def test_a_checkpoint_leads_to_the_same_sizes(tmp_path: Path) -> None:
    def cut(step: Any) -> None:
        if step.phase == "sizes":
            raise KeyboardInterrupt

    keywords: dict[str, Any] = {"max_size": 20, "random_state": 0, "checkpoint": tmp_path / "steps"}
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 3, callback=cut, **keywords)
    resumed = k_medoids(X, 3, resume=True, **keywords)
    assert resumed.labels.tolist() == k_medoids(X, 3, max_size=20, random_state=0).labels.tolist()
    with pytest.raises(ValueError, match="max_size is None here and 20 in the file"):
        k_medoids(X, 3, resume=True, **{**keywords, "max_size": None})


@pytest.mark.slow
def test_ten_thousand_rows_within_ten_percent() -> None:
    rows = np.load(data.path("letter_20000x16_uint8.npz"))["X"][:10_000].astype(float)
    found = k_medoids(rows, 20, min_size=450, max_size=550, random_state=0)
    check(found, rows, 450, 550)
    proof = transport(cdist(rows[found.medoid_indices], rows), 450, 550)
    assert proof.loss - proof.bound <= 1e-9 * proof.loss
    start = next(step.loss for step in found.trace if step.phase == "sizes")
    assert found.loss < 0.98 * start


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"min_size": 21}, r"3 clusters of at least 21 rows are 63 rows, and X has 60; min_size may be at most 20"),
        ({"max_size": 19}, r"3 clusters of at most 19 rows hold 57 rows, and X has 60; max_size must be at least 20"),
        ({"min_size": 9, "max_size": 8}, r"min_size=9 is more than max_size=8"),
        ({"max_size": 0}, r"max_size=0 must be at least 1"),
        ({"min_size": 2.5}, r"min_size=2\.5 must be an integer"),
        ({"max_size": 20, "algorithm": "optimal"}, r"cannot be combined with algorithm='optimal'; pass"),
        ({"max_size": 20, "n_clusters": "auto"}, r"min_size and max_size cannot be combined with n_clusters='auto'"),
    ],
)
def test_limits_that_cannot_be_met_are_refused_with_the_numbers(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        KMedoids(**{"n_clusters": 3, **keywords}).fit(X)
