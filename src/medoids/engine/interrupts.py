"""What is looked at between two chunks of work: Ctrl-C, the time limit, and whether it is time for news.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a finalizer or the callback of a weak
reference (Numba has many of these while it compiles) it is printed and forgotten, and a distance function of the
caller's may catch all errors: the fit would go on. So the key is remembered, and asked for between chunks of work.
Where compiled code calls back into Python, as Numba does to find the types of arguments, the interrupt may arrive as a
SystemError ("returned a result with an exception set"): that is an interrupt, too.
The time limit is asked for in the same places, so that every phase of every algorithm obeys it.
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

__all__ = ["Interrupts", "TimeUp", "clock", "is_interrupt", "uninterrupted"]

# Seconds, for time limits and news. Tests put their own in its place.
clock: Callable[[], float] = perf_counter


class TimeUp(BaseException):
    """The time limit of a fit is reached.

    Like KeyboardInterrupt it is no error, and no ``except Exception`` may take it for one.
    """


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
    """Hold back Ctrl-C and SIGTERM until the block ends: for short work that must be done as a whole.

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
    if threading.current_thread() is threading.main_thread():  # no other thread gets signals
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
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
    """Ends one fit early: at Ctrl-C, in the main thread and where that means what Python makes of it, or at a time.

    Attributes
    ----------
    watch : callable or None
        Called at each check, from whichever thread.
    """

    def __init__(self) -> None:
        self._pressed = self._listening = False
        self._end = inf
        self._reserve: Callable[[], float] = float
        self.watch: Callable[[], object] | None = None

    def __enter__(self) -> Interrupts:
        in_main = threading.current_thread() is threading.main_thread()
        # Whoever has set a handler of their own (or a fit around this one) decides what Ctrl-C does.
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
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
        """Let `check` raise `TimeUp` from the time at which only ``reserve()`` seconds are left until ``end``."""
        self._end, self._reserve = end, reserve

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed and the fit still goes on, or `TimeUp` if its time is up."""
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt
        if self._end < inf and clock() + self._reserve() >= self._end:
            raise TimeUp
        if self.watch is not None:
            self.watch()

    def forget(self) -> None:
        """Let what is left to do run to its end: the interrupt has arrived."""
        self._pressed, self._end = False, inf
