"""References: strata of equal mass, nested, with certain points; pairs."""

from __future__ import annotations

import numpy as np
import pytest

from medoids.paired.order import Strata, join_pairs


def make(mass: np.ndarray, first: int = 16, seed: int = 0, *, gently: bool = False) -> Strata:
    """Strata of a tree with one leaf, and weights like the mass."""
    return strata_of(mass, mass, first, seed, gently=gently)


def strata_of(weights: np.ndarray, mass: np.ndarray, first: int, seed: int, *, gently: bool = False) -> Strata:
    leaf = np.zeros(len(mass), dtype=np.int16)
    return Strata(weights / weights.sum(), mass, leaf, 1, first, np.random.RandomState(seed), gently=gently)


def test_one_reference_in_each_stratum() -> None:
    strata = make(np.ones(1600))
    level = strata.levels[0]
    assert level.t == 16
    assert (strata.positions[level.columns] // 100).tolist() == list(range(16))
    assert level.weights == pytest.approx(np.full(16, 1 / 16))


def test_levels_are_nested() -> None:
    strata = make(np.random.RandomState(1).pareto(2, 5000) + 0.1)
    for _ in range(3):
        before = strata.levels[-1]
        after = strata.deepen()
        assert after.t == 2 * before.t
        kept = strata.positions[after.columns].reshape(-1, 2)
        assert (kept == strata.positions[before.columns][:, None]).any(axis=1).all()
        assert after.stop >= before.stop


def test_strata_are_parts_of_the_tree() -> None:
    """Four leaves, of 10, 0, 50 and 40 points: references of each level come from the leaves below its nodes."""
    leaf = np.repeat([0, 2, 3], [10, 50, 40]).astype(np.int16)
    for seed in range(20):
        strata = Strata(np.full(100, 0.01), np.ones(100), leaf, 4, 2, np.random.RandomState(seed))
        level = strata.levels[0]
        assert (leaf[strata.positions[level.columns]] // 2).tolist() == [0, 1]
        assert level.weights == pytest.approx([0.1, 0.9])
        level = strata.deepen()  # nothing can be drawn in the second leaf
        assert leaf[strata.positions[level.columns]].tolist() == [0, 2, 3]
        assert level.nodes.tolist() == [0, 2, 3]
        assert level.weights == pytest.approx([0.1, 0.5, 0.4])
        level = strata.deepen()  # halves of a leaf have equal mass
        halves = strata.positions[level.columns]
        assert level.weights == pytest.approx([0.05, 0.05, 0.25, 0.25, 0.2, 0.2])
        assert [
            number // size for number, size in zip(halves - [0, 0, 10, 10, 60, 60], [5, 5, 25, 25, 20, 20], strict=True)
        ] == 3 * [0, 1]


def test_gentle_levels_cut_a_quarter_of_the_strata_at_a_time() -> None:
    strata = make(np.ones(6400), gently=True)
    counts, before = [16], set(strata.positions[strata.levels[0].columns].tolist())
    for _ in range(8):
        level = strata.deepen()
        counts.append(level.t)
        drawn = strata.positions[level.columns]
        assert before <= set(drawn.tolist())
        assert (np.diff(drawn) > 0).all()
        assert level.weights.sum() == pytest.approx(1)
        before = set(drawn.tolist())
    assert counts == [16, 20, 24, 28, 32, 40, 48, 56, 64]


def test_a_gentle_level_counts_each_reference_by_the_size_of_its_stratum() -> None:
    strata = make(np.ones(1600), 4, gently=True)
    strata.deepen()
    level = strata.deepen()  # the first two strata are cut
    assert level.weights == pytest.approx([1 / 8, 1 / 8, 1 / 8, 1 / 8, 1 / 4, 1 / 4])
    assert level.nodes.tolist() == [0, 1, 2, 3, 4, 6]
    # Halves of one stratum are joined first, then the strata that are left.
    pairs = set(zip(*(side.tolist() for side in join_pairs(np.zeros(6, dtype=int), level.nodes)), strict=True))
    assert pairs == {(0, 1), (2, 3), (4, 5)}
    labels = np.array([0, 1, 1, 1, 0, 1])
    pairs = set(zip(*(side.tolist() for side in join_pairs(labels, level.nodes)), strict=True))
    assert pairs == {(2, 3), (0, 4), (1, 5)}


def test_heavy_points_are_certain_and_have_their_own_weight() -> None:
    weights = np.ones(1000)
    weights[[3, 700]] = 500
    strata = make(weights)
    level = strata.levels[0]
    assert level.certain == 2
    assert strata.positions[:2].tolist() == [3, 700]
    assert level.weights[:2] == pytest.approx(500 / weights.sum())
    # The others share the strata: 998 of weight 1, each stratum a sixteenth of them.
    assert level.weights[2:] == pytest.approx(998 / 16 / weights.sum())
    assert level.weights.sum() == pytest.approx(1)


def test_few_points_are_all_certain() -> None:
    level = make(np.ones(10)).levels[0]
    assert (level.t, level.certain) == (0, 10)
    assert level.weights == pytest.approx(np.full(10, 0.1))


def test_means_are_unbiased_and_less_spread_than_those_of_plain_samples() -> None:
    """A smooth function of the place in the order, weights that vary, and a mass that differs from them."""
    random = np.random.RandomState(0)
    weights, x = random.uniform(0.5, 2, 4000), np.sin(np.arange(4000) / 500)
    mass = weights * random.uniform(0.5, 1.5, 4000)
    exact = weights @ x / weights.sum()
    found, plain = [], []
    for seed in range(400):
        strata = strata_of(weights, mass, 32, seed)
        level = strata.levels[0]
        found.append(level.weights @ x[strata.positions[level.columns]])
        plain.append(x[random.choice(4000, 32, p=weights / weights.sum())].mean())
    error = np.std(found)
    assert abs(np.mean(found) - exact) < 4 * error / np.sqrt(400)
    assert error < 0.5 * np.std(plain)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_pairs_tell_the_variance_that_is_left_when_most_points_are_drawn(share: float) -> None:
    """Values without order. A stratum of m = 1 / f points has two that its ends cut, so the squares of all chances
    add up to (1 - f / 3) f; and neighbours draw the same point with a chance of f^2 / 6, which their difference does
    not show.
    """
    random, t = np.random.RandomState(0), 512
    n = round(t / share) + 3  # so that strata begin anywhere in a point
    x = random.normal(size=n)
    errors, estimates = [], []
    for seed in range(1500):
        strata = make(np.ones(n), t, seed)
        terms = strata.levels[0].weights * x[strata.positions[strata.levels[0].columns]]
        errors.append((terms.sum() - x.mean()) ** 2)
        estimates.append(((terms[::2] - terms[1::2]) ** 2).sum())
    f = t / n
    left = np.mean(errors) / np.mean(estimates)
    assert left == pytest.approx((1 - f + f**2 / 3) / (1 - f**2 / 6), rel=0.06)
    assert left == pytest.approx(1 - f + f**2 / 2, rel=0.06)  # as the search takes it


@pytest.mark.parametrize("count", [1, 2, 7, 64, 129])
def test_pairs_have_one_label_and_hold_every_stratum_once(count: int) -> None:
    labels = np.random.RandomState(count).randint(0, 3, count)
    first, second = join_pairs(labels, np.arange(count))
    assert (labels[first] == labels[second]).all()
    alone = first[first == second]
    assert sorted([*first, *second[first != second]]) == list(range(count))
    assert len(alone) == len({int(labels[i]) for i in alone})  # at most one of a label


def test_a_label_that_changes_affects_few_pairs() -> None:
    labels = np.random.RandomState(0).randint(0, 4, 1024)
    nodes = np.arange(1024)
    before = set(zip(*(side.tolist() for side in join_pairs(labels, nodes)), strict=True))
    labels[300] = (labels[300] + 1) % 4
    after = set(zip(*(side.tolist() for side in join_pairs(labels, nodes)), strict=True))
    assert 0 < len(before ^ after) <= 4 * 11  # two labels, and at most two pairs of each at every level of the tree
