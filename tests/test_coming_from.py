"""`docs/coming-from.md`: the code before and after runs, where the other package installs, and gives the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text()
SECTIONS = {part.split("\n", 1)[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}


def same_rows(before: Any, after: Any) -> None:
    assert sorted(before) == sorted(after)


def no_worse(before: Any, after: Any) -> None:
    """Of the squares, on iris: pyclustering stops a little earlier."""
    D = cdist(load_iris().data, load_iris().data, "sqeuclidean")
    losses = [D[list(rows)].min(axis=0).sum() for rows in (before, after)]
    assert losses[1] <= losses[0] < 1.01 * losses[1]


# How the results of the two blocks of a section are compared; Matlab cannot be run.
COMPARE: dict[str, Callable[[Any, Any], None]] = {
    "scikit-learn-extra": lambda before, after: np.testing.assert_allclose(before.inertia_, after.inertia_),
    "kmedoids": lambda before, after: (
        same_rows(before.medoids, after.medoid_indices),
        np.testing.assert_allclose(before.loss, after.inertia),
    )[0],
    "banditpam": lambda before, after: (
        same_rows(before.medoids, after.medoid_indices_),
        np.testing.assert_allclose(before.average_loss, after.loss_, rtol=1e-5),
    )[0],
    "pyclustering": lambda before, after: no_worse(before.get_medoids(), after.medoid_indices),
    "aeon": lambda before, after: np.testing.assert_equal(adjusted_rand_score(before.labels_, after.labels_), 1.0),
}


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[section], re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_new_code_runs(section: str) -> None:
    *_, after = blocks(section, "python")
    exec(compile(after, section, "exec"), {})


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("section", COMPARE)
def test_the_old_code_gives_the_same(section: str) -> None:
    before, after = blocks(section, "python")
    package = {"scikit-learn-extra": "sklearn_extra"}.get(section, section)
    pytest.importorskip(package, exc_type=ImportError)
    names: dict[str, Any] = {}
    exec(compile(before, section, "exec"), names)
    exec(compile(after, section, "exec"), names)
    COMPARE[section](names["before"], names["after"])


def test_the_code_in_r_gives_the_same() -> None:
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    (before,) = blocks("R's cluster", "r")
    run = subprocess.run(["Rscript", "--vanilla", "-e", before], capture_output=True, text=True)
    if "there is no package" in run.stderr:
        pytest.skip("R's package cluster is not installed")
    *rows, objective = map(float, run.stdout.split())
    names: dict[str, Any] = {}
    exec(compile(blocks("R's cluster", "python")[0], "R's cluster", "exec"), names)
    same_rows(rows, names["after"].medoid_indices + 1)
    assert names["after"].loss == pytest.approx(objective, rel=1e-6)
