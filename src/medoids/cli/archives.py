"""Packed files, unpacked up to a limit: a few kilobytes may stand for terabytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from pathlib import Path
from typing import IO, Any

from medoids.cli.failures import Failure

__all__ = ["PACKED", "Limit", "read_stream", "unpack"]

PACKED = (".gz", ".xz", ".bz2")
# Part of the machine's memory that a file may take: reading and converting it makes copies.
_PART = 2
# Where the system does not say how much memory it has.
_USUAL = 8 << 30
_CHUNK = 1 << 20


class Limit:
    """The most bytes that a file may unpack to.

    Parameters
    ----------
    size : int, optional
        By default half of the machine's memory.

    Examples
    --------
    >>> Limit(1000).check("x.npz", 2000)
    Traceback (most recent call last):
    medoids.cli.failures.Failure: x.npz unpacks to 2,000 bytes, more than the limit of 1,000; raise --max-bytes if you \
trust it
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = _memory() // _PART if size is None else size

    def check(self, name: str, size: int | None = None) -> None:
        """Refuse a file that unpacks to more; ``size`` None stands for more than the limit."""
        if size is None or size > self.size:
            much = "more" if size is None else f"{size:,} bytes, more"
            raise Failure(
                f"{name} unpacks to {much} than the limit of {self.size:,}; raise --max-bytes if you trust it"
            )


def _memory() -> int:
    """Return the bytes of memory that this machine, or its container, has."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return _USUAL
    try:
        return min(size, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return size


def unpack(path: Path, name: str, limit: Limit) -> bytes:
    """Return the content of a .gz, .xz or .bz2 file."""
    openers: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    with path.open("rb") as raw:
        try:
            with openers[path.suffix](raw, "rb") as stream:
                return read_stream(stream, name, limit)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise Failure(f"{name} is not a whole {path.suffix} file: {error}") from None


def read_stream(stream: IO[bytes], name: str, limit: Limit) -> bytes:
    """Read to the end, unless that is beyond the limit."""
    content = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        if content.tell() + len(chunk) > limit.size:
            limit.check(name)
        content.write(chunk)
    return content.getvalue()
