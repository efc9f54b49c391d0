"""The installed command, run as people run it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
COMMAND = Path(sys.executable).parent / "medoids"


@pytest.fixture
def medoids(tmp_path: Path) -> Run:
    """Run ``medoids`` with some arguments in an empty folder, and check its exit code."""

    def run(*arguments: object, code: int = 0, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "MPLBACKEND": "Agg", "COLUMNS": "100"}
        done = subprocess.run(
            [str(COMMAND), *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            input=stdin,
            timeout=120,
        )
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        assert not list(tmp_path.glob(".*.part")), "a draft was left behind"
        return done

    return run
