"""Whole files of every format that the command reads: twelve rows each, made once."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.io
import scipy.sparse
from pyarrow import parquet

from fuzz.command import command

POINTS = np.random.RandomState(0).normal(size=(12, 2)).round(3)
WORDS = ["ape", "apes", "tape", "zebra", "zebras", "cobra", "é", "naïve", "a b", "x,y", "tapes", "cobras"]
COLOURS = ["red", "green", "blue"] * 4
SPARSE = scipy.sparse.csr_array(POINTS * (abs(POINTS) > 0.5))


def _written(write: Any, *arguments: Any, **keywords: Any) -> bytes:
    file = io.BytesIO()
    write(file, *arguments, **keywords)
    return file.getvalue()


def _lines(items: Any) -> bytes:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()


_CSV = "x,y,colour\n" + "".join(f"{x},{y},{c}\n" for (x, y), c in zip(POINTS, COLOURS, strict=True))
_NUMBERS = "x;y\n" + "".join(f"{x};{y}\n" for x, y in POINTS)
_OBJECTS = [{"x": float(x), "y": float(y), "c": c} for (x, y), c in zip(POINTS, COLOURS, strict=True)]
_TABLE = pa.table({"x": POINTS[:, 0], "y": POINTS[:, 1], "c": COLOURS})

ORIGINALS: dict[str, bytes] = {
    "table.csv": _CSV.encode(),
    "numbers.csv": _NUMBERS.encode(),
    "table.tsv": _CSV.replace(",", "\t").encode(),
    "table.csv.gz": gzip.compress(_CSV.encode(), mtime=0),
    "table.jsonl": _lines(_OBJECTS),
    "words.jsonl": _lines(WORDS),
    "series.jsonl": _lines([list(range(length)) for length in range(1, 13)]),
    "words.txt": "\n".join(WORDS).encode(),
    "points.npy": _written(np.save, POINTS),
    "words.npy": _written(np.save, np.array(WORDS)),
    "points.npz": _written(np.savez_compressed, X=POINTS),
    "sparse.npz": _written(scipy.sparse.save_npz, SPARSE),
    "sparse.mtx": _written(scipy.io.mmwrite, SPARSE),
    "table.parquet": _written(lambda file: parquet.write_table(_TABLE, file)),
}
# The model of a file: the file, and further arguments.
MODELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "table.model": ("table.csv", ()),
    "numbers.model": ("numbers.csv", ("--scale", "standard")),
    "words.model": ("words.txt", ()),
    "series.model": ("series.jsonl", ()),
    "sparse.model": ("sparse.mtx", ("--metric", "cosine")),
    "matrix.model": ("matrix.npy", ("--precomputed",)),
}
CHECKPOINT = "fit.checkpoint"
_MATRIX = _written(np.save, abs(POINTS[:, :1] - POINTS[:, 0]))


def _original(name: str) -> bytes:
    return _MATRIX if name == "matrix.npy" else ORIGINALS[name]


def _fit(file: str, *more: object) -> list[object]:
    return ["cluster", file, "-k", 3, "--quiet", "--jobs", 1, *more]


@cache
def _model(name: str) -> bytes:
    file, more = MODELS[name]
    return _made(file, "--save", name, *more)


@cache
def _checkpoint() -> bytes:
    return _made("points.npy", "--checkpoint", CHECKPOINT, "--algorithm", "fasterpam")


def _made(file: str, option: str, name: str, *more: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / file).write_bytes(_original(file))
        done = command(*_fit(str(Path(folder) / file), option, Path(folder) / name, *more))
        assert done.code == 0, done.stderr
        return (Path(folder) / name).read_bytes()


def arguments_of(file: str, folder: Path) -> tuple[list[object], set[str]]:
    """Write a file, and what is needed beside it, into a folder; return the arguments and the names of the files."""
    if file in MODELS:
        data = MODELS[file][0]
        (folder / file).write_bytes(_model(file))
        (folder / data).write_bytes(_original(data))
        return ["predict", folder / file, folder / data], {file, data}
    if file == CHECKPOINT:
        (folder / file).write_bytes(_checkpoint())
        (folder / "points.npy").write_bytes(ORIGINALS["points.npy"])
        options = ("--checkpoint", folder / file, "--resume", "--algorithm", "fasterpam")
        return _fit(str(folder / "points.npy"), *options), {file, "points.npy"}
    (folder / file).write_bytes(ORIGINALS[file])
    return _fit(str(folder / file)), {file}
