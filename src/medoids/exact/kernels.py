"""Compiled loops over arms and references.

A reference s comes with its state: x1, x2 the distances to its nearest and second nearest medoid, ``slot`` the nearest,
w its weight. A state that is taken back has a negative weight. ``[start, stop)`` are the arms of the chunk.

The exact algorithms store distances by reference, D[s, i] = d(i, s): they visit few references and all arms, along
memory.
"""

from __future__ import annotations

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = ["RUN", "add_base", "add_both", "change_base"]

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
