"""The rows that the authors clustered, and the logs of their runs."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from medoids.datasets.files import DataNotFound, Folder, check_array, find_files
from medoids.datasets.loaders import (
    CIFAR10_FILES,
    MNIST_FILES,
    NEWSGROUPS_FILES,
    SCRNA_FILES,
    load_cifar10,
    load_mnist,
    load_newsgroups,
    load_scrna,
)

__all__ = ["METRIC", "distinct_rows", "ensure_available", "logged_runs", "paper_sample"]

# The data sets, and the distance that the paper uses for each.
METRIC = {"MNIST": "l2", "CIFAR10": "l1", "NEWSGROUPS": "cosine", "SCRNA-WORM": "l1", "SCRNA-BLADDER": "l1"}
_LOADERS: dict[str, tuple[tuple[str, str], Callable[[Folder], Bunch]]] = {
    "MNIST": (MNIST_FILES, load_mnist),
    "CIFAR10": (CIFAR10_FILES, load_cifar10),
    "NEWSGROUPS": (NEWSGROUPS_FILES, load_newsgroups),
    "SCRNA-WORM": (SCRNA_FILES["worm"], partial(load_scrna, "worm")),
    "SCRNA-BLADDER": (SCRNA_FILES["bladder"], partial(load_scrna, "bladder")),
}
# SHA-256 of the 22,536 images, with their classes, in a draw of 30,000 with replacement.
_CIFAR10_SAMPLE_SHA256 = "0fd162498bcf9107a11267f0b47de8fbf56f9253bbd5e36fd1f453d9c97bc87c"


def paper_sample(name: str, n: int, folder: Folder = None) -> Any:
    """Return the n rows that the authors clustered, drawn with replacement and seed 0.

    Parameters
    ----------
    name : {"MNIST", "CIFAR10", "NEWSGROUPS", "SCRNA-WORM", "SCRNA-BLADDER"}
        The authors' RNA counts are not available; n distinct cells are drawn from other ones.
    n : int
    folder : path, optional
        As in `load_mnist`.

    Returns
    -------
    ndarray or sparse matrix of shape (n, p)
        Pixels are between 0 and 1. CIFAR10 has 3,073 columns: the authors kept the class, divided by 255, as the last.

    Examples
    --------
    >>> from medoids.datasets import paper_sample
    >>> paper_sample("IRIS", 100)
    Traceback (most recent call last):
        ...
    ValueError: name='IRIS' is not a data set of the paper; choose from MNIST, CIFAR10, NEWSGROUPS, SCRNA-WORM, \
SCRNA-BLADDER
    """
    if name.startswith("SCRNA"):
        return distinct_rows(name, n, 0, folder)
    loaded = _load(name, folder)
    draw = np.random.RandomState(0)
    if name == "NEWSGROUPS":
        return loaded.data[draw.choice(10_000, size=n)]
    if name == "MNIST":
        return loaded.data[np.random.RandomState(42).permutation(70_000)[draw.choice(70_000, size=n)]] / 255.0
    position = np.full(50_000, -1)
    position[loaded.index] = np.arange(len(loaded.index))
    images = np.hstack([loaded.data, loaded.target[:, None]])
    largest = np.unique(np.random.RandomState(0).choice(50_000, size=30_000))
    check_array(images[position[largest]], _CIFAR10_SAMPLE_SHA256, "CIFAR10")
    rows = position[draw.choice(50_000, size=n)]
    if rows.min() < 0:
        raise DataNotFound(f"the data folder does not have all images of a draw of {n:,}; ask for at most 30,000")
    return images[rows] / 255.0


def ensure_available(name: str, folder: Folder = None) -> None:
    """Download a data set unless the data folder has all its files.

    Raises
    ------
    DataNotFound
        If it is not available.
    """
    if not find_files(_LOADERS[name][0], folder):
        _load(name, folder)


def distinct_rows(name: str, n: int, seed: int | np.random.RandomState, folder: Folder = None) -> Any:
    """Return n distinct rows of a data set, drawn at random.

    Parameters
    ----------
    name, n, folder
        As in `paper_sample`.
    seed : int or RandomState
    """
    X = _load(name, folder).data
    if n > X.shape[0]:
        raise ValueError(f"n={n} is more than the {X.shape[0]:,} rows of {name}")
    rows = X[check_random_state(seed).choice(X.shape[0], n, replace=False)]
    if name.startswith("SCRNA"):
        return rows.astype(np.float32)
    return rows / 255.0 if X.dtype == np.uint8 else rows


def logged_runs(folder: Folder = None) -> list[dict[str, str]]:
    """Return the 228 runs that the authors logged: settings, distances, milliseconds, losses and medoids.

    Parameters
    ----------
    folder : path, optional
        Data folder; by default the value of MEDOIDS_DATA.

    Returns
    -------
    list of dict
        One per run, with all values as text.
    """
    if not (files := find_files(["paper_logged_runs.csv"], folder)):
        raise DataNotFound(
            "paper_logged_runs.csv is not in the data folder: set MEDOIDS_DATA (or --data) to a folder that has it"
        )
    with open(files[0], newline="") as opened:
        return list(csv.DictReader(opened))


def _load(name: str, folder: Folder) -> Bunch:
    if name not in METRIC:
        raise ValueError(f"name={name!r} is not a data set of the paper; choose from {', '.join(METRIC)}")
    return _LOADERS[name][1](folder)
