"""Distances between vectors: by hand, against scipy and scikit-learn, and against differences in long double."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_distances

from medoids.distances import METRICS, SMALL, Dissimilarity, dissimilarity, find_metric
from medoids.distances.elementwise import Elementwise
from medoids.distances.inner_product import InnerProduct

ANGULAR = ("cosine", "correlation")
INNER = ("euclidean", "sqeuclidean", *ANGULAR)
# Those that are sampled in float32 when there are many points.
SINGLE = (*INNER, "manhattan", "chebyshev", "minkowski")
ELEMENTWISE = ("manhattan", "chebyshev", "minkowski", "canberra", "braycurtis", "hamming")
ALL = (*INNER, *ELEMENTWISE)
P = 3.0
WHOLE = slice(None)

F64, F32 = "float64", "float32"
# Every combination of metric, dtype of a block, and compiled or not, that a fit can meet.
FORMS = [(metric, F64, compiled) for metric in ALL for compiled in (False, True)] + [(m, F32, True) for m in SINGLE]
DOUBLES = [form for form in FORMS if form[1] == F64]
SINGLES = [form for form in FORMS if form[1] == F32]

few = settings(max_examples=40, deadline=None, derandomize=True)


def make(X: np.ndarray, metric: str, dtype: str = F64, compiled: bool = False, p: float = P) -> Dissimilarity:
    if metric in INNER:
        return InnerProduct(X, metric, dtype=dtype, compiled=compiled)
    return Elementwise(X, metric, p=p, dtype=dtype, compiled=compiled)


def whole(distance: Dissimilarity) -> np.ndarray:
    return distance.block(WHOLE, WHOLE)


def by_scipy(X: np.ndarray, Y: np.ndarray, metric: str, p: float = P) -> np.ndarray:
    options = {"p": p} if metric == "minkowski" else {}
    name = {"manhattan": "cityblock"}.get(metric, metric)
    return cdist(np.asarray(X, dtype=float), np.asarray(Y, dtype=float), name, **options)


def by_differences(X: np.ndarray, metric: str, p: float = P) -> np.ndarray:
    """From the definitions, with nothing that cancels: scipy's own cosine has no digits left for near rows."""
    W = X.astype(np.longdouble)
    if metric == "correlation":
        W = W - W.mean(axis=1, keepdims=True)
    if metric in ANGULAR:
        W = W / np.sqrt((W**2).sum(axis=1, keepdims=True))
    gap = np.abs(W[:, None] - W[None])
    sums: dict[str, Callable[[], np.ndarray]] = {
        "euclidean": lambda: np.sqrt((gap**2).sum(axis=2)),
        "sqeuclidean": lambda: (gap**2).sum(axis=2),
        "cosine": lambda: (gap**2).sum(axis=2) / 2,
        "correlation": lambda: (gap**2).sum(axis=2) / 2,
        "manhattan": lambda: gap.sum(axis=2),
        "chebyshev": lambda: gap.max(axis=2),
        "minkowski": lambda: (gap**p).sum(axis=2) ** (1 / np.longdouble(p)),
    }
    return sums[metric]().astype(float)


def near_duplicates(rng: np.random.Generator, p: int = 5) -> np.ndarray:
    """Rows of order 1, and beside each some that differ by 1e-1 to 1e-8 of that."""
    base = rng.normal(size=(8, p))
    copies = [base + 10.0**-power * rng.normal(size=base.shape) for power in range(1, 9)]
    return np.concatenate([base, *copies])


# --- values worked out by hand -------------------------------------------------------------------------------------

# Between (1, 2, 2) and (4, 6, 2): the differences are 3, 4, 0; the lengths are 3 and sqrt(56); the inner product is 20.
# Without their means the rows are (-2, 1, 1) / 3 and (0, 2, -2), which are orthogonal.
BY_HAND = {
    "euclidean": 5.0,
    "sqeuclidean": 25.0,
    "cosine": 1 - 20 / (3 * 56**0.5),
    "correlation": 1.0,
    "manhattan": 7.0,
    "chebyshev": 4.0,
    "minkowski": 91 ** (1 / 3),
    "canberra": 3 / 5 + 4 / 8,
    "braycurtis": 7 / 17,
    "hamming": 2 / 3,
}


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
def test_values_by_hand(metric: str, dtype: str, compiled: bool) -> None:
    X = np.array([[1.0, 2.0, 2.0], [4.0, 6.0, 2.0]])
    expected = np.array([[0.0, BY_HAND[metric]], [BY_HAND[metric], 0.0]])
    distance = make(X, metric, dtype, compiled)
    np.testing.assert_allclose(whole(distance), expected, rtol=1e-12 if dtype == F64 else 1e-6, atol=0)
    np.testing.assert_allclose(distance.exact_block(WHOLE, WHOLE), expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(distance.cross(X[1:]), expected[:, 1:], rtol=1e-12, atol=0)


# Those that transform the rows first, or compare truth values or what is known: in test_names.py.
NAMED = {"seuclidean", "mahalanobis", "nan_euclidean", "jensenshannon", "dice", "kulsinski", "rogerstanimoto"}
NAMED |= {"russellrao", "sokalsneath", "yule"}


def test_every_metric_of_the_registry_is_tested_here() -> None:
    assert set(ALL) | NAMED == {name for name, metric in METRICS.items() if metric.kind == "vectors"}


# --- against scipy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
@pytest.mark.parametrize("columns", [3, 7, 200])
@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e7])
def test_blocks_agree_with_scipy(metric: str, dtype: str, compiled: bool, columns: int, scale: float) -> None:
    X = scale * np.random.default_rng(columns).normal(size=(37, columns))
    distance = make(X, metric, dtype, compiled)
    rows, others = slice(0, 20), slice(20, 37)
    expected = by_scipy(X[rows], X[others], metric)
    np.testing.assert_allclose(distance.block(rows, others), expected, rtol=1e-9 if dtype == F64 else 1e-4, atol=0)
    np.testing.assert_allclose(distance.exact_block(rows, others), expected, rtol=1e-9, atol=0)
    np.testing.assert_allclose(whole(distance)[rows, others], expected, rtol=1e-9 if dtype == F64 else 1e-4, atol=0)


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
def test_exact_blocks_of_few_and_of_many_rows_agree_with_scipy(metric: str, dtype: str, compiled: bool) -> None:
    X = np.random.default_rng(1).normal(size=(50, 6))
    distance = make(X, metric, dtype, compiled)
    for count in (1, 2, 16, 17, 40):
        rows = np.arange(count)
        expected = by_scipy(X[:count], X[45:], metric)
        np.testing.assert_allclose(distance.exact_block(rows, slice(45, 50)), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("metric", INNER)
@pytest.mark.parametrize("dtype", [F64, F32])
@pytest.mark.parametrize("count", [2, 3, 8])
def test_few_columns_of_long_rows_agree_with_scipy(metric: str, dtype: str, count: int) -> None:
    X = np.random.RandomState(0).normal(size=(90, 300))
    some, few = np.arange(5, 85), np.array([70, 2, 3, 1, 88, 0, 41, 6])[:count]
    found = make(X, metric, dtype, compiled=True).block(some, few)
    np.testing.assert_allclose(
        found, by_scipy(X[some], X[few], metric), rtol=2e-5 if dtype == F32 else 1e-12, atol=1e-12
    )


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski"])
def test_one_column(metric: str, compiled: bool) -> None:
    X = np.array([[0.0], [3.0], [-1.0], [3.0]])
    gap = np.abs(X - X.T)
    expected = gap**2 if metric == "sqeuclidean" else gap
    np.testing.assert_allclose(whole(make(X, metric, F64, compiled)), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
def test_block_has_the_dtype_and_shape_that_are_announced(metric: str, dtype: str, compiled: bool) -> None:
    distance = make(np.random.default_rng(2).normal(size=(9, 4)), metric, dtype, compiled)
    block = distance.block(slice(2, 9), np.array([4, 0, 4]))
    assert distance.n == 9
    assert distance.symmetric
    assert distance.dtype == dtype
    assert block.dtype == dtype
    assert block.shape == (7, 3)
    assert distance.exact == (dtype == F64)
    assert distance.exact_block(slice(2, 9), np.array([4, 0])).dtype == F64


@few
@given(
    X=arrays(float, st.tuples(st.integers(2, 9), st.integers(1, 6)), elements=st.floats(-1e6, 1e6, width=32)),
    compiled=st.booleans(),
    metric=st.sampled_from(["euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski"]),
)
def test_any_rows_in_double_precision(X: np.ndarray, compiled: bool, metric: str) -> None:
    block = whole(make(X, metric, F64, compiled))
    # Squares and cubes of differences below 1e-100 vanish, in any package.
    np.testing.assert_allclose(block, by_differences(X, metric), rtol=1e-9, atol=1e-90)


# --- near rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
def test_near_duplicates_in_double_precision(metric: str, compiled: bool, offset: float) -> None:
    X = offset + near_duplicates(np.random.default_rng(3))
    np.testing.assert_allclose(whole(make(X, metric, F64, compiled)), by_differences(X, metric), rtol=1e-9, atol=0)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("metric", ANGULAR)
def test_near_directions_in_double_precision(metric: str, compiled: bool) -> None:
    # A direction is known to 1e-16; of a difference of 1e-8 between two, 1e-8 is left, and twice that of its square.
    X = near_duplicates(np.random.default_rng(4))
    np.testing.assert_allclose(whole(make(X, metric, F64, compiled)), by_differences(X, metric), rtol=1e-6, atol=0)


@pytest.mark.parametrize("metric", SINGLE)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_near_duplicates_in_single_precision(metric: str, scale: float, offset: float) -> None:
    X = scale * (offset + near_duplicates(np.random.default_rng(5)))
    block = whole(make(X, metric, F32, True))
    # Row means take digits of their own from an offset of 1e4, and 1e-8 of it is where they end.
    floor = 1e-15 if metric in ANGULAR and offset else 0
    np.testing.assert_allclose(block, by_differences(X, metric), rtol=1e-4, atol=floor)


@pytest.mark.parametrize("metric", [m for m in SINGLE if m not in ANGULAR])
def test_columns_of_unlike_scales_in_single_precision(metric: str) -> None:
    X = near_duplicates(np.random.default_rng(6)) * np.array([1e5, 1.0, 1e-5, 1e3, 1e-3])
    np.testing.assert_allclose(whole(make(X, metric, F32, True)), by_differences(X, metric), rtol=1e-4, atol=0)


@pytest.mark.parametrize("metric", [m for m in SINGLE if m not in ANGULAR])
def test_an_outlier_does_not_take_the_digits_of_the_others(metric: str) -> None:
    # One row moves the mean a long way from all the others, so that centring leaves them far from 0.
    X = np.concatenate([near_duplicates(np.random.default_rng(7)), [[1e9, -1e9, 1e9, 1e9, 0.0]]])
    np.testing.assert_allclose(whole(make(X, metric, F32, True)), by_differences(X, metric), rtol=1e-4, atol=0)


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
def test_values_around_1e9(metric: str, dtype: str, compiled: bool) -> None:
    X = 1e9 + np.random.default_rng(8).normal(size=(30, 4))
    if metric in ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski"):
        # The offset is exact in float64, and so is its removal.
        expected, rtol = by_differences(X - 1e9, metric), 1e-9 if dtype == F64 else 1e-4
    elif metric in ANGULAR:
        expected, rtol = by_differences(X, metric), 1e-4
    else:
        expected, rtol = by_scipy(X, X, metric), 1e-9
    np.testing.assert_allclose(whole(make(X, metric, dtype, compiled)), expected, rtol=rtol, atol=0)


# --- duplicates and zeros ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("columns", [3, 100])
def test_duplicates_are_at_distance_zero(metric: str, dtype: str, compiled: bool, offset: float, columns: int) -> None:
    rng = np.random.default_rng(9)
    X = offset + rng.normal(size=(10, columns)) * rng.choice([1e-4, 1.0, 1e4], size=(10, 1))
    X = np.concatenate([X, X, X[::-1]])
    distance = make(X, metric, dtype, compiled)
    same = (X[:, None] == X[None]).all(axis=2)
    assert same.sum() == 10 * 3 * 3
    for block in (whole(distance), distance.exact_block(WHOLE, WHOLE), distance.cross(X)):
        assert (block[same] == 0).all()
        assert (block[~same] > 0).all()
    few_rows = distance.exact_block(np.arange(4), WHOLE)
    assert (few_rows[same[:4]] == 0).all()


@few
@given(
    X=arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-1e5, 1e5)),
    form=st.sampled_from(FORMS),
)
def test_any_duplicates_are_at_distance_zero_and_nothing_is_negative(
    X: np.ndarray, form: tuple[str, str, bool]
) -> None:
    metric, dtype, compiled = form
    if metric in ANGULAR:
        X = X + 1e6 * np.arange(1, X.shape[1] + 1)  # rows of zeros and flat rows have a test of their own
    if metric == "braycurtis":
        X = np.abs(X)  # opposite rows are infinitely far apart
    n = len(X)
    block = whole(make(np.concatenate([X, X]), metric, dtype, compiled))
    if metric == "correlation" and X.shape[1] == 1:  # no row has a direction: all are alike
        assert (block == 0).all()
        return
    assert (np.diag(block) == 0).all()
    assert (np.diag(block[:n, n:]) == 0).all()
    assert (block >= 0).all()


@pytest.mark.parametrize(("dtype", "compiled"), [(F64, False), (F64, True), (F32, True)])
def test_rows_of_zeros_under_cosine_are_alike_and_at_distance_one_from_others(dtype: str, compiled: bool) -> None:
    rng = np.random.default_rng(10)
    X = rng.normal(size=(25, 4))
    zero = [3, 7, 20]
    X[zero] = 0
    X[7, 1] = -0.0
    expected = cosine_distances(X)
    expected[np.ix_(zero, zero)] = 0  # where scikit-learn has 1, but for the diagonal
    distance = make(X, "cosine", dtype, compiled)
    rtol = 1e-9 if dtype == F64 else 1e-4
    np.testing.assert_allclose(whole(distance), expected, rtol=rtol, atol=0)
    np.testing.assert_allclose(distance.exact_block(WHOLE, WHOLE), expected, rtol=1e-9, atol=0)
    np.testing.assert_allclose(distance.exact_block(np.array([3, 5]), WHOLE), expected[[3, 5]], rtol=1e-9, atol=0)
    np.testing.assert_allclose(distance.take(np.array([7, 5, 3])).block(WHOLE, WHOLE)[0], expected[7, [7, 5, 3]])
    queries = np.concatenate([np.zeros((2, 4)), rng.normal(size=(3, 4))])
    across = cosine_distances(X, queries)
    across[np.ix_(zero, [0, 1])] = 0
    np.testing.assert_allclose(distance.cross(queries), across, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("dtype", "compiled"), [(F64, False), (F64, True), (F32, True)])
def test_flat_rows_under_correlation_are_alike_and_at_distance_one_from_others(dtype: str, compiled: bool) -> None:
    X = np.random.default_rng(11).normal(size=(24, 7))
    flat = [0, 4, 9, 13]
    X[flat] = np.array([0.0, 0.1, 1e9 + 0.1, -7.7])[:, None]
    assert (X[flat].mean(axis=1) != X[flat, 0]).sum() == 3  # so that a difference to the mean is left
    rest = np.setdiff1d(np.arange(24), flat)
    distance = make(X, "correlation", dtype, compiled)
    few_rows, many_rows = distance.exact_block(np.array(flat), WHOLE), distance.exact_block(WHOLE, WHOLE)[flat]
    for block in (whole(distance)[flat], few_rows, many_rows, distance.cross(X)[flat]):
        assert (block[:, flat] == 0).all()
        np.testing.assert_allclose(block[:, rest], 1, rtol=1e-12)
    expected = by_scipy(X[rest], X[rest], "correlation")
    np.testing.assert_allclose(whole(distance)[np.ix_(rest, rest)], expected, rtol=1e-4, atol=1e-15)


@pytest.mark.parametrize("compiled", [False, True])
def test_tiny_rows_under_cosine_have_a_direction_or_none_but_no_overflow(compiled: bool) -> None:
    # 1 / 1e-310 is beyond float64. The row points along the first axis; taken for zero, it is at distance 1.
    X = np.array([[1e-310, 0.0], [0.0, 1.0], [0.0, 2.0]])
    block = whole(make(X, "cosine", F64, compiled))
    np.testing.assert_allclose(block, [[0, 1, 1], [1, 0, 0], [1, 0, 0]], atol=1e-15)


@pytest.mark.parametrize("metric", ANGULAR)
@pytest.mark.parametrize("compiled", [False, True])
def test_directions_of_huge_and_of_small_rows(metric: str, compiled: bool) -> None:
    X = np.random.default_rng(12).normal(size=(12, 6))
    scaled = X * (10.0 ** np.array([-200, -150, -100, -50, -10, 0, 0, 10, 50, 100, 150, 200]))[:, None]
    expected = by_scipy(X, X, metric)
    np.testing.assert_allclose(whole(make(scaled, metric, F64, compiled)), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("compiled", [False, True])
def test_zeros_under_canberra_and_braycurtis(compiled: bool) -> None:
    X = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 4.0], [1.0, 0.0, 4.0]])
    # Where both coordinates are 0 canberra adds 0; where one is, 1.
    canberra = [[0, 0, 2, 2], [0, 0, 2, 2], [2, 2, 0, 2], [2, 2, 2, 0]]
    # sum |x - y| / sum |x + y|: 6/6 and 5/5 to a row of zeros, 3/11 between the last two. Rows of zeros are alike.
    braycurtis = [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 3 / 11], [1, 1, 3 / 11, 0]]
    np.testing.assert_allclose(whole(make(X, "canberra", F64, compiled)), canberra, rtol=1e-12)
    np.testing.assert_allclose(whole(make(X, "braycurtis", F64, compiled)), braycurtis, rtol=1e-12)
    np.testing.assert_array_equal(make(X, "braycurtis", F64, compiled).cross(np.zeros((1, 3)))[:, 0], [0, 0, 1, 1])


def test_hamming_compares_exactly_and_not_in_single_precision() -> None:
    X = np.array([[1.0, 2.0], [1.0 + 1e-12, 2.0]])
    many = np.concatenate([X, np.zeros((SMALL, 2))])
    for distance in (make(X, "hamming"), make(X, "hamming", F64, True), dissimilarity(many, "hamming")):
        assert distance.block(np.array([0]), np.array([0, 1])).tolist() == [[0.0, 0.5]]


# --- types and layouts of X ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, np.uint16, np.float32])
def test_types_of_input(metric: str, kind: type) -> None:
    # Differences of unsigned and sums of small integers must not wrap.
    rng = np.random.default_rng(13)
    X = rng.integers(0, 128, size=(20, 5)).astype(kind)
    if kind is np.uint8:
        X = X * 2 + 1
    if kind is np.float32:
        X = (X + rng.normal(size=X.shape)).astype(kind)
    Y = X[12:]
    expected = by_scipy(X, Y, metric)
    distance = make(X, metric)
    tiny = 1e-15 if metric in ANGULAR else 0
    np.testing.assert_allclose(distance.block(WHOLE, slice(12, 20)), expected, rtol=1e-9, atol=tiny)
    np.testing.assert_allclose(distance.cross(Y), expected, rtol=1e-9, atol=tiny)
    np.testing.assert_allclose(distance.cross(Y.astype(float)), expected, rtol=1e-9, atol=tiny)


@pytest.mark.parametrize("metric", [*INNER, "manhattan", "canberra"])
@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float32])
def test_types_of_input_in_compiled_loops(metric: str, kind: type) -> None:
    rng = np.random.default_rng(14)
    X = (rng.integers(0, 256, size=(20, 5)) + (rng.normal(size=(20, 5)) if kind is np.float32 else 0)).astype(kind)
    expected = by_scipy(X[:4], X[4:], metric)
    for dtype, rtol in [(F64, 1e-9), (F32, 1e-4)] if metric in SINGLE else [(F64, 1e-9)]:
        distance = make(X, metric, dtype, True)
        rows, others = np.arange(4), slice(4, 20)
        np.testing.assert_allclose(distance.block(rows, others), expected, rtol=rtol, atol=0)
        np.testing.assert_allclose(distance.exact_block(rows, others), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_near_rows_of_integers(kind: type, compiled: bool) -> None:
    # Near for their length, and so summed directly: 10 - 27 is -17, and its square 289, in unsigned integers too.
    X = np.random.default_rng(31).integers(0, 256, size=(20, 8000)).astype(kind)
    X[:3] = X[0]
    X[:3, 7] = 10, 27, 11
    gaps = np.array([[0, 17, 1], [17, 0, 16], [1, 16, 0]])
    for dtype in (F64, F32) if compiled else (F64,):
        some = make(X, "euclidean", dtype, compiled)
        rtol = 1e-9 if dtype == F64 else 1e-4
        np.testing.assert_allclose(some.block(slice(0, 3), slice(0, 3)), gaps, rtol=rtol, atol=0)
        np.testing.assert_allclose(some.exact_block(slice(0, 3), slice(0, 3)), gaps, rtol=1e-9, atol=0)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("compiled", [False, True])
def test_layouts_of_input(metric: str, compiled: bool) -> None:
    X = np.random.default_rng(15).normal(size=(20, 5))
    expected = by_scipy(X, X, metric)
    wide = np.zeros((40, 10))
    wide[::2, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(X), wide[::2, ::2], frozen):
        np.testing.assert_allclose(whole(make(same, metric, F64, compiled)), expected, rtol=1e-9, atol=0)
        np.testing.assert_allclose(make(X, metric, F64, compiled).cross(same), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("metric", ALL)
def test_input_is_not_changed(metric: str) -> None:
    X = np.random.default_rng(16).normal(size=(12, 3))
    before = X.copy()
    for _, dtype, compiled in (form for form in FORMS if form[0] == metric):
        distance = make(X, metric, dtype, compiled)
        first = whole(distance).copy()
        distance.exact_block(WHOLE, WHOLE)
        distance.cross(X)
        np.testing.assert_array_equal(X, before)
        np.testing.assert_array_equal(whole(distance), first)


# --- which rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
@pytest.mark.parametrize("cut", [slice(0, 30), slice(5, 6), slice(3, 29, 4), slice(None), slice(8, 8), slice(-4, None)])
def test_slices_and_index_arrays_give_the_same(metric: str, dtype: str, compiled: bool, cut: slice) -> None:
    distance = make(np.random.default_rng(17).normal(size=(30, 4)), metric, dtype, compiled)
    index = np.arange(30)[cut]
    columns, numbers = slice(2, 25), np.arange(2, 25)
    # A matrix product may round otherwise where its memory lies otherwise; loops over coordinates may not.
    rtol = 0 if metric in ELEMENTWISE else 1e-12 if dtype == F64 else 1e-6
    for block in (distance.block, distance.exact_block):
        expected = block(cut, columns)
        assert expected.shape == (len(index), 23)
        for a, b in ((index, columns), (cut, numbers), (index, numbers)):
            np.testing.assert_allclose(block(a, b), expected, rtol=rtol, atol=1e-12 if rtol else 0)


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
def test_rows_in_any_order_and_repeated(metric: str, dtype: str, compiled: bool) -> None:
    X = np.random.default_rng(18).normal(size=(15, 4))
    rows, columns = np.array([14, 2, 2, 9]), np.array([0, 14, 0])
    block = make(X, metric, dtype, compiled).block(rows, columns)
    expected = by_scipy(X[rows], X[columns], metric)
    expected[0, 1] = 0  # the same row
    np.testing.assert_allclose(block, expected, rtol=1e-9 if dtype == F64 else 1e-4, atol=0)


@few
@given(
    form=st.sampled_from([form for form in FORMS if form[0] in ELEMENTWISE]),
    rows=st.lists(st.integers(0, 39), min_size=1, max_size=9),
    columns=st.lists(st.integers(0, 39), min_size=1, max_size=11),
)
def test_a_value_does_not_depend_on_the_block_in_which_it_is_computed(
    form: tuple[str, str, bool], rows: list[int], columns: list[int]
) -> None:
    # 19 columns: vectors of 4 and 8 numbers leave a rest.
    X = np.random.default_rng(19).normal(size=(40, 19)) * np.logspace(-3, 3, 40)[:, None]
    distance = make(X, *form)
    part = np.ix_(rows, columns)
    # In single precision another loop sums the same in another order where there are many pairs.
    block, rounding = distance.block(np.array(rows), np.array(columns)), 0 if distance.dtype == F64 else 1e-6
    np.testing.assert_allclose(block, whole(distance)[part], rtol=rounding, atol=0)
    exact = distance.exact_block(WHOLE, WHOLE)
    np.testing.assert_array_equal(distance.exact_block(np.array(rows), np.array(columns)), exact[part])


@pytest.mark.parametrize("columns", [3, 31, 54, 70])
@pytest.mark.parametrize(("metric", "p"), [("manhattan", 1.0), ("chebyshev", 1.0), ("minkowski", 3.0)])
def test_many_pairs_in_single_precision(metric: str, p: float, columns: int) -> None:
    # More rows and columns than a tile has, coordinates in several chunks and a rest, near pairs in all of them.
    X = np.random.default_rng(21).normal(size=(700, columns)) + 100
    X[350:] = X[:350] + 1e-5 * np.random.default_rng(22).normal(size=(350, columns))
    distance = Elementwise(X, metric, p=p, dtype=F32, compiled=True)
    rows, others = np.arange(3, 600), np.random.default_rng(23).permutation(700)[:613]
    options = {"p": p} if metric == "minkowski" else {}
    expected = cdist(X[rows], X[others], "cityblock" if metric == "manhattan" else metric, **options)
    assert np.count_nonzero((expected > 0) & (expected < 1e-2)) > 300
    np.testing.assert_allclose(distance.block(rows, others), expected, rtol=1e-4, atol=0)


@pytest.mark.parametrize("form", [form for form in FORMS if form[0] in ELEMENTWISE])
def test_elementwise_blocks_are_symmetric_to_the_last_bit(form: tuple[str, str, bool]) -> None:
    # Half a matrix is computed and mirrored; the other half must be the same.
    block = whole(make(np.random.default_rng(20).normal(size=(30, 19)), *form))
    np.testing.assert_array_equal(block, block.T)


# --- some of the rows, and other rows ------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
@pytest.mark.parametrize("rows", [np.array([7, 3, 28, 11, 12]), slice(4, 20, 2)])
def test_take_is_the_same_distance_among_some_rows(metric: str, dtype: str, compiled: bool, rows: Any) -> None:
    X = np.random.default_rng(21).normal(size=(30, 4))
    whole_distance = make(X, metric, dtype, compiled)
    part = whole_distance.take(rows)
    expected = by_scipy(X[rows], X[rows], metric)
    np.fill_diagonal(expected, 0)
    assert part.n == len(expected)
    assert part.dtype == dtype
    assert whole_distance.n == 30
    np.testing.assert_allclose(whole(part), expected, rtol=1e-9 if dtype == F64 else 1e-4, atol=0)
    np.testing.assert_allclose(part.exact_block(WHOLE, WHOLE), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
def test_another_order_of_the_same_rows(metric: str, dtype: str, compiled: bool) -> None:
    X = near_duplicates(np.random.default_rng(32))
    distance = make(X, metric, dtype, compiled)
    order = np.random.default_rng(33).permutation(len(X))[:50]
    other = distance.reordered(order)
    assert other.n == 50
    assert other.dtype == dtype
    # A block of the same pairs, and of pairs where both numberings would be mistaken for each other.
    for rows, columns in ((slice(0, 20), slice(10, 45)), (np.array([3, 49, 3]), slice(0, 50, 7)), (WHOLE, WHOLE)):
        expected = distance.block(order[rows], order[columns])
        rtol, atol = (0, 0) if metric in ELEMENTWISE else (1e-9, 0) if dtype == F64 else (1e-4, 0)
        np.testing.assert_allclose(other.block(rows, columns), expected, rtol=rtol, atol=atol)
    np.testing.assert_array_equal(whole(distance), whole(make(X, metric, dtype, compiled)))


@pytest.mark.parametrize(("metric", "dtype", "compiled"), FORMS)
def test_cross_agrees_with_scipy_in_double_precision(metric: str, dtype: str, compiled: bool) -> None:
    rng = np.random.default_rng(22)
    X, Y = rng.normal(size=(12, 4)), 3 * rng.normal(size=(25, 4))
    out = make(X, metric, dtype, compiled).cross(Y)
    assert out.shape == (12, 25)
    assert out.dtype == F64
    np.testing.assert_allclose(out, by_scipy(X, Y, metric), rtol=1e-9, atol=0)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("compiled", [False, True])
def test_cross_to_near_and_far_queries(metric: str, compiled: bool) -> None:
    X = 1e9 + np.random.default_rng(23).normal(size=(6, 3))
    Y = np.concatenate([X, X + 1e-3, X - 1e9, -X])
    expected = by_scipy(X, Y, metric)
    out = make(X, metric, F32, True).cross(Y) if compiled else make(X, metric).cross(Y)
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=0)
    assert (np.diag(out) == 0).all()


def test_cross_in_many_chunks() -> None:
    # 2^20 numbers make a chunk: 600 columns and 4,000 queries are three.
    rng = np.random.default_rng(24)
    X, Y = rng.normal(size=(3, 600)), rng.normal(size=(4000, 600))
    np.testing.assert_allclose(make(X, "euclidean").cross(Y), by_scipy(X, Y, "euclidean"), rtol=1e-9, atol=0)


# --- names and parameters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("l2", "euclidean"),
        ("l1", "manhattan"),
        ("cityblock", "manhattan"),
        ("linf", "chebyshev"),
        ("lp", "minkowski"),
        ("sqeuclidean", "sqeuclidean"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    X = np.random.default_rng(25).normal(size=(8, 3))
    assert find_metric(alias) is METRICS[name]
    expected = by_scipy(X, X, name, p=2)
    np.testing.assert_allclose(whole(dissimilarity(X, alias)), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 2.0, 3, np.float64(4), 10, np.inf])
@pytest.mark.parametrize("n", [12, SMALL + 1])
def test_minkowski_for_any_p(p: float, n: int) -> None:
    X = np.random.default_rng(26).normal(size=(n, 3))
    distance = dissimilarity(X, "minkowski", {"p": p})
    rows, columns = slice(0, 6), slice(6, 12)
    expected = by_scipy(X[rows], X[columns], "minkowski", p=float(p))
    np.testing.assert_allclose(distance.block(rows, columns), expected, rtol=1e-9 if n < SMALL else 1e-4, atol=0)
    np.testing.assert_allclose(distance.exact_block(rows, columns), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("p", "name"), [(1, "manhattan"), (2, "euclidean"), (np.inf, "chebyshev")])
def test_special_cases_of_minkowski_are_the_metrics_of_their_own_name(p: float, name: str) -> None:
    X = np.random.default_rng(27).normal(size=(9, 4))
    np.testing.assert_array_equal(whole(dissimilarity(X, "minkowski", {"p": p})), whole(dissimilarity(X, name)))


def test_minkowski_is_euclidean_by_default() -> None:
    assert dissimilarity(np.array([[0.0, 0.0], [3.0, 4.0]]), "minkowski").block(WHOLE, WHOLE)[0, 1] == 5


@pytest.mark.parametrize("p", [0, -1, -np.inf, np.nan, "3", None, [2]])
def test_bad_p(p: Any) -> None:
    with pytest.raises(ValueError, match=r"metric_params=.*'p'.*minkowski needs a number p > 0") as caught:
        dissimilarity(np.zeros((3, 2)), "minkowski", {"p": p})
    assert repr(p) in str(caught.value)


# --- many points ---------------------------------------------------------------------------------------------------


def test_few_points_are_exact_at_once_and_many_are_sampled_in_single_precision() -> None:
    X = np.random.default_rng(28).normal(size=(SMALL + 1, 2))
    for metric in ALL:
        params = {"p": P} if metric == "minkowski" else None
        assert dissimilarity(X[:-1], metric, params).exact
        many = dissimilarity(X, metric, params)
        # Ratios and tests of equality would change by rounding.
        assert many.dtype == (F32 if metric in SINGLE else F64)
        assert many.exact == (metric not in SINGLE)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("scale", [1e-40, 1e-20, 1.0, 1e20, 1e40])
def test_many_points_of_any_scale(metric: str, scale: float) -> None:
    X = scale * np.random.default_rng(29).normal(size=(SMALL + 1, 3))
    distance = dissimilarity(X, metric, {"p": P} if metric == "minkowski" else None)
    rows, columns = slice(0, 20), slice(2000, 2040)
    expected = by_scipy(X[rows], X[columns], metric)
    np.testing.assert_allclose(distance.block(rows, columns), expected, rtol=1e-4, atol=0)
    np.testing.assert_allclose(distance.exact_block(rows, columns), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("p", "scale"), [(3, 1e-14), (3, 1e13), (10, 1e-5), (10, 1e-4), (10, 1e4), (30, 100.0)])
def test_many_points_under_minkowski_neither_overflow_nor_vanish(p: float, scale: float) -> None:
    # Powers of numbers that fit in single precision need not fit: 1e4 to the tenth does not.
    X = scale * np.random.default_rng(30).normal(size=(SMALL + 1, 3))
    distance = dissimilarity(X, "minkowski", {"p": p})
    rows, columns = slice(0, 20), slice(2000, 2040)
    expected = by_scipy(X[rows], X[columns], "minkowski", p=p)
    np.testing.assert_allclose(distance.block(rows, columns), expected, rtol=1e-4, atol=0)
    np.testing.assert_allclose(distance.exact_block(rows, columns), expected, rtol=1e-9, atol=0)
