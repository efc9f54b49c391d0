"""Rows of a table as medoids, with the features that distinguish a cluster from the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from medoids.engine.arrays import Float64s, Rows
from medoids.reporting.formatting import escape, format_number, format_percent, shorten
from medoids.reporting.things import Things
from medoids.result import Clustering

__all__ = ["NamedColumns", "Table"]

# Features on a card: more would hide the most distinctive ones.
_FEATURES_ON_CARD = 5
# Up to this many features, a card can be opened to list all values.
_FEATURES_LISTED = 200
# A column with more different texts holds names rather than categories.
_MOST_CATEGORIES = 1000
# Cells converted to float64 at a time (32 MB), so that X is never copied as a whole.
_CELLS_AT_A_TIME = 4_000_000


@dataclass(frozen=True)
class NamedColumns:
    """A table.

    Attributes
    ----------
    names : list of str
        Names of the columns of numbers, then of texts.
    numbers : array or sparse array of shape (n, p)
        NaN where a number is missing.
    texts : sequence of lists
        Columns of texts, with None where a text is missing.
    """

    names: list[str]
    numbers: Any
    texts: Sequence[list[str | None]] = ()

    @classmethod
    def of_frame(cls, frame: Any) -> NamedColumns:
        """Separate the numbers and texts of a narwhals frame."""
        numeric = [name for name in frame.columns if frame[name].dtype.is_numeric()]
        other = [name for name in frame.columns if name not in numeric]
        numbers = np.empty((len(frame), len(numeric)))
        for at, name in enumerate(numeric):
            numbers[:, at] = [np.nan if v is None else float(v) for v in frame[name].to_list()]
        texts = [[None if v is None or v != v else str(v) for v in frame[name].to_list()] for name in other]
        return cls([str(name) for name in (*numeric, *other)], numbers, texts)

    def value(self, row: int, feature: int) -> str:
        """Write one cell."""
        p = self.numbers.shape[1]
        text = format_number(self.numbers[row, feature]) if feature < p else self.texts[feature - p][row]
        return "missing" if text is None else text


@dataclass(frozen=True)
class _Trait:
    feature: int
    score: float  # standard deviations above the overall mean
    text: str


class Table(Things):
    """Rows with named features."""

    noun = "row"
    wide = True

    def __init__(self, clustering: Clustering, features: NamedColumns) -> None:
        super().__init__(clustering)
        self._features = features
        self._traits = [
            sorted(traits, key=lambda trait: -abs(trait.score))[:_FEATURES_ON_CARD]
            for traits in _find_traits(features, clustering.labels, len(clustering.medoid_indices))
        ]

    def line(self, row: int) -> str:
        traits = self._traits[self.clustering.labels[row]][:3]
        pairs = (f"{self._features.names[t.feature]} {self._features.value(row, t.feature)}" for t in traits)
        return shorten(", ".join(pairs), 120)

    def card(self, cluster: int) -> str:
        row, names = int(self.clustering.medoid_indices[cluster]), self._features.names
        largest = max((abs(t.score) for t in self._traits[cluster]), default=1.0)
        lines = []
        for t in self._traits[cluster]:
            width = 50 * abs(t.score) / max(largest, 1.0)
            left, side = (50.0, "above") if t.score >= 0 else (50 - width, "below")
            text = escape(f"{t.text}: {abs(t.score):.1f} standard deviations {side}")
            lines.append(
                f'<tr title="{text}"><th scope="row">{escape(names[t.feature])}</th>'
                f"<td>{escape(shorten(self._features.value(row, t.feature), 40))}</td>"
                f'<td class="diverging" aria-label="{text}">'
                f'<i style="left:{left:.1f}%;width:{width:.1f}%"></i></td></tr>'
            )
        traits = (
            '<table class="traits"><caption>distinctive features</caption><thead><tr><th>feature</th><th>medoid</th>'
            f"<th class='centre'>below all · above</th></tr></thead><tbody>{''.join(lines)}</tbody></table>"
        )
        if len(names) > _FEATURES_LISTED:
            return traits
        cells = "".join(
            f"<tr><th scope='row'>{escape(name)}</th><td>{escape(self._features.value(row, f))}</td></tr>"
            for f, name in enumerate(names)
        )
        return (
            f"{traits}<details><summary>all {len(names)} values</summary>"
            f"<table class='values'>{cells}</table></details>"
        )


def _find_traits(features: NamedColumns, labels: Rows, k: int) -> list[list[_Trait]]:
    """Return, for each cluster, the features whose mean is most standard deviations from the overall mean."""
    found: list[list[_Trait]] = [[] for _ in range(k)]
    p = features.numbers.shape[1]
    means, scores, overall = _standardise(features.numbers, labels, k) if p else [np.empty((k, 0))] * 3
    for j in range(k):
        for f in np.argsort(-np.abs(scores[j]), kind="stable")[:_FEATURES_ON_CARD].tolist():
            found[j].append(
                _Trait(
                    f,
                    float(scores[j, f]),
                    f"mean {format_number(means[j, f])} here, {format_number(overall[f])} overall",
                )
            )
    for feature, texts in enumerate(features.texts, start=p):
        for j, score, text in _distinctive_categories(texts, labels, k):
            found[j].append(_Trait(feature, score, text))
    return found


def _standardise(X: Any, labels: Rows, k: int) -> tuple[Float64s, Float64s, Float64s]:
    """Return the means of clusters, the same in standard deviations from the overall mean, and that, without NaN."""
    sums, counts = np.zeros((k, X.shape[1])), np.zeros((k, X.shape[1]))
    scaler = StandardScaler()
    with np.errstate(all="ignore"):  # columns without values, and squares that overflow
        for rows in gen_batches(X.shape[0], max(_CELLS_AT_A_TIME // X.shape[1], 1)):
            values = np.asarray(X[rows].toarray() if issparse(X) else X[rows], dtype=np.float64)
            known = np.isfinite(values)
            member = csr_array((np.ones(len(values)), (labels[rows], np.arange(len(values)))), shape=(k, len(values)))
            sums += member @ np.where(known, values, 0.0)
            counts += member @ known.astype(np.float64)
            scaler.partial_fit(np.where(known, values, np.nan))
    means = sums / np.maximum(counts, 1)
    overall, deviation = scaler.mean_, np.sqrt(scaler.var_)
    above = np.where(counts > 0, means - overall, 0.0)
    scores = np.divide(above, deviation, out=np.zeros_like(means), where=deviation > 1e-12 * np.abs(overall))
    return means, np.nan_to_num(scores), overall


def _distinctive_categories(texts: list[str | None], labels: Rows, k: int) -> Iterator[tuple[int, float, str]]:
    """Yield, for each cluster, the most over-represented category, scored as an indicator variable would be."""
    n = len(texts)
    values, codes = np.unique(np.array([text or "" for text in texts]), return_inverse=True)
    if len(values) > max(min(_MOST_CATEGORIES, n // 2), 2):
        return
    shares = np.bincount(codes) / n
    counts = csr_array((np.ones(n), (labels, codes)), shape=(k, len(values))).toarray()
    here = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    deviation = np.sqrt(shares * (1 - shares))
    scores = np.divide(here - shares, deviation, out=np.zeros_like(here), where=deviation > 0)
    for j, v in enumerate(scores.argmax(axis=1).tolist()):
        if scores[j, v] > 0:
            name = repr(shorten(str(values[v]), 30)) if values[v] else "missing"
            yield (
                j,
                float(scores[j, v]),
                f"{name}: {format_percent(here[j, v])} here, {format_percent(shares[v])} overall",
            )
