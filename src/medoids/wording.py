"""Parts of sentences that several messages need."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["abbreviate", "counted", "unknown"]


def abbreviate(number: float) -> str:
    """Write a number in a few characters.

    >>> abbreviate(950), abbreviate(15_000), abbreviate(3_400_000), abbreviate(0.05)
    ('950', '15k', '3.4M', '0.05')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.4g}{letter}"
    return f"{number:.4g}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "row"), counted(0, "row"), counted(1200, "row")
    ('1 row', '0 rows', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unknown(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about a word that is not among the known ones.

    >>> unknown("euclidian", ["euclidean", "cosine"])
    "is unknown; did you mean 'euclidean'? It must be one of cosine, euclidean"
    >>> unknown("xyz", ["euclidean", "cosine"])
    'is unknown; it must be one of cosine, euclidean'
    """
    names = sorted(known)
    near = get_close_matches(word.lower(), names, n=1)
    question = f"did you mean {near[0]!r}? It" if near else "it"
    return f"is unknown; {question} must be one of {', '.join(names)}"
