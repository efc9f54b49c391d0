"""Ctrl-C ends the work, though the exception was swallowed where it was raised."""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from medoids import TraceRecord, k_medoids
from medoids.engine import interrupts
from medoids.engine.threads import Threads


def press() -> None:
    """Ctrl-C, at a place where Python prints the exception and forgets it."""

    class Gone:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    Gone()  # no reference is left


@pytest.fixture(autouse=True)
def as_python_has_it() -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_swallowed_interrupt_is_raised_between_chunks(n_jobs: int) -> None:
    done: list[int] = []
    pressed = threading.Event()

    def work(chunk: int) -> None:
        if threading.current_thread() is threading.main_thread() and not pressed.is_set():
            pressed.set()
            press()
        pressed.wait(30)
        done.append(chunk)

    with Threads(n_jobs) as threads:
        with pytest.raises(KeyboardInterrupt):
            threads.map(work, range(100_000))
        assert 0 < len(done) < 100_000  # the chunk that swallowed it, and not all of the others
        rest: list[int] = []
        threads.map(rest.append, range(5))  # once is enough
        assert sorted(rest) == list(range(5))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_time_limit_is_raised_between_chunks(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = itertools.count()  # a second for each look at the clock
    monkeypatch.setattr(interrupts, "clock", lambda: next(now))
    done: list[int] = []
    with Threads(n_jobs) as threads:
        threads.interrupts.limit(60, lambda: 10.0)
        with pytest.raises(interrupts.TimeUp):
            threads.map(done.append, range(100_000))
        assert len(done) == 50
        with pytest.raises(interrupts.TimeUp):
            threads.interrupts.check()  # it stays so
        threads.interrupts.forget()
        threads.map(done.append, range(5))
        assert len(done) == 55
        threads.interrupts.limit(0, float)
    threads.interrupts.check()  # the fit is over


def test_a_handler_of_the_callers_is_left_alone() -> None:
    heard: list[int] = []

    def mine(number: int, frame: FrameType | None) -> None:
        heard.append(number)

    signal.signal(signal.SIGINT, mine)
    with Threads(1) as threads:
        threads.map(lambda _: signal.raise_signal(signal.SIGINT), range(2))
        assert signal.getsignal(signal.SIGINT) is mine
    assert heard == [signal.SIGINT] * 2


def test_a_handler_that_is_set_meanwhile_stays() -> None:
    with Threads(1) as threads:
        threads.map(lambda _: signal.signal(signal.SIGINT, signal.SIG_IGN), range(1))
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_metric_that_catches_everything_does_not_stop_ctrl_c() -> None:
    calls = 0

    def distance(a: Any, b: Any) -> float:
        nonlocal calls
        calls += 1
        if calls == 20_000:
            with contextlib.suppress(BaseException):
                signal.raise_signal(signal.SIGINT)
        return float(abs(a - b).sum())

    rows = np.random.default_rng(0).normal(size=(1000, 2))
    with pytest.raises(KeyboardInterrupt):
        k_medoids(rows, 5, metric=distance)
    assert calls < 1000 * 999 / 2


def pressed_in_compiled_code(*, with_cause: bool) -> None:
    """Ctrl-C where compiled code has no way to hand the exception on."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as pressed:
        interrupt = pressed
    raise SystemError("returned a result with an exception set") from (interrupt if with_cause else None)


@pytest.mark.parametrize("with_cause", [True, False])
def test_a_system_error_of_an_interrupt_is_an_interrupt(with_cause: bool, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(300, 2))
    steps: list[TraceRecord] = []

    def press_in_swap(record: TraceRecord) -> None:
        steps.append(record)
        if record.phase == "swap":
            pressed_in_compiled_code(with_cause=with_cause)

    keywords: dict[str, Any] = {"init": [0, 1, 2, 3, 4], "n_jobs": 1, "random_state": 0}
    found = k_medoids(rows, 5, callback=press_in_swap, on_interrupt="return", **keywords)
    assert (found.n_swaps, found.converged) == (1, False)
    path = tmp_path / "fit"
    with pytest.raises(KeyboardInterrupt):
        k_medoids(rows, 5, callback=press_in_swap, checkpoint=path, **keywords)
    resumed = k_medoids(rows, 5, checkpoint=path, resume=True, **keywords)
    expected = k_medoids(rows, 5, **keywords)
    assert resumed.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert resumed.n_swaps == expected.n_swaps


def test_an_interrupt_that_a_handler_of_the_callers_raises_is_known_by_its_cause() -> None:
    def mine(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, mine)
    with pytest.raises(KeyboardInterrupt), Threads(1):
        pressed_in_compiled_code(with_cause=True)


def test_another_system_error_stays_one() -> None:
    with pytest.raises(SystemError, match="unknown opcode"), Threads(1):
        raise SystemError("unknown opcode")

    def fail(record: TraceRecord) -> None:
        raise SystemError("unknown opcode")

    with pytest.raises(SystemError, match="unknown opcode"):
        k_medoids(np.eye(6), 2, callback=fail, on_interrupt="return")


def test_an_interrupt_that_arrived_does_not_come_back() -> None:
    def stop(record: TraceRecord) -> None:
        if record.phase == "swap":
            signal.raise_signal(signal.SIGINT)

    rows = np.random.default_rng(0).normal(size=(300, 2))
    found = k_medoids(rows, 5, init=[0, 1, 2, 3, 4], callback=stop, on_interrupt="return", n_jobs=1)
    assert (found.n_swaps, found.converged) == (1, False)
