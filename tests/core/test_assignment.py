"""The state after any additions and swaps is what the distances say, with a kept table and without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from medoids import k_medoids
from medoids.core import assignment as module
from medoids.core.assignment import Assignment, EstimatedRows, KeptRows, MeasuredRows


def check(state: Assignment, D: np.ndarray) -> None:
    """Compare with the distances, looked at anew."""
    rows = D[state.medoids]
    ranked = np.sort(rows, axis=0)
    assert state.d1.tolist() == ranked[0].tolist()
    assert state.d2.tolist() == (ranked[1] if len(rows) > 1 else np.full(len(D), np.inf)).tolist()
    assert state.nearest.tolist() == rows.argmin(axis=0).tolist()
    columns = np.arange(len(D))
    if len(rows) > 1:
        assert rows[state.second, columns].tolist() == ranked[1].tolist()
        assert (state.second != state.nearest).all()
    assert state.loss == pytest.approx(float(state.weights @ ranked[0]))
    expected = rows.argmin(axis=0)
    for slot, i in enumerate(state.medoids):
        if rows[slot, i] <= ranked[0, i]:
            expected[i] = slot
    assert state.labels().tolist() == expected.tolist()
    assert state.lookup.between(np.array(state.medoids)).tolist() == rows[:, state.medoids].tolist()


# Few different values, so that ties abound; asymmetric and negative, as distances may be.
@given(
    D=st.lists(st.lists(st.integers(-1, 3), min_size=7, max_size=7), min_size=7, max_size=7),
    k=st.integers(1, 4),
    swaps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=6),
    kept=st.booleans(),
    chunk=st.sampled_from([1, 3, 100]),
)
@settings(deadline=None, max_examples=150)
def test_any_path_leads_to_the_same_state(
    D: list[list[int]], k: int, swaps: list[tuple[int, int]], kept: bool, chunk: int
) -> None:
    matrix = np.array(D, dtype=float)
    before, module.POINTS_PER_UPDATE = module.POINTS_PER_UPDATE, chunk
    try:
        lookup = KeptRows(k, 7) if kept else MeasuredRows(lambda medoids, points: matrix[np.ix_(medoids, points)])
        state = Assignment(np.arange(1.0, 8.0), lookup)
        for i in range(k):
            state.add(i, matrix[i])
            check(state, matrix)
        for slot, i in swaps:
            if slot < k and i not in state.medoids:
                state.swap(slot, i, matrix[i])
                check(state, matrix)
    finally:
        module.POINTS_PER_UPDATE = before


# Distances that matter less than others are estimates, wrong by as much as they may be.
@given(
    D=st.lists(st.lists(st.integers(0, 4), min_size=7, max_size=7), min_size=7, max_size=7),
    errors=st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=7, max_size=7), min_size=7, max_size=7),
    k=st.integers(1, 4),
    swaps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=6),
)
@settings(deadline=None, max_examples=150)
def test_estimates_lead_to_the_exact_state(
    D: list[list[int]], errors: list[list[int]], k: int, swaps: list[tuple[int, int]]
) -> None:
    matrix = np.array(D, dtype=float)
    estimates = matrix * (1 + 0.4 * module.DOUBT * np.array(errors))
    lookup = EstimatedRows(
        lambda medoids, points: matrix[np.ix_(medoids, points)],
        lambda medoids, points: estimates[np.ix_(medoids, points)],
    )
    state = Assignment(np.arange(1.0, 8.0), lookup)

    def row(i: int) -> np.ndarray:
        above = np.maximum(estimates[i], np.nextafter(state.d2, np.inf))
        return np.where(matrix[i] <= state.d2, matrix[i], above)

    for i in range(k):
        state.add(i, row(i))
        check(state, matrix)
    for slot, i in swaps:
        if slot < k and i not in state.medoids:
            assert state.swap_losses(row(i)).tolist() == state.swap_losses(matrix[i]).tolist()
            state.swap(slot, i, row(i))
            check(state, matrix)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_few_exact_distances_decide_beside_a_matrix(metric: str) -> None:
    X = np.random.RandomState(1).rand(3500, 12)
    found = k_medoids(X, 40, metric=metric, algorithm="fastpam1")
    near = cdist(X[found.medoid_indices], X, {"manhattan": "cityblock"}.get(metric, metric)).min(axis=0)
    assert found.distances == pytest.approx(near, rel=1e-9, abs=1e-12)
    # A row for each medoid would be 40 n and more.
    assert sum(count.computed for phase, count in found.counts.items() if phase != "matrix") < 20 * len(X)


@pytest.mark.parametrize("algorithm", ["pairedpam", "banditpam++", "clara"])
def test_a_fit_without_the_table_is_the_same(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).rand(4000, 4)
    expected = k_medoids(X, 6, algorithm=algorithm, random_state=0)
    monkeypatch.setattr("medoids.core.problem.KEPT_BYTES", 0)
    found = k_medoids(X, 6, algorithm=algorithm, random_state=0, memory_limit=8 * 8 * 6 * 4000 - 1)
    assert found.medoid_indices.tolist() == expected.medoid_indices.tolist()
    assert found.inertia == expected.inertia
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.distances.tolist() == expected.distances.tolist()
