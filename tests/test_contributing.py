"""CONTRIBUTING.md keeps its word: its distance and its algorithm work as soon as they are registered."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
from everything import ANY_METRIC
from medoids import KMedoids, k_medoids
from medoids.algorithms import ALGORITHMS
from medoids.distances import registry

ROOT = Path(__file__).parents[1]
X = np.random.RandomState(0).randint(0, 20, size=(40, 3)).astype(float)


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """Run the code blocks of the page and return the names that they define."""
    blocks = re.findall(r"^ *```python\n(.*?)^ *```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(textwrap.dedent(block), "CONTRIBUTING.md", "exec"), names)
    return names


@pytest.fixture
def soergel(written: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    entry = written["entry"]
    monkeypatch.setitem(registry.METRICS, entry.name, entry)
    monkeypatch.setitem(registry._ENTRIES_BY_KIND, entry.name, {entry.kind: entry})
    monkeypatch.setitem(registry._ALIASES, entry.name, entry.name)


def by_loops() -> list[list[float]]:
    return [
        [sum(abs(a - b) for a, b in zip(x, y, strict=True)) / sum(map(max, x, y)) if (x + y).any() else 0 for y in X]
        for x in X
    ]


@pytest.mark.parametrize("algorithm", ANY_METRIC)
@pytest.mark.usefixtures("soergel")
def test_the_distance_works_with_every_algorithm(algorithm: str) -> None:
    model = KMedoids(3, metric="soergel", algorithm=algorithm, random_state=0).fit(X)
    D = by_loops()
    assert model.inertia_ == pytest.approx(oracle.loss(D, model.medoid_indices_, [1.0] * len(X)))
    if algorithm in ("pam", "fastpam1", "pairedpam"):
        assert model.medoid_indices_.tolist() == oracle.pam(D, 3)[0]
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.usefixtures("soergel")
def test_the_distance_refuses_what_it_cannot_take() -> None:
    with pytest.raises(ValueError, match=r"takes non-negative numbers; X\[0, 1\] is -1"):
        k_medoids([[1.0, -1.0], [2.0, 0.0]], 1, metric="soergel")


@pytest.fixture
def first_swap(written: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the algorithm in the place of another one, so that settings know its name."""
    monkeypatch.setitem(ALGORITHMS, "fasterpam", written["first_swap"])


@pytest.mark.usefixtures("first_swap")
def test_the_algorithm_ends_where_no_swap_improves() -> None:
    D = [[float(np.abs(x - y).sum()) for y in X] for x in X]
    weights = np.arange(40) % 3.0
    found = k_medoids(
        X,
        4,
        metric="l1",
        algorithm="fasterpam",
        init="random",
        random_state=1,
        sample_weight=weights,
        frozen_medoids=[5],
    )
    assert found.converged
    assert 5 in found.medoid_indices
    assert (weights[found.medoid_indices] > 0).all()
    assert found.inertia == pytest.approx(oracle.loss(D, found.medoid_indices, weights))
    best = oracle.swap(D, found.medoid_indices.tolist(), weights)
    assert best is None or found.medoid_indices[best[0]] == 5


@pytest.mark.usefixtures("first_swap")
def test_the_algorithm_resumes_and_obeys_its_limits(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"algorithm": "fasterpam", "init": "random", "random_state": 3}
    undisturbed = k_medoids(X, 5, **settings)
    assert undisturbed.n_swaps >= 2

    def interrupt(step: Any) -> None:
        if step.phase == "swap":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        k_medoids(X, 5, checkpoint=tmp_path / "fit", callback=interrupt, **settings)
    resumed = k_medoids(X, 5, checkpoint=tmp_path / "fit", resume=True, **settings)
    assert [step.loss for step in resumed.trace] == [step.loss for step in undisturbed.trace]
    with pytest.warns(UserWarning, match="max_iter=1"):
        assert k_medoids(X, 5, max_iter=1, **settings).n_swaps == 1
    stopped = k_medoids(X, 5, callback=lambda step: step.phase == "swap", **settings)
    assert (stopped.n_swaps, stopped.converged) == (1, False)
