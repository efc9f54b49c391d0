"""Files in the data folder, or downloaded and kept where scikit-learn keeps its own; their contents are verified."""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from sklearn.datasets import get_data_home

from medoids.storage.files import Outputs

__all__ = [
    "DataNotFound",
    "Folder",
    "check_array",
    "computed_file",
    "data_folder",
    "download",
    "find_files",
    "unreachable",
]

Folder = str | os.PathLike[str] | None


class DataNotFound(OSError):
    """A data set is not in the data folder and cannot be downloaded."""


def data_folder(folder: Folder = None) -> Path | None:
    """Return the data folder: the one given, else that in the environment variable MEDOIDS_DATA, else None.

    Raises
    ------
    DataNotFound
        If the folder does not exist.

    Examples
    --------
    >>> from medoids.datasets import data_folder
    >>> data_folder("/no/such/folder")
    Traceback (most recent call last):
        ...
    medoids.datasets.files.DataNotFound: the data folder /no/such/folder does not exist
    """
    name = folder if folder is not None else os.environ.get("MEDOIDS_DATA") or None
    if name is not None and not Path(name).is_dir():
        raise DataNotFound(f"the data folder {name} does not exist")
    return None if name is None else Path(name)


def find_files(names: Sequence[str], folder: Folder) -> list[Path]:
    """Return the paths of files in the data folder, or an empty list unless all of them exist."""
    place = data_folder(folder)
    paths = [place / name for name in names] if place is not None else []
    return paths if all(path.is_file() for path in paths) else []


def check_array(values: np.ndarray[Any, Any], checksum: str, what: str) -> None:
    """Reject values whose bytes have another SHA-256: another version of the data would give other results."""
    if (found := hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()) != checksum:
        raise ValueError(
            f"{what} is not the data that the paper used: SHA-256 of the values is {found}, expected {checksum}; "
            "delete the file and fetch it again"
        )


def download(address: str, name: str, sha256: str) -> Path:
    """Return a file from the cache after verifying its SHA-256; download it if it is missing or damaged."""
    target = _cache_folder() / name
    if target.exists() and _sha256(target) == sha256:
        return target
    try:
        with Outputs() as outputs:
            draft = outputs.claim(target)
            with urllib.request.urlopen(address, timeout=30) as source, open(draft, "wb") as file:
                shutil.copyfileobj(source, file)
            if (found := _sha256(draft)) != sha256:
                raise ValueError(
                    f"{address} was not received as published: SHA-256 {found}, expected {sha256}; try again"
                )
    except urllib.error.URLError as error:
        raise unreachable(
            f"{name} (a damaged copy is in {target.parent})" if target.exists() else name, address, error
        ) from error
    return target


def computed_file(name: str, write: Callable[[IO[bytes]], None]) -> Path:
    """Return a file from the cache that was computed here; compute it if it is missing or damaged.

    Its SHA-256 is stored in a second file next to it.
    """
    target, checksum = _cache_folder() / name, _cache_folder() / f"{name}.sha256"
    if not (target.exists() and checksum.exists() and checksum.read_bytes() == _sha256(target).encode()):
        with Outputs() as outputs:
            draft, note = outputs.claim(target), outputs.claim(checksum)
            with open(draft, "wb") as file:
                write(file)
            note.write_text(_sha256(draft), encoding="ascii")
    return target


def unreachable(what: str, source: str, error: Exception) -> DataNotFound:
    """Return the error for data that is neither stored here nor can be downloaded."""
    return DataNotFound(
        f"{what} is not in the data folder, and {source} cannot be reached ({error}): set MEDOIDS_DATA (or --data) "
        "to a folder that has it, or try again with an internet connection"
    )


def _cache_folder() -> Path:
    """Return the folder for downloads in scikit-learn's data home (``SCIKIT_LEARN_DATA``), created if missing."""
    folder = Path(get_data_home()) / "medoids"
    folder.mkdir(exist_ok=True)
    return folder


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
