"""`partial_fit`: a stream in bounded memory, against fits of all rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import medoids.stream
from medoids import KMedoids, k_medoids
from medoids.stream import Stream

RANDOM = np.random.default_rng(0)
CENTRES = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [4, 14]])
X = np.concatenate([RANDOM.normal(centre, 1, (400, 2)) for centre in CENTRES])  # sorted by cluster


def streamed(rows: Any, k: int, batch: int = 100, **keywords: Any) -> KMedoids:
    model = KMedoids(k, random_state=0, **keywords)
    for start in range(0, len(rows), batch):
        model.partial_fit(rows[start : start + batch])
    return model


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medoids.stream, "_KEPT_ROWS", 300)
    monkeypatch.setattr(medoids.stream, "_KEPT_ROWS_PER_MEDOID", 10)


def test_what_fits_into_the_sample_is_as_good_as_a_fit() -> None:
    model = streamed(X, 5, batch=500)
    free = k_medoids(X, 5)
    loss = cdist(X, X[model.medoid_indices_]).min(axis=1).mean()
    assert model.loss_ == pytest.approx(loss)  # every row is kept
    assert model.inertia_ == pytest.approx(loss * 2000)
    assert loss <= 1.001 * free.loss
    np.testing.assert_array_equal(model.cluster_centers_, X[model.medoid_indices_])
    assert model.n_samples_seen_ == 2000
    assert model.labels_.tolist() == cdist(X[1500:], model.cluster_centers_).argmin(axis=1).tolist()
    assert model.predict(X).tolist() == cdist(X, model.cluster_centers_).argmin(axis=1).tolist()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("shuffled", [True, False])
def test_any_order_in_bounded_memory(shuffled: bool) -> None:
    rows = np.random.default_rng(1).permutation(X) if shuffled else X
    model = streamed(rows, 5)
    assert len(model._stream.numbers) <= 300 + 5
    np.testing.assert_array_equal(model.cluster_centers_, rows[model.medoid_indices_])
    loss = cdist(rows, model.cluster_centers_).min(axis=1).mean()
    assert loss <= 1.05 * k_medoids(rows, 5).loss
    assert model.loss_ == pytest.approx(loss, rel=0.15)


@pytest.mark.usefixtures("small")
def test_the_weighted_loss_has_no_bias() -> None:
    """Means over 200 samples: of the total weight, and of the loss of some medoids."""
    weights = np.random.default_rng(2).integers(0, 5, 2000).astype(float)
    distances = cdist(X, CENTRES).min(axis=1)
    found = []
    for seed in range(200):
        stream = Stream(np.random.RandomState(seed))
        for start in range(0, 2000, 500):
            part = slice(start, start + 500)
            stream.add(X[part], weights[part], distances[part], 5, np.array([3]))
        shares = stream.shares()
        found.append([shares.sum(), shares @ distances[stream.numbers]])
        assert 3 in stream.numbers
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(200)
    assert (np.abs(mean - [weights.sum(), weights @ distances]) < 4 * error).all()


def test_weights_and_other_kinds_of_data() -> None:
    words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]

    def letters(a: str, b: str) -> int:
        return len(set(a) ^ set(b))

    model = KMedoids(2, metric=letters, random_state=0).partial_fit(words[:3]).partial_fit(words[3:])
    assert model.cluster_centers_ == ["ape", "zebra"]
    assert model.medoid_indices_.tolist() == [0, 3]
    heavy = KMedoids(1).partial_fit([[0.0], [1.0]], sample_weight=[1, 1]).partial_fit([[9.0]], sample_weight=[5])
    assert heavy.medoid_indices_.tolist() == [2]
    rows = sparse.random(60, 8, 0.5, format="csr", random_state=0)
    whole = KMedoids(3, random_state=0).partial_fit(rows[:30]).partial_fit(rows[30:])
    np.testing.assert_array_equal(whole.cluster_centers_.toarray(), rows[whole.medoid_indices_].toarray())


def test_it_can_be_pickled_and_continued() -> None:
    model = KMedoids(3, random_state=0).partial_fit(X[:500])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[500:900])
    assert again.medoid_indices_.tolist() == model.partial_fit(X[500:900]).medoid_indices_.tolist()


def test_a_batch_that_fails_changes_nothing_and_fit_forgets() -> None:
    model = KMedoids(3, random_state=0).partial_fit(X[:100])
    before = model.medoid_indices_.tolist()
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.partial_fit(np.ones((4, 3)))
    with pytest.raises(ValueError, match="sample_weight"):
        model.partial_fit(X[:5], sample_weight=[1])
    assert (model.medoid_indices_.tolist(), model.n_samples_seen_) == (before, 100)
    model.fit(X[:50])
    assert not hasattr(model, "n_samples_seen_")
    assert model.partial_fit(X[:60]).n_samples_seen_ == 60


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n_clusters": "auto"}, "partial_fit takes a number of clusters, not 'auto'"),
        ({"metric": "precomputed"}, "partial_fit would need distances to later rows; use fit on all rows"),
        ({"max_size": 50}, "partial_fit has no max_size; leave max_size out"),
        ({"init": [0, 1]}, "partial_fit starts from a batch, in which rows of init are unknown"),
    ],
)
def test_what_a_stream_cannot_do_is_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KMedoids(**{"n_clusters": 2, **keywords}).partial_fit(cdist(X[:20], X[:20]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_clusters": 3}, "n_clusters is 3 now, and was 4 in the batches before; set it back"),
        ({"metric": "manhattan"}, "metric is manhattan now, and was minkowski in the batches before"),
        ({"metric_params": {"p": 3}}, "metric_params is .* now, and was .* in the batches before"),
    ],
)
def test_a_stream_keeps_its_metric_and_number_of_clusters(changed: dict[str, Any], message: str) -> None:
    model = KMedoids(4, metric="minkowski", metric_params={"p": 1.5}, random_state=0).partial_fit(X[::7])
    before = model.get_params()
    medoids = model.medoid_indices_
    with pytest.raises(ValueError, match=message):
        model.set_params(**{"metric_params": None, **changed} if "metric" in changed else changed).partial_fit(X[:50])
    assert model.medoid_indices_ is medoids
    again = pickle.loads(pickle.dumps(model.set_params(**before)))
    assert again.partial_fit(X[:50], sample_weight=None).n_samples_seen_ == len(X[::7]) + 50


def test_a_fit_does_not_resume_from_a_stream(tmp_path: Any) -> None:
    model = KMedoids(4, random_state=0, checkpoint=tmp_path / "stream", resume=True).partial_fit(X[::7])
    with pytest.raises(ValueError, match="is that of a stream, which partial_fit continues; the file was not changed"):
        model.fit(X)
