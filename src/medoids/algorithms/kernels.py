"""Compiled loops of the exact algorithms. R is the matrix by reference: R[s, i] = d(i, s)."""

from __future__ import annotations

from medoids.engine.compile import kernel

__all__ = ["add_base", "add_both"]


@kernel()
def add_base(R, references, x1, w, start, stop, S):  # type: ignore[no-untyped-def]
    """S_i += w min(d(i, s), x1) for each reference: the loss if i is added (Eq. 4)."""
    for e in range(len(references)):
        row, limit, weight = R[references[e]], x1[e], w[e]
        for i in range(start, stop):
            S[i] += weight * min(float(row[i]), limit)


@kernel()
def add_both(R, references, x1, x2, slot, w, start, stop, S, T):  # type: ignore[no-untyped-def]
    """As `add_base`, and T_ji += w (min(d(i, s), x2) - min(d(i, s), x1)) for the reference's own slot j (Theorem 1)."""
    for e in range(len(references)):
        row, near, far, weight, own = R[references[e]], x1[e], x2[e], w[e], T[slot[e]]
        for i in range(start, stop):
            d = float(row[i])
            kept = min(d, near)
            S[i] += weight * kept
            own[i] += weight * (min(d, far) - kept)
