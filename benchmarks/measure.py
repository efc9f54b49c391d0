"""How a thing is measured: in turns with its peers, and its memory in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["fresh", "in_turns", "machine", "peak_memory", "seconds_of"]


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    began = perf_counter()
    result = work()
    return perf_counter() - began, result


def in_turns(
    works: dict[Any, Callable[[], Any]], repetitions: int, memory: int = 1 << 31
) -> dict[Any, tuple[float, Any]]:
    """Run each work in turn, in the other direction every second time; median seconds and the last result of each.

    Before each, so many bytes of memory are used and given back.
    """
    times: dict[Any, list[float]] = {name: [] for name in works}
    results: dict[Any, Any] = {}
    for turn in range(repetitions):
        for name in list(works) if turn % 2 == 0 else list(works)[::-1]:
            _use(memory)
            seconds, results[name] = seconds_of(works[name])
            times[name].append(seconds)
    return {name: (median(times[name]), results[name]) for name in works}


def _use(memory: int) -> None:
    """Write to so much memory.

    A virtual machine gives memory that is free for some seconds back to its host, and to get it anew takes seconds a
    GiB here: more than most fits, and more or less of it by who ran before.
    """
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda part: part.fill(0), np.array_split(np.empty(memory, dtype=np.uint8), 16)))


_PEAK = """
import json, sys, time
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key)) * 1024
{before}
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
start = status("VmRSS")
began = time.perf_counter()
{work}
seconds = time.perf_counter() - began
print(json.dumps([status("VmHWM") - start, seconds, {answer}]))
"""


def fresh(before: str, work: str, answer: str = "None") -> tuple[int, float, Any]:
    """Run ``work`` in a new process after ``before``: bytes that it adds (Linux), its seconds, and an answer."""
    script = _PEAK.format(before=before, work=work, answer=answer)
    output = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    memory, seconds, value = json.loads(output)
    return memory, seconds, value


def peak_memory(before: str, work: str) -> int:
    """Bytes by which ``work`` raises the memory of a new process above what it had after ``before`` (Linux)."""
    return fresh(before, work)[0]


def machine() -> str:
    import sklearn

    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )
