"""Text in CSV files that a spreadsheet would take for a formula.

A cell that begins with =, +, - or @ is run as a formula when a spreadsheet opens the file, and what a stranger wrote
into a table may be one. As OWASP advises (https://owasp.org/www-community/attacks/CSV_Injection), such cells are
written with an apostrophe in front, which spreadsheets take for "this is text". Numbers stay as they are. `unprotected`
takes the apostrophe away again, and a cell that has one of its own before such a character gets a second, so that what
is written and read again is what it was.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["protected", "unprotected", "unprotected_name"]

# The characters that OWASP lists, the full-width forms among them.
_START = r"[=+\-@\t\r\n＝＋－＠]"
_GUARDED = f"^'('*{_START})"
_NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"


def protected(table: Any) -> Any:
    """Return a table in which no text, and no name of a column, begins like a formula.

    >>> protected(pa.table({"id": ["=1+2", "-5", "a"]}))["id"].to_pylist()
    ["'=1+2", '-5', 'a']
    """
    columns = [_guarded(column) if _is_text(column.type) else column for column in table.columns]
    names = _guarded(pa.chunked_array([table.column_names], pa.string())).to_pylist()
    return pa.Table.from_arrays(columns, names=names)


def _guarded(column: Any) -> Any:
    risky = pc.and_not(pc.match_substring_regex(column, f"^'*{_START}"), pc.match_substring_regex(column, _NUMBER))
    return pc.if_else(risky, pc.binary_join_element_wise("'", column.cast(pa.string()), ""), column.cast(pa.string()))


def unprotected(table: Any) -> Any:
    """Return a table without the apostrophes of `protected`.

    >>> unprotected(protected(pa.table({"id": ["=1+2", "'=1", "'tis"]})))["id"].to_pylist()
    ['=1+2', "'=1", "'tis"]
    """
    columns = [
        pc.replace_substring_regex(column, _GUARDED, r"\1", max_replacements=1) if _is_text(column.type) else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def unprotected_name(name: str) -> str:
    """Return the name of a column as it was before `protected`."""
    return re.sub(_GUARDED, r"\1", name, count=1)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
