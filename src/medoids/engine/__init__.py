"""Where blocks of work run.

The ground floor, beside ``distances``: a thread pool that maps kernels over chunks and loses no Ctrl-C, the one Numba
policy, vectors for kernels, and where warnings belong. Imports nothing from the rest of the package.
"""

from __future__ import annotations

__all__ = ["LANES"]

# Numbers that a kernel handles at a time: a cache line of float32.
LANES = 16
