"""A stream with a checkpoint: killed and resumed, it ends as if nothing had happened; other files are refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from medoids import KMedoids

RANDOM = np.random.default_rng(0)
X = np.concatenate([RANDOM.normal(centre, 1, (300, 2)) for centre in ([0, 0], [8, 0], [0, 8], [8, 8])])
WORDS = (Path(__file__).parents[1] / "fixtures" / "words.txt").read_text().split()[:120]
ROWS: dict[str, tuple[Any, Any]] = {
    "vectors": (X[::10], "euclidean"),
    "float32": (X[::10].astype(np.float32), "manhattan"),
    "sparse": (sparse.csr_array(sparse.random(120, 8, 0.5, random_state=0)), "cosine"),
    "strings": (WORDS, "levenshtein"),
    "tokens": ([tuple(word) for word in WORDS], "levenshtein"),
    "sets": ([frozenset(word) for word in WORDS], "jaccard"),
    "series": ([RANDOM.normal(size=5 + i % 3) for i in range(120)], "dtw"),
    "objects": (WORDS, lambda a, b: float(len(set(a) ^ set(b)))),
}
# Streams rows of tests/storage/test_stream_files.py, and says so after each batch.
CHILD = """
import sys
import numpy as np
from medoids import KMedoids
X = np.load(sys.argv[1])
model = KMedoids(4, random_state=0, checkpoint=sys.argv[2], resume=True)
for start in range(0, 1200, 100):
    model.partial_fit(X[start : start + 100])
    print(model.n_samples_seen_, flush=True)
"""


def batches(rows: Any, size: int) -> list[Any]:
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    return [rows[start : start + size] for start in range(0, n, size)]


def state(model: KMedoids) -> tuple[Any, ...]:
    return model.medoid_indices_.tolist(), model.loss_, model.inertia_, model.n_samples_seen_, model.labels_.tolist()


def follow(parts: list[Any], k: int = 4, **keywords: Any) -> KMedoids:
    model = KMedoids(k, **{"random_state": 0, **keywords})
    for part in parts:
        model.partial_fit(part)
    return model


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The checkpoint of a stream of 300 rows."""
    follow(batches(X[:300], 100), checkpoint=tmp_path / "stream")
    return tmp_path / "stream"


@pytest.mark.slow
def test_a_process_that_is_killed_is_continued(tmp_path: Path) -> None:
    """SIGKILL, in the middle of whatever it does after the third batch."""
    np.save(tmp_path / "X.npy", X)
    path = tmp_path / "stream"
    command = [sys.executable, "-c", CHILD, str(tmp_path / "X.npy"), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for expected in ("100", "200", "300"):
            assert child.stdout.readline().strip() == expected
        child.kill()
    assert child.returncode == -signal.SIGKILL
    model = KMedoids(4, random_state=0, checkpoint=path, resume=True)
    model.partial_fit(X[:100])
    taken = model.n_samples_seen_
    assert taken % 100 == 0
    assert 300 <= taken < 1200
    again = follow(batches(X, 100), checkpoint=path, resume=True)
    assert state(again) == state(follow(batches(X, 100)))
    assert len(again._stream.numbers) == 1200
    assert {each.name for each in tmp_path.iterdir()} == {"X.npy", "stream"}  # no draft and no lock stays


@pytest.mark.parametrize("kind", ROWS)
def test_every_kind_of_rows_is_stored(kind: str, tmp_path: Path) -> None:
    """Each batch by another estimator, which knows the others from the file alone."""
    rows, metric = ROWS[kind]
    keywords: dict[str, Any] = {"metric": metric, "k": 3}
    whole = follow(batches(rows, 30), **keywords)
    for part in batches(rows, 30):
        model = follow([part], checkpoint=tmp_path / "stream", resume=True, **keywords)
    assert state(model) == state(whole)
    assert b"pickle" not in (tmp_path / "stream").read_bytes()


def test_what_is_kept_is_that_of_an_undisturbed_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With weights, and a sample that is smaller than the stream: random numbers and importances matter."""
    monkeypatch.setattr("medoids.stream._KEPT_ROWS", 200)
    monkeypatch.setattr("medoids.stream._KEPT_ROWS_PER_MEDOID", 10)
    weights = np.random.default_rng(1).integers(1, 4, 1200).astype(float)
    undisturbed = KMedoids(4, random_state=0)
    for start in range(0, 1200, 100):
        part = slice(start, start + 100)
        undisturbed.partial_fit(X[part], sample_weight=weights[part])
        resumed = KMedoids(4, random_state=0, checkpoint=tmp_path / "stream", resume=True)
        resumed.partial_fit(X[part], sample_weight=weights[part])
        assert state(resumed) == state(undisturbed)
    np.testing.assert_array_equal(resumed._stream.shares(), undisturbed._stream.shares())
    assert len(resumed._stream.numbers) < 250


def test_batches_that_were_taken_up_are_passed_over(file: Path) -> None:
    model = KMedoids(4, random_state=0, checkpoint=file, resume=True)
    before = file.read_bytes()
    model.partial_fit(X[:100])
    assert model.n_samples_seen_ == 300
    whole = follow(batches(X[:300], 100))
    assert model.medoid_indices_.tolist() == whole.medoid_indices_.tolist()
    assert (model.loss_, model.inertia_, model.algorithm_) == (whole.loss_, whole.inertia_, whole.algorithm_)
    assert model.labels_.tolist() == whole.predict(X[:100]).tolist()
    assert file.read_bytes() == before
    model.partial_fit(X[100:200]).partial_fit(X[200:300]).partial_fit(X[300:400])
    assert state(model) == state(whole.partial_fit(X[300:400]))


def test_batches_that_do_not_fit_are_refused(file: Path) -> None:
    before = file.read_bytes()
    model = KMedoids(4, random_state=0, checkpoint=file, resume=True).partial_fit(X[:100])
    with pytest.raises(
        ValueError, match="this batch has rows 100 to 399 of the stream, of which 300 rows were taken up"
    ):
        model.partial_fit(X[100:400])
    model.partial_fit(X[100:200])
    with pytest.raises(ValueError, match=r"first batch is that of the stream .* but some of the 300 rows"):
        model.partial_fit(X[700:800])
    assert file.read_bytes() == before
    assert model.partial_fit(X[200:300]).n_samples_seen_ == 300


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n_clusters": 3}, "belongs to another stream: n_clusters is 3 here and 4 in the file; the file was not"),
        ({"metric": "manhattan"}, "metric is manhattan here and euclidean in the file"),
        ({"random_state": 1}, "random_state is 1 here and 0 in the file"),
        ({"metric": "levenshtein"}, "kind is strings here and vectors in the file"),
        ({"columns": 1}, "columns is 1 here and 2 in the file"),
    ],
)
def test_another_stream_is_refused(keywords: dict[str, Any], message: str, file: Path) -> None:
    rows: Any = WORDS[:50] if keywords.get("metric") == "levenshtein" else X[:50, : keywords.pop("columns", 2)]
    settings: dict[str, Any] = {"n_clusters": 4, "random_state": 0, "checkpoint": file, "resume": True, **keywords}
    with pytest.raises(ValueError, match=message):
        KMedoids(**settings).partial_fit(rows)


def test_an_existing_file_is_not_overwritten(file: Path) -> None:
    with pytest.raises(FileExistsError, match="already exists; pass resume=True to continue from it, or delete it"):
        KMedoids(4, checkpoint=file).partial_fit(X[:100])
    with pytest.raises(OSError, match="is not a writable folder"):
        KMedoids(4, checkpoint=file.parent / "none" / "stream").partial_fit(X[:100])


def test_two_streams_cannot_share_a_file(file: Path) -> None:
    one, other = (KMedoids(4, random_state=0, checkpoint=file, resume=True) for _ in range(2))
    one.partial_fit(X[300:400])
    other.partial_fit(X[400:500])
    with pytest.raises(ValueError, match="was changed since the last batch, by another stream or by hand"):
        one.partial_fit(X[500:600])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-100], "is damaged: its checksum does not match"),
        (lambda content: content[:50], "is truncated, damaged, or not the checkpoint of a stream"),
        (lambda content: b"", "is truncated, damaged, or not the checkpoint of a stream"),
        (lambda content: content.replace(b'"version": 1', b'"version": 2', 1), "has version 2 of the format"),
    ],
)
def test_a_damaged_file_is_refused_and_kept(damage: Any, message: str, file: Path) -> None:
    content = damage(file.read_bytes())
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        KMedoids(4, random_state=0, checkpoint=file, resume=True).partial_fit(X[:100])
    assert file.read_bytes() == content


def test_a_crafted_file_is_checked(file: Path) -> None:
    """A checksum shows that a file is unchanged, not that a sensible program wrote it."""
    from medoids.storage.stream_files import StreamFile

    about = json.loads(file.read_bytes().split(b'"about": ', 1)[1].split(b"}", 1)[0] + b"}")
    made = StreamFile(file)
    state, arrays, _ = made.load(about)
    for wrong in (
        {"numbers": arrays["numbers"][::-1]},
        {"weights": arrays["weights"][:-1]},
        {"medoids": arrays["medoids"] + 10_000},
        {"priorities": np.full(300, np.inf)},
    ):
        made.save(about, state, {**arrays, **wrong})
        with pytest.raises(ValueError, match="does not hold the state of a stream"):
            KMedoids(4, random_state=0, checkpoint=file, resume=True).partial_fit(X[:100])
    made.save(about, {**state, "seen": -1}, arrays)
    with pytest.raises(ValueError, match=r"state\.seen is -1; it must be a whole number of at least 1"):
        KMedoids(4, random_state=0, checkpoint=file, resume=True).partial_fit(X[:100])


def test_rows_that_only_pickle_could_store_are_refused(tmp_path: Path) -> None:
    class Thing:
        pass

    things, path = [Thing() for _ in range(9)], tmp_path / "stream"
    model = KMedoids(2, metric=lambda a, b: float(a is not b), checkpoint=path)
    with pytest.raises(TypeError, match="a checkpoint cannot store rows of type Thing"):
        model.partial_fit(things)
    assert not path.exists()
    assert not hasattr(model, "medoid_indices_")
