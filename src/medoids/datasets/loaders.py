"""The data sets, the rows of them that the authors clustered, and the logs of their runs.

MNIST and CIFAR10 (images), 20 Newsgroups (sentence embeddings), and counts of RNA in single cells.
"""

from __future__ import annotations

import csv
import lzma
import tarfile
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.datasets import fetch_20newsgroups, fetch_openml
from sklearn.utils import Bunch, check_random_state

from medoids.datasets.files import DataNotFound, Folder, check_array, computed_file, download, find_files, unreachable

__all__ = [
    "METRIC",
    "distinct_rows",
    "ensure_available",
    "load_cifar10",
    "load_mnist",
    "load_newsgroups",
    "load_scrna",
    "logged_runs",
    "paper_sample",
]

MNIST_FILES = ("mnist_70000x784_uint8.npy.xz", "mnist_70000_labels_uint8.npy")
CIFAR10_FILES = ("cifar10_30000x3072_uint8.npy.xz", "cifar10_30000_labels_index.npz")
# SHA-256 of the values, and of the archive that is downloaded.
_MNIST_SHA256 = "5b92582eb909c82a9bfefcd44acbe9233be3eb5b419a44cf211022ad2bf4bf96"
_MNIST_LABELS_SHA256 = "671ff9d70b4811116d55c3dd479efa7a981e2e62753ef7a6d5c15fea81e63d27"
_CIFAR10_ADDRESS = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
_CIFAR10_SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
_TRANSFORMER = "sentence-transformers/all-MiniLM-L6-v2"
NEWSGROUPS_FILES = ("newsgroups_minilm_10000x384_float32.npy", "newsgroups_11314_labels_uint8.npy")
SCRNA_FILES = {
    "worm": ("scrna_worm_neuron_4186x13488_csr_int16.npz", "scrna_worm_neuron_labels_uint8.npy"),
    "bladder": ("scrna_mouse_bladder_2100x20670_csr_int16.npz", "scrna_mouse_bladder_labels_uint8.npy"),
}


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
    with tarfile.open(download(_CIFAR10_ADDRESS, "cifar-10-binary.tar.gz", _CIFAR10_SHA256)) as opened:
        batches = [opened.extractfile(f"cifar-10-batches-bin/data_batch_{number}.bin") for number in range(1, 6)]
        values = b"".join(batch.read() for batch in batches if batch)
    rows = np.frombuffer(values, dtype=np.uint8).reshape(-1, 3073)  # one byte for the class, then 3,072 for the colours
    return Bunch(data=rows[:, 1:], target=rows[:, 0].copy(), index=np.arange(len(rows)))


def load_newsgroups(folder: Folder = None) -> Bunch:
    """Load the embeddings of the first 10,000 training posts of 20 Newsgroups.

    Parameters
    ----------
    folder : path, optional
        As in `load_mnist`. If the files are not there, `sklearn.datasets.fetch_20newsgroups` downloads the posts
        (without headers, footers and quotes), and the sentence transformer all-MiniLM-L6-v2 embeds them if the package
        ``sentence-transformers`` is installed; the result is kept in scikit-learn's data home.

    Returns
    -------
    Bunch
        ``data``, (10000, 384) float32, rows of length 1; ``target``, their newsgroups.

    Examples
    --------
    >>> from medoids.datasets import load_newsgroups
    >>> load_newsgroups().data.shape  # doctest: +SKIP
    (10000, 384)
    """
    if files := find_files(NEWSGROUPS_FILES, folder):
        return Bunch(data=np.load(files[0]), target=np.load(files[1])[:10_000])
    if find_spec("sentence_transformers") is None:
        raise DataNotFound(
            f"20 Newsgroups is not in the data folder ({NEWSGROUPS_FILES[0]}), and embedding the posts "
            "requires a package that is not installed: set MEDOIDS_DATA (or --data) to a folder that has it, or "
            "pip install sentence-transformers"
        )
    try:
        posts = fetch_20newsgroups(subset="train", remove=("headers", "footers", "quotes"))
    except OSError as error:
        raise unreachable("20 Newsgroups", "figshare.com", error) from error
    kept = computed_file(NEWSGROUPS_FILES[0], lambda file: np.save(file, _embed(posts.data[:10_000])))
    return Bunch(data=np.load(kept), target=posts.target[:10_000].astype(np.uint8))


def _embed(texts: list[str]) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(_TRANSFORMER)
    except OSError as error:
        raise unreachable("the sentence transformer", "huggingface.co", error) from error
    return np.asarray(model.encode(texts, normalize_embeddings=True), dtype=np.float32)


def load_scrna(tissue: str = "worm", folder: Folder = None) -> Bunch:
    """Load counts of RNA per cell and gene.

    Parameters
    ----------
    tissue : {"worm", "bladder"}
        Neurons of C. elegans (Cao et al. 2017), or cells of mouse bladder (Han et al. 2018). They replace the 10x
        matrix of the first BanditPAM paper, which the paper on BanditPAM++ dropped.
    folder : path, optional
        Data folder; by default the value of MEDOIDS_DATA. There is no download: the files are those of the project
        scDeepCluster, converted to sparse matrices.

    Returns
    -------
    Bunch
        ``data``, a sparse (4186, 13488) or (2100, 20670) matrix of int16; ``target``, the cell types.

    Examples
    --------
    >>> from medoids.datasets import load_scrna
    >>> load_scrna("mouse")
    Traceback (most recent call last):
        ...
    ValueError: tissue='mouse' is unknown; choose from bladder, worm
    """
    if tissue not in SCRNA_FILES:
        raise ValueError(f"tissue={tissue!r} is unknown; choose from {', '.join(sorted(SCRNA_FILES))}")
    if not (files := find_files(SCRNA_FILES[tissue], folder)):
        raise DataNotFound(
            f"{' and '.join(SCRNA_FILES[tissue])} are not in the data folder, and there is no download: set "
            "MEDOIDS_DATA (or --data) to a folder that has them"
        )
    return Bunch(data=scipy.sparse.load_npz(files[0]), target=np.load(files[1]))


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
