"""A run that is killed and started again gives what one that was left alone gives."""

from __future__ import annotations

import csv
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import data
from medoids.reproduction.page import write_page
from medoids.reproduction.paper import read_logs
from medoids.reproduction.runner import missing
from medoids.reproduction.settings import NAMES, plan
from medoids.reproduction.trials import COLUMNS, TIMES, ResultsFile, Trial
from reproduction.tiny import TINY

pytestmark = pytest.mark.slow

NAMED = ("table-loss", "table-speedup", "fig-swaps", "agreement")
TINY_PROGRAM = Path(__file__).parent / "tiny.py"


def start(out: Path) -> subprocess.Popen[bytes]:
    out.mkdir(exist_ok=True)
    folder = data.path("newsgroups_minilm_10000x384_float32.npy").parent
    return subprocess.Popen([sys.executable, str(TINY_PROGRAM), str(out), str(folder), *NAMED])


def lines(out: Path) -> list[bytes]:
    file = out / "rows.csv"
    return file.read_bytes().splitlines(keepends=True) if file.exists() else []


def test_killed_and_started_again_gives_the_same_files(tmp_path: Path) -> None:
    whole, broken, third = tmp_path / "whole", tmp_path / "broken", tmp_path / "third"
    assert start(whole).wait(120) == 0
    total = len(lines(whole))
    kept: list[bytes] = []
    for enough in (4, 12):
        program = start(broken)
        while len(lines(broken)) < enough and program.poll() is None:
            time.sleep(0.01)
        program.send_signal(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL
        now = lines(broken)
        assert enough <= len(now) < total
        assert now[: len(kept)] == kept, "a row that was there has changed"
        kept = now if now[-1].endswith(b"\n") else now[:-1]
    assert not (broken / "README.md").exists()
    assert start(broken).wait(120) == 0
    assert lines(broken)[: len(kept)] == kept

    tables = [list(csv.DictReader((out / "rows.csv").read_text().splitlines())) for out in (whole, broken)]
    assert len(tables[0]) == total - 1 == len(plan(NAMED, TINY))
    timeless = [[{c: row[c] for c in COLUMNS if c not in TIMES} for row in table] for table in tables]
    assert timeless[0] == timeless[1]

    # The other files follow from the rows: with the same times, they are the same to the byte.
    third.mkdir()
    shutil.copy(whole / "rows.csv", third)
    write_page(ResultsFile(third / "rows.csv"), TINY, read_logs(data.FOLDER), third)
    names = sorted(str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(broken)) for path in broken.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(third)) for path in third.rglob("*") if path.is_file())
    assert all((third / name).read_bytes() == (whole / name).read_bytes() for name in names)


RUN = Trial("MNIST", 1_000, 5, 10, "BP++", delta=1e-3, seed=2)


def test_a_line_that_was_not_finished_is_made_again(tmp_path: Path) -> None:
    rows = ResultsFile(tmp_path / "rows.csv")
    rows.add(RUN, {"loss": "1.5"})
    before = rows.path.read_bytes()
    other = Trial("MNIST", 1_000, 5, 10, "BP")
    rows.add(other, {"loss": "2.5"})
    rows.path.write_bytes(rows.path.read_bytes()[:-7])
    again = ResultsFile(rows.path)
    assert missing([RUN, other], again) == [other]
    assert rows.path.read_bytes() == before
    again.add(other, {"loss": "2.5"})
    assert [row["loss"] for row in ResultsFile(rows.path).values()] == ["1.5", "2.5"]


def test_an_interrupt_while_a_row_reaches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    rows = ResultsFile(tmp_path / "rows.csv")
    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        rows.add(RUN, {"loss": "1.5"})
    assert len(rows) == len(ResultsFile(rows.path)) == 1


def test_rows_of_another_version_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"rows\.csv has other columns"):
        ResultsFile(file)


def test_no_run_is_made_twice_for_two_names() -> None:
    for names in (NAMES, reversed(NAMES)):
        runs = plan(names, TINY)
        assert len(runs) == len(set(runs))
    both = set(plan(["fig-k"], TINY)) & set(plan(["table-speedup"], TINY))
    assert {run.algorithm for run in both} == {"BP", "BP++"}
