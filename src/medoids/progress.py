"""What a fit says while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

from medoids.clustering import TraceRecord

__all__ = ["call_counter", "narrator"]

# Seconds between two lines of `call_counter`.
_PAUSE = 5.0


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


def call_counter(verbose: int, pause: float = _PAUSE) -> Callable[[int], None] | None:
    """Return what writes a line now and then while a slow metric is called, between the steps of a fit.

    As `narrator`, it is silent in a pipe unless ``verbose`` is above 1.
    """
    if verbose < 1 or (verbose < 2 and not sys.stderr.isatty()):
        return None
    began = last = perf_counter()
    total = 0

    def tell(calls: int) -> None:
        nonlocal last, total
        total += calls
        now = perf_counter()
        if now - last >= pause:
            last = now
            sys.stderr.write(
                f"{now - began:8.2f} s  {total:,} calls of the metric, {total / (now - began):,.0f} a second\n"
            )

    return tell
