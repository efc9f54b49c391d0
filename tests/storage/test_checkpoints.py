"""A fit that was stopped goes on from its checkpoint to the result that it would have had; wrong files are refused."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from medoids import Clustering, KMedoids, TraceRecord, k_medoids
from medoids.algorithms import ALGORITHMS
from medoids.storage.checkpoints import Checkpoint
from medoids.storage.files import InUse
from medoids.storage.saved import Bounds

X = np.random.RandomState(5).rand(150, 3)


def stop_at(count: int) -> Callable[[TraceRecord], None]:
    """Press Ctrl-C after a number of steps."""
    steps: list[TraceRecord] = []

    def callback(step: TraceRecord) -> None:
        steps.append(step)
        if len(steps) == count:
            raise KeyboardInterrupt

    return callback


def assert_same(found: Clustering, expected: Clustering) -> None:
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.inertia == pytest.approx(expected.inertia, rel=1e-12)
    assert (found.algorithm, found.reason) == (expected.algorithm, expected.reason)
    assert (found.n_swaps, found.converged) == (expected.n_swaps, expected.converged)
    steps = [(step.phase, step.medoid_in, step.medoid_out) for step in found.trace]
    assert steps == [(step.phase, step.medoid_in, step.medoid_out) for step in expected.trace]
    assert [step.loss for step in found.trace] == pytest.approx([step.loss for step in expected.trace], rel=1e-12)
    for earlier, later in zip(found.trace, found.trace[1:], strict=False):
        assert earlier.seconds <= later.seconds
        assert earlier.n_evaluations <= later.n_evaluations


CASES: dict[str, dict[str, Any]] = {
    # "optimal" goes on from its best medoids and its bound, by other steps: see tests/algorithms/test_optimal.py.
    **{name: {"algorithm": name} for name in ALGORITHMS if name != "optimal"},
    "eager": {"algorithm": "pairedpam", "swap": "eager", "metric": "l1", "random_state": 0},
    "eager from rows": {"algorithm": "pairedpam", "swap": "eager", "init": list(range(7))},
    "from rows": {"algorithm": "fastpam1", "init": list(range(7))},
    "frozen": {"algorithm": "pairedpam", "frozen_medoids": [3, 4, 5]},
    "starts": {"algorithm": "banditpam", "init": "random", "n_init": 3},
    "starts of clarans": {"algorithm": "clarans", "init": "k-medoids++", "n_init": 2, "max_iter": 9},
    "lab": {"algorithm": "fastpam", "init": "lab", "n_init": 2},
    "weights": {"algorithm": "pairedpam", "sample_weight": np.arange(150) % 4},
}


# Of several that take the same way through the code, one is quick.
SLOW_CASES = ("banditpam", "banditpam+va", "banditpam+pic", "clarans", "pam", "starts", "starts of clarans")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] if case in SLOW_CASES else []) for case in CASES]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_stopped_after_any_step_goes_on_to_the_same_result(case: str, tmp_path: Path) -> None:
    keywords = {"random_state": 5, **CASES[case]}
    every: list[TraceRecord] = []
    expected = k_medoids(X, 7, callback=every.append, **keywords)
    assert len(every) >= 2
    for count in {*range(1, len(every) + 1, 1 + len(every) // 10), len(every)}:
        path = tmp_path / f"{count}.checkpoint"
        with pytest.raises(KeyboardInterrupt):
            k_medoids(X, 7, checkpoint=path, callback=stop_at(count), **keywords)
        assert_same(k_medoids(X, 7, checkpoint=path, resume=True, **keywords), expected)


def test_a_fit_that_is_stopped_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "fit.checkpoint"
    expected = k_medoids(X, 7, algorithm="banditpam++", random_state=3)
    stops = 0
    while stops < len(expected.trace):
        try:
            k_medoids(X, 7, algorithm="banditpam++", checkpoint=path, resume=True, callback=stop_at(1), random_state=3)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops == len(expected.trace)
    assert_same(k_medoids(X, 7, algorithm="banditpam++", checkpoint=path, resume=True, random_state=3), expected)


def test_resuming_an_ended_fit_gives_its_result_again(tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"checkpoint": tmp_path / "fit", "resume": True, "random_state": 0}
    assert_same(k_medoids(X, 4, **keywords), k_medoids(X, 4, random_state=0))
    before = (tmp_path / "fit").read_bytes()
    assert_same(k_medoids(X, 4, **keywords), k_medoids(X, 4, random_state=0))
    assert (tmp_path / "fit").read_bytes() == before


def test_without_a_seed_the_stored_random_numbers_go_on(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    for _ in range(3):  # permutations of three fits differ, those of one fit that goes on do not
        path.unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            k_medoids(X, 5, init="random", algorithm="fasterpam", checkpoint=path, callback=stop_at(1))
        first, *_ = json.loads(path.read_text())["state"]["trace"]
        found = k_medoids(X, 5, init="random", algorithm="fasterpam", checkpoint=path, resume=True)
        assert found.trace[0].loss == first["loss"]


def test_more_swaps_may_be_asked_for(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="max_iter=1"):
        k_medoids(X, 7, max_iter=1, checkpoint=tmp_path / "fit", random_state=0)
    found = k_medoids(X, 7, checkpoint=tmp_path / "fit", resume=True, random_state=0)
    assert_same(found, k_medoids(X, 7, random_state=0))


def test_the_estimator_goes_on(tmp_path: Path) -> None:
    model = KMedoids(6, checkpoint=tmp_path / "fit", resume=True, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=stop_at(4)).fit(X)
    assert not hasattr(model, "labels_")
    model.set_params(callback=None).fit(X)
    plain = KMedoids(6, random_state=0).fit(X)
    assert model.medoid_indices_.tolist() == plain.medoid_indices_.tolist()
    assert [step.phase for step in model.trace_] == [step.phase for step in plain.trace_]
    assert model.get_params()["checkpoint"] == tmp_path / "fit"


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 5, 7])
def test_eager_swaps_go_on_where_the_sample_is_not_all(count: int, tmp_path: Path) -> None:
    Y = np.random.RandomState(1).rand(3500, 120)  # so many columns that the start does not close in on all points
    keywords: dict[str, Any] = {"algorithm": "pairedpam", "swap": "eager", "random_state": 0}
    expected = k_medoids(Y, 8, **keywords)
    assert len(expected.trace) >= count
    with pytest.raises(KeyboardInterrupt):
        k_medoids(Y, 8, checkpoint=tmp_path / "fit", callback=stop_at(count), **keywords)
    assert_same(k_medoids(Y, 8, checkpoint=tmp_path / "fit", resume=True, **keywords), expected)


# A real process that is killed: no exception, no clean-up.
KILLED = """
import os, signal, sys
import numpy as np
from medoids import k_medoids
X = np.random.RandomState(0).rand(4000, 5)
steps = []
def kill(step):
    steps.append(step)
    if [s.phase for s in steps].count(sys.argv[2]) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
k_medoids(X, 6, algorithm="pairedpam", checkpoint=sys.argv[1], callback=kill, random_state=1)
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_in_build_and_in_swap(tmp_path: Path) -> None:
    Y = np.random.RandomState(0).rand(4000, 5)
    expected = k_medoids(Y, 6, algorithm="pairedpam", random_state=1)
    assert expected.n_swaps >= 2
    for phase, count in (("build", "3"), ("swap", "2")):
        path = tmp_path / phase
        done = subprocess.run([sys.executable, "-c", KILLED, str(path), phase, count], timeout=120)
        assert done.returncode == -signal.SIGKILL
        stored = json.loads(path.read_text())["state"]
        assert [step["phase"] for step in stored["trace"]].count(phase) == int(count)
        found = k_medoids(Y, 6, algorithm="pairedpam", checkpoint=path, resume=True, random_state=1)
        assert_same(found, expected)
        assert found.inertia == expected.inertia


# Killed while it writes: the file is that of one step or of the next, always whole.
WRITING = """
import sys
from pathlib import Path
import numpy as np
from medoids import TraceRecord
from medoids.storage.checkpoints import Checkpoint
from medoids.storage.saved import Bounds, Saved, state_of
file = Checkpoint(Path(sys.argv[1]), {"data": {}, "settings": {}}, Bounds(10**9, 20_000, ["pam"]), resume=True)
number, random = 0, state_of(np.random.RandomState(0))
while True:
    number += 1
    step = TraceRecord("build", number, None, 1.0, 1, 0.0, 1, 1)
    medoids = list(range(number, number + 20_000))
    file.save(Saved("pam", "best", "", medoids, [step], {}, 0.0, random, random, {"swaps": 0}))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_a_process_killed_while_it_writes_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    for pause in (3, 8, 13):
        with subprocess.Popen([sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            last = [int(process.stdout.readline()) for _ in range(pause)][-1]
            process.kill()
        with Checkpoint(path, {"data": {}, "settings": {}}, Bounds(10**9, 20_000, ["pam"]), resume=True) as file:
            saved = file.saved
        assert saved is not None
        assert saved.medoids[0] >= last
        assert saved.medoids == list(range(saved.medoids[0], saved.medoids[0] + 20_000))
        assert [each.name for each in tmp_path.iterdir()] == ["fit"], "the draft of the killed process is removed"


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """Return the checkpoint of a fit that was stopped after six steps."""
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 5, checkpoint=path, callback=stop_at(6), random_state=0, metric_params={})
    return path


def refuse(
    path: Path, match: str, kind: type[Exception] = ValueError, data: Any = X, k: int = 5, **keywords: Any
) -> None:
    """Check that a resumed fit is refused and that the file stays as it was."""
    before = path.read_bytes()
    settings: dict[str, Any] = {"resume": True, "random_state": 0, "metric_params": {}, **keywords}
    with pytest.raises(kind, match=match):
        k_medoids(data, k, checkpoint=path, **settings)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_other_data_are_refused(stopped: Path) -> None:
    other = X.copy()
    other[77, 1] += 1e-9
    refuse(
        stopped,
        "belongs to another fit: the content of X is not the same as in the file; resume with the original data",
        data=other,
    )
    refuse(stopped, r"the shape of X is \[149, 3\] here and \[150, 3\] in the file", data=X[1:])
    refuse(stopped, "the type of X is float32 here and float64", data=X.astype(np.float32))
    refuse(stopped, "sample_weight is not the same as in the file", sample_weight=np.arange(150) + 1)


def test_other_settings_are_refused(stopped: Path) -> None:
    refuse(stopped, "n_clusters is 6 here and 5 in the file", k=6)
    refuse(stopped, "metric is l1 here and euclidean in the file", metric="l1")
    refuse(stopped, "algorithm is pam here and auto in the file", algorithm="pam")
    refuse(stopped, "fit: random_state is not the same as in the file", random_state=1)
    refuse(stopped, "random_state is None here and something else in the file", random_state=None)
    refuse(stopped, "init is lab here and build in the file", init="lab")
    refuse(stopped, "init is something else here and build in the file", init=[1, 2, 3, 4, 5])
    refuse(stopped, r"frozen_medoids is \[3\] here and \[\] in the file", frozen_medoids=[3])
    refuse(stopped, "delta is 0.5 here and None in the file", delta=0.5)


def test_an_existing_file_is_refused_without_resume(stopped: Path) -> None:
    refuse(stopped, "already exists; pass resume=True to continue from it, or delete it", FileExistsError, resume=False)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".fit.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"^checkpoint='.*fit' cannot be locked: its lock, .*fit.lock, is not a regular"):
        k_medoids(X, 3, checkpoint=tmp_path / "fit")
    assert not (tmp_path / "elsewhere").exists()


def test_ctrl_c_while_the_lock_is_made_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medoids.storage.files._remove_stale_drafts", lambda target: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 3, checkpoint=tmp_path / "fit")
    assert list(tmp_path.iterdir()) == []


def test_a_cut_file_is_refused_at_any_length(stopped: Path) -> None:
    whole = stopped.read_bytes()
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 2):
        stopped.write_bytes(whole[:length])
        refuse(stopped, "is truncated, damaged, or not a checkpoint of medoids; the file was not changed: delete it")
    stopped.write_bytes(b"\x93NUMPY\xff\xfe")
    refuse(stopped, "not a checkpoint of medoids")
    stopped.write_text("[1, 2]")
    refuse(stopped, "not a checkpoint of medoids")


def test_a_changed_file_is_refused(stopped: Path) -> None:
    content = json.loads(stopped.read_text())
    content["state"]["medoids"][0] += 1
    stopped.write_text(json.dumps(content))
    refuse(stopped, "is damaged: its checksum does not match its content")


def forge(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the content of a checkpoint, and make its checksum that of the new content."""
    content = json.loads(path.read_text())
    change(content)
    body = {"about": content["about"], "state": content["state"]}
    content["checksum"] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content))


def setting(*names: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of one part of the state."""

    def change(content: dict[str, Any]) -> None:
        part = content["state"]
        for name in names[:-1]:
            part = part[name]
        part[names[-1]] = to

    return change


def dropping(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["state"].pop(name)


FORGED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "negative medoid": (setting("medoids", 0, to=-1), r"state.medoids\[0\] is -1; it must be a whole number from 0 to"),
    "medoid out of range": (setting("medoids", 4, to=150), r"state.medoids\[4\] is 150"),
    "huge medoid": (setting("medoids", 4, to=10**30), r"state.medoids\[4\] is 10+"),
    "medoid twice": (lambda c: setting("medoids", 0, to=c["state"]["medoids"][1])(c), "twice"),
    "medoid of text": (setting("medoids", 0, to="3"), r"state.medoids\[0\] is '3'"),
    "medoid of float": (setting("medoids", 0, to=3.0), r"state.medoids\[0\] is 3.0"),
    "medoid of bool": (setting("medoids", 0, to=True), r"state.medoids\[0\] is True"),
    "medoids not a list": (setting("medoids", to={"0": 1}), "state.medoids is"),
    "too many medoids": (setting("medoids", to=[1, 2, 3, 4, 5, 6]), "has 6 entries"),
    "no medoids": (setting("medoids", to=[]), "has 0 entries"),
    "too few for a swap": (setting("medoids", to=[1, 2]), "has 2 entries; after BUILD it must have 5"),
    "deep medoids": (setting("medoids", to=json.loads("[" * 400 + "]" * 400)), "state.medoids"),
    "unknown algorithm": (setting("algorithm", to="magic"), "state.algorithm is 'magic'; it must be one of"),
    "no algorithm": (dropping("algorithm"), "state has no algorithm"),
    "no trace": (dropping("trace"), "state has no trace"),
    "empty trace": (setting("trace", to=[]), "state.trace has 0 entries"),
    "trace of numbers": (setting("trace", to=[1]), r"state.trace\[0\] is 1"),
    "phase": (setting("trace", 0, "phase", to="<script>"), r"state.trace\[0\].phase"),
    "loss": (setting("trace", 0, "loss", to=float("nan")), r"state.trace\[0\].loss is nan"),
    "loss beyond any float": (setting("trace", 0, "loss", to=10**400), r"state.trace\[0\].loss is 10+"),
    "row of the trace": (setting("trace", 0, "medoid_in", to=-7), r"state.trace\[0\].medoid_in is -7"),
    "counts": (
        setting("counts", to={"build": {"requested": -1, "computed": 0, "cached": 0}}),
        "state.counts.build.req",
    ),
    "seconds": (setting("seconds", to="long"), "state.seconds is 'long'"),
    "endless": (
        setting("seconds", to=1e300),
        "state.seconds is 1e\\+300; it must be a finite number of at least 0 and of at most 4e",
    ),
    "swaps": (setting("position", "swaps", to=10**17), "state.position.swaps is 1.*, but state.trace has"),
    "half a character": (
        setting("reason", to="\ud800"),
        "state.reason is .*; it must be a string that UTF-8 can encode",
    ),
    "position": (setting("position", to={"swaps": -3}), "state.position.swaps is -3"),
    "position of another kind": (setting("position", to={"swaps": 0, "round": 5}), "state.position.round is 5"),
    "unknown position": (setting("position", to={"swaps": 0, "x": 5}), "state.position has an unknown 'x'"),
    "start": (setting("start", to=7), "state.start is 7"),
    "best": (
        setting("best", to={"medoids": [0, 1, 2, 3, 4], "n_swaps": 0, "converged": True, "trace": []}),
        "state.best",
    ),
    "generator": (setting("random", "bit_generator", to="seed"), "state.random.bit_generator is 'seed'"),
    "beyond the key": (setting("random", "state", "pos", to=10**6), "state.random.state.pos is 1000000"),
    "short key": (setting("origin", "state", "key", to=[1, 2]), "state.origin.state.key has 2 entries"),
    "empty key": (setting("origin", "state", "key", to=[0] * 624), "state.origin.state.key is all 0"),
    "state of text": (lambda c: c.update(state="x"), "state is 'x'"),
    "about of text": (lambda c: c.update(about=["x"]), "about is"),
    "data of text": (lambda c: c["about"].update(data="x"), "about.data is 'x'"),
    "unknown part": (setting("more", to=1), "state has an unknown 'more'"),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_state_with_a_valid_checksum_is_refused(case: str, stopped: Path) -> None:
    change, words = FORGED[case]
    forge(stopped, change)
    refuse(stopped, words)


def test_a_forged_medoid_of_weight_0_or_without_the_frozen_is_refused(tmp_path: Path) -> None:
    path, weights = tmp_path / "fit", np.ones(150)
    weights[7] = 0
    keywords: dict[str, Any] = {"sample_weight": weights, "frozen_medoids": [3], "random_state": 0, "checkpoint": path}
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 5, callback=stop_at(3), **keywords)
    whole = path.read_text()
    forge(path, setting("medoids", 1, to=7))
    with pytest.raises(ValueError, match="row 7 as a medoid, but it is no candidate"):
        k_medoids(X, 5, resume=True, **keywords)
    path.write_text(whole)
    forge(path, setting("medoids", 0, to=4))
    with pytest.raises(ValueError, match=r"lacks frozen rows, which are \[3\]"):
        k_medoids(X, 5, resume=True, **keywords)


def test_a_forged_medoid_with_missing_values_is_refused(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": np.arange(40.0) ** 2, "b": np.arange(40) % 7})
    table.loc[11, "b"] = np.nan
    path = tmp_path / "fit"
    keywords: dict[str, Any] = {"metric": "gower", "random_state": 0, "checkpoint": path}
    with pytest.raises(KeyboardInterrupt):
        k_medoids(table, 4, callback=stop_at(3), **keywords)
    forge(path, setting("medoids", 1, to=11))
    with pytest.raises(ValueError, match="row 11 as a medoid, but it is no candidate"):
        k_medoids(table, 4, resume=True, **keywords)


def test_json_nested_too_deeply_is_refused(stopped: Path) -> None:
    stopped.write_text("[" * 100_000)
    refuse(stopped, "not a checkpoint of medoids")
    stopped.write_text('{"format": "medoids checkpoint", "version": 1, "state": ' + "[" * 900 + "]" * 900 + "}")
    refuse(stopped, "is damaged|not a checkpoint")


def test_a_checkpoint_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 5, checkpoint=path, callback=stop_at(2), random_state=0)
    path.chmod(0o600)
    k_medoids(X, 5, checkpoint=path, resume=True, random_state=0)
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_fits_with_one_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    refusals: list[str] = []

    def start_another(step: TraceRecord) -> None:
        with pytest.raises(InUse) as refused:
            k_medoids(X, 5, checkpoint=path, resume=True, random_state=0)
        refusals.append(str(refused.value))

    found = k_medoids(X, 5, checkpoint=path, callback=start_another, random_state=0)
    assert_same(found, k_medoids(X, 5, random_state=0))
    assert len(refusals) == len(found.trace)
    words = f"fit' is being written by another fit or command (process {os.getpid()}); wait for it to end"
    assert all(words in refusal for refusal in refusals)
    assert [each.name for each in tmp_path.iterdir()] == ["fit"]


def test_another_version_is_refused(stopped: Path) -> None:
    content = json.loads(stopped.read_text())
    content["version"] = 99
    stopped.write_text(json.dumps(content))
    refuse(
        stopped, "has version 99 of the format, but this release of medoids reads version 1; resume with the release"
    )


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="resume=True needs checkpoint=PATH"):
        k_medoids(X, 5, resume=True)
    with pytest.raises(TypeError, match="checkpoint=3 must be the path of a file"):
        k_medoids(X, 5, checkpoint=3)
    with pytest.raises(TypeError, match="resume='fit' must be True or False"):
        k_medoids(X, 5, resume="fit")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="checkpoint is for one number of clusters, and n_clusters='auto' fits several"
    ):
        k_medoids(X, "auto", checkpoint=tmp_path / "fit")
    with pytest.raises(OSError, match=r"cannot be written: .*nowhere is not a writable folder"):
        k_medoids(X, 5, checkpoint=tmp_path / "nowhere" / "fit")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        k_medoids(X, 5, checkpoint=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_command_goes_on_after_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C as a terminal sends it, as soon as there is a checkpoint; then ``--resume``."""
    Y = np.random.RandomState(0).rand(400, 5)
    np.save(tmp_path / "points.npy", Y)
    command = [
        str(Path(sys.executable).parent / "medoids"),
        "cluster",
        "points.npy",
        "-k",
        "6",
        "--algorithm",
        "clarans",
    ]
    command += ["--checkpoint", "fit.checkpoint", "--quiet", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "fit.checkpoint").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "continue with --checkpoint fit.checkpoint --resume" in messages
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = k_medoids(Y, 6, algorithm="clarans", random_state=0)
    assert [entry["row"] for entry in json.loads(done.stdout)["medoids"]] == expected.medoid_indices.tolist()
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert refused.returncode == 1
    assert "--checkpoint fit.checkpoint exists already; add --resume to continue" in refused.stderr
    alone = subprocess.run([*command[:-4], "--resume"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert alone.returncode == 2
    assert "--resume needs --checkpoint PATH" in alone.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "metric"),
    [(["ape", "apes", "zebra", "cobra", "tape", "tapes"], "levenshtein"), ([{1}, {1, 2}, {3}, {3, 4}], "jaccard")],
)
def test_fingerprints_of_objects_are_the_same_in_every_process(words: Any, metric: str) -> None:
    code = textwrap.dedent(
        f"""
        import numpy as np
        from medoids.storage.fingerprints import of_data
        print(of_data({words!r}, np.ones({len(words)}))["rows"])
        """
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
