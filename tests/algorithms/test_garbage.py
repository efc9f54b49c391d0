"""A fit leaves nothing behind that waits for the garbage collector: fits in a loop would pile up their matrices."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from medoids import certify, k_medoids, k_path
from medoids.algorithms import ALGORITHMS
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.distances import Dissimilarity
from medoids.exact.matrix import Matrix
from medoids.paired.store import Store

X = np.random.RandomState(0).normal(size=(3200, 4))  # more than small, so that there are estimates beside exact ones


def remains(work: Callable[[], Any]) -> list[str]:
    """Return what of a fit is there after it, while its result is kept, and no garbage was collected."""
    work()  # what is imported or compiled the first time stays
    gc.disable()
    gc.freeze()  # only objects that are made from here on are looked at
    try:
        kept = work()
        assert kept is not None
        parts = (Matrix, Store, Problem, Run, Dissimilarity)
        return [type(one).__name__ for one in gc.get_objects() if isinstance(one, parts)]
    finally:
        gc.unfreeze()
        gc.enable()


SLOW = {"active", "pam", "banditpam", "banditpam+va", "banditpam+pic", "optimal"}


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - SLOW))
def test_nothing_is_left_of_a_fit(algorithm: str) -> None:
    assert remains(lambda: k_medoids(X, 3, algorithm=algorithm, random_state=0)) == []


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", sorted(SLOW))
def test_nothing_is_left_of_a_slow_fit(algorithm: str) -> None:
    assert remains(lambda: k_medoids(X[:300], 3, algorithm=algorithm, random_state=0)) == []


def test_nothing_is_left_of_eager_swaps() -> None:
    assert remains(lambda: k_medoids(X, 3, algorithm="pairedpam", swap="eager", random_state=0)) == []


@pytest.mark.parametrize("algorithm", ["fastpam1", "pairedpam"])
def test_nothing_is_left_of_several_starts(algorithm: str) -> None:
    fit = lambda: k_medoids(X, 3, algorithm=algorithm, init="random", n_init=3, random_state=0)  # noqa: E731
    assert remains(fit) == []


def test_nothing_is_left_of_a_path() -> None:
    assert remains(lambda: k_path(X, (2, 4), random_state=0)) == []


@pytest.mark.slow
def test_nothing_is_left_of_a_certificate() -> None:
    assert remains(lambda: certify(X, [0, 1, 2], random_state=0)) == []
