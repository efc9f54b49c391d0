"""The sets are what the paper used, or an error says what to do."""

from __future__ import annotations

import hashlib
import lzma
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

import numpy as np
import pytest

import data
from medoids.datasets import (
    DataNotFound,
    data_folder,
    distinct_rows,
    load_cifar10,
    load_mnist,
    load_newsgroups,
    load_scrna,
    logged_runs,
    paper_sample,
)
from medoids.datasets.files import computed_file, download
from medoids.distances import dissimilarity


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data folder, an empty cache, and no internet."""

    def refuse(*_: object, **__: object) -> None:
        raise urllib.error.URLError("no network")

    monkeypatch.delenv("MEDOIDS_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    for opener in ("urllib.request.urlopen", "sklearn.datasets._openml.urlopen"):
        monkeypatch.setattr(opener, refuse)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda _: None)


@pytest.mark.parametrize("load", [load_mnist, load_cifar10, load_newsgroups, load_scrna, logged_runs])
@pytest.mark.filterwarnings("ignore:A network error")
def test_offline_says_what_to_do(load, offline: None) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataNotFound, match=r"MEDOIDS_DATA \(or --data\) to a folder that has"):
        load()


def test_a_folder_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataNotFound, match="nowhere does not exist"):
        data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("MEDOIDS_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert data_folder(tmp_path.parent) == tmp_path.parent


def test_a_download_is_checked_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    source = tmp_path / "source.bin"
    source.write_bytes(b"whole")
    sha256 = hashlib.sha256(b"whole").hexdigest()
    assert download(source.as_uri(), "kept.bin", sha256).read_bytes() == b"whole"
    source.unlink()
    assert download(source.as_uri(), "kept.bin", sha256).read_bytes() == b"whole", "from the cache"

    source.write_bytes(b"torn")
    with pytest.raises(ValueError, match=r"not received as published: SHA-256 \w+, expected"):
        download(source.as_uri(), "other.bin", sha256)
    assert [path.name for path in (tmp_path / "home" / "medoids").iterdir()] == ["kept.bin"]


def test_a_damaged_file_of_the_cache_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    source = tmp_path / "source.bin"
    source.write_bytes(b"whole")
    sha256 = hashlib.sha256(b"whole").hexdigest()
    kept = download(source.as_uri(), "kept.bin", sha256)
    kept.write_bytes(b"wholE")
    assert download(source.as_uri(), "kept.bin", sha256).read_bytes() == b"whole", "fetched again"
    kept.write_bytes(b"wholE")
    source.unlink()
    with pytest.raises(DataNotFound, match=r"kept.bin \(a damaged copy is in .*cannot be reached"):
        download(source.as_uri(), "kept.bin", sha256)


def test_what_was_computed_is_kept_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    made: list[int] = []

    def make(file: IO[bytes]) -> None:
        made.append(len(made))
        file.write(b"numbers")

    for _ in range(2):
        assert computed_file("rows.npy", make).read_bytes() == b"numbers"
    assert made == [0], "once"
    (tmp_path / "home" / "medoids" / "rows.npy").write_bytes(b"numberS")
    assert computed_file("rows.npy", make).read_bytes() == b"numbers"
    assert made == [0, 1]


def test_other_values_under_the_right_name_are_refused(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "mnist_70000x784_uint8.npy.xz", "wb", preset=0) as file:
        np.save(file, np.zeros((70, 784), np.uint8))
    np.save(tmp_path / "mnist_70000_labels_uint8.npy", np.zeros(70, np.uint8))
    with pytest.raises(ValueError, match="MNIST is not the data that the paper used: SHA-256"):
        load_mnist(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "algorithm"), [("MNIST", "BP"), ("CIFAR10", "BP++"), ("NEWSGROUPS", "BP++")])
def test_samples_are_the_authors_own(name: str, algorithm: str) -> None:
    """At the medoids that they logged, the loss is the one that they logged."""
    folder = data.path("paper_logged_runs.csv").parent
    run = next(r for r in logged_runs(folder) if (r["dataset"], r["algorithm"], r["n"]) == (name, algorithm, "10000"))
    X = paper_sample(name, 10_000, folder)
    medoids = np.array(run["final_medoids"].strip("[]").split(), dtype=int)
    metric = {"L2": "l2", "L1": "l1", "cos": "cosine"}[run["loss"]]
    loss = dissimilarity(X, metric, None).exact_block(medoids, slice(0, 10_000)).min(axis=0).mean()
    assert loss == pytest.approx(float(run["final_loss"]), rel=1e-5)


def test_cells_and_distinct_rows() -> None:
    folder = data.path("scrna_worm_neuron_4186x13488_csr_int16.npz").parent
    assert load_scrna("worm", folder).data.shape == (4186, 13488)
    assert load_scrna("bladder", folder).data.shape == (2100, 20670)
    rows = distinct_rows("NEWSGROUPS", 500, 3, folder)
    assert rows.shape == (500, 384)
    assert np.array_equal(rows, distinct_rows("NEWSGROUPS", 500, 3, folder))
    assert not np.array_equal(rows, distinct_rows("NEWSGROUPS", 500, 4, folder))
    with pytest.raises(ValueError, match="n=5000 is more than the 4,186 rows of SCRNA-WORM"):
        distinct_rows("SCRNA-WORM", 5_000, 0, folder)


def test_a_set_that_is_not_the_papers() -> None:
    with pytest.raises(ValueError, match="name='IRIS' is not a data set of the paper; choose from MNIST, CIFAR10"):
        paper_sample("IRIS", 10)
