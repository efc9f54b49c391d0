"""Edit distances of strings and of sequences of tokens, by rapidfuzz.

A sequence of tokens becomes a string whose characters stand for the tokens: distances only ask which are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index, by_lots
from medoids.distances.vocabulary import Vocabulary
from medoids.engine.arrays import Float64s, Rows

__all__ = ["STRING_METRICS", "Strings"]

# name -> (module of rapidfuzz.distance, formula)
STRING_METRICS: dict[str, tuple[str, str]] = {
    "levenshtein": ("Levenshtein", "fewest insertions, deletions and substitutions"),
    "osa": ("OSA", "levenshtein with swaps of neighbours, no part edited twice"),
    "damerau_levenshtein": ("DamerauLevenshtein", "levenshtein with swaps of neighbours"),
    "indel": ("Indel", "fewest insertions and deletions"),
    "lcs": ("LCSseq", "longer length - longest common subsequence"),
    "hamming": ("Hamming", "number of places that differ"),
    "jaro": ("Jaro", "1 - Jaro similarity"),
    "jaro_winkler": ("JaroWinkler", "1 - Jaro-Winkler similarity: a common prefix counts more"),
}
# Fractions in any case.
_FRACTIONS = ("jaro", "jaro_winkler")
# Numbers that are no characters, and the last that is one.
_SURROGATES, _LAST = range(0xD800, 0xE000), 0x10FFFF
# Of a character pair: algorithms over 64-bit words take a fraction of a nanosecond, the others go cell by cell.
_BITS, _CELL = 0.05, 2.0


class Strings(Dissimilarity):
    """Strings, or sequences of hashable tokens, under a metric of `STRING_METRICS`.

    Counts come in the smallest type of integer that holds them: a matrix of words takes a byte a distance.

    Parameters
    ----------
    texts : sequence of str, or of sequences of hashable tokens
    metric : str
        A name, ``normalized_`` before it or not.
    parameters : dict
        rapidfuzz's own, such as ``weights`` of levenshtein.
    """

    exact = True
    threaded = True

    def __init__(self, texts: Any, metric: str, parameters: dict[str, Any]) -> None:
        self._metric, self._parameters = metric, parameters
        name = metric.removeprefix("normalized_")
        self._normalized = metric != name
        self._name = name
        _scorer(name, self._normalized)  # so that a missing package is known at once
        self._words = None if all(type(text) is str for text in texts) else Vocabulary()
        self._texts = _as_objects(texts if self._words is None else _encode(texts, self._words))
        self.n = len(self._texts)
        lengths = np.array([len(text) for text in texts])
        self._length = int(lengths[0]) if name == "hamming" else None
        if self._length is not None and (lengths != self._length).any():
            row = int(np.argmax(lengths != self._length))
            raise ValueError(
                f"metric={metric!r} takes strings of one length, but row 0 of X has {self._length} and row {row} has "
                f"{lengths[row]} characters; pad them, or use metric='levenshtein'"
            )
        weights = parameters.get("weights", (1, 1, 1))
        self.symmetric = weights[0] == weights[1]
        self._suit(int(lengths.max()), float(lengths.mean()))

    def _suit(self, longest: int, mean: float) -> None:
        """Choose type and cost by the largest and the mean length."""
        weights, name = self._parameters.get("weights", (1, 1, 1)), self._name
        self.dtype = np.dtype(np.float64)
        if not self._normalized and name not in _FRACTIONS:
            self.dtype = np.min_scalar_type(2 * longest * max(weights))
        by_cells = name == "damerau_levenshtein" or tuple(weights) not in ((1, 1, 1), (1, 1, 2))
        self.cost = 15.0 + mean * (mean * _CELL if by_cells else 1 + mean * _BITS)

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Strings:
        other = copy(self)
        other._words = Vocabulary() if facts.tokens else None
        other._texts = np.full(len(objects), "", dtype=object)
        other.n = len(objects)
        other.put(slice(0, len(objects)), objects, numbers)
        other._suit(facts.longest, facts.length)
        return other

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._texts[rows] = _as_objects(objects if self._words is None else _encode(objects, self._words))

    def block(self, rows: Index, columns: Index) -> Floats:
        return self._fill(self._texts[rows], self._texts[columns], self.dtype)

    def _fill(self, texts: npt.NDArray[Any], others: npt.NDArray[Any], dtype: np.dtype[Any]) -> Floats:
        from rapidfuzz import process

        # Lists of their own: for one and the same list rapidfuzz computes half, by a slower way.
        block: Floats = process.cdist(
            texts.tolist(),
            others.tolist(),
            scorer=_scorer(self._name, self._normalized),
            scorer_kwargs=self._parameters or None,
            dtype=dtype,
            workers=1,
        )
        return block

    def take(self, rows: Index) -> Strings:
        part = copy(self)
        part._texts = self._texts[rows]
        part.n = len(part._texts)
        return part

    def cross(self, queries: Any) -> Float64s:
        if self._length is not None:
            for row, query in enumerate(queries):
                if len(query) != self._length:
                    raise ValueError(
                        f"metric={self._metric!r} takes strings of one length, but row 0 of the medoids has "
                        f"{self._length} and query {row} of X has {len(query)} characters"
                    )
        mine = self._texts
        if self._words is not None:
            queries = _encode(queries, self._words.copy())
        elif not all(type(query) is str for query in queries):
            words = Vocabulary()
            mine, queries = _as_objects(_encode(self._texts, words)), _encode(queries, words)
        others = _as_objects(queries)
        return by_lots(lambda j: self._fill(mine, others[j], np.dtype(np.float64)), self.n, len(others), self.cost)


@cache
def _scorer(name: str, normalized: bool) -> Callable[..., Any]:
    try:
        from rapidfuzz import distance
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f'metric={name!r} on strings needs the package rapidfuzz: pip install "medoids[strings]"'
        ) from None
    module = getattr(distance, STRING_METRICS[name][0])
    scorer: Callable[..., Any] = module.normalized_distance if normalized else module.distance
    return scorer


def _as_objects(texts: Any) -> npt.NDArray[Any]:
    out = np.empty(len(texts), dtype=object)
    for row, text in enumerate(texts):  # at once, NumPy would take lists for a table
        out[row] = text
    return out


def _encode(texts: Any, words: Vocabulary) -> list[Any]:
    """Return a string for each sequence of tokens; a list of numbers where a token's is beyond the last character."""
    out: list[Any] = []
    for text in texts:
        codes = [w if w < _SURROGATES.start else w + len(_SURROGATES) for w in words.numbers(text)]
        out.append("".join(map(chr, codes)) if max(codes, default=0) <= _LAST else codes)
    return out
