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
from medoids.cli.reading import Contents
from medoids.distances import available_metrics
from medoids.engine.threads import spans

__all__ = ["Features", "Scaling", "Selection", "canonical", "features", "kinds_of", "numbers_of"]

Float64s = npt.NDArray[np.float64]

# Whole numbers up to this size are exact in single precision.
_EXACT = 2**24
# A text column whose cells are mostly numbers has a wrong cell rather than categories.
_MOSTLY = 0.5
# Share of rows with a text of their own from which a text column holds names, not categories.
_NAMES = 0.9


@dataclass(frozen=True)
class Selection:
    """Options on columns."""

    columns: str | None = None
    ignore: str | None = None
    id: str | None = None
    weights: str | None = None


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

    def __len__(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)


def kinds_of(metric: str) -> set[str]:
    """Return the kinds of data that a metric takes.

    >>> sorted(kinds_of("precomputed"))
    ['matrix']
    """
    found = {entry.kind for entry in available_metrics() if metric in (entry.name, *entry.aliases)}
    if not found:
        known = sorted({entry.name for entry in available_metrics()})
        raise WrongUsage(f"--metric {metric} is unknown; it must be one of {', '.join(known)}")
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
    chosen = _chosen(table.column_names, selection, contents.name)
    found = Features(None, "", "", None, names=chosen, notes=list(contents.notes))
    if selection.id is not None:
        found.ids, found.id_name = table[selection.id].to_pylist(), selection.id
    if selection.weights is not None:
        found.weights = _numbers(contents, table, [selection.weights])[:, 0]
        if (found.weights < 0).any():
            row = int(np.argmax(found.weights < 0))
            where = f"{contents.place(row)}, column {selection.weights!r}"
            raise Failure(f"{contents.name}: {where} is {found.weights[row]:g}; weights must not be negative")
    others = [name for name in table.column_names if name not in chosen]
    found.rest = table.select(others) if others else None
    texts = [name for name in chosen if not _is_numeric(table[name].type)]
    found.metric = metric or _default_metric(contents, table, chosen, texts, found.notes)
    kinds = kinds_of(found.metric)
    if "table" in kinds:
        found.kind, found.X = "table", canonical(table.select(chosen))
    elif "strings" in kinds and texts and len(chosen) == 1:
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


def _chosen(names: Sequence[str], selection: Selection, file: str) -> list[str]:
    for option in ("id", "weights"):
        name = getattr(selection, option)
        if name is not None and name not in names:
            raise WrongUsage(f"--{option} {name}: {file} has no such column; it has {', '.join(names)}")
    aside = [name for name in (selection.id, selection.weights) if name is not None]
    wanted = _expanded(selection.columns, names, "--columns", file) if selection.columns else list(names)
    ignored = _expanded(selection.ignore, names, "--ignore", file) if selection.ignore else []
    chosen = [name for name in wanted if name not in aside and name not in ignored]
    if not chosen:
        raise WrongUsage(f"no columns of {file} are left; it has {', '.join(names)}")
    return chosen


def _expanded(option: str, names: Sequence[str], flag: str, file: str) -> list[str]:
    """Names of columns from "a,b,d:g", where d:g is from d to g as they stand in the file."""
    found: list[str] = []
    for part in option.split(","):
        part = part.strip()
        ends = [part] if part in names else part.split(":")
        for name in ends:
            if name not in names:
                raise WrongUsage(f"{flag} {part}: {file} has no column {name!r}; it has {', '.join(names)}")
        first, last = names.index(ends[0]), names.index(ends[-1])
        if len(ends) > 2 or last < first:
            raise WrongUsage(f"{flag} {part}: a range is FIRST:LAST, in the order of the file")
        found += [name for name in names[first : last + 1] if name not in found]
    return found


def _default_metric(contents: Contents, table: Any, chosen: list[str], texts: list[str], notes: list[str]) -> str:
    if not texts:
        return "euclidean"
    for name in texts:
        _refuse_mostly_numbers(contents, table[name], name)
    if len(chosen) == 1 and not pa.types.is_temporal(table[chosen[0]].type):
        notes.append(f"column {chosen[0]!r} holds text: levenshtein distance (--metric chooses another)")
        return "levenshtein"
    some = ", ".join(map(repr, texts[:3])) + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")
    notes.append(f"no numbers in {some}: gower distance, which takes text as categories (--ignore leaves columns out)")
    notes += [
        f"column {name!r} differs in nearly every row, so it only adds noise: --id {name} sets it aside"
        for name in texts
        if not pa.types.is_temporal(table[name].type)
        and pc.count_distinct(table[name]).as_py() > max(_NAMES * len(table), 20)
    ]
    return "gower"


def _refuse_mostly_numbers(contents: Contents, column: Any, name: str) -> None:
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return
    cells = column.to_pylist()
    known = [cell for cell in cells if cell is not None]
    wrong = [cell for cell in known if not is_number(cell)]
    if not known or len(wrong) >= _MOSTLY * len(known):
        return
    row = next(at for at, cell in enumerate(cells) if cell is not None and not is_number(cell))
    raise Failure(
        f"{contents.name}: {contents.place(row)}, column {name!r} is {cells[row]!r}, which is no number, as "
        f"{len(known) - len(wrong):,} other cells of the column are; mend it, leave the column out with --ignore "
        f"{name}, or take its values as categories with --metric gower"
    )


def _refuse_text(contents: Contents, table: Any, name: str, metric: str) -> None:
    cells = table[name].to_pylist()
    row = next((at for at, c in enumerate(cells) if c is not None and not (isinstance(c, str) and is_number(c))), 0)
    raise Failure(
        f"{contents.name}: {contents.place(row)}, column {name!r} is {cells[row]!r}, but {metric} takes numbers; leave "
        f"the column out with --ignore {name}, or use --metric gower"
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
            raise Failure(
                f"{contents.name}: {contents.place(row)}, column {name!r} has no value ({column.null_count:,} cells of "
                f"the column are empty); fill it, leave the column out with --ignore {name}, or use --metric gower, "
                "which compares only what is known"
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
    names = None
    if selection.columns or selection.ignore:
        every = [f"x{f}" for f in range(X.shape[1])]
        names = _chosen(every, selection, contents.name)
        X = X[:, [every.index(name) for name in names]]
    for lot in spans(X.shape[0], 1 << 16) if not sparse and X.dtype.kind == "f" else []:
        if not np.isfinite(X[lot]).all():
            row, f = np.argwhere(~np.isfinite(X[lot]))[0] + (lot.start, 0)
            raise Failure(
                f"{contents.name}: {contents.place(int(row))}, column x{f} is {X[row, f]}; fill or remove the row"
            )
    return Features(X, kind, metric, X, names=names, notes=list(contents.notes))
