"""The command ``medoids`` inside this process: as people run it, without a new interpreter each time."""

from __future__ import annotations

import io
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from medoids.cli.app import run


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str


def command(*arguments: object) -> Done:
    """Run the command line; whatever it does not catch itself, and would show as a traceback, is raised here."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    code = 0
    with (
        mock.patch.multiple(sys, argv=["medoids", *map(str, arguments)], stdout=out, stderr=err),
        _handlers_restored(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return Done(code, out.buffer.getvalue().decode(), err.getvalue())


@contextmanager
def _handlers_restored() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
