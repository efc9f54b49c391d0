"""Commands in processes of their own that start in milliseconds: forked from a server that has imported the package."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["medoids.cli.app", "medoids.cli.reading", "medoids.cli.results", "medoids.pipeline"])
# Files in a child's folder that hold what it says.
STDOUT, STDERR = "stdout.txt", "stderr.txt"
# Seconds after which a child is taken for one that never ends.
_PATIENCE = 120.0


def run_child(
    folder: Path, arguments: list[str], stop: signal.Signals | None = None, after: float = 0.0
) -> tuple[int, float]:
    """Run the command in a folder; return its exit code (minus the signal's number if one ended it) and seconds.

    With ``stop``, the signal is sent that many seconds after the command began, unless it has ended by then.
    """
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    child = _CONTEXT.Process(target=_command, args=(str(folder), arguments, theirs))
    child.start()
    theirs.close()
    with contextlib.suppress(EOFError):  # it died before it began, and its exit code tells
        ours.recv()
    began = time.perf_counter()
    if stop is not None:
        child.join(after)
        if child.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child.pid or 0), stop)
    child.join(_PATIENCE)
    hung = child.is_alive()
    if hung:
        child.kill()
        child.join()
    seconds = time.perf_counter() - began
    code = child.exitcode
    child.close()
    ours.close()
    assert not hung, f"no end after {_PATIENCE:g} s: medoids {' '.join(arguments)}"
    assert code is not None
    return code, seconds


def _command(folder: str, arguments: list[str], ready: Connection) -> None:
    os.chdir(folder)
    for descriptor, name in ((1, STDOUT), (2, STDERR)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.argv = ["medoids", *arguments]
    code: Any = 0
    try:
        # A job that a shell starts in the background ignores Ctrl-C, and so would its children.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from medoids.cli.app import run

        ready.send("ready")
        try:
            run()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except KeyboardInterrupt:  # before the command began, or after it ended
        code = 130
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
