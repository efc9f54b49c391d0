"""``medoids choose-k`` and ``cluster --frozen``, run as people run them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from medoids import k_path

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def blobs(tmp_path: Path) -> np.ndarray:
    X, _ = make_blobs(120, centers=[[0, 0], [8, 0], [0, 8], [8, 8]], random_state=0)
    pd.DataFrame(X.round(3), columns=["east", "north"]).to_csv(tmp_path / "blobs.csv", index=False)
    return X.round(3)


def test_a_table_a_reason_and_a_page(program: Run, tmp_path: Path, blobs: np.ndarray) -> None:
    run = program("choose-k", "blobs.csv", "--k", "2:6", "--report", "k.html")
    path = k_path(blobs, range(2, 7), random_state=0)
    assert f"suggested  {path.explain()}" in run.stdout
    lines = [line.split() for line in run.stdout.splitlines() if line[:3].strip().isdigit()]
    assert [int(line[0]) for line in lines] == [2, 3, 4, 5, 6]  # both ends
    assert float(lines[2][1]) == pytest.approx(path.losses[4], rel=1e-5)
    page = (tmp_path / "k.html").read_text()
    assert "How many clusters in blobs.csv?" in page
    for k in range(2, 7):
        assert f"<summary>k = {k}</summary>" in page
    assert page.count("<details open>") == 1
    assert page.count('class="card ') == 2 + 3 + 4 + 5 + 6
    assert "http" not in page.replace("http-equiv", "")


def test_json_and_other_criteria(medoids: Run, blobs: np.ndarray) -> None:
    result = json.loads(medoids("choose-k", "blobs.csv", "-k", "1:5", "--criterion", "stability", "--json").stdout)
    assert result["suggested"] == 4
    assert result["scores"]["k"] == [1, 2, 3, 4, 5]
    assert result["scores"]["silhouette"][0] is None
    assert [len(result["medoids"][str(k)]) for k in range(1, 6)] == [1, 2, 3, 4, 5]


def test_frozen_rows(medoids: Run, blobs: np.ndarray) -> None:
    result = json.loads(medoids("cluster", "blobs.csv", "-k", 4, "--frozen", "5,60", "--json").stdout)
    assert [entry["row"] for entry in result["medoids"]][:2] == [5, 60]
    result = json.loads(medoids("choose-k", "blobs.csv", "--k", "2:3", "--frozen", "5", "--json").stdout)
    assert result["medoids"]["2"][0] == result["medoids"]["3"][0] == 5


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--k", "two"], 2, "--k two must be FIRST:LAST"),
        (["--k", "5:2"], 2, "--k 5:2 must be FIRST:LAST, from at least 1 up"),
        (["--k", "1"], 2, "--k 1 must be FIRST:LAST, from at least 1 up to at least 2"),
        (["--k", "2:500"], 1, "-k 500 is more than the 120 rows"),
        (["--criterion", "best"], 2, "--criterion best is unknown"),
        (["--frozen", "x"], 2, "--frozen x must be row numbers"),
        (["--report", "k.pdf"], 2, "--report k.pdf: the name must end in .html"),
    ],
)
def test_wrong_usage(medoids: Run, blobs: np.ndarray, arguments: list[str], code: int, message: str) -> None:
    assert message in medoids("choose-k", "blobs.csv", *arguments, code=code).stderr
