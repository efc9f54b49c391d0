"""The data of the benchmarks, found by MEDOIDS_DATA, else beside the project, and the samples of the authors' runs."""

from __future__ import annotations

import csv
import lzma
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

__all__ = [
    "FOLDER",
    "METRIC",
    "cifar10",
    "covertype",
    "letter",
    "load",
    "logged_runs",
    "mnist",
    "newsgroups",
    "paper_sample",
    "words",
    "worm",
]

FOLDER = Path(os.environ.get("MEDOIDS_DATA", Path(__file__).parents[2] / "shared" / "data"))
# What the paper uses each set with.
METRIC = {"MNIST": "l2", "CIFAR10": "l1", "NEWSGROUPS": "cosine", "LETTER": "l2", "SCRNA": "l1"}


def _load(name: str) -> np.ndarray:
    with lzma.open(FOLDER / name) as file:
        return np.load(file)


@lru_cache(maxsize=1)
def mnist() -> np.ndarray:
    """All 70,000 images, scaled to [0, 1]."""
    return _load("mnist_70000x784_uint8.npy.xz") / 255.0


@lru_cache(maxsize=1)
def cifar10() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels (uint8), classes, and the position of each of the 30,000 images in the training set."""
    rest = np.load(FOLDER / "cifar10_30000_labels_index.npz")
    return _load("cifar10_30000x3072_uint8.npy.xz"), rest["y"], rest["index"]


def newsgroups() -> np.ndarray:
    return np.load(FOLDER / "newsgroups_minilm_10000x384_float32.npy")


def letter() -> np.ndarray:
    return np.load(FOLDER / "letter_20000x16_uint8.npz")["X"].astype(float)


def worm() -> np.ndarray:
    """Counts of 4,186 cells by gene, dense."""
    return scipy.sparse.load_npz(FOLDER / "scrna_worm_neuron_4186x13488_csr_int16.npz").toarray()


@lru_cache(maxsize=1)
def covertype() -> np.ndarray:
    return _load("covertype_581012x54_int16.npy.xz").astype(np.float32)


def words(n: int) -> list[str]:
    """Return n words, drawn at random."""
    with lzma.open(FOLDER / "words_american_english_104334.txt.xz", "rt", encoding="utf-8") as file:
        every = file.read().split()
    return [every[i] for i in np.random.RandomState(0).permutation(len(every))[:n]]


def load(name: str, n: int) -> np.ndarray:
    """Return the first n rows of a set."""
    if name == "CIFAR10":
        return cifar10()[0][:n] / np.float32(255)
    return {"MNIST": mnist, "covertype": covertype, "letter": letter}[name]()[:n].copy()


def paper_sample(name: str, n: int) -> np.ndarray:
    """Return the rows of the authors' runs: drawn with replacement, seed 0."""
    draw = np.random.RandomState(0)
    if name == "MNIST":
        return mnist()[np.random.RandomState(42).permutation(70000)[draw.choice(70000, size=n)]]
    if name == "CIFAR10":
        X, y, index = cifar10()
        place = np.full(50000, -1)
        place[index] = np.arange(len(index))
        rows = place[draw.choice(50000, size=n)]
        return np.hstack([X[rows], y[rows, None]]) / 255.0
    if name == "NEWSGROUPS":
        return newsgroups()[draw.choice(10000, size=n)]
    raise ValueError(f"name={name!r} is not a data set of the paper")


def rows_of(name: str, n: int, random: np.random.RandomState) -> np.ndarray:
    """Return n distinct rows of a set, drawn at random."""
    if name == "CIFAR10":
        return cifar10()[0][random.choice(30000, n, replace=False)] / 255.0
    X = {"MNIST": mnist, "NEWSGROUPS": newsgroups, "LETTER": letter, "SCRNA": worm}[name]()
    return X[random.choice(len(X), n, replace=False)]


def logged_runs() -> list[dict[str, Any]]:
    with open(FOLDER / "paper_logged_runs.csv", newline="") as file:
        return list(csv.DictReader(file))
