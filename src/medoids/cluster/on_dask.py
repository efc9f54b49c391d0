"""Shards as actors on the workers of a Dask cluster.

Actors rather than futures: a message to an actor goes to the worker that holds it, without a task of its own in the
scheduler (docs/scale.md has the times of both). Dask does not bring an actor back when its worker dies; `recover` does,
from the partitions, which are futures that Dask computes again.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic, sleep
from typing import Any

import numpy as np
from dask.delayed import Delayed
from distributed import Client, Future, wait
from distributed.comm import get_address_host
from distributed.protocol.pickle import dumps, loads

from medoids.cluster.channel import LOOK, Channel, connect, listen, reply
from medoids.cluster.messages import Task
from medoids.cluster.pool import Pool
from medoids.cluster.worker import Worker
from medoids.distances import count_rows
from medoids.paired.search import ShardLost

__all__ = ["OnDask", "Partitions"]

# Seconds to wait for a worker to come back.
_RETURN = 20.0
# Of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# A worker may have this multiple of its share of the rows before partitions are moved.
_UNEVEN = 1.2


class Partitions:
    """The partitions of X and of its weights, held by the cluster: their sizes, and the row with which each begins."""

    def __init__(self, client: Client, delayed: list[Delayed], weights: list[Delayed] | None) -> None:
        self.client = client
        if weights is not None and len(weights) != len(delayed):
            raise ValueError(
                f"sample_weight has {len(weights)} partitions, but X has {len(delayed)}; rechunk it as X is"
            )
        self.futures: list[Future] = client.compute(delayed)
        self.weights: list[Future] | None = None if weights is None else client.compute(weights)
        _readable(self.futures, "X")
        if self.weights is not None:
            _readable(self.weights, "sample_weight")
        self.sizes: list[int] = client.gather(client.map(count_rows, self.futures, pure=False))
        self.starts: list[int] = np.concatenate([[0], np.cumsum(self.sizes)])[:-1].astype(int).tolist()

    def share(self) -> dict[str, list[int]]:
        """Return which partitions each worker takes: those that it has, unless that is far more than its share."""
        holders = self.client.who_has(self.futures)
        load = dict.fromkeys(self.client.nthreads(), 0)
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


def _readable(futures: list[Future], name: str) -> None:
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

    def listen(self, host: str) -> tuple[int, bytes]:
        return listen(host, self)

    def reply(self, message: bytes) -> bytes:
        return reply(self, message)


class _Calls:
    """A channel to an actor by calls, which pass the scheduler: for workers that the driver cannot reach."""

    def __init__(self, actor: Any, check: Callable[[], None]) -> None:
        self._actor, self._check = actor, check

    def send(self, message: bytes) -> None:
        try:
            self._answer = self._actor.reply(message)
        except RuntimeError as error:  # of an actor whose worker is known to be lost
            raise ConnectionResetError(str(error)) from error

    def receive(self) -> bytes:
        while True:
            try:
                return bytes(self._answer.result(timeout=LOOK))
            except TimeoutError:
                self._check()

    def close(self) -> None:
        """Do nothing: Dask releases an actor that nobody refers to."""


class OnDask(Pool):
    """Shards on a cluster."""

    def __init__(self, partitions: Partitions, task: Task) -> None:
        super().__init__()
        self._partitions, self._client, self._task = partitions, partitions.client, task
        shares = partitions.share()
        self._addresses, self.numbers = list(shares), list(shares.values())
        self._futures: list[Any] = [self._make(i) for i in range(len(shares))]  # which also keep the actors
        actors = [self._arrived(i) for i in range(len(shares))]
        self._channels: list[Channel | _Calls | None] = [self._connect(i, actor) for i, actor in enumerate(actors)]

    def _make(self, i: int) -> Future:
        """Let a worker make a shard."""
        parts, address, numbers = self._partitions, self._addresses[i], self.numbers[i]
        task = replace(self._task, n_jobs=self._client.nthreads().get(address, 1))
        held, starts = [parts.futures[number] for number in numbers], [parts.starts[number] for number in numbers]
        weights = None if parts.weights is None else [parts.weights[number] for number in numbers]
        given = task, held, numbers, starts, weights
        return self._client.submit(Actor, *given, workers=[address], actor=True, pure=False)

    def _arrived(self, i: int) -> Any:
        """Wait for a shard."""
        while True:
            try:
                return self._futures[i].result(timeout=LOOK)
            except TimeoutError:
                self._check(i)
            except OSError as error:
                raise ShardLost(f"the worker at {self._addresses[i]} is gone") from error
            except (TypeError, ValueError):
                raise  # what the shard itself says of its data
            except Exception as error:
                lost = f"partitions {self.numbers[i]} of X were lost and cannot be computed again: {error!r}"
                raise RuntimeError(lost) from error

    def _check(self, i: int) -> None:
        if self._addresses[i] not in self._workers():
            raise ShardLost(f"the worker at {self._addresses[i]} is gone")

    def _workers(self) -> dict[str, int]:
        """Return the workers that are there, with their threads."""
        try:
            if self._client.status != "running":
                raise OSError(f"client is {self._client.status}")
            return dict(self._client.nthreads())
        except (OSError, TimeoutError) as error:
            raise RuntimeError(
                "the scheduler is gone, and with it the shards of all workers; fit again on a new cluster, with "
                "checkpoint=... and resume=True if the fit was given one"
            ) from error

    def _connect(self, i: int, actor: Any) -> Channel | _Calls:
        address, check = self._addresses[i], partial(self._check, i)
        if address.startswith("tcp://"):
            host = get_address_host(address)
            with suppress(OSError):
                port, secret = actor.listen(host).result(timeout=_RETURN)
                return connect(host, port, secret, check)
        return _Calls(actor, check)

    def _send(self, name: str, message: tuple[Any, ...], options: dict[str, Any]) -> list[tuple[Any, int]]:
        packed, numbers = dumps((name, message, options)), range(len(self._channels))
        for i in numbers:
            self._try(i, lambda channel: channel.send(packed))
        # Of all, before an error is raised: they must not be taken for answers to the next message.
        answers = [self._try(i, lambda channel: channel.receive()) for i in numbers]
        if None in answers:
            raise ShardLost(f"the worker at {self._addresses[answers.index(None)]} is gone")
        found = [loads(answer) for answer in answers]
        for done, answer in found:
            if not done:
                raise answer
        return [answer for _, answer in found]

    def _try(self, i: int, work: Callable[[Channel | _Calls], Any]) -> Any:
        """Do something with the channel to a worker; None if it is lost."""
        if (channel := self._channels[i]) is None:
            return None
        try:
            return work(channel)
        except (OSError, KeyError):  # a worker that came back under its old address does not know the actor
            until = monotonic() + 5 * LOOK
            while monotonic() < until and self._addresses[i] in self._workers():
                sleep(0.1)  # until the scheduler sees that the worker is lost, so that it is not taken again
        except ShardLost:
            pass
        self._abandon(i)
        return None

    def _abandon(self, i: int) -> None:
        channel, self._channels[i] = self._channels[i], None
        if channel is not None:
            channel.close()
        self._futures[i] = None

    def _remake(self) -> None:
        workers = self._workers()
        lost = [i for i, channel in enumerate(self._channels) if channel is None or self._addresses[i] not in workers]
        until = monotonic() + _RETURN
        while len(workers) < len(self._channels) and monotonic() < until:
            sleep(0.2)  # a nanny starts its worker again
            workers = self._workers()
        if not workers:
            raise RuntimeError("all workers are gone; start a cluster, and resume from a checkpoint if there is one")
        for i in lost:
            self._abandon(i)
        for i in lost:
            load = dict.fromkeys(workers, 0)
            for j, numbers in enumerate(self.numbers):
                if self._channels[j] is not None and self._addresses[j] in load:
                    load[self._addresses[j]] += sum(self._partitions.sizes[number] for number in numbers)
            self._addresses[i] = min(load, key=lambda address: load[address])
            self._futures[i] = self._make(i)
            self._channels[i] = self._connect(i, self._arrived(i))

    def close(self) -> None:
        for i in range(len(self._channels)):
            self._abandon(i)
