"""What a user may pass by mistake, and the inputs at the edge that other packages break on."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import medoids
import oracle
from everything import ANY_METRIC
from medoids import KMedoids, certify, k_medoids, silhouette
from medoids.algorithms import ALGORITHMS
from medoids.distances import SMALL
from medoids.settings import ALGORITHM_NAMES, NEEDS_MATRIX, Settings, parse_bytes

EVERY = ["auto", *ANY_METRIC]
INITS = ["build", "lab", "random", "k-medoids++"]
X = np.random.default_rng(0).normal(size=(30, 3))
D = cdist(X, X)


def manhattan(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).sum())


def fit(rows: Any = X, n_clusters: Any = 2, **keywords: Any) -> Any:
    return k_medoids(rows, n_clusters, **keywords)


def assert_consistent(found: Any, distances: np.ndarray) -> None:
    """What must hold of any answer: real rows, no empty cluster, and the loss that the medoids have."""
    k = len(found.medoid_indices)
    assert len(set(found.medoid_indices.tolist())) == k
    assert set(found.labels.tolist()) == set(range(k))
    assert len(found.labels) == len(distances)
    assert found.labels[found.medoid_indices].tolist() == list(range(k))
    of_medoids = distances[found.medoid_indices]
    np.testing.assert_allclose(found.distances, of_medoids.min(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(of_medoids[found.labels, np.arange(len(distances))], found.distances, atol=1e-12)
    assert found.inertia == pytest.approx(of_medoids.min(axis=0).sum(), rel=1e-9, abs=1e-12)


# --- what breaks in other packages ---------------------------------------------------------------------------------


def pam_medoids(distances: np.ndarray, k: int) -> tuple[list[int], float]:
    """PAM by its definition, a column of losses at a time: the oracle's loops would take hours here."""
    medoids: list[int] = []
    nearest = np.full(len(distances), np.inf)
    while len(medoids) < k:
        losses = np.minimum(distances, nearest).sum(axis=1)
        medoids.append(int(np.argmin(losses)))
        nearest = np.minimum(nearest, distances[medoids[-1]])
    while True:
        losses = np.array(
            [np.minimum(distances, distances[medoids[:j] + medoids[j + 1 :]].min(axis=0)).sum(axis=1) for j in range(k)]
        )
        slot, row = np.unravel_index(np.argmin(losses), losses.shape)
        now = distances[medoids].min(axis=0).sum()
        if losses[slot, row] >= now * (1 - 1e-10):
            return medoids, float(now)
        medoids[slot] = int(row)


def test_digits_give_pams_medoids_in_every_run() -> None:
    digits = load_digits().data
    expected, loss = pam_medoids(cdist(digits, digits), 10)
    for seed in range(3):
        found = fit(digits, 10, random_state=seed)
        assert found.medoid_indices.tolist() == expected
        assert found.inertia == pytest.approx(loss, rel=1e-9)
        assert found.converged
        built = [record.loss for record in found.trace if record.phase == "build"]
        assert 0 < found.loss < built[-1]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (17, 2), (29, 1)])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_a_value_that_is_not_finite_is_named_by_row_and_column(value: float, row: int, column: int, kind: type) -> None:
    rows = X.astype(kind)
    rows[row, column] = value
    word = "NaN" if np.isnan(value) else "infinity"
    message = rf"X contains {word}: X\[{row}, {column}\] is {value}\. Remove such rows, or fill them.*SimpleImputer"
    for metric in ("euclidean", "manhattan", manhattan):
        with pytest.raises(ValueError, match=message):
            fit(rows, metric=metric)
        with pytest.raises(ValueError, match=message):
            KMedoids(2, metric=metric).fit(rows)


def test_the_row_is_named_by_its_number_in_all_of_x() -> None:
    rows = np.zeros((10_000, 2))
    rows[9_999, 1] = np.nan
    rows[8_500, 0] = np.inf
    with pytest.raises(ValueError, match=r"infinity: X\[8500, 0\] is inf"):
        fit(rows)


def test_a_matrix_or_a_query_that_is_not_finite() -> None:
    wrong = D.copy()
    wrong[4, 7] = np.nan
    with pytest.raises(ValueError, match=r"NaN: X\[4, 7\] is nan"):
        fit(wrong, metric="precomputed")
    wrong = X.copy()
    wrong[5, 1] = -np.inf
    model = KMedoids(2).fit(X)
    for method in (model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match=r"infinity: X\[5, 1\] is -inf"):
            method(wrong)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0, None], "b": [1, 2, 3]}),
        pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64"), "b": [1, 2, 3]}),
        pl.DataFrame({"a": [1.0, 2.0, None], "b": [1, 2, 3]}),
        np.array([[1, 1], [2, 2], [None, 3]], dtype=object),
    ],
)
def test_a_missing_value_in_a_table(frame: Any) -> None:
    with pytest.raises(ValueError, match=r"NaN: X\[2, 0\] is nan"):
        KMedoids(1).fit(frame)


@pytest.mark.parametrize("algorithm", EVERY)
def test_rows_of_zeros_under_cosine(algorithm: str) -> None:
    # Row 0 is at distance 1 from all; rows 1 and 2 have one direction, row 3 is orthogonal to them.
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    one = fit(rows, 1, metric="cosine", algorithm=algorithm, random_state=0)
    assert one.medoid_indices[0] in (1, 2)
    assert one.inertia == pytest.approx(2)
    two = fit(rows, 2, metric="cosine", algorithm=algorithm, random_state=0)
    assert two.inertia == pytest.approx(1)


@pytest.mark.parametrize("n", [60, pytest.param(SMALL + 1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("metric", "kind"), [("cosine", "dense"), ("cosine", "sparse"), ("correlation", "dense")])
def test_rows_without_direction_belong_together_in_fit_and_predict(n: int, metric: str, kind: str) -> None:
    rows = np.random.default_rng(3).normal(size=(n, 4))
    flat = np.arange(0, n, 3)
    rows[flat] = 0 if metric == "cosine" else np.arange(len(flat))[:, None]
    data = sparse.csr_array(rows) if kind == "sparse" else rows
    model = KMedoids(3, metric=metric, random_state=0).fit(data)
    # A third of all rows are alike, and far from all others: one of them is a medoid, at 0 from the rest.
    assert len(np.unique(model.labels_[flat])) == 1
    np.testing.assert_array_equal(model.predict(data), model.labels_)
    assert model.score(data) == pytest.approx(-model.inertia_, rel=1e-12)
    distances = model.transform(data)
    np.testing.assert_array_equal(distances[flat].min(axis=1), 0)
    assert certify(data, model.medoid_indices_, metric=metric).loss == pytest.approx(model.inertia_ / n, rel=1e-12)


def test_the_silhouettes_of_rows_without_direction() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    found = fit(rows, 2, metric="cosine")
    # Each pair is at distance 0 within and at 1 from the other: (1 - 0) / 1.
    assert silhouette(found, rows).samples.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", INITS)
def test_as_many_clusters_as_rows(algorithm: str, init: str) -> None:
    found = fit(X, 30, algorithm=algorithm, init=init, random_state=0)
    assert sorted(found.medoid_indices) == list(range(30))
    assert found.inertia == 0
    assert found.converged
    assert_consistent(found, D)


@pytest.mark.parametrize("algorithm", EVERY)
def test_more_clusters_than_rows(algorithm: str) -> None:
    message = "n_clusters=31 is more than the number of samples, n_samples=30; ask for at most 30"
    with pytest.raises(ValueError, match=message):
        fit(X, 31, algorithm=algorithm)
    with pytest.raises(ValueError, match=message):
        fit(D, 31, metric="precomputed", algorithm=algorithm)


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", INITS)
def test_more_clusters_than_distinct_rows(algorithm: str, init: str) -> None:
    rows = np.repeat([[0.0, 0.0], [3.0, 4.0], [10.0, 0.0]], [4, 3, 5], axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct medoids \(\d\) is smaller than n_clusters \(5\).*fewer"):
        found = fit(rows, 5, algorithm=algorithm, init=init, random_state=0)
    assert_consistent(found, cdist(rows, rows))
    if algorithm != "alternate" or init == "build":  # where a medoid cannot leave its cluster it may miss a place
        assert found.inertia == 0


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("metric", ["euclidean", manhattan])
def test_all_rows_equal(algorithm: str, init: str, metric: Any) -> None:
    rows = np.full((12, 2), 7.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = fit(rows, 1, metric=metric, algorithm=algorithm, init=init, random_state=0)
    assert alone.inertia == 0
    with pytest.warns(ConvergenceWarning, match=r"distinct medoids \(1\) is smaller than n_clusters \(3\)"):
        found = fit(rows, 3, metric=metric, algorithm=algorithm, init=init, random_state=0)
    assert_consistent(found, np.zeros((12, 12)))


@pytest.mark.slow
def test_many_equal_rows_are_one_place_in_compiled_code() -> None:
    rows = np.repeat([[0.1, 0.3], [5.7, 2.2]], [SMALL, 2], axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct medoids \(2\) is smaller than n_clusters \(3\)"):
        found = fit(rows, 3)
    assert found.inertia == 0
    assert {0, 1} <= {int(i >= SMALL) for i in found.medoid_indices}


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", INITS)
def test_three_rows(algorithm: str, init: str) -> None:
    rows = np.array([[0.0], [1.0], [5.0]])
    distances = np.abs(rows - rows.T)
    # The middle one costs 1 + 4; one of the first two and the last cost 1.
    for k, loss in ((1, 5), (2, 1), (3, 0)):
        found = fit(rows, k, algorithm=algorithm, init=init, random_state=0)
        assert_consistent(found, distances)
        if algorithm != "alternate" or init == "build":
            assert found.inertia == loss


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", [*INITS, [0]])
def test_one_row(algorithm: str, init: Any) -> None:
    for rows, metric in (([[3.0, 4.0]], "euclidean"), ([[0.0]], "precomputed"), (["word"], lambda a, b: 0)):
        found = fit(rows, 1, metric=metric, algorithm=algorithm, init=init, random_state=0)
        assert found.medoid_indices.tolist() == [0]
        assert found.labels.tolist() == [0]
        assert found.inertia == 0


@pytest.mark.parametrize("n", [300, SMALL + 1])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_values_around_1e9(n: int, metric: str) -> None:
    shifted = 1e9 + np.random.default_rng(1).normal(size=(n, 3))
    centred = shifted - 1e9  # exact: what is left of the digits
    found, expected = fit(shifted, 4, metric=metric), fit(centred, 4, metric=metric)
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert found.inertia == pytest.approx(expected.inertia, rel=1e-9)


@pytest.mark.parametrize("algorithm", sorted(set(ANY_METRIC) - NEEDS_MATRIX))
def test_strings_with_a_callable_need_no_matrix(algorithm: str) -> None:
    words = [f"{'a' * (i % 7)}{'b' * (i % 11)}" for i in range(77)]

    def unlike(a: str, b: str) -> int:
        return abs(a.count("a") - b.count("a")) + abs(a.count("b") - b.count("b"))

    found = fit(words, 3, metric=unlike, algorithm=algorithm, memory_limit="24KiB", random_state=0)
    assert_consistent(found, np.array([[unlike(a, b) for b in words] for a in words], dtype=float))


@pytest.mark.parametrize("algorithm", ["auto", "pam", "fastpam1"])
def test_a_matrix_with_negative_and_asymmetric_entries(algorithm: str) -> None:
    for seed in range(20):
        matrix = np.random.default_rng(seed).normal(size=(9, 9))
        expected, _ = oracle.pam(matrix.tolist(), 3)
        found = fit(matrix, 3, metric="precomputed", algorithm=algorithm)
        assert found.inertia == pytest.approx(matrix[expected].min(axis=0).sum())
        assert found.medoid_indices.tolist() == expected


def test_zero_between_medoids_of_a_matrix_with_negative_entries_does_not_make_them_copies() -> None:
    found = fit(np.array([[-5.0, 0.0], [0.0, -5.0]]), 2, metric="precomputed")
    assert found.inertia == -10


@pytest.mark.parametrize("algorithm", EVERY)
def test_every_algorithm_takes_negative_and_asymmetric_entries(algorithm: str) -> None:
    matrix = np.random.default_rng(3).normal(size=(25, 25)) - 0.5
    found = fit(matrix, 4, metric="precomputed", algorithm=algorithm, random_state=0)
    assert found.inertia == pytest.approx(matrix[found.medoid_indices].min(axis=0).sum(), rel=1e-12)
    # The diagonal is not the smallest entry: labels follow the distances.
    assert found.labels.tolist() == matrix[found.medoid_indices].argmin(axis=0).tolist()


def test_rows_that_are_infinitely_far_apart() -> None:
    # Under braycurtis, rows x and -x are: sum |x + y| is 0.
    rows = np.array([[1.0, 2.0], [1.0, 1.0], [-1.0, -2.0]])
    with pytest.raises(
        ValueError, match=r"from row 0 to row 2 of X is inf under metric='braycurtis'; rescale X, or use"
    ):
        fit(rows, 2, metric="braycurtis")


# --- unknown names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["bandit", "PAM", "", None, 3, ["pam"]])
def test_unknown_algorithm(value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        fit(algorithm=value)
    message = str(caught.value)
    assert message.startswith(f"algorithm={value!r} is unknown; it must be one of ")
    for name in EVERY:
        assert repr(name) in message


@pytest.mark.parametrize("value", ["euclid", "", None, 3, ["euclidean"], {"l2": 1}])
def test_unknown_metric(value: Any) -> None:
    for caller in (fit, lambda metric: KMedoids(2, metric=metric).fit(X)):
        with pytest.raises(ValueError) as caught:
            caller(metric=value)
        message = str(caught.value)
        guess = "did you mean 'euclidean' or 'seuclidean' or 'sqeuclidean'? It" if value == "euclid" else "it"
        assert message.startswith(f"metric={value!r} is unknown; {guess} must be a callable f(a, b) or one of ")
        for name in ("'euclidean'", "'l1'", "'cosine'", "'precomputed'"):
            assert name in message


@pytest.mark.parametrize("value", ["bild", "kmeans++", ""])
def test_unknown_init(value: str) -> None:
    with pytest.raises(
        ValueError, match=rf"init='{re.escape(value)}' is unknown.*'build', 'heuristic', 'k-medoids\+\+', 'lab'"
    ):
        fit(init=value)


def test_unknown_keyword() -> None:
    with pytest.raises(TypeError, match="n_cluster"):
        KMedoids(n_cluster=3)
    with pytest.raises(TypeError, match="speed"):
        k_medoids(X, 2, speed="fast")
    with pytest.raises(ValueError, match="Invalid parameter 'speed'"):
        KMedoids().set_params(speed=1)
    with pytest.raises(TypeError):
        KMedoids(3, "euclidean")  # keywords only, so that none can be taken for another


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        ("euclidean", {"p": 3}, r"metric_params: 'p' is unknown; metric='euclidean' takes none"),
        ("l1", {"w": 1}, r"metric_params: 'w' is unknown; metric='manhattan' takes none"),
        ("minkowski", {"P": 3}, r"metric_params: 'P' is unknown; metric='minkowski' takes \['p'\]"),
        ("precomputed", {"symmetric": True}, r"metric_params: 'symmetric' is unknown; metric='precomputed' takes none"),
    ],
)
def test_unknown_metric_params(metric: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(D, metric=metric, metric_params=params)


@pytest.mark.parametrize("params", ["p", [1, 2], 3, ("p", 3)])
def test_metric_params_that_is_no_dict(params: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="metric_params"):
        fit(metric="minkowski", metric_params=params)


def test_unknown_on_interrupt() -> None:
    with pytest.raises(ValueError, match=r"on_interrupt='stop' is unknown; it must be one of \['raise', 'return'\]"):
        fit(on_interrupt="stop")


# --- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["n_clusters", "max_iter", "n_init"])
@pytest.mark.parametrize("value", [2.0, 2.5, "3", None, True, [2], np.float64(3)])
def test_not_an_integer(name: str, value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        fit(**{name: value})
    assert str(caught.value) == f"{name}={value!r} must be an integer"


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [("n_clusters", 0, 1), ("n_clusters", -3, 1), ("max_iter", -1, 0), ("n_init", 0, 1), ("n_init", -1, 1)],
)
def test_too_small_an_integer(name: str, value: int, least: int) -> None:
    with pytest.raises(ValueError, match=f"{name}={value} must be at least {least}"):
        fit(**{name: value})


def test_integers_of_numpy_are_integers() -> None:
    found = fit(X, np.int64(3), max_iter=np.int32(50), n_init=np.uint8(2))
    assert len(found.medoid_indices) == 3


@pytest.mark.parametrize("value", [None, 0, -5, -0.5, np.nan, np.inf, [], "", "0", "GiB", "-1GB", "2 parsecs", "1e3"])
def test_bad_memory_limit(value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        fit(memory_limit=value)
    assert str(caught.value).startswith(f"memory_limit={value!r} is not an amount of memory; pass bytes, or a string")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2GiB", 2 * 1024**3),
        (" 1.5 MB ", 1_500_000),
        ("3k", 3 * 1024),
        ("10", 10),
        ("7B", 7),
        ("1TiB", 1024**4),
        ("4gib", 4 * 1024**3),
        (12, 12),
        (1e9, 10**9),
        (np.int64(5), 5),
    ],
)
def test_amounts_of_memory(text: Any, value: int) -> None:
    assert parse_bytes(text) == value


@pytest.mark.parametrize("algorithm", sorted(NEEDS_MATRIX))
def test_a_matrix_beyond_the_memory_limit(algorithm: str) -> None:
    # 20,000^2 numbers of 4 bytes take 1.49 GiB, those of 8 bytes that a callable returns 2.98 GiB.
    rows = np.random.default_rng(4).normal(size=(20_000, 128))
    vectors = "2.98" if algorithm == "optimal" else "1.49"
    for metric, limit, need in (("euclidean", "1GiB", vectors), (manhattan, "2GiB", "2.98")):
        with pytest.raises(ValueError) as caught:
            fit(rows, metric=metric, algorithm=algorithm, memory_limit=limit)
        message = str(caught.value)
        assert message.startswith(f"algorithm={algorithm!r} needs the 20000 x 20000 distance matrix, {need} GiB")
        assert f"memory_limit={limit[0]} GiB" in message
        assert "raise memory_limit" in message
        assert "'clara' or 'clarans'" in message


def test_a_given_matrix_needs_no_more_memory() -> None:
    assert fit(D, metric="precomputed", memory_limit=1).inertia == pytest.approx(fit(X).inertia)


@pytest.mark.parametrize("algorithm", ["clara", "clarans"])
def test_algorithms_without_a_matrix_do_with_little_memory(algorithm: str) -> None:
    rows = np.random.default_rng(5).normal(size=(400, 2))
    found = fit(rows, 3, algorithm=algorithm, memory_limit="100KB", random_state=0)
    assert_consistent(found, cdist(rows, rows))


# --- weights -------------------------------------------------------------------------------------------------------


def weights(**wrong: float) -> np.ndarray:
    out = np.ones(30)
    for name, value in wrong.items():
        out[int(name[1:])] = value
    return out


@pytest.mark.parametrize(
    ("sample_weight", "message"),
    [
        (weights(_4=-1, _9=-2), r"sample_weight\[4\]=-1\.0 is negative; weights must be finite and >= 0"),
        (weights(_7=np.nan), r"sample_weight\[7\]=nan is not finite; weights must be finite and >= 0"),
        (weights(_29=np.inf), r"sample_weight\[29\]=inf is not finite"),
        (np.zeros(30), r"sample_weight is zero for every row; at least one weight must be positive"),
        (np.ones(29), r"sample_weight has 29 entries, but X has 30 rows; pass one weight for each row"),
        (np.ones(31), r"sample_weight has 31 entries, but X has 30 rows"),
        (np.ones((30, 1)), r"sample_weight must be 1-D, one number for each row of X; got shape \(30, 1\)"),
        (["heavy"] * 30, r"could not convert string to float: 'heavy'"),
        (-1.0, r"sample_weight\[0\]=-1\.0 is negative"),
        (0, r"sample_weight is zero for every row"),
    ],
)
def test_bad_weights(sample_weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(sample_weight=sample_weight)
    model = KMedoids(2)
    with pytest.raises(ValueError, match=message):
        model.fit(X, sample_weight=sample_weight)
    assert not hasattr(model, "medoid_indices_")
    with pytest.raises(ValueError, match=message):
        KMedoids(2).fit(X).score(X, sample_weight=sample_weight)


def test_more_clusters_than_rows_of_positive_weight() -> None:
    sample_weight = np.zeros(30)
    sample_weight[[3, 8]] = 1
    message = (
        "n_clusters=3 is more than the number of rows with a positive sample_weight, 2; a row of weight 0 is never"
    )
    with pytest.raises(ValueError, match=message):
        fit(X, 3, sample_weight=sample_weight)
    assert sorted(fit(X, 2, sample_weight=sample_weight).medoid_indices) == [3, 8]


# --- where to start ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ([4, 4], r"init repeats row 4; initial medoids must be different rows"),
        ([0, 30], r"init\[1\]=30 is not a row of X, which has rows 0 to 29"),
        ([-1, 3], r"init\[0\]=-1 is not a row of X, which has rows 0 to 29"),
        ([3], r"init has 1 row indices, but n_clusters=2; pass one index for each cluster"),
        ([1, 2, 3], r"init has 3 row indices, but n_clusters=2"),
        (
            [0.0, 1.0],
            r"init must be one of .*'build'.*, a 1-D array of row indices, or 2 rows in the form of X; as such",
        ),
        ([[0, 1]], r"init has 1 row, but n_clusters=2"),
        ([True, False], r"a 1-D array of row indices, or 2 rows in the form of X"),
        (["a", "b"], r"a 1-D array of row indices, or 2 rows in the form of X; .*could not convert string to float"),
        (None, r"a 1-D array of row indices; got None"),
        (7, r"a 1-D array of row indices; got 7"),
    ],
)
@pytest.mark.parametrize("algorithm", ["auto", "clara", "clarans"])
def test_bad_initial_medoids(init: Any, message: str, algorithm: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(init=init, algorithm=algorithm)


def test_an_initial_medoid_of_weight_zero() -> None:
    with pytest.raises(ValueError, match=r"init\[1\]=9 has sample_weight 0, and a row of weight 0 is never a medoid"):
        fit(init=[4, 9], sample_weight=weights(_9=0))


@pytest.mark.parametrize("init", [[4, 9], (4, 9), np.array([4, 9], dtype=np.uint8), pd.Series([4, 9])])
def test_initial_medoids_of_any_kind(init: Any) -> None:
    found = fit(init=init)
    assert found.trace[0].loss == pytest.approx(D[[4, 9]].min(axis=0).mean())


# --- X -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [np.zeros((0, 3)), np.zeros((3, 0)), [], [[]], pd.DataFrame()])
def test_empty(rows: Any) -> None:
    with pytest.raises(ValueError, match=r"0 sample|0 feature|Expected 2D array|at least one array or dtype"):
        fit(rows, 1)
    with pytest.raises(ValueError, match=r"0 sample|0 feature|Expected 2D array|at least one array or dtype"):
        KMedoids(1).fit(rows)


@pytest.mark.parametrize("objects", [[], (), np.array([]), np.zeros((0, 2)), pd.Series([], dtype=object)])
def test_empty_with_a_callable(objects: Any) -> None:
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        fit(objects, 1, metric=manhattan)


@pytest.mark.parametrize(
    "rows",
    [
        ["ape", "bee"],
        np.array(["ape", "bee"]),
        np.array([["ape"], ["bee"]]),
        (b"ape", b"bee"),
    ],
)
def test_text_without_a_callable(rows: Any) -> None:
    with pytest.raises(ValueError, match=r"metric='cosine' takes rows of numbers.*'ape'.*pass metric=f"):
        fit(rows, 1, metric="cosine")


@pytest.mark.parametrize(
    "rows",
    [
        np.array([["ape", 1], ["bee", 2]], dtype=object),
        np.array([[{}, 1], [[], 2]], dtype=object),
        np.array([object(), object()]),
        pd.DataFrame({"a": ["ape", "bee"], "b": [1, 2]}),
        pl.DataFrame({"a": ["ape", "bee"], "b": [1, 2]}),
        [["ape", "x"], ["bee", "y"]],
        [[1, 2], [3]],
    ],
)
def test_objects_without_a_callable(rows: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"float|numeric|numbers|2D array|sequence|rows of one length"):
        fit(rows, 1)


def test_objects_that_are_numbers() -> None:
    assert fit(X.astype(object)).medoid_indices.tolist() == fit(X).medoid_indices.tolist()


@pytest.mark.parametrize(
    "rows",
    [
        X + 1j,
        np.array([["2020-01-01"], ["2020-02-01"]], dtype="datetime64[D]"),
        np.array([[1], [2]], dtype="timedelta64[s]"),
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-02-01"])}),
    ],
)
def test_wrong_dtype(rows: Any) -> None:
    for caller in (lambda: fit(rows, 1), lambda: KMedoids(1).fit(rows)):
        with pytest.raises((TypeError, ValueError), match=r"(?i)complex data not supported|dtype|datetime|timedelta"):
            caller()


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_any_type_of_number(kind: type) -> None:
    rows = (np.random.default_rng(6).integers(0, 2 if kind is bool else 60, size=(40, 3))).astype(kind)
    found = fit(rows, 3, metric="manhattan")
    expected = fit(rows.astype(float), 3, metric="manhattan")
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert found.inertia == expected.inertia


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("n", [50, pytest.param(SMALL + 1, marks=pytest.mark.slow)])
def test_numbers_in_the_other_byte_order(metric: str, n: int) -> None:
    rows = np.random.default_rng(7).normal(size=(n, 2))
    if metric == "precomputed":
        rows = cdist(rows, rows).astype(np.float32)
    swapped = rows.astype(rows.dtype.newbyteorder())
    found, expected = fit(swapped, 3, metric=metric), fit(rows, 3, metric=metric)
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert found.inertia == expected.inertia


@pytest.mark.parametrize("shape", [(), (5,), (5, 2, 2)])
def test_wrong_dimensions(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"Expected 2D array|dim 3"):
        fit(np.zeros(shape), 1)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse(make: Callable[[np.ndarray], Any]) -> None:
    for metric in ("canberra", manhattan):
        with pytest.raises(TypeError, match=r"X is a sparse matrix.*'manhattan'.*X\.toarray\(\)"):
            fit(make(X), metric=metric)
    with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
        fit(make(D), metric="precomputed")
    with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
        KMedoids(2).fit(X).predict(make(X))


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ("word", r"X must be an array or a sequence of objects.*got str"),
        (b"word", r"got bytes"),
        ((i for i in range(3)), r"got generator\. Pass list\(X\)"),
        ({1: 2}, r"a sequence that can be indexed by row number; got dict"),
        ({1, 2}, r"a sequence that can be indexed by row number; got set"),
        (7, r"got int"),
        (None, r"got NoneType"),
    ],
)
def test_objects_that_are_no_sequence(objects: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        fit(objects, 1, metric=lambda a, b: 0)


# --- values that overflow ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "metric", "algorithm"),
    [(40, "sqeuclidean", "auto"), (40, "sqeuclidean", "clara"), (SMALL + 1, "sqeuclidean", "auto")],
)
def test_squares_that_overflow(n: int, metric: str, algorithm: str) -> None:
    rows = 1e200 * np.random.default_rng(8).normal(size=(n, 2))
    with pytest.raises(ValueError, match=rf"about \de\+200, and distances among them overflow under metric='{metric}'"):
        fit(rows, 3, metric=metric, algorithm=algorithm, random_state=0)


def test_differences_that_overflow() -> None:
    with pytest.raises(ValueError, match=r"about 2e\+308.*distances among them overflow under metric='manhattan'"):
        fit(np.array([[1.7e308], [-1.7e308], [1.6e308]]), 1, metric="manhattan")


@pytest.mark.parametrize("n", [40, SMALL + 1])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "canberra"])
def test_large_values_whose_distances_are_finite(n: int, metric: str) -> None:
    rows = np.random.default_rng(9).normal(size=(n, 2))
    large, usual = fit(1e200 * rows, 3, metric=metric), fit(rows, 3, metric=metric)
    assert large.medoid_indices.tolist() == usual.medoid_indices.tolist()
    assert large.inertia == pytest.approx(usual.inertia * (1 if metric in ("cosine", "canberra") else 1e200))


def test_values_whose_sum_overflows_are_finite() -> None:
    with pytest.warns(ConvergenceWarning, match="distinct medoids"):
        assert fit(np.full((5, 2), 1e308), 2, metric="manhattan").inertia == 0


# --- after a fit, and after one that failed ------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", manhattan])
def test_new_data_with_another_number_of_columns(metric: Any) -> None:
    model = KMedoids(2, metric=metric).fit(X)
    for method in (model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match="X has 2 features, but KMedoids is expecting 3 features"):
            method(X[:, :2])


@pytest.mark.parametrize("columns", [2, 29, 31])
def test_distances_to_another_number_of_training_rows(columns: int) -> None:
    # Also to the medoids alone, which is not what predict takes.
    model = KMedoids(2, metric="precomputed").fit(D)
    message = f"X has {columns} features, but KMedoids is expecting 30 features"
    with pytest.raises(ValueError, match=message):
        model.predict(np.ones((4, columns)))


def test_not_fitted() -> None:
    for method in ("predict", "transform", "score", "get_feature_names_out"):
        with pytest.raises(NotFittedError):
            getattr(KMedoids(2), method)(X)


def raising(a: np.ndarray, b: np.ndarray) -> float:
    raise LookupError


FAILURES: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"n_clusters": 31}, ValueError),
    ({"n_clusters": "3"}, TypeError),
    ({"algorithm": "bandit"}, ValueError),
    ({"metric": "euclid"}, ValueError),
    ({"metric_params": {"p": 1}}, ValueError),
    ({"init": [0]}, ValueError),
    ({"memory_limit": "much"}, ValueError),
    ({"algorithm": "pam", "memory_limit": 8}, ValueError),
    ({"max_iter": -1}, ValueError),
    ({"random_state": "seed"}, ValueError),
    ({"metric": raising}, LookupError),
    ({"metric": lambda a, b: np.nan}, ValueError),
]


@pytest.mark.parametrize(("wrong", "error"), FAILURES)
def test_after_a_failed_fit_nothing_is_fitted(wrong: dict[str, Any], error: type[Exception]) -> None:
    model = KMedoids(**{"n_clusters": 2, **wrong})
    with pytest.raises(error):
        model.fit(X)
    for name in ("medoid_indices_", "cluster_centers_", "labels_", "inertia_", "trace_"):
        assert not hasattr(model, name)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_after_a_failed_second_fit_the_first_is_whole() -> None:
    model = KMedoids(2).fit(X)
    labels = model.predict(X)
    with pytest.raises(ValueError, match="n_clusters=31"):
        model.set_params(n_clusters=31).fit(X[:, :2])
    np.testing.assert_array_equal(model.predict(X), labels)


def test_a_second_fit_leaves_nothing_of_the_first() -> None:
    model = KMedoids(2).fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    model.set_params(metric="precomputed").fit(D)
    assert not hasattr(model, "cluster_centers_")
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 30


@pytest.mark.parametrize("cluster", [lambda rows: k_medoids(rows, 2), lambda rows: KMedoids(2).fit(rows)])
def test_warnings_point_at_the_callers_line(cluster: Callable[[np.ndarray], Any]) -> None:
    with pytest.warns(ConvergenceWarning, match="distinct medoids") as caught:
        cluster(np.zeros((4, 1)))
    assert [warning.filename for warning in caught] == [__file__]


def test_reaching_max_iter_warns_and_says_what_to_do() -> None:
    rows = np.random.default_rng(10).normal(size=(80, 2))
    with pytest.warns(ConvergenceWarning, match=r"did not converge within max_iter=1 swaps; increase max_iter"):
        found = fit(rows, 5, init=[0, 1, 2, 3, 4], max_iter=1)
    assert not found.converged
    assert found.n_swaps == 1


# --- what only a matrix can have wrong ------------------------------------------------------------------------------


def test_condensed_distances() -> None:
    condensed = D[np.triu_indices(len(D), 1)]
    np.testing.assert_array_equal(
        fit(condensed, 2, metric="precomputed").medoid_indices, fit(D, 2, metric="precomputed").medoid_indices
    )
    with pytest.raises(ValueError, match=r"condensed distances of n rows.*; got 11 values of dtype float64"):
        fit(np.arange(11.0), 2, metric="precomputed")


def test_a_distance_that_is_not_finite() -> None:
    matrix = np.ones((4, 4))
    matrix[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"X\[2, 1\] is inf\. Distances must be finite: .* or remove"):
        fit(matrix, 2, metric="precomputed")


@pytest.mark.parametrize(("keyword", "value"), [("callback", 5), ("verbose", "x")])
def test_arguments_that_are_named(keyword: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{keyword}={value!r} must be"):
        fit(**{keyword: value})


def test_the_names_of_algorithms_are_those_of_the_functions() -> None:
    assert sorted(ALGORITHM_NAMES) == sorted(ALGORITHMS)


@pytest.mark.parametrize("face", ["KMedoids", "k_medoids", "k_path", "dask"])
def test_every_face_has_the_defaults_of_the_settings(face: str) -> None:
    if face == "dask":
        pytest.importorskip("dask")
        from medoids.dask import KMedoids as function
    else:
        function = getattr(medoids, face)
    own = {"X", "n_clusters", "sample_weight", "on_interrupt", "client"}
    given = {name: each.default for name, each in signature(function).parameters.items() if name not in own}
    expected = Settings().described()
    assert given == {name: expected[name] for name in given}
    if face != "k_path":
        assert given.keys() == expected.keys()
