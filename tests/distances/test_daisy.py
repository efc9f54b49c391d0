"""Gower's distance beside R's daisy; ``fixtures/daisy.R`` made the values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import squareform

from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity

DAISY = json.loads((Path(__file__).parents[1] / "fixtures" / "daisy.json").read_text())
WHOLE = slice(None)
FLOWER = {"factor": ["V1", "V2", "V4"], "asymm": ["V3"]}
ALL = {"asymm": ["V1", "V3"], "symm": ["V2"], "factor": ["V4"], "ordratio": ["V7"], "logratio": ["V8"]}


def table(name: str) -> pd.DataFrame:
    frame = pd.DataFrame(DAISY[name])
    if name == "flower":
        frame["V5"] = pd.Categorical(frame["V5"].astype(int), [1, 2, 3], ordered=True)
        frame["V6"] = pd.Categorical(frame["V6"].astype(int), range(1, 19), ordered=True)
    if name == "gaps":
        frame["size"] = pd.Categorical(frame["size"], ["small", "medium", "large"], ordered=True)
    return frame


@pytest.mark.parametrize(
    ("name", "what", "parameters"),
    [
        ("flower", "asymm", {"type": FLOWER}),
        ("flower", "all", {"type": ALL}),
        ("agriculture", "none", {}),
        ("gaps", "asymm", {"type": {"asymm": "rare"}}),
        ("gaps", "weights", {"type": {"asymm": "rare"}, "weights": [1, 2, 3, 1]}),
    ],
)
def test_values_of_daisy(name: str, what: str, parameters: dict[str, Any]) -> None:
    frame, expected = table(name), squareform(DAISY[f"{name}, {what}"])
    distance = dissimilarity(frame, "gower", parameters)
    assert_allclose(distance.block(WHOLE, WHOLE), expected, atol=1e-12)
    assert_allclose(
        distance.take(np.arange(3)).cross(frame), expected[:3], atol=1e-12
    )  # ranges, ranks, orders are kept


def test_orders_of_other_frames() -> None:
    frame = pd.DataFrame({"size": pd.Categorical(["s", "l", "m"], ["s", "m", "l"], ordered=True), "x": [0.0, 1.0, 4.0]})
    expected = dissimilarity(frame, "gower").block(WHOLE, WHOLE)
    assert expected[0].tolist() == [0, (1 + 0.25) / 2, (0.5 + 1) / 2]
    enum = pl.DataFrame(
        {"size": ["s", "l", "m"], "x": [0.0, 1.0, 4.0]}, schema_overrides={"size": pl.Enum(["s", "m", "l"])}
    )
    assert_allclose(dissimilarity(enum, "gower").block(WHOLE, WHOLE), expected)
    plain = frame.assign(size=frame["size"].astype(str))  # texts have no order
    assert dissimilarity(plain, "gower").block(WHOLE, WHOLE)[0, 2] == 1


def test_new_values() -> None:
    frame = pd.DataFrame({"grade": [1, 10, 100], "x": [0.0, 0.0, 0.0]})
    model = KMedoids(2, metric="gower", metric_params={"type": {"ordratio": ["grade"]}}, frozen_medoids=[0, 2])
    model.fit(frame)
    # 55 is half-way between the ranks of 10 and 100: at 1.5 of 2.
    assert_allclose(model.transform(pd.DataFrame({"grade": [55], "x": [0.0]})), [[0.75 / 2, 0.25 / 2]])


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"asym": ["x"]}, "type has 'asym', which is unknown; it must be one of"),
        ({"asymm": ["z"]}, "type names column 'z', but X has no such column"),
        ({"asymm": ["x"]}, "is 'asymm', but it has more than two values"),
        ({"asymm": ["x"], "symm": ["x"]}, "names column 'x' twice"),
        ({"ordered": ["t"]}, r"holds no numbers and no ordered categories .* ordered=True"),
        ({"logratio": ["x"]}, "has 0.0 in row 0, which has no logarithm"),
        (["x"], "must be a dict of types and columns"),
    ],
)
def test_wrong_types(types: Any, message: str) -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0], "t": ["a", "b", "c"]})
    with pytest.raises(ValueError, match=message):
        k_medoids(frame, 1, metric="gower", metric_params={"type": types})


def test_a_new_category_that_has_no_rank() -> None:
    model = KMedoids(2, metric="gower").fit(table("gaps")[["size", "age"]])
    with pytest.raises(ValueError, match="which is not one of its ordered categories"):
        model.predict(pd.DataFrame({"size": ["giant"], "age": [3.0]}))
