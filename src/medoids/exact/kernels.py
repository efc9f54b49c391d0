"""Compiled loops over arms and references.

A reference s comes with its state: x1, x2 the distances to its nearest and second nearest medoid, ``slot`` the nearest,
w its weight. A state that is taken back has a negative weight. ``[start, stop)`` are the arms of the chunk.

The exact algorithms store distances by reference, D[s, i] = d(i, s): they visit few references and all arms, along
memory. What PairedPAM does with distances is in ``lane_kernels.py``, how it judges their sums is here.
"""

from __future__ import annotations

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = [
    "RUN",
    "add_base",
    "add_both",
    "change_base",
    "changes_of",
    "judge_faces",
    "lowest_face",
    "lowest_sums",
    "meet_faces",
    "surest_arms",
]

# References in a run that is summed before it is added.
RUN = 32

# Loops over the matrix take four references at a time, so that sums are read and written once for four rows: with one
# at a time they ran at two thirds of the speed of memory. `_row` gives the last one again, with weight 0, where a run
# ends early.


@inline
def _row(D, references, w, x, y, e, last, start, stop):  # type: ignore[no-untyped-def]
    """A reference's distances to some arms, with its weight and two more facts."""
    here = min(e, last)
    weight = w[here] if e == here else w.dtype.type(0)
    return D[references[here], start:stop], (weight, x[here], y[here])


@inline
def _difference(d, facts):  # type: ignore[no-untyped-def]
    """Return w (min(d, x) - min(d, y))."""
    w, x, y = facts
    return w * (min(d, x) - min(d, y))


@inline
def _kept(d, facts):  # type: ignore[no-untyped-def]
    """Return w min(d, y)."""
    w, _, y = facts
    return w * min(d, y)


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
def change_base(D, references, old, x1, w, start, stop, S):  # type: ignore[no-untyped-def]
    """As `add_base`, and takes out what the old state brought: one look at a distance for both."""
    run = np.empty(stop - start, x1.dtype)
    zero = x1.dtype.type(0)
    for first in range(0, len(references), RUN):
        run[:] = zero
        last = min(first + RUN, len(references)) - 1
        for e in range(first, last + 1, 4):
            row, s = _row(D, references, w, x1, old, e, last, start, stop)
            row1, s1 = _row(D, references, w, x1, old, e + 1, last, start, stop)
            row2, s2 = _row(D, references, w, x1, old, e + 2, last, start, stop)
            row3, s3 = _row(D, references, w, x1, old, e + 3, last, start, stop)
            for i in range(stop - start):
                d, d1, d2, d3 = zero + row[i], zero + row1[i], zero + row2[i], zero + row3[i]
                run[i] += (_difference(d, s) + _difference(d1, s1)) + (_difference(d2, s2) + _difference(d3, s3))
        for i in range(stop - start):
            S[start + i] += run[i]


@kernel()
def lowest_sums(S, T, slots, start, stop, best):  # type: ignore[no-untyped-def]
    """Lowest of S_i + T_ji over some slots j, unless it is lower already."""
    for j in slots:
        totals = T[j]
        for i in range(start, stop):
            best[i] = min(best[i], S[i] + totals[i])


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
        last = first
        while last + 1 < len(references) and slot[last + 1] == slot[first] and last + 1 - first < RUN:
            last += 1
        for e in range(first, last + 1, 4):
            row, s = _row(D, references, w, x2, x1, e, last, start, stop)
            row1, s1 = _row(D, references, w, x2, x1, e + 1, last, start, stop)
            row2, s2 = _row(D, references, w, x2, x1, e + 2, last, start, stop)
            row3, s3 = _row(D, references, w, x2, x1, e + 3, last, start, stop)
            for i in range(stop - start):
                d, d1, d2, d3 = zero + row[i], zero + row1[i], zero + row2[i], zero + row3[i]
                run[i] += (_kept(d, s) + _kept(d1, s1)) + (_kept(d2, s2) + _kept(d3, s3))
                own[i] += (_difference(d, s) + _difference(d1, s1)) + (_difference(d2, s2) + _difference(d3, s3))
        sums = T[slot[first]]
        for i in range(stop - start):
            S[start + i] += run[i]
            sums[start + i] += own[i]
        first = last + 1


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
