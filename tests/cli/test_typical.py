"""``medoids typical``, run as people run it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
CUSTOMERS = "name,segment,age,spend\na,x,20,5\nb,x,21,5\nc,x,40,5\nd,y,60,100\ne,y,60,101\nf,-1,1,1\ng,,2,2\n"


def test_a_table_and_a_file(program: Run, tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text(CUSTOMERS)
    run = program("typical", "customers.csv", "--labels", "segment", "--id", "name", "-n", 2, "--output", "rows.csv")
    lines = [line.split() for line in run.stdout.splitlines() if line[1:2] in ("x", "y")]
    assert [line[:3] for line in lines] == [["x", "b", "3"], ["x", "a", "3"], ["y", "d", "2"], ["y", "e", "2"]]
    # (1 + 0 + 19) / 3 and (0 + 1 + 20) / 3; ties go to the lowest row.
    assert (tmp_path / "rows.csv").read_text().splitlines() == [
        '"rank","row","size","mean_distance","name","segment","age","spend"',
        '0,1,3,6.666666666666667,"b","x",21,5',
        '1,0,3,7,"a","x",20,5',
        '0,3,2,0.5,"d","y",60,100',
        '1,4,2,0.5,"e","y",60,101',
    ]


def test_json_numbers_as_labels_and_weights(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("topic,heavy,x\n3,1,0\n3,9,4\n3,1,2\n-1,1,2\n5,1,7\n")
    run = medoids("typical", "t.csv", "--labels", "topic", "--weights", "heavy", "--json")
    found = json.loads(run.stdout)["typical"]
    assert [(entry["label"], entry["row"], entry["size"]) for entry in found] == [(3, 1, 3), (5, 4, 1)]
    assert found[0]["mean_distance"] == pytest.approx((4 + 2) / 11)


def test_wrong_usage(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text(CUSTOMERS)
    np.save(tmp_path / "rows.npy", np.eye(3))
    assert "--labels part: customers.csv has no such column; it has name, segment" in (
        medoids("typical", "customers.csv", "--labels", "part", code=2).stderr
    )
    assert "name columns of a table, but rows.npy holds an array" in (
        medoids("typical", "rows.npy", "--labels", "part", code=2).stderr
    )
