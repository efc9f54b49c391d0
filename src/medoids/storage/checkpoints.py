"""Checkpoints: a fit's state after each accepted step, in a file from which it can go on.

The file is JSON: a version, a checksum, what it is a checkpoint of (fingerprints of the data, and the settings that
decide the result), and the state. It is written beside its place and renamed, so that it is complete at any moment; a
fit that is killed while it writes leaves the step before. One fit at a time has it.

A step follows from the medoids and the references in their order, so the medoids, the random state from which that
order was drawn, and the random state of now are enough to go the same way as if nothing had happened. Distances that
were stored are computed again. (On PAM's path, PairedPAM looks at what is stored to decide how it finds a step, not
which.)
"""

from __future__ import annotations

import hashlib
import json
import os
import reprlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medoids.engine.interrupts import uninterrupted
from medoids.storage.files import Lock, replace_content
from medoids.storage.forms import anything, mapping, record
from medoids.storage.saved import Bounds, Saved

__all__ = ["VERSION", "Checkpoint"]

# Of the file; one that another version wrote is refused.
VERSION = 1


class Checkpoint:
    """A checkpoint's file, locked until it is closed.

    Parameters
    ----------
    path : str or path
    about : mapping
        ``{"data": {...}, "settings": {...}}``: what must be the same for a fit that goes on; values that JSON knows.
    bounds : Bounds
        What a state must keep to for this fit to go on from it.
    resume : bool
        Whether to go on from the file, if there is one. Else an existing file is refused.

    Attributes
    ----------
    saved : Saved or None
        The state in the file; None where there is no file.

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
    ...     file.save(Saved("pairedpam", "asked for", [4], [step], {}, 0.1, random, random, {"swaps": 0}))
    >>> with Checkpoint(path, about, bounds, resume=True) as file:
    ...     file.saved.medoids
    [4]
    >>> Checkpoint(path, {**about, "settings": {"n_clusters": 3}}, bounds, resume=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: checkpoint='...' is of another fit: n_clusters is 3 here and was 2 there; resume with what it was; ...
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        about: Mapping[str, Mapping[str, Any]],
        bounds: Bounds,
        *,
        resume: bool = False,
    ) -> None:
        self._path = Path(path).resolve()  # a callback may go to another folder
        self._about = json.loads(json.dumps(about))
        folder = self._path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise OSError(
                f"checkpoint={str(path)!r} cannot be written: {folder} is not a folder that can be written to"
            )
        if self._path.is_dir():
            raise IsADirectoryError(f"checkpoint={str(path)!r} is a folder; name a file in it")
        self._lock = Lock(self._path, f"checkpoint={str(path)!r}")
        try:
            there = self._path.exists()
            if there and not resume:
                raise FileExistsError(
                    f"checkpoint={str(path)!r} is there already; pass resume=True to go on from it, or delete it"
                )
            self.saved = self._read(bounds) if there else None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other fits have the file."""
        with uninterrupted():
            self._lock.release()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def save(self, saved: Saved) -> None:
        """Put a state in the place of the one before, all at once."""
        body = {"about": self._about, "state": asdict(saved)}
        head = {"format": "medoids checkpoint", "version": VERSION, "checksum": _checksum(body)}
        replace_content(self._path, (json.dumps({**head, **body}, sort_keys=True) + "\n").encode())

    def _read(self, bounds: Bounds) -> Saved:
        what = f"checkpoint={str(self._path)!r}"
        try:
            content = json.loads(self._path.read_bytes())
            if content["format"] != "medoids checkpoint":
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ValueError(
                f"{what} is cut short, damaged, or no checkpoint of medoids; nothing was changed. Delete it to begin "
                "anew, or name another file"
            ) from None
        if content.get("version") != VERSION:
            raise ValueError(
                f"{what} has version {content.get('version')} of the format, and this release of medoids reads version "
                f"{VERSION}; resume with the release that wrote it, or delete it to begin anew"
            )
        body = {"about": content.get("about"), "state": content.get("state")}
        try:
            sound = content.get("checksum") == _checksum(body)
        except RecursionError:
            sound = False
        if not sound:
            raise ValueError(
                f"{what} is damaged: its checksum is not that of its content; nothing was changed. Delete it to begin "
                "anew, or name another file"
            )
        try:
            record({"data": mapping(anything), "settings": mapping(anything)})(body["about"], "about")
            self._compare(body["about"])
            return Saved.from_json(body["state"], bounds)
        except ValueError as error:
            raise ValueError(f"{what} {error}; name another file, or delete this one to begin anew") from None

    def _compare(self, there: dict[str, dict[str, Any]]) -> None:
        for part, named in (("data", "the data's {}"), ("settings", "{}")):
            for name in {**self._about[part], **there[part]}:
                was, now = there[part].get(name), self._about[part].get(name)
                if was != now:
                    was = was if isinstance(was, str) else reprlib.repr(was)  # which bears any nesting
                    raise ValueError(
                        f"is of another fit: {named.format(name)} is {now} here and was {was} there; "
                        "resume with what it was"
                    )


def _checksum(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
