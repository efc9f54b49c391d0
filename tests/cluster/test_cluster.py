"""Shards give what one machine gives, for every metric, however the rows are cut."""

from __future__ import annotations

import numpy as np
import pytest

import data
from cluster.in_process import InProcess, assert_same, sharded
from medoids.cluster.messages import Task
from medoids.cluster.survey import survey
from medoids.cluster.worker import Worker

VECTORS = [
    ("euclidean", None),
    ("sqeuclidean", None),
    ("cosine", None),
    ("correlation", None),
    ("manhattan", None),
    ("chebyshev", None),
    ("minkowski", {"p": 3}),
    ("canberra", None),
    ("jaccard", None),
    ("braycurtis", None),
    ("hamming", None),
]


def blobs(n: int, p: int = 6, seed: int = 0) -> np.ndarray:
    random = np.random.RandomState(seed)
    return random.rand(7, p)[random.randint(7, size=n)] * 5 + random.rand(n, p)


@pytest.mark.parametrize(("metric", "params"), VECTORS)
@pytest.mark.parametrize("n", [900, 3400])  # in float64, and with float32 to look for candidates
def test_every_vector_metric(metric: str, params: dict | None, n: int) -> None:
    X = blobs(n, 40) > 3 if metric == "jaccard" else blobs(n)
    X = X.round(1) if metric == "hamming" else X
    assert_same(X, 4, metric=metric, metric_params=params, cuts=[100, 101, n - 300])


@pytest.mark.parametrize(
    ("cuts", "shards"), [([], 1), ([1700], 2), ([5, 5, 9, 3000], 3), ([500, 1000, 1500, 2000, 2500, 3000], 7)]
)
def test_neither_workers_nor_chunks_matter(cuts: list[int], shards: int) -> None:
    """Among them empty partitions, and a shard whose partitions hold a handful of rows."""
    assert_same(blobs(3300), 5, cuts=cuts, shards=shards)


def test_a_shard_without_rows() -> None:
    assert_same(blobs(700), 3, cuts=[700], shards=2)


def test_weights_count_and_rows_of_weight_zero_do_not() -> None:
    X, random = blobs(1200), np.random.RandomState(1)
    weights = random.randint(0, 4, size=1200).astype(float)
    local = assert_same(X, 4, cuts=[300, 900], weights=weights)
    assert (weights[local.medoid_indices] > 0).all()


@pytest.mark.parametrize("swap", ["best", "eager"])
def test_rows_of_large_weight(swap: str) -> None:
    # They are certain references, in whichever shard they are.
    X, weights = blobs(1200), np.ones(1200)
    weights[[3, 500, 777, 1199]] = [1e5, 300, 1e5, 300]
    assert_same(X, 5, cuts=[300, 900], weights=weights, swap=swap)


def test_frozen_medoids_stay() -> None:
    local = assert_same(blobs(1200), 4, cuts=[300, 900], frozen=(7, 1100))
    assert {7, 1100} <= set(local.medoid_indices.tolist())


def test_all_medoids_frozen() -> None:
    assert_same(blobs(300), 2, cuts=[100], frozen=(7, 200))


def test_given_rows() -> None:
    assert_same(blobs(3300), 3, cuts=[300, 900], init=np.array([5, 6, 3200]))


def test_every_row_a_medoid() -> None:
    assert_same(blobs(12), 12, cuts=[5])


def test_copies_of_rows() -> None:
    """Ties go to the lowest row, wherever it is: each row is there four times."""
    local = assert_same(np.tile(blobs(900), (4, 1)), 4, cuts=[950, 2000])
    assert (local.medoid_indices < 900).all()


def test_rows_of_length_zero_under_cosine() -> None:
    """Rows of zeros are at distance 0 from each other, in whichever shard they are."""
    X = blobs(3300)
    X[::4] = 0
    local = assert_same(X, 3, metric="cosine", cuts=[1000, 2000])
    assert len(np.unique(local.labels[::4])) == 1
    assert (local.distances[::4] == 0).all()


@pytest.mark.parametrize(("scale", "word"), [(1e-170, "vanish"), (1e170, "overflow")])
def test_squares_that_leave_float64_are_refused(scale: float, word: str) -> None:
    with pytest.raises(ValueError, match=rf"e.170.*squared distances {word}; rescale X"):
        sharded(scale * blobs(300), 2, cuts=[100], shards=2)
    assert_same(1e-170 * blobs(300), 2, metric="cosine", cuts=[100])


@pytest.mark.parametrize(
    ("metric", "small", "n"),
    [
        ("euclidean", 1e-170, 200),
        ("sqeuclidean", 1e-170, 200),
        ("manhattan", 1e-170, 200),
        ("euclidean", 1e-170, 3400),
        ("manhattan", 1e-50, 3400),  # small for float32 only
        ("sqeuclidean", 1e-25, 3400),
    ],
)
def test_rows_that_are_far_smaller_than_others_are_refused(metric: str, small: float, n: int) -> None:
    X = small * blobs(n, 3)
    X[0] = 1
    with pytest.raises(ValueError, match="distances are too small: their squares vanish, and an algorithm that"):
        sharded(X, 2, cuts=[100], shards=2, metric=metric)
    # Beside rows that differ by more, they are as good as equal.
    solution, _, _ = sharded(X, 1, cuts=[100], shards=2, metric=metric)
    assert solution.assignment.loss == pytest.approx({"euclidean": 3**0.5}.get(metric, 3), rel=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan"])
def test_a_loss_of_zero_or_of_rounding_errors_is_accepted(metric: str) -> None:
    X = np.repeat(blobs(3)[:, :3], 1200, axis=0) / 1000
    solution, _, _ = sharded(X, 3, cuts=[100], shards=2, metric=metric)
    assert solution.assignment.loss == 0
    X[7] = np.nextafter(X[7], 1)
    assert_same(X, 3, cuts=[100], metric=metric)
    # Tiny values beside others that differ, as in probabilities.
    X = blobs(300, 3)
    X[:, 2] = np.random.RandomState(0).rand(300) * 1e-300
    assert_same(X, 3, cuts=[100], metric=metric)


def test_an_offset_that_float32_would_not_bear() -> None:
    assert_same(1e7 + blobs(3300), 3, cuts=[1000, 2000])


def test_places() -> None:
    random = np.random.RandomState(0)
    X = np.column_stack([random.uniform(-60, 60, 600), random.uniform(-180, 180, 600)])
    assert_same(X, 3, metric="haversine", metric_params={"degrees": True}, cuts=[200, 400])


def test_strings() -> None:
    assert_same(data.words(800), 4, metric="levenshtein", cuts=[100, 500])


def test_tokens() -> None:
    random = np.random.RandomState(0)
    X = [random.randint(5, size=random.randint(1, 9)).tolist() for _ in range(200)]
    assert_same([[str(token) for token in x] for x in X], 3, metric="levenshtein", cuts=[50])


def apart(a: str, b: str) -> float:
    """Differs from itself the other way round."""
    return len(set(a) - set(b)) + 0.25 * len(set(b) - set(a))


def test_a_callable_that_is_not_symmetric() -> None:
    assert_same(data.words(300), 3, metric=apart, cuts=[100, 200])


def test_a_callable_of_rows() -> None:
    assert_same(blobs(250), 3, metric=lambda a, b: float(np.abs(a - b).max()), cuts=[100, 200])


def test_a_jitted_callable() -> None:
    from numba import njit

    @njit
    def l1(a, b):  # type: ignore[no-untyped-def]
        return np.abs(a - b).sum()

    assert_same(blobs(400), 3, metric=l1, cuts=[100, 200])


def test_little_memory_costs_distances_and_nothing_else() -> None:
    X = blobs(2000)
    roomy, full, _ = sharded(X, 4, cuts=[700], shards=2)
    tight, short, _ = sharded(X, 4, cuts=[700], shards=2, memory_limit=1 << 20)
    assert roomy.assignment.medoids == tight.assignment.medoids
    assert short.tally.computed > full.tally.computed


def test_real_data() -> None:
    X, metric = data.subset("letter", 4000, seed=3)
    assert_same(X, 8, metric=metric, cuts=[1000, 2500])


def test_rows_are_not_sent_but_for_references_and_candidates() -> None:
    """With 24 times the rows of 100 columns, what a fit sends grows by far less than them."""
    sent = []
    for n in (8000, 192_000):
        _, _, pool = sharded(blobs(n, p=100), 3, cuts=[n // 2], shards=2)
        sent.append(pool.up + pool.down)
    assert sent[1] - sent[0] < 0.8 * 184_000 * 100 * 8


class Unreliable(InProcess):
    """Loses a worker every 99 messages."""

    def _send(self, *message):  # type: ignore[no-untyped-def]
        if self.trips % 99 == 98:
            self.trips += 1
            self.lose(self.trips // 99 % 2)
        return super()._send(*message)


@pytest.mark.parametrize("swap", ["best", "eager"])
def test_workers_that_are_lost(swap: str) -> None:
    assert_same(blobs(6300), 5, cuts=[2000, 3000], swap=swap, kind=Unreliable)


@pytest.mark.parametrize(("cuts", "shards"), [([], 1), ([1700], 2), ([5, 5, 9, 3000], 3)])
def test_eager_swaps(cuts: list[int], shards: int) -> None:
    assert_same(blobs(9300), 6, cuts=cuts, shards=shards, swap="eager")
    assert_same(data.words(700), 6, cuts=[10, 600], shards=shards, metric="levenshtein", swap="eager")


def worker_of(part: object, **options: object) -> Worker:
    return Worker(Task("euclidean", None, 2, (), 1 << 30, 1), [part], [3], [40], **options)  # type: ignore[arg-type]


def test_a_bad_value_is_named_with_its_partition() -> None:
    X = np.ones((5, 2))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[2, 1\] is nan") as error:
        worker_of(X)
    assert "partition 3, which begins with row 40 of X" in str(error.value)


def test_bad_weights_are_named() -> None:
    with pytest.raises(ValueError, match=r"sample_weight\[41\]=-1.0"):
        worker_of(np.ones((3, 2)), weights=[np.array([1.0, -1.0, 1.0])])
    with pytest.raises(ValueError, match="has shape"):
        worker_of(np.ones((3, 2)), weights=[np.ones(2)])


def test_columns_must_agree() -> None:
    task = Task("euclidean", None, 1, (), 1 << 30, 1)
    makers = [lambda: Worker(task, [np.ones((3, 2))], [0], [0]), lambda: Worker(task, [np.ones((3, 4))], [1], [3])]
    pool = InProcess(makers)
    with pytest.raises(ValueError, match="2 and 4 columns"):
        survey(pool, task)
    pool.close()


def test_metrics_that_cannot_be_shared_say_so() -> None:
    task = Task("gower", None, 1, (), 1 << 30, 1)
    pool = InProcess([])
    with pytest.raises(ValueError, match="not available on a cluster"):
        survey(pool, task)
