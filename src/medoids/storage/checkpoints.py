"""Checkpoints: a file with the state of a fit after each accepted step, from which the fit can be resumed.

The file is JSON: a version, a checksum, what it is a checkpoint of (fingerprints of the data, and the settings that
determine the result), and the state. It is written under another name and renamed, so it is complete at any moment; a
fit that is killed while writing leaves the previous step. Only one fit at a time may hold the file.

A step follows from the medoids and the order of the references. The medoids, the random state from which that order was
drawn and the current random state are therefore enough to continue as if nothing had happened. Stored distances are
computed again. (On PAM's path, what is stored affects how PairedPAM finds a step, not which step it finds.)
"""

from __future__ import annotations

import hashlib
import json
import os
import reprlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medoids.engine.interrupts import uninterrupted
from medoids.storage.files import Lock, replace_content
from medoids.storage.fingerprints import is_digest
from medoids.storage.forms import anything, mapping, record
from medoids.storage.saved import Bounds, Saved

__all__ = ["Checkpoint", "difference"]

_FORMAT = "medoids checkpoint"
# Files of any other version are refused.
_FORMAT_VERSION = 1
# What messages call the parts of a fingerprint of the data.
_DATA_PARTS = {
    "shape": "the shape of X",
    "type": "the type of X",
    "rows": "the content of X",
    "weights": "sample_weight",
}
_REMEDY = "delete it to start again, or choose another file"


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """A checkpoint file, locked until the block ends.

    Parameters
    ----------
    path : str or path
    about : mapping
        ``{"data": {...}, "settings": {...}}``: what must be equal for a fit to be resumed; values that JSON can store.
    bounds : Bounds
        The limits that a stored state must satisfy.
    resume : bool
        Whether to read the file if it exists. Otherwise an existing file is refused.

    Attributes
    ----------
    saved : Saved or None
        The state in the file; None if there was no file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from medoids import TraceRecord
    >>> from medoids.storage.saved import state_of
    >>> path = Path(tempfile.mkdtemp()) / "fit.checkpoint"
    >>> about = {"data": {"shape": [6, 2]}, "settings": {"n_clusters": 2}}
    >>> bounds = Bounds(6, 2, ["pairedpam"])
    >>> random = state_of(np.random.RandomState(0))
    >>> step = TraceRecord("build", 4, None, 1.5, 30, 0.1, 6, 1)
    >>> with Checkpoint(path, about, bounds) as file:
    ...     file.save(Saved("pairedpam", "best", "", [4], [step], {}, 0.1, random, random, {"swaps": 0}))
    >>> with Checkpoint(path, about, bounds, resume=True) as file:
    ...     file.saved.medoids
    [4]
    >>> Checkpoint(path, {**about, "settings": {"n_clusters": 3}}, bounds, resume=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: checkpoint='...' belongs to another fit: n_clusters is 3 here and 2 in the file; resume with ...
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        about: Mapping[str, Mapping[str, Any]],
        bounds: Bounds,
        *,
        resume: bool = False,
    ) -> None:
        self._path = Path(path).resolve()  # a callback may change the working directory
        self._about = json.loads(json.dumps(about))
        name, folder = f"checkpoint={str(path)!r}", self._path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise OSError(f"{name} cannot be written: {folder} is not a writable folder")
        if self._path.is_dir():
            raise IsADirectoryError(f"{name} is a folder; name a file in it")
        self._lock: Lock | None = None
        try:
            with uninterrupted():  # a lock that nobody knows of would stay
                self._lock = Lock(self._path, name)
            exists = self._path.exists()
            if exists and not resume:
                raise FileExistsError(f"{name} already exists; pass resume=True to continue from it, or delete it")
            self.saved = self._read(bounds) if exists else None
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        """Release the file for other fits."""
        with uninterrupted():
            if self._lock is not None:
                self._lock.release()

    def save(self, saved: Saved) -> None:
        """Replace the state in the file."""
        body = {"about": self._about, "state": asdict(saved)}
        head = {"format": _FORMAT, "version": _FORMAT_VERSION, "checksum": _checksum(body)}
        replace_content(self._path, (json.dumps({**head, **body}, sort_keys=True) + "\n").encode())

    def _read(self, bounds: Bounds) -> Saved:
        try:
            body = _load(self._path.read_bytes())
            record({"data": mapping(anything), "settings": mapping(anything)})(body["about"], "about")
            self._compare(body["about"])
            return Saved.from_json(body["state"], bounds)
        except ValueError as error:
            raise ValueError(f"checkpoint={str(self._path)!r} {error}; the file was not changed: {_REMEDY}") from None

    def _compare(self, stored: dict[str, dict[str, Any]]) -> None:
        for part in ("data", "settings"):
            for name in {**self._about[part], **stored[part]}:
                was, now = stored[part].get(name), self._about[part].get(name)
                if was != now:
                    called = _DATA_PARTS.get(name, name) if part == "data" else name
                    raise ValueError(
                        f"belongs to another fit: {difference(called, now, was)}; resume with the original data and "
                        "settings"
                    )


def difference(name: str, now: Any, was: Any) -> str:
    """Return how a setting differs from that of the stored fit; a digest would mean nothing to a reader.

    >>> difference("n_clusters", 3, 2)
    'n_clusters is 3 here and 2 in the file'
    >>> difference("random_state", None, "0f0e69df6263f63b6dfc2a2929733375")
    'random_state is None here and something else in the file'
    >>> difference("metric_params", {"p": 3}, {"p": 4})
    "metric_params['p'] is 3 here and 4 in the file"
    """
    if isinstance(now, dict) and isinstance(was, dict):
        key = next(key for key in {**now, **was} if now.get(key) != was.get(key))
        return difference(f"{name}[{key!r}]", now.get(key), was.get(key))
    if is_digest(now) and is_digest(was):
        return f"{name} is not the same as in the file"
    here, there = (
        "something else" if is_digest(value) else value if isinstance(value, str) else reprlib.repr(value)
        for value in (now, was)  # reprlib copes with any nesting
    )
    return f"{name} is {here} here and {there} in the file"


def _load(content: bytes) -> dict[str, Any]:
    """Return the verified parts of a checkpoint's content."""
    try:
        parts = json.loads(content)
        body = {"about": parts.get("about"), "state": parts.get("state")}
        checksum = _checksum(body)
    except (ValueError, AttributeError, RecursionError):
        parts = {}
    if content.startswith(b'{"format": "medoids stream"'):
        raise ValueError("is that of a stream, which partial_fit continues")
    if parts.get("format") != _FORMAT:
        raise ValueError("is truncated, damaged, or not a checkpoint of medoids")
    if parts.get("version") != _FORMAT_VERSION:
        raise ValueError(
            f"has version {parts.get('version')} of the format, but this release of medoids reads version "
            f"{_FORMAT_VERSION}; resume with the release that wrote it"
        )
    if parts.get("checksum") != checksum:
        raise ValueError("is damaged: its checksum does not match its content")
    return body


def _checksum(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
