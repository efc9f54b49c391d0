"""How a thing is measured: in turns with its peers, and its memory in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

__all__ = ["fresh", "in_turns", "machine", "peak_memory", "seconds_of"]


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    began = perf_counter()
    result = work()
    return perf_counter() - began, result


def in_turns(works: dict[str, Callable[[], Any]], repetitions: int) -> dict[str, tuple[float, Any]]:
    """Run each work in turn, in the other direction every second time; median seconds and the last result of each."""
    times: dict[str, list[float]] = {name: [] for name in works}
    results: dict[str, Any] = {}
    for turn in range(repetitions):
        for name in list(works) if turn % 2 == 0 else list(works)[::-1]:
            seconds, results[name] = seconds_of(works[name])
            times[name].append(seconds)
    return {name: (median(times[name]), results[name]) for name in works}


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
    import numpy
    import sklearn

    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )
