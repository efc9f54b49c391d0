"""Outputs that are complete or absent, and that one process at a time writes.

A writer locks the file's name (``.NAME.lock``), writes a draft beside the file (``.NAME.RANDOM.part``) and renames it.
The operating system releases the lock of a process that dies, and a draft found by the next holder of the lock has no
owner any more: it is removed. Where a file is replaced, the new one has its mode, owner and group.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO

from medoids.engine.interrupts import uninterrupted

__all__ = ["InUse", "Lock", "Outputs", "replace_content"]

# Never follow a link that somebody has put where a draft or a lock is to be made. Windows has no such flag.
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
# Windows locks bytes, which nobody else can then read: one beyond the process number that the file holds.
_LOCKED_BYTE = 1 << 20


class InUse(OSError):
    """Another process is writing the file."""


class Lock:
    """The right to write a file, held until it is released or the process ends, in whichever way.

    Drafts that earlier holders have left behind are removed. On file systems without locks, it keeps nobody away.

    Parameters
    ----------
    target : path
        The file to be written. The lock is a file beside it.
    called : str, optional
        What error messages call the file; by default ``target``.

    Raises
    ------
    InUse
        Where another process, or another lock of this one, has it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "state"
    >>> with Lock(path):
    ...     Lock(path, "the state")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    medoids.storage.files.InUse: the state is being written by another fit or command (process ...); wait for ...
    """

    def __init__(self, target: Path, called: str | None = None) -> None:
        self._path = target.with_name(f".{target.name}.lock")
        while True:
            self._file = _open_lock(self._path)
            try:
                exclusive = _lock(self._file.fileno())
            except BlockingIOError:
                holder = self._file.read(20).decode("ascii", "replace") or "unknown"
                self._file.close()
                raise InUse(
                    f"{called or target} is being written by another fit or command (process {holder}); wait for it to "
                    "end, or choose another name"
                ) from None
            # The holder before may have removed the file after it was opened here.
            if _is_at(self._file.fileno(), self._path):
                break
            self._file.close()
        with suppress(OSError):  # for the message above only
            self._file.truncate(0)
            self._file.write(str(os.getpid()).encode())
        if exclusive:
            _remove_stale_drafts(target)

    def release(self) -> None:
        """Let others write the file."""
        if sys.platform == "win32":  # where an open file cannot be removed
            self._file.close()
            _remove(self._path)
        else:
            _remove(self._path)
            self._file.close()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _open_lock(path: Path) -> FileIO:
    try:
        return FileIO(os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINKS | _BINARY, 0o666), "r+")
    except PermissionError:  # one that another user has left can still be locked
        if not path.exists():
            raise
        return FileIO(os.open(path, os.O_RDONLY | _NO_LINKS | _BINARY), "r")


def _lock(handle: int) -> bool:
    """Lock an open file; return whether that is possible here. BlockingIOError: another has it."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    # What cannot be removed, because another process has just opened it or the folder is gone, is not needed either.
    with suppress(OSError):
        path.unlink()


def replace_content(target: Path, content: bytes) -> None:
    """Put new content in the place of a file whose lock is held; at any moment the file has the old or the new.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "state"
    >>> with Lock(path):
    ...     replace_content(path, b"old"), replace_content(path, b"new"), path.read_bytes()
    (None, None, b'new')
    """
    with uninterrupted():
        draft, file = _new_draft(target)
        try:
            with file:
                file.write(content)
            _publish(draft, target)
        finally:
            draft.unlink(missing_ok=True)


def _new_draft(target: Path) -> tuple[Path, IO[bytes]]:
    """Create an empty file beside the target, with the target's mode, owner and group where that exists."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        before = os.stat(target)
    except FileNotFoundError:
        before = None
    # Until it has the mode of a private file it must not be readable by others.
    mode = 0o666 if before is None else 0o600
    file = os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS | _BINARY, mode), "wb")
    try:
        if before is not None:
            _take_after(file.fileno(), before)
    except OSError:
        file.close()
        draft.unlink()
        raise
    return draft, file


def _take_after(handle: int, before: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(handle, before.st_uid, before.st_gid)
        except OSError as error:
            raise PermissionError(
                error.errno, "its owner and group could not be kept; delete it first, or choose another name"
            ) from error
    if stat.S_IMODE(os.fstat(handle).st_mode) != stat.S_IMODE(before.st_mode):
        os.fchmod(handle, stat.S_IMODE(before.st_mode))


def _publish(draft: Path, target: Path) -> None:
    with draft.open("r+b") as file:
        os.fsync(file.fileno())  # else the name could be on disk before the content is
    os.replace(draft, target)


def _remove_stale_drafts(target: Path) -> None:
    """Remove what writers that died have left beside a file whose lock is held."""
    drafts = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.part")
    for path in target.parent.iterdir():
        if drafts.fullmatch(path.name):
            _remove(path)


class Outputs:
    """Files that appear together when the block ends well, and leave nothing behind when it does not.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Outputs() as outputs:
    ...     draft = outputs.claim(folder / "page.html")
    ...     _ = draft.write_text("complete")
    ...     (folder / "page.html").exists()
    False
    >>> (folder / "page.html").read_text()
    'complete'
    """

    def __init__(self) -> None:
        self._locks: list[Lock] = []
        self._drafts: dict[Path, Path] = {}

    def claim(self, path: str | os.PathLike[str]) -> Path:
        """Return where to write what is to become ``path``.

        Raises
        ------
        OSError
            Where ``path`` cannot be written, before any work is done. `InUse` if another process is writing it.
        """
        target = Path(path).resolve()
        if target.is_dir():
            raise IsADirectoryError(f"cannot write {path}: it is a folder; name a file in it")
        if target.exists() and not target.is_file():
            return target  # a device such as /dev/null, which cannot be replaced
        try:
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(0, "the file is write-protected")
            with uninterrupted():
                self._locks.append(Lock(target, str(path)))
                self._drafts[target], file = _new_draft(target)
                file.close()
        except InUse:
            raise
        except OSError as error:
            reason = "its folder does not exist" if not target.parent.is_dir() else error.strerror
            raise OSError(f"cannot write {path}: {reason}") from error
        return self._drafts[target]

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with uninterrupted():
            try:
                if kind is None:
                    for target, draft in self._drafts.items():
                        _publish(draft, target)
            finally:
                for draft in self._drafts.values():
                    draft.unlink(missing_ok=True)
                for lock in self._locks:
                    lock.release()
