"""Model files with a valid checksum that no fit wrote: a message that names the file, never accepted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medoids import KMedoids, k_medoids, load
from medoids.cli.contents import Selection
from medoids.cli.features import make_features
from medoids.cli.messages import Failure
from medoids.cli.model import load_model, save_model
from medoids.cli.reading import read
from medoids.distances import dissimilarity
from medoids.inputs import check_data

VECTORS = "a,b\n1,2\n3,4\n5,7\n2,1\n"
TABLE = "a,b\n1,u\n3,v\n5,u\n2,v\n"


def forged(folder: Path, text: str, scale: str, change: Callable[[dict[str, Any]], Any]) -> str:
    (folder / "x.csv").write_text(text)
    found = make_features(read(str(folder / "x.csv")), Selection(), None, scale)
    path = folder / "model"
    clustering = k_medoids(found.X, 2, metric=found.metric, random_state=0)
    distance = dissimilarity(check_data(found.X, found.metric), found.metric).take(clustering.medoid_indices)
    save_model(path, found, clustering, distance)
    return changed(path, change)


def changed(path: Path, change: Callable[[dict[str, Any]], Any]) -> str:
    """Change a model file, and compute its checksum anew."""
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
    "spread": (putting("fitted", "scaling", "spread", to=[1.0, -1.0]), "spread has a number that is not above 0"),
    "deep": (putting("result", "algorithm", to=json.loads("[" * 900 + "]" * 900)), "model.result.algorithm is"),
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


TABLE_CASES = {
    "names": (putting("fitted", "columns", 0, "name", to="z"), "fitted.columns has other names than model.columns"),
    "no columns": (putting("fitted", to={}), "model.fitted has no columns"),
    "two ways": (
        putting("fitted", "columns", 0, "presence", to=[0, 1]),
        r"columns\[0\] must have categories, presence, or",
    ),
    "range": (
        putting("fitted", "columns", 0, "range", to=-1),
        r"columns\[0\].range is -1; it must be a finite number of",
    ),
    "type": (putting("medoids", "types", 0, to="exe"), r"medoids.types\[0\] is 'exe'; it must be one of"),
    "cell": (putting("medoids", "rows", 1, 0, to="x"), r"medoids.rows\[1\]\[0\] is 'x'; it must be a finite number"),
    "width": (putting("medoids", "rows", 1, to=[1]), r"medoids.rows\[1\] has 1 entries; it must have 2"),
    "rows": (putting("rows", to=[0, 99]), r"model.rows\[1\] is 99; it must be a whole number from 0 to 3"),
    "kind": (putting("kind", to="trees"), "model.columns is|does not take trees"),
    "settings": (
        putting("settings", to={"callback": "os.system"}),
        "model.settings has 'callback', which is no setting",
    ),
}


@pytest.mark.parametrize("case", TABLE_CASES)
def test_crafted_tables(tmp_path: Path, case: str) -> None:
    change, words = TABLE_CASES[case]
    path = forged(tmp_path, TABLE, "none", change)
    with pytest.raises(ValueError, match=words) as refused:
        load(path)
    assert str(refused.value).startswith(f"{path} is not a valid model: ")


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"labels": ["a"], "children": [1]}, "counts 1 more nodes than there are"),
        ({"labels": ["a", "b"], "children": [0, 0]}, r"children\[1\] is of a node that no other has as a child"),
        ({"labels": ["a"], "children": [0, 0]}, "children has 2 entries; it must have 1"),
        ({"labels": [{"set": [["a"]]}], "children": [0]}, r"labels\[0\].set is no set"),
        ({"labels": [{"bytes": "xy"}], "children": [0]}, r"labels\[0\].bytes is no bytes"),
        ({"labels": [json.loads("[" * 60 + "]" * 60)], "children": [0]}, "is nested too deeply"),
    ],
)
def test_crafted_trees(tmp_path: Path, tree: dict[str, Any], words: str) -> None:
    KMedoids(1, metric="tree_edit").fit([("a", "b"), ("a", "c"), ("a", "b")]).export(tmp_path / "model")
    with pytest.raises(ValueError, match=words):
        load(changed(tmp_path / "model", putting("medoids", 0, to=tree)))


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
    rows = [[1e307, -1e307], [1.0, 2.0]]
    path = forged(tmp_path, VECTORS, "none", putting("medoids", "rows", to=rows))
    with pytest.raises(Failure, match=r"model.medoids.rows has numbers that are not of the type float32"):
        load_model(path).distances(np.array([[1.0, 2.0]]))
    path = forged(tmp_path, VECTORS, "none", putting("medoids", to={"dtype": "float64", "rows": rows}))
    found = load_model(path).distances(np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(found, [[2**0.5 * 1e307] * 2, [0, 8**0.5]], rtol=1e-12)
