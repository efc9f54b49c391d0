"""Compiled loops over arms and references.

A reference s comes with its state: x1, x2 the distances to its nearest and second nearest medoid, ``slot`` the nearest,
w its weight. A state that is taken back has a negative weight. ``[start, stop)`` are the arms of the chunk.

The exact algorithms store distances by reference, D[s, i] = d(i, s): they visit few references and all arms, along
memory. PairedPAM visits some arms and most references: it stores arms in groups of as many as fill a cache line,
values[group, s, lane], and a loop over the lanes is one or two vector instructions whatever slot a reference has. Its
kernels take tiles (``levels.py``): lanes of arms that are not asked for (``at`` is -1) are computed too, and dropped.
Distances there, and the state and the leader's changes beside them, are in units of ``step``.
"""

from __future__ import annotations

import numpy as np

from medoids.algorithms.lanes import LANES
from medoids.engine.compile import inline, kernel

__all__ = [
    "RUN",
    "add_additions",
    "add_base",
    "add_both",
    "add_swaps",
    "changes_of",
    "copy_lanes",
    "find_lanes",
    "judge_faces",
    "lowest_face",
    "meet_faces",
    "move_lanes",
    "pair_additions",
    "pair_swaps",
    "store_lanes",
    "store_steps",
    "surest_arms",
]

# References in a run that is summed before it is added.
RUN = 32


@kernel()
def add_base(D, references, x1, w, start, stop, S):  # type: ignore[no-untyped-def]
    """S_i += w min(d(i, s), x1) for each reference: the loss if i is added (Eq. 4)."""
    run = np.empty(stop - start, x1.dtype)
    zero = x1.dtype.type(0)
    for first in range(0, len(references), RUN):
        run[:] = zero
        for e in range(first, min(first + RUN, len(references))):
            row, near, weight = D[references[e], start:stop], x1[e], w[e]
            for i in range(stop - start):
                run[i] += weight * min(zero + row[i], near)
        for i in range(stop - start):
            S[start + i] += run[i]


@kernel()
def add_both(D, references, x1, x2, slot, w, start, stop, S, T):  # type: ignore[no-untyped-def]
    """As `add_base`, and T_ji += w (min(d(i, s), x2) - min(d(i, s), x1)) for the reference's own slot j (Theorem 1).

    References come sorted by slot, and are summed in short runs of one slot before they are added to S and T: in
    float32 where the matrix is, which halves the traffic, and a run of 32 loses no more than a distance's rounding.
    """
    run, own = np.empty(stop - start, x1.dtype), np.empty(stop - start, x1.dtype)
    zero = x1.dtype.type(0)
    first = 0
    while first < len(references):
        run[:] = zero
        own[:] = zero
        e = first
        while e < len(references) and slot[e] == slot[first] and e - first < RUN:
            row, near, far, weight = D[references[e], start:stop], x1[e], x2[e], w[e]
            for i in range(stop - start):
                d = zero + row[i]
                kept = min(d, near)
                run[i] += weight * kept
                own[i] += weight * (min(d, far) - kept)
            e += 1
        sums = T[slot[first]]
        for i in range(stop - start):
            S[start + i] += run[i]
            sums[start + i] += own[i]
        first = e


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


@kernel()
def add_additions(values, groups, at, columns, step, x1, w, w2, S, Q):  # type: ignore[no-untyped-def]
    """Sum of the changes w (min(d, x1) - x1) and of their squares; without a medoid yet, of w d."""
    lanes = values.shape[2]  # not LANES: LLVM would unroll so short a loop of known length, and not vectorise it then
    sums = np.empty((2, lanes), x1.dtype)
    zero = x1.dtype.type(0)
    for g in range(len(groups)):
        block = values[groups[g]]
        sums[:] = zero
        for e in range(len(columns)):
            row, near, weight, weight2 = block[columns[e]], x1[e], w[e], w2[e]
            origin = near if near < np.inf else zero
            for lane in range(lanes):
                change = min(x1.dtype.type(row[lane]), near) - origin
                sums[0, lane] += weight * change
                sums[1, lane] += weight2 * change * change
        for lane in range(lanes):
            i = at[g, lane]
            if i >= 0:
                S[i] += step * sums[0, lane]
                Q[i] += step * step * sums[1, lane]


@kernel()
def pair_additions(values, groups, at, columns, step, x1, w, lead, V):  # type: ignore[no-untyped-def]
    """V_i += (change_i - change of the leader)^2."""
    lanes = values.shape[2]
    total = np.empty(lanes, x1.dtype)
    zero = x1.dtype.type(0)
    for g in range(len(groups)):
        block = values[groups[g]]
        total[:] = zero
        for e in range(len(columns)):
            row, near, weight, other = block[columns[e]], x1[e], w[e], lead[e]
            origin = near if near < np.inf else zero
            for lane in range(lanes):
                z = weight * (min(x1.dtype.type(row[lane]), near) - origin) - other
                total[lane] += z * z
        for lane in range(lanes):
            i = at[g, lane]
            if i >= 0:
                V[i] += step * step * total[lane]


@inline
def _slots_of(slot, k):  # type: ignore[no-untyped-def]
    """Slots that some references have: after a step these are few, and with many medoids the others would cost most."""
    there = np.zeros(k, np.bool_)
    for e in range(len(slot)):
        there[slot[e]] = True
    return np.flatnonzero(there)


@kernel()
def add_swaps(values, groups, at, columns, step, slot, x1, x2, w, w2, r, S, Q, T, R, P):  # type: ignore[no-untyped-def]
    """S, Q, T, R by Theorem 1: what a reference brings if its medoid stays, and what is added for its own slot; and P.

    ``r`` is w2 times what the loss of the reference does when its medoid is removed.

    The sums that a reference adds to are in two pieces of memory: LLVM would otherwise check, for each reference and
    each two of them, that they do not overlap, and that takes three times as long as the sums.
    """
    base, own = np.empty((2, LANES), x1.dtype), np.empty((T.shape[1], 3, LANES), x1.dtype)
    slots = _slots_of(slot, T.shape[1])
    zero = x1.dtype.type(0)
    for g in range(len(groups)):
        block = values[groups[g]]
        base[:] = zero
        for j in slots:
            own[j] = zero
        for e in range(len(columns)):
            row, near, far, weight, weight2, removal = block[columns[e]], x1[e], x2[e], w[e], w2[e], r[e]
            mine = own[slot[e]]
            for lane in range(LANES):
                d = x1.dtype.type(row[lane])
                kept = min(d, near) - near
                left = min(d, far) - near
                base[0, lane] += weight * kept
                base[1, lane] += weight2 * kept * kept
                mine[0, lane] += weight * (left - kept)
                mine[1, lane] += weight2 * (left * left - kept * kept)
                mine[2, lane] += removal * left
        for lane in range(LANES):
            i = at[g, lane]
            if i >= 0:
                S[i] += step * base[0, lane]
                Q[i] += step * step * base[1, lane]
                for j in slots:
                    T[i, j] += step * own[j, 0, lane]
                    R[i, j] += step * step * own[j, 1, lane]
                    P[i, j] += step * step * own[j, 2, lane]


@kernel()
def pair_swaps(values, groups, at, columns, step, slot, x1, x2, w, lead, V, U):  # type: ignore[no-untyped-def]
    """V_i += (b - l)^2 and, for the own slot j, U_ij += (b + c - l)^2 - (b - l)^2: all k squares for one distance."""
    total, own = np.empty(LANES, x1.dtype), np.empty((U.shape[1], LANES), x1.dtype)
    slots = _slots_of(slot, U.shape[1])
    zero = x1.dtype.type(0)
    for g in range(len(groups)):
        block = values[groups[g]]
        total[:] = zero
        for j in slots:
            own[j] = zero
        for e in range(len(columns)):
            row, near, far, weight, other = block[columns[e]], x1[e], x2[e], w[e], lead[e]
            mine = own[slot[e]]
            for lane in range(LANES):
                d = x1.dtype.type(row[lane])
                kept = weight * (min(d, near) - near) - other
                left = weight * (min(d, far) - near) - other
                total[lane] += kept * kept
                mine[lane] += left * left - kept * kept
        for lane in range(LANES):
            i = at[g, lane]
            if i >= 0:
                V[i] += step * step * total[lane]
                for j in slots:
                    U[i, j] += step * step * own[j, lane]


@kernel()
def changes_of(distances, x1, x2, slot, w, face, out):  # type: ignore[no-untyped-def]
    """Changes that a candidate brings to references, in the place of the medoid in a slot, or beside all for -1."""
    for s in range(len(out)):
        limit = x2[s] if slot[s] == face else x1[s]
        out[s] = w[s] * (min(0.0 + distances[s], limit) - x1[s])


@inline
def _spread(square, floor):  # type: ignore[no-untyped-def]
    return max(np.sqrt(max(0.0, square)), floor)


@inline
def _slopes(removal):  # type: ignore[no-untyped-def]
    """Rows of what `_judge` multiplies with, of each slot, so that it has no branch and is vectorised.

    ``removal`` are r, the mean of what removing the slot's medoid costs over the references so far, what this is above
    the known one, the variance, and what a regression widens: 0 if its slope cannot be trusted.
    """
    r, excess, v, wider = removal
    known = np.zeros((6, len(r)))
    for j in range(len(r)):
        known[0, j], known[1, j], known[2, j] = r[j], excess[j], wider[j]
        if wider[j] > 0:
            known[3, j] = 1 / v[j]
        else:  # a slope of 1 for the mean, and none for its ends
            known[4, j], known[5, j] = 1, np.inf
    return known


@inline
def _judge(s, q, total, square, product, floor, share, known, j, width):  # type: ignore[no-untyped-def]
    """Mean of an arm's face j, how far below 0 it may reach, and how far above, with regression on the removal of j.

    ``s`` to ``product`` are its S, Q, T, R and P, ``share`` is 1 / t. Both the plain mean and the regressed one, with a
    wider width, tell of the ends: one is enough to drop a face, and both must say that a swap helps.
    """
    mean = (s + total) * share
    variance = (q + square) * share - mean * mean
    common = product * share - mean * known[0, j]
    slope = common * known[3, j]
    excess = known[1, j]
    plain = width * _spread(variance, floor)
    regressed = mean - (slope + known[4, j]) * excess
    rest = width * known[2, j] * _spread(variance - slope * common, floor)
    below = min(plain - mean, rest + known[5, j] - regressed)
    return regressed, below, max(plain + mean + max(0.0, -known[4, j] * excess), rest + regressed)


@kernel()
def judge_faces(moments, t, removal, width, floor, start, stop, reach, best, face):  # type: ignore[no-untyped-def]
    """Find of each arm the face with the lowest mean, and how far below 0 its faces may reach: see ``paired.py``.

    ``moments`` are S, Q, T, R and P, ``removal`` as in `_slopes`.
    """
    S, Q, T, R, P = moments
    k = T.shape[1]
    known, found = _slopes(removal), np.empty((2, k))
    for i in range(start, stop):
        s, q, f, totals, squares, products = S[i], Q[i], floor[i], T[i], R[i], P[i]
        for j in range(k):
            mean, below, _ = _judge(s, q, totals[j], squares[j], products[j], f, 1 / t, known, j, width)
            found[0, j], found[1, j] = mean, below
        most, lowest, at = -np.inf, np.inf, 0
        for j in range(k):
            if totals[j] < np.inf:
                most = max(most, found[1, j])
                if found[0, j] < lowest:
                    lowest, at = found[0, j], j
        reach[i], best[i], face[i] = most, lowest, at


@kernel()
def meet_faces(moments, at, squares, t, removal, pivot, width, floor, start, stop, found):  # type: ignore[no-untyped-def]
    """As `judge_faces`, after regression on the pivot's changes, too, whose mean is known; ``at`` are the arms' places.

    ``squares`` are V and U. Of the pivot: ``l``, the mean over the references so far, ``lead``, the one over all, and
    the sums of its squares and of its products with the removal of each slot. ``found`` are reach, best and face, and
    ``gap``, the spread of that face.
    """
    S, Q, T, R, P = moments
    V, U = squares
    r, excess, v, wider = removal
    l, lead, l2, rl = pivot
    reach, best, face, gap = found
    v_l, above = l2 / t - l * l, l - lead
    for i in range(start, stop):
        a = at[i]
        reach[i], best[i] = -np.inf, np.inf
        for j in range(T.shape[1]):
            if not T[a, j] < np.inf:
                continue
            # Of the difference z from the pivot, so that nothing cancels where they are alike.
            z = (S[a] + T[a, j]) / t - l
            total = V[i] + U[i, j]
            with_r = (P[a, j] - rl[j]) / t - z * r[j]
            with_l = (Q[a] + R[a, j] - l2 - total) / (2 * t) - z * l
            both = rl[j] / t - r[j] * l
            square = total / t - z * z
            slope = with_l / v_l
            spread = _spread(square - slope * with_l, floor[i])
            mean = lead + z - slope * above
            below = width * spread - mean
            determinant = v[j] * v_l - both * both
            if wider[j] == 0:
                mean = lead + z - excess[j] - (with_l - both) / v_l * above
            elif determinant > 1e-3 * v[j] * v_l:
                slope_r = (with_r * v_l - with_l * both) / determinant
                slope_l = (with_l * v[j] - with_r * both) / determinant
                spread = _spread(square - slope_r * with_r - slope_l * with_l, floor[i])
                mean = lead + z - slope_r * excess[j] - slope_l * above
                below = min(below, width * wider[j] * spread - mean)
            reach[i] = max(reach[i], below)
            if mean < best[i]:
                best[i], face[i], gap[i] = mean, j, spread


@kernel()
def lowest_face(S, T, start, stop, best, face):  # type: ignore[no-untyped-def]
    """Lowest of S_i + T_ij over the slots j, and which it is."""
    for i in range(start, stop):
        best[i] = float("inf")
        for j in range(T.shape[1]):
            total = S[i] + T[i, j]
            if total < best[i]:
                best[i] = total
                face[i] = j


@kernel()
def surest_arms(moments, t, removal, width, floor, allowed, start, stop, most, arm):  # type: ignore[no-untyped-def]
    """Find the arm for each slot whose change is lowest at the upper end of its interval, and that end."""
    S, Q, T, R, P = moments
    known = _slopes(removal)
    for i in range(start, stop):
        if allowed[i]:
            for j in range(T.shape[1]):
                if T[i, j] < np.inf:
                    sums = S[i], Q[i], T[i, j], R[i, j], P[i, j]
                    _, _, above = _judge(*sums, floor[i], 1 / t, known, j, width)
                    if above < most[j]:
                        most[j], arm[j] = above, i


@kernel()
def add_savings(R, v, w, start, stop, rho):  # type: ignore[no-untyped-def]
    """rho_i += sum_s w_s max(0, v_s - d(i, s)): what a medoid at i could save of the prices v."""
    for s in range(len(v)):
        row, price, weight = R[s], v[s], w[s]
        for i in range(start, stop):
            rho[i] += weight * max(0.0, price - row[i])
