"""Outputs that are whole or not there: written beside their place under another name, then renamed all at once."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

__all__ = ["Outputs", "write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Put a new content in the place of a file; whenever the machine stops, the file has the old one or the new.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "state"
    >>> write_whole(path, b"old"), write_whole(path, b"new"), path.read_bytes()
    (None, None, b'new')
    """
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # else the name could be on disk before the content is
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


class Outputs:
    """Files that appear together when the block ends well, and leave nothing behind when it does not.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Outputs() as outputs:
    ...     draft = outputs.claim(folder / "page.html")
    ...     _ = draft.write_text("whole")
    ...     [path.name == "page.html" for path in folder.iterdir()]
    [False]
    >>> (folder / "page.html").read_text()
    'whole'
    """

    def __init__(self) -> None:
        self._drafts: dict[Path, Path] = {}

    def claim(self, path: str | os.PathLike[str]) -> Path:
        """Return where to write what is to become ``path``; fails at once where that is not possible."""
        target = Path(path).resolve()
        if target.is_dir():
            raise IsADirectoryError(f"cannot write {path}: it is a folder; name a file in it")
        if target.exists() and not target.is_file():
            return target  # a device such as /dev/null, which has no name to take over
        draft = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except OSError as error:
            reason = "its folder does not exist" if not target.parent.is_dir() else error.strerror
            raise OSError(f"cannot write {path}: {reason}") from error
        self._drafts[target] = draft
        return draft

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                for target, draft in self._drafts.items():
                    os.replace(draft, target)
        finally:
            for draft in self._drafts.values():
                draft.unlink(missing_ok=True)
