"""BanditPAM++ over shards: Algorithm 1 of the paper, whose arms stay where their points are."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from medoids.algorithms.banditpam import BATCH
from medoids.bandit import Independent
from medoids.cluster.messages import Copies, References
from medoids.cluster.pairedpam import ShardedPAM
from medoids.engine.arrays import Float64s, Rows
from medoids.exact.matrix import MARGIN

__all__ = ["ShardedBanditPAM"]

# Batches that few arms look at in one trip.
_GROUP = 10


@dataclass
class Finalists:
    """Rows that are left, and the references that this rests on."""

    left: Sized
    t: int
    numbers: Rows

    def rows(self) -> Rows:
        return self.numbers


@dataclass
class _Few:
    """Few arms at the driver: rows, sums, squares and floors of their spreads."""

    numbers: Rows
    guests: Rows
    sums: Float64s
    squares: Float64s
    least: Float64s

    def keep(self, at: npt.NDArray[np.bool_]) -> _Few:
        return _Few(self.numbers[at], self.guests[at], self.sums[at], self.squares[at], self.least[at])


class ShardedBanditPAM(ShardedPAM):
    """One fit."""

    def _prepare(self) -> None:
        n, delta = self.posed.candidates, self.problem.delta
        self.intervals = Independent(1 / (self.problem.k * n**3) if delta is None else delta)
        self.bounds = [self.intervals]

    def _search(self, bounds: Independent, *, swaps: bool) -> Finalists:  # type: ignore[override]
        """Drop arms until one is left or the references are used up."""
        n, pool = self.posed.n, self.pool
        # Without medoids the loss is infinite, and distances themselves vary enough.
        mean = abs(self.assignment.loss) / self.posed.n if self.assignment.medoids else 0.0
        count = sum(pool.ask("begin_points", swaps, mean))
        if count == 0:
            return Finalists(range(0), 0, np.zeros(0, dtype=np.intp))
        w = bounds.w
        for start in range(0, n, BATCH):
            if count <= BATCH and start:
                return self._search_few(start, swaps)
            stop = min(start + BATCH, n)
            fresh = start >= self._sent
            references = References.together(pool.ask("references_between", start, stop, fresh))
            self._sent = max(self._sent, stop)
            spread = pool.ask("pull", slice(start, stop), references)
            if stop == n:
                break
            # As in `bandit.search`: an arm that shows no change is not thereby known to have none.
            floor = 0.1 * sum(total for total, _ in spread) / sum(entries for _, entries in spread)
            end = min(pool.ask("end", floor, w))
            count = sum(pool.ask("cut", floor, w, end))
            if count == 1:
                return Finalists(range(1), stop, np.concatenate(pool.ask("rows_below", np.inf)))
        limit = self._limit(min(pool.ask("lowest")))
        return Finalists(range(count), n, np.sort(np.concatenate(pool.ask("rows_below", limit))))

    def _limit(self, best: float) -> float:
        """Return up to which mean an arm may be the best, where float32 cannot tell."""
        trace = self.run.trace
        scale = trace[-1].loss * self.posed.weight / self.posed.n if trace else best
        return best + MARGIN * (abs(scale) + abs(best))

    def _search_few(self, start: int, swaps: bool) -> Finalists:
        """Go on with few arms, which are sent to the shards."""
        n, few = self.posed.n, self._gather()
        while start < n:
            group = [(a, min(a + BATCH, n)) for a in range(start, min(n, start + _GROUP * BATCH), BATCH)]
            parts = self.pool.ask("pull_guests", few.guests, group, swaps)
            sums, squares = (sum(part[side] for part in parts) for side in (0, 1))
            at = np.ones(len(few.numbers), dtype=bool)
            for number, (_, stop) in enumerate(group):
                few.sums = few.sums + sums[number][at]
                few.squares = few.squares + squares[number][at]
                if stop == n:
                    best = few.sums.min(axis=1) / n
                    numbers = few.numbers[best <= self._limit(float(best.min()))]
                    return Finalists(range(len(few.numbers)), n, np.sort(numbers))
                keep = self._keep(few, stop)
                few = few.keep(keep)
                at[np.flatnonzero(at)[~keep]] = False
                if len(few.numbers) == 1:
                    return Finalists(range(1), stop, few.numbers)
            start = group[-1][1]
        raise AssertionError("the last batch ends the search")

    def _keep(self, few: _Few, t: int) -> npt.NDArray[np.bool_]:
        sigma = np.sqrt(np.maximum(few.squares / t - (few.sums / t) ** 2, 0))
        np.maximum(sigma, 0.1 * float(sigma.mean()), out=sigma)
        np.maximum(sigma, few.least[:, None], out=sigma)
        return self.intervals.keep(few.sums / t, sigma, t)

    def _gather(self) -> _Few:
        found = self.pool.ask("points")
        numbers = np.concatenate([copies.numbers for copies, *_ in found])
        objects = np.concatenate([copies.objects for copies, *_ in found if len(copies.numbers)])
        self.guests.welcome(Copies(numbers, objects))
        sums, squares, least = (np.concatenate([part[side] for part in found]) for side in (1, 2, 3))
        return _Few(numbers, self.guests.of(numbers), sums, squares, least)
