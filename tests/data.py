"""Real data for tests.

`path` finds the files of a folder that is too large for the repository: the one that MEDOIDS_DATA names, else
``shared/data`` beside the checkout. A test that needs a missing file is skipped with the reason, or fails if
MEDOIDS_REQUIRE_DATA is set. The small excerpts in ``tests/fixtures`` are always there.
"""

from __future__ import annotations

import lzma
import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

FOLDER = Path(os.environ.get("MEDOIDS_DATA", Path(__file__).parents[2] / "shared" / "data"))
FIXTURES = Path(__file__).parent / "fixtures"


def path(name: str) -> Path:
    file = FOLDER / name
    if not file.exists():
        reason = f"{name} is not in {FOLDER}; set MEDOIDS_DATA to the folder of data files"
        if os.environ.get("MEDOIDS_REQUIRE_DATA"):
            pytest.fail(f"{reason}, or unset MEDOIDS_REQUIRE_DATA to skip such tests", pytrace=False)
        pytest.skip(reason)
    return file


@lru_cache(maxsize=1)
def mnist() -> np.ndarray:
    return np.load(lzma.open(path("mnist_70000x784_uint8.npy.xz")))


@lru_cache(maxsize=1)
def cifar10() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels, classes and positions in the training set of 30,000 images."""
    rest = np.load(path("cifar10_30000_labels_index.npz"))
    return np.load(lzma.open(path("cifar10_30000x3072_uint8.npy.xz"))), rest["y"], rest["index"]


def words(n: int, seed: int = 0) -> list[str]:
    """Return random English words."""
    with lzma.open(path("words_american_english_104334.txt.xz"), "rt", encoding="utf-8") as file:
        everything = file.read().split()
    return [everything[i] for i in np.random.RandomState(seed).choice(len(everything), n, replace=False)]


def dna() -> list[str]:
    """Return 3,186 strings of 60 letters."""
    with lzma.open(path("dna_splice_3186x60.tsv.xz"), "rt") as file:
        return [line.split("\t")[0] for line in file]


def ecg5000() -> np.ndarray:
    return np.load(path("ucr_crop_ecg5000_electricdevices_float32.npz"))["ECG5000_X"]


def letter() -> np.ndarray:
    return np.load(path("letter_20000x16_uint8.npz"))["X"]


def subset(name: str, n: int, seed: int) -> tuple[np.ndarray, str]:
    """Return n distinct random rows of a data set, and the metric that goes with it."""
    random = np.random.RandomState(seed)
    if name == "mnist":
        return mnist()[random.choice(70000, n, replace=False)] / 255, "l2"
    if name == "letter":
        return letter()[random.choice(20000, n, replace=False)].astype(float), "l2"
    if name == "newsgroups":
        X = np.load(path("newsgroups_minilm_10000x384_float32.npy"))
        return X[random.choice(10000, n, replace=False)], "cosine"
    if name == "scrna":
        X = scipy.sparse.load_npz(path("scrna_pbmc68k_reduced_700x765_csr_float32.npz")).toarray()
        return X[random.choice(700, min(n, 700), replace=False)], "l1"
    raise ValueError(name)
