"""Vectors of which searches read a working copy: transformed, in the working precision, in the order of the search.

A row x becomes (x - centre - shift of the row) * scale of the row. Columns with one value in all rows, such as the
margins of images, may be left out: no product of centred rows needs them. Exact distances read the original X.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np

from medoids.distances.objects import digests_of
from medoids.distances.protocol import Facts, Index, numbers_of
from medoids.distances.scaled import Scalable
from medoids.distances.scaling import UnitRule
from medoids.engine.arrays import Digests, Float64s, Floats, Rows
from medoids.engine.budget import CONSTANT_SHARE, SPILL_BYTES
from medoids.engine.mapped import release, scratch
from medoids.engine.threads import Threads, row_spans, spans

__all__ = ["VectorDistance", "column_runs", "fits_float32", "varying_columns"]


class VectorDistance(Scalable):
    """A distance of rows of numbers with a working copy; subclasses set what the copy is made of.

    Attributes
    ----------
    _centre : ndarray of shape (p,) or None
        None leaves the rows as they are.
    _shift, _scale : ndarray of shape (n,)
        Used if ``_angular``.
    _squares : ndarray of shape (n,)
        Squared lengths of the centred rows of X, once `_fit` has computed them.
    _columns : ndarray
        Columns of the copy.
    _copy_dtype, _length_dtype : numpy.dtype
    _rule : UnitRule or None
        How distances scale with X; None if no unit matters.
    _lengths : ndarray of shape (n,)
        Lengths of the rows of the copy, in its order, by whatever norm the metric needs.
    """

    symmetric = True
    _angular = False
    _lengths: Floats
    _rule: UnitRule | None = None

    def __init__(self, X: Floats, metric: str, *, compiled: bool, centre: Float64s | None) -> None:
        self.n = X.shape[0]
        self._X, self._metric, self._compiled, self._centre = X, metric, compiled, centre
        self._shift, self._scale = np.zeros(self.n), np.broadcast_to(1.0, self.n)
        self._squares = np.ones(self.n)
        self._columns = np.arange(X.shape[1])
        self._options: dict[str, Any] = {}
        self._copy_dtype = self._length_dtype = self.dtype
        self._order: Rows | None = None
        self._copy: Any = None

    def _fit(self, rows: slice) -> float:
        """Compute the squared lengths of some rows after centring; return the largest absolute value."""
        if self._compiled:
            from medoids.distances.kernels.elementwise import measure_rows

            return float(measure_rows(self._X[rows], self._centre, self._squares[rows]))
        centred = self._X[rows] - self._centre
        with np.errstate(over="ignore"):
            self._squares[rows] = np.einsum("ij,ij->i", centred, centred)
        return float(np.abs(centred).max(initial=0))

    def _fit_all(self) -> float:
        return max(self._fit(rows) for rows in row_spans(*self._X.shape))

    @abstractmethod
    def _fits_float32(self, top: float) -> bool:
        """Whether distances among rows with values up to ``top`` may be computed in float32."""

    @abstractmethod
    def _measure(self, numbers: Rows, rows: Floats) -> Floats:
        """Return the lengths of rows of X, given as they are in the working copy."""

    @property
    def _work(self) -> Any:
        """The working copy, made when it is first needed."""
        self.prepare()
        return self._copy

    def _numbers(self, index: Index) -> Rows:
        """Return row numbers of X; the order of blocks may be another one."""
        return numbers_of(index, self.n) if self._order is None else self._order[index]

    def prepare(self, threads: Threads | None = None) -> None:
        if self._copy is not None:
            return
        shape = self.n, len(self._columns)
        self._lengths = np.empty(self.n, self._length_dtype)
        if self.spill:
            self._copy = self._spilled(threads)
        else:
            work = np.empty(shape, self._copy_dtype)

            def fill(chunk: slice) -> None:
                self._write(chunk, work[chunk])

            (Threads(1) if threads is None else threads).map(fill, row_spans(*shape))
            self._copy = work
        self.release()

    def _spilled(self, threads: Threads | None) -> Floats:
        """Return the working copy in a temporary file, written in stretches from front to back.

        For each stretch X is read from front to back as well: disks serve that far better than single rows.
        """
        work = scratch((self.n, len(self._columns)), self._copy_dtype)
        for stretch in spans(self.n, max(1, SPILL_BYTES // work[:1].nbytes)):
            if threads is not None:
                threads.interrupts.check()
            by_row = stretch.start + np.argsort(self._numbers(stretch), kind="stable")
            for chunk in row_spans(len(by_row), work.shape[1]):
                places = by_row[chunk]
                rows = np.empty((len(places), work.shape[1]), self._copy_dtype)
                self._write(places, rows)
                work[places] = rows
                release(self._X)
            release(work)
        return np.asarray(work)

    def _write(self, places: Index, out: Floats) -> None:
        """Write the rows for some places of the working copy, and note their lengths."""
        numbers = self._numbers(places)
        if self._centre is None:
            out[:] = self._X[numbers]
        elif self._compiled:
            from medoids.distances.kernels.elementwise import prepare_rows

            prepare_rows(self._X, numbers, column_runs(self._columns), self._centre, self._shift, self._scale, out)
        else:
            out[:] = self._transform(numbers)
        self._lengths[places] = self._measure(numbers, out)

    def _transform(self, numbers: Rows) -> Float64s:
        """Return rows of X as in the working copy, in float64 and with all columns."""
        rows: Float64s = self._X[numbers] - self._centre
        if self._angular:
            rows -= self._shift[numbers, None]
            rows *= self._scale[numbers, None]
        return rows

    def hosting(self, objects: Floats, numbers: Rows, facts: Facts) -> Self:
        dtype = np.float32 if not facts.small and self._fits_float32(facts.top) else np.float64
        return self._remake(objects, dtype=dtype, compiled=not facts.small, centre=facts.centre)

    def digests(self, rows: Rows) -> Digests | None:
        out = np.empty((len(rows), 2), np.uint64)
        for chunk in row_spans(len(rows), self._X.shape[1]):
            out[chunk] = digests_of(self._X[rows[chunk]])
        return out

    def take(self, rows: Index) -> Self:
        return self._remake(self._X[rows], dtype=self.dtype, compiled=self._compiled)

    def _remake(self, X: Floats, **options: Any) -> Self:
        return type(self)(X, self._metric, **self._options, **options)

    def scaling(self) -> tuple[Floats, Callable[[Any], Scalable], UnitRule] | None:
        make = partial(self._remake, dtype=np.float64, compiled=self._compiled)
        return None if self._rule is None else (self._X, make, self._rule)

    def put(self, rows: slice, objects: Floats, numbers: Rows) -> None:
        self._X[rows] = objects
        if self._work is not self._X:
            self._fit(rows)
            self._write(rows, self._work[rows])

    def copy_bytes(self) -> int:
        return int(self.n * len(self._columns) * self._copy_dtype.itemsize)

    def release(self) -> None:
        release(self._X)
        if self.spill and self._copy is not None:
            release(self._copy)

    def reordered(self, order: Rows) -> Self:
        other = copy(self)
        other.n, other._order, other._copy = len(order), order, None
        return other


def fits_float32(top: float, columns: int, p: float = 1.0) -> bool:
    """Whether squares and p-th powers of values up to ``top`` in size neither overflow nor underflow in float32."""
    if not 1e-15 < top < 1e15:
        return False
    # From a thousandth of the norms on, a distance consists of powers in float32; a sum over columns must fit as well.
    low, high = p * np.log10(1e-3 * top), p * np.log10(2 * top) + np.log10(columns)
    return bool(low > -37 and high < 38)


def varying_columns(X: Floats) -> Rows:
    """Return the columns that are needed: all of them if too few are constant to matter, or if all are."""
    columns = np.arange(X.shape[1])
    constant, enough = columns, CONSTANT_SHARE * len(columns)
    for chunk in row_spans(len(X), len(columns)):
        constant = constant[(X[chunk, constant] == X[0, constant]).all(axis=0)]
        release(X)
        if len(constant) < enough:
            return columns
    return columns if len(constant) == len(columns) else np.delete(columns, constant)


def column_runs(columns: Rows) -> Rows:
    """Return runs of consecutive columns, as rows (start, stop).

    >>> column_runs(np.array([0, 1, 4, 5, 6])).tolist()
    [[0, 2], [4, 7]]
    """
    ends = np.flatnonzero(np.diff(columns) != 1)
    starts = np.concatenate([columns[:1], columns[ends + 1]])
    return np.stack([starts, np.concatenate([columns[ends], columns[-1:]]) + 1], axis=1)
