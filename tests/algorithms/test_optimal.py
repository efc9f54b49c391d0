"""``algorithm="optimal"`` on all faces: optima by brute force, proofs, and what ends a search early."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from medoids import KMedoids, TraceRecord, k_medoids, report
from medoids.engine import interrupts
from medoids.optimal import solve as solving
from pmedian import draw, orlib

pytest.importorskip("highspy", reason="branch and bound needs highspy")

# Random distances have a weak relaxation, so that branch and bound has much to do.
HARD = np.random.default_rng(0).random((40, 40))
FIT: dict[str, Any] = {"metric": "precomputed", "algorithm": "optimal", "random_state": 0}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:number of distinct medoids")
def test_equals_brute_force() -> None:
    tried = 0
    for number in range(300):
        small = draw(number)
        weights = np.ones(len(small.D)) if small.weights is None else small.weights
        if small.D.shape[0] != small.D.shape[1] or small.allowed is not None or np.count_nonzero(weights) < small.k:
            continue
        heavy = weights > 0  # a row of weight 0 is no candidate here
        frozen = [i for i in small.frozen if heavy[i]]
        small.allowed, small.frozen = heavy, frozen
        found = k_medoids(small.D, small.k, sample_weight=small.weights, frozen_medoids=frozen or None, **FIT)
        best = small.optimum()
        assert found.inertia == pytest.approx(best, rel=1e-9, abs=1e-12), number
        assert found.lower_bound is not None
        assert found.lower_bound * weights.sum() <= best + 1e-12, number
        assert (found.proved, found.converged) == (True, True)
        tried += 1
    assert tried > 60


def test_vectors_take_a_matrix_in_float64() -> None:
    rows = 1e6 + np.random.default_rng(1).random((70, 3))
    found = k_medoids(rows, 4, algorithm="optimal", random_state=0)
    given = k_medoids(cdist(rows, rows), 4, **FIT)
    assert found.proved
    assert found.inertia == pytest.approx(given.inertia, rel=1e-12)
    assert found.n_evaluations <= 2 * 70**2
    assert [step.loss for step in found.trace] == sorted((step.loss for step in found.trace), reverse=True)


# OR-Library's pmedopt.txt.
@pytest.mark.parametrize(("name", "optimum"), [("pmed1", 5819), ("pmed6", 7824)])
def test_published_optima(name: str, optimum: int) -> None:
    D, p = orlib(name)
    found = k_medoids(D, p, **FIT)
    assert (found.inertia, found.proved) == (optimum, True)
    assert found.lower_bound == pytest.approx(optimum / len(D), rel=1e-12)
    assert (found.nodes or 0) > 0 if name == "pmed6" else found.nodes == 0


def test_the_estimator_has_bound_and_gap() -> None:
    model = KMedoids(3, **FIT, gap=0.2).fit(HARD)
    assert model.gap_ == pytest.approx((model.loss_ - model.lower_bound_) / model.lower_bound_)
    assert 0 < model.gap_ <= 0.2
    plain = model.set_params(algorithm="fastpam1", gap=0.0).fit(HARD)
    assert (plain.lower_bound_, plain.gap_) == (None, None)


def stop_in_proof(step: TraceRecord) -> None:
    if step.phase == "proof":
        raise KeyboardInterrupt


def test_an_interrupt_returns_the_best_so_far_with_its_gap() -> None:
    with pytest.raises(KeyboardInterrupt):
        k_medoids(HARD, 4, callback=stop_in_proof, **FIT)
    found = k_medoids(HARD, 4, callback=stop_in_proof, on_interrupt="return", **FIT)
    best = k_medoids(HARD, 4, **FIT)
    assert (found.proved, found.converged) == (False, False)
    assert found.lower_bound == found.trace[-1].lower_bound
    assert found.lower_bound < best.loss <= found.loss
    assert best.proved


def test_a_callback_that_returns_true_stops() -> None:
    found = k_medoids(HARD, 4, callback=lambda step: step.phase == "proof", **FIT)
    assert found.trace[-1].phase == "proof"
    assert (found.proved, found.converged) == (False, False)
    assert 0 < found.gap < np.inf


def test_the_time_limit_returns_the_best_so_far_with_its_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(interrupts, "clock", lambda: now)

    def callback(step: TraceRecord) -> None:
        nonlocal now
        now += 3600 * (step.phase == "proof")

    with pytest.warns(ConvergenceWarning, match="stopped at time_limit"):
        found = k_medoids(HARD, 4, time_limit=60, callback=callback, **FIT)
    assert not found.proved
    assert 0 < found.gap < np.inf


def test_the_memory_limit_returns_the_best_so_far_with_its_gap() -> None:
    rows = np.random.default_rng(2).random((200, 6))
    with pytest.warns(ConvergenceWarning, match="stopped at memory_limit; raise it"):
        found = k_medoids(rows, 4, algorithm="optimal", random_state=0, memory_limit=200 * 200 * 8 + 100_000)
    assert not found.proved
    assert 0 < found.gap < np.inf
    with pytest.raises(ValueError, match=r"needs the 200 x 200 distance matrix, 312 KiB"):
        k_medoids(rows, 4, algorithm="optimal", memory_limit=300_000)


def test_without_highspy_the_dual_gives_the_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "has_solver", lambda: False)
    with pytest.warns(ConvergenceWarning, match=r"pip install 'medoids\[optimal\]'"):
        found = k_medoids(HARD, 4, **FIT)
    assert not found.proved
    assert 0 < found.gap < np.inf


# A real process that is killed: no exception, no clean-up.
KILLED = """
import os, signal, sys
import numpy as np
from medoids import k_medoids
seen = 0
def kill(step):
    global seen
    seen += step.phase == "proof"
    if seen == 3:
        os.kill(os.getpid(), signal.SIGKILL)
D = np.random.default_rng(0).random((40, 40))
k_medoids(D, 4, metric="precomputed", algorithm="optimal", random_state=0, checkpoint=sys.argv[1], callback=kill)
"""


@pytest.mark.slow
def test_a_killed_fit_goes_on_from_its_medoids_and_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], timeout=300)
    assert done.returncode == -signal.SIGKILL
    stored = json.loads(path.read_text())["state"]
    known = stored["position"]["proof"]
    assert known["lower_bound"] > 0
    resume: dict[str, Any] = {"checkpoint": path, "resume": True}
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit"):  # which has no time to do anything
        none = k_medoids(HARD, 4, time_limit=0, **resume, **FIT)
    assert none.medoid_indices.tolist() == stored["medoids"]
    assert none.lower_bound == pytest.approx(known["lower_bound"] / 40, rel=1e-12)
    later: list[TraceRecord] = []
    found = k_medoids(HARD, 4, callback=later.append, **resume, **FIT)
    assert found.proved
    assert found.inertia == k_medoids(HARD, 4, **FIT).inertia
    assert [step.phase for step in found.trace][: len(stored["trace"])] == [step["phase"] for step in stored["trace"]]
    assert {step.phase for step in later} == {"proof"}
    assert all(step.lower_bound * 40 >= known["lower_bound"] for step in later if step.lower_bound is not None)


def test_progress_shows_loss_bound_and_gap(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 2
        return now

    monkeypatch.setattr(interrupts, "clock", clock)
    k_medoids(HARD, 4, verbose=1, **FIT)
    lines = capsys.readouterr().err
    assert "medoids: optimal (asked for): distance matrix" not in lines  # which is given
    assert any("node" in line and "bound" in line and "gap" in line and "%)" in line for line in lines.splitlines())
    assert lines.splitlines()[-1].startswith("medoids: done in")


def test_the_report_shows_the_gap_and_the_proof(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).random((60, 2))
    proved = k_medoids(rows, 3, algorithm="optimal", random_state=0)
    report(proved, rows, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "gap to the optimum</dt><dd>0<small>proved optimal" in page
    assert "50 restarts" in page
    stopped = k_medoids(HARD, 4, callback=lambda step: step.phase == "proof", **FIT)
    report(stopped, HARD, tmp_path / "b.html")
    assert "<b>Not proved.</b>" in (tmp_path / "b.html").read_text()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"gap": 0.1}, "gap=0.1 is for algorithm='optimal'"),
        ({"algorithm": "optimal", "gap": -1}, "gap=-1 must be a share"),
        ({"algorithm": "optimal", "gap": True}, "gap=True must be a share"),
        ({"algorithm": "optimal", "init": "random", "n_init": 3}, "n_init=3 is not for algorithm='optimal'"),
    ],
)
def test_what_cannot_be_asked_for(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        k_medoids(np.arange(6.0)[:, None], 2, **keywords)
