"""Slow functions: in other processes or threads, each pair once, with news, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from everything import ANY_METRIC
from medoids import KMedoids, k_medoids
from medoids.distances import Calls, Tally

WORDS = [f"{'a' * (i % 5)}{'b' * (i % 7)}{'c' * (i % 3)}" for i in range(24)]
LINUX = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are counted in /proc")


def unlike(a: str, b: str) -> int:
    return sum(abs(a.count(letter) - b.count(letter)) for letter in "abc")


# This module has no name under which another process could import it: the function itself is sent.
unlike.__module__ = "__main__"


def workers() -> list[str]:
    """Commands of joblib's child processes; its tracker of resources, one for each program, does not count."""
    children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()
    commands = []
    for child in children:
        try:
            commands.append(Path(f"/proc/{child}/cmdline").read_text())
        except OSError:
            continue  # it has ended
    return [command for command in commands if "loky" in command and "tracker" not in command]


@pytest.mark.slow
@LINUX
def test_processes_give_the_same_and_end_with_the_fit(tmp_path: Path) -> None:
    def noted(a: str, b: str) -> int:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.005)
        return unlike(a, b)

    found, expected = k_medoids(WORDS, 3, metric=noted, n_jobs=2), k_medoids(WORDS, 3, metric=unlike)
    callers = {int(path.name) for path in tmp_path.iterdir()}
    assert len(callers - {os.getpid()}) == 2
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert (found.inertia, found.n_evaluations) == (expected.inertia, expected.n_evaluations)
    assert not workers()


def test_threads_within_joblibs_threading_backend() -> None:
    names = set()

    def note(a: str, b: str) -> int:
        names.add(threading.current_thread().name)
        time.sleep(0.005)
        return unlike(a, b)

    with joblib.parallel_config(backend="threading"):
        found = k_medoids(WORDS, 3, metric=note, n_jobs=2)
    assert len(names) == 3  # two, and this one
    assert found.inertia == k_medoids(WORDS, 3, metric=unlike).inertia


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_calls_stay_here_unless_several_are_asked_for(n_jobs: int | None) -> None:
    seen = []
    k_medoids(WORDS[:6], 2, metric=lambda a, b: seen.append(time.sleep(0.02)) or unlike(a, b), n_jobs=n_jobs)
    assert len(seen) == 36


def test_quick_calls_stay_here() -> None:
    seen: list[int] = []
    k_medoids(WORDS, 2, metric=lambda a, b: seen.append(1) or unlike(a, b), n_jobs=2)
    assert len(seen) == len(WORDS) ** 2


@LINUX
def test_an_error_in_a_process_names_the_two_rows() -> None:
    class Odd(Exception):
        """One that does not survive pickling."""

        def __init__(self, a: str, b: str) -> None:
            super().__init__("odd pair")

    def picky(a: str, b: str) -> int:
        time.sleep(0.005)
        if (a, b) == (WORDS[2], WORDS[7]):
            raise Odd(a, b)
        return unlike(a, b)

    with pytest.raises(Odd, match="odd pair") as caught:
        k_medoids(WORDS, 3, metric=picky, n_jobs=2)
    assert caught.value.__notes__ == ["The metric was called with row 2 and row 7 of X."]
    assert not workers()


def test_a_wrong_value_from_a_process_names_the_two_rows() -> None:
    def holey(a: str, b: str) -> Any:
        time.sleep(0.005)
        return None if (a, b) == (WORDS[2], WORDS[7]) else unlike(a, b)

    with pytest.raises(TypeError, match=r"metric returned None for row 2 and row 7 of X"):
        k_medoids(WORDS, 3, metric=holey, n_jobs=2)


@LINUX
def test_an_error_only_in_another_process_is_reported() -> None:
    here = os.getpid()

    def local(a: str, b: str) -> int:
        time.sleep(0.005)
        if os.getpid() != here:
            raise LookupError("not in this process")
        return unlike(a, b)

    with pytest.raises(
        RuntimeError, match=r"failed in another process for row \d+ and row \d+ of X.*n_jobs=1"
    ) as caught:
        k_medoids(WORDS, 3, metric=local, n_jobs=2)
    assert "LookupError: not in this process" in str(caught.value)
    assert not workers()


@LINUX
def test_a_process_that_dies() -> None:
    here = os.getpid()

    def deadly(a: str, b: str) -> int:
        time.sleep(0.005)
        if os.getpid() != here:
            os._exit(1)
        return unlike(a, b)

    with pytest.raises(Exception) as caught:
        k_medoids(WORDS, 3, metric=deadly, n_jobs=2)
    assert any("n_jobs=1 keeps its calls in this one" in note for note in caught.value.__notes__)
    assert not workers()


def test_predict_in_processes() -> None:
    here = os.getpid()

    def elsewhere(a: str, b: str) -> float:
        time.sleep(0.005)
        return unlike(a, b) + (0 if os.getpid() == here else 0.25)

    model = KMedoids(2, metric=elsewhere, n_jobs=2).fit(WORDS[:3])
    apart = model.transform(WORDS) - [[unlike(a, b) for a in model.cluster_centers_] for b in WORDS]
    assert set(apart.ravel()) == {0, 0.25}


@pytest.mark.parametrize("algorithm", ["auto", *sorted(ANY_METRIC)])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("init", ["build", "random"])
def test_no_pair_is_evaluated_twice(algorithm: str, symmetric: bool, init: str) -> None:
    seen: Counter[tuple[int, int]] = Counter()

    def count(a: int, b: int) -> int:
        seen[(a, b)] += 1
        return abs(a - b) ** 2

    numbers = np.random.default_rng(0).permutation(60).tolist()
    found = k_medoids(
        numbers, 4, metric=count, metric_params={"symmetric": symmetric}, algorithm=algorithm, init=init, random_state=0
    )
    assert max(seen.values()) == 1
    assert found.n_evaluations == seen.total()


def test_what_was_remembered_is_forgotten_after_the_fit() -> None:
    model = KMedoids(2, metric=unlike).fit(WORDS)
    assert model._medoids._calls.pairs is None
    assert k_medoids(WORDS, 2, metric=unlike, memory_limit=100).n_evaluations > 0  # no room for it: computed again


# --- news and Ctrl-C -----------------------------------------------------------------------------------------------


def test_calls_are_counted_while_a_block_is_under_way() -> None:
    tally, seen = Tally(), []
    calls = Calls(None, 0, tally, lambda: seen.append(tally.calls))
    numbers = np.arange(4)
    calls.block(lambda a, b: abs(a - b), numbers, numbers, numbers, numbers[:2], lambda r, c: "")
    assert seen == [1, 2, 3, 4, 5, 6, 7, 8]


SCRIPT = """
import signal, time
from medoids import k_medoids

signal.signal(signal.SIGINT, signal.default_int_handler)

def metric(a, b):
    time.sleep(0.01)
    return abs(a - b)

print("ready", flush=True)
k_medoids(list(range(200)), 3, metric=metric, n_jobs=2)
"""


@pytest.mark.slow
@LINUX
def test_ctrl_c_ends_the_processes() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(2.5)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    finally:
        process.kill()
        process.communicate()
    assert "\nKeyboardInterrupt\n" in err
    deadline = time.perf_counter() + 5
    while (
        alive := [child for child in children if Path(f"/proc/{child}/cmdline").exists()]
    ) and time.perf_counter() < deadline:
        time.sleep(0.05)
    assert not alive
