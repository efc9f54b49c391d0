"""Options that pass a setting on: the command finds what the function finds, and says what is wrong in its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import nan_euclidean_distances

from medoids import KMedoids, k_medoids
from medoids.cli.cluster import cluster, predict
from medoids.cli.messages import Failure, WrongUsage

RANDOM = np.random.default_rng(11)
N, K = 40, 3
X = RANDOM.gamma(2.0, size=(N, 3)) * (1, 10, 100)
FRAME = pd.DataFrame(X, columns=list("abc")).assign(
    rank=RANDOM.integers(0, 9, N), rare=RANDOM.random(N) < 0.4, city=RANDOM.choice(["Rome", "Oslo"], N)
)


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    FRAME[["a", "b", "c"]].to_csv(tmp_path / "x.csv", index=False)
    return tmp_path / "x.csv"


def result(capsys: pytest.CaptureFixture[str], file: Path, k: int = K, **options: Any) -> dict[str, Any]:
    """What ``medoids cluster --json`` prints."""
    cluster(str(file), k, as_json=True, quiet=True, **options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rows_of(found: dict[str, Any]) -> list[int]:
    return [entry["row"] for entry in found["medoids"]]


@pytest.mark.filterwarnings("ignore:did not converge")
def test_start_from_rows_and_from_a_file(numbers: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert rows_of(result(capsys, numbers, init="5,17,30", max_iter=0)) == [5, 17, 30]
    assert (
        rows_of(result(capsys, numbers, init="random", seed=4))
        == k_medoids(X, K, init="random", random_state=4).medoid_indices.tolist()
    )
    points = X[[7, 8, 9]] * 1.01
    pd.DataFrame(points, columns=list("abc"))[["c", "b", "a"]].to_csv(tmp_path / "start.csv", index=False)
    start = str(tmp_path / "start.csv")
    assert rows_of(result(capsys, numbers, init=start, max_iter=0)) == cdist(points, X).argmin(axis=1).tolist()
    centre, spread = X.mean(axis=0), X.std(axis=0)
    nearest = cdist((points - centre) / spread, (X - centre) / spread).argmin(axis=1).tolist()
    assert rows_of(result(capsys, numbers, init=start, scale="standard", max_iter=0)) == nearest


@pytest.mark.filterwarnings("ignore:did not converge")
def test_start_of_other_kinds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    FRAME.iloc[[4, 9, 33]].to_csv(tmp_path / "start.csv", index=False)
    assert rows_of(result(capsys, tmp_path / "x.csv", init=str(tmp_path / "start.csv"), max_iter=0)) == [4, 9, 33]
    (tmp_path / "words.txt").write_text("ape\napes\ntape\nzebra\nzebras\ncobra\n")
    (tmp_path / "start.txt").write_text("zebr\ntap\n")
    found = result(capsys, tmp_path / "words.txt", 2, init=str(tmp_path / "start.txt"), max_iter=0)
    assert rows_of(found) == [3, 2]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "start.npy", X[[2, 3, 4]])
    assert rows_of(result(capsys, tmp_path / "x.npy", init=str(tmp_path / "start.npy"), max_iter=0)) == [2, 3, 4]


def test_starts_that_are_refused(numbers: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"--init no.csv must be build, .* row numbers .* such as 3,17,40, or a file"):
        cluster(str(numbers), K, init="no.csv")
    FRAME[["a", "b"]].to_csv(tmp_path / "start.csv", index=False)
    with pytest.raises(Failure, match=r"start.csv has no column 'c'; it needs those of the data: a, b, c"):
        cluster(str(numbers), K, init=str(tmp_path / "start.csv"), quiet=True)
    with pytest.raises(ValueError, match="init has 2 row indices, but n_clusters=3"):
        cluster(str(numbers), K, init="1,2", quiet=True)
    with pytest.raises(WrongUsage, match="would be written over the input"):
        cluster(str(numbers), K, init=str(tmp_path / "start.csv"), output=str(tmp_path / "start.csv"))


def test_memberships(numbers: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = KMedoids(K).fit(FRAME[["a", "b", "c"]])
    model.export(tmp_path / "model")
    predict(str(tmp_path / "model"), str(numbers), output=str(tmp_path / "l.csv"), soft=True, quiet=True)
    table = pd.read_csv(tmp_path / "l.csv")
    expected = model.predict_proba(FRAME[["a", "b", "c"]])
    names = [f"membership_{j}" for j in range(K)]
    assert table.columns.tolist() == ["row", "cluster", "distance", *names]
    np.testing.assert_allclose(table[names], expected, rtol=1e-12)
    np.testing.assert_allclose(table[names].sum(axis=1), 1, rtol=1e-12)
    predict(str(tmp_path / "model"), str(numbers), soft=True, fuzziness=1.5, as_json=True)
    found = json.loads(capsys.readouterr().out)["memberships"]
    np.testing.assert_allclose(found, model.predict_proba(FRAME[["a", "b", "c"]], m=1.5), rtol=1e-12)
    with pytest.raises(WrongUsage, match="--fuzziness 1 must be a number above 1"):
        predict(str(tmp_path / "model"), str(numbers), soft=True, fuzziness=1.0)


def test_types_of_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    FRAME.to_csv(file, index=False)
    types = {"asymm": ["rare"], "ordratio": ["rank"], "logratio": ["b", "c"]}
    found = result(capsys, file, types=["asymm=rare", "ordratio=rank", "logratio=b, c"])
    expected = k_medoids(FRAME, K, metric="gower", metric_params={"type": types})
    assert found["loss"] == pytest.approx(expected.loss, rel=1e-12)
    assert found["labels"] == expected.labels.tolist()
    assert found["loss"] != pytest.approx(k_medoids(FRAME, K, metric="gower").loss, rel=1e-3)
    # Of numbers alone, --type chooses gower.
    assert result(capsys, file, columns="a,b,c", types=["ordratio=a"])["metric"] == "gower"
    with pytest.raises(WrongUsage, match="--type rank must be TYPE=COLUMNS, such as asymm=rare,ill"):
        cluster(str(file), K, types=["rank"], quiet=True)
    with pytest.raises(WrongUsage, match="--type is for --metric gower, not manhattan"):
        cluster(str(file), K, metric="manhattan", types=["ordratio=a"])
    with pytest.raises(ValueError, match="type has 'rank', which is unknown; it must be one of"):
        cluster(str(file), K, types=["rank=a"], quiet=True)


def test_gaps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    gaps = np.where((RANDOM.random(X.shape) < 0.2) & (np.arange(3) > 0), np.nan, X)
    pd.DataFrame(gaps, columns=list("abc")).to_csv(tmp_path / "x.csv", index=False)
    model = str(tmp_path / "model")
    found = result(capsys, tmp_path / "x.csv", metric="nan_euclidean", save=model)
    expected = k_medoids(nan_euclidean_distances(gaps), K, metric="precomputed")
    assert found["loss"] == pytest.approx(expected.loss, rel=1e-12)
    assert rows_of(found) == expected.medoid_indices.tolist()
    predict(model, str(tmp_path / "x.csv"), as_json=True)
    assert json.loads(capsys.readouterr().out)["labels"] == found["labels"]


def test_the_optimum_and_its_gap(numbers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    D = cdist(X, X)
    best = min(D[[i, j, m]].min(axis=0).mean() for i in range(N) for j in range(i + 1, N) for m in range(j + 1, N))
    found = result(capsys, numbers, algorithm="optimal")
    assert found["loss"] == pytest.approx(best, rel=1e-9)
    assert found["proved"]
    assert found["gap"] <= 1e-6
    loose = result(capsys, numbers, algorithm="optimal", gap=0.5)
    assert loose["gap"] <= 0.5
    assert loose["lower_bound"] <= best * (1 + 1e-9)
    with pytest.raises(ValueError, match="gap"):
        cluster(str(numbers), K, gap=0.1, quiet=True)


def test_sizes_and_objective(numbers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, numbers, min_size=12, max_size=15)
    sizes = np.bincount(found["labels"], minlength=K)
    assert sizes.min() >= 12
    assert sizes.max() <= 15
    assert found["loss"] == pytest.approx(k_medoids(X, K, min_size=12, max_size=15, random_state=0).loss, rel=1e-12)
    with pytest.raises(ValueError, match="min_size=20"):
        cluster(str(numbers), K, min_size=20, quiet=True)
    found = result(capsys, numbers, objective="medoid_silhouette")
    expected = k_medoids(X, K, objective="medoid_silhouette", random_state=0)
    assert found["labels"] == expected.labels.tolist()
