"""The loop of euclidean distances over the columns that are known in both rows; ``known.py`` has the formula."""

import numpy as np

from medoids.engine.compile import kernel

__all__ = ["known_block"]


@kernel(fast_sums=True)
def known_block(X, K, rows, Y, L, columns, out):  # type: ignore[no-untyped-def]
    """Fill ``out[a, b]``; K and L are 1 where X and Y are known, and 0 elsewhere, as X and Y are."""
    p = X.shape[1]
    for a in range(len(rows)):
        i = rows[a]
        for b in range(len(columns)):
            j = columns[b]
            total, count = 0.0, 0.0
            for f in range(p):
                both = K[i, f] * L[j, f]
                gap = both * (X[i, f] - Y[j, f])
                total += gap * gap
                count += both
            out[a, b] = np.sqrt(total * p / count) if count > 0 else -1.0
