"""Outputs are complete or absent, keep what the file before them had, and have one writer at a time."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from medoids.storage.files import InUse, Lock, LockRefused, Outputs, replace_content

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and owners of POSIX")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")


def write(path: Path, text: str) -> None:
    with Outputs() as outputs:
        outputs.claim(path).write_text(text)


def rewrite(path: Path, text: str) -> None:
    with Lock(path):
        replace_content(path, text.encode())


writers = pytest.mark.parametrize("writer", [write, rewrite])


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
@writers
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_written_over_keeps_its_mode(writer, mode: int, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "labels.csv"
    path.write_text("old")
    path.chmod(mode)
    writer(path, "new")
    assert (path.read_text(), mode_of(path)) == ("new", mode)
    assert [each.name for each in tmp_path.iterdir()] == ["labels.csv"]


@posix
@writers
def test_a_new_file_has_the_mode_that_the_umask_leaves(writer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    before = os.umask(0o027)
    try:
        writer(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new") == 0o640


@posix
def test_the_draft_of_a_private_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o600)
    with Outputs() as outputs:
        assert mode_of(outputs.claim(path)) == 0o600


@as_root
@writers
def test_a_file_written_over_keeps_its_owner(writer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "labels.csv"
    path.write_text("old")
    os.chown(path, 1234, 4321)
    path.chmod(0o660)
    writer(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid, mode_of(path)) == (1234, 4321, 0o660)


@as_root
def test_an_owner_that_cannot_be_kept_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("old")
    os.chown(path, 1234, 4321)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("medoids.storage.files.os.fchown", refuse)
    with (
        Outputs() as outputs,
        pytest.raises(OSError, match=r"cannot write .*labels.csv: its owner and group could not"),
    ):
        outputs.claim(path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["labels.csv"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anything")
def test_a_write_protected_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    (tmp_path / "kept").chmod(0o444)
    with Outputs() as outputs, pytest.raises(OSError, match="write-protected"):
        outputs.claim(tmp_path / "kept")


def test_drafts_have_names_that_cannot_be_foreseen(tmp_path: Path) -> None:
    names = set()
    for _ in range(5):
        with Outputs() as outputs:
            names.add(outputs.claim(tmp_path / "page.html").name)
    assert len(names) == 5
    assert not any(str(os.getpid()) in name.split(".") for name in names)


@posix
@writers
def test_a_link_in_the_place_of_a_draft_is_not_followed(  # type: ignore[no-untyped-def]
    writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if somebody could foresee the name."""
    monkeypatch.setattr("medoids.storage.files.secrets.token_hex", lambda _: "not-hex")
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / ".state.not-hex.part").symlink_to(victim)
    with pytest.raises(OSError, match="File exists"):
        writer(tmp_path / "state", "new")
    assert victim.read_text() == "untouched"


@posix
@writers
def test_a_link_in_the_place_of_a_lock_is_not_followed(writer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    lock = tmp_path / ".state.lock"
    refused = rf"state cannot be locked: its lock, {lock}, is not a regular file but a link .* delete it, or choose"
    for target in (victim, tmp_path / "nothing"):
        lock.unlink(missing_ok=True)
        lock.symlink_to(target)
        with pytest.raises(LockRefused, match=refused):
            writer(tmp_path / "state", "new")
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "nothing").exists()
    lock.unlink()
    lock.mkdir()
    with pytest.raises(LockRefused, match=refused):
        writer(tmp_path / "state", "new")


@posix
def test_an_output_that_is_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


# Claims an output or holds a lock, says so, and waits to be ended.
HOLDER = """
import sys
from pathlib import Path
from medoids.storage.files import Lock, Outputs, replace_content
path = Path(sys.argv[1])
with Outputs() as outputs:
    outputs.claim(path).write_text("half")
    print("ready", flush=True)
    sys.stdin.read()
"""


def hold(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@writers
def test_a_second_writer_is_refused_and_the_first_goes_on(writer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "labels.csv"
    with hold(path) as process:
        with pytest.raises(InUse, match=rf"labels.csv is being written by another .*\(process {process.pid}\); wait"):
            writer(path, "second")
        assert not path.exists()
        process.communicate("", timeout=60)
    assert process.returncode == 0
    assert path.read_text() == "half"
    assert [each.name for each in tmp_path.iterdir()] == ["labels.csv"]
    writer(path, "third")
    assert path.read_text() == "third"


def test_other_files_of_the_folder_are_free(tmp_path: Path) -> None:
    with Outputs() as outputs:
        outputs.claim(tmp_path / "one").write_text("1")
        write(tmp_path / "two", "2")
        with pytest.raises(InUse):
            write(tmp_path / "one", "3")
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == ["1", "2"]


@posix
@writers
def test_a_dead_writer_blocks_nobody_and_its_draft_goes(writer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "labels.csv"
    mine = tmp_path / ".labels.csv.notes.part"  # not the name of a draft
    mine.write_text("mine")
    with hold(path) as process:
        assert len(list(tmp_path.glob(".labels.csv.*.part"))) == 2
        process.send_signal(signal.SIGKILL)
    assert len(list(tmp_path.glob(".labels.csv.*.part"))) == 2, "SIGKILL leaves the draft"
    writer(path, "new")
    assert path.read_text() == "new"
    assert sorted(each.name for each in tmp_path.iterdir()) == [".labels.csv.notes.part", "labels.csv"]


def test_a_draft_of_a_living_process_stays(tmp_path: Path) -> None:
    with hold(tmp_path / "labels.csv") as process:
        with pytest.raises(InUse):
            write(tmp_path / "labels.csv", "second")
        assert len(list(tmp_path.glob(".labels.csv.*.part"))) == 1
        process.communicate("", timeout=60)


def test_of_many_writers_at_once_each_wins_or_is_refused(tmp_path: Path) -> None:
    """None of them takes part in a file of another, and at least one wins."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom medoids.storage.files import InUse, Outputs\n"
        "sys.stdin.read(1)\nwon = 0\n"
        "for _ in range(200):\n    try:\n        with Outputs() as outputs:\n"
        "            outputs.claim(sys.argv[1]).write_text(sys.argv[2] * 1000)\n            won += 1\n"
        "    except InUse:\n        pass\nprint(won)\n"
    )
    path = tmp_path / "page"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), letter],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for letter in "abc"
    ]
    for each in writers:
        assert each.stdin is not None
        each.stdin.write("go")
        each.stdin.flush()
    answers = [each.communicate(timeout=60) for each in writers]
    assert [error for _, error in answers] == [""] * 3
    assert sum(int(text) for text, _ in answers) >= 1
    assert path.read_text() in {letter * 1000 for letter in "abc"}
    assert [each.name for each in tmp_path.iterdir()] == ["page"]


def test_without_locks_files_are_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems have none; then nobody knows whose a draft is."""
    monkeypatch.setattr("medoids.storage.files._lock", lambda _: False)
    other = tmp_path / ".labels.csv.0123456789abcdef.part"
    other.write_text("of somebody")
    write(tmp_path / "labels.csv", "new")
    assert (tmp_path / "labels.csv").read_text() == "new"
    assert other.exists()


def test_ctrl_c_while_outputs_are_finished_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Lock.release

    def interrupted(lock: Lock) -> None:
        signal.raise_signal(signal.SIGINT)
        release(lock)

    monkeypatch.setattr(Lock, "release", interrupted)
    outputs = Outputs()
    for name in ("a", "b"):
        outputs.claim(tmp_path / name).write_text(name)
    with pytest.raises(KeyboardInterrupt):
        outputs.__exit__(None, None, None)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "a", "b": "b"}
