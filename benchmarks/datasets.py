"""The data of the benchmarks, found by MEDOIDS_DATA, else beside the project."""

from __future__ import annotations

import lzma
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

__all__ = ["FOLDER", "mnist"]

FOLDER = Path(os.environ.get("MEDOIDS_DATA", Path(__file__).parents[2] / "shared" / "data"))


@lru_cache(maxsize=1)
def mnist() -> np.ndarray:
    """All 70,000 images, scaled to [0, 1]."""
    with lzma.open(FOLDER / "mnist_70000x784_uint8.npy.xz") as file:
        return np.load(file) / 255.0
