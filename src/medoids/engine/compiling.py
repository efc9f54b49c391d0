"""Listeners that are called when a kernel is compiled, which takes seconds in the middle of a first fit.

They stand apart from the kernels, so that a listener need not import Numba.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["announce", "listeners"]

# Called when a kernel that is then kept on disk is about to be compiled.
listeners: list[Callable[[], object]] = []


def announce() -> None:
    """Call all listeners: a kernel is about to be compiled."""
    for listener in listeners:
        listener()
