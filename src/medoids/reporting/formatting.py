"""Numbers and texts as the page writes them. Everything that comes from data passes through `escape`."""

from __future__ import annotations

import html
import math
from typing import Any

__all__ = ["escape", "format_number", "format_percent", "shorten"]


def escape(value: Any) -> str:
    """Return text that is safe in HTML, as content and in a quoted attribute.

    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    # HTML does not allow NUL and other control characters.
    text = "".join(c if c >= " " or c in "\t\n" else "\ufffd" for c in str(value))
    return html.escape(text.encode("utf-8", "replace").decode(), quote=True)


def format_number(value: Any) -> str:
    """Write a number with four significant digits, and integers with all digits.

    >>> format_number(1234567), format_number(0.123456), format_number(1234.5), format_number(float("nan"))
    ('1,234,567', '0.1235', '1,234', 'missing')
    """
    value = math.nan if value is None else float(value) + 0.0  # never -0
    if not math.isfinite(value):
        return "missing" if math.isnan(value) else "infinite"
    whole = abs(value) < 1e15 and (abs(value) >= 1000 or value.is_integer())
    return f"{value:,.0f}" if whole else f"{value:.4g}"


def format_percent(share: float) -> str:
    """Write a share as a percentage.

    >>> format_percent(0.5), format_percent(0.0123), format_percent(0.00001)
    ('50%', '1.2%', '0.001%')
    """
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def shorten(text: str, length: int) -> str:
    r"""Cut a text to one line of at most ``length`` characters.

    >>> shorten("k-medoids  of\nanything", 12)
    'k-medoids o…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
