"""Looking for a step: which arm is best, or which arms surely help. Written once, for one machine and for many.

Arms are judged level by level. An arm stays while the lower bound of one of its faces is below the *bar*: the lowest
mean change that is known exactly, and 0 for "no swap". Known exactly are the arms with the lowest means, for which the
distances to all points are computed; they also serve as *pivots*. What the sample shows of a pivot beside what is known
of it tells by how much the sample errs, and a regression takes this back from the arms around it (``kernels.py``).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from zlib import compress, decompress

import numpy as np

from medoids.engine.arrays import Float64s, Rows
from medoids.paired.order import Strata
from medoids.paired.places import Places
from medoids.paired.shard import REPORTED, Bar, Left
from medoids.paired.view import Pivot, View

__all__ = ["Found", "Search", "ShardLost", "widths_of"]

# Width of bounds, in standard errors, and of the last search, which says that no swap helps: a step that errs elsewhere
# is a detour, but a swap that the last search overlooks is lost, with all that would have followed.
_WIDTH, _LAST_WIDTH = 3.5, 4.0


def widths_of(delta: float | None) -> tuple[float, ...]:
    """Return the widths of bounds, for steps and, by default, for the last search."""
    return (_WIDTH, _LAST_WIDTH) if delta is None else (float(np.sqrt(np.log(1 / delta))),)


class ShardLost(Exception):
    """A shard is gone, with what it knew."""


@dataclass
class Found:
    """What a search found."""

    rows: Rows  # arms that the precision of blocks cannot tell from the best one, or those that help; empty if none
    references: int  # of the last level, for the trace
    candidates: int  # arms that were left there


@dataclass
class _Medoids:
    """The medoids that a search starts from."""

    slots: int
    fixed: list[int]
    swaps: bool
    scale: float  # mean loss, of which rounding errors are a share
    taken: frozenset[int] = field(default_factory=frozenset)


class Search:
    """Searches over all arms.

    Parameters
    ----------
    shards : Places
    strata : Strata
    noise : float
        Relative error of means in the precision of blocks.
    tol : float
        Changes that are smaller than this share of the loss do not matter.
    """

    def __init__(self, shards: Places, strata: Strata, noise: float, tol: float = 0.0) -> None:
        self.shards, self._strata, self._noise, self._tol = shards, strata, noise, tol
        self._known: dict[int, float] = {}  # candidates, and the lowest mean change of their faces
        self._faces: dict[int, Float64s] = {}  # the mean changes of all
        self._rejected: set[int] = set()
        self._depth = 0
        shards.add_level(strata.levels[0], strata.positions)

    def begin(self, medoids: list[int], fixed: list[int], scale: float, *, swaps: bool) -> None:
        """Start from medoids, of which the shards know the distances already."""
        self._at = _Medoids(len(medoids), fixed, swaps, scale, frozenset(medoids))
        rows = [i for i in self._known if i not in self._at.taken]
        self._known, self._faces, self._rejected = {}, {}, set()
        self._learn(rows)

    def _learn(self, rows: list[int]) -> None:
        """Compute the mean changes that candidates bring."""
        if not rows:
            return
        at = self._at
        sums = np.sum(self.shards.ask("learn", np.array(rows), at.slots), axis=0)
        means = sums[:, :-1] + sums[:, -1:] if at.swaps else sums[:, -1:]
        if at.swaps:
            means[:, at.fixed] = np.inf
        self._known.update(zip(rows, means.min(axis=1).tolist(), strict=True))
        self._faces.update(zip(rows, means, strict=True))

    def _view(self, depth: int) -> View:
        if depth == len(self._strata.levels):
            self.shards.add_level(self._strata.deepen(), self._strata.positions)
        level, at = self._strata.levels[depth], self._at
        d1, d2, slot = self.shards.states(level.columns)
        removal, fixed = np.zeros(1), np.zeros(1, dtype=bool)
        if at.swaps:
            removal, fixed = self.shards.removal(at.slots), np.zeros(at.slots, dtype=bool)
            fixed[at.fixed] = True
        else:
            d2, slot = d1, np.zeros(len(d1), dtype=np.intp)
        share = level.t / self.shards.n  # points that the ends of strata cut may be drawn twice: about share^2 / 2
        return View(depth, level, d1, d2, slot, removal, fixed, at.swaps, max(0.0, 1 - share + share**2 / 2))

    @property
    def _pool(self) -> int:
        """Candidates that an eager search adds at a time, and that are kept where there is no room for all."""
        return min(REPORTED, self.shards.most_known) // 2

    @property
    def _least(self) -> float:
        """The lowest mean change that is known."""
        return min([0.0 if self._at.swaps else np.inf, *self._known.values()])

    def _limit(self, least: float) -> float:
        """Arms whose bounds are above it do not matter."""
        size = max(self._at.scale, abs(least)) if np.isfinite(least) else self._at.scale
        return least + self._noise * size - self._tol * self._at.scale

    def find(
        self,
        width: float,
        *,
        report: Callable[[int, float], None] = lambda left, lowest: None,
        eager: bool = False,
        further: bool = False,
    ) -> Found:
        """Look for the best arm, or for arms that help.

        Parameters
        ----------
        width : float
            Of bounds, in standard errors.
        report : callable
            Called, as arms are dropped, with the number of those that are not and the lowest change that any may bring.
        eager : bool
            End as soon as some arms are known to help.
        further : bool
            Look only at the arms that the last search had left, on the level that it had reached.
        """
        view = self._view(self._depth if further else 0)
        bar = Bar(self._limit(0.0 if eager else self._least), width)
        pivots = self._pivots(view) if further else []
        left = self._ask("judge", view, bar, pivots, afresh=not further)
        report(left.count, min(bar.value, left.lowest))
        while left.count:
            rows = self._choose(left, view, eager)
            self._learn(rows)
            bar = Bar(self._limit(0.0 if eager else self._least), width)
            if eager and len(self.helpful(surely=True)):
                break
            left = self._ask("drop", bar.value, np.array([*self._known, *self._rejected], dtype=np.intp))
            report(left.count + len(self.helpful()), min(bar.value, self._least, left.lowest))
            if not left.count:
                break
            if self._ends(left, view):
                continue
            if eager:
                self.forget(self.shards.most_known)
            view = self._view(view.depth + 1)
            left = self._ask("judge", view, bar, self._pivots(view), afresh=False)
        self._depth = view.depth
        return Found(self.helpful() if eager else self._best(), len(view.level.columns), max(1, left.count))

    def helpful(self, *, surely: bool = False) -> Rows:
        """Return candidates that lower the loss, or may do so by what blocks cannot tell; the best first."""
        limit = self._limit(0.0) - (2 * self._noise * self._at.scale if surely else 0.0)
        return np.array([i for i in self._ranked() if self._known[i] < limit], dtype=np.intp)

    def _ranked(self) -> list[int]:
        """Return the candidates, the best first."""
        return sorted(self._known, key=lambda i: (self._known[i], i))

    def describe(self, further: bool) -> tuple[list[int], int, str]:
        """Return what a search is in the middle of: the candidates, the level, and the arms that are left."""
        left = np.zeros(0, dtype=np.intp)
        if further:
            left = np.sort(np.concatenate(self.shards.ask("rows_left")))
        packed = b64encode(compress(np.diff(left, prepend=0).astype("<u4").tobytes())).decode() if len(left) else ""
        return sorted(self._known), self._depth, packed

    def restore(self, known: list[int], depth: int, packed: str) -> bool:
        """Go back to where `describe` was called, before `begin`."""
        self._known, self._depth = dict.fromkeys(known, 0.0), depth
        steps = np.frombuffer(decompress(b64decode(packed)) if packed else b"", dtype="<u4")
        self.shards.ask("restore_left", np.cumsum(steps, dtype=np.intp))
        while depth >= len(self._strata.levels):
            self.shards.add_level(self._strata.deepen(), self._strata.positions)
        return bool(packed)

    def reject(self, row: int) -> None:
        """Take note that a candidate does not lower the loss: exact distances say so."""
        del self._known[row]
        self._rejected.add(row)

    def _best(self) -> Rows:
        """Return the candidates that may be the best, by row."""
        limit = self._least + self._noise * max(self._at.scale, abs(self._least))
        found = np.array(sorted(i for i, lowest in self._known.items() if lowest <= limit), dtype=np.intp)
        self.forget(self._pool if self.shards.cheap else self.shards.most_known)
        return found

    def forget(self, most: int) -> None:
        """Keep the best candidates only, if there are too many: in the next step, their changes are computed again."""
        if len(self._known) > most:
            kept = self._ranked()[: self._pool]
            self._known = {i: self._known[i] for i in kept}
            self._faces = {i: self._faces[i] for i in kept}
            self.shards.ask("forget", np.array(kept, dtype=np.intp))

    def _ask(self, name: str, *arguments: Any, **options: Any) -> Left:
        return Left.joined(self.shards.ask(name, *arguments, **options))

    def _ends(self, left: Left, view: View) -> bool:
        """Whether arms are compared on all points: if few are left, or the next level would have most of all points."""
        few = 1 if self._strata.gently else min(REPORTED, self.shards.most_known)
        t, n = view.level.t, self.shards.n
        return not t or 2 * t >= n or left.count <= (few if 4 * t >= n or self.shards.cheap else 1)

    def _choose(self, left: Left, view: View, eager: bool) -> list[int]:
        """Choose arms whose changes are computed for all points."""
        if self._ends(left, view):
            return self._new(left.rows)
        count = self._pool if eager else 1
        rows, means = np.append(left.rows[:1], left.best_rows), np.append(left.means[:1], left.best_means)
        order = np.argsort(means, kind="stable")
        order = order[means[order] < (0.0 if eager else self._least)]
        return self._new(rows[order])[:count]

    def _new(self, rows: Rows) -> list[int]:
        return [i for i in dict.fromkeys(rows.tolist()) if i not in self._known and i not in self._rejected]

    def _pivots(self, view: View) -> list[Pivot]:
        """Return the best candidate as a pivot, or all that are known where that saves costly distances."""
        most = REPORTED if self.shards.costly else 1
        best = self._ranked()[:most]
        columns, kind = view.level.columns, self.shards.kind
        if not best:
            return []
        distances = self.shards.to_references(best, columns)
        return [view.pivot(i, d, self._faces[i], kind) for i, d in zip(best, distances, strict=True)]
