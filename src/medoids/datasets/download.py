"""Files from the internet, complete and checked or not there, kept where scikit-learn keeps its own."""

from __future__ import annotations

import hashlib
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from sklearn.datasets import get_data_home

from medoids.datasets.stored import DataNotFound
from medoids.storage.files import Outputs

__all__ = ["cache_folder", "fetched", "remembered", "unreachable"]


def cache_folder() -> Path:
    """Return the folder for downloads, in scikit-learn's data home (``SCIKIT_LEARN_DATA``); made where missing."""
    folder = Path(get_data_home()) / "medoids"
    folder.mkdir(exist_ok=True)
    return folder


def fetched(address: str, name: str, sha256: str) -> Path:
    """Return a file of the cache, downloaded where it is not there or is damaged; its SHA-256 is always checked."""
    target = cache_folder() / name
    if target.exists() and _sha256(target) == sha256:
        return target
    try:
        with Outputs() as outputs:
            draft = outputs.claim(target)
            with urllib.request.urlopen(address, timeout=30) as source, open(draft, "wb") as file:
                shutil.copyfileobj(source, file)
            found = _sha256(draft)
            if found != sha256:
                raise ValueError(
                    f"{address} was not received as published: SHA-256 {found}, expected {sha256}; try again"
                )
    except urllib.error.URLError as error:
        what = f"{name} (a damaged copy is in {target.parent})" if target.exists() else name
        raise unreachable(what, address, error) from error
    return target


def remembered(name: str, make: Callable[[IO[bytes]], None]) -> Path:
    """Return a file of the cache that was computed here, computed anew where it is not there or is damaged.

    Its SHA-256 is in a second file, written together with it.
    """
    target, digest = cache_folder() / name, cache_folder() / f"{name}.sha256"
    if target.exists() and digest.exists() and digest.read_text(encoding="ascii", errors="replace") == _sha256(target):
        return target
    with Outputs() as outputs:
        draft, note = outputs.claim(target), outputs.claim(digest)
        with open(draft, "wb") as file:
            make(file)
        note.write_text(_sha256(draft), encoding="ascii")
    return target


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unreachable(what: str, source: str, error: Exception) -> DataNotFound:
    """Return the error for data that is not stored here and cannot be fetched."""
    return DataNotFound(
        f"{what} is not in the folder of data, and {source} cannot be reached ({error}): set MEDOIDS_DATA (or --data) "
        "to a folder that has it, or try again with internet"
    )
