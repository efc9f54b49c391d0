"""The order of points along a tree, and how their mass is cut."""

from __future__ import annotations

import numpy as np
import pytest

from medoids.core.tree import Layout, Tree, certain_points, pick_landmarks


def test_leaves_have_neighbours() -> None:
    Z = np.random.RandomState(0).uniform(size=(2, 4096))
    leaf = Tree.of(Z, np.ones(4096), 64).leaves(Z)
    assert len(np.unique(leaf)) == 512
    assert np.bincount(leaf).max() <= 16
    spread = [np.ptp(Z[:, leaf == number], axis=1).max() for number in range(512)]
    assert np.median(spread) < 0.2  # of a square with side 1; a leaf's share of its area is 1/512


def test_halves_of_the_tree_have_equal_mass() -> None:
    random = np.random.RandomState(0)
    Z, weights = random.uniform(size=(3, 5000)), random.pareto(1.5, 5000) + 0.1
    tree = Tree.of(Z, weights, 64)
    layout = Layout.of(tree, Z)
    mass = layout.mass(weights, layout.sums(weights))
    mass[certain_points(mass, 64)] = 0
    for depth in range(1, 6):
        nodes = np.bincount(layout.leaf >> (10 - depth), mass, minlength=1 << depth)
        # A point belongs to one half, so these differ by at most the largest one at each cut.
        assert np.abs(nodes - mass.sum() / (1 << depth)).max() <= 1.5 * mass.max()


def test_equal_values_stay_together() -> None:
    Z = np.random.RandomState(0).randint(0, 3, size=(2, 2000)).astype(float)
    leaf = Tree.of(Z, np.ones(2000), 16).leaves(Z)
    cells = {(*point, number) for *point, number in zip(*Z, leaf, strict=True)}
    assert len(cells) == 9
    assert len({number for *_, number in cells}) == 9


def test_certain_points_fill_a_stratum() -> None:
    """Of 4 strata: 60 of 110, 14 of 50 and 9 of 36 do, but 5 of 27 does not."""
    mass = np.append([60.0, 14, 9, 5, 4, 4, 4], 100 * [0.1])
    assert np.flatnonzero(certain_points(mass, 4)).tolist() == [0, 1, 2]
    assert certain_points(np.ones(4), 4).all()


def test_equal_coordinates_are_no_problem() -> None:
    Z = np.ones((2, 100))
    assert len(np.unique(Tree.of(Z, np.ones(100), 16).leaves(Z))) == 1


def test_outliers_have_more_mass_than_weight() -> None:
    random = np.random.RandomState(0)
    X = np.append(random.normal(size=999), 1000.0)
    marks = pick_landmarks(lambda i: np.abs(X - X[i]), np.ones(1000), random)
    Z = np.abs(X[marks][:, None] - X)
    weights = np.ones(1000)
    layout = Layout.of(Tree.of(Z, weights, 16), Z)
    mass = layout.mass(weights, layout.sums(weights))
    assert mass.sum() == pytest.approx(1)
    assert mass[-1] > 5 * mass[:-1].max() / 2
    assert mass.min() >= 0.75 / 1000


def test_copies_of_one_point_have_one_landmark() -> None:
    assert pick_landmarks(lambda _: np.zeros(50), np.ones(50), np.random.RandomState(0)) != []
    assert len(pick_landmarks(lambda _: np.zeros(50), np.ones(50), np.random.RandomState(0))) == 1
