"""Compiled loops over arms. Distances are stored by reference: D[s, i] = d(i, s), so that loops run along memory.

A reference s comes with its state: x1, x2 the distances to its nearest and second nearest medoid, ``slot`` the nearest,
w its weight. A state that is taken back has a negative weight. ``[start, stop)`` are the arms of the chunk.
"""

from __future__ import annotations

from medoids.engine.compile import kernel

__all__ = [
    "add_additions",
    "add_base",
    "add_both",
    "add_paired_additions",
    "add_paired_swaps",
    "add_swaps",
    "lowest_face",
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


@kernel()
def add_additions(D, references, x1, w, start, stop, S, Q):  # type: ignore[no-untyped-def]
    """Sum of the changes w (min(d, x1) - x1) and of their squares; without a medoid yet, of w d."""
    for e in range(len(references)):
        row, near, weight = D[references[e]], x1[e], w[e]
        square = weight * abs(weight)
        zero = near if near < float("inf") else 0.0
        for i in range(start, stop):
            change = min(float(row[i]), near) - zero
            S[i] += weight * change
            Q[i] += square * change * change


@kernel()
def add_swaps(D, references, x1, x2, slot, w, start, stop, S, Q, T, R):  # type: ignore[no-untyped-def]
    """Changes if the own medoid stays (S, Q) and what is added to that if it leaves (T, R), by Theorem 1."""
    for e in range(len(references)):
        row, near, far, weight = D[references[e]], x1[e], x2[e], w[e]
        square = weight * abs(weight)
        first, second = T[slot[e]], R[slot[e]]
        for i in range(start, stop):
            d = float(row[i])
            kept = min(d, near) - near
            left = min(d, far) - near
            S[i] += weight * kept
            Q[i] += square * kept * kept
            first[i] += weight * (left - kept)
            second[i] += square * (left * left - kept * kept)


@kernel()
def add_paired_additions(D, x1, w, lead, start, stop, V):  # type: ignore[no-untyped-def]
    """V_i += (change_i - change of the leader)^2."""
    for s in range(len(x1)):
        row, near, weight, other = D[s], x1[s], w[s], lead[s]
        zero = near if near < float("inf") else 0.0
        for i in range(start, stop):
            z = weight * (min(float(row[i]), near) - zero) - other
            V[i] += z * z


@kernel()
def add_paired_swaps(D, x1, x2, slot, w, lead, start, stop, V, U):  # type: ignore[no-untyped-def]
    """V_i += (b - l)^2 and, for the own slot j, U_ji += c (2 (b - l) + c): all k squares for one distance."""
    for s in range(len(x1)):
        row, near, far, weight, other, own = D[s], x1[s], x2[s], w[s], lead[s], U[slot[s]]
        for i in range(start, stop):
            d = float(row[i])
            kept = min(d, near)
            z = weight * (kept - near) - other
            c = weight * (min(d, far) - kept)
            V[i] += z * z
            own[i] += c * (2.0 * z + c)


@kernel()
def lowest_face(S, T, start, stop, best, face):  # type: ignore[no-untyped-def]
    """Lowest of S_i + T_ji over the slots j, and which it is."""
    for i in range(start, stop):
        best[i] = float("inf")
    for j in range(len(T)):
        row = T[j]
        for i in range(start, stop):
            total = S[i] + row[i]
            if total < best[i]:
                best[i] = total
                face[i] = j


@kernel()
def screen_faces(S, Q, T, R, t, lead, spread, width, against_none, start, stop, keep):  # type: ignore[no-untyped-def]
    """Keep an arm if one of its faces may beat the leader, whose mean is ``lead``, and no swap (mean 0).

    ``spread`` is the leader's standard deviation: that of a difference is at most the sum of the two.
    """
    for i in range(start, stop):
        keep[i] = False
        for j in range(len(T)):
            mean = (S[i] + T[j, i]) / t
            reach = (max(0.0, (Q[i] + R[j, i]) / t - mean * mean)) ** 0.5
            if mean - lead <= width * (reach + spread) and (not against_none or mean <= width * reach):
                keep[i] = True
                break
