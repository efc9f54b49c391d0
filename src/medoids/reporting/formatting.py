"""How numbers and texts are written on the page. Whatever comes from data passes through `escaped`."""

from __future__ import annotations

import html
import math
from typing import Any

__all__ = ["escaped", "number", "percent", "shortened"]


def escaped(value: Any) -> str:
    """Return text that is safe in HTML, as content and in a quoted attribute.

    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    # A NUL or another control character is no character of HTML at all.
    text = "".join(c if c >= " " or c in "\t\n" else "\ufffd" for c in str(value))
    return html.escape(text.encode("utf-8", "replace").decode(), quote=True)


def number(value: Any) -> str:
    """Write a number in at most four significant digits, integers in full.

    >>> number(1234567), number(0.123456), number(1234.5), number(float("nan"))
    ('1,234,567', '0.1235', '1,234', 'missing')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    value = float(value)
    if math.isinf(value):
        return "infinite"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.3e}"
    return f"{value:.4g}"


def percent(share: float) -> str:
    """Write a share.

    >>> percent(0.5), percent(0.0123), percent(0.00001)
    ('50%', '1.2%', '0.001%')
    """
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def shortened(text: str, length: int) -> str:
    r"""Cut a text to one line of so many characters.

    >>> shortened("k-medoids  of\nanything", 12)
    'k-medoids o…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
