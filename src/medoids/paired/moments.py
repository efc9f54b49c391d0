"""Moments of all changes that arms would bring, and the references' side of them: the state.

Names as in ``arms.py``: b is the change of a reference's loss if its own medoid stays, c what is added if it leaves.
For an arm i and its faces j (in BUILD there is one face and no c), over the references looked at so far,

    S_i = sum b        T_ij = sum over the references of j of c                  the means: (S_i + T_ij) / t
    Q_i = sum b^2      R_ij = sum over the references of j of (b + c)^2 - b^2    the squares, against "no swap"
                       P_ij = sum over the references of j of r (b + c)          the products with what removal costs

where r = d2 - d1 is what a reference pays if its medoid is removed and none comes; each at O(1) a distance for all k
faces. Those of level 0, which every arm sees, are carried: after a step only the references whose (d1, d2, nearest)
changed are taken out with their old state and put in with the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.core.assignment import Assignment
from medoids.distances import Floats
from medoids.engine.arrays import Float64s, Rows
from medoids.engine.threads import Threads, spans
from medoids.paired.lanes import Order, References, Tile, Work
from medoids.paired.levels import Levels

__all__ = ["SUMS", "Moments", "State"]

# Names of the moments.
SUMS = ("S", "Q", "T", "R", "P")
# Arms that are moved at a time.
_LOT = 1 << 16
# Numbers of a kind that are worth a second thread when they are moved.
_MUCH = 1 << 15


@dataclass
class State:
    """The references' side, numbered by the permutation: distances to the two nearest medoids, slot, weight."""

    d1: Float64s
    d2: Float64s
    slot: Rows
    w: Float64s
    k: int  # slots that are in use
    swaps: bool
    fixed: Sequence[int] = ()  # slots that no swap takes
    removal: Float64s = field(default_factory=lambda: np.zeros(0))  # means over all references of r, of each slot's
    _levels: dict[tuple[int, int, float], tuple[Order, Floats, Floats, Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, assignment: Assignment, order: Rows, weights: Float64s, *, swaps: bool) -> State:
        """Return the state of references, by their rows, with weights of these rows that may be shares of theirs."""
        # One number, where all weigh the same.
        w = np.broadcast_to(weights[0].copy(), len(order)) if (weights == weights[:1]).all() else weights[order]
        state = cls(
            assignment.d1[order],
            assignment.d2[order],
            assignment.nearest[order],
            w,
            len(assignment.medoids),
            swaps,
            tuple(assignment.fixed),
        )
        state.removal = state.removal_sums(slice(0, len(order)))[0] / len(order)
        return state

    @classmethod
    def of_sample(cls, sample: Assignment, *, swaps: bool) -> State:
        """Return the state of the first references alone."""
        return cls.of(sample, np.arange(len(sample.weights)), sample.weights, swaps=swaps)

    def first(self, count: int) -> State:
        """Return a copy of the state of the first references alone."""
        d1, d2, w = self.d1[:count].copy(), self.d2[:count].copy(), self.w[:count].copy()
        return replace(self, d1=d1, d2=d2, slot=self.slot[:count].copy(), w=w, _levels={})

    def at(self, references: Rows | slice, levels: Levels) -> tuple[Rows, Floats, Floats, Floats]:
        """Return slot, d1, d2 and w of some references, in the precision and the unit of stored distances."""
        d1, d2 = self.d1[references], self.d2[references]
        if levels.step != 1.0:
            # Rounded as distances are: a copy of a medoid is still no nearer than the medoid.
            d1, d2 = np.rint(d1 / levels.step), np.rint(d2 / levels.step)
        w = self.w[references].astype(levels.kind)
        return self.slot[references], d1.astype(levels.kind), d2.astype(levels.kind), w

    def of_level(self, l: int, levels: Levels) -> tuple[Order, Floats, Floats, Floats]:
        """Return d1, d2 and w of the references of a level as `at` does, and in which order kernels read them."""
        span = levels[l].span
        key = span.start, span.stop, levels.step
        if key not in self._levels:
            slot, d1, d2, w = self.at(span, levels)
            self._levels[key] = Order(slot if self.swaps else None), d1, d2, w
        return self._levels[key]

    def limit(self, references: Rows | slice) -> Float64s:
        """Return for some references the distance from which on an arm changes nothing."""
        return (self.d2 if self.swaps else self.d1)[references]

    def own_change(self) -> Float64s:
        """Return what each point's own loss does if it becomes a medoid, whose distance to itself is 0."""
        if not np.isfinite(self.d1[0]):
            return np.zeros(len(self.d1))
        return self.w * self.d1

    @cached_property
    def scale(self) -> float:
        """The mean loss, of which rounding errors are a share; 0 without a medoid."""
        return float(np.abs(self.w @ self.d1)) / len(self.w) if np.isfinite(self.d1[0]) else 0.0

    def typical(self) -> float:
        """Return the mean distance to the nearest medoid, of the first thousand references; infinite without one."""
        return float(np.abs(self.d1[:1000]).mean())

    def removal_sums(self, span: slice) -> Float64s:
        """Return the sums of r and of its squares over a run of references, and their count, of each slot.

        Nothing in BUILD.
        """
        if not self.swaps:
            return np.zeros((3, 0))
        r, slot = self._removals[span], self.slot[span]
        return np.stack([np.bincount(slot, x, minlength=self.k) for x in (r, r * r, np.ones(len(r)))])

    def pivot_sums(self, span: slice, changes: Float64s) -> Float64s:
        """Return the sums of some changes of a run of references, of their squares and of their products with r.

        And, before the products, how many are not 0.
        """
        sums = np.array([changes.sum(), changes @ changes, np.count_nonzero(changes)])
        if not self.swaps:
            return sums
        products = np.bincount(self.slot[span], self._removals[span] * changes, minlength=self.k)
        return np.concatenate([sums, products])

    @cached_property
    def _removals(self) -> Float64s:
        """What a reference pays if its medoid is removed: r, with its weight."""
        r: Float64s = self.w * _removal(self.d1, self.d2)
        return r

    def changes(self, distances: Float64s, span: slice, face: int) -> Float64s:
        """Return the changes that an arm's face brings to a run of references."""
        from medoids.exact.kernels import changes_of

        d1, w = self.d1[span], self.w[span]
        if not np.isfinite(d1[0]):
            return w * distances
        changes = np.empty(len(d1))
        changes_of(distances, d1, self.d2[span], self.slot[span], w, face if self.swaps else -1, changes)
        return changes


class Moments:
    """S, Q, T, R, P for some arms.

    Parameters
    ----------
    count : int
        Arms.
    faces : int
        Slots; 0 in BUILD, where S and Q are all.
    kind : dtype, optional
        Of T, R and P, which are k times as large as S and Q: float32 where the distances are.
    shared : bool
        Whether somebody else needs them as they are.
    """

    def __init__(self, count: int, faces: int, kind: npt.DTypeLike = np.float64, *, shared: bool = False) -> None:
        self.shared = shared
        self.S, self.Q = np.zeros(count), np.zeros(count)
        self.T, self.R, self.P = (np.zeros((count, faces), kind) for _ in range(3))

    def all(self) -> tuple[Float64s, Float64s, Floats, Floats, Floats]:
        """Return S, Q, T, R and P."""
        return self.S, self.Q, self.T, self.R, self.P

    def take(self, at: Rows, threads: Threads) -> Moments:
        """Return the moments of some arms: a copy if these are ``shared``, or else themselves, cut down."""
        part = Moments(0, 0) if self.shared else self

        def work(name: str) -> None:
            values = getattr(self, name)
            setattr(part, name, values.take(at, axis=0) if self.shared else _cut_down(values, at))

        # The large ones first; threads only where there is work for them.
        threads.map(work, reversed(SUMS), threaded=len(at) * max(1, self.T.shape[1]) > _MUCH)
        return part

    def adder(self, levels: Levels, state: State, l: int) -> Work:
        """Return what adds tiles of a level."""
        order, d1, d2, w = state.of_level(l, levels)
        return self._adder(levels, state.swaps, order, d1, d2, w, w**2)

    def changer(self, levels: Levels, state: State, old: State, references: Rows) -> Work:
        """Return what adds tiles of some references, by their numbers, and takes out their old state."""
        slot, d1, d2, w = (
            _interleave(x, y) for x, y in zip(old.at(references, levels), state.at(references, levels), strict=True)
        )
        sign = np.tile(np.array([-1, 1], dtype=w.dtype), len(references))
        order = Order(slot if state.swaps else None, 2)
        return self._adder(levels, state.swaps, order, d1, d2, sign * w, sign * w**2)

    def _adder(self, levels: Levels, swaps: bool, order: Order, d1: Floats, d2: Floats, w: Floats, w2: Floats) -> Work:
        from medoids.paired.lane_kernels import add_additions, add_swaps

        known = References(order, d1, d2, w, w2, w2 * _removal(d1, d2)) if swaps else References(order, d1, w, w2)

        def add(tile: Tile) -> None:
            where = tile.values, tile.groups, tile.at, levels.step, *known.of(tile)
            if swaps:
                add_swaps(*where, *self.all())
            else:
                add_additions(*where, self.S, self.Q)

        return add


def _cut_down(values: npt.NDArray[Any], at: Rows) -> npt.NDArray[Any]:
    """Move some rows, by ascending numbers, to the front: without a copy of many, and nothing is kept for few."""
    if 4 * len(at) < len(values):
        return values.take(at, axis=0)
    for lot in spans(len(at), _LOT):
        values[lot] = values.take(at[lot], axis=0)
    return values[: len(at)]


def _removal(d1: npt.NDArray[Any], d2: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what removing the nearest medoid costs; 0 where there is no other, which tells nothing."""
    return np.where(np.isfinite(d2), d2 - np.where(np.isfinite(d2), d1, 0), 0).astype(d1.dtype)


def _interleave(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.stack([x, y], axis=1).ravel()
