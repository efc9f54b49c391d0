"""Text files in any encoding, as bytes of UTF-8."""

from __future__ import annotations

import codecs
from typing import Any

from medoids.cli.failures import Failure

__all__ = ["as_utf8", "check_utf8", "is_encoding", "marked_encoding"]

# Bytes of a file that are checked at a time.
_BLOCK = 1 << 22
# The longer marks first: that of UTF-32 begins as that of UTF-16 does.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def is_encoding(name: str) -> bool:
    """Return whether Python knows a text encoding by a name.

    >>> is_encoding("latin-1"), is_encoding("hex"), is_encoding("klingon")
    (True, False, False)
    """
    try:
        "a".encode(name)
    except (LookupError, ValueError):
        return False
    return True


def marked_encoding(data: Any) -> str | None:
    r"""Return the encoding that a byte order mark at the beginning of a file names.

    >>> marked_encoding("a".encode("utf-16")), marked_encoding(b"a,b\n")
    ('utf-16', None)
    """
    start = bytes(data[:4])
    return next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), None)


def as_utf8(data: Any, name: str, encoding: str) -> bytes:
    """Return text in another encoding as UTF-8."""
    raw = bytes(data)
    try:
        return raw.decode(encoding).encode("utf-8")
    except UnicodeError as error:
        raise _not_text(raw, name, encoding, error) from None


def check_utf8(data: Any, name: str) -> None:
    """Refuse a file that is not UTF-8, block by block, so that a large one need not fit in memory twice."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _BLOCK):
            decoder.decode(bytes(data[start : start + _BLOCK]), final=start + _BLOCK >= len(data))
    except UnicodeDecodeError:
        raw = bytes(data)
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_text(raw, name, "utf-8", error) from None


def _not_text(raw: bytes, name: str, encoding: str, error: UnicodeError) -> Failure:
    if not isinstance(error, UnicodeDecodeError):
        return Failure(f"{name} is not {encoding.upper()} text; name its encoding with --encoding, such as cp1252")
    line = raw[: error.start].decode(encoding, "replace").count("\n") + 1
    return Failure(
        f"{name}: line {line} is not {encoding.upper()} text; name the file's encoding with --encoding, such as cp1252 "
        "or latin-1"
    )
