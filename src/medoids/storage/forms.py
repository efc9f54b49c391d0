"""Checks on values read from JSON. A form describes a value, is built from other forms, and says where a value differs.

A checksum shows that a file is unchanged, not that a sensible program wrote it.

>>> point = record({"name": text(), "place": sequence(number(), length=2)})
>>> point({"name": "a", "place": [1, 2.5]}, "point")
>>> point({"name": "a", "place": [1, None]}, "point")
Traceback (most recent call last):
ValueError: point.place[1] is None; it must be a finite number
"""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

__all__ = [
    "Form",
    "anything",
    "either",
    "fixed",
    "flag",
    "is_text",
    "mapping",
    "matching",
    "nothing",
    "number",
    "record",
    "sequence",
    "text",
    "whole",
]

# Called with a value and its name; raises ValueError.
Form = Callable[[Any, str], None]
# The largest value of NumPy's signed integers.
_LARGEST_INT64 = 2**63 - 1


def matching(is_valid: Callable[[Any], bool], wanted: str, check_parts: Form | None = None) -> Form:
    """Return a form of two checks: one of the value itself, then one of its parts."""

    def form(value: Any, where: str) -> None:
        if not is_valid(value):
            # repr itself would fail on deep nesting, and fill the screen with long strings.
            raise ValueError(f"{where} is {reprlib.repr(value)}; it must be {wanted}")
        if check_parts is not None:
            check_parts(value, where)

    return form


anything = matching(lambda value: True, "anything")
flag = matching(lambda value: isinstance(value, bool), "true or false")
nothing = matching(lambda value: value is None, "null")


def whole(low: int = 0, high: int = _LARGEST_INT64) -> Form:
    """An integer."""
    limits = f"of at least {low}" if high == _LARGEST_INT64 else f"from {low} to {high}"
    return matching(lambda value: type(value) is int and low <= value <= high, f"a whole number {limits}")


def number(least: float = -math.inf, most: float = math.inf) -> Form:
    """A finite integer or float."""
    limits = [f" of at least {least:g}"] if math.isfinite(least) else []
    limits += [f" of at most {most:g}"] if math.isfinite(most) else []
    low, high = max(least, -sys.float_info.max), min(most, sys.float_info.max)
    wanted = f"a finite number{' and'.join(limits)}"
    return matching(lambda value: type(value) in (int, float) and low <= value <= high, wanted)


def text(choices: Collection[str] | None = None) -> Form:
    """A string, or one of some strings."""
    if choices is None:
        return matching(is_text, "a string that UTF-8 can encode")
    return matching(lambda value: isinstance(value, str) and value in choices, f"one of {', '.join(sorted(choices))}")


def is_text(value: Any) -> bool:
    """Return whether a value is a string without half of a surrogate pair, which JSON can escape."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def either(*forms: Form) -> Form:
    """Any of several forms; the last one explains what is wrong."""

    def form(value: Any, where: str) -> None:
        for each in forms[:-1]:
            try:
                return each(value, where)
            except ValueError:
                pass
        forms[-1](value, where)

    return form


def sequence(
    of: Form, *, length: int | None = None, least: int = 0, most: int | None = None, distinct: bool = False
) -> Form:
    """A list whose entries all have one form."""
    least, most = (least, most) if length is None else (length, length)

    def check(value: Any, where: str) -> None:
        if len(value) < least or (most is not None and len(value) > most):
            bounds = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            raise ValueError(f"{where} has {len(value)} entries; it must have {bounds}")
        for at, part in enumerate(value):
            of(part, f"{where}[{at}]")
        if distinct and len(set(value)) < len(value):
            again = next(part for at, part in enumerate(value) if part in value[:at])
            raise ValueError(f"{where} has {reprlib.repr(again)} twice; its entries must differ")

    return matching(lambda value: isinstance(value, list), "a list", check)


def fixed(*forms: Form) -> Form:
    """A list with a form for each entry."""

    def check(value: Any, where: str) -> None:
        for at, (part, each) in enumerate(zip(value, forms, strict=True)):
            each(part, f"{where}[{at}]")

    size = len(forms)
    return matching(lambda value: isinstance(value, list) and len(value) == size, f"a list with {size} entries", check)


def mapping(of: Form) -> Form:
    """An object with any keys, whose values all have one form."""

    def check(value: Any, where: str) -> None:
        for name, part in value.items():
            text()(name, f"a name in {where}")
            of(part, f"{where}.{name}")

    return matching(lambda value: isinstance(value, dict), "an object", check)


def record(forms: Mapping[str, Form], *, optional: Mapping[str, Form] | None = None, others: bool = False) -> Form:
    """An object with a form for each key; further keys must be optional ones unless ``others``."""
    known = {**forms, **(optional or {})}

    def check(value: Any, where: str) -> None:
        if missing := [name for name in forms if name not in value]:
            raise ValueError(f"{where} has no {missing[0]}")
        for name, part in value.items():
            if name in known:
                known[name](part, f"{where}.{name}")
            elif not others:
                raise ValueError(f"{where} has an unknown {reprlib.repr(name)}")

    return matching(lambda value: isinstance(value, dict), f"an object with {', '.join(forms)}", check)
