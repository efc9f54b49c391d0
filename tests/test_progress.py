"""What a fit says on a terminal and elsewhere.

Seconds between lines are those of a clock that the tests set.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest

from medoids import TraceRecord, k_medoids, k_path
from medoids.engine import interrupts

X = np.array([0, 1, 3, 7, 12.0])[:, None]


def test_each_step_is_a_line_with_the_algorithm_and_the_reason_first(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[TraceRecord] = []
    k_medoids(X, 2, verbose=2, callback=seen.append)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0].startswith("medoids: fastpam1 (the 5 x 5 distance matrix is small")
    assert lines[-1].startswith("medoids: done in ")
    # By hand in test_pam.py: BUILD adds rows 2 and 4, and 1 replaces 2, which leaves 8 / 5.
    assert "+2" in lines[1]
    assert "+1 -2" in lines[3]
    assert "loss 1.6" in lines[3]
    assert len(lines) - 2 == len(seen) == 3


class Clock:
    """Shows the seconds that it was set to, and goes on by some at each look."""

    def __init__(self, tick: float = 0) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


def test_silence_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    k_medoids(X, 2)
    assert capsys.readouterr() == ("", "")


def test_a_pipe_gets_a_line_at_the_start_and_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    found = k_medoids(X, 2, verbose=1)
    first, last = _lines(capsys)
    assert first == f"medoids: fastpam1 ({found.reason})"
    assert re.fullmatch(r"medoids: done in \d+\.\d s: loss 1\.6, 1 swap, 25 distances", last)


def test_the_first_line_says_how_large_a_matrix_is(capsys: pytest.CaptureFixture[str]) -> None:
    k_medoids(np.arange(1200.0)[:, None], 2, algorithm="fastpam", verbose=1)
    assert _lines(capsys)[0] == "medoids: fastpam (asked for): distance matrix 1,200 x 1,200, 11 MiB"
    k_medoids(np.arange(1200.0)[:, None], 2, algorithm="clara", verbose=1)
    assert _lines(capsys)[0] == "medoids: clara (asked for)"


def test_lines_have_a_percentage_in_every_phase(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(interrupts, "clock", clock)

    def unlike(a: np.ndarray, b: np.ndarray) -> float:
        clock.now += 1
        return abs(float(a[0] - b[0]))

    def callback(step: TraceRecord) -> None:
        clock.now += 5

    k_medoids(X, 2, metric=unlike, max_iter=4, verbose=1, callback=callback)
    lines = _lines(capsys)[1:-1]
    matrix, others = lines[:-3], lines[-3:]
    # 25 calls of a second each, row by row: a line every 5 of them, before the row is complete.
    told = [re.fullmatch(r"medoids: (\d+) s: matrix \((\d+)%\), (\d+) distances", line) for line in matrix]
    assert [tuple(map(int, match.groups())) for match in told if match] == [
        (5, 0, 5), (10, 20, 10), (15, 40, 15), (20, 60, 20), (25, 80, 25)
    ]  # fmt: skip
    # The sums of distances by hand: 18 from row 2, 9 with row 4, 8 with row 1 in the place of row 2.
    assert [line.split(": ", 2)[2] for line in others] == [
        "build 1/2 (50%), loss 3.6, 25 distances",
        "swap 0/4 (0%), loss 1.8, 25 distances",
        "swap 1/4 (25%), loss 1.6, 25 distances",
    ]


def test_there_is_at_most_a_line_every_five_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "clock", Clock(tick=0.1))
    rows = np.random.default_rng(0).normal(size=(3200, 2))
    k_medoids(rows, 5, algorithm="pairedpam", verbose=1, random_state=0)
    times = [float(line.split()[1]) for line in _lines(capsys) if re.match(r"medoids: \d+ s: ", line)]
    assert len(times) > 1
    assert np.diff(times).min() >= 4.5  # whole seconds are shown
    monkeypatch.setattr(interrupts, "clock", Clock())
    k_medoids(rows, 5, algorithm="pairedpam", verbose=1, random_state=0)
    assert len([line for line in _lines(capsys) if "compiling" not in line]) == 2


def test_a_fit_that_is_interrupted_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    def callback(step: TraceRecord) -> None:
        if step.phase == "swap":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 2, verbose=1, callback=callback)
    assert re.fullmatch(r"medoids: stopped after \d+\.\d s: loss 1\.6, 1 swap, 25 distances", _lines(capsys)[-1])


def test_several_starts_and_numbers_of_clusters_share_a_percentage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(interrupts, "clock", clock)
    rows = np.random.default_rng(0).normal(size=(100, 2))

    def callback(step: TraceRecord) -> None:
        clock.now += 5

    k_medoids(rows, 5, init="random", n_init=3, max_iter=50, random_state=0, verbose=1, callback=callback)
    swaps = [re.search(r"swap (\d+)/150 \((\d+)%\)", line) for line in _lines(capsys)[1:-1]]
    shown = [tuple(map(int, match.groups())) for match in swaps if match]
    assert len(shown) == len(swaps)
    assert [count for count, _ in shown] == sorted(count for count, _ in shown)
    assert all(share == round(100 * count / 150) for count, share in shown)
    k_path(rows, range(2, 5), max_iter=50, verbose=1)
    lines = _lines(capsys)
    assert lines[0].startswith("medoids: fastpam1 (")
    assert lines[-1].startswith("medoids: done in ")


@pytest.mark.slow
def test_compilation_is_announced_once(tmp_path: Path) -> None:
    code = """
import numpy as np
from medoids import k_medoids
k_medoids(np.random.default_rng(0).normal(size=(3100, 2)), 2, metric="manhattan", verbose=1)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for times in (1, 0):  # what was compiled is kept
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        assert run.stderr.count("medoids: compiling kernels, about 10 s, once\n") == times


def test_a_true_of_numpys_stops_too() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2))
    stopped = k_medoids(rows, 8, init="random", random_state=0, callback=lambda step: np.bool_(True))
    assert stopped.n_swaps == 0
    assert not stopped.converged


def _on_a_terminal(code: str, width: int = 160) -> str:
    """What a program writes to standard error when that is a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(width)}
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


PHASES = """
import time
import numpy as np
from medoids import k_medoids

def unlike(a, b):
    time.sleep(2e-4)
    return abs(a - b)

def callback(step):
    time.sleep(0.3)  # long enough for a bar that is drawn ten times a second

time.sleep(0.3)
k_medoids((1e3 * np.random.default_rng(0).normal(size=60)).tolist(), 3, metric=unlike, max_iter=12, verbose=1,
          init=[0, 1, 2] if START else "build", callback=callback)
"""


@pytest.mark.slow
@pytest.mark.parametrize("start", [False, True])
def test_the_bar_fits_80_columns_and_has_a_percentage_in_every_phase(start: bool) -> None:
    said = _on_a_terminal(f"START = {start}\n" + PHASES, width=80)
    drawn = [line.rstrip() for line in re.split(r"[\r\n]+", said) if "━" in line]
    assert max(map(len, drawn)) < 80
    assert "…" not in said
    seen = set()
    for line in drawn:
        phase = re.match(r"\S? *(start|matrix|build \d/3|swap \d+/12|done) +━*[╸╺]?━* +\d+% ", line)
        assert phase, line
        seen.add(phase[1].split()[0])
    assert drawn[0].split()[1] == "start"  # from the beginning on
    assert seen == {"start", "matrix", "swap", "done"} | ({"build"} if not start else set())
    assert " 100% " in drawn[-1]


@pytest.mark.slow
def test_lines_where_rich_is_not_installed() -> None:
    said = _on_a_terminal("import sys; sys.modules['rich'] = sys.modules['rich.progress'] = None\n" + FIT)
    assert "━" not in said
    assert "medoids: fastpam1 (the 400 x 400 distance matrix is small" in said
    assert "medoids: done in " in said
