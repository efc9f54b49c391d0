"""Files in the data folder: where they are, and whether their contents are the expected ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["DataNotFound", "Folder", "check_array", "data_folder", "find_files"]

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
    found = hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()
    if found != checksum:
        raise ValueError(
            f"{what} is not the data that the paper used: SHA-256 of the values is {found}, expected {checksum}; "
            "delete the file and fetch it again"
        )
