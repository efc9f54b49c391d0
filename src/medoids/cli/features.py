"""From what a file holds to what a metric takes: which columns, which metric, on which scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import issparse

from medoids.cli.csv_files import is_number
from medoids.cli.failures import Failure, WrongUsage
from medoids.cli.read_options import ReadOptions
from medoids.cli.reading import Contents
from medoids.cli.selecting import Selection, chosen_columns
from medoids.distances import available_metrics
from medoids.engine.arrays import Float64s
from medoids.engine.threads import spans
from medoids.wording import counted, unknown

__all__ = ["Features", "Scaling", "canonical", "features", "flattened", "kinds_of", "numbers_of"]


# Whole numbers up to this size are exact in single precision.
_EXACT = 2**24
# A text column whose cells are mostly numbers has a wrong cell rather than categories.
_MOSTLY = 0.5
# Share of rows with a text of their own from which a text column holds names, not categories.
_NAMES = 0.9


@dataclass(frozen=True)
class Scaling:
    """Columns are shifted by ``centre`` and divided by ``spread``."""

    centre: Float64s
    spread: Float64s

    @classmethod
    def fit(cls, X: Float64s, how: str) -> Scaling:
        """Take mean and standard deviation, or median and interquartile range; a constant column stays as it is."""
        if how == "standard":
            centre, spread = X.mean(axis=0), X.std(axis=0)
        else:
            low, centre, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
            spread = high - low
        return cls(centre, np.where(spread > 0, spread, 1.0))

    def apply(self, X: Float64s) -> Float64s:
        scaled: Float64s = X - self.centre
        scaled /= self.spread
        return scaled


@dataclass
class Features:
    """Data for a fit, and what goes with it.

    Attributes
    ----------
    X : what the metric takes
    kind : str
        "vectors", "sparse", "table", "strings", "series" or "matrix".
    original : the same before scaling
    names : list of str or None
        Columns of vectors and tables.
    rest : pyarrow Table or None
        Columns of the file that are no features, to go with medoids into a file.
    how : ReadOptions
        How the file was read.
    """

    X: Any
    kind: str
    metric: str
    original: Any
    names: list[str] | None = None
    ids: list[Any] | None = None
    id_name: str = "row"
    weights: Float64s | None = None
    scaling: Scaling | None = None
    rest: Any = None
    notes: list[str] = field(default_factory=list)
    how: ReadOptions = field(default_factory=ReadOptions)

    def __len__(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)


def kinds_of(metric: str) -> set[str]:
    """Return the kinds of data that a metric takes.

    >>> sorted(kinds_of("precomputed"))
    ['matrix']
    """
    found = {entry.kind for entry in available_metrics() if metric in (entry.name, *entry.aliases)}
    if not found:
        known = {name for entry in available_metrics() for name in (entry.name, *entry.aliases)}
        raise WrongUsage(f"--metric {metric} {unknown(metric, known)}")
    return found


def features(contents: Contents, selection: Selection, metric: str | None, scale: str) -> Features:
    """Choose columns and the metric, and scale."""
    if metric is not None:
        kinds_of(metric)
    if len(contents) == 0:
        raise Failure(f"{contents.name} has no rows")
    if contents.kind == "table":
        found = _from_table(contents, selection, metric)
    elif contents.kind in ("array", "sparse"):
        found = _from_array(contents, selection, metric)
    else:
        given = next((n for n in ("columns", "ignore", "id", "weights") if getattr(selection, n) is not None), None)
        if given:
            raise WrongUsage(f"--{given} needs a file with columns, but {contents.name} holds {contents.kind}")
        default, kind = ("dtw", "series") if contents.kind == "series" else ("levenshtein", "strings")
        metric = metric or default
        if kind not in kinds_of(metric):
            raise WrongUsage(f"{contents.name} holds {contents.kind}, and --metric {metric} does not take {kind}")
        note = f"{contents.name}: {len(contents):,} {contents.kind}, {metric} distance"
        found = Features(contents.values, kind, metric, contents.values, notes=[note])
    found.how = contents.how
    if scale != "none":
        _scale(found, scale)
    return found


def _scale(found: Features, how: str) -> None:
    if found.kind != "vectors" or issparse(found.X):
        raise WrongUsage(f"--scale {how} is for rows of numbers; these are {found.kind}, under {found.metric}")
    numbers = np.asarray(found.X, dtype=np.float64)
    found.scaling = Scaling.fit(numbers, how)
    found.X, found.original = found.scaling.apply(numbers), numbers


# --- tables --------------------------------------------------------------------------------------------------------


def _from_table(contents: Contents, selection: Selection, metric: str | None) -> Features:
    table = contents.values
    chosen = chosen_columns(table.column_names, selection, contents.name)
    found = Features(None, "", "", None, names=chosen, notes=list(contents.notes))
    if selection.id is not None:
        found.ids, found.id_name = table[selection.id].to_pylist(), selection.id
    if selection.weights is not None:
        found.weights = _numbers(contents, table, [selection.weights])[:, 0]
        if (found.weights < 0).any():
            row = int(np.argmax(found.weights < 0))
            where = f"{contents.place(row)}, column {selection.weights!r}"
            raise Failure(f"{contents.name}: {where} is {found.weights[row]:g}; weights must not be negative")
    used = set(chosen)
    others = [name for name in table.column_names if name not in used]
    found.rest = table.select(others) if others else None
    texts = [name for name in chosen if not _is_numeric(table[name].type)]
    found.metric = metric or _default_metric(contents, table, chosen, texts, found.notes)
    kinds = kinds_of(found.metric)
    if "table" in kinds:
        found.kind, found.X = "table", canonical(table.select(chosen))
    elif "strings" in kinds and texts and len(chosen) == 1:
        if pa.types.is_temporal(table[chosen[0]].type):
            raise WrongUsage(f"--metric {found.metric} takes text, but column {chosen[0]!r} holds dates; use gower")
        found.kind, found.X = "strings", _text(contents, table[chosen[0]], chosen[0])
    elif kinds & {"vectors", "matrix", "coordinates", "series"}:
        found.kind = "matrix" if "matrix" in kinds else "vectors"
        if texts:
            _refuse_text(contents, table, texts[0], found.metric)
        found.X = _numbers(contents, table, chosen)
        if found.kind == "matrix" and found.X.shape[0] != found.X.shape[1]:
            shape = f"{found.X.shape[0]} rows and {found.X.shape[1]} columns of distances"
            raise Failure(f"{contents.name} has {shape}; a matrix of distances must be square")
    else:
        raise WrongUsage(
            f"--metric {found.metric} takes {' or '.join(sorted(kinds))}, but {contents.name} has the columns "
            f"{', '.join(chosen)}; choose one with --columns, or another metric"
        )
    found.original = found.X
    return found


def _default_metric(contents: Contents, table: Any, chosen: list[str], texts: list[str], notes: list[str]) -> str:
    if not texts:
        return "euclidean"
    dates = [name for name in texts if pa.types.is_temporal(table[name].type)]
    words = [name for name in texts if name not in dates]
    for name in words:
        _refuse_mostly_numbers(contents, table[name], name)
    if len(chosen) == 1 and words:
        notes.append(f"column {chosen[0]!r} holds text: levenshtein distance (--metric chooses another)")
        notes += _decimal_hint(contents, table[chosen[0]], chosen[0])
        return "levenshtein"
    held = [f"{_listed(names)} {what}" for names, what in ((words, "text"), (dates, "dates")) if names]
    categories = ", which takes text as categories" if words else ""
    notes.append(f"{' and '.join(held)}: gower distance{categories} (--ignore leaves columns out)")
    for name in words:
        notes += _decimal_hint(contents, table[name], name) or _noise_hint(table[name], name)
    return "gower"


def _listed(names: list[str]) -> str:
    some = ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"column {some} holds" if len(names) == 1 else f"columns {some} hold"


def _decimal_hint(contents: Contents, column: Any, name: str) -> list[str]:
    """Say how to read a column of a CSV file whose cells are numbers with the other decimal sign."""
    other = "." if contents.how.decimal == "," else ","
    cells = [cell for cell in pc.unique(column).to_pylist() if cell is not None]
    if contents.how.decimal is None or not cells or not all(is_number(str(cell), other) for cell in cells):
        return []
    sign = "point" if other == "." else "comma"
    return [
        f"column {name!r} holds text such as {cells[0]!r}: if the {sign} is a decimal sign, add --decimal {other}; "
        "if it separates thousands, remove it"
    ]


def _noise_hint(column: Any, name: str) -> list[str]:
    if pc.count_distinct(column).as_py() <= max(_NAMES * len(column), 20):
        return []
    return [f"column {name!r} differs in nearly every row, so it only adds noise: --id {name} sets it aside"]


def _refuse_mostly_numbers(contents: Contents, column: Any, name: str) -> None:
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return
    decimal = contents.how.decimal or "."
    cells = column.to_pylist()
    known = [cell for cell in cells if cell is not None]
    wrong = [cell for cell in known if not is_number(cell, decimal)]
    if not wrong or len(wrong) >= _MOSTLY * len(known):
        return
    row = cells.index(wrong[0])
    right = len(known) - len(wrong)
    raise Failure(
        f"{contents.name}: {contents.place(row)}, column {name!r} is {cells[row]!r}, which is not a number, but "
        f"{counted(right, 'other cell')} of the column {'is' if right == 1 else 'are'}; correct it, leave the column "
        f"out with --ignore {name}, or take its values as categories with --metric gower"
    )


def _refuse_text(contents: Contents, table: Any, name: str, metric: str) -> None:
    cells, decimal = table[name].to_pylist(), contents.how.decimal or "."
    numbers = [cell is None or (isinstance(cell, str) and is_number(cell, decimal)) for cell in cells]
    row = numbers.index(False) if False in numbers else 0
    cell = cells[row].isoformat(" ") if hasattr(cells[row], "isoformat") else repr(cells[row])
    hint = "".join(f" ({hint})" for hint in _decimal_hint(contents, table[name], name))
    raise Failure(
        f"{contents.name}: {contents.place(row)}, column {name!r} is {cell}, but {metric} takes numbers; leave the "
        f"column out with --ignore {name}, or use --metric gower{hint}"
    )


def _text(contents: Contents, column: Any, name: str) -> list[str]:
    cells = [None if cell is None else str(cell) for cell in column.to_pylist()]
    if None in cells:
        row = cells.index(None)
        raise Failure(f"{contents.name}: {contents.place(row)}, column {name!r} is empty; fill it or remove the line")
    return [cell for cell in cells if cell is not None]


def _is_numeric(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _numbers(contents: Contents, table: Any, names: Sequence[str]) -> npt.NDArray[Any]:
    """Columns as one array, every cell a finite number; in half the memory where whole numbers allow it."""
    whole = all(pa.types.is_integer(table[name].type) or pa.types.is_boolean(table[name].type) for name in names)
    ends = [pc.min_max(table[name]).as_py() for name in names] if whole else []
    single = whole and all(abs(end or 0) <= _EXACT for both in ends for end in both.values())
    X: npt.NDArray[Any] = np.empty((len(table), len(names)), dtype=np.float32 if single else np.float64)
    for f, name in enumerate(names):
        column = table[name]
        if not _is_numeric(column.type):
            _refuse_text(contents, table, name, "this option")
        if column.null_count:
            row = int(np.argmax(pc.is_null(column).to_numpy()))
            empty = (
                f"{counted(column.null_count, 'cell')} of the column {'is' if column.null_count == 1 else 'are'} empty"
            )
            raise Failure(
                f"{contents.name}: {contents.place(row)}, column {name!r} has no value ({empty}); fill it, leave the "
                f"column out with --ignore {name}, or use --metric gower, which compares only what is known"
            )
        values = column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column
        X[:, f] = values.to_numpy()
        if not np.isfinite(X[:, f]).all():
            row = int(np.argmin(np.isfinite(X[:, f])))
            raise Failure(
                f"{contents.name}: {contents.place(row)}, column {name!r} is {X[row, f]}; numbers must be finite"
            )
    return X


def numbers_of(contents: Contents, names: Sequence[str]) -> npt.NDArray[Any]:
    """Columns of a table by name, for predict."""
    table = contents.values
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise Failure(
            f"{contents.name} has no column {lacking[0]!r}, which the model was made with; it has "
            f"{', '.join(table.column_names)}"
        )
    return _numbers(contents, table, names)


def canonical(table: Any) -> Any:
    """The same table in five types that a model file knows: int64, double, bool, timestamp[us] and string."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        types, kind = pa.types, column.type
        if types.is_boolean(kind):
            target = pa.bool_()
        elif types.is_signed_integer(kind) or types.is_uint8(kind) or types.is_uint16(kind) or types.is_uint32(kind):
            target = pa.int64()
        elif _is_numeric(kind):
            target = pa.float64()
        elif types.is_timestamp(kind) or types.is_date(kind):
            target = pa.timestamp("us")
        else:
            target = pa.string()
        columns[str(name)] = column.cast(target) if not types.is_nested(kind) else column
    return pa.table(columns)


# --- arrays --------------------------------------------------------------------------------------------------------


def _from_array(contents: Contents, selection: Selection, metric: str | None) -> Features:
    X = contents.values
    if selection.id is not None or selection.weights is not None:
        raise WrongUsage(f"--id and --weights name columns of a table, but {contents.name} holds an array")
    metric = metric or "euclidean"
    kinds = kinds_of(metric)
    sparse = contents.kind == "sparse"
    if sparse and "sparse" not in kinds and "matrix" in kinds:
        raise WrongUsage(
            f"{contents.name} is sparse, and a matrix of distances must not be: what is not stored has none"
        )
    kind = "sparse" if sparse else "matrix" if "matrix" in kinds else "vectors"
    if not sparse and not kinds & {"vectors", "matrix", "coordinates", "series", "table"}:
        raise WrongUsage(f"--metric {metric} takes {' or '.join(sorted(kinds))}, but {contents.name} holds numbers")
    if X.ndim == 3 and "series" in kinds:
        return _series_of(contents, selection, metric)
    X = flattened(X)
    names = None
    if selection.columns or selection.ignore:
        every = [f"x{f}" for f in range(X.shape[1])]
        names = chosen_columns(every, selection, contents.name)
        X = X[:, [every.index(name) for name in names]]
    for lot in spans(X.shape[0], 1 << 16) if not sparse and X.dtype.kind == "f" else []:
        if not np.isfinite(X[lot]).all():
            row, f = np.argwhere(~np.isfinite(X[lot]))[0] + (lot.start, 0)
            raise Failure(
                f"{contents.name}: {contents.place(int(row))}, column x{f} is {X[row, f]}; fill or remove the row"
            )
    return Features(X, kind, metric, X, names=names, notes=list(contents.notes))


def _series_of(contents: Contents, selection: Selection, metric: str) -> Features:
    """Series of several channels, whose layout the metric knows."""
    if selection.columns or selection.ignore:
        raise WrongUsage(
            f"--columns and --ignore choose columns, but {contents.name} holds series, an array of shape "
            f"{contents.values.shape}"
        )
    return Features(contents.values, "series", metric, contents.values, notes=list(contents.notes))


def flattened(X: Any) -> Any:
    """Return an array of three dimensions, such as images, as rows of numbers."""
    return X.reshape(len(X), -1) if X.ndim == 3 else X
