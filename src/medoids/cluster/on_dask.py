"""Shards as actors on the workers of a Dask cluster.

Actors rather than futures: a message to an actor goes to the worker that holds it, without a task of its own in the
scheduler (docs/scale.md has the times of both). Dask does not bring an actor back when its worker dies; `recover` does,
from the partitions, which are futures that Dask computes again.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from dataclasses import replace
from time import monotonic, sleep
from typing import Any

import numpy as np
from dask.delayed import Delayed
from distributed import Client, Future, wait

from medoids.cluster.messages import Task
from medoids.cluster.pool import Pool
from medoids.cluster.worker import Worker
from medoids.distances import count_rows
from medoids.paired.search import ShardLost

__all__ = ["OnDask", "Partitions"]

# Seconds between two looks whether a worker that does not answer is still there, and to wait for one to come back.
_LOOK, _RETURN = 1.0, 20.0
# Of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# A worker may have this multiple of its share of the rows before partitions are moved.
_UNEVEN = 1.2


class Partitions:
    """The partitions of X, held by the cluster.

    Parameters
    ----------
    client : distributed.Client
    delayed : list of Delayed
    weights : list of Delayed, optional

    Attributes
    ----------
    futures : list of Future
    sizes, starts : list of int
    """

    def __init__(self, client: Client, delayed: list[Delayed], weights: list[Delayed] | None) -> None:
        self.client = client
        if weights is not None and len(weights) != len(delayed):
            raise ValueError(
                f"sample_weight has {len(weights)} partitions, but X has {len(delayed)}; rechunk it as X is"
            )
        self.futures: list[Future] = client.compute(delayed)
        self.weights: list[Future] | None = None if weights is None else client.compute(weights)
        _readable(client, self.futures, "X")
        if self.weights is not None:
            _readable(client, self.weights, "sample_weight")
        self.sizes: list[int] = client.gather(client.map(count_rows, self.futures, pure=False))
        self.starts: list[int] = np.concatenate([[0], np.cumsum(self.sizes)])[:-1].astype(int).tolist()

    def share(self) -> dict[str, list[int]]:
        """Return which partitions each worker takes: those that it has, unless that is far more than its share."""
        client = self.client
        holders = client.who_has(self.futures)
        load = dict.fromkeys(client.nthreads(), 0)
        if not load:
            raise RuntimeError("the cluster has no workers; add some, as with cluster.scale(2)")
        most = _UNEVEN * sum(self.sizes) / len(load)
        shares: dict[str, list[int]] = {address: [] for address in load}
        for number in sorted(range(len(self.sizes)), key=lambda number: (-self.sizes[number], number)):
            here = [a for a in holders.get(self.futures[number].key, ()) if a in load]
            home = min(here, key=lambda a: load[a], default=None)
            if home is None or load[home] + self.sizes[number] > most:
                home = min(load, key=lambda a: load[a])
            shares[home].append(number)
            load[home] += self.sizes[number]
        return {address: sorted(numbers) for address, numbers in shares.items() if numbers}

    def lost(self, numbers: list[int], error: BaseException) -> RuntimeError:
        """Return the error that says which partitions could not be had."""
        return RuntimeError(f"partitions {numbers} of X were lost and cannot be computed again: {error!r}")


def _readable(client: Client, futures: list[Future], name: str) -> None:
    """Wait for partitions; say which could not be read."""
    wait(futures)
    for number, future in enumerate(futures):
        if future.status != "finished":
            error = future.exception()
            raise RuntimeError(f"partition {number} of {name} could not be read: {error!r}") from error


class Actor(Worker):
    """A worker in a process of Dask's, which keeps the memory of arrays that come and go.

    Dask's nannies set ``MALLOC_TRIM_THRESHOLD_=65536``: every large array is then given back to the system at once, and
    the next one is new pages, which are cleared first. On covertype that took a third of a worker's processor time.
    """

    def __init__(self, *arguments: Any) -> None:
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
        if mallopt is not None:
            mallopt(_TRIM_THRESHOLD, 1 << 28)
            mallopt(_MMAP_THRESHOLD, 1 << 25)
        super().__init__(*arguments)


class OnDask(Pool):
    """Shards on a cluster.

    Parameters
    ----------
    partitions : Partitions
    task : Task
    """

    def __init__(self, partitions: Partitions, task: Task) -> None:
        super().__init__()
        self._partitions, self._client, self._task = partitions, partitions.client, task
        shares = partitions.share()
        self.numbers = list(shares.values())
        self._addresses = list(shares)
        self._futures: list[Future | None] = [self._make(i) for i in range(len(shares))]
        self._actors: list[Any] = [self._arrived(i) for i in range(len(shares))]

    def _make(self, i: int) -> Future:
        """Let a worker make a shard."""
        parts, address, numbers = self._partitions, self._addresses[i], self.numbers[i]
        task = replace(self._task, n_jobs=self._client.nthreads().get(address, 1))
        weights = None if parts.weights is None else [parts.weights[number] for number in numbers]
        return self._client.submit(
            Actor,
            task,
            [parts.futures[number] for number in numbers],
            numbers,
            [parts.starts[number] for number in numbers],
            weights,
            workers=[address],
            actor=True,
            pure=False,
        )

    def _arrived(self, i: int) -> Any:
        """Wait for a shard."""
        future = self._futures[i]
        assert future is not None
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                self._check(i)
            except OSError as error:
                raise ShardLost(f"the worker at {self._addresses[i]} is gone") from error
            except (TypeError, ValueError):
                raise  # what the shard itself says of its data
            except Exception as error:
                raise self._partitions.lost(self.numbers[i], error) from error

    def _check(self, i: int) -> None:
        if self._addresses[i] not in self._workers():
            raise ShardLost(f"the worker at {self._addresses[i]} is gone")

    def _workers(self) -> dict[str, int]:
        """Return the workers that are there, with their threads."""
        client = self._client
        try:
            if client.status != "running":
                raise OSError(f"client is {client.status}")
            workers: dict[str, int] = client.nthreads()
            return workers
        except (OSError, TimeoutError) as error:
            raise RuntimeError(
                "the scheduler is gone, and with it the shards of all workers; fit again on a new cluster, with "
                "checkpoint=... and resume=True if the fit was given one"
            ) from error

    def _send(self, name: str, message: tuple[Any, ...], options: dict[str, Any]) -> list[tuple[Any, int, int]]:
        answers = []
        for i, actor in enumerate(self._actors):
            answers.append(None if actor is None else self._begin(i, actor, name, message, options))
        return [self._end(i, answer) for i, answer in enumerate(answers)]

    def _begin(self, i: int, actor: Any, name: str, message: tuple[Any, ...], options: dict[str, Any]) -> Any:
        try:
            return actor.ask(name, *message, **options)
        except RuntimeError as error:  # of an actor whose worker is known to be lost
            self._actors[i] = None
            raise ShardLost(f"the worker at {self._addresses[i]} is gone") from error

    def _end(self, i: int, answer: Any) -> tuple[Any, int, int]:
        """Wait for an answer, as long as its worker is there."""
        if answer is None:
            raise ShardLost(f"the worker at {self._addresses[i]} is gone")
        try:
            while True:
                try:
                    found: tuple[Any, int, int] = answer.result(timeout=_LOOK)
                    return found
                except TimeoutError:
                    self._check(i)
        except (OSError, KeyError) as error:
            # A worker that came back under its old address does not know the actor: a KeyError.
            if self._remains(i) and not isinstance(error, KeyError):
                raise
            self._actors[i] = None
            raise ShardLost(f"the worker at {self._addresses[i]} is gone") from error
        except ShardLost:
            self._actors[i] = None
            raise

    def _remains(self, i: int) -> bool:
        """Whether a worker is still there some seconds after it seemed to be lost."""
        until = monotonic() + 5 * _LOOK
        while monotonic() < until:
            if self._addresses[i] not in self._workers():
                return False
            sleep(0.1)
        return True

    def _remake(self) -> None:
        workers = self._workers()
        lost = [i for i, actor in enumerate(self._actors) if actor is None or self._addresses[i] not in workers]
        until = monotonic() + _RETURN
        while len(workers) < len(self._actors) and monotonic() < until:
            sleep(0.2)  # a nanny starts its worker again
            workers = self._workers()
        if not workers:
            raise RuntimeError("all workers are gone; start a cluster, and resume from a checkpoint if there is one")
        for i in lost:
            self._actors[i] = self._futures[i] = None
        for i in lost:
            load = dict.fromkeys(workers, 0)
            for j, numbers in enumerate(self.numbers):
                if self._actors[j] is not None and self._addresses[j] in load:
                    load[self._addresses[j]] += sum(self._partitions.sizes[number] for number in numbers)
            self._addresses[i] = min(load, key=lambda address: load[address])
            self._futures[i] = self._make(i)
            self._actors[i] = self._arrived(i)

    def close(self) -> None:
        # All in a second, and without errors: after Ctrl-C a worker may be busy, and one that is gone needs no closing.
        until, answers = monotonic() + _LOOK, []
        for actor in self._actors:
            if actor is not None:
                with suppress(RuntimeError):
                    answers.append(actor.close())
        for answer in answers:
            with suppress(OSError, KeyError, RuntimeError):
                answer.result(timeout=max(0.01, until - monotonic()))
        self._actors, self._futures = [], []
