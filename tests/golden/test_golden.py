"""Exact algorithms go the stored way, step by step; see ``compare.py`` for those that sample."""

from __future__ import annotations

import json

import pytest

from golden.fits import EXACT, STORED, steps


@pytest.mark.parametrize("name", EXACT)
def test_every_step_is_the_stored_one(name: str) -> None:
    expected, found = json.loads(STORED.read_text())[name], steps(name)
    losses = [loss for *_, loss in expected["steps"]]
    assert [loss for *_, loss in found["steps"]] == pytest.approx(losses, rel=1e-12)
    for one in (expected, found):
        one["steps"] = [step[:3] for step in one["steps"]]
    assert found == expected
