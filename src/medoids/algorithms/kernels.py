"""Compiled loops over arms and references.

A reference s comes with its state: x1, x2 the distances to its nearest and second nearest medoid, ``slot`` the nearest,
w its weight. A state that is taken back has a negative weight. ``[start, stop)`` are the arms of the chunk.

The exact algorithms store distances by reference, D[s, i] = d(i, s): they visit few references and all arms, along
memory. PairedPAM stores them by arm, values[row, s]: it visits some arms and most references.
"""

from __future__ import annotations

import numpy as np

from medoids.engine.compile import kernel

__all__ = [
    "add_additions",
    "add_base",
    "add_both",
    "add_swaps",
    "lowest_face",
    "pair_additions",
    "pair_swaps",
    "screen_faces",
]


@kernel()
def add_base(D, references, x1, w, start, stop, S):  # type: ignore[no-untyped-def]
    """S_i += w min(d(i, s), x1) for each reference: the loss if i is added (Eq. 4)."""
    for e in range(len(references)):
        row, limit, weight = D[references[e]], x1[e], w[e]
        for i in range(start, stop):
            S[i] += weight * min(float(row[i]), limit)


@kernel()
def add_both(D, references, x1, x2, slot, w, start, stop, S, T):  # type: ignore[no-untyped-def]
    """As `add_base`, and T_ji += w (min(d(i, s), x2) - min(d(i, s), x1)) for the reference's own slot j (Theorem 1)."""
    for e in range(len(references)):
        row, near, far, weight, own = D[references[e]], x1[e], x2[e], w[e], T[slot[e]]
        for i in range(start, stop):
            d = float(row[i])
            kept = min(d, near)
            S[i] += weight * kept
            own[i] += weight * (min(d, far) - kept)


@kernel(fast_sums=True)
def add_additions(values, rows, columns, x1, w, w2, start, stop, S, Q):  # type: ignore[no-untyped-def]
    """Sum of the changes w (min(d, x1) - x1) and of their squares; without a medoid yet, of w d."""
    zero = x1.dtype.type(0)
    first = len(x1) > 0 and x1[0] == np.inf
    for a in range(start, stop):
        row = values[rows[a]]
        total = square = zero
        for e in range(len(columns)):
            d = zero + row[columns[e]]
            change = d if first else min(d, x1[e]) - x1[e]
            total += w[e] * change
            square += w2[e] * change * change
        S[a] += total
        Q[a] += square


@kernel(fast_sums=True)
def pair_additions(values, rows, x1, w, lead, start, stop, V):  # type: ignore[no-untyped-def]
    """V_i += (change_i - change of the leader)^2."""
    zero = x1.dtype.type(0)
    first = len(x1) > 0 and x1[0] == np.inf
    for a in range(start, stop):
        row = values[rows[a]]
        total = zero
        for s in range(len(x1)):
            d = zero + row[s]
            z = w[s] * (d if first else min(d, x1[s]) - x1[s]) - lead[s]
            total += z * z
        V[a] += total


@kernel(fast_sums=True)
def add_swaps(values, rows, columns, ends, x1, x2, w, w2, start, stop, S, Q, T, R):  # type: ignore[no-untyped-def]
    """S, Q, T, R by Theorem 1. References come sorted by slot, slot j's ending at ``ends[j]``.

    A row is first copied into that order, so that the sums of a slot run along memory and without a branch.
    """
    copied = np.empty(len(columns), dtype=x1.dtype)
    zero = x1.dtype.type(0)
    for a in range(start, stop):
        row = values[rows[a]]
        for e in range(len(columns)):
            copied[e] = row[columns[e]]
        first = 0
        for j in range(len(ends)):
            total = square = own = own_square = zero
            for e in range(first, ends[j]):
                kept = min(copied[e], x1[e]) - x1[e]
                left = min(copied[e], x2[e]) - x1[e]
                total += w[e] * kept
                square += w2[e] * kept * kept
                own += w[e] * (left - kept)
                own_square += w2[e] * (left * left - kept * kept)
            first = ends[j]
            S[a] += total
            Q[a] += square
            T[a, j] += own
            R[a, j] += own_square


@kernel(fast_sums=True)
def pair_swaps(values, rows, columns, ends, x1, x2, w, lead, start, stop, V, U):  # type: ignore[no-untyped-def]
    """V_i += (b - l)^2 and, for the own slot j, U_ij += (b + c - l)^2 - (b - l)^2: all k squares for one distance."""
    copied = np.empty(len(columns), dtype=x1.dtype)
    zero = x1.dtype.type(0)
    for a in range(start, stop):
        row = values[rows[a]]
        for e in range(len(columns)):
            copied[e] = row[columns[e]]
        first = 0
        for j in range(len(ends)):
            total = own = zero
            for e in range(first, ends[j]):
                kept = w[e] * (min(copied[e], x1[e]) - x1[e]) - lead[e]
                left = w[e] * (min(copied[e], x2[e]) - x1[e]) - lead[e]
                total += kept * kept
                own += left * left - kept * kept
            first = ends[j]
            V[a] += total
            U[a, j] += own


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
def screen_faces(S, Q, T, R, t, lead, spread, width, floor, start, stop, keep):  # type: ignore[no-untyped-def]
    """Keep an arm if one of its faces may beat both the leader, whose mean is ``lead``, and no swap, whose mean is 0.

    ``spread`` is the leader's standard deviation: that of a difference is at most the sum of the two.
    """
    for i in range(start, stop):
        keep[i] = False
        for j in range(T.shape[1]):
            mean = (S[i] + T[i, j]) / t
            reach = max((max(0.0, (Q[i] + R[i, j]) / t - mean * mean)) ** 0.5, floor[i])
            if mean - lead <= width * (reach + spread) and mean <= width * reach:
                keep[i] = True
                break
