"""What a fit says, and where it says nothing."""

from __future__ import annotations

import numpy as np
import pytest

from medoids import TraceRecord, k_medoids

X = np.array([0, 1, 3, 7, 12.0])[:, None]


def test_each_step_is_a_line_with_the_algorithm_and_the_reason_first(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[TraceRecord] = []
    k_medoids(X, 2, verbose=2, callback=seen.append)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0].startswith("medoids: fastpam1 (the 5 x 5 distance matrix is small")
    # By hand in test_pam.py: BUILD adds rows 2 and 4, and 1 replaces 2, which leaves 8 / 5.
    assert "+2" in lines[1]
    assert "+1 -2" in lines[3]
    assert "loss 1.6" in lines[3]
    assert len(lines) == 1 + len(seen) == 4


def test_nothing_is_said_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    k_medoids(X, 2, verbose=1)
    assert capsys.readouterr() == ("", "")


def test_a_true_of_numpys_stops_too() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2))
    stopped = k_medoids(rows, 8, init="random", random_state=0, callback=lambda step: np.bool_(True))
    assert stopped.n_swaps == 0
    assert not stopped.converged
