"""Numbers for hashable objects, so that kernels can compare tokens, labels and members of sets."""

from collections.abc import Hashable, Iterable

__all__ = ["Vocabulary"]


class Vocabulary(dict[Hashable, int]):
    """Consecutive numbers in the order in which objects first appear.

    Equality decides, not the hash: -1 and -2 have the same hash in Python. A vocabulary of another one is a copy, which
    may grow without the other: for new data.

    Examples
    --------
    >>> words = Vocabulary()
    >>> words.numbers(["to", "be", "or", "not", "to", "be"])
    [0, 1, 2, 3, 0, 1]
    >>> Vocabulary(words).numbers(["that", "is"]), len(words)
    ([4, 5], 4)
    """

    def numbers(self, objects: Iterable[Hashable]) -> list[int]:
        """Return the number of each object; new ones get new numbers."""
        return [self.setdefault(one, len(self)) for one in objects]
