"""A budget of distances is never exceeded, and what it buys is returned with an exact assignment."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from everything import ANY_METRIC
from medoids import KMedoids, k_medoids
from medoids.settings import NEEDS_MATRIX

X = np.random.default_rng(0).normal(size=(150, 3))
SAMPLING = sorted(set(ANY_METRIC) - NEEDS_MATRIX)


class Counting:
    """The manhattan distance, which counts its calls."""

    calls = 0

    def __call__(self, a: Any, b: Any) -> float:
        self.calls += 1
        return float(np.abs(a - b).sum())


def check_exact(found: Any, rows: Any = X, metric: str = "cityblock") -> None:
    distances = cdist(rows, rows[found.medoid_indices], metric)
    assert len(set(found.medoid_indices.tolist())) == len(found.medoid_indices)
    assert found.inertia == pytest.approx(distances.min(axis=1).sum(), rel=1e-9)
    assert found.labels.tolist() == distances.argmin(axis=1).tolist()


@pytest.mark.parametrize("algorithm", ["auto", *SAMPLING])
@pytest.mark.parametrize("budget", [750, 6000])
@pytest.mark.parametrize("memory", ["2GiB", 2000], ids=["remembered", "forgotten"])
def test_a_callable_is_never_called_more_often(algorithm: str, budget: int, memory: Any) -> None:
    metric = Counting()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = k_medoids(
            X, 5, metric=metric, algorithm=algorithm, max_evaluations=budget, memory_limit=memory, random_state=0
        )
    assert metric.calls == found.n_evaluations <= budget
    assert found.converged == (not caught)
    assert not found.converged or algorithm == "clara"  # which needs the least
    assert all("stopped at max_evaluations" in str(warning.message) for warning in caught)
    check_exact(found)


@pytest.mark.parametrize("algorithm", ["auto", *SAMPLING])
def test_vectors_stay_within_the_budget_on_any_number_of_threads(algorithm: str) -> None:
    rows = np.random.default_rng(1).normal(size=(6000, 4))
    keywords: dict[str, Any] = {"algorithm": algorithm, "max_evaluations": 500_000, "random_state": 0}
    found = []
    for jobs in (1, 2):
        with pytest.warns(ConvergenceWarning, match="stopped at max_evaluations"):
            found.append(k_medoids(rows, 8, n_jobs=jobs, **keywords))
    assert max(one.n_evaluations for one in found) <= 500_000
    assert found[0].medoid_indices.tolist() == found[1].medoid_indices.tolist()
    check_exact(found[0], rows, "euclidean")


@pytest.mark.parametrize("algorithm", sorted(ANY_METRIC))
def test_a_budget_that_is_not_spent_changes_no_medoid(algorithm: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited = k_medoids(X, 5, algorithm=algorithm, max_evaluations=10**8, random_state=0)
    free = k_medoids(X, 5, algorithm=algorithm, random_state=0)
    assert limited.medoid_indices.tolist() == free.medoid_indices.tolist()
    assert (limited.loss, limited.n_swaps, limited.converged) == (free.loss, free.n_swaps, free.converged)


def test_a_sample_stands_in_for_a_start_that_is_not_complete() -> None:
    """A quarter of 10,000 distances is PAM on 50 of the 150 rows: better than rows drawn at random."""
    metric = Counting()
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_evaluations; increase"):
        found = k_medoids(X, 5, metric=metric, algorithm="banditpam", max_evaluations=10_750, random_state=0)
    best = k_medoids(X, 5, metric="manhattan", algorithm="fastpam1").loss
    random = np.random.default_rng(0)
    drawn = [cdist(X, X[random.choice(150, 5, replace=False)], "cityblock").min(axis=1).mean() for _ in range(20)]
    assert best <= found.loss < min(1.1 * best, min(drawn))
    assert found.counts["matrix"].computed == 2500


def test_auto_takes_a_matrix_only_if_the_budget_covers_it() -> None:
    metric = {"metric": Counting(), "metric_params": {"symmetric": True}}
    enough = k_medoids(X, 5, max_evaluations=150 * 151 // 2 + 750, random_state=0, **metric)
    assert enough.algorithm == "fastpam1"
    with pytest.warns(ConvergenceWarning, match="stopped at max_evaluations"):
        found = k_medoids(X, 5, max_evaluations=150 * 151 // 2 + 749, random_state=0, **metric)
    assert found.algorithm == "pairedpam"
    why = "the 11,325 distances of the matrix are more than max_evaluations: sampled distances; stopped at"
    assert found.reason.startswith(why)


@pytest.mark.parametrize("algorithm", sorted(NEEDS_MATRIX))
def test_a_matrix_that_is_too_dear_is_refused(algorithm: str) -> None:
    message = r"needs the 150 x 150 distance matrix, 22,500 distances, and max_evaluations leaves 9,250.*'pairedpam'"
    with pytest.raises(ValueError, match=message):
        k_medoids(X, 5, metric=Counting(), algorithm=algorithm, max_evaluations=10_000)


def test_a_given_matrix() -> None:
    matrix = cdist(X, X, "cityblock")
    with pytest.warns(ConvergenceWarning, match="max_evaluations"):
        found = k_medoids(matrix, 5, metric="precomputed", algorithm="clarans", max_evaluations=5000, random_state=0)
    assert found.n_evaluations <= 5000
    check_exact(found)
    assert k_medoids(matrix, 5, metric="precomputed", max_evaluations=23_250).algorithm == "fastpam1"


@pytest.mark.parametrize("algorithm", ["pairedpam", "clarans"])
def test_a_checkpoint_counts_what_was_spent(algorithm: str, tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"algorithm": algorithm, "init": [0, 1, 2, 3, 4], "random_state": 3, "metric": "l1"}
    undisturbed = k_medoids(X, 5, **keywords)
    assert undisturbed.n_swaps > 2
    path, budget = tmp_path / "steps", undisturbed.n_evaluations // 2
    with pytest.warns(ConvergenceWarning, match="max_evaluations"):
        first = k_medoids(X, 5, checkpoint=path, max_evaluations=budget, **keywords)
    assert first.n_evaluations <= budget
    with pytest.warns(ConvergenceWarning, match="max_evaluations"):
        again = k_medoids(X, 5, checkpoint=path, resume=True, max_evaluations=budget, **keywords)
    assert again.n_evaluations <= budget
    resumed = k_medoids(X, 5, checkpoint=path, resume=True, **keywords)
    assert resumed.medoid_indices.tolist() == undisturbed.medoid_indices.tolist()


def test_the_estimator_takes_it_and_predicts() -> None:
    with pytest.warns(ConvergenceWarning, match="max_evaluations"):
        model = KMedoids(4, max_evaluations=1000, random_state=0).fit(X)
    assert not model.converged_
    assert model.n_evaluations_ <= 1000
    assert model.predict(X).tolist() == model.labels_.tolist()


def test_what_is_no_budget_is_refused() -> None:
    with pytest.raises(TypeError, match=r"max_evaluations=2\.5 must be an integer"):
        k_medoids(X, 3, max_evaluations=2.5)
    with pytest.raises(ValueError, match=r"max_evaluations is for one number of clusters"):
        k_medoids(X, "auto", max_evaluations=5000)
    message = r"max_evaluations=749 is too few: the labels alone take 750 distances, from k = 5 medoids to n = 150"
    with pytest.raises(ValueError, match=message):
        k_medoids(X, 5, max_evaluations=749)
