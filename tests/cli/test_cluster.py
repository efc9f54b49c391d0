"""``medoids cluster``, ``predict``, ``compare``, ``metrics`` and ``demo`` on real files of every format."""

from __future__ import annotations

import csv
import json
import lzma
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse
from pyarrow import parquet
from scipy.spatial.distance import cdist

import data
from medoids import available_metrics, k_medoids
from medoids.cli.contents import Selection
from medoids.cli.features import make_features
from medoids.cli.model import load_model
from medoids.cli.reading import read

Run = Callable[..., subprocess.CompletedProcess[str]]


def labels_of(path: Path) -> list[int]:
    with path.open() as lines:
        return [int(row["cluster"]) for row in csv.DictReader(lines)]


def predicted(model: Path, file: Path) -> list[int]:
    """What ``medoids predict`` does, without a new process."""
    loaded = load_model(str(model))
    labels: list[int] = loaded.distances(loaded.data_of(read(str(file)))).argmin(axis=0).tolist()
    return labels


def write_csv(path: Path, X: np.ndarray, names: list[str], delimiter: str = ",") -> None:
    pd.DataFrame(X, columns=names).to_csv(path, index=False, sep=delimiter)


@pytest.fixture
def letter(tmp_path: Path) -> np.ndarray:
    X = data.letter()[:600]
    write_csv(tmp_path / "letter.csv", X, [f"f{i}" for i in range(16)])
    return X


def test_progress_goes_to_standard_error_unless_quiet(medoids: Run, letter: np.ndarray) -> None:
    message = medoids("cluster", "letter.csv", "-k", 5, "--json").stderr
    assert "medoids: fastpam1 (the 600 x 600 distance matrix is small" in message
    assert re.search(r"^medoids: done in \d+\.\d s: loss .* distances$", message, re.MULTILINE)
    assert medoids("cluster", "letter.csv", "-k", 5, "--quiet").stderr == ""
    message = medoids("choose-k", "letter.csv", "--k", "2:4").stderr
    assert re.search(r"^medoids: done in ", message, re.MULTILINE)
    assert medoids("choose-k", "letter.csv", "--k", "2:4", "--quiet").stderr == ""


def test_a_csv_gives_what_the_function_gives(program: Run, tmp_path: Path, letter: np.ndarray) -> None:
    run = program("cluster", "letter.csv", "-k", 5, "--metric", "l1", "-o", "l.csv", "--medoids", "m.csv", "--json")
    found = k_medoids(letter.astype(float), 5, metric="l1", random_state=0)
    result = json.loads(run.stdout)
    assert result["loss"] == pytest.approx(found.loss)
    assert [entry["row"] for entry in result["medoids"]] == found.medoid_indices.tolist()
    assert result["files"] == {"output": "l.csv", "medoids": "m.csv"}
    assert labels_of(tmp_path / "l.csv") == found.labels.tolist()
    frame = pd.read_csv(tmp_path / "m.csv")
    assert frame["row"].tolist() == found.medoid_indices.tolist()
    assert frame["size"].tolist() == np.bincount(found.labels).tolist()
    np.testing.assert_array_equal(frame[[f"f{i}" for i in range(16)]], letter[found.medoid_indices])


def test_scaling_columns_weights_and_ids(medoids: Run, tmp_path: Path, letter: np.ndarray) -> None:
    frame = pd.DataFrame(letter, columns=[f"f{i}" for i in range(16)])
    frame["who"] = [f"n{i}" for i in range(600)]
    frame["w"] = np.arange(600) % 4
    frame.to_csv(tmp_path / "all.tsv", index=False, sep="\t")
    options = ["--columns", "f2:f5,f9", "--ignore", "f4", "--id", "who", "--weights", "w", "--scale", "robust"]
    run = medoids("cluster", "all.tsv", "-k", 3, *options, "-o", "l.jsonl", "--json")
    part = letter[:, [2, 3, 5, 9]].astype(float)
    low, middle, high = np.quantile(part, [0.25, 0.5, 0.75], axis=0)
    found = k_medoids((part - middle) / (high - low), 3, sample_weight=np.arange(600) % 4, random_state=0)
    result = json.loads(run.stdout)
    assert result["loss"] == pytest.approx(found.loss)
    assert [entry["who"] for entry in result["medoids"]] == [f"n{i}" for i in found.medoid_indices]
    lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert [line["who"] for line in lines] == frame["who"].tolist()
    assert [line["cluster"] for line in lines] == found.labels.tolist()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "npy", "npz", "csv.gz", ""])
def test_formats_say_the_same(tmp_path: Path, letter: np.ndarray, suffix: str) -> None:
    file, frame = tmp_path / f"x.{suffix}", pd.DataFrame(letter, columns=[f"f{i}" for i in range(16)])
    if suffix.startswith("csv") or not suffix:
        frame.to_csv(file, index=False, sep=";" if suffix == "csv" else ",")
    elif suffix == "parquet":
        frame.to_parquet(file)
    elif suffix == "jsonl":
        frame.to_json(file, orient="records", lines=True)
    elif suffix == "npy":
        np.save(file, letter)
    else:
        np.savez(file, X=letter, y=np.arange(3))
    found = make_features(read(str(file)), Selection(), None, "none")
    assert found.metric == "euclidean"
    np.testing.assert_array_equal(found.X, letter)


def test_standard_input_and_output(medoids: Run) -> None:
    # On a line: the middles of 0, 1, 3 and of 20, 21, 25.
    run = medoids("cluster", "-", "-k", 2, "--output", "-", stdin="x,y\n0,0\n1,0\n3,0\n20,0\n21,0\n25,0\n")
    rows = list(csv.DictReader(run.stdout.splitlines()))
    clusters = [row["cluster"] for row in rows]
    assert len(set(clusters[:3])) == len(set(clusters[3:])) == 1
    assert len(set(clusters)) == 2
    np.testing.assert_allclose([float(row["distance"]) for row in rows], [1, 0, 2, 1, 0, 4], atol=1e-12)


def test_lines_of_text_are_words(medoids: Run, tmp_path: Path) -> None:
    words = lzma.decompress(data.path("words_american_english_104334.txt.xz").read_bytes()).decode().split()[::150]
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    run = medoids("cluster", "words.txt", "-k", 4, "--save", "words.model", "--json")
    assert "levenshtein" in run.stderr
    result = json.loads(run.stdout)
    assert [entry["medoid"] for entry in result["medoids"]] == [words[entry["row"]] for entry in result["medoids"]]
    assert result["labels"] == k_medoids(words, 4, metric="levenshtein", random_state=0).labels.tolist()
    assert predicted(tmp_path / "words.model", tmp_path / "words.txt") == result["labels"]


def test_dna_without_a_header(medoids: Run, tmp_path: Path) -> None:
    lines = lzma.decompress(data.path("dna_splice_3186x60.tsv.xz").read_bytes()).decode().splitlines()[:300]
    (tmp_path / "dna.tsv").write_text("\n".join(lines) + "\n")
    options = ["--columns", "c1", "--id", "c2", "--metric", "hamming"]
    run = medoids("cluster", "dna.tsv", "-k", 3, *options, "--json", "--report", "dna.html")
    assert "the first line is read as data" in run.stderr
    strings = [line.split("\t")[0] for line in lines]
    codes = np.array([[ord(letter) for letter in string] for string in strings], dtype=float)
    found = k_medoids(60 * cdist(codes, codes, "hamming"), 3, metric="precomputed")
    result = json.loads(run.stdout)
    assert result["loss"] == pytest.approx(found.loss)
    page = (tmp_path / "dna.html").read_text()
    assert all(strings[entry["row"]] in page for entry in result["medoids"])


def test_a_sparse_matrix_market_file(medoids: Run, tmp_path: Path) -> None:
    X = scipy.sparse.load_npz(data.path("scrna_pbmc68k_reduced_700x765_csr_float32.npz"))[:200]
    scipy.io.mmwrite(tmp_path / "counts.mtx", X)
    run = medoids(
        "cluster", "counts.mtx", "-k", 4, "--metric", "manhattan", "--save", "m", "--report", "r.html", "--json"
    )
    dense = X.toarray().astype(float)
    result = json.loads(run.stdout)
    assert result["loss"] == pytest.approx(
        k_medoids(cdist(dense, dense, "cityblock"), 4, metric="precomputed").loss, 1e-5
    )
    assert predicted(tmp_path / "m", tmp_path / "counts.mtx") == result["labels"]


def test_a_matrix_of_distances(medoids: Run, tmp_path: Path, letter: np.ndarray) -> None:
    D = cdist(letter[:100], letter[:100])
    np.save(tmp_path / "d.npy", D)
    np.savetxt(tmp_path / "d.csv", D, delimiter=",", fmt="%.17g")
    run = medoids("cluster", "d.csv", "--precomputed", "-k", 3, "--save", "model", "--report", "r.html", "--json")
    found = k_medoids(D, 3, metric="precomputed")
    result = json.loads(run.stdout)
    assert result["labels"] == found.labels.tolist()
    for name in ("d.csv", "d.npy"):
        assert predicted(tmp_path / "model", tmp_path / name) == result["labels"]


@pytest.fixture
def people(tmp_path: Path) -> pd.DataFrame:
    random, n = np.random.default_rng(0), 200
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": pd.array(
                [None if i % 37 == 5 else int(a) for i, a in enumerate(random.integers(18, 90, n))], "Int64"
            ),
            "town": [None if i % 53 == 7 else str(t) for i, t in enumerate(random.choice(["Rome", "Oslo", "Bonn"], n))],
            "member": random.random(n) < 0.4,
            "joined": pd.to_datetime(random.integers(0, 10**9, n), unit="s"),
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    return frame


def test_rows_with_gaps_may_become_medoids_when_asked_for(medoids: Run, people: pd.DataFrame) -> None:
    gap = people.isna().any(axis=1).to_numpy()
    cluster = ["cluster", "people.parquet", "-k", 4, "--id", "name", "--json"]
    choose = ["choose-k", "people.parquet", "-k", "4:5", "--id", "name", "--json"]
    for more, expected in (([], False), (["--candidates", "all"], True)):
        rows = [medoid["row"] for medoid in json.loads(medoids(*cluster, *more).stdout)["medoids"]]
        assert gap[rows].any() == expected
        rows = json.loads(medoids(*choose, *more).stdout)["medoids"]["4"]
        assert gap[rows].any() == expected
    run = medoids(*cluster, "--candidates", "some", code=2)
    assert "--candidates some must be all, or row numbers" in run.stderr


def test_a_table_with_text_and_missing_values(medoids: Run, tmp_path: Path, people: pd.DataFrame) -> None:
    options = ["--id", "name", "--save", "model.json", "--report", "r.html"]
    run = medoids("cluster", "people.parquet", "-k", 3, *options, "-o", "l.parquet", "--json")
    assert "gower" in run.stderr
    table = pa.Table.from_pandas(people.drop(columns="name"), preserve_index=False)
    found = k_medoids(table, 3, metric="gower", random_state=0)
    labels = parquet.read_table(tmp_path / "l.parquet")
    assert labels["cluster"].to_pylist() == found.labels.tolist()
    assert labels["name"].to_pylist() == people["name"].tolist()
    # New rows: ranges are those of the fit, not of the few rows, so each row keeps its label.
    people[5:25].to_parquet(tmp_path / "some.parquet")
    out = medoids("predict", "model.json", "some.parquet", "--id", "name").stdout
    rows = list(csv.DictReader(out.splitlines()))
    assert [int(row["cluster"]) for row in rows] == found.labels[5:25].tolist()
    np.testing.assert_allclose([float(row["distance"]) for row in rows], found.distances[5:25], rtol=1e-12)
    assert [row["name"] for row in rows] == people["name"][5:25].tolist()


def test_series_of_unequal_lengths(medoids: Run, tmp_path: Path) -> None:
    series = [[0, 0, 1], [0, 1], [0, 0, 0, 1], [5, 9], [5, 5, 9], [5, 9, 9]]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, series)))
    run = medoids("cluster", "s.jsonl", "-k", 2, "--json", "--save", "model", "--report", "r.html")
    result = json.loads(run.stdout)
    # Warping repeats values: the first three are at distance 0 from each other, and so are the last.
    assert result["loss"] == 0
    assert len(set(result["labels"][:3])) == len(set(result["labels"][3:])) == 1
    assert predicted(tmp_path / "model", tmp_path / "s.jsonl") == result["labels"]
    assert (tmp_path / "r.html").read_text().count('<svg class="spark"') == 2


def test_series_of_several_channels_in_both_layouts(medoids: Run, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 9, 2)).cumsum(axis=1)
    np.save(tmp_path / "last.npy", X)
    np.save(tmp_path / "first.npy", X.transpose(0, 2, 1))
    expected = k_medoids(X, 3, metric="dtw", random_state=0)
    options = "-k", 3, "--metric", "dtw", "--metric-param"
    for name in ("last", "first"):
        written = "--save", f"{name}.model", "--report", f"{name}.html", "--medoids", f"{name}.csv"
        done = medoids("cluster", f"{name}.npy", *options, f"layout=channels_{name}", *written, "--json")
        assert [medoid["row"] for medoid in json.loads(done.stdout)["medoids"]] == expected.medoid_indices.tolist()
        predicted = medoids("predict", f"{name}.model", f"{name}.npy", "--json")
        assert json.loads(predicted.stdout)["labels"] == expected.labels.tolist()
        # Two channels of nine time steps in each of the medoids' pictures.
        lines = re.findall(r'class="bold" points="(.*?)"', (tmp_path / f"{name}.html").read_text())
        assert [len(line.split()) for line in lines] == 6 * [9]
        with (tmp_path / f"{name}.csv").open() as file:
            values = [json.loads(row["values"]) for row in csv.DictReader(file)]
        np.testing.assert_array_equal(values, np.load(tmp_path / f"{name}.npy")[expected.medoid_indices])
    warning = medoids("cluster", "first.npy", *options, "window=3", "--quiet").stderr
    assert "9 channels of at most 2 time steps" in warning
    assert "channels_first" in warning
    wrong = medoids("predict", "first.model", "last.npy", code=1)
    assert "9 channels, but those of the fit had 2" in wrong.stderr
    np.save(tmp_path / "one.npy", X[:, :, 0])
    medoids("cluster", "one.npy", "-k", 3, "--metric", "dtw", "--save", "one.model")
    np.save(tmp_path / "cube.npy", X[:, :, 0].reshape(30, 3, 3))
    wrong = medoids("predict", "one.model", "cube.npy", code=1)
    assert "holds series of several channels, but the model was made of series of one channel" in wrong.stderr


def test_predict_of_scaled_vectors_keeps_the_labels(program: Run, tmp_path: Path, letter: np.ndarray) -> None:
    program("cluster", "letter.csv", "-k", 5, "--scale", "standard", "--save", "model", "-o", "l.csv", "--ignore", "f3")
    run = program("predict", "model", "letter.csv", "-o", "p.csv", "--json")
    assert json.loads(run.stdout)["files"] == {"output": "p.csv"}
    assert labels_of(tmp_path / "p.csv") == labels_of(tmp_path / "l.csv")


def test_compare_reports_loss_time_and_distances(program: Run, tmp_path: Path, letter: np.ndarray) -> None:
    algorithms = "pam,fastpam1,clara"
    run = program("compare", "letter.csv", "-k", 4, "--algorithms", algorithms, "--plot", "c.svg", "--json")
    lines = json.loads(run.stdout)["algorithms"]
    assert [line["algorithm"] for line in lines] == algorithms.split(",")
    assert lines[0]["medoids"] == lines[1]["medoids"]
    assert lines[0]["loss"] <= lines[2]["loss"]
    assert {"seconds", "n_evaluations"} <= set(lines[0])
    assert json.loads(run.stdout)["files"] == {"plot": "c.svg"}
    assert "<svg" in (tmp_path / "c.svg").read_text()


def test_metrics_are_those_of_the_registry(medoids: Run) -> None:
    result = json.loads(medoids("metrics", "--json").stdout)
    assert [entry["name"] for entry in result] == [entry.name for entry in available_metrics()]


def test_demo_ends_with_the_path_of_the_report(program: Run, tmp_path: Path) -> None:
    last = program("demo").stdout.splitlines()[-1]
    assert last.split() == ["report", str((tmp_path / "medoids-demo.html").resolve())]
    assert (tmp_path / "medoids-demo.html").read_text().count('class="card ') == 10


def test_a_time_limit_of_nothing_gives_a_quick_start(medoids: Run, letter: np.ndarray) -> None:
    run = medoids("cluster", "letter.csv", "-k", 8, "--metric", "l1", "--time-limit", 0, "--json")
    result = json.loads(run.stdout)
    assert not result["converged"]
    assert "stopped at --time-limit before the start was complete: 8 of 8 medoids are drawn at random" in run.stderr
    rows = [entry["row"] for entry in result["medoids"]]
    distances = cdist(letter, letter[rows], "cityblock")
    assert result["loss"] == pytest.approx(distances.min(axis=1).mean())
    assert len(set(rows)) == 8


def test_compare_calls_equal_losses_equal(capsys: pytest.CaptureFixture[str]) -> None:
    from medoids.cli.compare import print_comparison

    line = {"seconds": 0.1, "n_evaluations": 9, "of_n_squared": 1.0, "n_swaps": 0, "converged": True}
    losses = {"pam": 0.3, "fastpam1": 0.1 + 0.2, "clara": 0.3003}
    print_comparison([{"algorithm": name, "ran": name, "loss": loss, **line} for name, loss in losses.items()])
    rows = [words.split() for words in capsys.readouterr().out.splitlines() if "pam" in words or "clara" in words]
    assert [row[2] for row in rows] == ["best", "best", "+0.100%"]


def test_a_stream_is_followed_in_batches(medoids: Run, tmp_path: Path) -> None:
    lines = "".join(f"{7 * s % 13},{5 * s % 11}\n" for s in range(2500))
    run = medoids("cluster", "-", "-k", 3, "--stream", stdin="x,y\n" + lines)
    rows = list(csv.DictReader(run.stdout.splitlines()))
    assert [int(row["row"]) for row in rows] == list(range(2500))
    assert {row["cluster"] for row in rows} == {"0", "1", "2"}
    assert "2,500 rows, mean distance about" in run.stderr
    result = json.loads(medoids("cluster", "-", "-k", 3, "--stream", "--json", stdin="x,y\n" + lines).stdout)
    assert result["n"] == 2500
    assert [[7 * s % 13, 5 * s % 11] for s in result["medoids"]] == result["centers"]
    medoids("cluster", "-", "-k", 3, "--stream", "--save", "m", stdin="x,y\n" + lines)
    (tmp_path / "new.csv").write_text(
        "y,id,x\n" + "".join(f"{y},{at},{x}\n" for at, (x, y) in enumerate(result["centers"]))
    )
    predicted = csv.DictReader(medoids("predict", "m", "new.csv").stdout.splitlines())
    assert [row["cluster"] for row in predicted] == ["0", "1", "2"]  # medoids, by the names of their columns
    for wrong, message in (
        (["letter.csv"], "write - for letter.csv"),
        (["-", "--medoids", "m.csv"], "leave --medoids out"),
    ):
        assert message in medoids("cluster", *wrong, "-k", 3, "--stream", code=2).stderr


def test_a_stream_that_is_killed_is_continued(medoids: Run, tmp_path: Path) -> None:
    lines = ["x,y\n", *(f"{7 * s % 13},{5 * s % 11}\n" for s in range(2500))]
    options = ["cluster", "-", "-k", "3", "--stream", "--checkpoint", "c"]
    with subprocess.Popen(
        [Path(sys.executable).parent / "medoids", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.writelines(lines[:1500])  # a batch and a half
        process.stdin.flush()
        while not process.stdout.readline().startswith("998,"):  # a header and 999 rows are a batch
            pass
        process.kill()
    assert "add --resume to continue from it" in medoids(*options, code=1, stdin="".join(lines)).stderr
    run = medoids(*options, "--resume", stdin="".join(lines))
    assert "resumed: 999 rows were taken up before, and are only labelled again" in run.stderr
    assert [int(row["row"]) for row in csv.DictReader(run.stdout.splitlines())] == list(range(2500))
    whole = medoids("cluster", "-", "-k", 3, "--stream", stdin="".join(lines))
    assert run.stdout.splitlines()[1000:] == whole.stdout.splitlines()[1000:]
    assert run.stderr.splitlines()[-4:] == whole.stderr.splitlines()[-4:]
    more = medoids(*options, "--resume", stdin="x,y\n1,2\n3,4\n")
    assert "resumed: 2,500 rows were taken up before; new rows count from there" in more.stderr
    assert [row["row"] for row in csv.DictReader(more.stdout.splitlines())] == ["2500", "2501"]
