"""A colour and a shape for each cluster, so that readers can rely on either.

The colours follow Okabe and Ito (2008), which colour-blind readers can distinguish, made darker for white paper and
lighter for dark screens where contrast requires it. Eight colours and seven shapes give 56 clusters their own pair;
beyond that, the numbers on the medoids decide.
"""

from __future__ import annotations

__all__ = ["DARK", "LIGHT", "MATPLOTLIB_MARKERS", "SHAPES", "colour_of", "shape_of"]

#        blue       vermilion  green      pink       ochre      sky        violet     grey
LIGHT = ["#0072b2", "#d55e00", "#00855f", "#b8477f", "#957300", "#3793cf", "#6a51a3", "#6b6b6b"]
DARK = ["#4fa8e0", "#f58747", "#2cc295", "#e79ac3", "#e8cd3c", "#9bd6fa", "#b9a5ee", "#bdbdbd"]

# Paths around (0, 0) with about equal areas.
SHAPES = [
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-3.5,-3.5h7v7h-7z",
    "M0,-4.9L4.5,3.1H-4.5z",
    "M0,-5L4.6,0L0,5L-4.6,0z",
    "M0,4.9L4.5,-3.1H-4.5z",
    "M-1.6,-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
    "M-4.4,-2.2L-2.2,-4.4L0,-2.2L2.2,-4.4L4.4,-2.2L2.2,0L4.4,2.2L2.2,4.4L0,2.2L-2.2,4.4L-4.4,2.2L-2.2,0z",
]
MATPLOTLIB_MARKERS = ["o", "s", "^", "D", "v", "P", "X"]


def colour_of(cluster: int) -> int:
    """Return the number of a cluster's colour.

    >>> len({(colour_of(j), shape_of(j)) for j in range(56)})
    56
    """
    return cluster % len(LIGHT)


def shape_of(cluster: int) -> int:
    return cluster % len(SHAPES)
