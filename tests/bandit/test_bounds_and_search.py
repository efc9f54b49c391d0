"""The best-arm search on arms that have nothing to do with medoids, and intervals on real ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import binom

import data
from medoids.bandit import Independent, search


class Table:
    """Arms given as an (arms, faces, references) array of changes."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.count = len(values)
        self.pulls = 0

    def pull(self, arms: np.ndarray, order: np.ndarray, batch: slice) -> tuple[np.ndarray, np.ndarray]:
        looked = self.values[arms][:, :, order[batch]]
        self.pulls += len(arms) * looked.shape[2]
        return looked.sum(axis=2), (looked**2).sum(axis=2)

    def least_sigma(self, arms: np.ndarray) -> np.ndarray:
        return np.zeros(len(arms))


def test_width_by_hand() -> None:
    # log(1 / e^-4) = 4, so w = 2, and after 16 references a sigma of 6 gives 6 * 2 / 4 = 3.
    bounds = Independent(np.exp(-4))
    assert bounds.width(np.array([6.0]), 16) == pytest.approx([3.0])


def test_keep_by_hand() -> None:
    # Widths of 1: the lowest upper end is 0 + 1 = 1. The arm at 1.9 starts at 0.9 and stays, the one at 2.1 goes; an
    # arm with one face at 5 and one at 1.9 stays for the second.
    bounds = Independent(np.exp(-1))
    means = np.array([[0.0, 9.0], [1.9, 9.0], [2.1, 9.0], [5.0, 1.9]])
    assert bounds.keep(means, np.ones((4, 2)), 1).tolist() == [True, True, False, True]


def test_finds_the_best_arm_without_looking_at_everything() -> None:
    random = np.random.RandomState(0)
    for best in range(5):
        values = random.normal(size=(50, 1, 3000)) + 1
        values[best] -= 1
        arms = Table(values)
        found = search(arms, random.permutation(3000), 100, Independent(1e-6))
        assert found.arms.tolist() == [best]
        assert not found.exhausted
        assert arms.pulls < 50 * 3000 / 2


def test_the_lowest_face_counts() -> None:
    random = np.random.RandomState(0)
    values = random.normal(size=(20, 3, 2000))
    values[7, 2] -= 1
    values[3] -= 0.3
    found = search(Table(values), random.permutation(2000), 100, Independent(1e-6))
    assert found.arms.tolist() == [7]
    assert found.means[0].argmin() == 2


def test_used_up_references_make_the_means_exact() -> None:
    values = np.random.RandomState(0).normal(size=(4, 1, 250))
    values[2] = values[1]  # a tie can only end with all references
    values[:2] -= 1
    values[2] -= 1
    found = search(Table(values), np.random.RandomState(1).permutation(250), 100, Independent(1e-12))
    assert found.exhausted
    assert found.references == 250
    assert {1, 2} <= set(found.arms.tolist())
    np.testing.assert_allclose(found.means, values[found.arms].mean(axis=2), rtol=1e-12)


def test_references_come_in_the_given_order_in_batches() -> None:
    class Seen(Table):
        def pull(self, arms: np.ndarray, order: np.ndarray, batch: slice) -> tuple[np.ndarray, np.ndarray]:
            batches.append(order[batch].tolist())
            return super().pull(arms, order, batch)

    batches: list[list[int]] = []
    search(Seen(np.zeros((2, 1, 4))), np.array([3, 0, 2, 1]), 3, Independent(0.1))
    assert batches == [[3, 0, 2], [1]]


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_intervals_of_real_arms_hold_as_often_as_they_say(delta: float) -> None:
    random = np.random.RandomState(0)
    X = data.mnist()[random.choice(70000, 2000, replace=False)] / 255
    D = cdist(X[:400], X)
    mean, sigma, t = D.mean(axis=1), D.std(axis=1), 100
    # Arms that share references miss together, so each draw of references serves one arm only: 400 independent tries.
    misses = sum(
        abs(D[i, random.choice(2000, t, replace=False)].mean() - mean[i]) > Independent(delta).width(sigma[i], t)
        for i in range(400)
    )
    # With the claimed rate as a bound, this number of misses has a chance of 1 in 1,000. A width of a half would fail.
    assert misses <= binom.ppf(0.999, 400, min(1, 2 * np.sqrt(delta)))
    narrow = sum(
        abs(D[i, random.choice(2000, t, replace=False)].mean() - mean[i]) > Independent(delta).width(sigma[i], t) / 4
        for i in range(400)
    )
    assert narrow > binom.ppf(0.999, 400, 2 * np.sqrt(0.01))
