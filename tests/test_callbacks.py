"""scikit-learn's own callbacks see every step of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medoids import KMedoids, k_medoids

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
X = np.random.default_rng(0).normal(size=(80, 3))


class Recorder:
    """A callback of scikit-learn's kind that records its calls."""

    def __init__(self, stop: bool = False) -> None:
        self.calls: list[str] = []
        self.stop = stop

    def setup(self, estimator: Any, context: Any) -> None:
        self.calls.append("setup")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.calls.append(context.task_name)
        return self.stop

    def teardown(self, estimator: Any, context: Any) -> None:
        self.calls.append("teardown")


def test_each_step_is_a_task() -> None:
    recorder, own = Recorder(), []
    model = KMedoids(4, callback=own.append).set_callbacks(recorder).fit(X)
    phases = [step.phase for step in k_medoids(X, 4).trace]
    assert recorder.calls == ["setup", *phases, "fit", "teardown"]
    assert own == model.trace_


def test_it_may_stop_the_fit() -> None:
    model = KMedoids(8, init="random", random_state=0).set_callbacks(Recorder(stop=True)).fit(X)
    assert model.n_iter_ == 0
    assert not model.converged_


def test_teardown_after_an_error() -> None:
    recorder = Recorder()
    with pytest.raises(ValueError, match="max_iter"):
        KMedoids(4, max_iter=-1).set_callbacks(recorder).fit(X)
    assert recorder.calls == ["setup", "teardown"]


def test_what_ran_and_why() -> None:
    model = KMedoids(4).fit(X)
    found = k_medoids(X, 4)
    assert (model.algorithm_, model.reason_, model.converged_) == (found.algorithm, found.reason, True)
