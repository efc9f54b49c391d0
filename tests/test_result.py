"""How results show themselves."""

from __future__ import annotations

import numpy as np

from medoids import k_medoids, k_path


def test_a_clustering_is_short_and_says_what_it_is() -> None:
    X = np.random.RandomState(0).normal(size=(900, 2))
    found = k_medoids(X, 40)
    lines = repr(found).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) < 160
    assert lines[0].startswith(f"Clustering(k=40, n=900, loss={found.loss:.6g}, ")
    first = ", ".join(map(str, found.medoid_indices[:3]))
    assert f"medoid_indices=[{first}, ..., " in lines[1]


def test_a_path_is_short_and_has_its_scores() -> None:
    X = np.random.RandomState(0).normal(size=(900, 2))
    path = k_path(X, range(1, 5))
    lines = repr(path).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) < 160
    assert lines[0].startswith("KPath(k=[1, 2, 3, 4], n=900, algorithm=")
    for name, line in zip(("loss", "medoid_silhouette"), lines[1:], strict=True):
        values = line.split("[")[1].split("]")[0].split(",")
        np.testing.assert_allclose(list(map(float, values)), path.scores[name], atol=1e-4)


def test_the_weights_of_a_fit_are_kept_and_not_shared() -> None:
    X, w = np.random.RandomState(0).normal(size=(20, 2)), np.arange(1.0, 21)
    found = k_medoids(X, 2, sample_weight=w)
    w[:] = 0
    assert found.sample_weight.tolist() == list(range(1, 21))
    assert k_medoids(X, 2).sample_weight is None
    assert k_path(X, [2], sample_weight=np.arange(1.0, 21)).clusterings[2].sample_weight.tolist() == list(range(1, 21))
