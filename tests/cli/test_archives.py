"""Packed files that unpack to more than a limit are refused, without unpacking all of them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from medoids.cli.contents import ReadOptions
from medoids.cli.messages import Failure
from medoids.cli.raw_bytes import unpacked_limit
from medoids.cli.reading import read

Run = Callable[..., subprocess.CompletedProcess[str]]
LINES = b"a,b\n" + b"1,2\n" * 999  # 4,000 bytes


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)])
def test_a_stream_is_unpacked_up_to_the_limit(suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / f"x.csv{suffix}"
    path.write_bytes(pack(LINES))
    assert len(read(str(path), ReadOptions(max_bytes=4000))) == 999
    with pytest.raises(
        Failure, match=r"unpacks to more than the limit of 3,999 bytes; raise --max-bytes if you trust it"
    ):
        read(str(path), ReadOptions(max_bytes=3999))


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """Ten thousand members of a megabyte each, 10 GB: unpacking them would take a minute and the memory."""
    member = gzip.compress(b"1,2\n" * 262_144)
    (tmp_path / "x.csv.gz").write_bytes(member * 10_000)
    with pytest.raises(Failure, match="more than the limit of 5,000,000"):
        read(str(tmp_path / "x.csv.gz"), ReadOptions(max_bytes=5_000_000))


def test_an_npz_counts_all_members(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((1000, 10)), y=np.zeros((1000, 10)))
    assert read(str(tmp_path / "x.npz"), ReadOptions(max_bytes=170_000)).values.shape == (1000, 10)
    with pytest.raises(Failure, match=r"unpacks to 160,256 bytes, more than the limit of 100,000"):
        read(str(tmp_path / "x.npz"), ReadOptions(max_bytes=100_000))


def test_a_directory_that_understates_does_not_help(tmp_path: Path) -> None:
    """No more is unpacked than the archive's directory says, and the array is then cut short."""
    stream, array = io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros((100_000, 10)))
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", array.getvalue())
    content = bytearray(stream.getvalue())
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = (5000).to_bytes(4, "little")
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(Failure, match=r"is not a whole \.npz file"):
        read(str(tmp_path / "x.npz"), ReadOptions(max_bytes=10_000))


def test_parquet_of_repeated_values(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": pa.array(np.zeros(1_000_000))}), tmp_path / "x.parquet", compression="zstd")
    assert (tmp_path / "x.parquet").stat().st_size < 100_000
    assert len(read(str(tmp_path / "x.parquet"), ReadOptions(max_bytes=8_000_000))) == 1_000_000
    with pytest.raises(Failure, match=r"unpacks to 8,000,000 bytes, more than the limit of 7,999,999"):
        read(str(tmp_path / "x.parquet"), ReadOptions(max_bytes=7_999_999))


def test_files_that_are_not_packed_have_no_limit(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(LINES)
    np.save(tmp_path / "x.npy", np.zeros((100, 10)))
    assert len(read(str(tmp_path / "x.csv"), ReadOptions(max_bytes=10))) == 999
    assert len(read(str(tmp_path / "x.npy"), ReadOptions(max_bytes=10))) == 100


def test_the_limit_is_half_of_the_memory_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medoids.cli.raw_bytes._memory", lambda: 1000)
    assert (unpacked_limit(None), unpacked_limit(7)) == (500, 7)


def test_the_option(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(LINES))
    message = medoids("cluster", "x.csv.gz", "-k", 2, "--max-bytes", "2KB", "-o", "l.csv", code=1).stderr
    assert "x.csv.gz unpacks to more than the limit of 2,000 bytes; raise --max-bytes" in message
    message = medoids("cluster", "-", "-k", 2, "--max-bytes", "2KB", stdin=LINES.decode(), code=1).stderr
    assert "standard input holds more than the limit of " in message
    message = medoids("choose-k", "x.csv.gz", "--max-bytes", "lots", code=2).stderr
    assert "--max-bytes lots must be a number of bytes, such as 4000000000 or 4GB" in message
