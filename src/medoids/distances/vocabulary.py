"""Numbers for hashable things, so that kernels can compare what only Python knows: tokens, labels, members of sets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

__all__ = ["Vocabulary"]


class Vocabulary:
    """Consecutive numbers in the order in which things first appear.

    Equality decides, not the hash: -1 and -2 have the same hash in Python.

    Examples
    --------
    >>> words = Vocabulary()
    >>> words.numbers(["to", "be", "or", "not", "to", "be"])
    [0, 1, 2, 3, 0, 1]
    >>> len(words)
    4
    """

    def __init__(self, known: dict[Hashable, int] | None = None) -> None:
        self._known: dict[Hashable, int] = {} if known is None else known

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self, things: Iterable[Hashable]) -> list[int]:
        """Return the number of each thing; new ones get new numbers."""
        known = self._known
        return [known.setdefault(thing, len(known)) for thing in things]

    def copy(self) -> Vocabulary:
        """Return a vocabulary that may grow without this one: for new data."""
        return Vocabulary(dict(self._known))
