"""The fit on a Dask cluster of two processes beside the fit on one machine with two threads, same seed."""

from __future__ import annotations

import os
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.datasets import load, words
from benchmarks.measure import in_turns, seconds_of
from medoids import k_medoids
from medoids.cluster.pool import Pool

__all__ = ["cluster"]

# Partitions, and fits of each kind.
_PARTS, _TURNS = 8, 3


class Kinds(dict[str, list[float]]):
    """Trips, seconds and bytes of each kind of message, while a block lasts, and seconds before the search."""

    def __enter__(self) -> Kinds:
        self._ask, began = Pool.ask, perf_counter()
        self.before, ask = 0.0, self._ask

        def counted(pool: Pool, name: str, *message: Any, **options: Any) -> list[Any]:
            if name == "add_level" and name not in self:
                self.before = perf_counter() - began
            before = pool.down + pool.up
            seconds, answers = seconds_of(lambda: ask(pool, name, *message, **options))
            for at, value in enumerate((1, seconds, pool.down + pool.up - before)):
                self.setdefault(name, [0, 0.0, 0])[at] += value
            return answers

        Pool.ask = counted  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        Pool.ask = self._ask  # type: ignore[method-assign]


def cluster() -> str:
    """Dask's LocalCluster of 2 processes against the local fit with 2 threads, k = 10."""
    import dask.bag
    from distributed import Client, LocalCluster

    lines = [
        "| data | medoids | loss | labels | Dask, s | before the search, s | local, s | ratio | bar "
        "| distances a point, Dask and local | trips | s in trips | MB |",
        "|" + "---|" * 13,
    ]
    kinds = ["| data | trips: s in them, by kind of message |", "|---|---|"]
    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": None}
    with LocalCluster(**settings) as made, Client(made) as client:
        mnist, covertype, spoken = load("MNIST", 20_000), load("covertype", 581_012), words(5_000)
        part = covertype[np.random.RandomState(0).permutation(len(covertype))[:100_000]]
        runs = [
            ("MNIST 20,000, euclidean", mnist, _spread(client, mnist), "euclidean", 4),
            ("words 5,000, levenshtein", spoken, dask.bag.from_sequence(spoken, npartitions=_PARTS), "levenshtein", 4),
            ("covertype 100,000, manhattan", part, _spread(client, part), "manhattan", 2),
            ("covertype 581,012, manhattan", covertype, _spread(client, covertype), "manhattan", 2),
        ]
        for name, X, spread, metric, bar in runs:
            few, some = (X[:1500], dask.bag.from_sequence(X[:1500])) if metric == "levenshtein" else (X[:4000], None)
            _fits(few, _spread(client, few) if some is None else some, metric, 1)  # compile
            row, by_kind = _compare(X, spread, metric, bar)
            print(f"| {name} | {row} |\n{by_kind}", flush=True)
            lines.append(f"| {name} | {row} |")
            kinds.append(f"| {name} | {by_kind} |")
    note = (
        f"Medians of {_TURNS} fits in turns; load of the machine at the end {os.getloadavg()[1]:.1f}. Starting "
        "the cluster, importing and compiling in its processes, and spreading the data over it are left out; labels "
        "are computed in both. Trips are those of the last fit. Before the search, partitions are counted, and shards "
        "and the tree are made."
    )
    return "\n".join([*lines, "", *kinds, "", note])


def _spread(client: Any, X: np.ndarray) -> Any:
    """Put parts of X on the workers, as reading them there would."""
    import dask
    import dask.array as da

    parts, workers = np.array_split(X, _PARTS), list(client.nthreads())
    futures = [client.scatter(part, workers=[workers[i % len(workers)]]) for i, part in enumerate(parts)]
    blocks = [
        da.from_delayed(dask.delayed(future), shape=part.shape, dtype=X.dtype)
        for future, part in zip(futures, parts, strict=True)
    ]
    return da.concatenate(blocks)


def _fits(X: Any, spread: Any, metric: str, turns: int) -> dict[Any, tuple[float, Any]]:
    from medoids.dask import KMedoids

    def there() -> tuple[Any, Any, Kinds]:
        with Kinds() as kinds:
            model = KMedoids(10, metric=metric, random_state=0).fit(spread)
        return model, np.asarray(model.labels_.compute()), kinds

    def here() -> Any:
        return k_medoids(X, 10, metric=metric, algorithm="pairedpam", random_state=0, n_jobs=2)

    return in_turns({"Dask": there, "local": here}, turns, memory=0)


def _compare(X: Any, spread: Any, metric: str, bar: float) -> tuple[str, str]:
    timed = _fits(X, spread, metric, _TURNS)
    (seconds, (model, labels, kinds)), (alone, found) = timed["Dask"], timed["local"]
    same = [
        "same" if equal else "differ"
        for equal in (
            np.array_equal(found.medoid_indices, model.medoid_indices_),
            np.isclose(found.inertia, model.inertia_, rtol=1e-9, atol=0),
            np.array_equal(found.labels, labels),
        )
    ]
    used = f"{model.n_evaluations_ / len(X):,.0f}, {found.n_evaluations / len(X):,.0f}"
    trips, waited, sent = (sum(values) for values in zip(*kinds.values(), strict=True))
    times = f"{seconds:.2f}", f"{kinds.before:.2f}", f"{alone:.2f}", f"{seconds / alone:.2f}", str(bar), used
    dearest = sorted(kinds.items(), key=lambda item: -item[1][1])
    by_kind = "; ".join(f"{name} {count:.0f}: {spent:.2f}" for name, (count, spent, _) in dearest)
    return " | ".join([*same, *times, f"{trips:.0f}", f"{waited:.2f}", f"{sent / 1e6:.0f}"]), by_kind
