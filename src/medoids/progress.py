"""What a fit says while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable

from medoids.clustering import TraceRecord

__all__ = ["narrator"]


def narrator(
    algorithm: str, reason: str, verbose: int, then: Callable[[TraceRecord], object] | None
) -> Callable[[TraceRecord], object] | None:
    """Return a callback that writes a line for each step to standard error and then calls the user's own.

    Nothing is written into a pipe unless ``verbose`` is above 1.
    """
    if verbose < 2 and not sys.stderr.isatty():
        return then
    sys.stderr.write(f"medoids: {algorithm} ({reason})\n")

    def tell(step: TraceRecord) -> object:
        change = "start" if step.medoid_in is None else f"+{step.medoid_in}"
        if step.medoid_out is not None:
            change += f" -{step.medoid_out}"
        sys.stderr.write(
            f"{step.seconds:8.2f} s  {step.phase:5}  {change:<18} loss {step.loss:.6g}  "
            f"{step.n_evaluations:,} distances\n"
        )
        return then(step) if then is not None else None

    return tell
