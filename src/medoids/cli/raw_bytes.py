"""The bytes of a file: compressed files are unpacked up to a limit, and text is converted to UTF-8.

Without a limit, a few kilobytes may unpack to terabytes.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import mmap
import os
import sys
import zlib
from pathlib import Path
from typing import IO, Any

from medoids.cli.messages import Failure

__all__ = [
    "as_utf8",
    "check_unpacked_size",
    "check_utf8",
    "is_encoding",
    "marked_encoding",
    "open_bytes",
    "unpacked_limit",
]

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
# A file may take this part of the memory, because reading and converting it makes copies.
_MEMORY_PART = 2
# Assumed where the system does not report its memory; common for a laptop.
_ASSUMED_MEMORY = 8 << 30
# Bytes unpacked between two checks of the limit: small beside any limit.
_STREAM_CHUNK = 1 << 20
# Bytes decoded at a time: small beside the file, large beside the cost of a call.
_DECODED_BYTES = 1 << 22
# UTF-32 first: its little-endian mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Python's encodings of host names and of its own source, in which no file is written.
_NOT_FOR_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")


def unpacked_limit(given: int | str | None) -> int:
    """Return the number of bytes that a file may unpack to, by default half of the machine's memory."""
    if given is None:
        return _memory() // _MEMORY_PART
    from medoids.settings import parse_bytes  # loads scikit-learn

    return parse_bytes(given)


def check_unpacked_size(name: str, limit: int, size: int | None = None, verb: str = "unpacks to") -> None:
    """Refuse a file that unpacks to more than the limit; if ``size`` is None, it is known to be more.

    >>> check_unpacked_size("x.npz", 1000, 2000)
    Traceback (most recent call last):
    medoids.cli.messages.Failure: x.npz unpacks to 2,000 bytes, more than the limit of 1,000 bytes; raise --max-bytes \
if you trust it
    """
    if size is None or size > limit:
        raise Failure(
            f"{name} {verb} {'' if size is None else f'{size:,} bytes, '}more than the limit of {limit:,} bytes; "
            "raise --max-bytes if you trust it"
        )


def _memory() -> int:
    """Return the bytes of memory that this machine, or its container, has."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return _ASSUMED_MEMORY
    try:
        return min(size, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return size


def open_bytes(path: str, limit: int) -> tuple[Any, str]:
    """Return the bytes of a file, memory-mapped unless compressed, and the suffix that names its format."""
    if path == "-":
        return _read_stream(sys.stdin.buffer, "standard input", limit, "holds"), ""
    file = Path(path)
    try:
        with file.open("rb") as raw:
            if file.suffix in _OPENERS:
                with _OPENERS[file.suffix](raw, "rb") as stream:
                    return _read_stream(stream, path, limit), Path(file.stem).suffix.lower()
            size = raw.seek(0, io.SEEK_END)
            return (mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) if size else b""), file.suffix.lower()
    except FileNotFoundError:
        raise Failure(f"there is no file {path}") from None
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, OSError) and error.strerror:
            raise Failure(f"cannot read {path}: {error.strerror}") from None
        raise Failure(f"{path} is not a whole {file.suffix} file: {error}") from None


def _read_stream(stream: IO[bytes], name: str, limit: int, verb: str = "unpacks to") -> bytes:
    """Read to the end, or fail at the limit."""
    content = io.BytesIO()
    while chunk := stream.read(_STREAM_CHUNK):
        if content.tell() + len(chunk) > limit:
            check_unpacked_size(name, limit, verb=verb)
        content.write(chunk)
    return content.getvalue()


def is_encoding(name: str) -> bool:
    """Return whether a name is that of a text encoding of Python in which a file can be written.

    >>> is_encoding("latin-1"), is_encoding("hex"), is_encoding("klingon"), is_encoding("unicode_escape")
    (True, False, False, False)
    """
    try:
        "a".encode(name)
    except (LookupError, ValueError):
        return False
    return codecs.lookup(name).name.replace("_", "-") not in _NOT_FOR_FILES


def marked_encoding(data: Any) -> str | None:
    r"""Return the encoding given by a byte order mark at the start of a file.

    >>> marked_encoding("a".encode("utf-16")), marked_encoding(b"a,b\n")
    ('utf-16', None)
    """
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if data[: len(mark)] == mark), None)


def as_utf8(data: Any, name: str, encoding: str) -> bytes:
    """Return text in another encoding as UTF-8."""
    raw = bytes(data)
    try:
        return raw.decode(encoding).encode("utf-8")
    except UnicodeError as error:
        # Only a file without the mark of its encoding raises another error, at its start.
        before = raw[: error.start if isinstance(error, UnicodeDecodeError) else 0]
        raise Failure(
            f"{name}: line {1 + before.decode(encoding, 'replace').count(chr(10))} is not {encoding.upper()} text; "
            "name the file's encoding with --encoding, such as cp1252 or latin-1"
        ) from None


def check_utf8(data: Any, name: str) -> None:
    """Refuse a file that is not UTF-8; decodes in blocks, so that a large file is not copied whole."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _DECODED_BYTES):
            decoder.decode(bytes(data[start : start + _DECODED_BYTES]), final=start + _DECODED_BYTES >= len(data))
    except UnicodeDecodeError:
        as_utf8(data, name, "utf-8")  # raises, with the line
