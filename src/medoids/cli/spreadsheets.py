"""Text in CSV files that a spreadsheet would take for a formula.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula when it opens the file, and the author of such a
cell may not be trusted. As OWASP advises (https://owasp.org/www-community/attacks/CSV_Injection), such cells are
written with a leading apostrophe, which marks them as text. Numbers are written unchanged. `unprotected` removes the
apostrophe; a cell that already has one before such a character gets a second, so that reading returns what was written.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["protected", "unprotected", "unprotected_name"]

# The characters that OWASP lists, with their full-width forms.
_FORMULA_START = r"[=+\-@\t\r\n＝＋－＠]"
_PROTECTED_START = f"^'('*{_FORMULA_START})"
_PLAIN_NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"


def protected(table: Any) -> Any:
    """Return a table in which no text and no column name begins like a formula.

    >>> protected(pa.table({"id": ["=1+2", "-5", "a"]}))["id"].to_pylist()
    ["'=1+2", '-5', 'a']
    """
    return pa.Table.from_arrays(
        [_protect(column) if _is_text(column.type) else column for column in table.columns],
        names=_protect(pa.chunked_array([table.column_names], pa.string())).to_pylist(),
    )


def _protect(column: Any) -> Any:
    risky = pc.and_not(
        pc.match_substring_regex(column, f"^'*{_FORMULA_START}"), pc.match_substring_regex(column, _PLAIN_NUMBER)
    )
    return pc.if_else(risky, pc.binary_join_element_wise("'", column.cast(pa.string()), ""), column.cast(pa.string()))


def unprotected(table: Any) -> Any:
    """Return a table without the apostrophes of `protected`.

    >>> unprotected(protected(pa.table({"id": ["=1+2", "'=1", "'tis"]})))["id"].to_pylist()
    ['=1+2', "'=1", "'tis"]
    """
    return pa.Table.from_arrays(
        [
            pc.replace_substring_regex(column, _PROTECTED_START, r"\1", max_replacements=1)
            if _is_text(column.type)
            else column
            for column in table.columns
        ],
        names=table.column_names,
    )


def unprotected_name(name: str) -> str:
    """Return the name of a column as it was before `protected`."""
    return re.sub(_PROTECTED_START, r"\1", name, count=1)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
