"""Data on disk on the command line: mapped arrays, Zarr, and folders of Parquet files."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from medoids import k_medoids
from medoids.cli.reading import read
from medoids.distances import is_mapped

Run = Callable[..., subprocess.CompletedProcess[str]]
X = np.random.RandomState(0).rand(300, 3)


def write_parts(folder: Path) -> Path:
    folder.mkdir()
    for number in range(11):
        part = X[number * 30 : (number + 1) * 30]
        parquet.write_table(
            pa.table({name: part[:, at] for at, name in enumerate("abc")}), folder / f"p{number}.parquet"
        )
    return folder


def test_a_folder_of_parquet_files_is_one_table(medoids: Run, tmp_path: Path) -> None:
    write_parts(tmp_path / "rows")
    run = medoids("cluster", "rows", "-k", 4, "--columns", "a,c", "--json", "-q")
    expected = k_medoids(X[:, [0, 2]], 4, random_state=0)
    assert [entry["row"] for entry in json.loads(run.stdout)["medoids"]] == expected.medoid_indices.tolist()


def test_a_large_folder_stays_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medoids.cli.reading._LARGEST_TABLE_BYTES", 100)
    contents = read(str(write_parts(tmp_path / "rows")))
    assert contents.kind == "array"
    assert is_mapped(contents.values)
    assert contents.values.tolist() == X.tolist()


def test_a_zarr_array(medoids: Run, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, chunks=(70, 2), dtype="f8")[:] = X
    run = medoids("cluster", "X.zarr", "-k", 4, "--json", "-q")
    expected = k_medoids(X, 4, random_state=0)
    assert [entry["row"] for entry in json.loads(run.stdout)["medoids"]] == expected.medoid_indices.tolist()


def test_an_npy_file_is_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    assert is_mapped(read(str(tmp_path / "X.npy")).values)


def test_other_folders_are_refused(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run = medoids("cluster", "empty", "-k", 2, code=1)
    assert "empty is a folder, but holds neither Parquet files nor a Zarr array" in run.stderr
    write_parts(tmp_path / "rows")
    (tmp_path / "rows" / "p3.parquet").write_bytes(b"PAR1")
    run = medoids("cluster", "rows", "-k", 2, code=1)
    assert "cannot read rows: its Parquet files are not whole, or differ" in run.stderr
    run = medoids("cluster", "rows", "-k", 2, "--format", "csv", code=2)
    assert "rows is a folder" in run.stderr
