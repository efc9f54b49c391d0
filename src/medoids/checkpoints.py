"""Checkpoints: a fit's state after each accepted step, in a file from which it can go on.

The file is JSON: a version, a checksum, what it is a checkpoint of (fingerprints of the data, and the settings that
decide the result), and the state. It is written beside its place and renamed, so that it is whole at any moment; a fit
that is killed while it writes leaves the step before.

A step follows from the medoids and the references in their order, so the medoids, the random state from which that
order was drawn, and the random state of now are enough to go the same way as if nothing had happened. Distances that
were stored are computed again. (On PAM's path, PairedPAM looks at what is stored to decide how it finds a step, not
which.)
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from medoids.clustering import TraceRecord
from medoids.distances import Count
from medoids.files import write_whole

__all__ = ["VERSION", "Best", "Checkpoint", "Saved", "random_of", "state_of"]

# Of the file; one that another version wrote is refused.
VERSION = 1


@dataclass
class Best:
    """The best of the starts before this one."""

    medoids: list[int]
    n_swaps: int
    converged: bool
    trace: list[TraceRecord]


@dataclass
class Saved:
    """What a fit needs to go on.

    Attributes
    ----------
    algorithm, reason : str
        What runs, and why.
    medoids : list of int
        By slot.
    trace : list of TraceRecord
        Of this start.
    counts : dict
        Distances so far, by phase.
    seconds : float
        So far.
    origin, random : dict
        The state of the random numbers when this start began, and now.
    position : dict
        Where in its own course the algorithm is.
    start : int
        Number of this start; those before it are done.
    best : Best or None
        Of those.
    """

    algorithm: str
    reason: str
    medoids: list[int]
    trace: list[TraceRecord]
    counts: dict[str, Count]
    seconds: float
    origin: dict[str, Any]
    random: dict[str, Any]
    position: dict[str, Any] = field(default_factory=dict)
    start: int = 0
    best: Best | None = None

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Saved:
        best = state["best"]
        return cls(
            **{
                **state,
                "trace": _trace(state["trace"]),
                "counts": {phase: Count(**count) for phase, count in state["counts"].items()},
                "best": None if best is None else Best(**{**best, "trace": _trace(best["trace"])}),
            }
        )


def _trace(records: list[dict[str, Any]]) -> list[TraceRecord]:
    return [TraceRecord(**record) for record in records]


class Checkpoint:
    """A checkpoint's file.

    Parameters
    ----------
    path : str or path
    about : mapping
        ``{"data": {...}, "settings": {...}}``: what must be the same for a fit that goes on; values that JSON knows.
    resume : bool
        Whether to go on from the file, if there is one. Else an existing file is refused.

    Attributes
    ----------
    saved : Saved or None
        The state in the file; None where there is no file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "fit.checkpoint"
    >>> about = {"data": {"shape": [6, 2]}, "settings": {"n_clusters": 2}}
    >>> new = Checkpoint(path, about)
    >>> new.save(Saved("pairedpam", "asked for", [4], [], {}, 0.1, {}, {}))
    >>> Checkpoint(path, about, resume=True).saved.medoids
    [4]
    >>> Checkpoint(path, {**about, "settings": {"n_clusters": 3}}, resume=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: checkpoint='...' is of another fit: n_clusters is 3 here and was 2 there; resume with what it was, ...
    """

    def __init__(
        self, path: str | os.PathLike[str], about: Mapping[str, Mapping[str, Any]], *, resume: bool = False
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
        there = self._path.exists()
        if there and not resume:
            raise FileExistsError(
                f"checkpoint={str(path)!r} is there already; pass resume=True to go on from it, or delete it"
            )
        self.saved = self._read() if there else None

    def save(self, saved: Saved) -> None:
        """Put a state in the place of the one before, all at once."""
        body = {"about": self._about, "state": asdict(saved)}
        head = {"format": "medoids checkpoint", "version": VERSION, "checksum": _checksum(body)}
        write_whole(self._path, (json.dumps({**head, **body}, sort_keys=True) + "\n").encode())

    def _read(self) -> Saved:
        what = f"checkpoint={str(self._path)!r}"
        try:
            content = json.loads(self._path.read_bytes())
            if content["format"] != "medoids checkpoint":
                raise ValueError
        except (ValueError, KeyError, TypeError):
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
        if content.get("checksum") != _checksum(body):
            raise ValueError(
                f"{what} is damaged: its checksum is not that of its content; nothing was changed. Delete it to begin "
                "anew, or name another file"
            )
        self._compare(what, body["about"])
        return Saved.from_json(body["state"])

    def _compare(self, what: str, there: dict[str, dict[str, Any]]) -> None:
        for part, named in (("data", "the data's {}"), ("settings", "{}")):
            for name in {**self._about[part], **there[part]}:
                was, now = there[part].get(name), self._about[part].get(name)
                if was != now:
                    raise ValueError(
                        f"{what} is of another fit: {named.format(name)} is {now} here and was {was} there; resume "
                        "with what it was, name another file, or delete this one to begin anew"
                    )


def _checksum(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def state_of(random: np.random.RandomState) -> dict[str, Any]:
    """Return the state of random numbers in words that JSON knows.

    >>> random = np.random.RandomState(3)
    >>> state = state_of(random)
    >>> int(random.randint(1000)) == int(random_of(state).randint(1000))
    True
    """
    plain: dict[str, Any] = json.loads(json.dumps(random.get_state(legacy=False), default=_plain))
    return plain


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def random_of(state: dict[str, Any]) -> np.random.RandomState:
    """Return random numbers that go on from a state."""
    random = np.random.RandomState(getattr(np.random, state["bit_generator"])())
    random.set_state(_arrays(state))
    return random


def _arrays(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _arrays(value) for key, value in part.items()}
    return np.array(part, dtype=np.uint64) if isinstance(part, list) else part
