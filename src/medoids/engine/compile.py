"""The one Numba policy: every kernel is compiled here, with the same flags.

``nogil`` so that a thread pool can run chunks in parallel (``prange`` hangs under threaded Dask workers and compiles
slowly), ``cache`` so that a second process starts at once, NumPy's error model so that a division by zero is a value
that a kernel can test, not an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.extending import intrinsic, register_jitable

__all__ = ["FAST_SUMS", "inline", "kernel", "primitive"]

# Sums may be reordered, which is what lets LLVM vectorise them. Infinities stay legal: "no second medoid" is one.
# Products are not fused into sums: a * c - b * c must be 0 for a = b, so that duplicates are at distance 0.
FAST_SUMS = frozenset({"reassoc", "nsz", "arcp", "nnan"})


def kernel(*, fast_sums: bool = False, cache: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a loop over arrays."""
    fastmath = set(FAST_SUMS) if fast_sums else False
    decorator: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(
        cache=cache, nogil=True, error_model="numpy", fastmath=fastmath
    )
    return decorator


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a small function that kernels call; it stays a plain function, so that kernels that use it can be cached."""
    jitable: Callable[..., Any] = register_jitable(fastmath=set(FAST_SUMS), error_model="numpy")(function)
    return jitable


def primitive(function: Callable[..., Any]) -> Any:
    """Mark what gives the types and the code of a new instruction for kernels."""
    return intrinsic(function)
