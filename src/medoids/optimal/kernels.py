"""Compiled loops over points and candidates. ``R[s, i]`` is the distance from candidate i to point s."""

from __future__ import annotations

import numpy as np

from medoids.engine.compile import inline, kernel

__all__ = [
    "add_prefix_savings",
    "carry",
    "count_below",
    "cut_rows",
    "drop_dead",
    "lengths_below",
    "lowest_losses",
    "reassign",
    "violated_levels",
]


@kernel()
def reassign(R, w, medoids, slots, entered, state, changed, was):  # type: ignore[no-untyped-def]
    """Find the nearest two medoids of each point after some slots were given new ones.

    ``state`` is (nearest, second, d1, d2) of each point. Returns how many have another one, and the loss; their numbers
    go to ``changed``, what they had to ``was``.
    """
    near, second, d1, d2 = state
    old_near, old_second, old_d1, old_d2 = was
    k, count, loss = len(medoids), 0, 0.0
    for s in range(len(near)):
        row, a, b, x, y = R[s], near[s], second[s], d1[s], d2[s]
        if a < 0 or entered[a] or (b >= 0 and entered[b]):
            x1, x2, first, other = np.inf, np.inf, -1, -1
            for j in range(k):
                d = row[medoids[j]]
                if d < x1:
                    x2, other, x1, first = x1, first, d, j
                elif d < x2:
                    x2, other = d, j
        else:
            x1, x2, first, other = x, y, a, b
            for j in slots:
                d = row[medoids[j]]
                if d < x1:
                    x2, other, x1, first = x1, first, d, j
                elif d < x2:
                    x2, other = d, j
        loss += w[s] * x1
        if first != a or other != b or x1 != x or x2 != y:
            changed[count] = s
            old_near[count], old_second[count], old_d1[count], old_d2[count] = a, b, x, y
            near[s], second[s], d1[s], d2[s] = first, other, x1, x2
            count += 1
    return count, loss


@inline
def _state(R, points, now, was, e, last, start, stop):  # type: ignore[no-untyped-def]
    """A point's distances to some candidates, with its state now and before; past the end, with weights 0."""
    here = min(e, last)
    zero = now.dtype.type(0)
    w, u = (now[0, here], was[0, here]) if e == here else (zero, zero)
    return R[points[here], start:stop], (w, now[1, here], now[2, here], u, was[1, here], was[2, here])


@inline
def _terms(d, state):  # type: ignore[no-untyped-def]
    """Return w min(d, d1) and w min(d, d2), now and before."""
    w, x1, x2, u, y1, y2 = state
    return w * min(d, x1), w * min(d, x2), u * min(d, y1), u * min(d, y2)


@kernel()
def carry(R, points, slot, before, now, was, start, stop, S, T):  # type: ignore[no-untyped-def]
    """Carry S_i = sum_s w min(d, d1) and T_ji = sum_{s nearest to j} w (min(d, d2) - min(d, d1)) to another state.

    ``now`` and ``was`` have rows w, d1, d2. Points come sorted by (slot before, slot now), four at a time.
    """
    e, n = 0, len(points)
    zero = now.dtype.type(0)
    base = S[start:stop]
    while e < n:
        last = e
        while last < e + 3 and last + 1 < n and slot[last + 1] == slot[e] and before[last + 1] == before[e]:
            last += 1
        r0, s0 = _state(R, points, now, was, e, last, start, stop)
        r1, s1 = _state(R, points, now, was, e + 1, last, start, stop)
        r2, s2 = _state(R, points, now, was, e + 2, last, start, stop)
        r3, s3 = _state(R, points, now, was, e + 3, last, start, stop)
        own = T[slot[e], start:stop]
        if slot[e] == before[e]:
            for i in range(stop - start):
                a0, b0, p0, q0 = _terms(zero + r0[i], s0)
                a1, b1, p1, q1 = _terms(zero + r1[i], s1)
                a2, b2, p2, q2 = _terms(zero + r2[i], s2)
                a3, b3, p3, q3 = _terms(zero + r3[i], s3)
                change = ((a0 - p0) + (a1 - p1)) + ((a2 - p2) + (a3 - p3))
                base[i] += change
                own[i] += (((b0 - q0) + (b1 - q1)) + ((b2 - q2) + (b3 - q3))) - change
        else:
            other = T[before[e], start:stop]
            for i in range(stop - start):
                a0, b0, p0, q0 = _terms(zero + r0[i], s0)
                a1, b1, p1, q1 = _terms(zero + r1[i], s1)
                a2, b2, p2, q2 = _terms(zero + r2[i], s2)
                a3, b3, p3, q3 = _terms(zero + r3[i], s3)
                base[i] += ((a0 - p0) + (a1 - p1)) + ((a2 - p2) + (a3 - p3))
                own[i] += ((b0 - a0) + (b1 - a1)) + ((b2 - a2) + (b3 - a3))
                other[i] -= ((q0 - p0) + (q1 - p1)) + ((q2 - p2) + (q3 - p3))
        e = last + 1


@kernel()
def lowest_losses(S, T, slots, start, stop, low):  # type: ignore[no-untyped-def]
    """low_i = S_i + min_j T_ji over some slots j: the lowest loss that candidate i makes."""
    low[start:stop] = np.inf
    for j in slots:
        own = T[j]
        for i in range(start, stop):
            low[i] = min(low[i], own[i])
    for i in range(start, stop):
        low[i] += S[i]


@kernel()
def add_prefix_savings(near, number, count, reach, R, alive, points, levels, shares, start, stop, rho):  # type: ignore[no-untyped-def]
    """rho_i += share max(0, level - d(i, s)) for each multiplier (s, level, share) of a chunk.

    ``near`` holds each point's sorted distances, all of those below its ``reach``; a level beyond that takes the row.
    """
    for e in range(start, stop):
        s, level, share = points[e], levels[e], shares[e]
        if level <= reach[s]:
            for r in range(count[s]):
                d = near[s, r]
                if d >= level:
                    break
                rho[number[s, r]] += share * (level - d)
        else:
            row = R[s]
            for i in range(len(alive)):
                if alive[i] and row[i] < level:
                    rho[i] += share * (level - row[i])


@kernel()
def count_below(near, number, count, reach, R, chosen, v, out):  # type: ignore[no-untyped-def]
    """How many of the chosen candidates are nearer to each point than its price."""
    for s in range(len(v)):
        found, price = 0, v[s]
        if price <= reach[s]:
            for r in range(count[s]):
                if near[s, r] >= price:
                    break
                found += chosen[number[s, r]]
        else:
            for i in range(len(chosen)):
                found += chosen[i] and R[s, i] < price
        out[s] = found


@kernel()
def drop_dead(near, number, count, alive):  # type: ignore[no-untyped-def]
    """Take candidates that are not alive out of the sorted lists."""
    for s in range(len(count)):
        kept = 0
        for r in range(count[s]):
            if alive[number[s, r]]:
                near[s, kept], number[s, kept] = near[s, r], number[s, r]
                kept += 1
        count[s] = kept


@kernel()
def violated_levels(near, number, count, y, theta, slack, levels):  # type: ignore[no-untyped-def]
    """For each point the level of its most violated cut at (y, theta), or NaN where none is violated by the slack.

    The cut of level c says theta_s >= c - sum_i max(0, c - d(i, s)) y_i. The right side is highest at the distance at
    which the nearest candidates have a sum of y of 1.
    """
    for s in range(len(count)):
        mass, paid, c = 0.0, 0.0, 0.0
        for r in range(count[s]):
            c = near[s, r]
            share = min(y[number[s, r]], 1.0 - mass)
            mass += share
            paid += share * c
            if mass >= 1.0 - 1e-9:
                break
        # At this level the right side is the cost of serving s from its nearest fractions.
        levels[s] = c if paid + (1.0 - mass) * c > theta[s] + slack[s] else np.nan


@kernel()
def cut_rows(near, number, column, points, levels, first, unit, starts, index, value):  # type: ignore[no-untyped-def]
    """Coefficients of cuts theta_s + sum_i max(0, c - d(i, s)) y_i >= c; the last of each row is theta's.

    ``starts`` holds where each row begins, with the end of the last.
    """
    for e in range(len(points)):
        s, at = points[e], starts[e]
        for r in range(starts[e + 1] - starts[e] - 1):
            index[at + r] = column[number[s, r]]
            value[at + r] = (levels[e] - near[s, r]) / unit
        index[starts[e + 1] - 1] = first + s
        value[starts[e + 1] - 1] = 1.0


@kernel()
def lengths_below(near, count, points, levels, out):  # type: ignore[no-untyped-def]
    """How many candidates of each point's list are nearer than a level."""
    for e in range(len(points)):
        s, r = points[e], 0
        while r < count[s] and near[s, r] < levels[e]:
            r += 1
        out[e] = r
