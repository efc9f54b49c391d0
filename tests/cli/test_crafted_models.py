"""Model files with a valid checksum that no fit wrote: a message that names the file, never accepted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medoids import k_medoids
from medoids.cli.contents import Selection
from medoids.cli.features import make_features
from medoids.cli.messages import Failure
from medoids.cli.model import load_model, save_model
from medoids.cli.reading import read

VECTORS = "a,b\n1,2\n3,4\n5,7\n2,1\n"
TABLE = "a,b\n1,u\n3,v\n5,u\n2,v\n"


def forged(folder: Path, text: str, scale: str, change: Callable[[dict[str, Any]], Any]) -> str:
    (folder / "x.csv").write_text(text)
    found = make_features(read(str(folder / "x.csv")), Selection(), None, scale)
    path = folder / "model"
    save_model(path, found, k_medoids(found.X, 2, metric=found.metric, random_state=0))
    whole = json.loads(path.read_text())
    change(whole["model"])
    plain = json.dumps(whole["model"], sort_keys=True, separators=(",", ":"))
    whole["sha256"] = hashlib.sha256(plain.encode()).hexdigest()
    path.write_text(json.dumps(whole))
    return str(path)


def putting(*names: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        for name in names[:-1]:
            body = body[name]
        body[names[-1]] = to

    return change


VECTOR_CASES = {
    "spread": (putting("scaling", "spread", to=[1.0, -1.0]), "spread has a number that is not above 0"),
    "deep": (putting("algorithm", to=json.loads("[" * 900 + "]" * 900)), "model.algorithm is"),
    "parameter": (putting("metric_params", to={"p": json.loads("[" * 900 + "]" * 900)}), "model.metric_params.p"),
    "surrogate": (putting("columns", to=["a", "\ud800"]), "a string that UTF-8 can encode"),
    "dates": (putting("reading", "dates", to={"a": "%d/%m/%Y"}), "dates has column 'a', which holds vectors"),
    **{
        f"{name} {value}": (putting("reading", name, to=value), f"model.reading.{name}.* is .*; it must be {wanted}")
        for name, value, wanted in (
            ("encoding", "idna", "an encoding"),
            ("encoding", "unicode_escape", "an encoding"),
            ("delimiter", "€", "one ASCII character"),
            ("delimiter", '"', "one ASCII character"),
            ("dates", {"b": "%Q"}, "a format with day, month and year"),
            ("dates", {"b": "%d"}, "a format with day, month and year"),
        )
    },
}


@pytest.mark.parametrize("case", VECTOR_CASES)
def test_crafted_vectors(tmp_path: Path, case: str) -> None:
    change, words = VECTOR_CASES[case]
    path = forged(tmp_path, VECTORS, "standard", change)
    with pytest.raises(Failure, match=words) as refused:
        load_model(path)
    assert str(refused.value).startswith(f"{path} is not a valid model: ")


def test_dates_in_a_column_of_another_type(tmp_path: Path) -> None:
    path = forged(tmp_path, TABLE, "none", putting("reading", "dates", to={"b": "%d.%m.%Y"}))
    with pytest.raises(Failure, match="dates has column 'b', which holds string"):
        load_model(path)


def test_parameters_that_the_metric_does_not_take(tmp_path: Path) -> None:
    path = forged(tmp_path, VECTORS, "none", putting("metric_params", to={"p": 3}))
    with pytest.raises(Failure, match=r"model is not a valid model: .*'p' is unknown.*; make it again"):
        load_model(path).distances(np.zeros((1, 2)))


def test_a_number_of_thousands_of_digits(tmp_path: Path) -> None:
    (tmp_path / "model").write_text('{"format": "medoids model", "version": ' + "1" * 5000 + "}")
    with pytest.raises(Failure, match="model is not a model file, or was cut: a number has thousands of digits"):
        load_model(str(tmp_path / "model"))


def test_medoids_of_any_size_are_measured(tmp_path: Path) -> None:
    path = forged(tmp_path, VECTORS, "none", putting("medoids", to=[[1e307, -1e307], [1.0, 2.0]]))
    found = load_model(path).distances(np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(found, [[2**0.5 * 1e307] * 2, [0, 8**0.5]], rtol=1e-12)
