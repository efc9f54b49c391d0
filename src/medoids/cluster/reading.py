"""What a partition may be: an array, a frame of numbers, or a list of objects; checked by whoever holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances import Floats, count_rows
from medoids.inputs import check_data

__all__ = ["check_part", "check_part_weights"]


def check_part(part: Any, metric: Any, start: int, number: int) -> Floats:
    """Return the rows of a partition as an array of numbers or of objects."""
    part = part if hasattr(part, "shape") else list(part)
    if count_rows(part) == 0:
        return _as_array(part)
    try:
        return _as_array(check_data(part, metric))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        where = f"Rows are counted in partition {number}, which begins with row {start} of X."
        raise kind(f"{error}. {where}") from None


def _as_array(part: Any) -> Floats:
    if hasattr(part, "shape"):
        return np.asarray(part)
    out = np.empty(len(part), dtype=object)
    for row, item in enumerate(part):  # at once, NumPy would take lists for a table
        out[row] = item
    return out


def check_part_weights(weights: Any, n: int, start: int) -> npt.NDArray[np.float64]:
    """Return the weights of a partition's rows; 1 where none are given."""
    if weights is None:
        return np.ones(n)
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {w.shape} in the partition that begins with row {start} of X and has {n} rows; "
            "pass one weight for each row, in the same partitions as X"
        )
    wrong = ~(np.isfinite(w) & (w >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"sample_weight[{start + row}]={w[row]}; weights must be finite and >= 0")
    return w
