"""The checkpoint of a stream: what is kept of its rows, whole after each batch, and read without running code.

The first line is JSON with the format, its version and the SHA-256 of the rest. The rest is NumPy's ``.npz``: numbers
as arrays, and in the array ``state`` the text of a JSON object with everything else. Rows that are no array (texts,
token lists, sets, series, tuples of these) are JSON as well; of other objects only pickle could keep all, so they are
refused. The file is written under another name and renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from medoids.storage.checkpoints import difference
from medoids.storage.files import Lock, replace_content

__all__ = ["StreamFile", "pack_rows", "unpack_rows"]

_STREAM_FORMAT, _STREAM_VERSION = "medoids stream", 1
_START_AGAIN = "delete it to start again, or choose another file"


class StreamFile:
    """The file of a stream.

    Parameters
    ----------
    path : str or path

    Attributes
    ----------
    name : str
        What messages call it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.name = Path(path).resolve(), f"checkpoint={str(path)!r}"
        if not self.path.parent.is_dir() or not os.access(self.path.parent, os.W_OK):
            raise OSError(f"{self.name} cannot be written: {self.path.parent} is not a writable folder")
        if self.path.is_dir():
            raise IsADirectoryError(f"{self.name} is a folder; name a file in it")

    def lock(self) -> Lock:
        """Keep others from writing the file."""
        return Lock(self.path, self.name)

    def checksum(self) -> str | None:
        """Return what identifies the content; None if there is no file."""
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            return self._head(file.readline(1000))["sha256"]

    def save(self, about: Mapping[str, Any], state: Mapping[str, Any], arrays: Mapping[str, Any]) -> str:
        """Replace the content; return its checksum."""
        text = json.dumps({"about": about, **state}).encode()
        content = BytesIO()
        np.savez(content, **{**arrays, "state": np.frombuffer(text, dtype=np.uint8)})
        checksum = hashlib.sha256(content.getbuffer()).hexdigest()
        head = json.dumps({"format": _STREAM_FORMAT, "version": _STREAM_VERSION, "sha256": checksum})
        replace_content(self.path, head.encode() + b"\n" + content.getvalue())
        return checksum

    def load(self, about: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], str]:
        """Return state, arrays and checksum, if the file is that of a stream of this kind."""
        with self.path.open("rb") as file:
            head, rest = self._head(file.readline(1000)), file.read()
        if hashlib.sha256(rest).hexdigest() != head["sha256"]:
            raise self.wrong("is damaged: its checksum does not match its content")
        try:
            with np.load(BytesIO(rest), allow_pickle=False) as parts:
                arrays = dict(parts)
            state = json.loads(arrays.pop("state").tobytes())
            stored = state.pop("about")
        except (ValueError, KeyError, AttributeError, zipfile.BadZipFile, RecursionError):
            raise self.wrong("does not hold the state of a stream") from None
        for name, now in json.loads(json.dumps(about)).items():
            if stored.get(name) != now:
                raise self.wrong(f"belongs to another stream: {difference(name, now, stored.get(name))}")
        return state, arrays, head["sha256"]

    def wrong(self, why: str) -> ValueError:
        """Return an error that says what is wrong with the file."""
        return ValueError(f"{self.name} {why}; the file was not changed: {_START_AGAIN}")

    def _head(self, line: bytes) -> dict[str, str]:
        try:
            head = json.loads(line)
            known = head.get("format")
        except (ValueError, AttributeError, RecursionError):
            known = None
        if known != _STREAM_FORMAT:
            raise self.wrong("is truncated, damaged, or not the checkpoint of a stream of medoids")
        if head.get("version") != _STREAM_VERSION or not isinstance(head.get("sha256"), str):
            raise self.wrong(f"has version {head.get('version')} of the format; this release reads {_STREAM_VERSION}")
        return dict(head)


def pack_rows(rows: Any) -> tuple[dict[str, Any], Any]:
    """Return rows as arrays and as values that JSON can store.

    >>> pack_rows(["ape", ("a", 1)])
    ({}, ['ape', {'tuple': ['a', 1]}])
    """
    if sparse.issparse(rows):
        rows = sparse.csr_array(rows)
        parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}
        return parts, None
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return {"rows": rows}, None
    return {}, [_pack(row) for row in rows]


def unpack_rows(arrays: Mapping[str, Any], packed: Any) -> Any:
    """Return the rows that were packed.

    >>> unpack_rows(*pack_rows([{1, 2}, np.eye(2)[0]]))
    [{1, 2}, array([1., 0.])]
    """
    if "indptr" in arrays:
        shape = tuple(arrays["shape"].tolist())
        return sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    return arrays["rows"] if "rows" in arrays else [_unpack(row) for row in packed]


def _pack(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "dtype": value.dtype.str}
    for kind in (list, tuple, set, frozenset):
        if type(value) is kind:
            parts = sorted(value, key=repr) if kind in (set, frozenset) else value
            return {kind.__name__: [_pack(part) for part in parts]}
    raise TypeError(
        f"a checkpoint cannot store rows of type {type(value).__name__}, because reading them would run code; pass "
        "arrays, texts, numbers, or lists, tuples or sets of these, or leave checkpoint out"
    )


def _unpack(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=np.dtype(value["dtype"]))
    makers = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
    ((name, parts),) = value.items()
    return makers[name](_unpack(part) for part in parts)
