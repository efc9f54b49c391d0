"""What ``auto`` says about its choice."""

from __future__ import annotations

import re

import numpy as np

from medoids.algorithms.auto import choose
from medoids.pipeline import prepare
from medoids.settings import Settings


def test_the_reason_shows_which_is_cheaper() -> None:
    X = np.random.RandomState(0).normal(size=(6000, 40))
    seen = set()
    for k in (1, 2, 5, 12, 30, 60):
        for n in range(3200, 6001, 700):
            with prepare(X[:n], k, None, Settings()) as (problem, run):
                algorithm, _, reason = choose(problem, run)
            seen.add(algorithm)
            if "by a hair" not in reason:
                less, more = re.findall(r"([\d.,]+) against ([\d.,]+) core-seconds", reason)[0]
                assert float(less) < float(more), reason
    assert seen == {"fastpam1", "pairedpam"}
