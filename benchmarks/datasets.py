"""The data of the benchmarks, found by MEDOIDS_DATA, else beside the project."""

from __future__ import annotations

import lzma
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from medoids.datasets import distinct_rows, load_cifar10, load_mnist, load_scrna

__all__ = ["FOLDER", "METRIC", "covertype", "letter", "load", "mnist", "rows_of", "words"]

FOLDER = Path(os.environ.get("MEDOIDS_DATA", Path(__file__).parents[2] / "shared" / "data"))
# What the paper uses each set with.
METRIC = {"MNIST": "l2", "CIFAR10": "l1", "NEWSGROUPS": "cosine", "LETTER": "l2", "SCRNA": "l1"}


@lru_cache(maxsize=1)
def mnist() -> np.ndarray:
    """All 70,000 images, scaled to [0, 1]."""
    return load_mnist(FOLDER).data / 255.0


def letter() -> np.ndarray:
    return np.load(FOLDER / "letter_20000x16_uint8.npz")["X"].astype(float)


def dry_bean() -> np.ndarray:
    stored = np.load(FOLDER / "drybean_13611x16_float64.npz")
    return next(stored[name] for name in stored.files if stored[name].ndim == 2)


@lru_cache(maxsize=1)
def covertype() -> np.ndarray:
    with lzma.open(FOLDER / "covertype_581012x54_int16.npy.xz") as file:
        return np.load(file).astype(np.float32)


def words(n: int) -> list[str]:
    """Return n words, drawn at random."""
    with lzma.open(FOLDER / "words_american_english_104334.txt.xz", "rt", encoding="utf-8") as file:
        every = file.read().split()
    return [every[i] for i in np.random.RandomState(0).permutation(len(every))[:n]]


def load(name: str, n: int) -> np.ndarray:
    """Return the first n rows of a set."""
    if name == "CIFAR10":
        return load_cifar10(FOLDER).data[:n] / np.float32(255)
    return {"MNIST": mnist, "covertype": covertype, "letter": letter}[name]()[:n].copy()


def rows_of(name: str, n: int, random: np.random.RandomState) -> np.ndarray:
    """Return n distinct rows of a set, drawn at random."""
    if name == "MNIST":
        return mnist()[random.choice(70_000, n, replace=False)]
    if name == "LETTER":
        return letter()[random.choice(20_000, n, replace=False)]
    if name == "SCRNA":
        return load_scrna("worm", FOLDER).data.toarray()[random.choice(4_186, n, replace=False)]
    return distinct_rows(name, n, random, FOLDER)
