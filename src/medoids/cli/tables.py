"""Columns of a table: which are features, their numbers or texts, and the metric that suits them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from medoids.cli.contents import Contents, Selection
from medoids.cli.csv_files import find_grouping, is_number
from medoids.cli.messages import WrongUsage
from medoids.distances import takes_gaps
from medoids.wording import counted

__all__ = [
    "canonical_table",
    "default_metric",
    "feature_columns",
    "is_numeric",
    "number_columns",
    "reads_as_number",
    "text_column",
]

# Whole numbers up to this size are exact in single precision.
_LARGEST_EXACT_FLOAT32 = 2**24
# A text column in which more cells are numbers has wrong cells rather than categories.
_SHARE_OF_NUMBERS = 0.5
# A text column with more different cells holds names rather than categories; at least 20, so short files pass.
_SHARE_OF_NAMES, _FEWEST_NAMES = 0.9, 20
# The five types of columns in a model file; other types become text.
_CANONICAL_TYPES = (
    (pa.types.is_boolean, pa.bool_()),
    (pa.types.is_uint64, pa.float64()),
    (pa.types.is_integer, pa.int64()),
    (pa.types.is_floating, pa.float64()),
    (pa.types.is_decimal, pa.float64()),
    (pa.types.is_timestamp, pa.timestamp("us")),
    (pa.types.is_date, pa.timestamp("us")),
)


def feature_columns(names: Sequence[str], selection: Selection, file: str) -> list[str]:
    """Return the columns of a file that are features."""
    for option, name in (("--id", selection.id), ("--weights", selection.weights), ("--labels", selection.labels)):
        if name is not None and name not in names:
            raise WrongUsage(f"{option} {name}: {file} has no such column; it has {', '.join(names)}")
    wanted = _expand("--columns", selection.columns, names, file) if selection.columns else names
    ignored = _expand("--ignore", selection.ignore, names, file) if selection.ignore else []
    excluded = {selection.id, selection.weights, selection.labels, *ignored}
    if not (chosen := [name for name in wanted if name not in excluded]):
        raise WrongUsage(f"no columns of {file} are left; it has {', '.join(names)}")
    return chosen


def _expand(option: str, given: str, names: Sequence[str], file: str) -> list[str]:
    """Return the columns of "a,b,d:g", where d:g are those from d to g in the order of the file."""
    found: list[str] = []
    for part in map(str.strip, given.split(",")):
        ends = [part] if part in names else part.split(":")
        if missing := [name for name in ends if name not in names]:
            raise WrongUsage(f"{option} {part}: {file} has no column {missing[0]!r}; it has {', '.join(names)}")
        first, last = names.index(ends[0]), names.index(ends[-1])
        if len(ends) > 2 or last < first:
            raise WrongUsage(f"{option} {part}: a range is FIRST:LAST, in the order of the file")
        found += names[first : last + 1]
    return list(dict.fromkeys(found))


def is_numeric(kind: Any) -> bool:
    """Return whether the cells of a column of an Arrow type are numbers."""
    return any(
        test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    )


def canonical_table(table: Any) -> Any:
    """Return a table with columns of the types int64, double, bool, timestamp[us] and string only."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        target = next((target for test, target in _CANONICAL_TYPES if test(column.type)), pa.string())
        columns[name] = column if pa.types.is_nested(column.type) else column.cast(target)
    return pa.table(columns)


def default_metric(contents: Contents, chosen: list[str], texts: list[str], notes: list[str]) -> str:
    """Return the metric for the chosen columns, of which ``texts`` are not numbers, and note why."""
    if not texts:
        return "euclidean"
    table = contents.values
    dates = [name for name in texts if pa.types.is_temporal(table[name].type)]
    words = [name for name in texts if name not in dates]
    for name in words:
        _refuse_wrong_number(contents, name)
    hints = {name: _decimal_hint(contents, name) for name in words}
    if len(chosen) == 1 and words:
        notes.append(f"column {chosen[0]!r} holds text: levenshtein distance (--metric chooses another)")
        notes += filter(None, hints.values())
        return "levenshtein"
    held = [f"{_listed(names)} {what}" for names, what in ((words, "text"), (dates, "dates")) if names]
    categories = ", which takes text as categories" if words else ""
    notes.append(f"{' and '.join(held)}: gower distance{categories} (--ignore leaves columns out)")
    for name, hint in hints.items():
        if hint:
            notes.append(hint)
        elif len(table[name].drop_null().unique()) > max(_SHARE_OF_NAMES * len(table), _FEWEST_NAMES):
            notes.append(
                f"column {name!r} differs in nearly every row, so it only adds noise: --id {name} sets it aside"
            )
    return "gower"


def _listed(names: list[str]) -> str:
    some = ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"column {some} holds" if len(names) == 1 else f"columns {some} hold"


def _decimal_hint(contents: Contents, name: str) -> str:
    """Return how to read a column of a CSV file in which all cells are numbers with the other decimal sign."""
    other, sign = (".", "point") if contents.how.decimal == "," else (",", "comma")
    cells = [cell for cell in pc.unique(contents.values[name]).to_pylist() if cell is not None]
    if contents.how.decimal is None or not cells or not all(is_number(str(cell), other) for cell in cells):
        return ""
    grouping = find_grouping([str(cell) for cell in cells], contents.how.decimal)
    return (
        f"column {name!r} holds text such as {cells[0]!r}: if the {sign} is a decimal sign, add --decimal {other}; "
        f"if it separates thousands, {f'add --decimal {grouping}' if grouping else 'remove it'}"
    )


def _refuse_wrong_number(contents: Contents, name: str) -> None:
    """Refuse a column of text most of whose cells are numbers."""
    cells, decimal = contents.values[name].to_pylist(), contents.how.decimal or "."
    wrong = [cell for cell in cells if isinstance(cell, str) and not is_number(cell, decimal)]
    right = sum(isinstance(cell, str) for cell in cells) - len(wrong)
    if wrong and len(wrong) < _SHARE_OF_NUMBERS * (right + len(wrong)):
        others = f"{counted(right, 'other cell')} of the column {'is' if right == 1 else 'are'}"
        raise contents.cell_failure(
            cells.index(wrong[0]),
            name,
            f"is {wrong[0]!r}, which is not a number, but {others}; correct it, leave the column out with "
            f"--ignore {name}, or take its values as categories with --metric gower",
        )


def reads_as_number(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number, with or without separated thousands.

    >>> reads_as_number("1.234,5", ","), reads_as_number("1.23,5", ",")
    (True, False)
    """
    return is_number(cell, decimal) or find_grouping([cell], decimal) is not None


def text_column(contents: Contents, name: str) -> list[str]:
    """Return a column as texts, none of them missing."""
    cells = contents.values[name].to_pylist()
    if None in cells:
        raise contents.cell_failure(cells.index(None), name, "is empty; fill it or remove the line")
    return [str(cell) for cell in cells]


def number_columns(contents: Contents, names: Sequence[str], user: str) -> Any:
    """Return columns as one array of finite numbers, which ``user`` needs; float32 if whole numbers allow it."""
    table = contents.values
    for name in names:
        if not is_numeric(table[name].type):
            _refuse_text(contents, name, user)
    whole = all(pa.types.is_integer(table[name].type) or pa.types.is_boolean(table[name].type) for name in names)
    single = whole and all(
        abs(end or 0) <= _LARGEST_EXACT_FLOAT32 for name in names for end in pc.min_max(table[name]).as_py().values()
    )
    X = np.empty((len(table), len(names)), dtype=np.float32 if single else np.float64)
    for f, name in enumerate(names):
        column, gaps = table[name], takes_gaps(user)
        if column.null_count and not gaps:
            empty = (
                f"{counted(column.null_count, 'cell')} of the column {'is' if column.null_count == 1 else 'are'} empty"
            )
            raise contents.cell_failure(
                int(np.argmax(pc.is_null(column).to_numpy())),
                name,
                f"has no value ({empty}); fill it, leave the column out with --ignore {name}, or use --metric gower "
                "or nan_euclidean, which compare only what is known",
            )
        X[:, f] = column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column
        known = np.isfinite(X[:, f]) | (gaps & np.isnan(X[:, f]))
        if not known.all():
            row = int(np.argmin(known))
            raise contents.cell_failure(row, name, f"is {X[row, f]}; numbers must be finite")
    return X


def _refuse_text(contents: Contents, name: str, user: str) -> None:
    cells, decimal = contents.values[name].to_pylist(), contents.how.decimal or "."
    numbers = [cell is None or (isinstance(cell, str) and reads_as_number(cell, decimal)) for cell in cells]
    row = numbers.index(False) if False in numbers else 0
    cell = cells[row].isoformat(" ") if hasattr(cells[row], "isoformat") else repr(cells[row])
    hint = _decimal_hint(contents, name)
    raise contents.cell_failure(
        row,
        name,
        f"is {cell}, but {user} takes numbers; leave the column out with --ignore {name}, or use --metric gower"
        + (f" ({hint})" if hint else ""),
    )
