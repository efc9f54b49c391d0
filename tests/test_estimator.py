"""The estimator: scikit-learn's own checks, new data, tables, copies, seeds, callbacks and Ctrl-C."""

from __future__ import annotations

import gc
import io
import itertools
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from everything import ANY_METRIC
from medoids import KMedoids, TraceRecord, k_medoids
from medoids.distances import SMALL

EVERY = ["auto", *ANY_METRIC]
X = np.random.default_rng(0).normal(size=(120, 4))
NEW = np.random.default_rng(1).normal(size=(35, 4))
NAMES = ["a", "b", "c", "d"]


def manhattan(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).sum())


@numba.njit
def jitted_manhattan(a, b):
    total = 0.0
    for f in range(len(a)):
        total += abs(a[f] - b[f])
    return total


def letters(a: str, b: str) -> int:
    return len(set(a) ^ set(b))


def outcome(model: Any) -> tuple[Any, ...]:
    """All that a fit leaves, to be compared to the last bit; but for the time that it took."""
    steps = [(r.phase, r.medoid_in, r.medoid_out, r.loss, r.n_evaluations, r.candidates) for r in model.trace_]
    numbers = model.inertia_, model.n_iter_, model.n_evaluations_
    return model.medoid_indices_.tolist(), model.labels_.tolist(), numbers, steps


# These take any predict_proba for that of a classifier, and look for its classes.
CLASSIFIERS_ONLY = dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), "not a classifier")


@parametrize_with_checks([KMedoids(n_clusters=3)], expected_failed_checks=lambda estimator: CLASSIFIERS_ONLY)
def test_scikit_learns_own_checks(estimator: KMedoids, check: Callable[[KMedoids], None]) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [KMedoids(n_clusters=3, algorithm=algorithm) for algorithm in ANY_METRIC],
    expected_failed_checks=lambda estimator: CLASSIFIERS_ONLY,
)
def test_scikit_learns_own_checks_of_each_algorithm(estimator: KMedoids, check: Callable[[KMedoids], None]) -> None:
    check(estimator)


# --- by hand -------------------------------------------------------------------------------------------------------


def test_attributes_by_hand() -> None:
    # On a line: the middle of 0, 1, 3 costs 1 + 2, the middle of 20, 21, 25 costs 1 + 4.
    line = np.array([[0.0], [1.0], [3.0], [20.0], [21.0], [25.0]])
    model = KMedoids(2).fit(line)
    assert sorted(model.medoid_indices_) == [1, 4]
    assert model.inertia_ == pytest.approx(8)
    assert model.loss_ == pytest.approx(8 / 6)
    assert model.distances_.tolist() == pytest.approx([1, 0, 2, 1, 0, 4])
    assert model.labels_.shape == (6,)
    assert len(set(model.labels_[:3])) == len(set(model.labels_[3:])) == 1
    np.testing.assert_array_equal(model.cluster_centers_, line[model.medoid_indices_])
    assert model.n_features_in_ == 1
    assert model.n_iter_ == sum(record.phase == "swap" for record in model.trace_)
    assert isinstance(model.n_evaluations_, int)
    near = model.labels_[1]
    assert model.predict([[5.0], [10.9], [11.1], [100.0]]).tolist() == [near, near, 1 - near, 1 - near]
    distances = model.transform([[5.0]])
    assert sorted(distances[0]) == pytest.approx([4, 16])
    assert model.score([[5.0], [22.0]]) == pytest.approx(-(4 + 1))


def test_weights_by_hand() -> None:
    # Nine times the weight at 4 outweighs the other four: the medoid moves there.
    line = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    assert KMedoids(1).fit(line).medoid_indices_.tolist() == [2]
    model = KMedoids(1).fit(line, sample_weight=[1, 1, 1, 1, 9])
    assert model.medoid_indices_.tolist() == [4]
    assert model.inertia_ == pytest.approx(4 + 3 + 2 + 1)
    assert model.loss_ == pytest.approx(10 / 13)
    assert model.distances_.tolist() == pytest.approx([4, 3, 2, 1, 0])
    assert model.score([[3.0], [0.0]], sample_weight=[2, 0.5]) == pytest.approx(-(2 * 1 + 0.5 * 4))


# --- new data ------------------------------------------------------------------------------------------------------

METRICS = ["euclidean", "sqeuclidean", "cosine", "correlation", "cityblock", "chebyshev", "canberra", "braycurtis"]


@pytest.mark.parametrize("metric", [*METRICS, "hamming", "minkowski"])
def test_predict_transform_and_score_agree_with_scipy(metric: str) -> None:
    train, new = (np.round(X), np.round(NEW)) if metric == "hamming" else (X, NEW)
    params = {"p": 3} if metric == "minkowski" else {}
    model = KMedoids(5, metric=metric, metric_params=params or None).fit(train)
    expected = cdist(new, train[model.medoid_indices_], metric, **params)
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-9, atol=1e-12)
    if metric != "hamming":  # where there are ties, which the lowest takes
        np.testing.assert_array_equal(model.predict(new), expected.argmin(axis=1))
    assert model.score(new) == pytest.approx(-expected.min(axis=1).sum(), rel=1e-9)
    weight = np.random.default_rng(2).uniform(size=len(new))
    assert model.score(new, sample_weight=weight) == pytest.approx(-(weight @ expected.min(axis=1)), rel=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_new_data_after_a_fit_in_single_precision(metric: str) -> None:
    train = np.random.default_rng(3).normal(size=(SMALL + 1, 3))
    new = np.concatenate([train[:5], NEW[:, :3]])
    model = KMedoids(4, metric=metric, random_state=0).fit(train)
    expected = cdist(new, train[model.medoid_indices_], {"manhattan": "cityblock"}.get(metric, metric))
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(model.predict(new), expected.argmin(axis=1))
    everything = cdist(train, train[model.medoid_indices_], {"manhattan": "cityblock"}.get(metric, metric))
    assert model.inertia_ == pytest.approx(everything.min(axis=1).sum(), rel=1e-12)
    np.testing.assert_array_equal(model.labels_, everything.argmin(axis=1))


@pytest.mark.parametrize("metric", [manhattan, jitted_manhattan])
def test_new_data_with_a_callable(metric: Callable[..., float]) -> None:
    model = KMedoids(4, metric=metric).fit(X)
    expected = cdist(NEW, X[model.medoid_indices_], "cityblock")
    np.testing.assert_allclose(model.transform(NEW), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(NEW), expected.argmin(axis=1))
    assert model.score(NEW) == pytest.approx(-expected.min(axis=1).sum())


def test_new_objects() -> None:
    words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]
    model = KMedoids(2, metric=letters).fit(words)
    centres = [words[i] for i in model.medoid_indices_]
    assert model.cluster_centers_ == centres
    new = ["tapes", "bra"]
    expected = np.array([[letters(centre, word) for centre in centres] for word in new])
    np.testing.assert_array_equal(model.transform(new), expected)
    assert model.predict(new).tolist() == expected.argmin(axis=1).tolist()
    assert model.score(new) == -expected.min(axis=1).sum()


def test_labels_are_what_predict_says_of_the_same_rows() -> None:
    for algorithm in EVERY:
        model = KMedoids(6, algorithm=algorithm, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert model.labels_[model.medoid_indices_].tolist() == list(range(6))
        assert model.score(X) == pytest.approx(-model.inertia_)


def test_transform_keeps_float32() -> None:
    new = NEW.astype(np.float32)
    model = KMedoids(3).fit(X)
    found = model.transform(new)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, cdist(new, X[model.medoid_indices_]), rtol=1e-6)
    assert model.transform(NEW).dtype == np.float64
    assert model.transform(np.ones((2, 4), dtype=int)).dtype == np.float64
    table = pd.DataFrame(new, columns=NAMES)
    assert KMedoids(3).fit(table).transform(table).dtype == np.float32


def test_fit_predict_and_fit_transform() -> None:
    model = KMedoids(3, random_state=0)
    labels = model.fit_predict(X)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(labels, KMedoids(3, random_state=0).fit(X).labels_)
    distances = KMedoids(3, random_state=0).fit_transform(X)
    np.testing.assert_allclose(distances, cdist(X, X[model.medoid_indices_]), rtol=1e-9, atol=1e-12)


def test_one_row_of_new_data_at_a_time() -> None:
    model = KMedoids(4).fit(X)
    one_by_one = np.concatenate([model.transform(row[None]) for row in NEW])
    np.testing.assert_allclose(one_by_one, model.transform(NEW), rtol=1e-12)


# --- distance matrices ---------------------------------------------------------------------------------------------


def test_orientation_of_precomputed_distances() -> None:
    # d(i, q) is what it costs from i to q. Row 0 reaches all others cheaply, all others reach 0 dearly.
    D = np.array([[0.0, 1.0, 1.0], [9.0, 0.0, 9.0], [9.0, 9.0, 0.0]])
    model = KMedoids(1, metric="precomputed").fit(D)
    assert model.medoid_indices_.tolist() == [0]
    assert model.inertia_ == 2
    assert not hasattr(model, "cluster_centers_")
    # Entry [q, i] is d(i, q): a row for each query, a column for each training row.
    two = KMedoids(2, metric="precomputed").fit(D)
    assert 0 in two.medoid_indices_
    other = int(two.medoid_indices_[two.medoid_indices_ != 0][0])
    queries = np.full((2, 3), 50.0)
    queries[0, [0, other]] = 1, 2
    queries[1, [0, other]] = 4, 3
    assert two.medoid_indices_[two.predict(queries)].tolist() == [0, other]
    assert two.score(queries) == -(1 + 3)
    np.testing.assert_array_equal(two.transform(queries), queries[:, two.medoid_indices_])


def test_an_asymmetric_matrix_gives_its_own_labels_when_turned() -> None:
    D = np.random.default_rng(4).uniform(size=(40, 40))
    np.fill_diagonal(D, 0)
    model = KMedoids(4, metric="precomputed").fit(D)
    assert model.inertia_ == pytest.approx(D[model.medoid_indices_].min(axis=0).sum())
    np.testing.assert_array_equal(model.predict(D.T), model.labels_)
    assert model.score(D.T) == pytest.approx(-model.inertia_)
    assert (model.predict(D) != model.labels_).any()


def test_cross_validation_takes_rows_and_columns_of_a_matrix() -> None:
    D = cdist(X, X)
    folds = KFold(4)
    scores = cross_val_score(KMedoids(3, metric="precomputed"), D, cv=folds)
    expected = [KMedoids(3).fit(X[train]).score(X[test]) for train, test in folds.split(X)]
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


# --- tables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_the_fit_of_their_numbers(frame: Any) -> None:
    table, new = frame(dict(zip(NAMES, X.T, strict=True))), frame(dict(zip(NAMES, NEW.T, strict=True)))
    expected = KMedoids(3).fit(X)
    for metric in ("euclidean", manhattan):
        model = KMedoids(3, metric=metric).fit(table)
        assert model.feature_names_in_.tolist() == NAMES
        assert model.n_features_in_ == 4
        plain = KMedoids(3, metric=metric).fit(X)
        assert model.medoid_indices_.tolist() == plain.medoid_indices_.tolist()
        np.testing.assert_array_equal(model.predict(new), plain.predict(NEW))
    assert k_medoids(table, 3).medoid_indices.tolist() == expected.medoid_indices_.tolist()


def test_rows_of_a_frame_are_numbered_from_zero_whatever_its_index() -> None:
    table = pd.DataFrame(X, columns=NAMES, index=np.arange(1000, 1120)[::-1])
    assert KMedoids(3).fit(table).medoid_indices_.tolist() == KMedoids(3).fit(X).medoid_indices_.tolist()
    words = pd.Series(["ape", "apes", "zebra", "zebras"], index=[7, 3, 9, 1])
    found = KMedoids(2, metric=letters).fit(words)
    assert found.labels_[0] == found.labels_[1] != found.labels_[2] == found.labels_[3]
    assert k_medoids(pl.Series(words.to_list()), 2, metric=letters).labels.tolist() == found.labels_.tolist()


def test_names_of_features_are_checked() -> None:
    table = pd.DataFrame(X, columns=NAMES)
    model = KMedoids(3).fit(table)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["b", "a", "c", "d"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_names_of_output() -> None:
    model = KMedoids(3).fit(X)
    assert model.get_feature_names_out().tolist() == ["kmedoids0", "kmedoids1", "kmedoids2"]


def test_output_as_frames() -> None:
    expected = KMedoids(3).fit(X).transform(NEW)
    as_pandas = KMedoids(3).set_output(transform="pandas").fit(X).transform(NEW)
    assert isinstance(as_pandas, pd.DataFrame)
    assert as_pandas.columns.tolist() == ["kmedoids0", "kmedoids1", "kmedoids2"]
    np.testing.assert_array_equal(as_pandas.to_numpy(), expected)
    as_polars = KMedoids(3).set_output(transform="polars").fit(X).transform(NEW)
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.columns == ["kmedoids0", "kmedoids1", "kmedoids2"]
    np.testing.assert_array_equal(as_polars.to_numpy(), expected)
    table = pd.DataFrame(NEW, columns=NAMES, index=np.arange(50, 85))
    kept = KMedoids(3).set_output(transform="pandas").fit(pd.DataFrame(X, columns=NAMES)).transform(table)
    assert kept.index.tolist() == list(range(50, 85))


# --- copies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", manhattan, jitted_manhattan, "precomputed"])
def test_a_pickle_predicts_the_same(metric: Any) -> None:
    train, new = (cdist(X, X), cdist(NEW, X)) if metric == "precomputed" else (X, NEW)
    model = KMedoids(3, metric=metric, random_state=0).fit(train)
    before = model.transform(new)
    twin = pickle.loads(pickle.dumps(model))
    assert outcome(twin) == outcome(model)
    np.testing.assert_array_equal(twin.transform(new), before)
    np.testing.assert_array_equal(twin.predict(new), model.predict(new))
    assert twin.fit(train).medoid_indices_.tolist() == model.medoid_indices_.tolist()


def test_a_pickle_of_a_fit_in_single_precision_is_small_and_predicts_the_same() -> None:
    train = np.random.default_rng(5).normal(size=(SMALL + 1, 3))
    model = KMedoids(3).fit(train)
    pickled = pickle.dumps(model)
    # Labels and distances, but neither the training rows nor a matrix.
    assert len(pickled) < 16 * len(train) + 20_000
    np.testing.assert_array_equal(pickle.loads(pickled).transform(NEW[:, :3]), model.transform(NEW[:, :3]))


def test_a_pickle_of_objects() -> None:
    model = KMedoids(2, metric=letters).fit(["ape", "apes", "zebra", "zebras"])
    stream = io.BytesIO()
    pickle.dump(model, stream)
    stream.seek(0)
    assert pickle.load(stream).predict(["tape", "bra"]).tolist() == model.predict(["tape", "bra"]).tolist()


@pytest.mark.parametrize("metric", ["manhattan", manhattan, "precomputed"])
def test_a_clone_is_not_fitted_and_fits_the_same(metric: Any) -> None:
    train = cdist(X, X) if metric == "precomputed" else X
    model = KMedoids(3, metric=metric, init="random", n_init=2, max_iter=77, random_state=3, memory_limit=10**8)
    model.fit(train)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "medoid_indices_")
    assert outcome(twin.fit(train)) == outcome(model)


def test_the_callers_arguments_are_left_alone() -> None:
    params, init, rows = {"p": 3}, np.array([3, 1, 4]), X.copy()
    model = KMedoids(3, metric="minkowski", metric_params=params, init=init).fit(rows)
    assert params == {"p": 3}
    assert init.tolist() == [3, 1, 4]
    np.testing.assert_array_equal(rows, X)
    assert model.get_params()["init"] is init
    symmetric = {"symmetric": True}
    KMedoids(3, metric=manhattan, metric_params=symmetric).fit(rows)
    assert symmetric == {"symmetric": True}


# --- within scikit-learn -------------------------------------------------------------------------------------------


def test_weights_are_routed_through_a_pipeline() -> None:
    weight = np.random.default_rng(6).choice([0.0, 1.0, 20.0], size=len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = Pipeline(
            [
                ("scale", StandardScaler().set_fit_request(sample_weight=False)),
                ("cluster", KMedoids(3).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)),
            ]
        )
        pipeline.fit(X, sample_weight=weight)
        score = pipeline.score(NEW, sample_weight=np.full(len(NEW), 2.0))
        unasked = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), KMedoids(3))
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            unasked.fit(X, sample_weight=weight)
    scaled = StandardScaler().fit(X)
    weighted = KMedoids(3).fit(scaled.transform(X), sample_weight=weight)
    plain = KMedoids(3).fit(scaled.transform(X))
    assert pipeline["cluster"].medoid_indices_.tolist() == weighted.medoid_indices_.tolist()
    assert weighted.medoid_indices_.tolist() != plain.medoid_indices_.tolist()
    assert score == pytest.approx(2 * weighted.score(scaled.transform(NEW)))


def test_a_pipeline_and_a_grid() -> None:
    pipeline = make_pipeline(StandardScaler(), KMedoids(3)).fit(X)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(pipeline.predict(X), KMedoids(3).fit(scaled).labels_)
    grid = GridSearchCV(KMedoids(), {"n_clusters": [1, 8]}, cv=3).fit(X)
    assert grid.best_params_ == {"n_clusters": 8}


def test_iris_species_are_mostly_found() -> None:
    iris = load_iris()
    labels = KMedoids(3).fit_predict(iris.data)
    right = sum(np.bincount(iris.target[labels == label]).max() for label in range(3))
    assert right > 0.85 * 150


# --- starts, steps and stopping ------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["random", "k-medoids++", "lab"])
def test_the_best_start_is_kept(init: str) -> None:
    # One after the other from one source of random numbers, as n_init draws them.
    random = np.random.RandomState(7)
    alone = [KMedoids(8, algorithm="alternate", init=init, random_state=random).fit(X).inertia_ for _ in range(6)]
    assert len(set(alone)) > 1
    together = KMedoids(8, algorithm="alternate", init=init, n_init=6, random_state=np.random.RandomState(7)).fit(X)
    assert together.inertia_ == min(alone)
    assert together.inertia_ == pytest.approx(cdist(X, X[together.medoid_indices_]).min(axis=1).sum())


def test_a_start_that_is_not_random_is_made_once() -> None:
    once, thrice = KMedoids(4, n_init=1).fit(X), KMedoids(4, n_init=3).fit(X)
    assert outcome(once) == outcome(thrice)


@pytest.mark.parametrize("algorithm", sorted(set(EVERY) - {"optimal"}))
def test_a_callback_gets_each_record_as_it_is_made(algorithm: str) -> None:
    seen: list[TraceRecord] = []
    model = KMedoids(4, algorithm=algorithm, callback=seen.append, random_state=0).fit(X)
    assert len(seen) == len(model.trace_) > 0
    assert all(a is b for a, b in zip(seen, model.trace_, strict=True))
    assert seen[0].phase == "build"
    assert {record.phase for record in seen} <= {"build", "swap"}
    seconds = [record.seconds for record in seen]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0
    assert all(record.references > 0 and record.candidates > 0 for record in seen)


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", ["build", "random", "k-medoids++", "lab"])
def test_losses_of_the_trace_never_rise_and_end_at_the_mean_distance(algorithm: str, init: str) -> None:
    model = KMedoids(6, algorithm=algorithm, init=init, random_state=0).fit(X)
    losses = [record.loss for record in model.trace_]
    assert all(after <= before for before, after in itertools.pairwise(losses))
    assert losses[-1] == pytest.approx(model.inertia_ / len(X), rel=1e-12)
    assert model.inertia_ == pytest.approx(cdist(X, X[model.medoid_indices_]).min(axis=1).sum(), rel=1e-9)


# The trace of "tabu" leaves out the swaps of detours.
@pytest.mark.parametrize("algorithm", sorted(set(ANY_METRIC) - {"clara", "clarans", "optimal", "tabu"}))
def test_the_trace_leads_to_the_medoids(algorithm: str) -> None:
    start = [0, 1, 2, 3, 4, 5]
    model = KMedoids(6, algorithm=algorithm, init=start, random_state=0).fit(X)
    medoids = set(start)
    for record in model.trace_[1:]:
        assert record.phase == "swap"
        assert record.medoid_out in medoids
        medoids = medoids - {record.medoid_out} | {record.medoid_in}
        assert record.loss == pytest.approx(cdist(X, X[sorted(medoids)]).min(axis=1).mean(), rel=1e-9)
    assert medoids == set(model.medoid_indices_.tolist())
    assert model.n_iter_ == len(model.trace_) - 1 > 1


@pytest.mark.parametrize("algorithm", sorted(set(EVERY) - {"clara"}))
def test_a_callback_that_returns_true_stops(algorithm: str) -> None:
    swaps: list[TraceRecord] = []

    def first_swap(record: TraceRecord) -> bool:
        if record.phase == "swap":
            swaps.append(record)
        return record.phase == "swap"

    start = [0, 1, 2, 3, 4, 5]
    found = k_medoids(X, 6, algorithm=algorithm, init=start, callback=first_swap, random_state=0)
    assert len(swaps) == 1
    assert found.trace[-1] is swaps[0]
    assert not found.converged
    assert found.loss == pytest.approx(swaps[0].loss, rel=1e-12)
    assert found.inertia == pytest.approx(cdist(X, X[found.medoid_indices]).min(axis=1).sum(), rel=1e-9)


@pytest.mark.parametrize("algorithm", EVERY)
def test_a_callback_that_stops_at_once_still_leaves_k_medoids(algorithm: str) -> None:
    model = KMedoids(5, algorithm=algorithm, callback=lambda record: True, random_state=0).fit(X)
    assert len(set(model.medoid_indices_.tolist())) == 5
    assert not any(record.phase == "swap" for record in model.trace_)
    assert set(model.labels_) == set(range(5))


def test_what_a_callback_returns_is_ignored_unless_it_is_true() -> None:
    expected = outcome(KMedoids(5).fit(X))
    for value in (None, False, 1, "stop"):
        assert outcome(KMedoids(5, callback=lambda record, value=value: value).fit(X)) == expected


def test_an_error_in_a_callback_is_raised() -> None:
    def fail(record: TraceRecord) -> None:
        raise LookupError("mine")

    model = KMedoids(3, callback=fail)
    with pytest.raises(LookupError, match="mine"):
        model.fit(X)
    assert not hasattr(model, "medoid_indices_")


@pytest.mark.parametrize("algorithm", sorted(set(EVERY) - {"optimal"}))  # whose descents it bounds, each
def test_max_iter_is_the_most_swaps(algorithm: str) -> None:
    start = list(range(8))
    free = KMedoids(8, algorithm=algorithm, init=start, random_state=0).fit(X)
    assert free.n_iter_ > 2
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = KMedoids(8, algorithm=algorithm, init=start, max_iter=2, random_state=0).fit(X)
    assert model.n_iter_ <= 2
    assert model.inertia_ >= free.inertia_


# --- seeds and threads ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", ["build", "random"])
def test_a_seed_gives_one_answer_whatever_else_is_alive(algorithm: str, init: str) -> None:
    def model(seed: int, n_jobs: int) -> KMedoids:
        return KMedoids(5, algorithm=algorithm, init=init, random_state=seed, n_jobs=n_jobs)

    first = outcome(model(1, 1).fit(X))
    other = model(2, 2).fit(NEW)
    kept = outcome(other)
    again = model(1, 2)
    assert outcome(again.fit(X)) == first
    assert outcome(again.fit(X)) == first
    assert outcome(other) == kept
    np.random.rand(3)  # noqa: NPY002 - the global state must not matter
    assert outcome(model(1, 1).fit(X)) == first
    assert outcome(model(2, 1).fit(NEW)) == kept


LARGE = np.random.default_rng(8).normal(size=(SMALL + 1, 3)) * [1.0, 2.0, 0.5]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "metric"),
    [
        ("auto", "euclidean"),
        ("auto", "manhattan"),
        ("auto", "cosine"),
        ("fasterpam", "euclidean"),
        ("alternate", "euclidean"),
        ("pam", "euclidean"),
        ("clara", "euclidean"),
        ("banditpam++", "euclidean"),
    ],
)
def test_compiled_code_gives_one_answer_on_one_thread_and_on_two(algorithm: str, metric: Any) -> None:
    fits = [
        KMedoids(4, algorithm=algorithm, metric=metric, random_state=0, n_jobs=n_jobs).fit(LARGE)
        for n_jobs in (1, 2, 1)
    ]
    assert outcome(fits[0]) == outcome(fits[1]) == outcome(fits[2])
    np.testing.assert_array_equal(fits[0].transform(LARGE[:50]), fits[1].transform(LARGE[:50]))


def test_a_jitted_metric_gives_one_answer_on_one_thread_and_on_two() -> None:
    one, two = (KMedoids(4, metric=jitted_manhattan, n_jobs=n_jobs).fit(LARGE[:700]) for n_jobs in (1, 2))
    assert outcome(one) == outcome(two)


def test_random_states_of_any_kind() -> None:
    def inertia(random_state: Any) -> float:
        return KMedoids(6, init="random", algorithm="alternate", random_state=random_state).fit(X).inertia_

    assert inertia(5) == inertia(np.random.RandomState(5)) == inertia(np.int64(5))
    assert len({inertia(seed) for seed in range(5)}) > 1


# --- Ctrl-C --------------------------------------------------------------------------------------------------------


def interrupt_at(phase: str, count: int) -> Callable[[TraceRecord], None]:
    """Make a callback that presses Ctrl-C at the n-th record of a phase."""
    seen = itertools.count(1)

    def callback(record: TraceRecord) -> None:
        if record.phase == phase and next(seen) == count:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("algorithm", sorted(set(EVERY) - {"clara"}))
def test_an_interrupt_in_swap_returns_the_state_so_far(algorithm: str) -> None:
    start = [0, 1, 2, 3, 4, 5]
    keywords: dict[str, Any] = {"algorithm": algorithm, "init": start, "random_state": 0}
    found = k_medoids(X, 6, callback=interrupt_at("swap", 2), on_interrupt="return", **keywords)
    swaps = [record for record in found.trace if record.phase == "swap"]
    assert len(swaps) == 2
    assert not found.converged
    assert found.loss == pytest.approx(swaps[-1].loss, rel=1e-12)
    assert found.inertia == pytest.approx(cdist(X, X[found.medoid_indices]).min(axis=1).sum(), rel=1e-9)
    assert found.labels.tolist() == cdist(X, X[found.medoid_indices]).argmin(axis=1).tolist()
    expected = set(start) - {s.medoid_out for s in swaps} | {s.medoid_in for s in swaps}
    assert set(found.medoid_indices.tolist()) == expected
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 6, callback=interrupt_at("swap", 2), **keywords)


def test_swaps_are_counted_without_the_steps_of_build() -> None:
    found = k_medoids(X, 6, callback=interrupt_at("swap", 1), on_interrupt="return")
    assert [record.phase for record in found.trace] == ["build"] * 6 + ["swap"]
    assert found.n_swaps == 1


@pytest.mark.parametrize("algorithm", sorted(set(EVERY) - {"clara", "clarans"}))
def test_an_interrupt_in_build_raises_or_returns_a_quick_start(algorithm: str) -> None:
    keywords: dict[str, Any] = {"algorithm": algorithm, "random_state": 0}
    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 6, callback=interrupt_at("build", 2), **keywords)
    found = k_medoids(X, 6, callback=interrupt_at("build", 2), on_interrupt="return", **keywords)
    assert found.medoid_indices[:2].tolist() == [record.medoid_in for record in found.trace[:2]]
    assert len(set(found.medoid_indices.tolist())) == 6
    assert found.inertia == pytest.approx(cdist(X, X[found.medoid_indices]).min(axis=1).sum(), rel=1e-9)
    assert found.labels.tolist() == cdist(X, X[found.medoid_indices]).argmin(axis=1).tolist()
    assert (found.n_swaps, found.converged) == (0, False)


def test_an_interrupt_in_a_later_start_returns_the_best_so_far() -> None:
    keywords: dict[str, Any] = {"init": "random", "n_init": 5, "random_state": 0}
    seen: list[TraceRecord] = []
    stop = interrupt_at("build", 3)

    def watch(record: TraceRecord) -> None:
        seen.append(record)
        stop(record)

    found = k_medoids(X, 6, callback=watch, on_interrupt="return", **keywords)
    assert sum(record.phase == "build" for record in seen) == 3
    assert found.loss == pytest.approx(min(record.loss for record in seen), rel=1e-12)
    assert found.trace[-1].loss == pytest.approx(found.loss, rel=1e-12)
    assert not found.converged


def test_an_interrupt_between_two_starts_returns_the_first_with_its_steps() -> None:
    draws = itertools.count(1)

    class Interrupting(np.random.RandomState):
        def choice(self, *arguments: Any, **keywords: Any) -> Any:
            if next(draws) == 2:
                raise KeyboardInterrupt
            return super().choice(*arguments, **keywords)

    found = k_medoids(X, 6, init="random", n_init=2, random_state=Interrupting(0), on_interrupt="return")
    assert found.n_swaps == sum(record.phase == "swap" for record in found.trace) > 0
    assert found.trace[-1].loss == pytest.approx(found.loss, rel=1e-12)


def test_an_interrupted_estimator_is_not_fitted() -> None:
    model = KMedoids(6, callback=interrupt_at("swap", 1))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert not hasattr(model, "medoid_indices_")


# Where a long fit spends its time: in compiled blocks of distances, in a user's function, in sums over a matrix.
LONG = {
    "distances": 'k_medoids(rows(8_000, 300), 5, metric="minkowski", metric_params={"p": 2.5})',
    "callable": "k_medoids(rows(3_000, 2), 5, metric=lambda a, b: float(abs(a - b).sum()))",
    "swaps": 'k_medoids(rows(3_500, 2), 300, algorithm="pam", init="random", random_state=0, callback=tell)',
}
SCRIPT = """
import signal
import numpy as np
from medoids import k_medoids

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
rows = lambda n, p: np.random.default_rng(0).normal(size=(n, p))
tell = lambda record: print(record.phase, flush=True)
print("ready", flush=True)
{call}
print("finished", flush=True)
"""


@pytest.fixture
def start() -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def begin(call: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", textwrap.dedent(SCRIPT).format(call=call)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("where", sorted(LONG))
def test_ctrl_c_ends_a_long_fit(where: str, start: Callable[[str], subprocess.Popen[str]]) -> None:
    process = start(LONG[where])
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if where == "swaps":
        assert process.stdout.readline() == "build\n"  # now it is in SWAP
    time.sleep(1)
    assert process.poll() is None, "the fit must be long enough to be interrupted"
    began = time.perf_counter()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        pytest.fail(f"Ctrl-C in {where} was not heard within 5 seconds")
    print(f"Ctrl-C in {where}: {time.perf_counter() - began:.2f} s")
    assert "finished" not in out
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode in (1, -signal.SIGINT)


@pytest.mark.parametrize("algorithm", ["auto", *(pytest.param(name, marks=pytest.mark.slow) for name in ANY_METRIC)])
def test_a_fit_leaves_nothing_behind(algorithm: str) -> None:
    rows = np.random.default_rng(0).normal(size=(1200, 2))
    gap = 0.05 if algorithm == "optimal" else 0.0
    KMedoids(3, algorithm=algorithm, gap=gap, random_state=0).fit(rows)  # whatever is loaded or compiled once
    gc.disable()
    tracemalloc.start()
    try:
        KMedoids(3, algorithm=algorithm, gap=gap, random_state=0).fit(rows)
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()
    # The matrix would be 11.5 MB, a stored level of distances 5 MB.
    assert left < 1_000_000
