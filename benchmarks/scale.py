"""``python -m benchmarks.scale``: what a fit on a cluster costs, and what 1,000 workers would say to each other.

A fit over shards in this process is recorded, message by message, with its sizes and times. The cost model takes its
constants from it; the simulation plays the same messages to more workers, over a network and with stragglers.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.datasets import covertype
from benchmarks.measure import machine
from medoids.cluster.messages import Task, size_of
from medoids.cluster.pool import Pool
from medoids.cluster.sharded import solve
from medoids.cluster.survey import survey
from medoids.cluster.worker import Worker
from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.engine.threads import Threads

# Of the fit that is recorded.
_ROWS, _K = 30_000, 10
# Answers of which each worker gives its share; of the others each gives a whole one.
_SHARED = {"give", "coordinates", "lay_out", "states_of", "to_references", "rows_left"}
# Seconds of a trip, bytes a second of the driver's network, spread of the workers' times (log-normal).
_TRIP, _NETWORK, _SPREAD = 1.5e-3, 1.0e9, 0.25


@dataclass
class Message:
    """One trip: bytes to each shard, bytes from all and from one shard, and seconds of the slowest."""

    name: str
    down: int
    up: int
    each: int
    seconds: float


class Recorded(Pool):
    """Workers in this process, one after the other, and what was said."""

    def __init__(self, workers: list[Worker]) -> None:
        super().__init__()
        self._workers = workers
        self.messages: list[Message] = []

    def _send(self, name: str, message: tuple[Any, ...], options: dict[str, Any]) -> list[tuple[Any, int]]:
        answers, seconds = [], 0.0
        for worker in self._workers:
            began = perf_counter()
            answers.append(worker.ask(name, *message, **options))
            seconds = max(seconds, perf_counter() - began)
        sizes = [size_of(answer) for answer, _ in answers]
        self.messages.append(Message(name, size_of(message), sum(sizes), max(sizes), seconds))
        return answers

    def _remake(self) -> None:
        """Do nothing: no worker is lost."""

    def close(self) -> None:
        for worker in reversed(self._workers):
            worker.close()


@dataclass
class Record:
    """A recorded fit: its rows, columns, shards, messages, distances and seconds of work."""

    n: int
    p: int
    shards: int
    messages: list[Message]
    distances: int
    seconds: float


def record(X: np.ndarray, k: int, shards: int = 2) -> Record:
    """Fit, one thread a shard, and write down what is said."""
    task = Task("manhattan", None, k, (), 1 << 31, 1)
    parts = np.array_split(X, shards)
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    pool = Recorded([Worker(task, [part], [i], [starts[i]]) for i, part in enumerate(parts)])
    surveyed = survey(pool, task)
    with Threads(1) as threads:
        problem = Problem(surveyed.distance, surveyed.weights, k, "build", 300, 1 << 31, swap="best")
        solve(problem, Run(problem, threads, np.random.RandomState(0), pool.tally), pool, surveyed)
    pool.close()
    busy = shards * sum(message.seconds for message in pool.messages)
    return Record(len(X), X.shape[1], shards, pool.messages, pool.tally.computed, busy)


def memory(n: int, workers: int, p: int, k: int) -> float:
    """Bytes of a worker: rows and working copy, a row's state and moments, level 0, and the permutation."""
    row = 2 * 4 * p + 8 * (9 + k) + 8 * (2 + 2 * k) + 4 * 512
    return n / workers * row + 2 * 8 * n


def cost_model(found: Record) -> list[str]:
    """Return a line for each number of rows and workers."""
    each = found.seconds / found.distances
    rounds, down = len(found.messages), sum(message.down for message in found.messages)
    lines = [
        "| rows | workers of 8 cores | distances | bytes a trip, down to each | memory a worker | hours |",
        "|---|---|---|---|---|---|",
    ]
    for n, workers in ((10**6, 1), (10**6, 4), (10**8, 16), (10**8, 100), (10**10, 1000)):
        distances = found.distances / found.n * n
        hours = (distances * each / (8 * workers) + rounds * _TRIP + workers * down / _NETWORK) / 3600
        lines.append(
            f"| 10^{round(np.log10(n))} | {workers:,} | {distances:.1e} | {down / rounds / 1e3:,.0f} kB | "
            f"{memory(n, workers, found.p, _K) / 1e9:,.1f} GB | {hours:,.2g} |"
        )
    return lines


def simulate(found: Record, n: int, workers: int, spread: float, random: np.random.RandomState) -> tuple[float, float]:
    """Return the seconds of all trips, and the share of them in which the driver's network is busy."""
    total = network = 0.0
    scale = (n / workers) / (found.n / found.shards)
    for message in found.messages:
        up = message.up if message.name in _SHARED else workers * message.each
        sent = (workers * message.down + up) / _NETWORK
        slowest = float(random.lognormal(0.0, spread, workers).max()) if spread else 1.0
        network += sent
        total += _TRIP + sent + message.seconds * scale * slowest
    return total, network / total


def main() -> None:
    X = covertype()
    found = record(X[np.random.RandomState(0).permutation(len(X))[:_ROWS]], _K)
    print(f"covertype {_ROWS:,} x {found.p}, L1, k = {_K}, over {found.shards} shards:")
    print(
        f"{found.distances / found.n:,.0f} distances a row, {found.seconds / found.distances * 1e9:.0f} ns each with "
        f"their statistics, {len(found.messages)} trips, {sum(m.down for m in found.messages) / 1e6:.1f} MB down to "
        f"each shard, {sum(m.up for m in found.messages) / 1e6:.1f} MB up from all"
    )
    for name in sorted({message.name for message in found.messages}):
        some = [message for message in found.messages if message.name == name]
        print(
            f"  {name:12} {len(some):4} trips, {np.mean([m.down for m in some]) / 1e3:8.1f} kB down, "
            f"{np.mean([m.each for m in some]) / 1e3:8.1f} kB up of one, at most {max(m.each for m in some) / 1e3:.1f}"
        )
    print("\n".join(["", *cost_model(found), ""]))
    print("| 10^8 rows | equal workers, s | with stragglers, s | network's share |\n|---|---|---|---|")
    random = np.random.RandomState(0)
    for workers in (10, 100, 1000):
        even, _ = simulate(found, 10**8, workers, 0.0, random)
        uneven, share = simulate(found, 10**8, workers, _SPREAD, random)
        print(f"| {workers:,} workers | {even:,.0f} | {uneven:,.0f} | {share:.0%} |")
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
