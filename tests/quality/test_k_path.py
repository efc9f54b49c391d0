"""`k_path`: separate fits' results from shared work; suggestions; ``n_clusters="auto"``."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import data
import oracle
from medoids import KMedoids, k_medoids, k_path
from medoids.quality.k_path import CRITERIA, _depth

CORNERS = [[0, 0], [8, 0], [0, 8], [8, 8]]


def blobs(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(n, centers=CORNERS, random_state=seed)
    return X, y


def test_every_k_is_pams_answer_by_the_oracle() -> None:
    X = np.random.RandomState(0).normal(size=(45, 2))
    D = cdist(X, X)
    path = k_path(X, range(1, 6), random_state=0)
    assert path.build.tolist() == oracle.build(D.tolist(), 5, [1.0] * 45)
    for k in range(1, 6):
        medoids, n_swaps = oracle.pam(D.tolist(), k)
        assert path.clusterings[k].medoid_indices.tolist() == medoids
        assert path.clusterings[k].n_swaps == n_swaps
        assert path.losses[k] == pytest.approx(oracle.loss(D, medoids, [1.0] * 45) / 45)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["pairedpam", "fastpam1"])
def test_every_k_is_the_separate_fit_and_the_distances_are_shared(algorithm: str) -> None:
    X, metric = data.subset("letter", 3300, 0)
    path = k_path(X, range(2, 8), metric=metric, algorithm=algorithm, random_state=3)
    alone = 0
    for k, found in path.clusterings.items():
        separate = k_medoids(X, k, metric=metric, algorithm=algorithm, init=path.build[:k], random_state=3)
        assert found.medoid_indices.tolist() == separate.medoid_indices.tolist()
        assert found.labels.tolist() == separate.labels.tolist()
        assert found.inertia == separate.inertia
        assert found.converged
        assert found.parameters["init"].tolist() == path.build[:k].tolist()
        alone += separate.n_evaluations
    whole = k_medoids(X, 7, metric=metric, algorithm=algorithm, random_state=3)
    assert whole.medoid_indices.tolist() == path.clusterings[7].medoid_indices.tolist()
    shared = path.n_evaluations - path.counts["silhouette"].computed
    assert shared == sum(found.n_evaluations for found in path.clusterings.values())
    assert shared < 1.5 * whole.n_evaluations
    assert shared < 0.5 * alone


def test_a_path_without_a_table_of_all_medoids_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, metric = data.subset("letter", 3300, 0)
    expected = k_path(X, range(2, 5), metric=metric, algorithm="pairedpam", random_state=3)
    monkeypatch.setattr("medoids.core.problem.KEPT_BYTES", 0)
    monkeypatch.setattr("medoids.core.problem.KEPT_SHARE", 1 << 40)
    path = k_path(X, range(2, 5), metric=metric, algorithm="pairedpam", random_state=3)
    assert path.build.tolist() == expected.build.tolist()
    assert path.losses == expected.losses


def test_scores_are_columns_that_pandas_reads() -> None:
    X, _ = blobs()
    path = k_path(X, [4, 1, 3])
    table = pd.DataFrame(path.scores)
    assert table.columns.tolist() == ["k", "loss", "medoid_silhouette", "silhouette", "smallest_cluster"]
    assert table["k"].tolist() == [1, 3, 4]
    assert np.isnan(table["silhouette"][0])
    assert np.isnan(table["medoid_silhouette"][0])
    assert table["smallest_cluster"].tolist() == [240, 60, 60]
    assert table["loss"].tolist() == [path.losses[k] for k in (1, 3, 4)]


def test_blobs_are_counted_by_every_criterion() -> None:
    X, y = blobs()
    path = k_path(X, range(2, 9), random_state=0)
    for criterion in CRITERIA:
        assert path.suggest(criterion) == 4
        assert path.explain(criterion).startswith("k = 4: ")
    assert adjusted_rand_score(path.clusterings[4].labels, y) == 1
    assert path.stability[4] == 1
    assert path.stability[8] < 0.9


def test_the_bend_by_hand() -> None:
    # The line from (1, 10) to (5, 2) falls by 2 a step; the loss lies 0, 3, 3.5, 2, 0 below it, of a height of 8.
    depth = _depth(np.arange(1, 6), np.array([10, 5, 2.5, 2, 2.0]))
    assert depth.tolist() == [0, 3 / 8, 3.5 / 8, 2 / 8, 0]


def test_wrong_asking() -> None:
    X, _ = blobs(40)
    with pytest.raises(ValueError, match=r"criterion='best' is unknown"):
        k_path(X, [2, 3]).suggest("best")
    with pytest.raises(ValueError, match="a bend takes three numbers"):
        k_path(X, [2, 3]).suggest("elbow")
    with pytest.raises(ValueError, match="a number above 1"):
        k_path(X, [1]).suggest()
    with pytest.raises(ValueError, match="k_range goes to 41, but only 40 rows"):
        k_path(X, range(2, 42))
    with pytest.raises(ValueError, match="k_range is empty"):
        k_path(X, [])
    with pytest.raises(TypeError, match="k_range='2:5' must be a range or a list"):
        k_path(X, "2:5")
    with pytest.raises(ValueError, match="k_range begins at 1, but 2 medoids are frozen"):
        k_path(X, range(1, 4), frozen_medoids=[0, 1])
    with pytest.raises(ValueError, match=r"algorithm.*'clara' is unknown; it must be one of"):
        k_path(X, [2], algorithm="clara")


def test_any_metric_weights_and_k_up_to_n() -> None:
    words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]
    path = k_path(words, range(1, 7), metric=lambda a, b: len(set(a) ^ set(b)), sample_weight=[1, 2, 1, 1, 2, 1])
    assert path.losses[6] == 0
    assert path.scores["silhouette"][-1] == 0  # all clusters of one
    assert all(b <= a for a, b in itertools.pairwise(path.scores["loss"]))
    assert path.suggest() in range(2, 7)


def test_auto_takes_the_suggestion() -> None:
    X, y = blobs()
    model = KMedoids("auto", k_range=range(2, 7), random_state=0).fit(X)
    assert model.n_clusters_ == 4 == len(model.medoid_indices_)
    assert adjusted_rand_score(model.labels_, y) == 1
    assert "k = 4: of k = 2 to 6 it has the highest medoid silhouette" in model.reason_
    assert model.predict(X).tolist() == model.labels_.tolist()
    found = k_medoids(X, "auto", k_range=[3, 4])
    assert len(found.medoid_indices) == 4
    assert len(k_medoids(X, "auto").medoid_indices) == 4  # 2 to 10 by default
    assert len(k_medoids(X, "auto", k_range=[3]).medoid_indices) == 3
    with pytest.raises(ValueError, match="'auto' starts from BUILD"):
        k_medoids(X, "auto", init="random")
    with pytest.raises(TypeError, match="n_clusters='many' must be an integer"):
        k_medoids(X, "many")


def test_warnings_point_at_the_callers_line() -> None:
    for choose in (k_path, lambda X, ks: KMedoids("auto", k_range=ks).fit(X)):
        with pytest.warns(ConvergenceWarning, match="distinct medoids") as caught:
            choose(np.zeros((5, 1)), [2, 3])
        assert {warning.filename for warning in caught} == {__file__}


def test_frozen_on_the_path() -> None:
    X, _ = blobs()
    path = k_path(X, range(2, 6), frozen_medoids=[7, 100])
    assert path.build[:2].tolist() == [7, 100]
    for found in path.clusterings.values():
        assert {7, 100} <= set(found.medoid_indices.tolist())


def test_a_seed_gives_the_same_path_and_stability() -> None:
    X, metric = data.subset("letter", 600, 0)
    one, two = (k_path(X, [2, 5, 9], metric=metric, random_state=5) for _ in range(2))
    assert one.stability == two.stability
    assert one.scores["silhouette"].tolist() == two.scores["silhouette"].tolist()
    assert 0 < one.stability[9] < 1


def test_a_callback_ends_every_fit_at_its_start() -> None:
    X = np.random.RandomState(0).normal(size=(200, 2))
    path = k_path(X, [3, 5], callback=lambda step: True)
    assert [found.n_swaps for found in path.clusterings.values()] == [0, 0]
    assert not path.clusterings[5].converged
    assert path.clusterings[5].medoid_indices.tolist() == path.build.tolist()
