"""The line of the user's code that a warning belongs to."""

import sys

__all__ = ["callers_level"]

# Packages between the user's line and the one that warns; ``contextlib`` enters our context managers.
_PACKAGES_BETWEEN = ("medoids", "sklearn", "contextlib")


def callers_level() -> int:
    """Return the ``stacklevel`` with which the calling function warns at the user's line that called the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _PACKAGES_BETWEEN:
        frame, level = frame.f_back, level + 1
    return level
