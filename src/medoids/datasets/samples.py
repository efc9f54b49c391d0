"""The rows that the authors' runs saw, and the logs of those runs."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from medoids.datasets.cells import SCRNA_FILES, load_scrna
from medoids.datasets.images import CIFAR10_FILES, MNIST_FILES, load_cifar10, load_mnist
from medoids.datasets.posts import NEWSGROUPS_FILES, load_newsgroups
from medoids.datasets.stored import DataNotFound, Folder, check_array, stored

__all__ = ["METRIC", "distinct_rows", "find", "logged_runs", "paper_sample"]

# The sets by name, and the distance that the paper takes on each.
METRIC = {"MNIST": "l2", "CIFAR10": "l1", "NEWSGROUPS": "cosine", "SCRNA-WORM": "l1", "SCRNA-BLADDER": "l1"}
_CELLS = {"SCRNA-WORM": "worm", "SCRNA-BLADDER": "bladder"}
_FILES = {
    "MNIST": MNIST_FILES,
    "CIFAR10": CIFAR10_FILES,
    "NEWSGROUPS": NEWSGROUPS_FILES,
    **{name: SCRNA_FILES[tissue] for name, tissue in _CELLS.items()},
}
# Of the 22,536 images and their classes that a draw of 30,000 touches.
_TOUCHED = "0fd162498bcf9107a11267f0b47de8fbf56f9253bbd5e36fd1f453d9c97bc87c"


def paper_sample(name: str, n: int, folder: Folder = None) -> Any:
    """Return the n rows that the authors' runs clustered: drawn with replacement, seed 0.

    Parameters
    ----------
    name : {"MNIST", "CIFAR10", "NEWSGROUPS", "SCRNA-WORM", "SCRNA-BLADDER"}
        Their RNA counts are not at hand; of ours, n distinct cells are drawn.
    n : int
    folder : path, optional
        As in `load_mnist`.

    Returns
    -------
    ndarray or sparse matrix of shape (n, p)
        Pixels are between 0 and 1. CIFAR10 has 3,073 columns: the authors kept the class, over 255, as the last.

    Examples
    --------
    >>> from medoids.datasets import paper_sample
    >>> paper_sample("IRIS", 100)
    Traceback (most recent call last):
        ...
    ValueError: name='IRIS' is not a data set of the paper; choose from MNIST, CIFAR10, NEWSGROUPS, SCRNA-WORM, \
SCRNA-BLADDER
    """
    _check_name(name)
    draw = np.random.RandomState(0)
    if name == "MNIST":
        rows = np.random.RandomState(42).permutation(70_000)[draw.choice(70_000, size=n)]
        return load_mnist(folder).data[rows] / 255.0
    if name == "CIFAR10":
        images = load_cifar10(folder)
        place = np.full(50_000, -1)
        place[images.index] = np.arange(len(images.index))
        _check_cifar10(images.data, images.target, place)
        rows = place[draw.choice(50_000, size=n)]
        if rows.min() < 0:
            raise DataNotFound(f"the folder of data has not all images of a draw of {n:,}; ask for at most 30,000")
        return np.hstack([images.data[rows], images.target[rows, None]]) / 255.0
    if name == "NEWSGROUPS":
        return load_newsgroups(folder).data[draw.choice(10_000, size=n)]
    return distinct_rows(name, n, 0, folder)


def find(name: str, folder: Folder = None) -> None:
    """Make sure that a set is at hand, downloading it where the folder of data has not all its files.

    Raises
    ------
    DataNotFound
        Where it is not to be had.
    """
    _check_name(name)
    if not all(stored(file, folder) for file in _FILES[name]):
        paper_sample(name, 1, folder)


def distinct_rows(name: str, n: int, seed: int | np.random.RandomState, folder: Folder = None) -> Any:
    """Return n distinct rows of a set, drawn at random.

    Parameters
    ----------
    name, n, folder
        As in `paper_sample`.
    seed : int or RandomState
    """
    _check_name(name)
    if name == "CIFAR10":
        X = load_cifar10(folder).data
    elif name in _CELLS:
        X = load_scrna(_CELLS[name], folder).data.astype(np.float32)
    else:
        X = {"MNIST": load_mnist, "NEWSGROUPS": load_newsgroups}[name](folder).data
    if n > X.shape[0]:
        raise ValueError(f"n={n} is more than the {X.shape[0]:,} rows of {name}")
    rows = X[check_random_state(seed).choice(X.shape[0], n, replace=False)]
    return rows / 255.0 if X.dtype == np.uint8 else rows


def logged_runs(folder: Folder = None) -> list[dict[str, str]]:
    """Return the 228 runs that the authors logged: settings, distances, milliseconds, losses and medoids.

    Parameters
    ----------
    folder : path, optional
        Folder of data files; by default what MEDOIDS_DATA names.

    Returns
    -------
    list of dict
        A run a row, all values as text.
    """
    file = stored("paper_logged_runs.csv", folder)
    if file is None:
        raise DataNotFound(
            "paper_logged_runs.csv is not in the folder of data: set MEDOIDS_DATA (or --data) to a folder that has it"
        )
    with open(file, newline="") as opened:
        return list(csv.DictReader(opened))


def _check_name(name: str) -> None:
    if name not in METRIC:
        raise ValueError(f"name={name!r} is not a data set of the paper; choose from {', '.join(METRIC)}")


def _check_cifar10(data: np.ndarray, target: np.ndarray, place: np.ndarray) -> None:
    touched = place[np.unique(np.random.RandomState(0).choice(50_000, size=30_000))]
    check_array(np.hstack([data[touched], target[touched, None]]), _TOUCHED, "CIFAR10")
