"""Rows of a table as medoids, with the features that set a cluster apart from the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from medoids.engine.arrays import Float64s
from medoids.reporting.things import Things
from medoids.reporting.wording import escaped, number, percent, shortened
from medoids.result import Clustering

__all__ = ["Columns", "Table"]


# Features on a card, and in the list of all values of a medoid.
_SHOWN, _LISTED = 5, 200
# More categories than this are names.
_CATEGORIES = 1000
# Cells of a table that are looked at in one go.
_CELLS = 4_000_000


@dataclass(frozen=True)
class Columns:
    """A table: numbers as one array, possibly sparse, with NaN where missing; other columns as texts or None."""

    names: list[str]
    numbers: Any
    texts: list[list[str | None]]
    text_names: list[str]

    @classmethod
    def of_array(cls, X: Any, names: Sequence[str] | None) -> Columns:
        return cls([str(n) for n in names] if names is not None else [f"x{f}" for f in range(X.shape[1])], X, [], [])

    @classmethod
    def of_frame(cls, frame: Any) -> Columns:
        """Take a frame of narwhals apart."""
        names, numbers, texts, text_names = [], [], [], []
        for name in frame.columns:
            column = frame[name]
            if column.dtype.is_numeric():
                names.append(str(name))
                values = [np.nan if v is None else float(v) for v in column.to_list()]
                numbers.append(np.array(values, dtype=np.float64))
            else:
                text_names.append(str(name))
                texts.append([None if v is None or v != v else str(v) for v in column.to_list()])
        stacked = np.column_stack(numbers) if numbers else np.empty((len(frame), 0))
        return cls(names, stacked, texts, text_names)

    def value(self, row: int, feature: int) -> str:
        if feature < len(self.names):
            value = self.numbers[row, feature]
            return number(value.item() if hasattr(value, "item") else value)
        text = self.texts[feature - len(self.names)][row]
        return "missing" if text is None else text

    @property
    def all_names(self) -> list[str]:
        return [*self.names, *self.text_names]


@dataclass(frozen=True)
class _Trait:
    feature: int
    score: float  # standard deviations above the mean of all
    words: str


class Table(Things):
    """Rows with named features."""

    noun = "row"
    wide = True

    def __init__(self, clustering: Clustering, columns: Columns) -> None:
        super().__init__(clustering)
        self._columns = columns
        self._traits = self._find_traits()

    def _find_traits(self) -> list[list[_Trait]]:
        """For each cluster the features whose mean lies most standard deviations from that of all rows."""
        labels, k = self.clustering.labels, len(self.clustering.medoid_indices)
        found: list[list[_Trait]] = [[] for _ in range(k)]
        means, scores, overall = _standardised(self._columns.numbers, labels, k)
        for j in range(k):
            for f in np.argsort(-np.abs(scores[j]), kind="stable")[:_SHOWN]:
                words = f"mean {number(means[j, f])} here, {number(overall[f])} in all"
                found[j].append(_Trait(int(f), float(scores[j, f]), words))
        for at, texts in enumerate(self._columns.texts):
            for j, trait in enumerate(_categories(texts, labels, k, len(self._columns.names) + at)):
                found[j] += trait
        return [sorted(traits, key=lambda t: -abs(t.score))[:_SHOWN] for traits in found]

    def line(self, row: int) -> str:
        traits = self._traits[self.clustering.labels[row]][:3]
        names = self._columns.all_names
        pairs = [f"{names[t.feature]} {self._columns.value(row, t.feature)}" for t in traits]
        return shortened(", ".join(pairs), 120)

    def card(self, cluster: int) -> str:
        row, names = int(self.clustering.medoid_indices[cluster]), self._columns.all_names
        largest = max((abs(t.score) for t in self._traits[cluster]), default=1.0) or 1.0
        lines = []
        for t in self._traits[cluster]:
            width = 50 * min(abs(t.score) / max(largest, 1.0), 1)
            left = 50 if t.score >= 0 else 50 - width
            more = "above" if t.score >= 0 else "below"
            words = escaped(f"{t.words}: {abs(t.score):.1f} standard deviations {more}")
            lines.append(
                f'<tr title="{words}"><th scope="row">{escaped(names[t.feature])}</th>'
                f"<td>{escaped(shortened(self._columns.value(row, t.feature), 40))}</td>"
                f'<td class="diverging" aria-label="{words}">'
                f'<i style="left:{left:.1f}%;width:{width:.1f}%"></i></td></tr>'
            )
        traits = (
            '<table class="traits"><caption>sets it apart</caption><thead><tr><th>feature</th><th>medoid</th>'
            f"<th class='centre'>below all · above</th></tr></thead><tbody>{''.join(lines)}</tbody></table>"
        )
        if len(names) > _LISTED:
            return traits
        cells = (
            f"<tr><th scope='row'>{escaped(name)}</th><td>{escaped(self._columns.value(row, f))}</td></tr>"
            for f, name in enumerate(names)
        )
        every = f"<table class='values'>{''.join(cells)}</table>"
        return f"{traits}<details><summary>all {len(names)} values</summary>{every}</details>"


def _standardised(X: Any, labels: Any, k: int) -> tuple[Float64s, Float64s, Float64s]:
    """Means of the clusters, the same in standard deviations from the mean of all, and that mean; NaN is ignored."""
    sums, counts = np.zeros((k, X.shape[1])), np.zeros((k, X.shape[1]))
    for rows, values, known in _parts(X):
        member = csr_array((np.ones(len(values)), (labels[rows], np.arange(len(values)))), shape=(k, len(values)))
        sums += member @ np.where(known, values, 0.0)
        counts += member @ known.astype(np.float64)
    total = np.maximum(counts.sum(axis=0), 1)
    overall = sums.sum(axis=0) / total
    means = sums / np.maximum(counts, 1)
    spread = np.zeros(X.shape[1])
    with np.errstate(over="ignore"):
        for _, values, known in _parts(X):
            spread += (np.where(known, values - overall, 0.0) ** 2).sum(axis=0)
    deviation = np.sqrt(spread / total)
    apart = np.where(counts > 0, means - overall, 0.0)
    scores = np.divide(apart, deviation, out=np.zeros_like(means), where=deviation > 1e-12 * np.abs(overall))
    return means, np.nan_to_num(scores), overall


def _parts(X: Any) -> Iterator[tuple[slice, Float64s, npt.NDArray[np.bool_]]]:
    """Some rows at a time, dense and in float64, so that no second copy of all of X is made."""
    step = max(_CELLS // max(X.shape[1], 1), 1)
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        values = X[rows].toarray() if issparse(X) else X[rows]
        values = np.asarray(values, dtype=np.float64)
        yield rows, values, ~np.isnan(values)


def _categories(texts: list[str | None], labels: Any, k: int, feature: int) -> list[list[_Trait]]:
    """For each cluster the category that is most over-represented, measured as a mean of zeros and ones would be."""
    present = [text if text is not None else "" for text in texts]
    values, codes = np.unique(np.array(present, dtype=object).astype(str), return_inverse=True)
    n = len(texts)
    shares = np.bincount(codes) / n
    if len(values) > max(min(_CATEGORIES, n // 2), 2):
        return [[] for _ in range(k)]  # nearly as many texts as rows: names or dates, which set nothing apart
    table = csr_array((np.ones(n), (labels, codes)), shape=(k, len(values))).toarray()
    here = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    spread = np.sqrt(shares * (1 - shares))
    scores = np.divide(here - shares, spread, out=np.zeros_like(here), where=spread > 0)
    found = []
    for j in range(k):
        v = int(scores[j].argmax())
        name = repr(shortened(str(values[v]), 30)) if values[v] else "missing"
        words = f"{name}: {percent(here[j, v])} here, {percent(shares[v])} in all"
        found.append([_Trait(feature, float(scores[j, v]), words)] if scores[j, v] > 0 else [])
    return found
