"""In which order kernels read references: by slot, within stretches that stay in cache."""

from __future__ import annotations

import numpy as np
import pytest

from medoids.paired.lanes import Order

STRETCH = 1024


# One reference; stretches that are full, and not; keys of two bytes up to the last, and one more than these hold.
@pytest.mark.parametrize(
    ("n", "k"), [(1, 1), (5, 3), (1024, 1), (1025, 7), (28_528, 10), (65_536, 1023), (65_536, 1024), (3000, 40_000)]
)
def test_references_are_read_by_slot(n: int, k: int) -> None:
    slot = np.random.RandomState(0).randint(k, size=n)
    slot[-1] = k - 1
    order, read, _, _, (starts, slots) = Order(slot).of(slice(0, n))
    assert np.array_equal(np.sort(order), np.arange(n))
    assert np.array_equal(read, order)
    assert (starts[0], starts[-1]) == (0, n)
    assert (np.diff(starts) > 0).all()
    whose = np.repeat(slots, np.diff(starts))
    assert np.array_equal(slot[order], whose)
    key = order // STRETCH * k + whose
    assert (np.diff(key) >= 0).all()
    assert (np.diff(order)[np.diff(key) == 0] > 0).all()  # as they come, among equals
    assert len(slots) == len(np.unique(key))


def test_two_entries_of_a_reference_are_read_from_one_column() -> None:
    slot = np.array([1, 0, 0, 1, 1, 1])  # old and new of three references
    order, read, _, _, (starts, slots) = Order(slot, 2).of(slice(0, 3))
    assert order.tolist() == [1, 2, 0, 3, 4, 5]
    assert read.tolist() == [0, 1, 0, 1, 2, 2]
    assert (starts.tolist(), slots.tolist()) == ([0, 2, 6], [0, 1])
