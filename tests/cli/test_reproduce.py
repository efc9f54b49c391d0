"""``medoids reproduce``: usage, missing data, and a name on real data."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import data
from cli.conftest import COMMAND
from medoids.reproduction.settings import NAMES
from medoids.reproduction.trials import ResultsFile, Trial
from medoids.storage.files import Lock

Run_ = Callable[..., subprocess.CompletedProcess[str]]


def test_a_wrong_name_lists_the_names(medoids: Run_) -> None:
    said = medoids("reproduce", "table-lost", code=2).stderr
    assert "experiment table-lost is unknown; did you mean 'table-loss'?" in said
    assert all(name in said for name in NAMES)


def test_wrong_scale_folder_and_no_rows(medoids: Run_, tmp_path: Path) -> None:
    assert (
        "--scale large is unknown; it must be one of paper, quick"
        in medoids("reproduce", "--scale", "large", code=2).stderr
    )
    assert "nowhere does not exist" in medoids("reproduce", "--data", "nowhere", code=1).stderr
    assert "has no rows yet" in medoids("reproduce", "--no-run", "--data", tmp_path, code=1).stderr


def test_two_commands_do_not_share_a_folder(medoids: Run_, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with Lock((tmp_path / "out" / "rows.csv").resolve()):
        said = medoids("reproduce", "--no-run", "--data", tmp_path, "--out", "out", code=1).stderr
    assert f"rows.csv is being written by another fit or command (process {os.getpid()})" in said


@pytest.mark.slow
def test_ctrl_c_keeps_the_rows(tmp_path: Path) -> None:
    folder = data.path("mnist_70000x784_uint8.npy.xz").parent
    command = [str(COMMAND), "reproduce", "agreement", "--out", str(tmp_path), "--data", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as program:
        while len(ResultsFile(tmp_path / "rows.csv")) < 2:
            assert program.poll() is None
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        said = program.communicate(timeout=60)[1]
    assert program.returncode == 130
    kept = len(ResultsFile(tmp_path / "rows.csv"))
    assert f"interrupted; {kept} rows are kept; run the same command to continue" in said
    assert "30 runs, about a minute on one core" in said


def test_the_page_from_rows_that_are_there(program: Run_, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    rows = ResultsFile(tmp_path / "out" / "rows.csv")
    for algorithm in ("BP", "BP++"):
        found = {"loss": "2.0", "build_loss": "2.5", "losses": "2.0", "swaps": "1", "converged": "True", "machine": "m"}
        counts = {f"{phase}_{kind}": "1" for phase in ("build", "swap") for kind in ("computed", "cpu")}
        rows.add(Trial("MNIST", 1_000, 10, 10, algorithm), {**found, **counts})
    done = program("reproduce", "--no-run", "--out", "out", "--data", data.path("paper_logged_runs.csv").parent)
    assert "table-loss      Held: every ratio rounds to 1.00" in done.stdout
    assert "Not run: " in (tmp_path / "out" / "README.md").read_text()
    assert done.stderr == ""
    one = program(
        "reproduce", "fig-swaps", "--no-run", "--out", "out", "--data", data.path("paper_logged_runs.csv").parent
    )
    assert [line.split()[0] for line in one.stdout.splitlines()] == ["fig-swaps", "page"]
