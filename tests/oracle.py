"""PAM in plain loops: obviously correct, and what everything else is compared with.

D[i][s] is d(i, s), with i as the medoid. Losses within 1e-10 of the lowest tie, and the lowest row wins.
"""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-10


def loss(D, medoids, w):
    return sum(w[s] * min(D[m][s] for m in medoids) for s in range(len(D)))


def first_lowest(options):
    """Return the first (key, loss) whose loss ties with the lowest."""
    best = min(value for _, value in options)
    return next((key, value) for key, value in options if value <= best + TOLERANCE * abs(best))


def build(D, k, w):
    medoids = []
    while len(medoids) < k:
        rows = [i for i in range(len(D)) if w[i] > 0 and i not in medoids]
        medoids.append(first_lowest([(i, loss(D, [*medoids, i], w)) for i in rows])[0])
    return medoids


def swap(D, medoids, w):
    """Return the best swap as (slot, row), or None if no swap lowers the loss."""
    now = loss(D, medoids, w)
    rows = [i for i in range(len(D)) if w[i] > 0 and i not in medoids]
    options = [((j, i), loss(D, [*medoids[:j], i, *medoids[j + 1 :]], w)) for i in rows for j in range(len(medoids))]
    if not options:
        return None
    best, value = first_lowest(options)
    return best if value < now - TOLERANCE * abs(now) else None


def pam(D, k, w=None, medoids=None, max_iter=1000):
    """Return the medoids, by slot, and the number of swaps."""
    w = [1.0] * len(D) if w is None else w
    medoids = build(D, k, w) if medoids is None else list(medoids)
    for n_swaps in range(max_iter):
        best = swap(D, medoids, w)
        if best is None:
            return medoids, n_swaps
        medoids[best[0]] = best[1]
    return medoids, max_iter


def pam_by_columns(D, k):
    """PAM without weights on an array, a column of losses at a time: where plain loops would take minutes."""
    medoids, nearest = [], np.full(len(D), np.inf)
    while len(medoids) < k:
        losses = np.minimum(D, nearest).sum(axis=1)
        losses[medoids] = np.inf
        medoids.append(_first(losses))
        nearest = np.minimum(nearest, D[medoids[-1]])
    while True:
        others = [D[medoids[:j] + medoids[j + 1 :]].min(axis=0) if k > 1 else np.inf for j in range(k)]
        losses = np.array([np.minimum(D, rest).sum(axis=1) for rest in others]).T  # ties: lowest row, then lowest slot
        row, slot = divmod(_first(losses.ravel()), k)
        now = D[medoids].min(axis=0).sum()
        if not losses[row, slot] < now - TOLERANCE * abs(now):
            return medoids
        medoids[slot] = row


def _first(losses):
    return int(np.argmax(losses <= losses.min() + TOLERANCE * abs(losses.min())))
