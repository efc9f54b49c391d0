"""Medoids that follow a stream in bounded memory: a weighted sample of all rows so far, and medoids of the sample.

Each row of the stream gets an importance, its weight times 1/2 + d / (2 mean d), with d its distance to the nearest
medoid when it came (1 in the first batch), and a priority, its importance over a uniform random number. The rows of the
highest priorities are kept. With t the highest priority that was not, a row of importance q was kept with probability
min(1, q / t), and its weight is divided by that (priority sampling: Duffield, Lund and Thorup 2007): the weighted loss
of any medoids over the sample has the loss over all rows as its expectation, whatever the order of the stream. Rows far
from all medoids count more, and are kept more often.

Medoids descend from those before, and whenever the stream has doubled also from a fresh start.

With a checkpoint, all of that is in a file after each batch. A stream that is resumed either goes on with new rows, or
is offered its rows again from the first batch on, as a script that is run again does: they are recognised by digests,
and skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from medoids.api import fit_checked
from medoids.distances import Dissimilarity, count_rows, take_rows
from medoids.engine.arrays import Float64s, Rows
from medoids.result import Clustering
from medoids.settings import Settings, check_weights
from medoids.storage.fingerprints import describe, of_value
from medoids.storage.forms import anything, flag, number, record, text, whole
from medoids.storage.saved import random_form, random_of, state_of
from medoids.storage.stream_files import StreamFile, pack_rows, unpack_rows
from medoids.wording import counted

__all__ = ["Stream", "Summary", "about_stream", "check_stream", "locked", "open_stream"]

_OTHER = "give each stream a file of its own"
# What a file holds of a stream, beside rows, numbers and medoids.
_COLUMNS = ("weights", "importances", "priorities")
_SCALARS = ("threshold", "seen", "total", "fresh", "first", "chain")
_STATE_FORM = record(
    {
        **{"threshold": number(0), "total": number(0), "seen": whole(1), "fresh": whole(0)},
        **{"first": text(), "chain": text(), "random": random_form, "packed": anything},
        "summary": record(
            {
                **{"loss": number(), "n_swaps": whole(), "converged": flag},
                **{"algorithm": text(), "reason": text(), "n_evaluations": whole()},
            }
        ),
    }
)
# Settings that decide what a stream finds.
_DECIDING = (
    "metric",
    "metric_params",
    "algorithm",
    "init",
    "n_init",
    "n_restarts",
    "swap",
    "tol",
    "delta",
    "cache_width",
    "random_state",
)
# Rows that are kept: this many, and for each medoid.
_KEPT_ROWS, _KEPT_ROWS_PER_MEDOID = 4000, 100


def check_stream(settings: Settings, n_clusters: Any, kind: str) -> None:
    """Refuse what a stream cannot do."""
    if n_clusters == "auto":
        raise ValueError("partial_fit takes a number of clusters, not 'auto'; k_path on a batch suggests one")
    if kind in ("matrix", "table"):
        why = "distances to later rows" if kind == "matrix" else "ranges of columns, which later rows change"
        raise ValueError(f"partial_fit would need {why}; use fit on all rows, or another metric")
    only = ("min_size", "max_size", "objective", "max_evaluations", "frozen_medoids", "candidates")
    defaults = Settings().described()
    for name in only:
        value = getattr(settings, name)
        if value is not None and not (isinstance(value, str) and value == defaults[name]):
            raise ValueError(f"partial_fit has no {name}; leave {name} out")
    if not isinstance(settings.init, str):
        raise ValueError("partial_fit starts from a batch, in which rows of init are unknown; leave init out")


@dataclass(frozen=True)
class Summary:
    """What the last fit of the sample found, but for rows."""

    loss: float
    n_swaps: int
    converged: bool
    algorithm: str
    reason: str
    n_evaluations: int

    @classmethod
    def of(cls, found: Clustering) -> Summary:
        return cls(**{name: getattr(found, name) for name in cls.__dataclass_fields__})

    def clustering(self, medoids: Rows) -> Clustering:
        """Return a result without rows or steps."""
        none = np.zeros(0)
        return Clustering(medoids, none.astype(np.intp), none, self.loss, counts={}, trace=[], **asdict(self))


@dataclass
class Stream:
    """The rows that are kept of a stream.

    Attributes
    ----------
    rows : array, sparse array or list
        What is kept.
    numbers : ndarray of int
        Their numbers since the first batch.
    weights, importances, priorities : ndarray
        Of these rows.
    threshold : float
        The highest priority of a row that was not kept.
    seen, total : int, float
        Rows and weight so far.
    fresh : int
        Rows at the last fresh start.
    random : RandomState
    medoids : ndarray of int
        Numbers of the medoids.
    summary : Summary or None
    first, chain : str
        Digests of the first batch, and of all batches.
    offered : int
        Rows that were passed since the stream was begun or resumed; fewer than ``seen`` while they are skipped.
    offered_chain : str
        Digest of these.
    saved : str or None
        Checksum of the file after the last batch.
    about : dict
        What `about_stream` said of the last batch.
    """

    random: np.random.RandomState
    medoids: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    summary: Summary | None = None
    first: str = ""
    chain: str = ""
    offered: int = 0
    offered_chain: str = ""
    saved: str | None = None
    rows: Any = None
    numbers: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    weights: Float64s = field(default_factory=lambda: np.zeros(0))
    importances: Float64s = field(default_factory=lambda: np.zeros(0))
    priorities: Float64s = field(default_factory=lambda: np.zeros(0))
    threshold: float = 0.0
    seen: int = 0
    total: float = 0.0
    fresh: int = 0
    about: dict[str, Any] = field(default_factory=dict)

    def check_same(self, about: dict[str, Any]) -> None:
        """Refuse a batch with another number of clusters or another metric than the batches before."""
        for name in ("n_clusters", "metric", "metric_params"):
            if self.about.get(name, about[name]) != about[name]:
                raise ValueError(
                    f"{name} is {about[name]} now, and was {self.about[name]} in the batches before; set it back, or "
                    "follow the stream from its beginning with a new estimator"
                )

    @classmethod
    def begin(cls, random_state: Any) -> Stream:
        return cls(check_random_state(check_random_state(random_state).randint(2**31 - 1)))

    def add(self, X: Any, sample_weight: Any, distances: Float64s | None, k: int, keep: Rows) -> None:
        """Take up a batch; ``distances`` are those to the nearest medoids, and the rows ``keep`` stay in any case."""
        n = count_rows(X)
        weights = check_weights(sample_weight, n)
        importances = weights.copy()
        mean = 0.0 if distances is None else float(weights @ distances) / float(weights.sum())
        if distances is not None and mean > 0:
            importances *= 0.5 + 0.5 * distances / mean
        self.rows = X if self.rows is None else _joined(self.rows, X)
        self.numbers = np.concatenate([self.numbers, np.arange(self.seen, self.seen + n)])
        self.weights = np.concatenate([self.weights, weights])
        self.importances = np.concatenate([self.importances, importances])
        self.priorities = np.concatenate([self.priorities, importances / (1 - self.random.random_sample(n))])
        self.seen, self.total = self.seen + n, self.total + float(weights.sum())
        self.offered = self.seen
        most = max(_KEPT_ROWS, _KEPT_ROWS_PER_MEDOID * k)
        if len(self.numbers) <= most:
            return
        order = np.argsort(-self.priorities, kind="stable")
        self.threshold = max(self.threshold, float(self.priorities[order[most]]))
        kept = (self.priorities > self.threshold) | np.isin(self.numbers, keep)
        at = np.flatnonzero(kept)
        self.rows, self.numbers = take_rows(self.rows, at), self.numbers[at]
        self.weights, self.importances = self.weights[at], self.importances[at]
        self.priorities = self.priorities[at]

    def skips(self, X: Any, sample_weight: Any) -> bool:
        """Whether a batch has been taken up already; it counts as offered."""
        digest, n = of_value([X, sample_weight]), count_rows(X)
        if self.seen == 0:
            self.first = digest
        elif self.offered == 0 and digest != self.first:  # resumed, and new rows follow
            self.offered, self.offered_chain = self.seen, self.chain
        again, before = self.offered < self.seen, self.offered
        self.offered, self.offered_chain = before + n, of_value([self.offered_chain, digest])
        if not again:
            self.chain = self.offered_chain
        elif self.offered > self.seen:
            raise ValueError(
                f"this batch has rows {before} to {before + n - 1} of the stream, of which {counted(self.seen, 'row')} "
                "were taken up before it was resumed; pass the batches as before, or only rows from there on"
            )
        elif self.offered == self.seen and self.offered_chain != self.chain:
            raise ValueError(
                f"the first batch is that of the stream that is resumed, but some of the {counted(self.seen, 'row')} "
                "that were taken up are others now; pass them as before, or only the rows that follow them"
            )
        return again

    def save(self, file: StreamFile, about: dict[str, Any]) -> None:
        """Write all that the next batch needs."""
        arrays, packed = pack_rows(self.rows)
        numbers = {name: getattr(self, name) for name in ("numbers", "medoids", *_COLUMNS)}
        state = {name: getattr(self, name) for name in _SCALARS}
        assert self.summary is not None
        state |= {"random": state_of(self.random), "summary": asdict(self.summary), "packed": packed}
        self.saved = file.save(about, state, {**numbers, **arrays})

    @classmethod
    def load(cls, file: StreamFile, about: dict[str, Any], k: int) -> Stream:
        """Return the stream that a file holds, if it is one of this kind."""
        state, arrays, checksum = file.load(about)
        try:
            _STATE_FORM(state, "state")
            stream = cls(random_of(state["random"]), saved=checksum, summary=Summary(**state["summary"]))
            stream.rows = unpack_rows(arrays, state["packed"])
            for name in _SCALARS:
                setattr(stream, name, state[name])
            for name in ("numbers", "medoids", *_COLUMNS):
                kind = np.float64 if name in _COLUMNS else np.intp
                setattr(stream, name, arrays[name].astype(kind, casting="same_kind"))
            stream._check(k)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
            raise file.wrong(f"does not hold the state of a stream: {error}") from None
        return stream

    def _check(self, k: int) -> None:
        numbers = self.numbers
        if {np.shape(part) for part in (numbers, *(getattr(self, name) for name in _COLUMNS))} != {
            (count_rows(self.rows),)
        }:
            raise ValueError("its parts differ in length")
        if not (np.diff(numbers) > 0).all() or not 0 <= numbers[0] <= numbers[-1] < self.seen:
            raise ValueError("the numbers of its rows do not ascend")
        if len(self.medoids) != k or len(set(self.medoids.tolist()) & set(numbers.tolist())) != k:
            raise ValueError(f"it does not keep {k} medoids")
        if not all(np.isfinite(getattr(self, name)).all() for name in _COLUMNS):
            raise ValueError("a weight is not finite")

    def shares(self) -> Float64s:
        """Return the weight of the stream that each row stands for; 0 for a medoid that is not part of the sample."""
        if self.threshold == 0:
            return self.weights
        chance = np.minimum(1, self.importances / self.threshold)
        return np.where(self.priorities > self.threshold, self.weights / np.maximum(chance, 1e-300), 0)

    def fit(self, k: int, medoids: Rows | None, settings: Settings) -> tuple[Clustering, Dissimilarity]:
        """Return the medoids of what is kept; from those before, and from a fresh start when the stream has doubled."""
        # The medoids so far may be candidates even if they are no part of the sample.
        every = np.arange(len(self.numbers))
        settings = replace(
            settings, candidates=every, random_state=self.random.randint(2**31 - 1), checkpoint=None, resume=False
        )
        found = None
        if medoids is not None:
            before = np.searchsorted(self.numbers, medoids)
            found = fit_checked(self.rows, k, self.shares(), replace(settings, init=before, n_init=1))
        if self.seen >= 2 * self.fresh:
            self.fresh = self.seen
            other = fit_checked(self.rows, k, self.shares(), settings)
            if found is None or other[0].loss < found[0].loss:
                found = other
        assert found is not None
        self.medoids, self.summary = self.numbers[found[0].medoid_indices], Summary.of(found[0])
        return found


def open_stream(stream: Stream | None, settings: Settings, about: dict[str, Any], file: StreamFile | None) -> Stream:
    """Return the stream to go on with, which may be in a file: the given one, a resumed one, or a new one."""
    if file is None:
        return stream or Stream.begin(settings.random_state)
    found = file.checksum()
    if stream is not None:
        if found != stream.saved:
            raise ValueError(f"{file.name} was changed since the last batch, by another stream or by hand; {_OTHER}")
        return stream
    if found is None:
        return Stream.begin(settings.random_state)
    if not settings.resume:
        raise FileExistsError(f"{file.name} already exists; pass resume=True to continue from it, or delete it")
    return Stream.load(file, about, int(about["n_clusters"]))


@contextmanager
def locked(path: Any) -> Iterator[StreamFile | None]:
    """Open the file of a stream, if it has one, for as long as a batch takes."""
    if path is None:
        yield None
        return
    file = StreamFile(path)
    with file.lock():
        yield file


def about_stream(settings: Settings, n_clusters: Any, kind: str, X: Any) -> dict[str, Any]:
    """Return what a stream must share with one that resumes from its file."""
    columns = X.shape[1] if len(getattr(X, "shape", ())) == 2 else None
    described = {name: describe(getattr(settings, name)) for name in _DECIDING}
    return {"kind": kind, "columns": columns, "n_clusters": int(n_clusters), **described}


def _joined(rows: Any, more: Any) -> Any:
    if isinstance(rows, np.ndarray) and isinstance(more, np.ndarray):
        return np.concatenate([rows, more])
    return sparse.vstack([rows, more], format="csr") if sparse.issparse(rows) else [*rows, *more]
