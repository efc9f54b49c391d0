"""Gower's distance of mixed tables, by a table worked out by hand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity
from medoids.inputs import check_data

WHOLE = slice(None)
COLUMNS: dict[str, list[Any]] = {
    "age": [20, 30, 60, None],
    "city": ["Oslo", "Rome", None, "Oslo"],
    "member": [True, False, True, True],
    "same": [5.0, 5.0, 5.0, 5.0],
    "since": [date(2020, 1, 1), date(2020, 1, 11), date(2020, 1, 6), None],
}
# Ranges: age 40, since 10 days. Rows 0 and 1: 10/40, 1, 1, 0, 1 over five columns; 0 and 2: 1, -, 0, 0, 1/2 over four;
# 0 and 3: -, 0, 0, 0, - over three; 1 and 2: 3/4, -, 1, 0, 1/2 over four; 1 and 3: 1, 1, 0 over three; 2 and 3: 0, 0.
EXPECTED = np.array(
    [
        [0, 3.25 / 5, 1.5 / 4, 0],
        [3.25 / 5, 0, 2.25 / 4, 2 / 3],
        [1.5 / 4, 2.25 / 4, 0, 0],
        [0, 2 / 3, 0, 0],
    ]
)


def pandas_frame() -> pd.DataFrame:
    frame = pd.DataFrame(COLUMNS)
    return frame.assign(since=pd.to_datetime(frame["since"]))


FRAMES = {
    "pandas": pandas_frame,
    "pandas, category": lambda: pandas_frame().astype({"city": "category", "member": "category"}),
    "pandas, nullable": lambda: pandas_frame().astype({"age": "Int64", "city": "string", "member": "boolean"}),
    "pandas, objects": lambda: pandas_frame().astype({"age": object, "city": object}),
    "pandas, zone": lambda: pandas_frame().assign(since=lambda f: f["since"].dt.tz_localize("Europe/Oslo")),
    "pandas, duration": lambda: pandas_frame().assign(since=lambda f: f["since"] - pd.Timestamp("2019-05-05")),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, category": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("city").cast(pl.Categorical)),
    "polars, decimal": lambda: pl.DataFrame({**COLUMNS, "age": [Decimal(20), Decimal(30), Decimal(60), None]}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_by_hand(kind: str) -> None:
    frame = FRAMES[kind]()
    distance = dissimilarity(check_data(frame, "gower"), "gower")
    np.testing.assert_allclose(distance.block(WHOLE, WHOLE), EXPECTED, rtol=1e-12, atol=1e-15)
    pick = np.array([3, 1])
    np.testing.assert_allclose(distance.take(pick).cross(frame), EXPECTED[pick], rtol=1e-12, atol=1e-15)
    model = KMedoids(2, metric="gower").fit(frame)
    assert type(model.cluster_centers_) is type(frame)
    assert len(model.cluster_centers_) == 2
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    assert model.predict(frame).tolist() == model.labels_.tolist()


def test_an_array_of_objects() -> None:
    rows = np.array(
        [list(row) for row in zip(*(COLUMNS[name] for name in ("age", "city", "member")), strict=True)], object
    )
    # As above, without the columns "same" and "since".
    assert dissimilarity(check_data(rows, "gower"), "gower").block(WHOLE, WHOLE)[0].tolist() == [0, 2.25 / 3, 0.5, 0]
    as_list = rows.tolist()
    assert k_medoids(as_list, 2, metric="gower").inertia == k_medoids(rows, 2, metric="gower").inertia


def test_numbers_only_are_the_mean_of_scaled_manhattan() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 100, 1e-6] + [0, 1e6, 0]
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    expected = np.abs(scaled[:, None] - scaled).mean(axis=2)
    found = dissimilarity(check_data(X, "gower"), "gower").block(WHOLE, WHOLE)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weights", [{"age": 3, "since": 0}, [3, 1, 1, 1, 0]])
def test_weights_of_columns(weights: Any) -> None:
    # Rows 0 and 1: 3 * 10/40, 1, 1, 0 over 3 + 1 + 1 + 1; 2 and 3 have "member" and "same" in common.
    found = dissimilarity(pandas_frame(), "gower", {"weights": weights}).block(WHOLE, WHOLE)
    assert found[0, 1] == pytest.approx(2.75 / 6)
    assert found[2, 3] == 0


def test_numbers_that_are_categories() -> None:
    frame = pd.DataFrame({"zip": [1000, 1001, 9000, 1000], "x": [0.0, 1.0, 2.0, 4.0]})
    found = dissimilarity(frame, "gower", {"categorical": ["zip"]}).block(WHOLE, WHOLE)
    np.testing.assert_allclose(found[0], [0, (1 + 1 / 4) / 2, (1 + 2 / 4) / 2, 1 / 2])


def test_new_rows_are_measured_by_the_fitted_ranges() -> None:
    train = pd.DataFrame({"x": [0.0, 10.0, 5.0], "c": ["a", "b", "a"], "flat": [7, 7, 7]})
    model = KMedoids(3, metric="gower").fit(train)
    new = pd.DataFrame({"x": [20.0, np.nan], "c": ["new", "a"], "flat": [7, 8]})
    found = model.transform(new)[:, np.argsort(model.medoid_indices_)]
    # 20 is two ranges from 0; a new category equals none; of a constant column only equality is asked.
    np.testing.assert_allclose(found, [[(2 + 1) / 3, (1 + 1) / 3, (1.5 + 1) / 3], [1 / 2, 1, 1 / 2]])
    np.testing.assert_allclose(model.transform(new.iloc[:1]), model.transform(new)[:1])


def test_new_categories_equal_each_other_but_none_of_the_fit() -> None:
    model = KMedoids(2, metric="gower").fit(pd.DataFrame({"c": ["a", "b"]}))
    assert model.transform(pd.DataFrame({"c": ["z", "a"]})).sum(axis=1).tolist() == [2, 1]


def test_rows_without_a_known_column_in_common_are_at_distance_1() -> None:
    frame = pd.DataFrame({"a": [1.0, None, 2.0], "b": [None, "x", "x"]})
    assert dissimilarity(frame, "gower").block(WHOLE, WHOLE).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("frame", "params", "error", "message"),
    [
        (pd.DataFrame({"a": [1.0, None], "b": ["x", None]}), {}, ValueError, r"row 1 of X has no value in any column"),
        (pd.DataFrame({"a": [1.0, np.inf]}), {}, ValueError, r"infinity: row 1 of column 'a'"),
        (pd.DataFrame({"a": [[1], [2]]}), {}, TypeError, r"column 'a' of X holds lists, which are neither numbers nor"),
        (pandas_frame(), {"weights": {"size": 1}}, ValueError, r"weights names column 'size', but X has no such"),
        (pandas_frame(), {"weights": [1, 2]}, ValueError, r"weights=\[1, 2\] must be a dict of columns or a list of 5"),
        (pandas_frame(), {"weights": {"age": -1}}, ValueError, r"weight of column 'age' is -1; it must be"),
        (pandas_frame(), {"weights": [0] * 5}, ValueError, r"weights are zero for every column"),
        (
            np.array([[-1.7e308], [1.7e308], [0]]),
            {},
            ValueError,
            r"range of column 0 of X, from -1.7e\+308 to .*overflow",
        ),
        (pandas_frame(), {"categorical": ["zip"]}, ValueError, r"categorical names column 'zip', but X has no such"),
        (["ape", "bee"], {}, ValueError, r"a frame or a 2-D array"),
        (pd.DataFrame(), {}, ValueError, r"0 sample"),
    ],
)
def test_bad_tables(frame: Any, params: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        k_medoids(frame, 1, metric="gower", metric_params=params)


def test_new_rows_with_other_columns() -> None:
    model = KMedoids(1, metric="gower").fit(pandas_frame())
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pandas_frame().rename(columns={"age": "years"}))
