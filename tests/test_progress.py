"""What a fit says, and where it says nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

from medoids import TraceRecord, k_medoids

X = np.array([0, 1, 3, 7, 12.0])[:, None]


def test_each_step_is_a_line_with_the_algorithm_and_the_reason_first(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[TraceRecord] = []
    k_medoids(X, 2, verbose=2, callback=seen.append)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0].startswith("medoids: fastpam1 (the 5 x 5 distance matrix is small")
    # By hand in test_pam.py: BUILD adds rows 2 and 4, and 1 replaces 2, which leaves 8 / 5.
    assert "+2" in lines[1]
    assert "+1 -2" in lines[3]
    assert "loss 1.6" in lines[3]
    assert len(lines) == 1 + len(seen) == 4


def test_nothing_is_said_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    k_medoids(X, 2, verbose=1)
    assert capsys.readouterr() == ("", "")


def test_a_true_of_numpys_stops_too() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2))
    stopped = k_medoids(rows, 8, init="random", random_state=0, callback=lambda step: np.bool_(True))
    assert stopped.n_swaps == 0
    assert not stopped.converged


def _on_a_terminal(code: str) -> str:
    """What a program writes to standard error when that is a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=slave, stdout=subprocess.PIPE, env=environment
    ) as process:
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        assert process.wait(timeout=60) == 0
    os.close(master)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())


FIT = """
import time
import numpy as np
from medoids import k_medoids
seen = []

def callback(step):
    seen.append(step)
    if step.phase == "swap" and len(seen) == 2:
        time.sleep(1)  # long enough for a bar that is drawn ten times a second

found = k_medoids(np.random.default_rng(0).normal(size=(400, 3)), 6, init="random", random_state=0, verbose=1,
                  callback=callback)
assert seen == found.trace and found.n_swaps > 1
"""


@pytest.mark.slow
def test_a_terminal_gets_a_bar() -> None:
    said = _on_a_terminal(FIT)
    found = k_medoids(np.random.default_rng(0).normal(size=(400, 3)), 6, init="random", random_state=0)
    last = found.trace[-1]
    assert "medoids: fastpam1 (the 400 x 400 distance matrix is small" in said
    assert f"+{last.medoid_in} -{last.medoid_out}" in said
    assert f"loss {last.loss:.6g}" in said
    assert "distances" in said
    assert "/s" in said
    assert "done" in said


@pytest.mark.slow
def test_lines_where_rich_is_not_installed() -> None:
    said = _on_a_terminal("import sys; sys.modules['rich'] = sys.modules['rich.progress'] = None\n" + FIT)
    assert "━" not in said
    assert re.search(r"\d+\.\d\d s  swap   \+\d+ -\d+ +loss ", said)
