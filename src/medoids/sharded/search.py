"""The arms of all shards as one search sees them: ``bandit.search_pairs`` over messages.

While many arms are left, these stay with their shards: a round's references go down, and each shard's leader comes
back. When no more arms are left than the next round has references, it is cheaper to send the arms: from then on the
driver holds their moments, and each shard adds up its own references of a round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized

import numpy as np
import numpy.typing as npt

from medoids.algorithms.levels import Level, Levels
from medoids.algorithms.moments import Moments, State
from medoids.algorithms.paired import LOYAL, PairedArms
from medoids.bandit import Paired
from medoids.distances import Floats
from medoids.engine.threads import Threads
from medoids.sharded.guests import Guests
from medoids.sharded.messages import Copies, Drop, Lead, Left, Meet, Partial, References
from medoids.sharded.pool import Pool
from medoids.sharded.shard import GUESTS

__all__ = ["FewArms", "Levelled", "ShardedArms"]

# Arms that are sent to the shards at most.
_MOST = GUESTS // 4

Rows = npt.NDArray[np.intp]
Float64s = npt.NDArray[np.float64]


class Levelled(Levels):
    """Levels without distances, which are elsewhere."""

    def __init__(self, n: int, spans: list[slice]) -> None:
        self.n = n
        self.levels = [Level(span, None, np.zeros((0, 0, 0))) for span in spans]
        self.kind, self.step, self.everyone = np.dtype(np.float64), 1.0, np.zeros(0, dtype=np.intp)
        self.full = False


class FewArms(PairedArms):
    """Arms whose moments the driver holds, summed over the references of all shards.

    Parameters
    ----------
    pool : Pool
    guests : Guests
    levels : Levelled
    state : State
        Of no references: which slots there are, and the scale of the loss.
    threads : Threads
    noise : float
    left, numbers : ndarray
        Of each arm the position in the permutation and the row of X.
    moments : Partial
    l : int
        The last level that they hold.
    """

    def __init__(
        self,
        pool: Pool,
        guests: Guests,
        levels: Levelled,
        state: State,
        threads: Threads,
        noise: float,
        left: Rows,
        numbers: Rows,
        moments: Partial,
        l: int,
    ) -> None:
        super().__init__(levels, state, Moments(0, 0), np.zeros(0, dtype=bool), threads, noise)
        self._pool, self._guests = pool, guests
        self._everyone, self.numbers = left, numbers
        self.left, self._l, self.t = left, l, levels[l].span.stop
        assert moments.own is not None
        self._changes = moments.own
        self.moments.S, self.moments.Q, self.moments.T, self.moments.R = moments.S, moments.Q, moments.T, moments.R

    def met(self, pivot: tuple[int, int], met: int, V: Float64s, U: Float64s) -> None:
        """Take over the squares against a pivot that the shards had met."""
        self._pivot, self._met, self._V, self._U = pivot, met, V, U

    def stays(self, lead: float, spread: float, width: float, slack: float) -> bool:
        """Tell whether the first arm passes the screen."""
        self._slack = slack
        return bool(self._screen(lead, spread, width)[0])

    def rows(self) -> Rows:
        """Return the rows of X of the arms that are left."""
        return self.numbers[np.searchsorted(self._everyone, self.left)]

    def _floor(self, at: Rows | slice = slice(None)) -> Float64s:
        floor: Float64s = self._changes[np.searchsorted(self._everyone, self.left[at])] / np.sqrt(self._levels.n)
        return floor

    def look(self) -> None:
        self._l += 1
        guests = self._guests.of(self.rows())
        # The squares against the pivot come along if all levels before have met it: mostly it leads again.
        along = None
        if self._pivot is not None and self._met == self._l:
            along = int(guests[np.searchsorted(self.left, self._pivot[0])]), self._pivot[1]
            self._met += 1
        for part, squares in self._pool.ask("sums", guests, self._l, self.state.swaps, along):
            self.moments.S, self.moments.Q = self.moments.S + part.S, self.moments.Q + part.Q
            self.moments.T, self.moments.R = self.moments.T + part.T, self.moments.R + part.R
            if squares is not None:
                self._V, self._U = self._V + squares[0], self._U + squares[1]
        self.t = self._levels[self._l].span.stop

    def _copy(self, arms: Rows) -> None:
        pass  # there is nothing here to copy

    def _add_squares(self, pivot: tuple[int, int], levels: Iterable[int], arms: Rows, V: Float64s, U: Floats) -> None:
        levels = list(levels)
        if levels:
            guests = self._guests.of(self.numbers[np.searchsorted(self._everyone, arms)])
            leader = int(self._guests.of(self.numbers[np.searchsorted(self._everyone, [pivot[0]])])[0])
            for part_V, part_U in self._pool.ask("squares", guests, (leader, pivot[1]), levels, self.state.swaps):
                V += part_V
                U += part_U


class ShardedArms:
    """One search's arms, wherever they are.

    Attributes
    ----------
    left : sized
        Arms that are still in question.
    t : int
        References looked at.
    """

    def __init__(
        self,
        pool: Pool,
        guests: Guests,
        levels: Levelled,
        state: State,
        threads: Threads,
        noise: float,
        sent: int,
    ) -> None:
        self._pool, self._guests, self._levels = pool, guests, levels
        self.state, self._threads, self._noise = state, threads, noise
        self.sent = sent  # levels whose references the shards have
        self._l, self.t = 0, levels[0].span.stop
        self.few: FewArms | None = None
        self._pivot: tuple[int, int] | None = None
        self._row: Floats = np.zeros(0)  # the pivot's distances
        self._met = 0
        self._known: Partial  # the pivot's moments, with its owner's last answer
        self._full = False  # whether a shard has no room for more distances
        self._seen: References  # so far
        self._leads: list[Lead] = []
        self._next: list[References] = pool.ask("references", 0, sent == 0)
        self._leads = pool.ask("begin", self._references(0), state.swaps)
        self._count = sum(lead.left for lead in self._leads)

    @property
    def left(self) -> Sized:
        return self.few.left if self.few is not None else range(self._count)

    @property
    def ahead(self) -> bool:
        """Whether there are references to look at."""
        return self._l + 1 < len(self._levels)

    def rows(self) -> Rows:
        """Return the rows of X of the arms that are left, in ascending order."""
        if self.few is None:
            found = self._pool.ask("survivors", False)
            return np.sort(np.concatenate([some.copies.numbers for some in found]))
        return np.sort(self.few.rows())

    def look(self) -> None:
        """Look at the next level with the arms that are left."""
        span = self._levels[self._l + 1].span
        if self.few is None and self._count <= min(_MOST, span.stop - span.start):
            self.few = self._gather()
        self._l += 1
        self.t = span.stop
        if self.few is not None:
            self.few.look()
            return
        pivot = -1 if self._pivot is None else self._pivot[0]
        self._leads = self._pool.ask("look", self._l, self._references(self._l), pivot)
        for lead in self._leads:
            if lead.pivot_row is not None:
                self._row = np.concatenate([self._row, lead.pivot_row])

    def _references(self, l: int) -> References:
        """Return the references of a level; with their rows, if the shards have not seen them."""
        parts, new = self._next, l >= self.sent
        if len(parts) < len(self._leads):  # some shard did not send its own along
            parts = self._pool.ask("references", l, new)
        self.sent = max(self.sent, l + 1)
        found = References.together(parts)
        self._seen = References.together([self._seen, found.bare()]) if l else found.bare()
        return found

    def _gather(self) -> FewArms:
        """Bring the arms that are left to the driver, and from there to all shards."""
        found = self._pool.ask("survivors")
        positions = np.concatenate([some.positions for some in found])
        at = np.argsort(positions)

        def joined(name: str) -> Float64s:
            values: Float64s = np.concatenate([getattr(some.moments, name) for some in found])[at]
            return values

        copies = Copies(
            np.concatenate([some.copies.numbers for some in found])[at],
            np.concatenate([some.copies.objects for some in found if len(some.positions)])[at],
        )
        self._guests.welcome(copies)
        moments = Partial(*(joined(name) for name in ("S", "Q", "T", "R", "own")))
        few = self._few(positions[at], copies.numbers, moments)
        if self._pivot is not None and self._pivot[0] in positions:
            V, U = (np.concatenate([getattr(some, name) for some in found])[at] for name in ("V", "U"))
            few.met(self._pivot, self._met, V, U)
        return few

    def _few(self, left: Rows, numbers: Rows, moments: Partial) -> FewArms:
        return FewArms(
            self._pool,
            self._guests,
            self._levels,
            self.state,
            self._threads,
            self._noise,
            left,
            numbers,
            moments,
            self._l,
        )

    def drop(self, bounds: Paired) -> None:
        """Forget the arms that the bounds rule out: `PairedArms.drop`, with the arms elsewhere."""
        if self.few is not None:
            self.few.drop(bounds)
            return
        width = bounds.width(self.t)
        best = min(self._leads, key=lambda lead: (lead.mean, lead.position))
        none = self.state.swaps and best.mean >= 0
        slack = self._noise * max(self.state.scale(), abs(best.mean))
        lead, spread = (0.0, 0.0) if none else (best.mean, best.spread)
        self._screen_pivot(lead, spread, width, slack)
        order = Drop(lead, spread, width, slack, -1 if none else best.position, [])
        if none:
            self._order(order)
            return
        leader = (best.position, best.face)
        if self._pivot is not None and self._pivot != leader:
            order.meet = [Meet(self._pivot, self._pivot_mean(), self._row, self._gap(leader, best.row))]
            if self._full:
                surely = self._order(order)
                if self._count <= LOYAL * surely:
                    self._met = self._l + 1
                    return
                order.meet = []
        order.meet.append(Meet(leader, best.mean, best.row))
        self._pivot, self._row, self._met = leader, best.row, self._l + 1
        self._order(order)

    def _order(self, order: Drop) -> int:
        """Have the shards drop arms; return how many are left not only for a gap."""
        if self.ahead:
            span = self._levels[self._l + 1].span
            order.ahead, order.fresh = self._l + 1, self._l + 1 >= self.sent
            order.share = min(_MOST, span.stop - span.start) / len(self._leads)
        answers: list[Left] = self._pool.ask("drop", order)
        self._count = sum(left.count for left in answers)
        self._full = any(left.full for left in answers)
        self._next = [left.ahead for left in answers if left.ahead is not None]
        return sum(left.surely for left in answers)

    def _gap(self, leader: tuple[int, int], row: Floats) -> float:
        """Return the spread of the differences between the pivot and the leader."""
        assert self._pivot is not None
        seen, swaps = self._seen, self.state.swaps
        state, span = State(seen.d1, seen.d2, seen.slot, seen.w, self.state.k, swaps), slice(0, self.t)
        difference = state.changes(self._row, span, self._pivot[1]) - state.changes(row, span, leader[1])
        return float(difference.std())

    def _screen_pivot(self, lead: float, spread: float, width: float, slack: float) -> None:
        """Forget the pivot if it falls by its own spread."""
        found = [one.pivot for one in self._leads if one.pivot is not None]
        if self._pivot is None or not found:
            self._pivot = None
            return
        arm = np.array([self._pivot[0]])
        self._known = found[0]
        if not self._few(arm, arm, found[0]).stays(lead, spread, width, slack):
            self._pivot = None

    def _pivot_mean(self) -> float:
        assert self._pivot is not None
        known = self._known
        return float((known.S[0] + (known.T[0, self._pivot[1]] if self.state.swaps else 0.0)) / self.t)
