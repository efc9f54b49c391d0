"""Sparse rows and sets against dense rows, scikit-learn and the definition."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_distances

import data
import oracle
from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity
from medoids.distances.elementwise import Elementwise
from medoids.inputs import check_data

WHOLE = slice(None)
NAMES = ["euclidean", "sqeuclidean", "cosine", "manhattan", "jaccard"]


def counts(n: int = 60, p: int = 40, seed: int = 0) -> np.ndarray:
    """Counts with two rows of zeros, a column of zeros, copies, and near copies."""
    rows = np.random.default_rng(seed).poisson(0.4, size=(n, p)).astype(float)
    rows[3] = rows[17] = 0
    rows[:, 5] = 0
    rows[20] = rows[21]
    rows[22] = rows[23] * (1 + 1e-9)
    return rows


def reference(rows: np.ndarray, others: np.ndarray, metric: str) -> np.ndarray:
    if metric == "jaccard":
        a, b = rows != 0, others != 0
        either = (a[:, None] | b[None]).sum(axis=2)
        return 1 - (a[:, None] & b[None]).sum(axis=2) / np.maximum(either, 1) - (either == 0)
    if metric == "cosine":
        expected = pairwise_distances(rows, others, metric="cosine")
        expected[np.ix_(~rows.any(axis=1), ~others.any(axis=1))] = 0  # two rows of zeros are alike
        return expected
    return cdist(rows, others, {"manhattan": "cityblock"}.get(metric, metric))


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("scale", [1.0, -2.5, 1e150, 1e-150])
def test_every_pair_is_as_dense(metric: str, scale: float) -> None:
    if metric == "sqeuclidean" and scale != 1 and scale != -2.5:
        pytest.skip("squares of these leave float64")
    rows = counts() * scale
    # cosine and jaccard do not depend on the scale, but scikit-learn's squares do.
    free = metric in ("cosine", "jaccard")
    unit = 2.0 ** np.round(-np.log2(abs(scale)))  # in which squares are numbers; a power of two changes no digit
    degree = {"euclidean": 1, "manhattan": 1, "sqeuclidean": 2}.get(metric, 0)
    expected = reference(rows * unit, rows * unit, metric) / unit**degree
    np.fill_diagonal(expected, 0)
    distance = dissimilarity(check_data(sparse.csr_array(rows), metric), metric)
    found = distance.block(WHOLE, WHOLE)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * (1 if free else min(abs(scale), 1)))
    assert found[20, 21] == 0
    pick = np.array([9, 3, 30])
    np.testing.assert_array_equal(distance.block(pick, slice(4, 40)), found[pick, 4:40])
    np.testing.assert_array_equal(distance.take(pick).block(WHOLE, WHOLE), found[np.ix_(pick, pick)])
    np.testing.assert_array_equal(distance.reordered(pick).block(WHOLE, slice(0, 2)), found[np.ix_(pick, pick[:2])])


@pytest.mark.parametrize("metric", NAMES)
def test_new_rows(metric: str) -> None:
    rows, new = counts(), counts(30, 40, seed=1)
    model = KMedoids(4, metric=metric).fit(sparse.csr_array(rows))
    expected = reference(new, rows[model.medoid_indices_], metric)
    np.testing.assert_allclose(model.transform(sparse.csc_array(new)), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-9, atol=1e-12)  # dense rows will do
    assert sparse.issparse(model.cluster_centers_)
    np.testing.assert_array_equal(model.cluster_centers_.toarray(), rows[model.medoid_indices_])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize(
    "make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_array]
)
def test_the_fit_is_that_of_the_dense_rows(metric: str, make: Any) -> None:
    rows = counts()[4:17]
    dense, found = k_medoids(rows, 3, metric=metric), k_medoids(make(rows), 3, metric=metric)
    assert found.medoid_indices.tolist() == dense.medoid_indices.tolist()
    assert found.inertia == pytest.approx(dense.inertia, rel=1e-9)


def test_rows_that_are_not_canonical() -> None:
    # Row 0: column 2 holds 1 + 2 and column 0 a stored zero, out of order; row 1 is the same, row 2 empty.
    X = sparse.csr_array(
        (np.array([1, 0, 2, 3], dtype=np.int8), np.array([2, 0, 2, 2]), np.array([0, 3, 4, 4])), shape=(3, 4)
    )
    before = X.copy()
    for metric, far in {"manhattan": 3, "euclidean": 3, "jaccard": 1}.items():
        found = dissimilarity(check_data(X, metric), metric).block(WHOLE, WHOLE)
        assert found.tolist() == [[0, 0, far], [0, 0, far], [far, far, 0]]
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)


def test_indices_of_64_bits_and_wide_rows() -> None:
    width = 3_000_000
    X = sparse.csr_array(
        (np.array([1.0, 2.0, 5.0]), np.array([0, width - 1, 7], dtype=np.int64), np.array([0, 2, 3], dtype=np.int64)),
        shape=(2, width),
    )
    assert dissimilarity(X, "manhattan").block(WHOLE, WHOLE).tolist() == [[0, 8], [8, 0]]


def test_a_stored_nan_is_named() -> None:
    X = sparse.csr_array(counts())
    X.data[X.indptr[7]] = np.nan
    with pytest.raises(ValueError, match=rf"NaN: X\[7, {X.indices[X.indptr[7]]}\] is nan"):
        k_medoids(X, 2)


def test_a_model_of_dense_rows_refuses_sparse_ones() -> None:
    with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
        KMedoids(2).fit(counts()).predict(sparse.csr_array(counts()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scrna_worm_neuron_4186x13488", "scrna_mouse_bladder_2100x20670"])
def test_pams_medoids_of_cells(name: str) -> None:
    X = sparse.load_npz(data.path(f"{name}_csr_int16.npz"))
    some = X[np.random.RandomState(0).choice(X.shape[0], 300, replace=False)]
    D = cdist(some.toarray(), some.toarray(), "cityblock")
    expected = oracle.pam_by_columns(D, 10)
    for algorithm in ("auto", "pairedpam"):
        found = k_medoids(some, 10, metric="l1", algorithm=algorithm, random_state=0)
        assert found.medoid_indices.tolist() == expected
        assert found.inertia == D[expected].min(axis=0).sum()


MEMORY = """
import sys
from pathlib import Path
from scipy.sparse import load_npz
from medoids import k_medoids
found = k_medoids(load_npz(sys.argv[1]), 10, metric="l1")
status = Path("/proc/self/status").read_text()  # getrusage would begin with the peak of the process that forked
print(found.inertia, 1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_the_peak_memory_of_worm_neurons() -> None:
    path = data.path("scrna_worm_neuron_4186x13488_csr_int16.npz")
    run = subprocess.run([sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True)
    _, peak = map(float, run.stdout.split())
    assert peak < 2**30


# --- sets ----------------------------------------------------------------------------------------------------------

SETS = [{"a", "b"}, {"b", "c"}, set(), {"a", "b", "c", "d"}, frozenset(), {1, ("x", 2)}]


def jaccard(a: Any, b: Any) -> float:
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def test_sets_by_the_definition() -> None:
    distance = dissimilarity(check_data(SETS, "jaccard"), "jaccard")
    found = distance.block(WHOLE, WHOLE)
    np.testing.assert_allclose(found, [[jaccard(a, b) for b in SETS] for a in SETS], rtol=1e-15)
    assert found[0, 1] == pytest.approx(2 / 3)  # one in common of three
    new = [{"a", "new"}, {"newer"}, set()]
    np.testing.assert_allclose(distance.cross(new), [[jaccard(a, b) for b in new] for a in SETS], rtol=1e-15)
    # What is new stays so: the same again.
    np.testing.assert_allclose(distance.cross(new), [[jaccard(a, b) for b in new] for a in SETS], rtol=1e-15)


def test_lists_of_words_are_sets_and_flags_are_vectors() -> None:
    assert k_medoids([["a", "b", "b"], ["b", "a"], ["c"]], 2, metric="jaccard").inertia == 0
    flags = np.random.default_rng(0).random((30, 8)) < 0.4
    flags[:2] = False
    found = dissimilarity(check_data(flags, "jaccard"), "jaccard").block(WHOLE, WHOLE)
    np.testing.assert_allclose(found, cdist(flags, flags, "jaccard"), rtol=1e-12)
    counts = flags * np.random.default_rng(1).integers(1, 9, flags.shape)  # how many does not matter
    for compiled in (False, True):
        compared = Elementwise(counts, "jaccard", p=2.0, dtype=np.float64, compiled=compiled)
        np.testing.assert_allclose(compared.block(WHOLE, WHOLE), found, rtol=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"a"}, "b c"], r"row 1 of X is 'b c', of type str; metric='jaccard' takes sets, such as set\('b c'\.split"),
        ([{"a"}, [["b"]]], r"row 1 of X has the member \['b'\], which is not hashable"),
    ],
)
def test_bad_sets(rows: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        k_medoids(rows, 1, metric="jaccard")
