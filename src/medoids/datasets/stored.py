"""Files of data: where they are, and whether they are what they should be."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["DataNotFound", "check_array", "data_folder", "stored"]

Folder = str | os.PathLike[str] | None


class DataNotFound(OSError):
    """A data set is neither in the folder of data nor to be had from the internet."""


def data_folder(folder: Folder = None) -> Path | None:
    """Return the folder of data files: the one given, else what MEDOIDS_DATA names, else None.

    Raises
    ------
    DataNotFound
        Where a folder is named and is not there.

    Examples
    --------
    >>> from medoids.datasets import data_folder
    >>> data_folder("/no/such/folder")
    Traceback (most recent call last):
        ...
    medoids.datasets.stored.DataNotFound: the folder of data /no/such/folder does not exist
    """
    named = folder if folder is not None else os.environ.get("MEDOIDS_DATA") or None
    if named is None:
        return None
    if not Path(named).is_dir():
        raise DataNotFound(f"the folder of data {named} does not exist")
    return Path(named)


def stored(name: str, folder: Folder) -> Path | None:
    """Return a file of the folder of data, or None where the folder or the file is not there."""
    place = data_folder(folder)
    if place is None or not (place / name).is_file():
        return None
    return place / name


def check_array(values: np.ndarray[Any, Any], checksum: str, what: str) -> None:
    """Refuse values whose bytes do not have this SHA-256: another version of the data gives other results."""
    found = hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()
    if found != checksum:
        raise ValueError(
            f"{what} is not the data that the paper used: SHA-256 of the values is {found}, expected {checksum}; "
            "delete the file and fetch it again"
        )
