"""Damaged files: the command does its job or ends with a message, and its outputs are whole or not there."""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.children import STDERR, STDOUT, run_child
from fuzz.command import Done, command, names_in
from fuzz.counts import COUNTS
from fuzz.originals import CHECKPOINT, MODELS, ORIGINALS, arguments_of

# What is put in the place of some bytes.
TOKENS = (
    b"\xff\xfe",
    b"\xc3",
    b"\x00",
    b"\xef\xbb\xbf",
    "\u2028".encode(),
    b"\n",
    b"\r",
    b",",
    b'"',
    b"[" * 5000,
    b'{"a":' * 5000,
    b"nan",
    b"-inf",
    b"1e400",
    b"-1",
    b"9" * 400,
    b"99999999999999999999",
    b"=1+1",
    b"\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"x" * 100_000,
)
# What is put in the place of a value of a model or a checkpoint, beside a new checksum.
VALUES: tuple[Any, ...] = (
    -1, 0, 1, 10**6, 10**400, 1.5, 1e308, float("nan"), float("inf"), None, True, "", "x", "euclidean", "0",
    [], {}, [[]], [-1], [0, 0], [None], ["x"], {"x": 1}, [1e308], [[1, 2], [3]],
)  # fmt: skip
HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000, 2), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 2), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (12, 2), }",
    "{'descr': '<f8', 'fortran_order': True, 'shape': (), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 0), }",
    "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (12, 2), }",
    "{'descr': '<c16', 'fortran_order': False, 'shape': (6, 2), }",
    "{'descr': [('a', '<f8'), ('b', '<f8')], 'fortran_order': False, 'shape': (12,), }",
    "{'descr': '<U1000000000', 'fortran_order': False, 'shape': (12,), }",
    "{'descr': '<f16', 'fortran_order': False, 'shape': (12, 1), }",
    "(" * 200,
    "{}",
)


@dataclass(frozen=True)
class Damage:
    """A file and what is done to it, one change after the other; places are shares of its length."""

    file: str
    changes: tuple[tuple[Any, ...], ...]
    before: bool = False


def _changes(file: str) -> st.SearchStrategy[tuple[Any, ...]]:
    place = st.floats(0, 1, allow_nan=False, width=32)
    changes = [
        st.tuples(st.just("flip"), place, st.integers(0, 7)),
        st.tuples(st.just("cut"), place),
        st.tuples(st.just("put"), place, st.sampled_from(range(len(TOKENS)))),
        st.tuples(st.just("replace"), place, st.sampled_from(range(len(TOKENS)))),
        st.tuples(st.just("copy"), place, place, place),
    ]
    crafted = st.tuples(st.just("craft"), place, st.sampled_from(range(len(VALUES))))
    if file in MODELS or file == CHECKPOINT:
        # The checksum refuses what is merely damaged.
        return crafted | crafted | st.tuples(st.just("drop"), place) | st.one_of(changes)
    if file.endswith(".npy"):
        changes.append(st.tuples(st.just("header"), st.sampled_from(range(len(HEADERS)))))
    return st.one_of(changes)


@st.composite
def damages(draw: st.DrawFn) -> Damage:
    file = draw(st.sampled_from((*ORIGINALS, *MODELS, CHECKPOINT)) | st.sampled_from((*MODELS, CHECKPOINT)))
    changes = draw(st.lists(_changes(file), min_size=1, max_size=3))
    return Damage(file, tuple(changes), draw(st.booleans()))


def damaged(content: bytes, changes: tuple[tuple[Any, ...], ...]) -> bytes:
    for name, *how in changes:
        content = _CHANGES[name](content, *how)
    return content


def _at(content: bytes, place: float) -> int:
    return min(int(place * len(content)), max(0, len(content) - 1))


def _flip(content: bytes, place: float, bit: int) -> bytes:
    at = _at(content, place)
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :] if content else content


def _copy(content: bytes, start: float, end: float, to: float) -> bytes:
    at = _at(content, to)
    return content[:at] + content[_at(content, start) : _at(content, end)] + content[at:]


def _replace(content: bytes, place: float, token: int) -> bytes:
    at = _at(content, place)
    return content[:at] + TOKENS[token] + content[at + len(TOKENS[token]) :]


def _header(content: bytes, which: int) -> bytes:
    text = HEADERS[which].encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return content[:8] + len(text).to_bytes(2, "little") + text + content[128:]


def _craft(content: bytes, place: float, value: int) -> bytes:
    return _recast(content, place, lambda holder, key: holder.__setitem__(key, VALUES[value]))


def _drop(content: bytes, place: float) -> bytes:
    return _recast(content, place, lambda holder, key: holder.__delitem__(key))


def _recast(content: bytes, place: float, change: Any) -> bytes:
    """Change one value of a model or a checkpoint, and make the checksum anew; leave what is no JSON."""
    try:
        whole = json.loads(content)
        parts = {name: whole[name] for name in ("model", "about", "state") if name in whole}
        places = list(_places(parts))
        change(*places[_at(bytes(len(places)), place)])
        whole = {**{name: value for name, value in whole.items() if name in parts or name not in _PARTS}, **parts}
        if "model" in parts:
            text = json.dumps(parts["model"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
            whole["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        else:
            whole["checksum"] = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return json.dumps(whole, sort_keys=True).encode()
    except (ValueError, TypeError, IndexError, KeyError, RecursionError):
        return content


_PARTS = ("model", "about", "state")


def _places(holder: Any, depth: int = 0) -> Any:
    """Yield each (container, key), those near the root once more: they decide most."""
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        if depth:
            yield holder, key
        if depth == 1:
            yield from [(holder, key)] * 10
        if isinstance(holder[key], (dict, list)):
            yield from _places(holder[key], depth + 1)


_CHANGES: dict[str, Any] = {
    "flip": _flip,
    "cut": lambda content, place: content[: _at(content, place)],
    "put": lambda content, place, token: (
        content[: _at(content, place)] + TOKENS[token] + content[_at(content, place) :]
    ),
    "replace": _replace,
    "copy": _copy,
    "header": _header,
    "craft": _craft,
    "drop": _drop,
}


def check(damage: Damage) -> None:
    """Run the command on a damaged file and fail if it shows a traceback or leaves half an output."""
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            arguments, inputs = arguments_of(damage.file, folder)
            content = damaged((folder / damage.file).read_bytes(), damage.changes)
            (folder / damage.file).write_bytes(content)
            if damage.before:
                (folder / "labels.csv").write_text("before")
            done = _run(damage.file, folder, [*arguments, "-o", folder / "labels.csv"])
            check_end(done, damage, folder, inputs)
            if done.code == 0:
                check_accepted(content, damage.file)
    except BaseException:
        COUNTS.add("files", damage.file, "failed")
        raise
    COUNTS.add("files", damage.file, "passed" if done.code == 0 else "refused")


def _run(file: str, folder: Path, arguments: list[object]) -> Done:
    """Run the command here, or in another process if the file is read by C++ code that may crash on it."""
    if not file.endswith((".mtx", ".parquet")):
        return command(*arguments)
    code, _ = run_child(folder, [str(argument) for argument in arguments])
    done = Done(code, *((folder / name).read_text() for name in (STDOUT, STDERR)))
    for name in (STDOUT, STDERR):
        (folder / name).unlink()
    return done


def check_end(done: Done, damage: Damage, folder: Path, inputs: set[str]) -> None:
    assert done.code in (0, 1, 2), f"exit code {done.code}"
    assert "Traceback" not in done.stderr, done.stderr
    output = folder / "labels.csv"
    if done.code:
        assert "medoids: error: " in done.stderr or "Error" in done.stderr, f"no message: {done.stderr!r}"
        assert "labels.csv" not in names_in(folder) - inputs or output.read_text() == "before", "half an output"
    else:
        with output.open(newline="", encoding="utf-8") as file:
            labels = [row["cluster"] for row in csv.DictReader(file)]
        assert labels, "an output without rows"
        assert all(label.isdigit() for label in labels), "a label is no cluster"
    drafts = names_in(folder) - inputs - {"labels.csv"}
    assert not drafts, f"{drafts} left behind"


def check_accepted(content: bytes, file: str) -> None:
    """Check that what was accepted is a possible model or checkpoint: medoids are distinct rows of the fit."""
    if file in MODELS:
        body = json.loads(content)["model"]
        rows, n = body["rows"], body["n"]
    elif file == CHECKPOINT:
        rows, n = json.loads(content)["state"]["medoids"], 12
    else:
        return
    whole = isinstance(n, int) and isinstance(rows, list) and all(type(row) is int and 0 <= row < n for row in rows)
    assert whole, f"medoids {rows} of {n} rows were accepted"
    assert len(set(rows)) == len(rows), f"medoids {rows} were accepted"
