"""The Dask estimator on a real cluster of two processes: what one machine gives, whatever happens to the workers."""

from __future__ import annotations

import lzma
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import data
from medoids import Clustering, TraceRecord, certify, k_medoids, medoid_silhouette, plot, report, silhouette

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")

from medoids.dask import KMedoids  # noqa: E402  (after the skips)

K = 4


def blobs(n: int = 3300, p: int = 6) -> np.ndarray:
    random = np.random.RandomState(0)
    return random.rand(7, p)[random.randint(7, size=n)] * 5 + random.rand(n, p)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster, distributed.Client(cluster) as client:
        yield client


def local(X: Any, k: int = K, **settings: Any) -> Clustering:
    return k_medoids(X, k, algorithm="pairedpam", random_state=0, **settings)


def assert_same(model: KMedoids, expected: Clustering) -> None:
    assert model.medoid_indices_.tolist() == expected.medoid_indices.tolist()
    assert model.inertia_ == pytest.approx(expected.inertia, rel=1e-12)
    assert model.labels_.compute().tolist() == expected.labels.tolist()
    np.testing.assert_allclose(model.distances_.compute(), expected.distances, rtol=1e-9, atol=1e-12)
    assert model.loss_ == pytest.approx(expected.loss, rel=1e-12)
    assert (model.n_iter_, model.converged_) == (expected.n_swaps, expected.converged)
    assert [step.medoid_in for step in model.trace_] == [step.medoid_in for step in expected.trace]


# --- the same as on one machine -------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [(1000, 1000, 1300), (1, 0, 3299), (3300,)])
def test_arrays_in_any_chunks(client: Any, chunks: tuple[int, ...]) -> None:
    X = blobs()
    model = KMedoids(K, random_state=0).fit(da.from_array(X, chunks=(chunks, 3)))
    assert_same(model, local(X))
    assert isinstance(model.labels_, da.Array)
    assert model.labels_.chunks == model.distances_.chunks == (chunks,)
    assert model.cluster_centers_.tolist() == X[model.medoid_indices_].tolist()


def test_one_worker(client: Any) -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as alone,
    ):
        X = blobs()
        model = KMedoids(K, random_state=0, client=alone).fit(da.from_array(X, chunks=(1500, 6)))
        assert model.medoid_indices_.tolist() == local(X).medoid_indices.tolist()


def test_chunks_of_unknown_size(client: Any) -> None:
    X = blobs()
    D = da.from_array(X, chunks=(1000, 6))
    D = D[D[:, 0] > 2]
    assert np.isnan(D.shape[0])
    assert_same(KMedoids(K, random_state=0).fit(D), local(X[X[:, 0] > 2]))


# Of dask itself, with the newest pandas.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_a_parquet_folder_with_an_empty_partition(client: Any, tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(blobs(), columns=list("abcdef"))
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path / "folder")
    D = dd.read_parquet(tmp_path / "folder")
    D = D[D["a"] > D["a"].partitions[0].min().compute()]
    D = dd.concat([D, D[D["a"] > 1e9]])  # none of them
    X = D.compute()
    model = KMedoids(K, random_state=0).fit(D)
    assert model.medoid_indices_.tolist() == local(X.to_numpy()).medoid_indices.tolist()
    assert len(model.labels_.compute()) == len(X)
    assert model.predict(D).compute().tolist() == model.labels_.compute().tolist()


def test_weights(client: Any) -> None:
    X = blobs(1500)
    weights = np.random.RandomState(1).randint(0, 4, size=1500).astype(float)
    D, W = da.from_array(X, chunks=(400, 6)), da.from_array(weights, chunks=400)
    assert_same(KMedoids(K, random_state=0).fit(D, sample_weight=W), local(X, sample_weight=weights))


def test_words_in_a_bag(client: Any) -> None:
    words = data.words(600)
    model = KMedoids(K, metric="levenshtein", random_state=0).fit(db.from_sequence(words, npartitions=5))
    assert_same(model, local(words, metric="levenshtein"))
    assert model.cluster_centers_ == [words[i] for i in model.medoid_indices_]
    assert model.predict(["zebras"]).tolist() == [int(np.argmin(model.transform(["zebras"])))]


def test_objects_in_a_bag(client: Any) -> None:
    def unlike(a: dict[str, float], b: dict[str, float]) -> float:
        return abs(a["size"] - b["size"])

    things = [{"size": float(x)} for x in np.random.RandomState(0).rand(150)]
    model = KMedoids(3, metric=unlike, random_state=0).fit(db.from_sequence(things, npartitions=3))
    assert_same(model, local(things, 3, metric=unlike))


def test_new_data(client: Any) -> None:
    X = blobs()
    D = da.from_array(X, chunks=(1000, 6))
    model = KMedoids(K, random_state=0).fit(D)
    expected = np.linalg.norm(X[:, None] - X[model.medoid_indices_], axis=2)
    assert model.transform(D).chunks == ((1000, 1000, 1000, 300), (K,))
    np.testing.assert_allclose(model.transform(D).compute(), expected, rtol=1e-9, atol=1e-9)
    assert model.predict(D).compute().tolist() == expected.argmin(axis=1).tolist()
    assert model.predict(X[:9]).tolist() == expected[:9].argmin(axis=1).tolist()
    assert model.score(D) == pytest.approx(-model.inertia_)
    assert KMedoids(K, random_state=0).fit_predict(D).compute().tolist() == model.labels_.compute().tolist()


# Of dask itself, with the newest pandas.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_names_of_columns(client: Any) -> None:
    import pandas as pd

    frame = pd.DataFrame(blobs(300), columns=list("abcdef"))
    D = dd.from_pandas(frame, npartitions=3)
    model = KMedoids(K, random_state=0).fit(D)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.n_features_in_ == 6
    expected = model.labels_.compute().tolist()
    assert model.predict(frame).tolist() == model.predict(D).compute().tolist() == expected
    turned = list("bacdef")
    for method in (model.predict, model.transform, model.score):
        for new in (D[turned], frame[turned]):
            with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
                method(new)
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        model.predict(D.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="X has 5 features, but KMedoids is expecting 6"):
        KMedoids(K).fit(D.to_dask_array(lengths=True)).predict(frame.to_numpy()[:, :5])
    # Another fit has other columns, or none.
    assert not hasattr(model.fit(D.to_dask_array(lengths=True)), "feature_names_in_")
    with pytest.raises(TypeError, match="all input features have string names"):
        KMedoids(K).fit(dd.from_pandas(frame.rename(columns={"a": 1}), npartitions=2))


def test_looking_at_a_fit(client: Any, tmp_path: Path) -> None:
    """Reports, figures, silhouettes and certificates of a cluster's fit are those of the local one."""
    import matplotlib as mpl

    mpl.use("Agg")
    X = blobs(400)
    weights = np.random.RandomState(1).randint(1, 40, size=400).astype(float)
    D, W = da.from_array(X, chunks=(150, 6)), da.from_array(weights, chunks=150)
    model = KMedoids(K, random_state=0, metric="l1", client=client).fit(D, sample_weight=W)
    expected = local(X, sample_weight=weights, metric="l1")
    for data_ in (X, D):
        assert silhouette(model, data_).value == pytest.approx(silhouette(expected, X).value)
        assert medoid_silhouette(model, data_).value == pytest.approx(medoid_silhouette(expected, X).value)
        ours, theirs = certify(model, data_), certify(X, expected.medoid_indices, metric="l1", sample_weight=weights)
        assert (ours.loss, ours.swap) == (pytest.approx(theirs.loss), theirs.swap)
        assert ours.lower_bound == pytest.approx(theirs.lower_bound)
        pages = [report(found, data_, tmp_path / "r.html").read_text() for found in (model, expected)]
        medoids_ = [page[page.index('<section id="medoids">') : page.index('<section id="loss">')] for page in pages]
        assert medoids_[0] == medoids_[1]
        assert "algorithm=&#x27;pairedpam&#x27;" in pages[0]
        assert "client=" not in pages[0]
        ax = plot.map(model, data_)
        sizes = np.bincount(expected.labels).tolist()
        assert [len(points.get_offsets()) for points in ax.collections[:K]] == sizes
    assert [bar.get_height() for bar in plot.sizes(model).patches] == sizes
    assert plot.loss(model).lines[0].get_ydata().tolist() == [step.loss for step in model.trace_]
    mpl.pyplot.close("all")
    for look in (plot.sizes, lambda model: silhouette(model, X), lambda model: certify(model, X)):
        with pytest.raises(NotFittedError):
            look(KMedoids(2))


@pytest.mark.parametrize(("name", "metric", "n"), [("mnist", "l2", 4000), ("newsgroups", "cosine", 4000)])
def test_real_data(client: Any, name: str, metric: str, n: int) -> None:
    X, _ = data.subset(name, n, seed=0)
    X = (X * 255).astype(np.uint8) if name == "mnist" else X
    D = client.scatter(X)
    D = da.from_delayed(D, shape=X.shape, dtype=X.dtype).rechunk((n // 4, -1))
    assert_same(KMedoids(5, metric=metric, random_state=0).fit(D), local(X, 5, metric=metric))


def test_verbose_tells_the_traffic(client: Any, capfd: pytest.CaptureFixture[str]) -> None:
    KMedoids(2, random_state=0, verbose=1).fit(da.from_array(blobs(300), chunks=(100, 6)))
    assert "trips" in (told := capfd.readouterr().err)
    assert "KiB down" in told


def test_workers_that_the_driver_cannot_reach(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then messages pass the scheduler."""
    monkeypatch.setattr("medoids.cluster.on_dask.connect", refuse := Mock(side_effect=ConnectionRefusedError))
    X = blobs(900)
    assert_same(KMedoids(K, random_state=0).fit(da.from_array(X, chunks=(300, 6))), local(X))
    assert refuse.call_count == 2


def test_max_iter_warns(client: Any) -> None:
    D = da.from_array(blobs(), chunks=(1000, 6))
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        KMedoids(K, max_iter=0, random_state=0).fit(D)


# --- what goes wrong ------------------------------------------------------------------------------------------------


def killing(client: Any, when: dict[int, tuple[int, float]]) -> Callable[[TraceRecord], None]:
    """Kill a worker of a given number, so many seconds after a step."""
    steps: list[TraceRecord] = []

    def callback(step: TraceRecord) -> None:
        steps.append(step)
        if len(steps) in when:
            pids = sorted(client.run(os.getpid).items())
            number, delay = when[len(steps)]
            Timer(delay, os.kill, (pids[number][1], signal.SIGKILL)).start()

    return callback


def test_workers_that_are_killed_in_build_and_in_swap(client: Any) -> None:
    X, _ = data.subset("letter", 4000, seed=1)
    D = da.from_array(X, chunks=(1000, 16))
    expected = local(X, 8, metric="l1")
    swaps = [at for at, step in enumerate(expected.trace, start=1) if step.phase == "swap"]
    assert swaps, "the test needs a fit that swaps"
    # After a step of BUILD, and in the middle of the search that follows the first swap.
    model = KMedoids(8, metric="l1", random_state=0, callback=killing(client, {3: (0, 0.0), swaps[0]: (1, 0.03)}))
    assert_same(model.fit(D), expected)


class Stopped(Exception):
    pass


def stopping(after: int) -> Callable[[TraceRecord], None]:
    steps: list[TraceRecord] = []

    def callback(step: TraceRecord) -> None:
        steps.append(step)
        if len(steps) == after:
            raise Stopped

    return callback


@pytest.mark.parametrize("after", [2, 9, 10])
def test_a_driver_that_stops_and_resumes(client: Any, tmp_path: Path, after: int) -> None:
    """The chunks of the second fit need not be those of the first."""
    X, file = data.subset("letter", 1200, seed=2)[0], tmp_path / "fit.checkpoint"
    expected = local(X, 9, metric="l1")
    assert expected.n_swaps > 1, "the test needs a fit that swaps twice"
    model = KMedoids(9, metric="l1", random_state=0, checkpoint=file, callback=stopping(after))
    with pytest.raises(Stopped):
        model.fit(da.from_array(X, chunks=(400, 16)))
    resumed = clone(model).set_params(callback=None, resume=True).fit(da.from_array(X, chunks=(700, 16)))
    assert_same(resumed, expected)


def test_a_fit_is_resumed_with_the_swaps_that_it_began_with(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, settings = blobs(9300, 20), {"metric": "l1", "random_state": 0, "checkpoint": tmp_path / "fit.checkpoint"}
    expected = local(X, 12, swap="eager", metric="l1")
    assert expected.n_swaps > 1, "the test needs a fit that swaps twice"
    with monkeypatch.context() as patch:
        patch.setattr("medoids.dask.choose_swap", lambda problem: ("eager", "asked for; far cheaper"))
        with pytest.raises(Stopped):
            KMedoids(12, callback=stopping(2), **settings).fit(da.from_array(X, chunks=(4000, 20)))
    resumed = KMedoids(12, resume=True, **settings).fit(da.from_array(X, chunks=(5000, 20)))
    assert_same(resumed, expected)
    assert resumed.reason_.endswith("far cheaper")


def test_a_checkpoint_that_was_cut_short(client: Any, tmp_path: Path) -> None:
    file, D = tmp_path / "fit.checkpoint", da.from_array(blobs(600), chunks=(200, 6))
    KMedoids(2, random_state=0, checkpoint=file).fit(D)
    file.write_bytes(short := file.read_bytes()[:-40])
    with pytest.raises(ValueError, match="truncated"):
        KMedoids(2, random_state=0, checkpoint=file, resume=True).fit(D)
    assert file.read_bytes() == short
    file.unlink()
    KMedoids(2, random_state=0, checkpoint=file).fit(D)
    with pytest.raises(ValueError, match="the content of X is not the same"):
        KMedoids(2, random_state=0, checkpoint=file, resume=True).fit(D + 1)


def test_a_partition_that_cannot_be_read(client: Any) -> None:
    def broken(block: np.ndarray, block_id: Any = None) -> np.ndarray:
        if block_id[0] == 1:
            raise OSError("no such disk")
        return block

    D = da.from_array(blobs(300), chunks=(100, 6)).map_blocks(broken, dtype=float)
    with pytest.raises(RuntimeError, match=r"partition 1 of X could not be read.*no such disk"):
        KMedoids(2).fit(D)


def test_a_nan_is_named(client: Any) -> None:
    X = blobs(300)
    X[250, 3] = np.nan
    with pytest.raises(ValueError, match=r"X\[50, 3\] is nan") as error:
        KMedoids(2).fit(da.from_array(X, chunks=(100, 6)))
    assert "counted in partition 2, which begins with row 200 of X" in str(error.value)


def test_a_scheduler_that_dies() -> None:
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    cluster = distributed.LocalCluster(**options, silence_logs=50)
    client = distributed.Client(cluster, set_as_default=False)

    def close(step: TraceRecord) -> None:
        cluster.close()

    try:
        with pytest.raises(RuntimeError, match="scheduler is gone"):
            KMedoids(3, client=client, callback=close).fit(da.from_array(blobs(300), chunks=(100, 6)))
    finally:
        client.close()
        cluster.close()


def test_what_a_cluster_does_not_do(client: Any) -> None:
    D = da.from_array(blobs(300), chunks=(100, 6))
    for setting, message in [
        ({"algorithm": "pam"}, "algorithm='pam'"),
        ({"swap": "first"}, "swap='first'"),
        ({"algorithm": "banditpam++"}, "'banditpam\\+\\+' is not available on a cluster; use 'pairedpam'"),
        ({"time_limit": 5}, "time_limit=5 is not available on a cluster.*callback"),
        ({"algorithm": "optimal"}, "algorithm='optimal' needs a matrix of all distances, and is not available"),
        ({"gap": 0.1}, "gap=0.1 is not available"),
        ({"n_init": 3}, "n_init=3 is not available"),
        ({"n_jobs": 2}, "n_jobs=2 is not available"),
        ({"init": "random"}, "init='random' is not available"),
        ({"n_clusters": "auto"}, "n_clusters='auto' is not available"),
        ({"metric": "gower"}, "metric='gower' is not available"),
        ({"n_clusters": 301}, "n_clusters=301 is more than"),
        ({"frozen_medoids": [300]}, r"frozen_medoids\[0\]=300 is not a row of X"),
        ({"frozen_medoids": [3, 3]}, "frozen_medoids repeats row 3"),
        ({"candidates": [0, 1]}, r"candidates=\[0, 1\] is not available on a cluster"),
        ({"frozen_medoids": [3], "init": [1, 2]}, "init lacks row 3 of frozen_medoids"),
        ({"init": [1]}, "init has 1 row indices"),
        ({"resume": True}, "needs checkpoint"),
    ]:
        with pytest.raises(ValueError, match=message):
            KMedoids(**{"n_clusters": 2, **setting}).fit(D)
    with pytest.raises(TypeError, match="must be a Dask array"):
        KMedoids(2).fit(blobs(30))
    with pytest.raises(ValueError, match="has 1 partitions, but X has 3"):
        KMedoids(2).fit(D, sample_weight=da.ones(300, chunks=300))
    with pytest.raises(NotFittedError):
        KMedoids(2).predict(D)


def test_no_client() -> None:
    """In a process of its own, where no other test has started one."""
    code = """
        import dask.array as da
        from medoids.dask import KMedoids
        try:
            KMedoids(2).fit(da.ones((30, 2), chunks=(10, 2)))
        except ValueError as error:
            assert "no Dask client is running" in str(error)
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def covertype(n: int) -> np.ndarray:
    with lzma.open(data.path("covertype_581012x54_int16.npy.xz")) as file:
        X = np.load(file)
    return X[np.random.RandomState(0).choice(len(X), n, replace=False)]


def test_covertype(client: Any) -> None:
    X = covertype(3500)
    D = da.from_array(X, chunks=(1300, 54))
    assert_same(KMedoids(5, metric="l1", random_state=0).fit(D), local(X, 5, metric="l1"))
