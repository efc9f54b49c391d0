"""MNIST and CIFAR10."""

from __future__ import annotations

import lzma
import tarfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from medoids.datasets.download import download, unreachable
from medoids.datasets.files import Folder, check_array, find_files

__all__ = ["CIFAR10_FILES", "MNIST_FILES", "load_cifar10", "load_mnist"]

MNIST_FILES = ("mnist_70000x784_uint8.npy.xz", "mnist_70000_labels_uint8.npy")
CIFAR10_FILES = ("cifar10_30000x3072_uint8.npy.xz", "cifar10_30000_labels_index.npz")
# SHA-256 of the values, and of the archive that is downloaded.
_MNIST_SHA256 = "5b92582eb909c82a9bfefcd44acbe9233be3eb5b419a44cf211022ad2bf4bf96"
_MNIST_LABELS_SHA256 = "671ff9d70b4811116d55c3dd479efa7a981e2e62753ef7a6d5c15fea81e63d27"
_CIFAR10_ADDRESS = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
_CIFAR10_SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"


@lru_cache(maxsize=2)
def _decompress(file: Path) -> np.ndarray:
    """Decompress an array and cache it: that takes seconds, and a program draws many samples."""
    with lzma.open(file) as opened:
        values: np.ndarray = np.load(opened)
    values.flags.writeable = False
    return values


def load_mnist(folder: Folder = None) -> Bunch:
    """Load 70,000 handwritten digits.

    Parameters
    ----------
    folder : path, optional
        Data folder; by default the value of the environment variable MEDOIDS_DATA. If the files are not there,
        `sklearn.datasets.fetch_openml` downloads the data once.

    Returns
    -------
    Bunch
        ``data``, (70000, 784) uint8, 60,000 training images, then 10,000 test images; ``target``, the digits.

    Examples
    --------
    >>> from medoids.datasets import load_mnist
    >>> load_mnist().data.shape  # doctest: +SKIP
    (70000, 784)
    """
    if files := find_files(MNIST_FILES, folder):
        X, y = _decompress(files[0]), np.load(files[1])
    else:
        try:
            X, y = fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff")
        except OSError as error:
            raise unreachable("MNIST", "openml.org", error) from error
        X, y = X.astype(np.uint8), y.astype(np.uint8)
    check_array(X, _MNIST_SHA256, "MNIST")
    check_array(y, _MNIST_LABELS_SHA256, "the labels of MNIST")
    return Bunch(data=X, target=y)


def load_cifar10(folder: Folder = None) -> Bunch:
    """Load the training images of CIFAR10.

    Parameters
    ----------
    folder : path, optional
        As in `load_mnist`; the download is the archive on the site of the data set (160 MB), kept in scikit-learn's
        data home.

    Returns
    -------
    Bunch
        ``data``, (m, 3072) uint8: planes of red, green and blue; ``target``, classes 0 to 9; ``index``, the position
        of each row among the 50,000 training images. A download has all of them, the data folder only the 30,000 that
        the authors' samples need.

    Examples
    --------
    >>> from medoids.datasets import load_cifar10
    >>> load_cifar10().data.shape[1]  # doctest: +SKIP
    3072
    """
    if files := find_files(CIFAR10_FILES, folder):
        with np.load(files[1]) as arrays:
            return Bunch(data=_decompress(files[0]), target=arrays["y"], index=arrays["index"])
    archive = download(_CIFAR10_ADDRESS, "cifar-10-binary.tar.gz", _CIFAR10_SHA256)
    batches = []
    with tarfile.open(archive) as opened:
        for number in range(1, 6):
            member = opened.extractfile(f"cifar-10-batches-bin/data_batch_{number}.bin")
            assert member is not None
            batches.append(np.frombuffer(member.read(), dtype=np.uint8).reshape(-1, 3073))
    rows = np.concatenate(batches)  # one byte for the class, then 3,072 for the colours
    return Bunch(data=rows[:, 1:], target=rows[:, 0].copy(), index=np.arange(len(rows)))
