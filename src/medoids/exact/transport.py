"""Which medoid each row belongs to if clusters have limits on their sizes: a transport problem, solved to a proof.

Each cluster has a price, which its members pay beside their distances: negative prices attract rows, positive ones turn
them away. Given prices v, every row takes its cheapest cluster, and

    sum_s min_j (c_js + v_j) - sum_j v_j (most if v_j > 0 else least)

is a lower bound on the loss of every assignment within the limits, whatever the prices. Prices are raised one cluster
at a time, each exactly; then a linear program decides about the rows for which several clusters cost nearly the same.
Its solution is whole, as that of every transport problem, and its prices give the lower bound that proves it, or show
that more rows have to be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from medoids.engine.arrays import Bools, Float64s, Rows

__all__ = ["Transport", "price_bound", "raise_prices", "transport"]

# The loss may exceed the lower bound by this share of n mean costs: rounding errors of the linear program.
_PROOF = 1e-9
# Rounds over all prices, and the share of the loss by which a round must raise the bound.
_PRICE_ROUNDS, _LEAST_RISE = 50, 1e-7
# Rows for each row that is in the wrong cluster, and the smallest number, that the first linear program looks at; each
# later one looks at several times more.
_CONTESTED_SHARE, _CONTESTED_LEAST, _TIMES_MORE = 4, 200, 4


@dataclass(frozen=True)
class Transport:
    """The best assignment within limits.

    Attributes
    ----------
    labels : ndarray of shape (n,)
    prices : ndarray of shape (k,)
    loss, bound : float
        The sum of the costs, and a lower bound on that of every assignment, which proves it optimal.
    """

    labels: Rows
    prices: Float64s
    loss: float
    bound: float

    @classmethod
    def of(cls, costs: Float64s, labels: Rows, prices: Float64s, least: int, most: int) -> Transport:
        loss = float(costs[labels, np.arange(len(labels))].sum())
        return cls(labels, prices, loss, price_bound(costs, prices, least, most))

    def proved(self, slack: float) -> bool:
        """Whether the loss is the bound, but for rounding."""
        return self.loss - self.bound <= slack


def price_bound(costs: Float64s, prices: Float64s, least: int, most: int) -> float:
    """Return the lower bound on the loss that some prices give.

    >>> price_bound(np.array([[0.0, 1.0, 2.0], [9.0, 8.0, 7.0]]), np.array([0.0, -6.0]), 1, 3)
    8.0
    """
    return float((costs + prices[:, None]).min(axis=0).sum() - _paid(prices, least, most))


def _paid(prices: Float64s, least: int, most: int) -> float:
    return float(prices @ np.where(prices > 0, most, least))


def raise_prices(costs: Float64s, prices: Float64s, least: int, most: int, enough: float = np.inf) -> float:
    """Improve prices in place until their bound rises no more or is ``enough``; return the bound.

    The best price of one cluster, given the others, is where it has neither too many rows nor too few.
    """
    k, n = costs.shape
    adjusted = costs + prices[:, None]
    bound = -np.inf
    for _ in range(_PRICE_ROUNDS):
        before = bound
        for j in range(k):
            adjusted[j] = np.inf
            gains = adjusted.min(axis=0) - costs[j] if k > 1 else np.full(n, np.inf)
            price = 0.0
            if most < n and np.count_nonzero(gains > 0) > most:
                price = float(np.partition(gains, n - most - 1)[n - most - 1])
            elif least and np.count_nonzero(gains >= 0) < least:
                price = float(np.partition(gains, n - least)[n - least])
            prices[j], adjusted[j] = price, costs[j] + price
        bound = float(adjusted.min(axis=0).sum()) - _paid(prices, least, most)
        if bound >= enough or bound - before <= _LEAST_RISE * abs(bound):
            break
    return bound


def transport(costs: Float64s, least: int, most: int, prices: Float64s | None = None) -> Transport:
    """Return the best assignment of rows to clusters of at least ``least`` and at most ``most`` rows each.

    Parameters
    ----------
    costs : ndarray of shape (k, n)
        What a row costs in a cluster.
    least, most : int
        k least <= n <= k most.
    prices : ndarray of shape (k,), optional
        Of a similar problem, to start from.

    Examples
    --------
    >>> found = transport(np.array([[0.0, 1.0, 2.0, 3.0], [9.0, 8.0, 7.0, 6.0]]), 2, 4)
    >>> found.labels.tolist(), found.loss, found.bound
    ([0, 0, 1, 1], 14.0, 14.0)
    """
    k, n = costs.shape
    prices = np.zeros(k) if prices is None else prices.copy()
    raise_prices(costs, prices, least, most)
    scale = float(np.abs(costs).mean()) or 1.0
    slack = _PROOF * n * scale
    contested = _CONTESTED_LEAST
    while True:
        extra = costs + prices[:, None]
        labels: Rows = extra.argmin(axis=0)
        sizes = np.bincount(labels, minlength=k)
        wrong = int(np.maximum(sizes - most, 0).sum() + np.maximum(least - sizes, 0).sum())
        found = Transport.of(costs, labels, prices, least, most)
        if wrong or not found.proved(slack):
            contested = min(n, max(contested, _CONTESTED_SHARE * wrong))
            arcs = _near(extra - extra.min(axis=0), contested)
            solved = _solve(costs, labels, arcs, least, most, scale)
            if solved is None:
                contested = min(n, _TIMES_MORE * contested)
                continue
            labels, prices = solved
            found = Transport.of(costs, labels, prices, least, most)
        if found.proved(slack) or contested == n:
            return found
        contested = min(n, _TIMES_MORE * contested)


def _near(extra: Float64s, contested: int) -> Bools:
    """Return which clusters are open to which rows: those that cost a row little more than its cheapest one.

    At least that many rows have several; if all have, they have all.
    """
    k, n = extra.shape
    if contested == n or k == 1:
        return np.ones((k, n), dtype=bool)
    second = np.partition(extra, 1, axis=0)[1]
    arcs: Bools = extra <= np.partition(second, contested - 1)[contested - 1]
    return arcs


def _solve(
    costs: Float64s, labels: Rows, arcs: Bools, least: int, most: int, scale: float
) -> tuple[Rows, Float64s] | None:
    """Return labels and prices of the best assignment along some arcs; None if none is within the limits.

    Rows with one arc are not part of the program: they only take up room.
    """
    from scipy.optimize import linprog  # takes longer to import than a small fit

    k = len(costs)
    rows = np.flatnonzero(arcs.sum(axis=0) > 1)
    taken = np.bincount(np.delete(labels, rows), minlength=k)
    slot, at = np.nonzero(arcs[:, rows])
    count = len(slot)
    one = np.ones(count)
    whole = sparse.csr_array((one, (at, np.arange(count))), shape=(len(rows), count))
    sizes = sparse.csr_array((one, (slot, np.arange(count))), shape=(k, count))
    if (taken > most).any():
        return None
    found = linprog(
        costs[slot, rows[at]] / scale,
        A_ub=sparse.vstack([sizes, -sizes]),
        b_ub=np.concatenate([most - taken, taken - least]),
        A_eq=whole,
        b_eq=np.ones(len(rows)),
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0:
        return None
    labels = labels.copy()
    chosen = found.x > 0.5
    labels[rows[at[chosen]]] = slot[chosen]
    above, below = -found.ineqlin.marginals[:k], -found.ineqlin.marginals[k:]
    return labels, (above - below) * scale
