"""Dynamic time warping, beside its definition in plain loops and beside dtaidistance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import data
import oracle
from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity
from medoids.inputs import check_data

WHOLE = slice(None)
WINDOWS = [None, 0, 1, 2, 5, 100, 0.0, 0.1, 0.5, 1.0]


def dtw(x: np.ndarray, y: np.ndarray, window: Any = None) -> float:
    """By the definition: cell by cell, with the band around both diagonals."""
    x, y = np.reshape(x, (len(x), -1)), np.reshape(y, (len(y), -1))
    n, m = len(x), len(y)
    share = isinstance(window, float)
    r = n + m if window is None else int(window * max(n, m) + 1e-9) if share else window
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0
    for i in range(n):
        for j in range(m):
            if i - j <= r + max(0, n - m) and j - i <= r + max(0, m - n):
                cost[i + 1, j + 1] = ((x[i] - y[j]) ** 2).sum() + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return float(np.sqrt(cost[n, m]))


def block(series: Any, window: Any) -> np.ndarray:
    return dissimilarity(check_data(series, "dtw"), "dtw", {"window": window}).block(WHOLE, WHOLE)


def ragged(n: int = 40, channels: int | None = None) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    shape = () if channels is None else (channels,)
    return [random.normal(size=(1 + i % 9, *shape)) for i in random.permutation(n)]


def test_by_hand() -> None:
    # 0 1 2 and 0 0 1 2 2 warp onto each other; the last 3 then meets a 2; one sample meets all of 1 2 3.
    assert block([[0, 1, 2], [0, 0, 1, 2, 2]], None)[0, 1] == 0
    assert block([[0, 1, 3], [0, 1, 1, 2]], None)[0, 1] == 1
    assert block([[2], [1, 2, 3]], None)[0, 1] == pytest.approx(np.sqrt(2))
    # Without warping, euclidean: 0 1 2 against 1 2 2; with one step of it, 0 meets 1, and the rest fits.
    assert block([[0, 1, 2], [1, 2, 2]], 0)[0, 1] == pytest.approx(np.sqrt(2))
    assert block([[0, 1, 2], [1, 2, 2]], 1)[0, 1] == 1


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("channels", [None, 1, 3])
def test_unequal_lengths_as_defined(window: Any, channels: int | None) -> None:
    series = ragged(channels=channels)
    expected = [[dtw(x, y, window) for y in series] for x in series]
    np.testing.assert_allclose(block(series, window), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("window", [None, 0, 3, 20])
def test_equal_lengths_as_dtaidistance_has_them(window: int | None) -> None:
    reference = pytest.importorskip("dtaidistance.dtw")
    series = np.random.default_rng(1).normal(size=(35, 20)).cumsum(axis=1)
    expected = [
        [reference.distance(x, y, window=None if window is None else window + 1) for y in series] for x in series
    ]
    np.testing.assert_allclose(block(series, window), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("window", [None, 0, 2])
def test_unequal_lengths_as_dtaidistance_has_them(window: int | None) -> None:
    reference = pytest.importorskip("dtaidistance.dtw_ndim")
    series = ragged(channels=2)
    expected = [
        [reference.distance(x, y, window=None if window is None else window + 1) for y in series] for x in series
    ]
    np.testing.assert_allclose(block(series, window), expected, rtol=1e-12, atol=1e-12)


def test_parts_and_new_series() -> None:
    series, new = ragged(), ragged(7)
    distance = dissimilarity(series, "dtw", {"window": 1})
    whole = distance.block(WHOLE, WHOLE)
    pick = np.array([30, 2, 2, 11])
    np.testing.assert_array_equal(distance.block(pick, slice(5, 9)), whole[pick, 5:9])
    np.testing.assert_array_equal(distance.take(pick).block(WHOLE, WHOLE), whole[np.ix_(pick, pick)])
    expected = [[dtw(series[i], y, 1) for y in new] for i in pick]
    np.testing.assert_allclose(distance.take(pick).cross(new), expected, rtol=1e-12)
    assert (np.diag(whole) == 0).all()
    np.testing.assert_array_equal(whole, whole.T)


def test_no_window_at_all_is_euclidean() -> None:
    series = np.random.default_rng(0).normal(size=(30, 12))
    np.testing.assert_allclose(
        block(series, 0), dissimilarity(series, "euclidean").block(WHOLE, WHOLE), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("pack", [list, tuple, np.asarray, pd.DataFrame, lambda rows: [list(row) for row in rows]])
def test_series_in_any_container(pack: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(25, 6))
    expected = k_medoids(rows, 3, metric="dtw")
    assert k_medoids(pack(rows), 3, metric="dtw").medoid_indices.tolist() == expected.medoid_indices.tolist()


@pytest.mark.parametrize(
    ("rows", "params", "message"),
    [
        ([[1, 2], [1, np.nan]], {}, r"NaN: X\[1\]\[1\] is nan"),
        ([[1, 2], []], {}, r"row 1 of X has shape \(0,\); a series is an array of shape \(length,\)"),
        ([np.zeros((3, 2)), np.zeros((3, 1))], {}, r"row 1 of X has 1 channels, but row 0 has 2"),
        ([[1, 2], ["x"]], {}, r"row 1 of X is not a series of numbers: \['x'\]"),
        (np.zeros((2, 2, 2, 2)), {}, r"\(n, length, channels\).*got shape \(2, 2, 2, 2\)"),
        (np.zeros(4), {}, r"\(n, length, channels\).*got shape \(4,\)"),
        ([[1, 2], [1]], {"window": -1}, r"window.*-1.*whole number of samples, a share"),
        ([[1, 2], [1]], {"window": 1.5}, r"window.*1\.5.*whole number of samples, a share"),
        ([[1, 2], [1]], {"window": "wide"}, r"window.*'wide'"),
        ([[1, 2], [1]], {"radius": 1}, r"'radius' is unknown; metric='dtw' takes \['layout', 'window'\]"),
    ],
)
def test_bad_series(rows: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        k_medoids(rows, 1, metric="dtw", metric_params=params)


def test_new_series_with_other_channels() -> None:
    model = KMedoids(1, metric="dtw").fit([np.zeros((3, 2)), np.ones((4, 2))])
    with pytest.raises(ValueError, match=r"1 channels, but those of the fit had 2"):
        model.predict([[1, 2, 3]])


@pytest.mark.slow
def test_pams_medoids_of_heartbeats() -> None:
    rows = data.ecg5000()
    rows = rows[np.random.RandomState(0).choice(len(rows), 900, replace=False)]
    D = block(rows, 0.1)
    pairs = np.random.RandomState(1).choice(len(rows), (40, 2))
    np.testing.assert_allclose([D[i, s] for i, s in pairs], [dtw(rows[i], rows[s], 0.1) for i, s in pairs], rtol=1e-6)
    expected = oracle.pam_by_columns(D, 5)
    for algorithm in ("auto", "pairedpam"):
        found = k_medoids(
            rows, 5, metric="dtw", metric_params={"window": 0.1}, algorithm=algorithm, random_state=0, n_jobs=1
        )
        assert found.medoid_indices.tolist() == expected
        assert found.n_evaluations < 0.8 * len(rows) ** 2


# --- layouts --------------------------------------------------------------------------------------------------------

FIRST = {"layout": "channels_first"}


@pytest.mark.parametrize("pack", [np.asarray, list, lambda X: [one.tolist() for one in X]])
def test_channels_first_are_the_same_series(pack: Any) -> None:
    X = np.random.default_rng(0).normal(size=(12, 9, 3))
    turned = check_data(pack(X.transpose(0, 2, 1)), "dtw")
    expected = [[dtw(x, y, 2) for y in X] for x in X]
    np.testing.assert_allclose(
        dissimilarity(turned, "dtw", {"window": 2, **FIRST}).block(WHOLE, WHOLE), expected, rtol=1e-12, atol=1e-15
    )


def test_channels_first_with_unequal_lengths_parts_and_new_series() -> None:
    series, new = ragged(channels=3), ragged(7, channels=3)
    distance = dissimilarity(check_data([x.T for x in series], "dtw"), "dtw", FIRST)
    pick = np.array([30, 2, 11])
    expected = [[dtw(series[i], y) for y in new] for i in pick]
    np.testing.assert_allclose(distance.take(pick).cross([y.T for y in new]), expected, rtol=1e-12)


def test_a_fit_with_channels_first_predicts_with_channels_first() -> None:
    X = np.random.default_rng(0).normal(size=(30, 9, 2)).cumsum(axis=1)
    last = KMedoids(3, metric="dtw").fit(X[:20])
    first = KMedoids(3, metric="dtw", metric_params=FIRST).fit(X[:20].transpose(0, 2, 1))
    assert first.labels_.tolist() == last.labels_.tolist()
    assert first.cluster_centers_.shape == (3, 2, 9)  # as in X
    assert first.predict(X.transpose(0, 2, 1)).tolist() == last.predict(X).tolist()
    with pytest.raises(ValueError, match=r"9 channels, but those of the fit had 2.*channels_first"):
        first.predict(X)


@pytest.mark.parametrize("pack", [np.asarray, list])
@pytest.mark.parametrize("channels", [1, 3])
def test_more_channels_than_time_steps_warn(pack: Any, channels: int) -> None:
    X = pack(np.random.default_rng(0).normal(size=(10, channels, 8)))
    with pytest.warns(UserWarning, match=rf"8 channels.*{channels} time step.*channels_first") as caught:
        KMedoids(2, metric="dtw").fit(X)
    assert caught[0].filename == __file__  # the line that asked for the fit
    # A layout that is given is meant.
    KMedoids(2, metric="dtw", metric_params=FIRST).fit(X)
    KMedoids(2, metric="dtw", metric_params={"layout": "channels_last"}).fit(X)


def test_as_many_channels_as_the_longest_series_do_not_warn() -> None:
    k_medoids([np.zeros((3, 3)), np.ones((2, 3))], 2, metric="dtw")


def test_bad_layouts() -> None:
    with pytest.raises(ValueError, match=r"'layout': 'tc'.*'channels_last' or 'channels_first'"):
        k_medoids(np.zeros((3, 4, 2)), 1, metric="dtw", metric_params={"layout": "tc"})
    with pytest.raises(ValueError, match="row 1 of X has 3 channels, but row 0 has 2"):
        k_medoids([np.zeros((2, 5)), np.zeros((3, 5))], 1, metric="dtw", metric_params=FIRST)


# The command, with aeon 1.6.0 installed, and with `series` as below:
#   from aeon.distances import distance
#   [round(distance(series[a].T, series[b].T, name, **options), 12) for a, b in PAIRS]
PAIRS = [(0, 1), (0, 2), (2, 1), (3, 4)]
AEON = [
    ("erp", {}, [4.09, 5.65, 4.48, 9.92437733064]),
    ("erp", {"g": 0.5}, [3.41, 5.23, 5.16, 11.101012281604]),
    ("twe", {}, [9.29, 12.293, 11.441, 20.060992759939]),
    ("twe", {"nu": 0.1, "lmbda": 0.2}, [8.48, 12.17, 10.13, 20.044992759939]),
    ("msm", {}, [6.2, 8.19, 8.33, 14.34]),
    ("msm", {"c": 0.1}, [4.4, 5.49, 5.63, 10.58]),
]


@pytest.mark.parametrize(("metric", "options", "expected"), AEON)
def test_values_of_aeon(metric: str, options: dict[str, float], expected: list[float]) -> None:
    random = np.random.default_rng(24)
    series = [random.normal(size=n).round(2) for n in (6, 6, 9)]
    series += [random.normal(size=(n, 2)).round(2) for n in (5, 7)]
    for (a, b), value in zip(PAIRS, expected, strict=True):
        found = dissimilarity([series[a], series[b]], metric, options).block(WHOLE, WHOLE)
        assert found[0, 1] == found[1, 0] == pytest.approx(value, abs=1e-11)
        assert found[0, 0] == 0


@pytest.mark.parametrize("metric", ["erp", "twe", "msm"])
def test_relatives_of_dtw_cluster(metric: str) -> None:
    series = ragged()
    model = KMedoids(3, metric=metric).fit(series)
    full = dissimilarity(series, metric).block(WHOLE, WHOLE)
    np.testing.assert_allclose(model.distances_, full[model.medoid_indices_].min(axis=0))
    np.testing.assert_allclose(model.transform(series[:5]), full[model.medoid_indices_, :5].T)
    # Without warping, pairs of one length meet sample by sample; with a window as long as the series, nothing changes.
    wide = dissimilarity(series, metric, {"window": 100}).block(WHOLE, WHOLE)
    np.testing.assert_array_equal(wide, full)
    narrow = dissimilarity([[0.0, 1, 4], [1.0, 1, 1]], "msm", {"window": 0}).block(WHOLE, WHOLE)
    assert narrow[0, 1] == 1 + 0 + 3
    parameter = {"erp": "g", "twe": "nu", "msm": "c"}[metric]
    with pytest.raises(ValueError, match=rf"metric='{metric}' needs a finite number"):
        k_medoids(series, 2, metric=metric, metric_params={parameter: np.inf})
