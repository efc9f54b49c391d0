"""The loop of Gower's distance; ``gower.py`` has the formula."""

from medoids.engine.compile import kernel

__all__ = ["gower_block"]


# Not with fast sums: these may take it for granted that nothing is NaN, which is what a missing value is here.
@kernel()
def gower_block(rows, others, weights, numeric, symmetric, known, out):  # type: ignore[no-untyped-def]
    """Fill ``out[a, b]``; the first ``numeric`` columns are subtracted, the others compared.

    Those from ``symmetric`` on count only where one of both is not 0.
    """
    for a in range(rows.shape[1]):
        known[:] = 0.0
        for f in range(rows.shape[0]):
            x, w = rows[f, a], weights[f]
            if x != x or w == 0.0:
                continue
            if f < numeric:
                for b in range(others.shape[1]):
                    gap = abs(x - others[f, b])
                    out[a, b] += w * gap if gap == gap else 0.0
                    known[b] += w if gap == gap else 0.0
            elif f >= symmetric and x == 0.0:
                for b in range(others.shape[1]):
                    y = others[f, b]
                    out[a, b] += w if y == y and y != 0.0 else 0.0
                    known[b] += w if y == y and y != 0.0 else 0.0
            else:
                for b in range(others.shape[1]):
                    y = others[f, b]
                    out[a, b] += w if y == y and x != y else 0.0
                    known[b] += w if y == y else 0.0
        for b in range(others.shape[1]):
            out[a, b] = out[a, b] / known[b] if known[b] > 0 else 1.0
