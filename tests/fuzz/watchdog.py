"""A limit on the time of one try, so that a loop without an end is a failure and not a hang."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Hang(BaseException):
    """Not an Exception: hypothesis would repeat a try that failed by one, and wait again each time."""


@contextmanager
def within(seconds: float, what: object) -> Iterator[None]:
    """Raise `Hang` in the main thread if the block takes longer, which names what was tried."""

    def expire(number: int, frame: FrameType | None) -> None:
        raise Hang(f"no end after {seconds:g} s: {what!r}")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
