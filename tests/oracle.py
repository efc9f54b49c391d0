"""PAM in plain loops: obviously correct, and what everything else is compared with.

D[i][s] is d(i, s), with i as the medoid. Losses within 1e-10 of the magnitude of what the lowest one sums, which is the
sum of w |d|, tie, and the lowest row wins; a swap must lower the loss by more than that.
"""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-10


def loss(D, medoids, w):
    return sum(w[s] * min(D[m][s] for m in medoids) for s in range(len(D)))


def magnitude(D, medoids, w):
    return sum(w[s] * abs(min(D[m][s] for m in medoids)) for s in range(len(D)))


def first_lowest(D, options, w):
    """Return the first (key, medoids, loss) of some (key, medoids) whose loss ties with the lowest."""
    options = [(key, medoids, loss(D, medoids, w)) for key, medoids in options]
    _, medoids, best = min(options, key=lambda option: option[2])
    limit = best + TOLERANCE * magnitude(D, medoids, w)
    return next(option for option in options if option[2] <= limit)


def build(D, k, w):
    medoids = []
    while len(medoids) < k:
        rows = [i for i in range(len(D)) if w[i] > 0 and i not in medoids]
        medoids.append(first_lowest(D, [(i, [*medoids, i]) for i in rows], w)[0])
    return medoids


def swap(D, medoids, w):
    """Return the best swap as (slot, row), or None if no swap lowers the loss."""
    now = loss(D, medoids, w)
    rows = [i for i in range(len(D)) if w[i] > 0 and i not in medoids]
    options = [((j, i), [*medoids[:j], i, *medoids[j + 1 :]]) for i in rows for j in range(len(medoids))]
    if not options:
        return None
    best, changed, value = first_lowest(D, options, w)
    least = TOLERANCE * max(magnitude(D, medoids, w), magnitude(D, changed, w))
    return best if value < now - least else None


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
