"""A fit over workers in this process, beside the same fit without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from medoids import Clustering, k_medoids
from medoids.cluster.messages import Task
from medoids.cluster.pool import Pool
from medoids.cluster.sharded import solve
from medoids.cluster.survey import survey
from medoids.cluster.worker import Worker
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run
from medoids.engine.threads import Threads
from medoids.paired.search import ShardLost


class InProcess(Pool):
    """Workers in this process, one after the other."""

    def __init__(self, makers: list[Callable[[], Worker]]) -> None:
        super().__init__()
        self._makers = makers
        self._workers: list[Worker | None] = [make() for make in makers]

    def lose(self, number: int) -> None:
        """Forget a worker, as if its machine had failed."""
        worker = self._workers[number]
        if worker is not None:
            worker.close()
        self._workers[number] = None

    def _send(self, name: str, message: tuple[Any, ...], options: dict[str, Any]) -> list[tuple[Any, int]]:
        answers = []
        for number, worker in enumerate(self._workers):
            if worker is None:
                raise ShardLost(f"worker {number} is gone")
            answers.append(worker.ask(name, *message, **options))
        return answers

    def _remake(self) -> None:
        self._workers = [worker or make() for worker, make in zip(self._workers, self._makers, strict=True)]

    def close(self) -> None:
        for number in reversed(range(len(self._workers))):
            self.lose(number)


def sharded(
    X: Any,
    k: int,
    *,
    cuts: list[int],
    shards: int,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    weights: np.ndarray | None = None,
    frozen: tuple[int, ...] = (),
    init: Any = "build",
    seed: int = 0,
    memory_limit: int = 1 << 30,
    swap: str = "best",
    kind: type[InProcess] = InProcess,
) -> tuple[Solution, Run, InProcess]:
    """Cut X into partitions at ``cuts``, deal these to workers in turn, and fit."""
    task = Task(metric, metric_params, k, frozen, memory_limit, 1)
    edges = [0, *cuts, len(X)]
    numbers = [list(range(i, len(edges) - 1, shards)) for i in range(shards)]

    def part(values: Any, number: int) -> Any:
        return values[edges[number] : edges[number + 1]]

    def make(own: list[int]) -> Worker:
        given = None if weights is None else [part(weights, i) for i in own]
        return Worker(task, [part(X, i) for i in own], own, [edges[i] for i in own], given)

    pool = kind([lambda own=own: make(own) for own in numbers])
    try:
        surveyed = survey(pool, task)
        with Threads(1) as threads:
            problem = Problem(
                distance=surveyed.distance,
                weights=surveyed.weights,
                k=k,
                init=init,
                max_iter=300,
                memory_limit=memory_limit,
                frozen=frozen,
                swap=swap,
            )
            run = Run(problem, threads, np.random.RandomState(seed), pool.tally)
            return solve(problem, run, pool, surveyed), run, pool
    finally:
        pool.close()


def assert_same(X: Any, k: int, *, seed: int = 0, cuts: list[int], shards: int = 2, **settings: Any) -> Clustering:
    """Compare with the fit on one machine: medoids, loss, and the steps that led there."""
    solution, run, _ = sharded(X, k, cuts=cuts, shards=shards, seed=seed, **settings)
    local = k_medoids(
        X,
        k,
        algorithm="pairedpam",
        swap=settings.get("swap", "best"),
        random_state=seed,
        metric=settings.get("metric", "euclidean"),
        metric_params=settings.get("metric_params"),
        sample_weight=settings.get("weights"),
        frozen_medoids=settings.get("frozen"),
        init=settings.get("init", "build"),
        memory_limit=settings.get("memory_limit", 1 << 30),
    )
    assert solution.assignment.medoids == local.medoid_indices.tolist()
    np.testing.assert_allclose(solution.assignment.loss, local.inertia, rtol=1e-12)
    assert (solution.n_swaps, solution.converged) == (local.n_swaps, local.converged)
    for step, expected in zip(run.trace, local.trace, strict=True):
        assert (step.phase, step.medoid_in, step.medoid_out) == (
            expected.phase,
            expected.medoid_in,
            expected.medoid_out,
        )
        np.testing.assert_allclose(step.loss, expected.loss, rtol=1e-12)
    return local
