"""What ends a command: a message for people, and an exit code for scripts."""

from __future__ import annotations

__all__ = ["Failure", "WrongUsage"]


class Failure(Exception):
    """The job cannot be done: a file, its content, or a place to write is not what it must be."""

    code = 1


class WrongUsage(Failure):
    """The command line does not fit together, or does not fit the file's columns."""

    code = 2
