"""The kinds of things that are tried, and the hypothesis profiles that say how many of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from fuzz import files, problems, samples, stops
from fuzz.watchdog import within

# Seconds that one try may take, with the compilation of kernels on a busy machine.
PATIENCE = 300.0


@dataclass(frozen=True)
class Kind:
    """How to draw an example and check it.

    Attributes
    ----------
    small : int
        Examples in the test suite.
    round : int
        Examples after which a long run turns to another kind.
    share : float
        Part of a long run's time.
    """

    draw: st.SearchStrategy[Any]
    check: Callable[[Any], None]
    small: int
    round: int
    share: float


KINDS = {
    "problems": Kind(problems.problems(), problems.check, small=700, round=1000, share=0.5),
    "samples": Kind(samples.samples(), samples.check, small=40, round=100, share=0.1),
    "files": Kind(files.damages(), files.check, small=200, round=300, share=0.25),
    "signals": Kind(stops.stopped(), stops.check, small=6, round=10, share=0.15),
}
# Names that the repr of an example uses.
EXAMPLES = {
    "Problem": (problems.Problem, "problems"),
    "Sample": (samples.Sample, "samples"),
    "Damage": (files.Damage, "files"),
    "Stopped": (stops.Stopped, "signals"),
}
_COMMON: dict[str, Any] = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("small", derandomize=True, **_COMMON)
settings.register_profile("long", report_multiple_bugs=False, **_COMMON)


def attempt(kind: str, example: Any) -> None:
    """Check one example; a failure tells how to try it again."""
    try:
        with within(PATIENCE, example):
            KINDS[kind].check(example)
    except BaseException as error:
        error.add_note(f"Again: python -m fuzz --again {str(example)!r}")
        raise


def again(text: str) -> None:
    """Check an example given by its repr."""
    name = text.partition("(")[0]
    example = eval(text, {own: make for own, (make, _) in EXAMPLES.items()})
    attempt(EXAMPLES[name][1], example)
