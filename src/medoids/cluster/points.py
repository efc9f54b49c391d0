"""BanditPAM++'s arms in a shard: its own points against references from everywhere, with intervals of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medoids.bandit.arms import addition_sums, swap_sums
from medoids.cluster.host import Host
from medoids.cluster.messages import References
from medoids.core.assignment import Assignment
from medoids.distances import Floats, Tally
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads, spans
from medoids.paired.levels import Levels

__all__ = ["ShardPoints", "changes"]

# Arms whose distances to a batch are looked at together.
_ARMS = 1024


def changes(
    block: Floats, references: References, part: Assignment, k: int, *, swaps: bool
) -> tuple[Float64s, Float64s]:
    """Sums over references of the changes of each face, and of their squares, in the precision of the block."""
    kind = np.result_type(block.dtype, np.float32)
    d1, d2, w = (x.astype(kind) for x in (references.d1, references.d2, references.w))
    with np.errstate(over="ignore", invalid="ignore"):
        if not swaps:
            return addition_sums(block, d1, w)
        slots = np.setdiff1d(np.arange(k), part.fixed)
        return swap_sums(block, d1, d2, references.slot, w, slots, k)


class ShardPoints:
    """One search's arms in one shard.

    Parameters
    ----------
    levels : Levels
        Whose first ones are the batches that are stored.
    host : Host
    part : Assignment
    k : int
    arms : ndarray
        The own rows that are arms.
    least : ndarray
        What is known of their standard deviations: a floor.
    swaps : bool
    """

    def __init__(
        self, levels: Levels, host: Host, part: Assignment, k: int, arms: Rows, least: Float64s, *, swaps: bool
    ) -> None:
        self._host = host
        self._levels, self._part, self._k, self.swaps = levels, part, k, swaps
        self.left, self.least = arms, least
        faces = k - len(part.fixed) if swaps else 1
        self.sums, self.squares = np.zeros((2, len(arms), faces))
        self.t = 0

    def pull(self, batch: slice, references: References, threads: Threads, tally: Tally) -> tuple[float, int]:
        """Look at a batch; return the sum of the standard deviations of all faces, and how many there are."""
        number = next(l for l in range(len(self._levels)) if batch.start < self._levels[l].span.stop)
        stored = self._levels[number].span == batch
        if stored:
            self._levels.fill(number, self.left)

        def work(lot: slice) -> None:
            block = self._levels.rows(number, self.left[lot]) if stored else self._computed(self.left[lot], batch)
            new, new_squares = changes(block, references, self._part, self._k, swaps=self.swaps)
            self.sums[lot] += new
            self.squares[lot] += new_squares

        threads.map(work, spans(len(self.left), _ARMS), threaded=self._host.distance.threaded)
        if not stored:
            tally.add(computed=len(self.left) * (batch.stop - batch.start))
        self.t = batch.stop
        sigma = self._sigma()
        return float(sigma.sum()), sigma.size

    def _computed(self, arms: Rows, batch: slice) -> Floats:
        start = self._host.start("references")
        references = slice(start + batch.start, start + batch.stop)
        return self._host.distance.block(arms, references)

    def _sigma(self) -> Float64s:
        sigma: Float64s = np.sqrt(np.maximum(self.squares / self.t - (self.sums / self.t) ** 2, 0))
        return sigma

    def _width(self, floor: float, w: float) -> Float64s:
        sigma = np.maximum(np.maximum(self._sigma(), floor), self.least[:, None])
        width: Float64s = sigma * (w / np.sqrt(self.t))
        return width

    def end(self, floor: float, w: float) -> float:
        """Return the lowest upper end of all intervals."""
        upper = self.sums / self.t + self._width(floor, w)
        return float(upper.min()) if upper.size else np.inf

    def cut(self, floor: float, w: float, end: float) -> int:
        """Drop the arms all of whose lower ends are above it; return how many are left."""
        lower = self.sums / self.t - self._width(floor, w)
        self.restrict(np.any(lower <= end, axis=1))
        return len(self.left)

    def restrict(self, keep: npt.NDArray[np.bool_]) -> None:
        self.left, self.least = self.left[keep], self.least[keep]
        self.sums, self.squares = self.sums[keep], self.squares[keep]

    def lowest(self) -> Float64s:
        """Return the lowest mean of each arm."""
        best: Float64s = (self.sums / self.t).min(axis=1)
        return best
