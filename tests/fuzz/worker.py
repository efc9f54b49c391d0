"""One process of a long run: rounds of random examples until the time is over."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

Tries = Counter[tuple[str, str, str]]


@dataclass
class Round:
    """What a worker reports: counts, seconds by kind, and a failure if there was one."""

    tries: Tries
    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


class TimeIsUp(BaseException):
    """Passes through hypothesis, which keeps only what an Exception tells."""


def work(number: int, kinds: list[str], deadline: float, folder: str, rounds: Queue[Round]) -> None:
    """Try examples until the deadline (of `time.time`); the example at hand is always in the file ``folder/number``."""
    # Numba's cache is not safe between processes that write at once.
    os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / f"numba-{number}")
    from fuzz.counts import COUNTS

    spent = dict.fromkeys(kinds, 0.0)
    while time.time() < deadline:
        kind = _least_tried(spent)
        began = time.perf_counter()
        failures = _round(kind, deadline, Path(folder) / str(number))
        seconds = time.perf_counter() - began
        spent[kind] += seconds
        rounds.put(Round(COUNTS.take(), {kind: seconds}, failures))


def _least_tried(spent: dict[str, float]) -> str:
    from fuzz.kinds import KINDS

    return min(spent, key=lambda kind: spent[kind] / KINDS[kind].share)


def _round(kind: str, deadline: float, current: Path) -> list[str]:
    from hypothesis import given, settings

    from fuzz.kinds import KINDS, attempt

    def try_one(example: Any) -> None:
        if time.time() > deadline:
            raise TimeIsUp
        current.write_text(repr(example))
        attempt(kind, example)

    profile = settings(settings.get_profile("long"), max_examples=KINDS[kind].round)
    try:
        profile(given(KINDS[kind].draw)(try_one))()
    except TimeIsUp:
        return []
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        again = [note for note in getattr(error, "__notes__", []) if note.startswith("Again: ")]
        words = f"{kind}: {type(error).__name__}: {str(error)[:500]}"
        return ["\n".join([words, *again[:1]])]
    return []
