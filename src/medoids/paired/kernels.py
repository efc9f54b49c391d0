"""Compiled loops of PairedPAM: over distances of references to arms, which stand side by side in lanes."""

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = [
    "add_beside",
    "add_pairs",
    "exact_changes",
    "gather_rows",
    "gather_tiles",
    "judge_alone",
    "judge_beside",
]


@kernel()
def gather_rows(rows, places, out):  # type: ignore[no-untyped-def]
    """out[c, lane] = rows[places[lane], c]: stored rows, turned; lanes whose place is negative are left as they are."""
    for first in range(0, len(places), 16):  # so that what is written next to each other is in one line of the cache
        last = min(len(places), first + 16)
        for c in range(out.shape[0]):
            for lane in range(first, last):
                if places[lane] >= 0:
                    out[c, lane] = rows[places[lane], c]


@kernel(fast_sums=True)
def add_pairs(values, first, second, facts, starts, out):  # type: ignore[no-untyped-def]
    """Add the sums of pairs of references, by label: SB, SY, QB, QY, P.

    values[c, lane] is a distance. Facts of a pair: near, far, origin and weight of both, the sign of its sums, that of
    its squares (0 for a reference that is certain), and the latter times the difference of what removal costs.
    """
    lanes = values.shape[1]
    acc = np.empty((5, lanes), values.dtype)
    for b in range(len(starts) - 1):
        if starts[b] == starts[b + 1]:
            continue
        acc[:] = 0
        for e in range(starts[b], starts[b + 1]):
            u, v = values[first[e]], values[second[e]]
            n0, f0, o0, w0 = facts[e, 0], facts[e, 1], facts[e, 2], facts[e, 3]
            n1, f1, o1, w1 = facts[e, 4], facts[e, 5], facts[e, 6], facts[e, 7]
            sign, square, removal = facts[e, 8], facts[e, 9], facts[e, 10]
            for lane in range(lanes):
                x0, y0 = w0 * (min(u[lane], n0) - o0), w0 * (min(u[lane], f0) - o0)
                x1, y1 = w1 * (min(v[lane], n1) - o1), w1 * (min(v[lane], f1) - o1)
                x, y = x0 - x1, y0 - y1
                acc[0, lane] += sign * (x0 + x1)
                acc[1, lane] += sign * (y0 + y1)
                acc[2, lane] += square * x * x
                acc[3, lane] += square * y * y
                acc[4, lane] += removal * y
        for q in range(5):
            for lane in range(lanes):
                out[b, q, lane] += acc[q, lane]


@kernel()
def gather_tiles(tiles, arms, count, out):  # type: ignore[no-untyped-def]
    """out[c, lane] = the distance of reference c to an arm, from tiles of (references, lanes); arms ascend."""
    width = tiles.shape[2]
    at = (arms % width).astype(np.uint32)  # unsigned, so that the loop below is a vector's
    first = 0
    while first < len(arms):
        number, last = arms[first] // width, first
        while last < len(arms) and arms[last] // width == number:
            last += 1
        some = at[first:last]
        for c in range(count):  # a row of the tile is read once for all of its arms
            row, found = tiles[number, c], out[c, first:last]
            for lane in range(len(some)):
                found[lane] = row[some[lane]]
        first = last


@inline
def _widen(s, q, y, qy, skew):  # type: ignore[no-untyped-def]
    """By how much variances are too small, in other slots and in a face's own: as many equal gains have these sums."""
    others, own = max(1.0, s * s / max(q, 1e-300)), max(1.0, (s + y) * (s + y) / max(q + qy, 1e-300))
    return (1 + skew / np.sqrt(others)) ** 2, (1 + skew / np.sqrt(own)) ** 2


@kernel(fast_sums=True)
def judge_alone(sums, share, removal, width, skew, floor, fixed, lower, mean):  # type: ignore[no-untyped-def]
    """Bounds on the mean changes of arms: the lowest lower bound, the lowest mean, and its face.

    removal: for each label the sum of r, the sum of its squared differences, and the known mean.
    """
    k, lanes = sums.shape[0], sums.shape[2]
    SB, QB = np.zeros(lanes), np.zeros(lanes)
    for b in range(k):
        for lane in range(lanes):
            SB[lane] += sums[b, 0, lane]
            QB[lane] += sums[b, 2, lane]
    for lane in range(lanes):
        lower[lane], mean[lane] = np.inf, np.inf
    root = np.sqrt(share)
    for j in range(k):
        if fixed[j]:
            continue
        rs, rq, rem = removal[0, j], removal[1, j], removal[2, j]
        # Without a difference in the sample, what removal costs is taken as it is known.
        inverse, start = (1.0 / rq, 0.0) if rq > 0 else (0.0, 1.0)
        for lane in range(lanes):
            s, q, p = SB[lane] - sums[j, 0, lane], QB[lane] - sums[j, 2, lane], sums[j, 4, lane]
            y, qy = sums[j, 1, lane], sums[j, 3, lane]
            beta = min(1.0, max(0.0, start + p * inverse))
            m = s + y - beta * (rs - rem)
            others, own = _widen(s, q, y - rs, qy - 2 * p + rq, skew)
            v = others * q + own * max(qy - 2 * beta * p + beta * beta * rq, 0.0)
            low = m - width * max(root * np.sqrt(v), floor[lane])
            lower[lane] = min(lower[lane], low)
            mean[lane] = min(mean[lane], m)


@kernel(fast_sums=True)
def add_beside(values, first, second, facts, beside, starts, out):  # type: ignore[no-untyped-def]
    """Add CB and CY: the products of pair differences with those of a pivot, whose x and y ``beside`` has."""
    lanes = values.shape[1]
    acc = np.empty((2, lanes), values.dtype)
    for b in range(len(starts) - 1):
        if starts[b] == starts[b + 1]:
            continue
        acc[:] = 0
        for e in range(starts[b], starts[b + 1]):
            u, v = values[first[e]], values[second[e]]
            n0, f0, o0, w0 = facts[e, 0], facts[e, 1], facts[e, 2], facts[e, 3]
            n1, f1, o1, w1 = facts[e, 4], facts[e, 5], facts[e, 6], facts[e, 7]
            px, py = beside[e, 0], beside[e, 1]
            for lane in range(lanes):
                acc[0, lane] += px * (w0 * (min(u[lane], n0) - o0) - w1 * (min(v[lane], n1) - o1))
                acc[1, lane] += py * (w0 * (min(u[lane], f0) - o0) - w1 * (min(v[lane], f1) - o1))
        for q in range(2):
            for lane in range(lanes):
                out[b, q, lane] += acc[q, lane]


@kernel(fast_sums=True)
def judge_beside(sums, products, pivot, share, removal, width, skew, floor, fixed, lower):  # type: ignore[no-untyped-def]
    """The lowest lower bound of arms beside a pivot, whose faces have known means.

    pivot: for each face the sum over the sample, the squared pair differences in other slots and in its own, and the
    known mean.
    """
    k, lanes = sums.shape[0], sums.shape[2]
    SB, QB, CB = np.zeros(lanes), np.zeros(lanes), np.zeros(lanes)
    for b in range(k):
        for lane in range(lanes):
            SB[lane] += sums[b, 0, lane]
            QB[lane] += sums[b, 2, lane]
            CB[lane] += products[b, 0, lane]
    low = np.full(lanes, np.inf)
    root = np.sqrt(share)
    for j in range(k):
        if fixed[j]:
            continue
        ps, po, pw, known = pivot[0, j], pivot[1, j], pivot[2, j], pivot[3, j]
        inverse, rs, rq = 1.0 / (po + pw) if po + pw > 0 else 0.0, removal[0, j], removal[1, j]
        for lane in range(lanes):
            s, q, p = SB[lane] - sums[j, 0, lane], QB[lane] - sums[j, 2, lane], sums[j, 4, lane]
            y, qy = sums[j, 1, lane], sums[j, 3, lane]
            co, cw = CB[lane] - products[j, 0, lane], products[j, 1, lane]
            beta = min(1.0, max(0.0, (co + cw) * inverse))
            m = s + y - beta * (ps - known)
            others, own = _widen(s, q, y - rs, qy - 2 * p + rq, skew)
            # What is left of removal is not skewed: only gains are, as far as the pivot does not have them, too.
            there = max(q - 2 * beta * co + beta * beta * po, 0.0)
            here = max(qy - 2 * beta * cw + beta * beta * pw, 0.0)
            v = there + (others - 1) * min(there, q) + here + (own - 1) * min(here, max(qy - 2 * p + rq, 0.0))
            low[lane] = min(low[lane], m - width * max(root * np.sqrt(v), floor[lane]))
    for lane in range(lanes):
        lower[lane] = max(lower[lane], low[lane])


@kernel(fast_sums=True)
def exact_changes(row, d1, d2, weights, starts, slots, sums):  # type: ignore[no-untyped-def]
    """Add up, over some points, the change if no medoid leaves (last), and what is added if the nearest one leaves.

    Runs of points with the same nearest medoid, of which there are long ones in the order of the tree, are summed
    without a look at their slots: in a third of the time.
    """
    total = 0.0
    for q in range(len(slots)):
        values, near, far = row[starts[q] : starts[q + 1]], d1[starts[q] : starts[q + 1]], d2[starts[q] : starts[q + 1]]
        w, added = weights[starts[q] : starts[q + 1]], 0.0
        for s in range(len(values)):
            d = np.float64(values[s])
            kept = min(d, near[s])
            total += w[s] * (kept - near[s] if near[s] < np.inf else d)
            added += w[s] * (min(d, far[s]) - kept)
        if slots[q] >= 0:
            sums[slots[q]] += added
    sums[len(sums) - 1] += total
