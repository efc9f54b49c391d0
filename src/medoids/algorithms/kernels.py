"""Compiled loops over arms and references.

A reference s comes with its state: x1, x2 the distances to its nearest and second nearest medoid, ``slot`` the nearest,
w its weight. A state that is taken back has a negative weight. ``[start, stop)`` are the arms of the chunk.

The exact algorithms store distances by reference, D[s, i] = d(i, s): they visit few references and all arms, along
memory. PairedPAM stores them by arm, values[row, s]: it visits some arms and most references.
"""

from __future__ import annotations

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
def add_additions(values, rows, references, x1, w, start, stop, S, Q):  # type: ignore[no-untyped-def]
    """Sum of the changes w (min(d, x1) - x1) and of their squares; without a medoid yet, of w d."""
    first = len(x1) > 0 and x1[0] == float("inf")
    for a in range(start, stop):
        row = values[rows[a]]
        total = square = 0.0
        for e in range(len(references)):
            d, near = float(row[references[e]]), x1[e]
            change = w[e] * (d if first else min(d, near) - near)
            total += change
            square += change * abs(w[e]) * (d if first else min(d, near) - near)
        S[a] += total
        Q[a] += square


@kernel(fast_sums=True)
def pair_additions(values, rows, x1, w, lead, start, stop, V):  # type: ignore[no-untyped-def]
    """V_i += (change_i - change of the leader)^2."""
    first = len(x1) > 0 and x1[0] == float("inf")
    for a in range(start, stop):
        row = values[rows[a]]
        total = 0.0
        for s in range(len(x1)):
            d, near = float(row[s]), x1[s]
            z = w[s] * (d if first else min(d, near) - near) - lead[s]
            total += z * z
        V[a] += total


@kernel()
def add_swaps(values, rows, references, x1, x2, slot, w, start, stop, S, Q, T, R):  # type: ignore[no-untyped-def]
    """S, Q, T, R of the references that an arm changes: those to which it is nearer than their second medoid.

    All others bring the same to every arm, which ``paired.py`` adds: most references are not even looked at twice.
    """
    for a in range(start, stop):
        row, own, own_square = values[rows[a]], T[a], R[a]
        total = square = 0.0
        for e in range(len(references)):
            d = float(row[references[e]])
            if d < x2[e]:
                weight, near, j = w[e], x1[e], slot[e]
                sign = -1.0 if weight < 0 else 1.0
                kept = weight * (min(d, near) - near)
                left = weight * (d - near)
                none = weight * (x2[e] - near) if x2[e] < float("inf") else 0.0
                total += kept
                square += sign * kept * kept
                own[j] += left - kept - none
                own_square[j] += sign * (left * left - kept * kept - none * none)
        S[a] += total
        Q[a] += square


@kernel()
def pair_swaps(values, rows, x1, x2, slot, w, lead, start, stop, V, U):  # type: ignore[no-untyped-def]
    """V and U as `add_swaps` does S to R: (change - l)^2 less what it is for an arm that changes nothing."""
    for a in range(start, stop):
        row, own = values[rows[a]], U[a]
        total = 0.0
        for s in range(len(x1)):
            d = float(row[s])
            if d < x2[s]:
                weight, near, other, j = w[s], x1[s], lead[s], slot[s]
                kept = weight * (min(d, near) - near) - other
                left = weight * (d - near) - other
                none = weight * (x2[s] - near) - other if x2[s] < float("inf") else -other
                total += kept * kept - other * other
                own[j] += left * left - kept * kept - none * none + other * other
        V[a] += total


@kernel()
def lowest_face(S, T, base, start, stop, best, face):  # type: ignore[no-untyped-def]
    """Lowest of S_i + T_ij + base_j over the slots j, and which it is."""
    for i in range(start, stop):
        best[i] = float("inf")
        for j in range(len(base)):
            total = S[i] + T[i, j] + base[j]
            if total < best[i]:
                best[i] = total
                face[i] = j


@kernel()
def screen_faces(S, Q, T, R, base, base_square, t, lead, spread, width, floor, start, stop, keep):  # type: ignore[no-untyped-def]
    """Keep an arm if one of its faces may beat both the leader, whose mean is ``lead``, and no swap, whose mean is 0.

    ``spread`` is the leader's standard deviation: that of a difference is at most the sum of the two.
    """
    for i in range(start, stop):
        keep[i] = False
        for j in range(len(base)):
            mean = (S[i] + T[i, j] + base[j]) / t
            reach = max((max(0.0, (Q[i] + R[i, j] + base_square[j]) / t - mean * mean)) ** 0.5, floor[i])
            if mean - lead <= width * (reach + spread) and mean <= width * reach:
                keep[i] = True
                break
