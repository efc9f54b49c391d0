"""Bad files and wrong usage: the exit code, a message that says where, and nothing left behind."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cli.conftest import COMMAND
from medoids.cli.app import run
from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.features import make_features
from medoids.cli.messages import Failure
from medoids.cli.model import load_model
from medoids.cli.reading import read
from medoids.storage.files import Outputs

Run = Callable[..., subprocess.CompletedProcess[str]]
GOOD = "a,b\n1,2\n3,4\n5,7\n2,1\n"


def test_help_and_version_say_what_there_is(program: Run) -> None:
    assert "cluster" in program("--help").stdout
    assert "--scale" in program("cluster", "--help").stdout
    assert program("--version").stdout.startswith("medoids ")


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        pytest.param("a,b\n1,2\n3,4,5\n6,7\n", [], ["line 3", "3 cells", "2"], id="ragged"),
        pytest.param("a,b\n1,2\n\n3,\n6,7\n", [], ["line 4", "'b'", "no value"], id="missing"),
        pytest.param("a,b\n1,2\n3,NaN\n6,7\n", [], ["line 3", "'b'", "no value"], id="NaN"),
        pytest.param("a,b\n1,2\n3,x4\n6,7\n8,9\n", [], ["line 3", "'b'", "'x4'", "--ignore b"], id="text in numbers"),
        pytest.param("a,b\n1,u\n3,v\n", ["--metric", "l2"], ["line 2", "'b'", "'u'", "l2"], id="text under l2"),
        pytest.param("a,b\n1,2\n", [], ["-k 2", "1 row"], id="one row"),
    ],
)
def test_bad_tables(medoids: Run, tmp_path: Path, text: str, options: list[str], words: list[str]) -> None:
    (tmp_path / "x.csv").write_text(text)
    run = medoids("cluster", "x.csv", "-k", 2, *options, "-o", "l.csv", "--report", "r.html", code=1)
    assert run.stdout == ""
    last = run.stderr.splitlines()[-1]
    assert last.startswith("medoids: error: ")
    for word in words:
        assert word in last
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        pytest.param("a,b\n1,2\n3,inf\n6,7\n", {}, ["line 3", "'b'", "inf"], id="infinity"),
        pytest.param("a,b\n", {}, ["no rows"], id="only a header"),
        pytest.param("", {}, ["empty"], id="empty"),
        pytest.param("a,a\n1,2\n3,4\n", {"header": True}, ["'a'", "line 1"], id="names twice"),
        pytest.param("1,2\n3,4\n5,6\n", {"metric": "precomputed"}, ["3 rows and 2 columns", "square"], id="not square"),
        pytest.param("a,w\n1,2\n3,-4\n", {"weights": "w"}, ["line 3", "'w'", "-4"], id="negative weight"),
        pytest.param('a,b\n1,"x\ny"\n3,z\nq,"u"\n4,u\n', {}, ["line 5", "'a'", "'q'"], id="lines in quotes"),
    ],
)
def test_more_bad_tables(tmp_path: Path, text: str, options: dict[str, Any], words: list[str]) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text)
    selection = Selection(weights=options.get("weights"))
    with pytest.raises(Failure) as failure:
        make_features(
            read(str(file), ReadOptions(header=options.get("header"))), selection, options.get("metric"), "none"
        )
    for word in words:
        assert word in str(failure.value)
    assert failure.value.code == 1


def test_other_bad_files(medoids: Run, tmp_path: Path) -> None:
    pd.DataFrame({"a": range(1000)}).to_parquet(tmp_path / "whole.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:-100])
    assert "cut.parquet is not a whole Parquet file" in medoids("cluster", "cut.parquet", "-k", 1, code=1).stderr
    assert "there is no file missing.csv" in medoids("cluster", "missing.csv", "-k", 1, code=1).stderr
    np.save(tmp_path / "x.npy", np.array([[1.0, 2], [3, np.nan]]))
    np.save(tmp_path / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a": 2\n')
    (tmp_path / "latin.csv").write_bytes("a,b\n1,2\n3,é\n".encode("latin-1"))
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000)[:-20])
    cases = {
        "x.npy": "row 1, column 'x1' is nan",
        "objects.npy": "objects.npy is not a whole .npy file",
        "x.jsonl": "line 2",
        "latin.csv": "line 3",
        "x.mtx": "Matrix Market",
        "cut.gz": "not a whole .gz file",
        ".": "cannot read",
    }
    for name, words in cases.items():
        with pytest.raises(Failure, match=words):
            make_features(read(str(tmp_path / name)), Selection(), None, "none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[" * 100_000, "line 2 is nested too deeply", id="lists"),
        pytest.param('{"a":' * 100_000, "line 2 is nested too deeply", id="objects"),
        pytest.param("[" * 900 + "]" * 900, r"line 2 holds \[\[.*, which is not a finite number", id="a list of lists"),
        pytest.param(f"[{'1' * 400}]", "line 2 holds 1+.*, which is not a finite number", id="beyond floats"),
        pytest.param(f"[{'1' * 5000}]", "line 2 holds a number of thousands of digits", id="thousands of digits"),
    ],
)
def test_json_lines_that_are_nested_or_large_beyond_reason(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(f"[1, 2]\n{text}\n")
    with pytest.raises(Failure, match=words):
        read(str(tmp_path / "x.jsonl"))


def test_json_objects_with_numbers_beyond_floats(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a": ' + "1" * 4000 + "}\n")
    with pytest.raises(Failure, match=r"x.jsonl: line 2, column 'a' is beyond 1.8e308, the largest number"):
        read(str(tmp_path / "x.jsonl"))


@pytest.mark.parametrize("header", ["{'descr': x}", "{'descr': '<f8', 'shape': (", "{'descr': '<f8',\n("])
def test_headers_that_only_the_parser_of_python_explains(tmp_path: Path, header: str) -> None:
    text = header.encode() + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64))
    with pytest.raises(Failure, match=r"x.npy is not a whole .npy file of numbers or texts: its header is damaged$"):
        read(str(tmp_path / "x.npy"))


def test_an_array_without_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((2, 0)))
    with pytest.raises(Failure, match=r"x.npy holds an array of shape \(2, 0\), which has no columns"):
        make_features(read(str(tmp_path / "x.npy")), Selection(), None, "none")


def test_k_above_n(medoids: Run) -> None:
    assert "-k 5 is more than the 4 rows" in medoids("cluster", "-", "-k", 5, stdin=GOOD, code=1).stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(["-k", "0"], "-k 0 must be an integer of at least 1", id="k"),
        pytest.param([], "-k", id="no k"),
        pytest.param(["-k", "2", "--metric", "euclidian"], "euclidean", id="metric"),
        pytest.param(["-k", "2", "--algorithm", "best"], "fastpam1", id="algorithm"),
        pytest.param(["-k", "2", "--columns", "a,z"], "'z'", id="column"),
        pytest.param(["-k", "2", "--scale", "log"], "robust", id="scale"),
        pytest.param(["-k", "2", "--memory-limit", "lots"], "lots", id="memory"),
        pytest.param(["-k", "2", "--output", "x.xlsx"], ".parquet", id="suffix"),
        pytest.param(["-k", "2", "--output", "x.csv"], "the input x.csv", id="over the input"),
        pytest.param(["-k", "2", "--medoids", "-"], "--medoids -: the name must end in .csv", id="no file of medoids"),
        pytest.param(["-k", "2", "-o", "y.csv", "--medoids", "./y.csv"], "--output y.csv", id="over each other"),
        pytest.param(["-k", "2", "--nonsense"], "nonsense", id="option"),
    ],
)
def test_wrong_usage(medoids: Run, tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "x.csv").write_text(GOOD)
    run = medoids("cluster", "x.csv", *options, code=2)
    assert words in run.stderr
    assert run.stdout == ""
    assert (tmp_path / "x.csv").read_text() == GOOD


def test_an_unwritable_output_is_refused_before_the_work(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(GOOD)
    run = medoids("cluster", "x.csv", "-k", 2, "-o", "l.csv", "--report", "no/such/folder/r.html", code=1)
    assert "cannot write no/such/folder/r.html: its folder does not exist" in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_an_output_that_fails_at_the_end_leaves_none_of_them(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(GOOD)
    (tmp_path / "l.csv").write_text("before")
    # The labels are written by then; the report finds that two numbers per row are not an image.
    run = medoids("cluster", "x.csv", "-k", 2, "-o", "l.csv", "--report", "r.html", "--image-shape", "9x9", code=1)
    assert "--image-shape" in run.stderr
    assert (tmp_path / "l.csv").read_text() == "before"
    assert not (tmp_path / "r.html").exists()


def test_outputs_keep_the_modes_of_the_files_before_them(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(GOOD)
    names = ["l.csv", "m.parquet", "model", "r.html", "l.jsonl"]
    for name in names:
        (tmp_path / name).write_text("before")
        (tmp_path / name).chmod(0o600)
    options = ["-o", "l.csv", "--medoids", "m.parquet", "--save", "model", "--report", "r.html"]
    medoids("cluster", "x.csv", "-k", 2, *options)
    medoids("predict", "model", "x.csv", "-o", "l.jsonl")
    assert {name: (tmp_path / name).stat().st_mode & 0o777 for name in names} == dict.fromkeys(names, 0o600)
    assert not any((tmp_path / name).read_bytes() == b"before" for name in names)


def test_an_output_that_another_process_writes_is_refused(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(GOOD)
    with Outputs() as outputs:
        outputs.claim(tmp_path / "l.csv").write_text("of the other")
        run = subprocess.run(
            [str(COMMAND), "cluster", "x.csv", "-k", "2", "-o", "l.csv"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
        )
    assert run.returncode == 1
    assert f"error: l.csv is being written by another fit or command (process {os.getpid()})" in run.stderr
    assert (tmp_path / "l.csv").read_text() == "of the other"


def test_a_link_in_the_place_of_a_lock(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(GOOD)
    (tmp_path / ".l.csv.lock").symlink_to(tmp_path / "elsewhere")
    message = medoids("cluster", "x.csv", "-k", "2", "-o", "l.csv", code=1).stderr
    assert "error: l.csv cannot be locked: its lock, " in message
    assert "Errno" not in message


def _model(medoids: Run, tmp_path: Path) -> dict[str, object]:
    (tmp_path / "x.csv").write_text(GOOD)
    medoids("cluster", "x.csv", "-k", 2, "--save", "model")
    whole: dict[str, object] = json.loads((tmp_path / "model").read_text())
    return whole


def test_a_model_that_was_tampered_with_or_cut_is_refused(medoids: Run, tmp_path: Path) -> None:
    whole = _model(medoids, tmp_path)
    text = (tmp_path / "model").read_text()
    changed = json.loads(text)
    changed["model"]["medoids"]["rows"][0][0] += 1e-9
    newer = {**whole, "version": 3}
    cases = {
        json.dumps(changed): "checksum",
        text[: len(text) // 2]: "was cut",
        json.dumps(newer): "version 3",
        "{}": "not a model file",
        "\x80\x04K\x01.": "not a model file",  # a pickle
    }
    for content, words in cases.items():
        (tmp_path / "bad").write_text(content, encoding="latin-1")
        with pytest.raises(Failure, match=words):
            load_model(str(tmp_path / "bad"))
    (tmp_path / "bad").write_text(json.dumps(changed))
    assert "checksum" in medoids("predict", "bad", "x.csv", "-o", "p.csv", code=1).stderr
    assert not (tmp_path / "p.csv").exists()


def test_predict_names_the_column_that_is_missing(medoids: Run, tmp_path: Path) -> None:
    _model(medoids, tmp_path)
    (tmp_path / "y.csv").write_text("a,c\n1,2\n3,4\n")
    assert "no column 'b'" in medoids("predict", "model", "y.csv", code=1).stderr


def test_a_system_error_of_an_interrupt_ends_as_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed() -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("medoids.cli.app.app", pressed)
    before = signal.getsignal(signal.SIGTERM), warnings.showwarning
    try:
        with pytest.raises(SystemExit) as ended:
            run()
    finally:
        signal.signal(signal.SIGTERM, before[0])
        warnings.showwarning = before[1]
    assert ended.value.code == 130
    assert capsys.readouterr().err == "medoids: interrupted; nothing was written\n"


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    random = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", random.normal(size=(2500, 40)))
    command = [str(COMMAND), "cluster", "x.npy", "-k", "400", "--algorithm", "pam", "-o", "l.csv"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".l.csv.*.part")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.5)  # into the fit, which would take minutes
        os.kill(process.pid, stop)
        assert process.wait(timeout=20) == code
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-k", "2", "--jobs", "0"], ["Invalid value for '--jobs'"]),
        (["-k", "auto"], ["medoids choose-k FILE"]),
        (["-k", "many"], ["-k many must be an integer of at least 1"]),
        (["-k", "2", "--metric", "euclidian"], ["did you mean 'euclidean'?"]),
        (["-k", "2", "--algorithm", "fastpam2"], ["did you mean 'fastpam'?"]),
        (["-k", "2", "--report", "out.pdf"], ["--report out.pdf: the name must end in .html"]),
        (["-k", "2", "--memory-limit", "lots"], ["--memory-limit lots must be a number of bytes"]),
    ],
)
def test_errors_speak_of_options(medoids: Run, tmp_path: Path, options: list[str], words: list[str]) -> None:
    (tmp_path / "x.csv").write_text(GOOD)
    message = " ".join(medoids("cluster", "x.csv", *options, code=2).stderr.replace("│", " ").split())
    for word in words:
        assert word in message


def test_errors_of_the_fit_speak_of_options(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,w\n1,1\n2,0\n3,0\n")
    message = medoids("cluster", "x.csv", "-k", 2, "--weights", "w", code=1).stderr
    assert "-k 2 is more than the number of rows with a positive --weights, 1" in message
    message = medoids("cluster", "x.csv", "-k", 2, "--algorithm", "pam", "--memory-limit", "10", code=1).stderr
    assert "--algorithm pam needs the 3 x 3 distance matrix" in message
    assert "raise --memory-limit, or use --algorithm pairedpam" in message
    message = medoids("cluster", "x.csv", "-k", 2, "--frozen", "7", code=1).stderr
    assert "--frozen 7 is not a row" in message


@pytest.mark.parametrize("command", [[], ["cluster"], ["predict"], ["compare"], ["choose-k"], ["reproduce"]])
def test_help_shows_flags_without_a_type(medoids: Run, command: list[str]) -> None:
    message = medoids(*command, "--help").stdout
    assert "--help" in message
    assert "<bool>" not in message
    assert "bool" not in message.lower().replace("boolean", "")


def test_one_default_for_the_memory_limit() -> None:
    from inspect import signature

    from medoids import KMedoids, certify, k_medoids, k_path, silhouette
    from medoids.cli.app import cluster, compare_algorithms
    from medoids.cli.choose_k import choose_k

    callables = (KMedoids, certify, k_medoids, k_path, silhouette, cluster, compare_algorithms, choose_k)
    assert {signature(each).parameters["memory_limit"].default for each in callables} == {"2GiB"}


def test_a_column_without_values(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x,y,c\n1,2,\n3,4,\n5,7,\n")
    assert "gower" in medoids("cluster", "x.csv", "-k", 2).stderr
    (tmp_path / "x.csv").write_text("x,y,c\n,,\n")
    message = medoids("cluster", "x.csv", "-k", 1, code=1).stderr
    assert "row 0 of X has no value in any column" in message
