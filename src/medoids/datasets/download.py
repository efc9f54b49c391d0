"""Files from the internet, whole and checked or not there, kept where scikit-learn keeps its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path

from sklearn.datasets import get_data_home

from medoids.datasets.stored import DataNotFound

__all__ = ["cache_folder", "fetched", "unreachable"]


def cache_folder() -> Path:
    """Return the folder for downloads, in scikit-learn's data home (``SCIKIT_LEARN_DATA``); made where missing."""
    folder = Path(get_data_home()) / "medoids"
    folder.mkdir(exist_ok=True)
    return folder


def fetched(address: str, name: str, md5: str) -> Path:
    """Return a file of the cache, downloaded first where it is not there; its MD5 is checked before it is kept."""
    target = cache_folder() / name
    if target.exists():
        return target
    draft = target.with_name(f".{name}.{os.getpid()}.part")
    try:
        with urllib.request.urlopen(address, timeout=30) as source, open(draft, "wb") as file:
            shutil.copyfileobj(source, file)
        with open(draft, "rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        if found != md5:
            raise ValueError(f"{address} was not received as published: MD5 {found}, expected {md5}; try again")
        os.replace(draft, target)
    except urllib.error.URLError as error:
        raise unreachable(name, address, error) from error
    finally:
        draft.unlink(missing_ok=True)
    return target


def unreachable(what: str, source: str, error: Exception) -> DataNotFound:
    """Return the error for data that is not stored here and cannot be fetched."""
    return DataNotFound(
        f"{what} is not in the folder of data, and {source} cannot be reached ({error}): set MEDOIDS_DATA (or --data) "
        "to a folder that has it, or try again with internet"
    )
