"""The types of arrays that appear in signatures everywhere."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Digests", "Float64s", "Floats", "Rows"]

# Exact numbers: distances, weights, losses.
Float64s = npt.NDArray[np.float64]
# Distances in the precision of blocks, float32 or float64.
Floats = npt.NDArray[Any]
# Row numbers.
Rows = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
# Two numbers for each object.
Digests = npt.NDArray[np.uint64]
