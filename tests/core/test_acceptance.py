"""The one rule for accepting a swap: the loss must fall by more than 1e-10 of the sum of w |d|."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
from medoids import k_medoids

PAM_PATH = ["pam", "fastpam1", "pairedpam", "banditpam++"]
LOCAL_OPTIMA = [*PAM_PATH, "fastpam", "fasterpam"]


@pytest.mark.parametrize("algorithm", [*LOCAL_OPTIMA, "auto", "alternate", "clara", "clarans"])
def test_terms_that_cancel(algorithm: str) -> None:
    # Every row sums to 0, up to rounding: BUILD takes row 0, and no swap helps.
    D = np.array([[-0.1, 0, 0.1], [-0.2, 0.2, 0], [0, -0.2, 0.2]])
    found = k_medoids(D, 1, metric="precomputed", algorithm=algorithm, random_state=0)
    assert found.inertia == pytest.approx(0, abs=1e-15)
    assert found.converged
    assert found.n_swaps == 0


def _problems(count: int, seed: int):
    """Distances in tenths, some of them negative or of the size of 1e16, and weights over 24 orders of magnitude."""
    random = np.random.RandomState(seed)
    for number in range(count):
        n = random.randint(3, 10)
        D = random.randint(-9 if number % 2 else 0, 10, (n, n)) / 10 * [1, 1e16, 1e-16][random.randint(3)]
        weights = 10.0 ** random.uniform(-12, 12, n) if random.randint(2) else random.randint(1, 4, n) / 10
        yield D, weights, random.randint(1, n)


@pytest.mark.parametrize("algorithm", PAM_PATH)
def test_losses_are_those_of_plain_loops(algorithm: str) -> None:
    for D, weights, k in _problems(60 if algorithm == "banditpam++" else 150, 1):
        found = k_medoids(D, k, metric="precomputed", sample_weight=weights, algorithm=algorithm, random_state=0)
        medoids, _ = oracle.pam(D, k, weights)
        size = oracle.magnitude(D, medoids, weights)
        assert found.inertia == pytest.approx(oracle.loss(D, medoids, weights), rel=0, abs=1e-9 * size)


@pytest.mark.parametrize("algorithm", LOCAL_OPTIMA)
def test_the_end_is_a_local_optimum(algorithm: str) -> None:
    for D, weights, k in _problems(60, 2):
        found = k_medoids(D, k, metric="precomputed", sample_weight=weights, algorithm=algorithm, random_state=0)
        assert found.converged
        assert oracle.swap(D, found.medoid_indices.tolist(), weights) is None


@pytest.mark.parametrize("algorithm", PAM_PATH)
@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64"])
def test_signed_integers(kind: str, algorithm: str) -> None:
    D = np.array([[-3, 2, -3, -4], [-3, 4, -1, -4], [-4, 2, 2, 4], [3, -3, 3, 4]], dtype=kind)
    # Rows 0 and 3 together reach -3, -3, -3 and -4.
    found = k_medoids(D, 2, metric="precomputed", algorithm=algorithm, random_state=0)
    assert (sorted(found.medoid_indices.tolist()), found.inertia) == ([0, 3], -13)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint64", "float32"])
@pytest.mark.parametrize("algorithm", PAM_PATH)
def test_any_type_of_matrix_is_as_good_as_float64(algorithm: str, kind: str) -> None:
    random = np.random.RandomState(3)
    for seed in range(10):
        D = random.randint(0 if kind.startswith("u") else -9, 10, (12, 12)).astype(kind)
        settings = {"metric": "precomputed", "algorithm": algorithm, "random_state": seed}
        found, like = (k_medoids(values, 3, **settings) for values in (D, D.astype(float)))
        assert found.inertia == like.inertia == oracle.loss(D.tolist(), oracle.pam(D.tolist(), 3)[0], [1] * 12)


@pytest.mark.parametrize("algorithm", ["pam", "fastpam1", "fastpam", "fasterpam"])
def test_sums_keep_up_with_a_loss_that_falls_far(algorithm: str) -> None:
    # Two heavy points are taken first, after which the loss is one part in 1e16 of what was summed before: updated
    # sums alone would be rounding errors.
    random = np.random.RandomState(0)
    D = np.abs(np.subtract.outer(x := random.normal(size=40), x))
    weights = np.ones(40)
    weights[:2] = 1e16
    found = k_medoids(D, 6, metric="precomputed", sample_weight=weights, algorithm=algorithm)
    medoids = found.medoid_indices.tolist()
    assert found.converged
    assert {0, 1} <= set(medoids)
    assert oracle.swap(D, medoids, weights) is None
