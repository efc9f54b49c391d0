"""Rows on disk, mapped or in Parquet and Zarr files, give what they give in memory, within bounds of memory."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from medoids import KMedoids, k_medoids, open_parquet, open_zarr
from medoids.distances import is_mapped, release
from medoids.engine.mapped import scratch
from medoids.inputs import check_data

X = np.random.RandomState(3).normal(size=(5000, 4)).astype(np.float32)


@pytest.fixture
def mapped(tmp_path: Path) -> Any:
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def assert_same(found: Any, expected: Any) -> None:
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.inertia == expected.inertia


@pytest.mark.slow
# 64,000 bytes are the working copy: it goes to disk where that is more than half of memory_limit.
@pytest.mark.parametrize("memory_limit", ["2GiB", "100KB"])
@pytest.mark.parametrize("metric", ["l2", "cosine", "l1", "canberra"])
@pytest.mark.parametrize("algorithm", ["pairedpam", "banditpam++"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_map_gives_what_memory_gives(mapped: Any, metric: str, algorithm: str, memory_limit: str) -> None:
    keywords: dict[str, Any] = {"metric": metric, "algorithm": algorithm, "random_state": 0, "max_iter": 3}
    found = k_medoids(mapped[:4000], 5, memory_limit=memory_limit, **keywords)
    assert_same(found, k_medoids(X[:4000], 5, **keywords))


def write_parquet(folder: Path, rows: Any = X, parts: int = 12) -> Path:
    """Write parts whose names are not in the order of the alphabet, of unequal sizes, one of them empty."""
    folder.mkdir()
    cuts = [0, 0, *sorted(np.random.RandomState(0).choice(len(rows), parts - 2, replace=False)), len(rows)]
    for number, (start, stop) in enumerate(pairwise(cuts)):
        table = pa.table({name: rows[start:stop, column] for column, name in enumerate("abcd")})
        parquet.write_table(table, folder / f"part.{number}.parquet", row_group_size=200)
    return folder


def write_zarr(path: Path) -> Path:
    zarr = pytest.importorskip("zarr")
    zarr.open(str(path), mode="w", shape=X.shape, chunks=(300, 3), dtype="f4")[:] = X
    return path


def test_parquet_files_and_folders(tmp_path: Path) -> None:
    folder = write_parquet(tmp_path / "rows")
    rows = open_parquet(folder)
    assert (rows.shape, rows.dtype, len(rows)) == ((5000, 4), np.float32, 5000)
    assert rows[990:1420].tolist() == X[990:1420].tolist()
    assert rows[:0].shape == (0, 4)
    assert rows[4990:].tolist() == X[4990:].tolist()
    assert np.concatenate(list(rows.chunks())).tolist() == X.tolist()
    one = open_parquet(folder / "part.3.parquet", columns=["d", "a"])
    assert one[:].tolist() == pd.read_parquet(folder / "part.3.parquet")[["d", "a"]].to_numpy().tolist()
    expected = k_medoids(X, 4, algorithm="pairedpam", random_state=0)
    assert_same(k_medoids(rows, 4, algorithm="pairedpam", random_state=0), expected)
    model = KMedoids(4, random_state=0).fit(rows)
    assert model.predict(rows).tolist() == model.predict(X).tolist() == model.labels_.tolist()


def test_parquet_files_need_no_pandas(tmp_path: Path) -> None:
    columns = {"a": np.array([0, 1, 1], np.int8), "b": np.array([0, 1, 1], np.float32), "c": [False, True, True]}
    parquet.write_table(pa.table(columns), tmp_path / "X")
    program = (
        "import sys\n"
        "class NoPandas:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pandas': raise ImportError\n"
        "sys.meta_path.insert(0, NoPandas())\n"
        "from medoids.storage.parquet_zarr import open_parquet\n"
        "X = open_parquet(sys.argv[1])\n"
        "print(X.dtype, X[:].tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "X"], capture_output=True, text=True, check=True)
    assert done.stdout == "float32 [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]\n"


def test_zarr_arrays_and_groups(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    path = write_zarr(tmp_path / "X.zarr")
    expected = k_medoids(X, 4, algorithm="pairedpam", random_state=0)
    assert open_zarr(path)[17:900].tolist() == X[17:900].tolist()
    assert_same(k_medoids(open_zarr(path), 4, algorithm="pairedpam", random_state=0), expected)
    assert_same(k_medoids(zarr.open(str(path), mode="r"), 4, algorithm="pairedpam", random_state=0), expected)
    group = zarr.open_group(str(tmp_path / "group"), mode="w")
    group["X"] = X
    group["y"] = X[:, 0]
    assert open_zarr(tmp_path / "group", array="X")[:9].tolist() == X[:9].tolist()
    with pytest.raises(ValueError, match=r"is a group of the arrays X, y; choose one with array="):
        open_zarr(tmp_path / "group")
    with pytest.raises(ValueError, match=r"holds an array of shape \(5000,\) and type float32; it must be rows"):
        open_zarr(tmp_path / "group", array="y")
    with pytest.raises(ValueError, match=r"array='X': .* is one array"):
        open_zarr(path, array="X")


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder .*nowhere"):
        open_parquet(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder .*nowhere"):
        open_zarr(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"is a folder without a \.parquet file"):
        open_parquet(tmp_path)
    folder = write_parquet(tmp_path / "rows", parts=4)
    with pytest.raises(ValueError, match="has no column 'e'; it has a, b, c, d"):
        open_parquet(folder, columns=["a", "e"])
    whole = (folder / "part.2.parquet").read_bytes()
    (folder / "part.2.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="is not a complete Parquet file"):
        open_parquet(folder)
    parquet.write_table(pa.table({"name": ["ape"], "a": [1]}), tmp_path / "mixed.parquet")
    with pytest.raises(ValueError, match=r"column 'name' of .* holds string, not numbers; pass columns="):
        open_parquet(tmp_path / "mixed.parquet")
    assert open_parquet(tmp_path / "mixed.parquet", columns=["a"])[:].tolist() == [[1]]
    parquet.write_table(pa.table({"a": [1, 2, None], "b": [1, 2, 3]}), tmp_path / "gap.parquet")
    with pytest.raises(ValueError, match=r"contains a missing value: row 2, column 'a' of .*gap.parquet"):
        k_medoids(open_parquet(tmp_path / "gap.parquet"), 1)


def test_errors_name_row_and_column_far_into_a_map(tmp_path: Path) -> None:
    wrong = X.copy()
    wrong[4321, 2] = np.nan
    np.save(tmp_path / "X.npy", wrong)
    with pytest.raises(ValueError, match=r"X\[4321, 2\] is nan"):
        k_medoids(np.load(tmp_path / "X.npy", mmap_mode="r"), 2)
    with pytest.raises(ValueError, match=r"X\[4321, 2\] is nan"):
        k_medoids(open_parquet(write_parquet(tmp_path / "rows", wrong)), 2)


@pytest.mark.parametrize("dtype", [">f4", "f2", "?"])
def test_types_that_must_be_converted_are_converted_on_disk(tmp_path: Path, dtype: str) -> None:
    values = (X > 0).astype(dtype) if dtype == "?" else X.astype(dtype)
    np.save(tmp_path / "X.npy", values)
    found = check_data(np.load(tmp_path / "X.npy", mmap_mode="r"), "l2")
    assert is_mapped(found)
    assert found.dtype.isnative
    assert found.tolist() == values.astype(float).tolist()


def test_a_map_is_neither_copied_nor_changed(mapped: Any) -> None:
    checked = check_data(mapped, "l2")
    assert np.shares_memory(checked, mapped)
    before = mapped.tolist()
    KMedoids(3, random_state=0).fit(mapped).predict(mapped)
    assert mapped.tolist() == before


def test_changes_of_a_copy_on_write_map_are_kept(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    private = np.load(tmp_path / "X.npy", mmap_mode="c")
    private[7] = 99
    release(private)
    assert private[7].tolist() == [99] * 4
    assert k_medoids(private, 2, algorithm="pairedpam", random_state=0).distances[7] > 100


def test_scratch_files_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    copy = scratch((1000, 10), np.float32)
    copy[:] = 7
    release(copy)
    assert (copy == 7).all()
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match=r"a copy of X needs .* GiB in .*; set the environment variable TMPDIR"):
        scratch((1 << 24, 1 << 24), np.float32)


# In a process of its own, whose memory is nobody else's: what the fit adds to what was there after the imports.
MEMORY = """
import json, sys
import numpy as np
from medoids import KMedoids, k_medoids
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key)) * 1024
limit = int(sys.argv[2])
k_medoids(np.random.RandomState(0).rand(4000, 20).astype("f4"), 2, algorithm=sys.argv[3], max_iter=0)
X = np.load(sys.argv[1], mmap_mode="r")
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
model = KMedoids(3, algorithm=sys.argv[3], memory_limit=limit, random_state=0, max_iter=2)
import warnings
warnings.simplefilter("ignore")
model.fit(X)
model.predict(X)
print(json.dumps(status("VmHWM") - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are told by Linux only")
@pytest.mark.parametrize("algorithm", ["pairedpam", "clara"])
def test_memory_stays_within_bounds(tmp_path: Path, algorithm: str) -> None:
    n, p, limit = 200_000, 20, 40_000_000
    points = np.random.RandomState(0).normal(size=(n, p)).astype(np.float32)
    points[:, :3] *= 4  # some structure, so that the search is short
    np.save(tmp_path / "X.npy", points)
    run = [sys.executable, "-c", MEMORY, str(tmp_path / "X.npy"), str(limit), algorithm]
    peak = int(json.loads(subprocess.run(run, capture_output=True, text=True, check=True, timeout=200).stdout))
    # The limit, the mapped file itself, some forty vectors of n numbers, and buffers whose size does not depend on n:
    # much less than the 410 MB that the first level of distances would take.
    assert peak < limit + n * p * 4 + 40 * 8 * n + (1 << 27)
