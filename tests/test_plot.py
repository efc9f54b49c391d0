"""The figures in matplotlib."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import silhouette_samples

from medoids import KMedoids, k_medoids, k_path, plot
from medoids.plot import LossDisplay, MapDisplay, SilhouetteDisplay, SizesDisplay

mpl.use("Agg")
X = load_iris().data


@pytest.fixture(autouse=True)
def _close() -> object:
    yield
    plt.close("all")


@pytest.mark.parametrize("fitted", [False, True])
def test_map_draws_every_point_and_medoid(fitted: bool) -> None:
    found = KMedoids(3).fit(X) if fitted else k_medoids(X, 3)
    ax = plot.map(found, X)
    counts = [len(points.get_offsets()) for points in ax.collections]
    assert sorted(counts[:3]) == sorted(np.bincount(k_medoids(X, 3).labels))
    assert counts[3:] == [1, 1, 1]
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]


def test_loss_has_a_mark_for_each_step() -> None:
    found = k_medoids(X, 3)
    ax = plot.loss(found)
    line, *marks = ax.lines
    assert line.get_ydata().tolist() == [step.loss for step in found.trace]
    assert sum(len(mark.get_xdata()) for mark in marks) == len(found.trace)


def test_sizes_are_bars_on_the_given_axes() -> None:
    found = k_medoids(X, 3)
    ax = mpl.pyplot.figure().subplots()
    assert plot.sizes(found, ax=ax) is ax
    assert [bar.get_height() for bar in ax.patches] == np.bincount(found.labels).tolist()


def test_silhouettes_are_those_of_scikit_learn() -> None:
    found = k_medoids(X, 3)
    ax = plot.silhouette(found, X)
    values = silhouette_samples(X, found.labels)
    shown = [shape.get_paths()[0].vertices[:, 0] for shape in ax.collections]
    for j, widths in enumerate(shown):
        assert set(widths[widths != 0].round(9)) == set(values[found.labels == j].round(9))
    assert ax.get_legend().get_texts()[0].get_text() == f"mean {values.mean():.3f}"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0", "1", "2"]


@pytest.mark.parametrize("display", [MapDisplay, SilhouetteDisplay, LossDisplay, SizesDisplay])
def test_displays_follow_scikit_learn(display: Any) -> None:
    """``from_estimator`` draws; ``plot`` draws again what was computed, and both say where."""
    model = KMedoids(3).fit(X)
    given = mpl.pyplot.figure().subplots()
    data = (X,) if display in (MapDisplay, SilhouetteDisplay) else ()
    shown = display.from_estimator(model, *data, ax=given)
    assert isinstance(shown, display)
    assert shown.ax_ is given
    assert shown.figure_ is given.figure
    assert shown.plot() is shown
    assert shown.ax_ is not given
    for drawn in ("collections", "lines", "patches"):
        assert len(getattr(shown.ax_, drawn)) == len(getattr(given, drawn))
    with pytest.raises(NotFittedError):
        display.from_estimator(KMedoids(3), *data)


@pytest.mark.parametrize("draw", [plot.loss, plot.sizes, lambda model: plot.map(model, X)])
def test_a_model_that_is_not_fitted(draw: Any) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        draw(KMedoids(3))
    with pytest.raises(TypeError, match="a Clustering or a fitted KMedoids"):
        draw(X)
    assert not mpl.pyplot.get_fignums()  # no empty figure either


def test_the_model_comes_first() -> None:
    with pytest.raises(TypeError, match=r"^the model comes first: .* followed by X; got ndarray and KMedoids$"):
        plot.map(X, KMedoids(3).fit(X))


def test_a_path_has_a_curve_for_each_score() -> None:
    path = k_path(X, range(1, 7))
    loss, silhouettes = path.plot()
    assert loss.lines[0].get_ydata().tolist() == path.scores["loss"].tolist()
    curves = {line.get_label(): line for line in silhouettes.lines}
    np.testing.assert_array_equal(curves["medoid silhouette"].get_ydata(), path.scores["medoid_silhouette"])
    given = mpl.pyplot.figure().subplots(1, 2)
    assert path.plot(axes=given) is given
