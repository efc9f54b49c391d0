"""20 Newsgroups as sentence embeddings."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from sklearn.datasets import fetch_20newsgroups
from sklearn.utils import Bunch

from medoids.datasets.download import computed_file, unreachable
from medoids.datasets.files import DataNotFound, Folder, find_files

__all__ = ["NEWSGROUPS_FILES", "load_newsgroups"]

_TRANSFORMER = "sentence-transformers/all-MiniLM-L6-v2"
NEWSGROUPS_FILES = ("newsgroups_minilm_10000x384_float32.npy", "newsgroups_11314_labels_uint8.npy")


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
