"""Columns of numbers with separated thousands, such as 1.234,56 and 1,234.56."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["convert_thousands", "find_grouping"]

# The sign that separates thousands, by decimal sign.
_SEPARATORS = {",": ".", ".": ","}
_GROUPED_NUMBER = {
    decimal: re.compile(
        rf"\s*[+-]?(\d{{1,3}}({re.escape(sign)}\d{{3}})+|\d+)({re.escape(decimal)}\d*)?([eE][+-]?\d+)?\s*"
    )
    for decimal, sign in _SEPARATORS.items()
}


def find_grouping(cells: list[str], known: str | None = None) -> str | None:
    """Return the decimal sign of numbers with separated thousands, or None if they have none or it is ambiguous.

    1.234 and 1,234 are ambiguous unless the decimal sign is known: some cell must have both signs, or one sign twice.

    >>> find_grouping(["1.234,56", "12,5", "7"]), find_grouping(["1,234,567"]), find_grouping(["1.234", "12,5"])
    (',', '.', None)
    >>> find_grouping(["1.234", "12,5"], ",")
    ','
    """
    for decimal, sign in _SEPARATORS.items():
        clear = any(cell.count(sign) > (0 if decimal == known or decimal in cell else 1) for cell in cells)
        if clear and known in (None, decimal) and all(map(_GROUPED_NUMBER[decimal].fullmatch, cells)):
            return decimal
    return None


def convert_thousands(table: Any, texts: tuple[str, ...], known: str | None) -> tuple[Any, list[str]]:
    """Convert the columns of such numbers, except ``texts``, and return notes about them."""
    notes = []
    for at, column in enumerate(table.column_names):
        if column in texts or not pa.types.is_string(table[column].type):
            continue
        coded = pc.dictionary_encode(table[column].combine_chunks())
        cells = coded.dictionary.to_pylist()
        decimal = find_grouping(cells, known)
        if decimal is not None:
            sign = _SEPARATORS[decimal]
            values = [float(cell.replace(sign, "").replace(decimal, ".")) for cell in cells]
            table = table.set_column(at, column, pa.array(values, pa.float64()).take(coded.indices))
            notes.append(
                f"column {column!r} holds numbers such as {next(cell for cell in cells if sign in cell)}: {sign!r} is "
                "read as separating thousands"
            )
    return table, notes
