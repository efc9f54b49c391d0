"""Values whose squares, powers or sums leave float64: the distances are those of the same rows in another unit."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from medoids import KMedoids, k_medoids
from medoids.distances import SMALL, dissimilarity
from medoids.distances.scaled import Scaled

WHOLE = slice(None)
# Of d(c x, c y) = c^degree d(x, y).
DEGREES = {
    "euclidean": 1, "manhattan": 1, "chebyshev": 1, "minkowski": 1, "dtw": 1,
    "cosine": 0, "correlation": 0, "canberra": 0, "braycurtis": 0,
}  # fmt: skip
SPARSE = ("euclidean", "cosine", "manhattan")
FORMS = [(metric, "dense") for metric in DEGREES] + [(metric, "sparse") for metric in SPARSE]


def rows_of(n: int, metric: str, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, 3))
    return np.abs(rows) if metric == "braycurtis" else rows


def as_kind(rows: np.ndarray, kind: str) -> Any:
    return sparse.csr_array(rows) if kind == "sparse" else rows


@pytest.mark.parametrize("n", [30, SMALL + 1])
@pytest.mark.parametrize("e", [-565, 565])  # 2^565 is 1e170
@pytest.mark.parametrize(("metric", "kind"), FORMS)
def test_a_power_of_two_changes_nothing_but_the_unit(metric: str, kind: str, e: int, n: int) -> None:
    rows = rows_of(n, metric)
    params = {"p": 3} if metric == "minkowski" else None
    usual, other = (dissimilarity(as_kind(x, kind), metric, params) for x in (rows, np.ldexp(rows, e)))
    some = np.array([7, 3, 21])
    factor = DEGREES[metric] * e
    expected = np.ldexp(usual.exact_block(some, slice(0, 25)), factor)
    assert expected.max() > 0
    np.testing.assert_allclose(other.exact_block(some, slice(0, 25)), expected, rtol=1e-12, atol=0)
    for block in (other.block, other.reordered(np.arange(n)).block):
        np.testing.assert_allclose(block(some, slice(0, 25)), expected, rtol=1e-12 if other.exact else 1e-4, atol=0)
    np.testing.assert_allclose(other.take(some).exact_block(WHOLE, WHOLE), expected[:, some], rtol=1e-12, atol=0)
    new = as_kind(rows_of(5, metric, seed=1), kind)
    across = np.ldexp(usual.take(some).cross(new), factor)
    found = pickle.loads(pickle.dumps(other.take(some))).cross(new * 2.0**e)
    np.testing.assert_allclose(found, across, rtol=1e-12, atol=0)


@pytest.mark.parametrize("scale", [1e-170, 1e-320, 1e170, 1e300])
@pytest.mark.parametrize("metric", ["euclidean", "minkowski", "cosine", "correlation"])
def test_a_fit_of_tiny_or_large_values(metric: str, scale: float) -> None:
    rows = np.round(100 * rows_of(60, metric))  # of two digits, which are left of subnormal numbers
    scale = scale if scale != 1e-320 else np.ldexp(1.0, -1070)
    params = {"p": 3} if metric == "minkowski" else None
    usual = k_medoids(rows, 3, metric=metric, metric_params=params)
    model = KMedoids(3, metric=metric, metric_params=params).fit(scale * rows)
    assert model.medoid_indices_.tolist() == usual.medoid_indices.tolist()
    assert model.labels_.tolist() == usual.labels.tolist()
    expected = usual.inertia * (scale if DEGREES[metric] else 1)
    assert model.inertia_ == pytest.approx(expected, rel=1e-9, abs=60 * 5e-324)
    assert model.predict(scale * rows).tolist() == model.labels_.tolist()
    assert model.score(scale * rows) == pytest.approx(-model.inertia_, rel=1e-9, abs=0)


def test_ratios_of_the_largest_values_there_are() -> None:
    rows = np.array([[1.5e308, 1.5e308, 0], [1.5e308, 0.75e308, 0], [-1.5e308, 0.0, 1e308]])
    # |x - y| / (|x| + |y|), column by column: 0 + 1/3 + 0, 1 + 1 + 1, 1 + 1 + 1; and sums of columns.
    block = dissimilarity(rows, "canberra").block(WHOLE, WHOLE)
    np.testing.assert_allclose(block, [[0, 1 / 3, 3], [1 / 3, 0, 3], [3, 3, 0]], rtol=1e-12)
    near = dissimilarity(np.abs(rows), "braycurtis").block(WHOLE, WHOLE)[0]
    np.testing.assert_allclose(near, [0, 0.75 / 5.25, 2.5 / 5.5], rtol=1e-12)
    for metric in ("cosine", "correlation"):
        small = dissimilarity(rows / 1e308, metric).block(WHOLE, WHOLE)
        np.testing.assert_allclose(dissimilarity(rows, metric).block(WHOLE, WHOLE), small, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("n", [6, SMALL + 6])
@pytest.mark.parametrize("p", [0.5, 30, 200.0])
def test_powers_of_near_and_of_far_pairs_under_minkowski(n: int, p: float) -> None:
    # 0.01^200 underflows in float64. Columns differ by d and d / 2: d (1 + 2^-p)^(1/p).
    rows = np.zeros((n, 2))
    rows[:6, 0] = [0, 0.01, 1, 100, 1e5, 1e-7]
    rows[:6, 1] = rows[:6, 0] / 2
    distance = dissimilarity(rows, "minkowski", {"p": p})
    apart = np.abs(rows[:6, :1] - rows[:6, 0])
    for block, rtol in ((distance.block, 1e-4), (distance.exact_block, 1e-9)):
        np.testing.assert_allclose(block(slice(0, 6), slice(0, 6)), apart * (1 + 2**-p) ** (1 / p), rtol=rtol, atol=0)


def test_new_rows_that_are_much_larger_than_the_medoids() -> None:
    distance = dissimilarity(np.array([[1e-170, 0.0], [0.0, 2e-170]]), "euclidean")
    assert isinstance(distance, Scaled)
    new = np.array([[3.0, 4.0], [1e-170, 0.0], [3e200, 4e200]])
    np.testing.assert_allclose(distance.cross(new[:1]), [[5], [5]], rtol=1e-12)
    np.testing.assert_allclose(distance.cross(new[1:2]), [[0], [np.sqrt(5) * 1e-170]], rtol=1e-12)
    np.testing.assert_allclose(distance.cross(new[2:]), [[5e200], [5e200]], rtol=1e-12)


def plain(x: np.ndarray, y: np.ndarray, metric: str) -> float:
    """By Python's own arithmetic, which has a scaled hypot."""
    gaps = [abs(float(a) - float(b)) for a, b in zip(x, y, strict=True)]
    return {"euclidean": math.hypot(*gaps), "manhattan": math.fsum(gaps), "chebyshev": max(gaps)}[metric]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize(("small", "large"), [(1e-170, 1.0), (1.0, 1e200), (1.0, 1e306), (1e-170, 1e300), (1e-320, 1)])
def test_rows_of_very_different_sizes(metric: str, kind: str, small: float, large: float) -> None:
    if kind == "sparse" and metric == "chebyshev":
        pytest.skip("not for sparse rows")
    rows = np.round(100 * rows_of(40, metric)) * (small / 100 if small > 1e-300 else np.ldexp(1.0, -1070))
    rows[0] = large / 4, large, 0
    rows[1] = large / 4, large, rows[2, 2]  # from row 0 it differs by little only
    expected = np.array([[plain(x, y, metric) for y in rows] for x in rows])
    distance = dissimilarity(as_kind(rows, kind), metric)
    np.testing.assert_allclose(distance.block(WHOLE, WHOLE), expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(
        distance.take(np.array([0, 5, 3])).cross(as_kind(rows, kind)), expected[[0, 5, 3]], 1e-12
    )
    found = k_medoids(as_kind(rows, kind), 2, metric=metric)
    assert len({0, 1} & set(found.medoid_indices.tolist())) == 1
    loss = min(np.minimum(expected[i], expected[j]).sum() for i in (0, 1) for j in range(2, 40))
    assert 0 < found.inertia == pytest.approx(loss, rel=1e-9, abs=0)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize(("small", "large"), [(1e-50, 1.0), (1e-170, 1.0), (1.0, 1e200)])
def test_many_rows_of_very_different_sizes(metric: str, small: float, large: float) -> None:
    n = SMALL + 5
    rows = small * rows_of(n, metric)
    rows[n - 2] = 0, large, 0
    found = k_medoids(rows, 2, metric=metric, random_state=0)
    i = next(i for i in found.medoid_indices if i != n - 2)
    expected = sum(plain(rows[i], x, metric) for at, x in enumerate(rows) if at != n - 2)
    assert found.inertia == pytest.approx(expected, rel=1e-9, abs=0)
    others = np.delete(rows, n - 2, axis=0) / small
    assert found.inertia == pytest.approx(small * k_medoids(others, 1, metric=metric).inertia, rel=1e-9, abs=0)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "minkowski", "cosine", "canberra", "dtw"])
def test_queries_that_are_far_larger_or_smaller_than_the_data(metric: str) -> None:
    rows = rows_of(30, metric)
    params = {"p": 3} if metric == "minkowski" else None
    model = KMedoids(3, metric=metric, metric_params=params).fit(rows)
    centers, e = model.cluster_centers_, 2.0**1000
    assert model.predict(rows).tolist() == model.labels_.tolist()
    # From so far all medoids are at the origin, and from there they are as far as they are long.
    origin, one = np.zeros((1, 3)), np.array([[1.0, 2.0, -3.0]])
    ratio = metric in ("cosine", "canberra")
    far = dissimilarity(one, metric, params).cross(one * 2.0**-50 if ratio else origin)
    new = np.vstack([one * e, one / e, rows[:2]])
    found = model.transform(new)
    if metric == "cosine":
        np.testing.assert_allclose(found[:2], [model.transform(one)[0]] * 2, rtol=1e-9)
    elif metric == "canberra":
        np.testing.assert_allclose(found[:2], 3, rtol=1e-12)
    else:
        np.testing.assert_allclose(found[0], [far[0, 0] * e] * 3, rtol=1e-12)
        np.testing.assert_allclose(found[1], model.transform(origin)[0], rtol=1e-12)
    np.testing.assert_allclose(found[2:], dissimilarity(centers, metric, params).cross(rows[:2]).T, rtol=1e-12)


@pytest.mark.parametrize("tiny", [1e-40, 1e-300])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "cosine"])
def test_tiny_values_beside_others_that_differ_need_no_other_unit(metric: str, tiny: float) -> None:
    random = np.random.RandomState(0)
    n = SMALL + 5
    rows = np.zeros((n, 4))
    rows[:, 0] = random.uniform(0.5, 1, size=n)
    rows[:, 1] = 1 - rows[:, 0]
    rows[:, 2:] = tiny * random.rand(n, 2)
    distance = dissimilarity(rows, metric)
    assert not isinstance(distance, Scaled)
    assert distance.dtype == np.float32
    expected = dissimilarity(rows[:, :2], metric)
    some, others = np.array([0, 5, 7]), slice(0, 20)
    np.testing.assert_allclose(distance.exact_block(some, others), expected.exact_block(some, others), rtol=1e-12)
    # Equal rows are no reason either, even if one has -0.0; rows that differ in tiny values only are.
    rows[1] = rows[0]
    rows[2:4] = [[0.3, 0.7, tiny, 0.0], [0.3, 0.7, tiny, -0.0]]
    assert not isinstance(dissimilarity(rows, metric), Scaled)
    rows[3, 3] = tiny
    assert isinstance(dissimilarity(rows, metric), Scaled) == (metric != "cosine")


def test_whole_rows_that_are_tiny_have_a_direction() -> None:
    rows = np.array([[3.0, 4.0], [3e-310, 4e-310], [4e-310, -3e-310]])
    found = dissimilarity(rows, "cosine").block(WHOLE, WHOLE)
    np.testing.assert_allclose(found, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-12)


def test_series_that_differ_by_next_to_nothing_raise() -> None:
    series = [np.array([1e300, x]) for x in (0, 1e-50, 3e-50, 1e-50)]
    with pytest.raises(ValueError, match=r"series 0 and 1 differ by less than a part in 1e280 .* about 1e\+300"):
        k_medoids(series, 2, metric="dtw")
    assert k_medoids([series[0], series[1], series[3]][1:], 1, metric="dtw").inertia == 0


def test_series_of_very_different_sizes() -> None:
    rows = rows_of(20, "dtw")
    rows[3] = 1e300
    found = k_medoids(rows, 2, metric="dtw")
    assert found.inertia == pytest.approx(k_medoids(np.delete(rows, 3, axis=0), 1, metric="dtw").inertia, rel=1e-9)


def test_squares_that_underflow_beside_others_raise_if_nothing_else_is_left() -> None:
    rows = 1e-170 * rows_of(20, "sqeuclidean")
    rows[0] = 1
    for data in (rows, sparse.csr_array(rows)):
        with pytest.raises(ValueError, match=r"squared distances underflow, and the loss with them; .*'euclidean'"):
            k_medoids(data, 2, metric="sqeuclidean")
        assert k_medoids(data, 1, metric="sqeuclidean").inertia == pytest.approx(3, rel=1e-12)
    same = np.repeat(rows[:2], 5, axis=0)
    assert k_medoids(same, 2, metric="sqeuclidean").inertia == 0


def test_squares_that_underflow_or_overflow_raise() -> None:
    rows = rows_of(20, "sqeuclidean")
    for data in (1e-170 * rows, sparse.csr_array(1e-170 * rows)):
        with pytest.raises(ValueError, match=r"about \de-170, whose squares underflow; .*or use metric='euclidean'"):
            k_medoids(data, 2, metric="sqeuclidean")
    with pytest.raises(ValueError, match=r"about \de\+170, and distances among them overflow .*'sqeuclidean'"):
        k_medoids(1e170 * rows, 2, metric="sqeuclidean")
    found = k_medoids(1e-140 * rows, 2, metric="sqeuclidean")
    assert found.inertia == pytest.approx(1e-280 * k_medoids(rows, 2, metric="sqeuclidean").inertia, rel=1e-9, abs=0)


@pytest.mark.parametrize("algorithm", ["pairedpam", "banditpam++", "banditpam"])
@pytest.mark.parametrize("scale", [1e-170, 1e170])
def test_an_algorithm_that_samples_says_that_squares_are_no_numbers(algorithm: str, scale: float) -> None:
    rows = rows_of(50, "euclidean")
    word = "small: their squares vanish" if scale < 1 else "large: their squares overflow"
    with pytest.raises(ValueError, match=rf"distances are too {word}.*use algorithm='fastpam1'"):
        k_medoids(scale * rows, 2, algorithm=algorithm, random_state=0)
    with pytest.raises(ValueError, match=f"distances are too {word}"):
        k_medoids(scale * cdist(rows, rows), 2, metric="precomputed", algorithm=algorithm, random_state=0)


def test_a_sum_that_overflows_raises() -> None:
    with pytest.warns(RuntimeWarning, match="overflow"), pytest.raises(ValueError, match="sum of the distances over"):
        k_medoids(np.linspace(-8e307, 8e307, 50)[:, None], 1)
