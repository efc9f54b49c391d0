"""Edit distances of strings and of sequences of tokens, by rapidfuzz.

A sequence of tokens becomes a string whose characters stand for the tokens: only their equality matters.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.distances.encoded import Encoded, Vocabulary
from medoids.distances.objects import digests_of
from medoids.distances.protocol import Facts, Floats
from medoids.engine.arrays import Digests, Float64s, Rows
from medoids.engine.budget import COSTS

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
# Those of which the triangle inequality is known; normalized ones break it.
_TRIANGLE = ("levenshtein", "damerau_levenshtein", "indel", "hamming")
# Fractions, normalized or not.
_FRACTIONS = ("jaro", "jaro_winkler")
# Code points that are not characters, and the last one that is.
_SURROGATES, _LAST_CHARACTER = range(0xD800, 0xE000), 0x10FFFF


class Strings(Encoded):
    """Strings, or sequences of hashable tokens, under a metric of `STRING_METRICS`.

    Counts come in the smallest type of integer that holds them: a matrix of words takes a byte a distance.

    Parameters
    ----------
    metric : str
        A name, ``normalized_`` before it or not.
    texts : sequence of str, or of sequences of hashable tokens
    parameters : dict
        rapidfuzz's own, such as ``weights`` of levenshtein.
    """

    def __init__(self, metric: str, texts: Any, parameters: dict[str, Any]) -> None:
        self._metric, self._parameters = metric, _check_parameters(parameters)
        self._name = metric.removeprefix("normalized_")
        self._normalized = metric != self._name
        _scorer(self._name, self._normalized)  # so that a missing package is reported at once
        self._words = None if all(type(text) is str for text in texts) else Vocabulary()
        self._store(self._as_codes(texts, self._words))
        lengths = np.array([len(text) for text in texts])
        self._length = int(lengths[0]) if self._name == "hamming" else None
        if self._length is not None and (lengths != self._length).any():
            row = int(np.argmax(lengths != self._length))
            raise ValueError(
                f"metric={metric!r} takes strings of one length, but row 0 of X has {self._length} and row {row} has "
                f"{lengths[row]} characters; pad them, or use metric='levenshtein'"
            )
        self._suit(int(lengths.max()), float(lengths.mean()))

    def _suit(self, longest: int, mean: float) -> None:
        """Choose type and cost by the largest and the mean length."""
        weights = self._parameters.get("weights", (1, 1, 1))
        self.symmetric = weights[0] == weights[1]
        self.triangle = self.symmetric and self._metric in _TRIANGLE
        fraction = self._normalized or self._name in _FRACTIONS
        self.dtype = np.dtype(np.float64) if fraction else np.min_scalar_type(2 * longest * max(weights))
        by_cells = self._name == "damerau_levenshtein" or weights not in ((1, 1, 1), (1, 1, 2))
        self.cost = COSTS["cells"].of(mean**2) if by_cells else COSTS["bits"].of(mean**2) + mean

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Strings:
        other = copy(self)
        other._words = Vocabulary() if facts.tokens else None
        other._store(self._as_codes(objects, other._words))
        other._suit(facts.longest, facts.length)
        return other

    def digests(self, rows: Rows) -> Digests | None:
        # Tokens are numbered as they come, in another order with another worker; empty strings may differ under jaro.
        return None if self._words is not None or self._name in _FRACTIONS else digests_of(self._objects[rows])

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._objects[rows] = self._as_codes(objects, self._words)

    @staticmethod
    def _as_codes(texts: Any, words: Vocabulary | None) -> npt.NDArray[Any]:
        """Return an array of the texts: as they are without words, else of a string for each sequence of tokens."""
        out = np.empty(len(texts), dtype=object)
        for row, text in enumerate(texts):  # all at once, NumPy would take lists for a table
            out[row] = text if words is None else _as_string(text, words)
        return out

    def _encode(self, queries: Any) -> npt.NDArray[Any]:
        return self._as_codes(queries, None if self._words is None else Vocabulary(self._words))

    def _compare(self, objects: Floats, i: Rows, others: Floats, j: Rows) -> Floats:
        from rapidfuzz import process

        # Two lists: given the same list twice, rapidfuzz computes half of the block in a slower way. New texts may be
        # longer than the type of this distance allows for.
        return process.cdist(
            objects[i].tolist(),
            others[j].tolist(),
            scorer=_scorer(self._name, self._normalized),
            scorer_kwargs=self._parameters or None,
            dtype=self.dtype if others is self._objects else np.float64,
            workers=1,
        )

    def cross(self, queries: Any) -> Float64s:
        for row, query in enumerate(queries):
            if self._length is not None and len(query) != self._length:
                raise ValueError(
                    f"metric={self._metric!r} takes strings of one length, but row 0 of the medoids has "
                    f"{self._length} and query {row} of X has {len(query)} characters"
                )
        if self._words is not None or all(type(query) is str for query in queries):
            return super().cross(queries)
        words = Vocabulary()
        mine, others = self._as_codes(self._objects, words), self._as_codes(queries, words)
        return self._across(mine, others, len(others))


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


def _as_string(text: Any, words: Vocabulary) -> Any:
    """Return a string for a sequence of tokens; a list of numbers if one is beyond the last character."""
    codes = [w if w < _SURROGATES.start else w + len(_SURROGATES) for w in words.numbers(text)]
    return "".join(map(chr, codes)) if max(codes, default=0) <= _LAST_CHARACTER else codes


def _check_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    weights = parameters.get("weights", (1, 1, 1))
    three = isinstance(weights, (tuple, list)) and len(weights) == 3
    if not three or not all(isinstance(w, (int, np.integer)) and 0 <= w < 2**15 for w in weights):
        raise ValueError(
            f"metric_params={{'weights': {weights!r}}}: levenshtein takes three whole numbers >= 0, the costs of an "
            "insertion, a deletion and a substitution"
        )
    prefix = parameters.get("prefix_weight", 0.1)
    if not isinstance(prefix, (int, float, np.number)) or not 0 <= prefix <= 0.25:
        raise ValueError(f"metric_params={{'prefix_weight': {prefix!r}}}: jaro_winkler takes a number from 0 to 0.25")
    return {**parameters, "weights": tuple(weights)} if "weights" in parameters else parameters
