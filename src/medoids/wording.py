"""Parts of sentences that several messages need."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["counted", "unknown"]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "row"), counted(0, "row"), counted(1200, "row")
    ('1 row', '0 rows', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unknown(word: str, known: Iterable[str]) -> str:
    """Return what to say after a word that is not among those known.

    >>> unknown("euclidian", ["euclidean", "cosine"])
    "is unknown; did you mean 'euclidean'? It must be one of cosine, euclidean"
    >>> unknown("xyz", ["euclidean", "cosine"])
    'is unknown; it must be one of cosine, euclidean'
    """
    names = sorted(known)
    near = get_close_matches(word.lower(), names, n=1)
    question = f"did you mean {near[0]!r}? It" if near else "it"
    return f"is unknown; {question} must be one of {', '.join(names)}"
