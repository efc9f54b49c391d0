"""A distance that implements only what it must: the rest has defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medoids.distances import Counted, Dissimilarity, Facts, Index, Tally
from medoids.distances.protocol import numbers_of


class Gaps(Dissimilarity):
    """|a - b| of single numbers."""

    cost = 1.0

    def __init__(self, values: np.ndarray) -> None:
        self.n, self._values = len(values), values

    def block(self, rows: Index, columns: Index) -> np.ndarray:
        return np.abs(self._values[rows][:, None] - self._values[columns])

    def take(self, rows: Index) -> Gaps:
        return Gaps(self._values[rows])

    def cross(self, queries: Any) -> np.ndarray:
        return np.abs(self._values[:, None] - queries)


GAPS = Gaps(np.array([3, 1, 7]))
WHOLE = slice(None)


def test_defaults() -> None:
    GAPS.prepare()
    GAPS.release()
    assert GAPS.exact
    assert not GAPS.symmetric
    assert not GAPS.triangle
    assert not GAPS.spill
    assert GAPS.copy_bytes() == 0
    assert GAPS.complete() is None
    found = GAPS.exact_block(WHOLE, np.array([1]))
    assert found.dtype == np.float64
    assert found.tolist() == [[2], [0], [6]]


def test_another_order() -> None:
    other = GAPS.reordered(np.array([2, 0]))
    assert other.n == 2
    assert other.block(WHOLE, WHOLE).tolist() == [[0, 4], [4, 0]]
    assert other.take(np.array([1])).cross([5]).tolist() == [[2]]
    assert other.cross([5]).tolist() == [[2], [2]]


def test_counted() -> None:
    tally = Tally()
    counted = Counted(GAPS, tally)
    counted.reordered(np.array([2, 0, 1])).block(slice(0, 2), WHOLE)
    counted.take(np.array([0, 1])).exact_block(WHOLE, WHOLE)
    assert tally.computed == 6 + 4


def test_a_distance_that_cannot_be_shared_says_so() -> None:
    with pytest.raises(ValueError, match="Gaps distances cannot be shared by several workers; fit on one machine"):
        GAPS.hosting(np.zeros(3), np.arange(3), Facts(small=True))


@pytest.mark.parametrize("index", [slice(None), slice(1, 3), slice(None, None, 2), np.array([2, 2, 0])])
def test_numbers_of(index: Any) -> None:
    assert numbers_of(index, 5).tolist() == np.arange(5)[index].tolist()
