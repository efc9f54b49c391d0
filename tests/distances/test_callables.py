"""Distances that are Python functions, compiled by Numba or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist

from everything import ANY_METRIC
from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity, kind_of
from medoids.distances.callables import CallableDistance, JittedDistance, is_jitted

WHOLE = slice(None)
X = np.random.default_rng(0).normal(size=(60, 3))
CITYBLOCK = cdist(X, X, "cityblock")
WORDS = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]


def manhattan(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).sum())


def ahead(a: np.ndarray, b: np.ndarray) -> float:
    """Asymmetric: a step up costs three times a step down."""
    gap = b[0] - a[0]
    return float(3 * gap if gap > 0 else -gap)


def unlike(a: str, b: str) -> int:
    """How many letters only one of two words has."""
    return len(set(a) ^ set(b))


def weighted(a: np.ndarray, b: np.ndarray, scale: float = 1.0, shift: float = 0.0) -> float:
    return float(scale * np.abs(a - b).sum() + shift)


@numba.njit
def jitted_manhattan(a, b):
    total = 0.0
    for f in range(len(a)):
        total += abs(a[f] - b[f])
    return total


@numba.njit
def jitted_weighted(a, b, scale=2.0, shift=0.0):
    total = 0.0
    for f in range(len(a)):
        total += abs(a[f] - b[f])
    return scale * total + shift


@numba.njit
def jitted_lp(a, b, p):
    total = 0.0
    for f in range(len(a)):
        total += abs(a[f] - b[f]) ** p
    return total ** (1 / p)


@numba.njit
def jitted_ahead(a, b):
    gap = b[0] - a[0]
    return 3 * gap if gap > 0 else -gap


@numba.njit
def jitted_hole(a, b):
    if a[0] == 7.0 and b[0] == 3.0:
        return np.nan
    return abs(a[0] - b[0])


@numba.njit
def jitted_boom(a, b):
    if a[0] == 7.0 and b[0] == 3.0:
        raise ValueError("boom")
    return abs(a[0] - b[0])


class Calls:
    """A metric that remembers which pairs it was called with."""

    def __init__(self, metric: Callable[..., float]) -> None:
        self.metric, self.pairs = metric, Counter[tuple[bytes, bytes]]()

    def __call__(self, a: np.ndarray, b: np.ndarray) -> float:
        self.pairs[a.tobytes(), b.tobytes()] += 1
        return self.metric(a, b)


# --- callables -----------------------------------------------------------------------------------------------------


def test_over_rows_by_hand() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 2.0], [5.0, 5.0]])
    distance = dissimilarity(rows, manhattan)
    assert isinstance(distance, CallableDistance)
    assert distance.n == 3
    assert distance.exact
    assert distance.block(WHOLE, WHOLE).tolist() == [[0, 3, 10], [3, 0, 7], [10, 7, 0]]
    assert distance.exact_block(slice(1, 3), np.array([2, 0])).tolist() == [[7, 3], [0, 10]]


def test_the_medoid_comes_first() -> None:
    rows = np.array([[0.0], [1.0], [4.0]])
    # From 0 up to 4 costs 12, from 4 down to 0 costs 4.
    expected = [[0, 3, 12], [1, 0, 9], [4, 3, 0]]
    assert dissimilarity(rows, ahead).block(WHOLE, WHOLE).tolist() == expected
    assert dissimilarity(rows, jitted_ahead).block(WHOLE, WHOLE).tolist() == expected
    assert dissimilarity(rows[:2], ahead).cross(rows[2:]).tolist() == [[12], [9]]
    assert dissimilarity(rows[:2], jitted_ahead).cross(rows[2:]).tolist() == [[12], [9]]


@pytest.mark.parametrize("pack", [list, tuple, lambda words: np.array(words, dtype=object), np.array])
def test_over_objects(pack: Callable[[list[str]], Any]) -> None:
    distance = dissimilarity(pack(WORDS), unlike)
    assert distance.n == 6
    # ape|apes: s. ape|tape: t. ape|zebra: p against z, b, r. ape|zebras: and s. ape|cobra: p, e against c, o, b, r.
    assert distance.block(slice(0, 1), WHOLE).tolist() == [[0, 1, 1, 4, 5, 6]]
    # zebra|ape: z, b, r against p. cobra|tape: c, o, b, r against t, p, e. cobra|zebras: c, o against z, e, s.
    assert distance.block(np.array([3, 5]), slice(0, 6, 2)).tolist() == [[4, 5, 1], [6, 7, 5]]
    assert distance.take(np.array([5, 0])).block(WHOLE, WHOLE).tolist() == [[0, 6], [6, 0]]
    assert distance.take(slice(0, 6, 5)).block(WHOLE, WHOLE).tolist() == [[0, 6], [6, 0]]
    assert distance.cross(["ape"]).tolist() == [[0], [1], [1], [4], [5], [6]]


def test_objects_of_any_kind() -> None:
    def gap(a: dict[str, int], b: dict[str, int]) -> int:
        return abs(a["age"] - b["age"])

    people = [{"age": age} for age in (1, 2, 3, 50, 51, 53)]
    found = k_medoids(people, 2, metric=gap)
    assert sorted(found.medoid_indices) == [1, 4]
    assert found.inertia == 1 + 1 + 1 + 2
    model = KMedoids(2, metric=gap).fit(people)
    assert sorted(centre["age"] for centre in model.cluster_centers_) == [2, 51]
    ages = [model.cluster_centers_[label]["age"] for label in model.predict([{"age": 60}, {"age": 0}])]
    assert ages == [51, 2]


def test_parameters_reach_the_function() -> None:
    twice = dissimilarity(X, weighted, {"scale": 2.0, "shift": 0.5}).block(WHOLE, WHOLE)
    np.testing.assert_allclose(twice, 2 * CITYBLOCK + 0.5, rtol=1e-12)
    model = KMedoids(3, metric=weighted, metric_params={"scale": 2.0}).fit(X)
    np.testing.assert_allclose(model.transform(X[:5]), 2 * CITYBLOCK[:5, model.medoid_indices_], rtol=1e-12)


def test_unknown_parameter_of_a_function() -> None:
    with pytest.raises(TypeError, match="'speed'"):
        k_medoids(X, 2, metric=weighted, metric_params={"speed": 1})


def test_symmetric_is_not_a_parameter_of_the_function_and_halves_the_calls() -> None:
    n = len(X)
    both, half = Calls(manhattan), Calls(manhattan)
    expected = k_medoids(X, 3, metric=both)
    found = k_medoids(X, 3, metric=half, metric_params={"symmetric": True})
    assert both.pairs.total() == n * n
    assert half.pairs.total() == n * (n + 1) // 2
    assert found.n_evaluations == n * (n + 1) // 2
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert not dissimilarity(X, manhattan).symmetric
    assert dissimilarity(X, manhattan, {"symmetric": True}).symmetric


def test_an_asymmetric_metric_is_never_mirrored() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]])
    cost = np.array([[ahead(a, b) for b in rows] for a in rows])
    for metric in (ahead, jitted_ahead):
        found = k_medoids(rows, 2, metric=metric)
        # In {0, 1, 2}: from 2 down costs 2 + 1, from 1 costs 1 + 3. In {10, 11, 13}: from 13 down 3 + 2, from 11 1 + 6.
        assert sorted(found.medoid_indices) == [2, 5]
        assert found.inertia == 2 + 1 + 3 + 2
        assert found.distances.tolist() == cost[found.medoid_indices].min(axis=0).tolist()


@pytest.mark.parametrize("value", [1, np.float32(0.5), np.int8(3), True, np.array(2.0)])
def test_any_number_will_do(value: Any) -> None:
    assert dissimilarity([0, 1], lambda a, b: value).block(WHOLE, WHOLE).tolist() == [[float(value)] * 2] * 2


# --- callables that fail -------------------------------------------------------------------------------------------


def _row(row: np.ndarray) -> int:
    return int(np.flatnonzero((row == X).all(axis=1))[0])


@pytest.mark.parametrize("algorithm", sorted(ANY_METRIC))
def test_an_error_names_the_two_rows(algorithm: str) -> None:
    asked: list[tuple[int, int]] = []

    def picky(a: np.ndarray, b: np.ndarray) -> float:
        asked.append((_row(a), _row(b)))
        if _row(a) >= 20:
            raise LookupError("no such pair")
        return manhattan(a, b)

    with pytest.raises(LookupError, match="no such pair") as caught:
        k_medoids(X, 3, metric=picky, algorithm=algorithm, random_state=0)
    i, s = asked[-1]
    assert caught.value.__notes__ == [f"The metric was called with row {i} and row {s} of X."]


@pytest.mark.parametrize("algorithm", sorted(ANY_METRIC))
def test_a_value_that_is_not_finite_names_the_two_rows(algorithm: str) -> None:
    def holey(a: np.ndarray, b: np.ndarray) -> float:
        return np.nan if _row(a) >= 20 and _row(b) == 55 else manhattan(a, b)

    with pytest.raises(
        ValueError, match=r"metric returned nan for row \d+ and row 55 of X; it must .* finite"
    ) as caught:
        k_medoids(X, 3, metric=holey, algorithm=algorithm, random_state=0)
    match = re.search(r"row (\d+) and", str(caught.value))
    assert match is not None
    assert int(match[1]) >= 20


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_by_hand(value: float) -> None:
    def metric(a: int, b: int) -> float:
        return value if (a, b) == (30, 10) else abs(a - b)

    with pytest.raises(ValueError, match=rf"metric returned {value} for row 2 and row 0 of X"):
        dissimilarity([10, 20, 30], metric).block(WHOLE, WHOLE)
    with pytest.raises(ValueError, match=rf"metric returned {value} for row 1 and query 0 of X"):
        dissimilarity([20, 30], metric).cross([10])


@pytest.mark.parametrize("value", ["far", [1, 2], 1j, object(), np.ones(3), {}])
def test_a_value_that_is_no_number_names_the_two_rows(value: Any) -> None:
    def metric(a: int, b: int) -> Any:
        return value if (a, b) == (30, 10) else abs(a - b)

    with pytest.raises(TypeError, match=r"metric returned .* for row 2 and row 0 of X; it must return a number"):
        dissimilarity([10, 20, 30], metric).block(WHOLE, WHOLE)


def test_none_names_the_two_rows() -> None:
    def forgot_to_return(a: int, b: int) -> None:
        abs(a - b)

    with pytest.raises(TypeError, match=r"metric returned None for row 1 and row 0 of X; it must return a number"):
        dissimilarity([10, 20], forgot_to_return).block(slice(1, 2), WHOLE)


@pytest.mark.parametrize("metric", [manhattan, jitted_manhattan])
def test_nothing_is_fitted_after_an_error(metric: Callable[..., float]) -> None:
    rows = X.copy()
    model = KMedoids(3, metric=metric, metric_params={"nonsense": 1})
    with pytest.raises(TypeError, match="nonsense"):
        model.fit(rows)
    assert not hasattr(model, "medoid_indices_")
    assert not hasattr(model, "labels_")


def test_an_error_in_predict_names_the_medoid_and_the_query() -> None:
    def picky(a: np.ndarray, b: np.ndarray) -> float:
        if b[0] == 99:
            raise LookupError("no such pair")
        return manhattan(a, b)

    model = KMedoids(2, metric=picky).fit(X)
    queries = X[:4].copy()
    queries[2, 0] = 99
    with pytest.raises(LookupError) as caught:
        model.predict(queries)
    # Row 0 of X is not a medoid, and had nothing to do with it.
    assert 0 not in model.medoid_indices_
    (note,) = caught.value.__notes__
    assert re.search(rf"(row {model.medoid_indices_[0]}|medoid 0)\b.*query 2\b", note)


# --- jitted callables ----------------------------------------------------------------------------------------------


def test_which_functions_are_compiled() -> None:
    assert is_jitted(jitted_manhattan)
    assert not is_jitted(manhattan)
    assert kind_of(jitted_manhattan) == "vectors"
    assert kind_of(manhattan) == "objects"
    assert isinstance(dissimilarity(X, jitted_manhattan), JittedDistance)


def test_jitted_gives_the_same_as_python() -> None:
    compiled, python = dissimilarity(X, jitted_manhattan), dissimilarity(X, jitted_manhattan.py_func)
    for rows, columns in ((WHOLE, WHOLE), (slice(3, 9), np.array([5, 0, 5])), (np.array([59]), slice(0, 60, 7))):
        expected = python.block(rows, columns)
        np.testing.assert_allclose(compiled.block(rows, columns), expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(compiled.exact_block(rows, columns), expected, rtol=1e-12, atol=1e-15)
    part = np.array([4, 2, 40])
    np.testing.assert_allclose(compiled.take(part).block(WHOLE, WHOLE), CITYBLOCK[np.ix_(part, part)], rtol=1e-12)
    np.testing.assert_allclose(compiled.take(part).cross(X[:7]), CITYBLOCK[part, :7], rtol=1e-12)


def test_jitted_over_integers() -> None:
    rows = np.array([[250, 3], [5, 9]], dtype=np.uint8).astype(np.int64)
    np.testing.assert_array_equal(dissimilarity(rows, jitted_manhattan).block(WHOLE, WHOLE), [[0, 251], [251, 0]])


@pytest.mark.parametrize("algorithm", ["fastpam1", "fasterpam", "clara"])
def test_a_fit_with_jitted_is_the_fit_with_python(algorithm: str) -> None:
    fits = [
        k_medoids(X, 3, metric=metric, algorithm=algorithm, random_state=1)
        for metric in (manhattan, jitted_manhattan, "manhattan")
    ]
    assert fits[0].medoid_indices.tolist() == fits[1].medoid_indices.tolist() == fits[2].medoid_indices.tolist()
    assert fits[0].inertia == pytest.approx(fits[1].inertia, rel=1e-12)
    # Samples of clara overlap: a Python function is not asked again for a pair.
    requested = [sum(count.requested for count in found.counts.values()) for found in fits]
    assert fits[0].n_evaluations <= fits[1].n_evaluations == requested[0] == requested[1]


def test_jitted_parameters_and_their_defaults() -> None:
    def block(params: dict[str, Any] | None) -> np.ndarray:
        return dissimilarity(X, jitted_weighted, params).block(WHOLE, WHOLE)

    np.testing.assert_allclose(block(None), 2 * CITYBLOCK, rtol=1e-12)
    np.testing.assert_allclose(block({"scale": 5.0}), 5 * CITYBLOCK, rtol=1e-12)
    np.testing.assert_allclose(block({"shift": 1.0}), 2 * CITYBLOCK + 1, rtol=1e-12)
    np.testing.assert_allclose(block({"shift": 1.0, "scale": 3.0}), 3 * CITYBLOCK + 1, rtol=1e-12)
    cubes = dissimilarity(X, jitted_lp, {"p": 3.0}).block(WHOLE, WHOLE)
    np.testing.assert_allclose(cubes, cdist(X, X, "minkowski", p=3), rtol=1e-12)


def test_jitted_parameters_that_are_unknown_or_missing() -> None:
    with pytest.raises(TypeError, match=r"metric\(a, b, scale=.*, shift=.*\): .*unexpected keyword argument 'speed'"):
        k_medoids(X, 2, metric=jitted_weighted, metric_params={"speed": 1})
    with pytest.raises(TypeError, match=r"do not suit metric\(.*p\): missing a required argument: 'p'"):
        k_medoids(X, 2, metric=jitted_lp)


def test_jitted_symmetric() -> None:
    # In tiles of at most 512 rows, those below the diagonal are mirrored: 6 of the 9 are computed here.
    n = 1100
    rows = np.random.default_rng(2).normal(size=(n, 2))
    found = k_medoids(rows, 3, metric=jitted_manhattan, metric_params={"symmetric": True})
    both = k_medoids(rows, 3, metric=jitted_manhattan)
    assert both.n_evaluations == n * n
    assert n * n / 2 < found.n_evaluations < 0.75 * n * n
    assert found.medoid_indices.tolist() == both.medoid_indices.tolist()
    assert found.inertia == both.inertia


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jitted_not_finite_names_the_two_rows(n_jobs: int) -> None:
    rows = np.arange(10.0)[:, None]
    with pytest.raises(
        ValueError, match=r"metric returned nan for row 7 and row 3 of X; it must return a finite number"
    ):
        k_medoids(rows, 2, metric=jitted_hole, n_jobs=n_jobs)
    with pytest.raises(ValueError, match=r"for row 1 and query 0 of X"):
        dissimilarity(rows[[0, 7]], jitted_hole).cross(rows[[3]])
    with pytest.raises(ValueError, match=r"for row 7 and row 3 of X"):
        dissimilarity(rows, jitted_hole).block(slice(6, 9), np.array([9, 3]))


def test_jitted_error_names_the_two_rows() -> None:
    with pytest.raises(ValueError, match="boom") as caught:
        k_medoids(np.arange(10.0)[:, None], 2, metric=jitted_boom)
    assert caught.value.__notes__ == ["The metric was called with row 7 and row 3 of X."]


def test_jitted_refuses_what_is_not_numbers() -> None:
    with pytest.raises(ValueError, match=r"takes rows of numbers.*'ape'"):
        k_medoids(WORDS, 2, metric=jitted_manhattan)


# --- rows of a frame ------------------------------------------------------------------------------------------------


def ages(a: Any, b: Any) -> float:
    return abs(float(a["age"]) - float(b["age"]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("by_name", [ages, lambda a, b: abs(a.age - b.age)])
def test_rows_of_a_frame_have_no_names_and_the_error_says_so(frame: Any, by_name: Callable[..., float]) -> None:
    people = frame({"name": ["ann", "bob", "cy", "di"], "age": [3, 4, 60, 65]})
    with pytest.raises((AttributeError, IndexError)) as caught:
        k_medoids(people, 2, metric=by_name)
    assert any("NumPy arrays, without the names of columns" in note for note in caught.value.__notes__)
    found = k_medoids(people, 2, metric=lambda a, b: abs(a[1] - b[1]))
    assert found.labels[0] == found.labels[1] != found.labels[2] == found.labels[3]


def test_rows_with_names_are_dicts() -> None:
    people = pd.DataFrame({"name": ["ann", "bob", "cy", "di"], "age": [3, 4, 60, 65]})
    model = KMedoids(2, metric=ages).fit(people.to_dict("records"))
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    assert model.predict([{"age": 50}]).tolist() == [model.labels_[2]]
