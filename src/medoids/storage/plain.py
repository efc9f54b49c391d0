"""Values of Python as JSON, and back: what tokens, members of sets, labels of trees and parameters may be.

null, true, false, texts, finite numbers and lists stand for themselves, and so do objects. What JSON does not know is
an object with one of these names::

    {"tuple": [...]}   {"set": [...]}   {"bytes": "00ff"}   {"float": "inf"}   {"pairs": [[key, value], ...]}

The last one is a dict whose keys are not all texts. Nothing is ever evaluated.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from medoids.storage.forms import is_text

__all__ = ["from_json", "plain_value", "to_json"]

_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
# Names of values that JSON does not know.
_TAGS = frozenset({"tuple", "set", "bytes", "float", "pairs"})
# How deeply values may be nested in a file; labels of real data are nested once or twice.
_DEPTH = 16


def to_json(value: Any) -> Any:
    """Return a value as JSON knows it; raise TypeError if it is of another type.

    >>> to_json((1, b"a", {3: float("inf")}))
    {'tuple': [1, {'bytes': '61'}, {'pairs': [[3, {'float': 'inf'}]]}]}
    """
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not is_text(value):
            raise TypeError(f"{value!r} has half of a surrogate pair, which a file cannot hold")
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, (list, tuple)):
        parts = [to_json(part) for part in value]
        return parts if isinstance(value, list) else {"tuple": parts}
    if isinstance(value, (set, frozenset)):
        return {"set": sorted(map(to_json, value), key=json.dumps)}  # the same file for the same set
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and not (len(value) == 1 and set(value) <= _TAGS):
            return {to_json(key): to_json(part) for key, part in value.items()}
        return {"pairs": [[to_json(key), to_json(part)] for key, part in value.items()]}
    raise TypeError(f"{value!r:.80} is of type {type(value).__name__}, which a file of JSON cannot hold")


def from_json(value: Any) -> Any:
    """Return the value that `to_json` turned into this.

    >>> from_json({"tuple": [1, {"set": ["a"]}]})
    (1, frozenset({'a'}))
    """
    if isinstance(value, list):
        return [from_json(part) for part in value]
    if not isinstance(value, dict):
        return value
    tag, content = _tagged(value)
    if tag is None:
        return {key: from_json(part) for key, part in value.items()}
    if tag == "bytes":
        return bytes.fromhex(content)
    if tag == "float":
        return _FLOATS[content]
    parts = from_json(content)
    return tuple(parts) if tag == "tuple" else frozenset(parts) if tag == "set" else dict(parts)


def plain_value(value: Any, where: str, depth: int = _DEPTH) -> None:
    """Check, as a form, that `to_json` could have written a value."""
    if depth == 0:
        raise ValueError(f"{where} is nested too deeply")
    if isinstance(value, list):
        for at, part in enumerate(value):
            plain_value(part, f"{where}[{at}]", depth - 1)
    elif isinstance(value, dict):
        _check_object(value, where, depth)
    elif isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{where} is {value}; it must be a finite number")
    elif isinstance(value, str) and not is_text(value):
        raise ValueError(f"{where} is {value!r}; it must be a string that UTF-8 can encode")


def _check_object(value: dict[str, Any], where: str, depth: int) -> None:
    tag, content = _tagged(value)
    if tag in (None, "tuple", "set", "pairs"):
        for key, part in value.items():
            plain_value(key, f"a name in {where}", 1)
            plain_value(part, f"{where}.{key}", depth - 1)
    try:
        if tag in ("tuple", "set", "pairs") and not isinstance(content, list):
            raise ValueError
        from_json(value)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(f"{where}.{tag} is no {tag}") from None


def _tagged(value: dict[str, Any]) -> tuple[str | None, Any]:
    """Return the name and the content of a value that JSON does not know."""
    if len(value) == 1:
        [(tag, content)] = value.items()
        if tag in _TAGS:
            return tag, content
    return None, None
