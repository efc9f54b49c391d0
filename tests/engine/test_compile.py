"""Kernels on disk: one process at a time reads or writes those of a function."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from medoids.exact.kernels import add_base


def test_files_of_a_kernel_are_used_in_turn() -> None:
    fcntl = pytest.importorskip("fcntl", reason="file locks of POSIX")
    sums, distances = np.zeros(2), np.array([[3.0, 1.0], [2.0, 4.0]])
    add_base(distances, np.array([0, 1]), np.array([2.5, 3.0]), np.ones(2), 0, 2, sums)  # there is something on disk
    assert sums.tolist() == [4.5, 4.0]
    files, found = add_base._cache._cache_file, []
    reader = threading.Thread(target=lambda: found.append(files.load("no such version")))
    with Path(f"{files._index_path}.lock").open("ab") as other:  # another process writes
        fcntl.flock(other, fcntl.LOCK_EX)
        reader.start()
        reader.join(0.3)
        assert found == []
    reader.join(30)
    assert found == [None]
