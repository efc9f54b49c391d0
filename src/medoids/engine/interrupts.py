"""What is checked between two chunks of work: Ctrl-C, the time limit, and whether progress should be reported.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a finalizer or the callback of a weak
reference (Numba has many of these while it compiles) it is printed and ignored, and a user's distance function may
catch all errors: the fit would continue. So the key press is remembered, and checked between chunks of work.
Where compiled code calls back into Python, as Numba does to find the types of arguments, the interrupt may arrive as a
SystemError ("returned a result with an exception set"), which counts as an interrupt as well.
The time limit is checked in the same places, so that every phase of every algorithm obeys it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter
from types import FrameType
from typing import Any

__all__ = ["BudgetSpent", "Interrupts", "TimeUp", "clock", "is_interrupt", "uninterrupted"]

# Seconds, for time limits and progress. Tests replace it.
clock: Callable[[], float] = perf_counter


class TimeUp(BaseException):
    """The time limit of a fit is reached.

    Like KeyboardInterrupt it is not an error, and ``except Exception`` must not catch it.

    Attributes
    ----------
    keyword : str
        The keyword that set the limit.
    """

    keyword = "time_limit"


class BudgetSpent(TimeUp):
    """The next distances would exceed the budget of a fit, which ends as at its time limit."""

    keyword = "max_evaluations"


def is_interrupt(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, or a SystemError that Ctrl-C caused in compiled code.

    >>> is_interrupt(KeyboardInterrupt()), is_interrupt(SystemError("unknown opcode"))
    (True, False)
    """
    if isinstance(error, SystemError):
        origin = error.__cause__ or error.__context__
        return origin is not None and is_interrupt(origin)
    return isinstance(error, KeyboardInterrupt)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the block ends: for short work that must be completed.

    >>> done = []
    >>> try:
    ...     with uninterrupted():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("all")
    ... except KeyboardInterrupt:
    ...     done.append("interrupted")
    >>> done
    ['all', 'interrupted']
    """
    handlers: dict[int, Any] = {}
    held: list[int] = []
    if threading.current_thread() is threading.main_thread():  # other threads get no signals
        known = ((number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM))
        handlers = {number: handler for number, handler in known if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in held[:1]:
            signal.raise_signal(number)


class Interrupts:
    """Ends one fit early: at the time limit, or at Ctrl-C in the main thread, unless the user handles that signal.

    Attributes
    ----------
    watch : callable or None
        Called at each check, in any thread.
    """

    def __init__(self) -> None:
        self._pressed = self._listening = False
        self._end = inf
        self._reserve: Callable[[], float] = float
        self.watch: Callable[[], object] | None = None

    def __enter__(self) -> Interrupts:
        # A handler that the user (or a fit around this one) has set decides what Ctrl-C does.
        default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if default and threading.current_thread() is threading.main_thread():
            self._pressed, self._listening = False, True
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._listening and signal.getsignal(signal.SIGINT) == self._press:  # a callback may have set another
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._listening = False
        self.forget()

    def _press(self, number: int, frame: FrameType | None) -> None:
        self._pressed = True
        signal.default_int_handler(number, frame)

    def caused(self, error: BaseException | None) -> bool:
        """Whether Ctrl-C is what ended the work."""
        return error is not None and (is_interrupt(error) or (self._pressed and isinstance(error, SystemError)))

    def limit(self, end: float, reserve: Callable[[], float]) -> None:
        """Make `check` raise `TimeUp` when only ``reserve()`` seconds are left until ``end``."""
        self._end, self._reserve = end, reserve

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed and the fit still runs, or `TimeUp` at the time limit."""
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt
        if self._end < inf and clock() + self._reserve() >= self._end:
            raise TimeUp
        if self.watch is not None:
            self.watch()

    def forget(self) -> None:
        """Let the remaining work finish: the interrupt has been handled."""
        self._pressed, self._end = False, inf
