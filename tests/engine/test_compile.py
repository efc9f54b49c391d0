"""Kernels on disk: one process at a time reads or writes those of a function."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from medoids.exact.kernels import lowest_sums


def test_files_of_a_kernel_are_used_in_turn() -> None:
    fcntl = pytest.importorskip("fcntl", reason="file locks of POSIX")
    S, best = np.array([1.0, 5.0]), np.full(2, np.inf)
    lowest_sums(S, np.array([[3.0, 1.0], [2.0, 4.0]]), np.array([0, 1]), 0, 2, best)  # there is something on disk
    assert best.tolist() == [3.0, 6.0]
    files, found = lowest_sums._cache._cache_file, []
    reader = threading.Thread(target=lambda: found.append(files.load("no such version")))
    with Path(f"{files._index_path}.lock").open("ab") as other:  # another process writes
        fcntl.flock(other, fcntl.LOCK_EX)
        reader.start()
        reader.join(0.3)
        assert found == []
    reader.join(30)
    assert found == [None]
