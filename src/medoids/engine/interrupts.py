"""Ctrl-C that is not lost.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a finalizer or the callback of a weak
reference (Numba has many of these while it compiles) it is printed and forgotten, and a distance function of the
caller's may catch all errors: the fit would go on. So the key is remembered, and asked for between chunks of work.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

__all__ = ["Interrupts"]


class Interrupts:
    """Remembers Ctrl-C as long as one fit, in the main thread and where Ctrl-C means what Python makes of it."""

    def __init__(self) -> None:
        self._pressed = self._listening = False

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

    def _press(self, number: int, frame: FrameType | None) -> None:
        self._pressed = True
        signal.default_int_handler(number, frame)

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed and the fit still goes on."""
        if self._pressed:
            self.forget()
            raise KeyboardInterrupt

    def forget(self) -> None:
        """The interrupt has arrived, and there is more to do."""
        self._pressed = False
