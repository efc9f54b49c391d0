"""A claim on the bounds, checked on real arms."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import rows_of
from medoids.bandit import Independent
from medoids.distances import dissimilarity

__all__ = ["coverage"]


def coverage() -> str:
    """How often the true mean of a real arm leaves its interval: MNIST 5,000, BUILD's first step, t = 100 ... 1,000."""
    random = np.random.RandomState(0)
    X = rows_of("MNIST", 5000, random)
    arms = random.choice(5000, 200, replace=False)
    D = dissimilarity(X, "l2").exact_block(arms, slice(0, 5000))
    mean, sigma = D.mean(axis=1), D.std(axis=1)
    lines = [
        "| delta | bound 2 sqrt(delta) | misses, true sigma | misses, sigma of the first batch |",
        "|---|---|---|---|",
    ]
    for delta in (0.1, 0.01):
        bounds = Independent(delta)
        misses = {"true": 0, "first": 0}
        tries = 0
        for _ in range(50):
            order = random.permutation(5000)
            first = D[:, order[:100]].std(axis=1)
            for t in (100, 300, 1000):
                error = np.abs(D[:, order[:t]].mean(axis=1) - mean)
                misses["true"] += int((error > bounds.width(sigma, t)).sum())
                misses["first"] += int((error > bounds.width(first, t)).sum())
                tries += len(arms)
        shares = [f"{misses[kind] / tries:.4f}" for kind in ("true", "first")]
        lines.append(f"| {delta} | {2 * np.sqrt(delta):.3f} | {shares[0]} | {shares[1]} |")
    return "\n".join(lines)
