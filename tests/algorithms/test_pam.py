"""The exact algorithms against worked examples, the plain-loop oracle and another package."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import data
import oracle
from fuzz.problems import Problem, check
from medoids import KMedoids, k_medoids

PAM_PATH = ["pam", "fastpam1", "auto"]
LOCAL_OPTIMA = ["pam", "fastpam1", "fastpam", "fasterpam"]
MATRIX = [*LOCAL_OPTIMA, "alternate"]
EVERY = [*MATRIX, "clara", "clarans"]


def test_oracle_on_a_line() -> None:
    # Points 0, 1, 3, 7, 12: BUILD takes 3 (|3| + |2| + 0 + 4 + 9 = 18, less than 20 at 1 or 21 at 7), then 12, which
    # leaves 3 + 2 + 0 + 4 + 0 = 9. Swapping 3 for 1 gives 1 + 0 + 2 + 5 + 0 = 8; nothing is better then.
    x = np.array([0, 1, 3, 7, 12.0])
    D = np.abs(x[:, None] - x)
    assert oracle.build(D, 2, [1] * 5) == [2, 4]
    assert oracle.pam(D, 2) == ([1, 4], 1)
    assert oracle.loss(D, [1, 4], [1] * 5) == 8


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("n", "metric"), [(500, "euclidean"), (3300, "euclidean"), (3300, "cityblock")])
def test_the_first_medoid_is_the_point_with_the_smallest_weighted_sum(n: int, metric: str, n_jobs: int) -> None:
    # Its sums are made along with the matrix: of several tiles, and in float64 and float32.
    random = np.random.RandomState(0)
    X, weights = random.normal(size=(n, 3)), random.choice([0, 0.5, 2.0], n)
    sums = cdist(X, X, metric) @ weights
    sums[weights == 0] = np.inf
    found = k_medoids(X, 2, metric=metric, algorithm="fastpam1", sample_weight=weights, n_jobs=n_jobs)
    assert found.trace[0].medoid_in == sums.argmin()
    assert found.trace[0].loss == pytest.approx(sums.min() / weights.sum(), rel=1e-9)
    assert found.trace[0].references == np.count_nonzero(weights)


@pytest.mark.parametrize("algorithm", PAM_PATH)
def test_by_hand(algorithm: str) -> None:
    x = np.array([0, 1, 3, 7, 12.0])[:, None]
    found = k_medoids(x, 2, algorithm=algorithm)
    assert found.medoid_indices.tolist() == [1, 4]
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    assert found.distances.tolist() == pytest.approx([1, 0, 2, 5, 0])
    assert (found.inertia, found.loss) == pytest.approx((8, 1.6))
    assert (found.n_swaps, found.converged) == (1, True)
    steps = [(r.phase, r.medoid_in, r.medoid_out) for r in found.trace]
    assert steps == [("build", 2, None), ("build", 4, None), ("swap", 1, 2)]
    assert [r.loss for r in found.trace] == pytest.approx([18 / 5, 9 / 5, 8 / 5])


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, int, np.ndarray]:
    """Small matrices with whole entries, so that ties are exact: asymmetric, negative, with repeated objects."""
    n = draw(st.integers(1, 12))
    low = draw(st.sampled_from([-5, 0]))
    D = draw(hnp.arrays(np.int64, (n, n), elements=st.integers(low, draw(st.sampled_from([3, 40])))))
    if draw(st.booleans()):
        D = np.triu(D) + np.triu(D, 1).T
    if draw(st.booleans()):
        np.fill_diagonal(D, low)
    copies = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)) if draw(st.booleans()) else range(n)
    D = D[np.ix_(copies, copies)]
    w = np.ones(n)
    if draw(st.booleans()):
        w = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
        w[draw(st.integers(0, n - 1))] = 1
    return D, draw(st.integers(1, int(np.count_nonzero(w)))), w


@pytest.mark.parametrize("algorithm", PAM_PATH)
@settings(max_examples=200, deadline=None)
@given(problem=problems())
@pytest.mark.filterwarnings("ignore:number of distinct medoids")
def test_the_oracles_medoids(algorithm: str, problem: tuple[np.ndarray, int, np.ndarray]) -> None:
    D, k, w = problem
    medoids, n_swaps = oracle.pam(D.tolist(), k, w.tolist())
    found = k_medoids(D, k, metric="precomputed", algorithm=algorithm, sample_weight=w)
    assert found.medoid_indices.tolist() == medoids
    assert found.n_swaps == n_swaps
    assert found.inertia == oracle.loss(D.tolist(), medoids, w.tolist())


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(3, 14), st.integers(1, 3)), elements=st.floats(-1e3, 1e3, width=32)),
    k=st.integers(1, 3),
)
@pytest.mark.filterwarnings("ignore:number of distinct medoids")
def test_the_oracles_loss_on_vectors(X: np.ndarray, k: int) -> None:
    D = cdist(X, X, "cityblock").tolist()
    medoids, _ = oracle.pam(D, k)
    found = k_medoids(X, k, metric="manhattan")
    # Rows may repeat or tie within rounding: the loss is what both must agree on.
    assert found.inertia == pytest.approx(oracle.loss(D, medoids, [1] * len(X)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("algorithm", LOCAL_OPTIMA)
@pytest.mark.parametrize("seed", range(8))
def test_no_swap_improves(algorithm: str, seed: int) -> None:
    random = np.random.RandomState(seed)
    D = random.rand(30, 30)
    w = random.choice([0.5, 1, 2], 30)
    found = k_medoids(
        D, 4, metric="precomputed", algorithm=algorithm, sample_weight=w, init="random", random_state=seed
    )
    assert oracle.swap(D.tolist(), found.medoid_indices.tolist(), w.tolist()) is None
    assert found.converged


@pytest.mark.parametrize("seed", range(8))
def test_alternate_has_the_best_member_of_each_cluster(seed: int) -> None:
    random = np.random.RandomState(seed)
    X = random.normal(size=(60, 2))
    D = cdist(X, X)
    found = k_medoids(X, 5, algorithm="alternate", init="random", random_state=seed)
    for slot, medoid in enumerate(found.medoid_indices):
        cluster = np.flatnonzero(found.labels == slot)
        sums = D[np.ix_(cluster, cluster)].sum(axis=1)
        assert D[medoid, cluster].sum() == pytest.approx(sums.min(), rel=1e-12)


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("init", ["build", "lab", "random", "k-medoids++"])
def test_the_loss_never_rises_and_is_what_the_medoids_give(algorithm: str, init: str) -> None:
    X = np.random.RandomState(3).normal(size=(120, 3))
    w = np.random.RandomState(4).choice([0, 1.0, 2], 120)
    found = k_medoids(X, 6, algorithm=algorithm, init=init, random_state=0, sample_weight=w, n_init=1)
    losses = [record.loss for record in found.trace]
    assert all(b < a for a, b in itertools.pairwise(losses))
    D = cdist(X, X[found.medoid_indices])
    assert len(set(found.medoid_indices.tolist())) == 6
    assert (w[found.medoid_indices] > 0).all()
    assert found.inertia == pytest.approx(w @ D.min(axis=1), rel=1e-12)
    assert found.loss == losses[-1] == pytest.approx(np.average(D.min(axis=1), weights=w), rel=1e-12)
    np.testing.assert_array_equal(found.labels, D.argmin(axis=1))
    np.testing.assert_allclose(found.distances, D.min(axis=1), rtol=1e-9, atol=1e-12)
    assert found.labels[found.medoid_indices].tolist() == list(range(6))


@pytest.mark.parametrize("algorithm", ["pam", "fastpam1", "alternate"])
def test_weights_equal_repetition_and_row_order_does_not_matter(algorithm: str) -> None:
    random = np.random.RandomState(0)
    X, w = random.normal(size=(80, 2)), random.randint(1, 4, 80)
    weighted = k_medoids(X, 5, algorithm=algorithm, sample_weight=w)
    repeated = k_medoids(np.repeat(X, w, axis=0), 5, algorithm=algorithm)
    assert repeated.inertia == pytest.approx(weighted.inertia, rel=1e-12)
    rows = np.repeat(np.arange(80), w)
    assert rows[repeated.medoid_indices].tolist() == weighted.medoid_indices.tolist()
    order = random.permutation(80)
    shuffled = k_medoids(X[order], 5, algorithm=algorithm, sample_weight=w[order])
    assert order[shuffled.medoid_indices].tolist() == weighted.medoid_indices.tolist()


@pytest.mark.parametrize("algorithm", EVERY)
def test_rows_of_weight_zero_change_nothing(algorithm: str) -> None:
    random = np.random.RandomState(1)
    X = random.normal(size=(90, 2))
    keep = np.sort(random.choice(90, 70, replace=False))
    w = np.zeros(90)
    w[keep] = 1
    with_zeros = k_medoids(X, 4, algorithm=algorithm, sample_weight=w, random_state=0)
    without = k_medoids(X[keep], 4, algorithm=algorithm, random_state=0)
    assert with_zeros.medoid_indices.tolist() == keep[without.medoid_indices].tolist()
    assert with_zeros.labels[keep].tolist() == without.labels.tolist()
    assert len(with_zeros.labels) == 90


@pytest.mark.parametrize("algorithm", MATRIX)
def test_max_iter_is_the_number_of_swaps(algorithm: str) -> None:
    X = np.random.RandomState(5).normal(size=(200, 2))
    with pytest.warns(Warning, match="max_iter=2"):
        found = k_medoids(X, 8, algorithm=algorithm, init="random", random_state=0, max_iter=2)
    assert (found.n_swaps, found.converged) == (2, False)
    assert sum(record.phase == "swap" for record in found.trace) == 2


@pytest.mark.parametrize("algorithm", EVERY)
def test_given_medoids_are_where_it_starts(algorithm: str) -> None:
    X = np.random.RandomState(6).normal(size=(50, 2))
    rows = [3, 17, 41]
    found = k_medoids(X, 3, algorithm=algorithm, init=rows, random_state=0)
    start = cdist(X, X[rows]).min(axis=1).sum()
    assert found.inertia <= start
    if algorithm != "clara":  # which improves them on a sample before it looks at all points
        assert found.trace[0].loss == pytest.approx(start / 50, rel=1e-12)


def real_data() -> dict[str, np.ndarray]:
    rows = np.random.RandomState(0)
    return {
        "digits": load_digits().data,
        "letter": data.letter()[rows.choice(20000, 3000, replace=False)].astype(float),
        "mnist": data.mnist()[rows.choice(70000, 3000, replace=False)] / 255,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits", "letter", "mnist"])
def test_the_loss_of_the_package_kmedoids(name: str) -> None:
    kmedoids = pytest.importorskip("kmedoids", reason="the package kmedoids has no wheel for this Python")
    X = real_data()[name]
    D = cdist(X, X)
    theirs = kmedoids.fastpam1(D, kmedoids.pam_build(D, 10).medoids)
    for algorithm in ("pam", "fastpam1"):
        ours = k_medoids(X, 10, algorithm=algorithm)
        assert ours.inertia == pytest.approx(theirs.loss, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_compiled_float32_gives_the_medoids_of_float64(metric: str) -> None:
    X = data.mnist()[:3050] / 255
    found = k_medoids(X, 8, metric=metric, algorithm="fastpam1")
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    exact = k_medoids(D, 8, metric="precomputed")
    assert found.medoid_indices.tolist() == exact.medoid_indices.tolist()
    assert found.inertia == pytest.approx(exact.inertia, rel=1e-9)
    assert [r.medoid_in for r in found.trace] == [r.medoid_in for r in exact.trace]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", LOCAL_OPTIMA)
def test_compiled_path_ends_in_a_local_optimum(algorithm: str) -> None:
    random = np.random.RandomState(0)
    X = random.normal(size=(3200, 2))
    X[100:200] = X[0]  # copies, which float32 noise must not let swap for ever
    w = random.choice([0, 1.0, 2], 3200)
    found = k_medoids(X, 5, algorithm=algorithm, sample_weight=w)
    again = k_medoids(
        cdist(X, X),
        5,
        metric="precomputed",
        algorithm="fastpam1",
        init=found.medoid_indices,
        sample_weight=w,
    )
    assert again.n_swaps == 0
    assert found.converged


def test_half_a_symmetric_matrix_is_computed() -> None:
    X = np.random.RandomState(0).normal(size=(3100, 2))
    found = k_medoids(X, 3, algorithm="fastpam1")
    assert found.counts["matrix"].computed < 0.6 * 3100**2


@pytest.mark.slow
def test_an_integer_matrix_from_a_file_gives_the_same(tmp_path) -> None:
    D = np.random.RandomState(0).randint(0, 1000, (3200, 3200))
    np.save(tmp_path / "matrix.npy", D.astype(np.int32))
    mapped = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    found = k_medoids(mapped, 4, metric="precomputed")
    assert found.medoid_indices.tolist() == k_medoids(D.astype(float), 4, metric="precomputed").medoid_indices.tolist()
    assert found.n_evaluations == 3200**2


def test_large_offset_gives_the_same_medoids() -> None:
    X = np.random.RandomState(0).normal(size=(400, 5))
    shifted = X + 1e9
    expected = KMedoids(6).fit(shifted - 1e9).medoid_indices_
    assert KMedoids(6).fit(shifted).medoid_indices_.tolist() == expected.tolist()


def test_the_trace_is_that_of_the_best_start() -> None:
    X = np.random.RandomState(0).normal(size=(150, 2))
    steps = []
    found = k_medoids(X, 8, init="random", n_init=6, random_state=0, callback=steps.append)
    losses = [record.loss for record in found.trace]
    assert all(b < a for a, b in itertools.pairwise(losses))
    assert losses[-1] == found.loss == min(step.loss for step in steps)
    assert len(steps) > len(found.trace)


def test_second_distances_of_another_size_leave_no_errors_behind() -> None:
    """Distances of 1e16 that enter and leave carried sums would hide a swap that gains 0.1."""
    problem = Problem("symmetric", "1e16", n=20, p=1, seed=2158623, k=5, algorithm="fastpam", init="lab")
    check(problem)
