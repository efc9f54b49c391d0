"""Every chunk is worked on once, by whichever thread; an error ends the rest and is raised."""

from __future__ import annotations

import threading
from collections import Counter
from time import sleep

import pytest

from medoids.engine.threads import Threads


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("chunks", [0, 1, 3, 200])
def test_every_chunk_is_worked_on_once(n_jobs: int, chunks: int) -> None:
    done: Counter[int] = Counter()
    lock = threading.Lock()

    def work(chunk: int) -> None:
        with lock:
            done[chunk] += 1

    with Threads(n_jobs) as threads:
        threads.map(work, range(chunks))
        threads.map(work, range(chunks))
    assert done == dict.fromkeys(range(chunks), 2)


def test_two_threads_work_at_a_time() -> None:
    meeting = threading.Barrier(2, timeout=30)
    with Threads(2) as threads:
        threads.map(lambda _: meeting.wait(), range(6))  # breaks if one thread does it alone
    assert not meeting.broken


@pytest.mark.parametrize("caller", [True, False])
def test_an_error_in_either_thread_ends_the_rest(caller: bool) -> None:
    here, started = threading.current_thread(), []
    meeting = threading.Barrier(2, timeout=30)

    def work(chunk: int) -> None:
        started.append(chunk)
        if chunk < 2:
            meeting.wait()  # both threads have a chunk
            if (threading.current_thread() is here) == caller:
                raise IndexError(f"chunk {chunk}")
        sleep(0.001)  # the other thread gets its turn

    with Threads(2) as threads:
        with pytest.raises(IndexError, match=r"chunk [01]"):
            threads.map(work, range(10_000))
        assert len(started) < 10_000
        rest: list[int] = []
        threads.map(rest.append, range(5))  # and the pool is as good as new
        assert sorted(rest) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
def test_n_jobs_that_mean_nothing(n_jobs: object) -> None:
    with pytest.raises(ValueError, match=r"n_jobs=.* must be a positive integer, -1 for all cores, or None"):
        Threads(n_jobs)  # type: ignore[arg-type]
