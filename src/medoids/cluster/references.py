"""BanditPAM++'s batches as levels."""

from __future__ import annotations

from medoids.algorithms.banditpam import BATCH

__all__ = ["batches"]


def batches(n: int, width: int) -> list[slice]:
    """Cut ``range(n)`` into batches as far as they are stored, and the rest.

    >>> batches(350, 200)
    [slice(0, 100, None), slice(100, 200, None), slice(200, 350, None)]
    """
    stored = min(width, n) // BATCH * BATCH
    rest = [slice(stored, n)] if stored < n else []
    return [slice(start, start + BATCH) for start in range(0, stored, BATCH)] + rest
