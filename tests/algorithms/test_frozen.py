"""``frozen_medoids`` in every algorithm: they stay, and the rest is the best around them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from medoids import KMedoids, k_medoids
from medoids.algorithms import ALGORITHMS

X = np.random.RandomState(0).normal(size=(150, 3))
D = cdist(X, X)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("init", ["build", "random", "lab", "k-medoids++"])
def test_they_stay(algorithm: str, init: str) -> None:
    for k in (2, 5):
        found = k_medoids(X, k, algorithm=algorithm, init=init, frozen_medoids=[3, 149], random_state=0)
        assert {3, 149} <= set(found.medoid_indices.tolist())
        assert len(set(found.medoid_indices.tolist())) == k
        assert found.inertia == pytest.approx(D[found.medoid_indices].min(axis=0).sum())
        assert all(step.medoid_out not in (3, 149) for step in found.trace)
    assert found.n_swaps > 0 or algorithm == "alternate"


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name not in ("alternate", "clara", "clarans")])
@pytest.mark.parametrize("swap", ["best", "eager"])
def test_no_swap_of_the_others_improves(algorithm: str, swap: str) -> None:
    if swap == "eager" and algorithm != "pairedpam":
        pytest.skip("only PairedPAM swaps eagerly")
    found = k_medoids(X, 5, algorithm=algorithm, swap=swap, frozen_medoids=[3, 149], random_state=0)
    medoids = found.medoid_indices.tolist()
    for j, i in itertools.product(range(5), range(150)):
        if medoids[j] not in (3, 149) and i not in medoids:
            assert D[[*medoids[:j], i, *medoids[j + 1 :]]].min(axis=0).sum() >= found.inertia * (1 - 1e-9)


def test_build_goes_on_from_them() -> None:
    found = KMedoids(4, frozen_medoids=[3, 149]).fit(X)
    steps = [step.medoid_in for step in found.trace_ if step.phase == "build"]
    assert steps[:2] == [3, 149]
    losses = np.minimum(D, D[[3, 149]].min(axis=0)).sum(axis=1)
    assert steps[2] == int(np.argmin(losses))


def test_a_given_start_keeps_its_slots() -> None:
    found = k_medoids(X, 3, init=[10, 3, 20], frozen_medoids=[3])
    assert found.medoid_indices[1] == 3


def test_wrong_asking() -> None:
    for frozen, message in (
        ([150], r"frozen_medoids\[0\]=150 is not a row of X, which has rows 0 to 149"),
        ([1, 1], "frozen_medoids repeats row 1"),
        ([1, 2, 3], "frozen_medoids has 3 rows, more than n_clusters=2"),
        ([[1]], "must be a 1-D array of row indices"),
    ):
        with pytest.raises(ValueError, match=message):
            k_medoids(X, 2, frozen_medoids=frozen)
    with pytest.raises(ValueError, match="init lacks row 1 of frozen_medoids"):
        k_medoids(X, 2, init=[4, 5], frozen_medoids=[1])
    with pytest.raises(ValueError, match=r"frozen_medoids\[0\]=0 has sample_weight 0"):
        k_medoids(X, 2, frozen_medoids=[0], sample_weight=[0, *[1] * 149])
