"""The arms of all shards as one search sees them: ``bandit.search_pairs`` over messages.

While many arms are left, these stay with their shards: a round's references go down, and each shard's leader comes
back. When no more arms are left than the next round has references, it is cheaper to send the arms: from then on the
driver holds their moments, and each shard adds up its own references of a round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized

import numpy as np

from medoids.bandit import Paired
from medoids.cluster.guests import Guests
from medoids.cluster.messages import Copies, Drop, Lead, Left, Meet, Partial, References
from medoids.cluster.pool import Pool
from medoids.cluster.shard import GUESTS
from medoids.distances import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads
from medoids.paired.lanes import Level
from medoids.paired.levels import Levels
from medoids.paired.moments import SUMS, Moments, State
from medoids.paired.search import LOYAL, PairedArms, Pivot

__all__ = ["FewArms", "Levelled", "ShardedArms"]

# Arms that are sent to the shards at most.
_MOST = GUESTS // 4


class Levelled(Levels):
    """Levels without distances, which are elsewhere."""

    def __init__(self, n: int, spans: list[slice]) -> None:
        self.n = n
        self.levels = [Level(span, None, np.zeros((0, 0, 0))) for span in spans]
        self.kind, self.step, self.everyone = np.dtype(np.float64), 1.0, np.zeros(0, dtype=np.intp)

    def price(self, l: int, arms: Rows) -> float:
        """Another trip takes longer than what a look saves."""
        return np.inf


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
        assert moments.removals is not None
        self._changes, self._removals = moments.own, moments.removals
        for name in SUMS:
            setattr(self.moments, name, getattr(moments, name))

    def learn(self, least: float, best: int) -> None:
        """Take over the lowest mean that is known, and whose it is."""
        self._least, self._best = least, best

    def rows(self) -> Rows:
        """Return the rows of X of the arms that are left."""
        return self._rows_of(self.left)

    def _rows_of(self, arms: Rows) -> Rows:
        return self.numbers[np.searchsorted(self._everyone, arms)]

    def _guest_of(self, arm: int) -> int:
        return int(self._guests.of(self._rows_of(np.array([arm])))[0])

    def _floor(self, at: Rows | slice = slice(None)) -> Float64s:
        floor: Float64s = self._changes[np.searchsorted(self._everyone, self.left[at])] / np.sqrt(self._levels.n)
        return floor

    def look(self) -> None:
        guests, pivot = self._guests.of(self.rows()), self._pivot
        if pivot is not None:
            self._sum_up(pivot)
        self._l += 1
        known = None if pivot is None else (self._guest_of(pivot.arm), pivot.face)
        # The squares against the pivot come along if all levels before have met it: mostly it stays.
        along = pivot is not None and 0 < self._met == self._l
        m = self.moments
        for part, changes, squares in self._pool.ask("sums", guests, self._l, self.state.swaps, known, along):
            for name in SUMS:
                setattr(m, name, getattr(m, name) + getattr(part, name))
            self._removals = self._removals + part.removals
            if changes is not None:
                self._sums = self._sums + changes
            if squares is not None:
                self._V, self._U = self._V + squares[0], self._U + squares[1]
        self._summed, self._met = self._l + 1, self._met + along
        self.t = self._levels[self._l].span.stop

    def _copy(self, arms: Rows) -> None:
        pass  # there is nothing here to copy

    def _know(self, arm: int, face: int) -> Pivot:
        answers = self._pool.ask("known", self._guest_of(arm), face, self.state.swaps, self._l + 1)
        return Pivot(arm, face, sum(total for total, _ in answers) / self._levels.n, sum(sums for _, sums in answers))

    def _sum_up(self, pivot: Pivot) -> None:
        if self._summed == 0:  # what came with the answer that made it known
            self._sums, self._summed = pivot.changes, self._l + 1

    def _add_squares(self, pivot: Pivot, levels: Iterable[int], arms: Rows, V: Float64s, U: Floats) -> None:
        levels = list(levels)
        if levels:
            guests = self._guests.of(self._rows_of(arms))
            face = self._guest_of(pivot.arm), pivot.face
            for part_V, part_U in self._pool.ask("squares", guests, face, levels, self.state.swaps):
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
        self._pivot: Meet | None = None
        # The lowest mean that is known, and whose it is.
        self._least, self._best = (0.0 if state.swaps else np.inf), -1
        self._leads: list[Lead] = []
        self._removals = np.zeros((3, state.k if state.swaps else 0))
        self._next: list[References] = pool.ask("references", 0, sent == 0)
        references = self._references(0)
        if references.removal is not None:
            self.state.removal = references.removal / levels.n
        self._leads = pool.ask("begin", references, state.swaps)
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
        self._leads = self._pool.ask("look", self._l, self._references(self._l))

    def _references(self, l: int) -> References:
        """Return the references of a level; with their rows, if the shards have not seen them."""
        parts, new = self._next, l >= self.sent
        if len(parts) < len(self._leads):  # some shard did not send its own along
            parts = self._pool.ask("references", l, new)
        self.sent = max(self.sent, l + 1)
        found = References.together(parts)
        seen = State(found.d1, found.d2, found.slot, found.w, self.state.k, self.state.swaps)
        self._removals = self._removals + seen.removal_sums(slice(0, len(found.d1)))
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
        moments = Partial(*(joined(name) for name in (*SUMS, "own")))
        moments.removals = self._removals
        places = self._guests, self._levels, self.state, self._threads, self._noise
        few = FewArms(self._pool, *places, positions[at], copies.numbers, moments, self._l)
        few.learn(self._least, self._best)
        return few

    def drop(self, bounds: Paired) -> None:
        """Forget the arms that the bounds rule out: `PairedArms.drop`, with the arms elsewhere."""
        if self.few is not None:
            self.few.drop(bounds)
            return
        width = bounds.width(self.t)
        best = min(self._leads, key=lambda lead: (lead.mean, lead.position))
        self._slack = self._noise * max(self.state.scale, abs(best.mean))
        if self.state.swaps and best.mean >= 0:
            self._order(width)
            return
        pivot = self._pivot or self._take(best)
        answers = self._order(width, pivot)
        if self._count == 0:
            return
        leader = min(answers, key=lambda left: (left.lead.mean, left.lead.position))
        met = any(left.met for left in answers)
        at_best = leader.lead.mean - (width * leader.gap if met else 0.0) + self._slack
        if (leader.lead.position, leader.lead.face) != (pivot.arm, pivot.face) and self._gains(at_best):
            pivot = self._take(leader.lead)
            self._order(width, pivot if met else None)

    def _gains(self, least: float) -> bool:
        """Tell whether markedly fewer arms would stay if a mean as low as this were known."""
        reaching: int = sum(self._pool.ask("reaching", least))
        return self._count > LOYAL * reaching

    def _take(self, lead: Lead) -> Meet:
        """Find out what a leader does to all references, and make it the pivot."""
        guest = int(self._guests.invite(np.array([lead.number]))[0])
        answers = self._pool.ask("known", guest, lead.face, self.state.swaps, 0)
        pivot = self._pivot = Meet(lead.position, lead.face, sum(total for total, _ in answers) / self._levels.n, guest)
        if pivot.mean < self._least:
            self._least, self._best = pivot.mean, lead.position
        return pivot

    def _order(self, width: float, meet: Meet | None = None) -> list[Left]:
        """Have the shards drop arms, beside a pivot if there is one to meet."""
        order = Drop(self._least, self._best, width, self._slack, meet)
        if self.ahead:
            span = self._levels[self._l + 1].span
            order.ahead, order.fresh = self._l + 1, self._l + 1 >= self.sent
            order.share = min(_MOST, span.stop - span.start) / len(self._leads)
        answers: list[Left] = self._pool.ask("drop", order)
        self._count = sum(left.count for left in answers)
        self._next = [left.ahead for left in answers if left.ahead is not None]
        return answers
