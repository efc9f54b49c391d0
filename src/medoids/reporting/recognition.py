"""What the rows of X are, so that they can be shown: images, rows of a table, texts, series."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from medoids.reporting.tables import NamedColumns, Table
from medoids.reporting.things import Images, Objects, Series, Things
from medoids.result import Clustering

__all__ = ["recognise"]

# A smaller square number of columns is more likely to be a coincidence than the pixels of an image.
_SMALLEST_IMAGE_SIDE = 8
# Names that only count: "x12", "pixel 3", "1x28".
_COUNTING_NAME = re.compile(r"\D*\d+(x\d+)?")


def recognise(
    clustering: Clustering,
    X: Any,
    metric: Any,
    names: Sequence[str] | None,
    image_shape: tuple[int, ...] | None,
) -> Things:
    """Return the rows of X as things that can be shown."""
    if metric == "precomputed":
        return Things(clustering)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if image_shape is None and names is None and not _may_be_pixels(frame.columns, len(frame.columns)):
            return Table(clustering, NamedColumns.of_frame(frame))
        names = frame.columns if names is None else names
        X = frame.to_numpy()
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()  # a column of texts
    if metric == "dtw":
        return Series(clustering, X)
    array = csr_array(X) if issparse(X) else _as_array(X)
    if array is None:
        return Objects(clustering, X)
    p = array.shape[1]
    if names is not None and len(names) != p:
        raise ValueError(f"feature_names has {len(names)} names, but X has {p} columns")
    if not issparse(array) and (shape := _image_shape(array, names, image_shape)):
        return Images(clustering, array, shape)
    return Table(
        clustering, NamedColumns([f"x{f}" for f in range(p)] if names is None else list(map(str, names)), array)
    )


def _as_array(X: Any) -> npt.NDArray[Any] | None:
    """Return X as a 2-D array of numbers, or None if it is something else."""
    if isinstance(X[0], (str, bytes)):  # an array of texts would have the longest one's length in every row
        return None
    try:
        array = np.asarray(X)
    except ValueError:  # sequences of different lengths
        return None
    return array if array.ndim == 2 and array.dtype.kind in "iufb" else None


def _may_be_pixels(names: Sequence[str] | None, p: int) -> bool:
    """Return whether columns may be pixels: a square number of them, with names that only count or without names."""
    side = math.isqrt(p)
    numbered = names is None or all(_COUNTING_NAME.fullmatch(str(name)) for name in names)
    return side * side == p and side >= _SMALLEST_IMAGE_SIDE and numbered


def _image_shape(
    X: npt.NDArray[Any], names: Sequence[str] | None, given: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    p = X.shape[1]
    if given is None:
        positive = _may_be_pixels(names, p) and X[:: max(len(X) // 2000, 1)].min() >= 0
        return (math.isqrt(p), math.isqrt(p)) if positive else None
    given = tuple(given)
    if math.prod(given) != p or len(given) < 2 or given[2:] not in ((), (1,), (3,)):
        raise ValueError(
            f"image_shape={given} does not fit rows of {p} numbers; pass (height, width) or "
            f"(height, width, 3) with a product of {p}"
        )
    return given[:2] if given[2:] == (1,) else given
