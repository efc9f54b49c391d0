"""A few hundred random examples of each kind, the same ones each time; `make fuzz` tries new ones for an hour."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from fuzz.kinds import KINDS, attempt

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_random_examples(kind: str) -> None:
    def try_one(example: Any) -> None:
        attempt(kind, example)

    profile = settings(settings.get_profile("small"), max_examples=KINDS[kind].small)
    profile(given(KINDS[kind].draw)(try_one))()
