"""Compiled loops over the distances that PairedPAM stores: values[group, s, lane], as many arms side by side as make a
vector.

They take tiles (``lanes.py``): lanes of arms that are not asked for (``at`` is -1) are computed too, and dropped.
Distances, and the state and the pivot's changes beside them, are in units of ``step``. What is known of a reference is
a row of ``facts``, in the order of ``columns``. Swaps take references sorted by slot, those of ``slots[r]`` from
``starts[r]`` to ``starts[r + 1]``: the sums of a slot stay in registers until it is done. In whatever order that reads
memory, the columns ``early`` of the group ``ahead`` are asked for meanwhile.
"""

from __future__ import annotations

import numpy as np

from medoids.engine import LANES
from medoids.engine.compile import inline, kernel
from medoids.engine.vectors import below, item, load, prefetch, spread, store

__all__ = [
    "add_additions",
    "add_swaps",
    "copy_lanes",
    "find_lanes",
    "move_lanes",
    "pair_additions",
    "pair_swaps",
    "store_lanes",
    "store_steps",
    "within_reach",
]


@inline
def _whole(distance, factor):  # type: ignore[no-untyped-def]
    return distance if factor is None else np.uint16(np.int32(distance * factor + np.float32(0.5)))


@kernel()
def store_lanes(block, places, values):  # type: ignore[no-untyped-def]
    """Put distances by reference, block[s, arm], into lanes; NumPy's strided copy takes ten times longer."""
    _store(block, places, values, None)


@kernel()
def store_steps(block, places, step, values):  # type: ignore[no-untyped-def]
    """As `store_lanes`, in whole numbers of a step."""
    _store(block, places, values, block.dtype.type(1 / step))


@inline
def _store(block, places, values, factor):  # type: ignore[no-untyped-def]
    count, runs = block.shape[1], 0
    first = np.empty(count + 1, np.intp)  # arms of a run have the same group
    for i in range(count):
        if i == 0 or places[i] // LANES != places[i - 1] // LANES:
            first[runs] = i
            runs += 1
    first[runs] = count
    for start in range(0, block.shape[0], 8):  # a few references at a time: both sides stay in cache
        stop = min(start + 8, block.shape[0])
        for run in range(runs):
            i = first[run]
            g, size = places[i] // LANES, first[run + 1] - i
            for s in range(start, stop):
                source, target = block[s, i : i + size], values[g, s]
                if size == LANES:
                    for lane in range(LANES):
                        target[lane] = _whole(source[lane], factor)
                else:
                    for e in range(size):
                        target[places[i + e] % LANES] = _whole(source[e], factor)


@kernel()
def copy_lanes(values, groups, at, columns, first, out):  # type: ignore[no-untyped-def]
    """Put the lanes that are asked for next to each other, by their numbers, from reference ``first`` on."""
    lanes, width = values.shape[2], out.shape[1]
    flat = out.reshape(-1)
    source, target = np.empty(lanes, np.intp), np.empty(lanes, np.intp)
    for g in range(len(groups)):
        block = values[groups[g]].reshape(-1)
        count = 0
        for lane in range(lanes):
            i = at[g, lane]
            if i >= 0:
                source[count], target[count] = lane, i // lanes * width * lanes + i % lanes
                count += 1
        for c in range(len(columns)):  # lanes inside: both sides stay in a cache line
            there, here = (first + c) * lanes, columns[c] * lanes
            for e in range(count):
                flat[target[e] + there] = block[source[e] + here]


@kernel()
def find_lanes(place, arms, first, total):  # type: ignore[no-untyped-def]
    """Return the groups in which some arms are stored, who of them is in which lane, and who is stored nowhere.

    Arms are numbered from ``first`` on; ``total`` groups there are. NumPy took a tenth of all time on covertype for it.
    """
    row = np.full(total, -1, np.int32)
    stored = 0
    for e in range(len(arms)):
        p = place[arms[e]]
        if p >= 0:
            row[p // LANES] = 0
            stored += 1
    groups, count = np.empty(total, np.intp), 0
    for g in range(total):
        if row[g] == 0:
            groups[count], row[g] = g, count
            count += 1
    at = np.full((count, LANES), -1, np.intp)
    others, end = np.empty(len(arms) - stored, np.intp), 0
    for e in range(len(arms)):
        p = place[arms[e]]
        if p >= 0:
            at[row[p // LANES], p % LANES] = first + e
        else:
            others[end] = first + e
            end += 1
    return groups[:count], at, others


@kernel()
def move_lanes(values, origin, target):  # type: ignore[no-untyped-def]
    """Copy some lanes, by their places, to others."""
    for e in range(len(origin)):
        g, lane, h, other = origin[e] // LANES, origin[e] % LANES, target[e] // LANES, target[e] % LANES
        for s in range(values.shape[1]):
            values[h, s, other] = values[g, s, lane]


@inline
def _origins(groups, g, width, ahead):  # type: ignore[no-untyped-def]
    """Where the distances of a group begin, and of one some groups later."""
    return groups[g] * width, groups[min(g + ahead, len(groups) - 1)] * width


@kernel()
def add_additions(values, groups, at, step, columns, early, ahead, facts, S, Q):  # type: ignore[no-untyped-def]
    """Sum of the changes w (min(d, x1) - x1) and of their squares; without a medoid yet, of w d.

    Facts: x1, w, w^2.
    """
    flat, known, zero = values.reshape(-1), facts.reshape(-1), facts.dtype.type(0)
    sums = np.empty(2 * LANES, facts.dtype)
    for g in range(len(groups)):
        here, there = _origins(groups, g, values.shape[1], ahead)
        s, q = spread(zero), spread(zero)
        for e in range(len(columns)):
            prefetch(flat, (there + item(early, e)) * LANES)
            near = item(known, 3 * e)
            origin = near if near < np.inf else zero
            change = min(load(flat, (here + item(columns, e)) * LANES, zero), near) - origin
            s = s + item(known, 3 * e + 1) * change
            q = q + item(known, 3 * e + 2) * change * change
        store(s, sums, 0)
        store(q, sums, LANES)
        for lane in range(LANES):
            i = at[g, lane]
            if i >= 0:
                S[i] += step * sums[lane]
                Q[i] += step * step * sums[LANES + lane]


@kernel()
def pair_additions(values, groups, at, step, columns, early, ahead, facts, V):  # type: ignore[no-untyped-def]
    """V_i += (change_i - change of the pivot)^2. Facts: x1, w, the pivot's change."""
    flat, known, zero = values.reshape(-1), facts.reshape(-1), facts.dtype.type(0)
    sums = np.empty(LANES, facts.dtype)
    for g in range(len(groups)):
        here, there = _origins(groups, g, values.shape[1], ahead)
        v = spread(zero)
        for e in range(len(columns)):
            prefetch(flat, (there + item(early, e)) * LANES)
            near = item(known, 3 * e)
            origin = near if near < np.inf else zero
            z = item(known, 3 * e + 1) * (min(load(flat, (here + item(columns, e)) * LANES, zero), near) - origin)
            z = z - item(known, 3 * e + 2)
            v = v + z * z
        store(v, sums, 0)
        for lane in range(LANES):
            i = at[g, lane]
            if i >= 0:
                V[i] += step * step * sums[lane]


@kernel()
def add_swaps(values, groups, at, step, columns, early, ahead, starts, slots, facts, S, Q, T, R, P):  # type: ignore[no-untyped-def]
    """S, Q, T, R by Theorem 1: what a reference brings if its medoid stays, and what is added for its own slot; and P.

    Facts: x1, x2, w, w^2, and w^2 times what the loss of the reference does when its medoid is removed.
    """
    flat, known, zero = values.reshape(-1), facts.reshape(-1), facts.dtype.type(0)
    base, own = np.empty(2 * LANES, facts.dtype), np.empty((len(slots), 3, LANES), facts.dtype)
    sums = own.reshape(-1)
    for g in range(len(groups)):
        here, there = _origins(groups, g, values.shape[1], ahead)
        all_s, all_q = spread(zero), spread(zero)
        for run in range(len(slots)):
            s, q, t, r, p = spread(zero), spread(zero), spread(zero), spread(zero), spread(zero)
            for e in range(starts[run], starts[run + 1]):
                column = item(columns, e)
                prefetch(flat, (there + item(early, e)) * LANES)
                d, near, w, w2 = (
                    load(flat, (here + column) * LANES, zero),
                    item(known, 5 * e),
                    item(known, 5 * e + 2),
                    item(known, 5 * e + 3),
                )
                kept, left = min(d, near) - near, min(d, item(known, 5 * e + 1)) - near
                s, t = s + w * kept, t + w * left
                q, r = q + w2 * kept * kept, r + w2 * left * left
                p = p + item(known, 5 * e + 4) * left
            all_s, all_q = all_s + s, all_q + q
            store(t - s, sums, 3 * LANES * run)
            store(r - q, sums, 3 * LANES * run + LANES)
            store(p, sums, 3 * LANES * run + 2 * LANES)
        store(all_s, base, 0)
        store(all_q, base, LANES)
        for lane in range(LANES):
            i = at[g, lane]
            if i >= 0:
                S[i] += step * base[lane]
                Q[i] += step * step * base[LANES + lane]
                for run in range(len(slots)):
                    j = slots[run]
                    T[i, j] += step * own[run, 0, lane]
                    R[i, j] += step * step * own[run, 1, lane]
                    P[i, j] += step * step * own[run, 2, lane]


@kernel()
def pair_swaps(values, groups, at, step, columns, early, ahead, starts, slots, facts, V, U):  # type: ignore[no-untyped-def]
    """V_i += (b - l)^2 and, for the own slot j, U_ij += (b + c - l)^2 - (b - l)^2: all k squares for one distance.

    Facts: x1, x2, w, the pivot's change.
    """
    flat, known, zero = values.reshape(-1), facts.reshape(-1), facts.dtype.type(0)
    base, own = np.empty(LANES, facts.dtype), np.empty((len(slots), LANES), facts.dtype)
    sums = own.reshape(-1)
    for g in range(len(groups)):
        here, there = _origins(groups, g, values.shape[1], ahead)
        all_v = spread(zero)
        for run in range(len(slots)):
            v, u = spread(zero), spread(zero)
            for e in range(starts[run], starts[run + 1]):
                column = item(columns, e)
                prefetch(flat, (there + item(early, e)) * LANES)
                d, near, w, other = (
                    load(flat, (here + column) * LANES, zero),
                    item(known, 4 * e),
                    item(known, 4 * e + 2),
                    item(known, 4 * e + 3),
                )
                kept, left = w * (min(d, near) - near) - other, w * (min(d, item(known, 4 * e + 1)) - near) - other
                v, u = v + kept * kept, u + left * left
            all_v = all_v + v
            store(u - v, sums, LANES * run)
        store(all_v, base, 0)
        for lane in range(LANES):
            i = at[g, lane]
            if i >= 0:
                V[i] += step * step * base[lane]
                for run in range(len(slots)):
                    U[i, slots[run]] += step * step * own[run, lane]


@kernel()
def within_reach(table, arms, references, limit, found):  # type: ignore[no-untyped-def]
    """Find the references that may be nearer than their limit to some arm, by ranges of distances to landmarks.

    Lanes are landmarks here.
    """
    flat, zero = table.reshape(-1), table.dtype.type(0)
    low = high = load(flat, arms[0] * LANES, zero)
    for i in arms:
        t = load(flat, i * LANES, zero)
        low, high = min(low, t), max(high, t)
    count = 0
    for e in range(len(references)):
        t = load(flat, references[e] * LANES, zero)
        found[count] = e
        count += not below(spread(limit[e]), max(low - t, t - high))
    return count
