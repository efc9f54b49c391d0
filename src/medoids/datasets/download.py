"""Files from the internet, complete and verified, kept where scikit-learn keeps its own."""

from __future__ import annotations

import hashlib
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from sklearn.datasets import get_data_home

from medoids.datasets.files import DataNotFound
from medoids.storage.files import Outputs

__all__ = ["computed_file", "download", "unreachable"]


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
            found = _sha256(draft)
            if found != sha256:
                raise ValueError(
                    f"{address} was not received as published: SHA-256 {found}, expected {sha256}; try again"
                )
    except urllib.error.URLError as error:
        what = f"{name} (a damaged copy is in {target.parent})" if target.exists() else name
        raise unreachable(what, address, error) from error
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
