"""Real data for tests: found by MEDOIDS_DATA, else beside the project; tests that need it skip where it is absent."""

from __future__ import annotations

import lzma
import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(os.environ.get("MEDOIDS_DATA", Path(__file__).parents[2] / "shared" / "data"))


def path(name: str) -> Path:
    file = FOLDER / name
    if not file.exists():
        if os.environ.get("CI"):
            raise FileNotFoundError(f"{name} is not in {FOLDER}: CI must have the data; set MEDOIDS_DATA")
        pytest.skip(f"{name} is not in {FOLDER}; set MEDOIDS_DATA to the folder of data files")
    return file


@lru_cache(maxsize=1)
def mnist() -> np.ndarray:
    return np.load(lzma.open(path("mnist_70000x784_uint8.npy.xz")))


def letter() -> np.ndarray:
    return np.load(path("letter_20000x16_uint8.npz"))["X"]
