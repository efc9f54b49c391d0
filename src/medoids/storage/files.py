"""Output files that are complete or absent, and that only one process at a time writes.

A writer locks the file's name (``.NAME.lock``), writes a draft beside the file (``.NAME.RANDOM.part``) and renames it.
The operating system releases the lock of a process that dies. A draft that the next holder of the lock finds has no
owner any more and is removed. A file that replaces another one gets its mode, owner and group.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from contextlib import AbstractContextManager, suppress
from io import FileIO
from pathlib import Path

from medoids.engine.interrupts import uninterrupted

__all__ = ["InUse", "Lock", "LockRefused", "Outputs", "replace_content"]

# Never follow a symbolic link in the place of a draft or a lock. Windows does not have O_NOFOLLOW, POSIX not O_BINARY.
_SAFE_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
# Windows locks bytes, which others then cannot read: one beyond the process number that the file holds.
_LOCKED_BYTE = 1 << 20


class InUse(OSError):
    """Another process is writing the file."""


class LockRefused(OSError):
    """Something else is in the place of the lock."""


class Lock(AbstractContextManager["Lock"]):
    """The right to write a file, held until it is released or the process ends for whatever reason.

    Drafts left behind by earlier holders are removed. On file systems without locks it excludes nobody.

    Parameters
    ----------
    target : path
        The file to be written. The lock is a file beside it.
    called : str, optional
        The name of the file in error messages; ``target`` by default.

    Raises
    ------
    InUse
        If another process, or another lock of this one, holds it.
    LockRefused
        If the lock's name is that of a link, a folder or a device.

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
            self._file = _open_lock(self._path, called or str(target))
            try:
                exclusive = _lock(self._file.fileno())
            except BlockingIOError:
                holder = self._file.read(20).decode("ascii", "replace") or "unknown"
                self._file.close()
                raise InUse(
                    f"{called or target} is being written by another fit or command (process {holder}); wait for it to "
                    "end, or choose another name"
                ) from None
            # The previous holder may have removed the file after it was opened here.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file.fileno()), os.lstat(self._path)):
                    break
            self._file.close()
        with suppress(OSError):  # only needed for the message above
            self._file.truncate(0)
            self._file.write(str(os.getpid()).encode())
        if exclusive:
            _remove_stale_drafts(target)

    def release(self) -> None:
        """Allow others to write the file."""
        if sys.platform == "win32":  # an open file cannot be removed there
            self._file.close()
        _remove(self._path)
        self._file.close()

    def __exit__(self, *_: object) -> None:
        self.release()


def _open_lock(path: Path, called: str) -> FileIO:
    try:
        if _is_plain(path):
            return FileIO(os.open(path, os.O_RDWR | os.O_CREAT | _SAFE_OPEN, 0o666), "r+")
    except PermissionError:  # a lock left by another user can still be locked
        if not path.exists():
            raise
        return FileIO(os.open(path, os.O_RDONLY | _SAFE_OPEN), "r")
    except OSError:
        if _is_plain(path):
            raise
    raise LockRefused(
        f"{called} cannot be locked: its lock, {path}, is not a regular file but a link or the like, which medoids "
        "never makes; delete it, or choose another name"
    )


def _is_plain(path: Path) -> bool:
    """Whether a path is a regular file, or does not exist yet."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True


def _lock(handle: int) -> bool:
    """Lock an open file; return whether the file system can. Raise BlockingIOError if somebody else holds it."""
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


def _remove(path: Path) -> None:
    # A file that cannot be removed, because another process has opened it or the folder is gone, does no harm.
    with suppress(OSError):
        path.unlink()


def _remove_stale_drafts(target: Path) -> None:
    """Remove what dead writers left beside a file whose lock is held."""
    for path in target.parent.iterdir():
        if re.fullmatch(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.part", path.name):
            _remove(path)


def replace_content(target: Path, content: bytes) -> None:
    """Replace the content of a file whose lock is held; at any moment the file holds the old or the new content.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "state"
    >>> with Lock(path):
    ...     replace_content(path, b"old"), replace_content(path, b"new"), path.read_bytes()
    (None, None, b'new')
    """
    with uninterrupted():
        draft = _new_draft(target)
        try:
            draft.write_bytes(content)
            _publish(draft, target)
        finally:
            draft.unlink(missing_ok=True)


def _new_draft(target: Path) -> Path:
    """Create an empty file beside the target, with the mode, owner and group of the target if that exists."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    before = os.stat(target) if target.exists() else None
    # Others must not read the draft of a private file before it has its mode.
    mode = 0o666 if before is None else 0o600
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE_OPEN, mode)
    try:
        if before is not None and sys.platform != "win32":
            _copy_ownership(handle, before)
    except OSError:
        draft.unlink()
        raise
    finally:
        os.close(handle)
    return draft


def _copy_ownership(handle: int, before: os.stat_result) -> None:
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(handle, before.st_uid, before.st_gid)
        except OSError as error:
            raise PermissionError(
                error.errno, "its owner and group could not be kept; delete it first, or choose another name"
            ) from error
    os.fchmod(handle, stat.S_IMODE(before.st_mode))


def _publish(draft: Path, target: Path) -> None:
    with draft.open("r+b") as file:
        os.fsync(file.fileno())  # otherwise the name could reach the disk before the content
    os.replace(draft, target)


class Outputs(AbstractContextManager["Outputs"]):
    """Files that appear together if the block succeeds, and leave nothing behind if it fails.

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
        """Return the draft to write, which is to become ``path``.

        Raises
        ------
        OSError
            If ``path`` cannot be written, before any work is done; `InUse` if another process is writing it.
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
                self._drafts[target] = _new_draft(target)
        except (InUse, LockRefused):
            raise
        except OSError as error:
            reason = error.strerror if target.parent.is_dir() else "its folder does not exist"
            raise OSError(f"cannot write {path}: {reason}") from error
        return self._drafts[target]

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
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
