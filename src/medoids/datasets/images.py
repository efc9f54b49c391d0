"""MNIST and CIFAR10."""

from __future__ import annotations

import lzma
import tarfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from medoids.datasets.download import fetched, unreachable
from medoids.datasets.stored import Folder, check_array, stored

__all__ = ["CIFAR10_FILES", "MNIST_FILES", "load_cifar10", "load_mnist"]

MNIST_FILES = ("mnist_70000x784_uint8.npy.xz", "mnist_70000_labels_uint8.npy")
CIFAR10_FILES = ("cifar10_30000x3072_uint8.npy.xz", "cifar10_30000_labels_index.npz")
_MNIST = "5b92582eb909c82a9bfefcd44acbe9233be3eb5b419a44cf211022ad2bf4bf96"
_MNIST_LABELS = "671ff9d70b4811116d55c3dd479efa7a981e2e62753ef7a6d5c15fea81e63d27"
_CIFAR10 = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
_CIFAR10_SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"


@lru_cache(maxsize=2)
def _unpacked(file: Path) -> np.ndarray:
    """Return a packed array, and remember it: unpacking takes seconds, and a program draws many samples."""
    with lzma.open(file) as opened:
        values: np.ndarray = np.load(opened)
    values.flags.writeable = False
    return values


def load_mnist(folder: Folder = None) -> Bunch:
    """Load 70,000 handwritten digits.

    Parameters
    ----------
    folder : path, optional
        Folder of data files; by default what the environment variable MEDOIDS_DATA names. Where the file is not
        there, it is downloaded by `sklearn.datasets.fetch_openml`, once.

    Returns
    -------
    Bunch
        ``data``, (70000, 784) uint8, 60,000 training images, then 10,000 for tests; ``target``, the digits.

    Examples
    --------
    >>> from medoids.datasets import load_mnist
    >>> load_mnist().data.shape  # doctest: +SKIP
    (70000, 784)
    """
    file, labels = (stored(name, folder) for name in MNIST_FILES)
    if file is not None and labels is not None:
        X, y = _unpacked(file), np.load(labels)
    else:
        try:
            X, y = fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff")
        except OSError as error:
            raise unreachable("MNIST", "openml.org", error) from error
        X, y = X.astype(np.uint8), y.astype(np.uint8)
    check_array(X, _MNIST, "MNIST")
    check_array(y, _MNIST_LABELS, "the labels of MNIST")
    return Bunch(data=X, target=y)


def load_cifar10(folder: Folder = None) -> Bunch:
    """Load the training images of CIFAR10.

    Parameters
    ----------
    folder : path, optional
        As in `load_mnist`; the download is the archive of the data's own site (160 MB), kept in scikit-learn's data
        home.

    Returns
    -------
    Bunch
        ``data``, (m, 3072) uint8: planes of red, green and blue; ``target``, classes 0 to 9; ``index``, where each
        row stands among the 50,000 training images, which are all there after a download (the folder of data has the
        30,000 that the authors' samples need).

    Examples
    --------
    >>> from medoids.datasets import load_cifar10
    >>> load_cifar10().data.shape[1]  # doctest: +SKIP
    3072
    """
    file, rest = (stored(name, folder) for name in CIFAR10_FILES)
    if file is not None and rest is not None:
        with np.load(rest) as arrays:
            return Bunch(data=_unpacked(file), target=arrays["y"], index=arrays["index"])
    archive = fetched(_CIFAR10, "cifar-10-binary.tar.gz", _CIFAR10_SHA256)
    batches = []
    with tarfile.open(archive) as opened:
        for number in range(1, 6):
            member = opened.extractfile(f"cifar-10-batches-bin/data_batch_{number}.bin")
            assert member is not None
            batches.append(np.frombuffer(member.read(), dtype=np.uint8).reshape(-1, 3073))
    rows = np.concatenate(batches)  # a byte of class, then 3,072 of colours
    return Bunch(data=rows[:, 1:], target=rows[:, 0].copy(), index=np.arange(len(rows)))
