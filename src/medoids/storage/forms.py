"""What a value that was read from a file must look like: forms are made of forms, and say where a value breaks one.

A checksum tells that a file is as it was written, not that a sensible program wrote it.

>>> point = record({"name": text(), "place": sequence(number(), length=2)})
>>> point({"name": "a", "place": [1, 2.5]}, "point")
>>> point({"name": "a", "place": [1, None]}, "point")
Traceback (most recent call last):
ValueError: point.place[1] is None; it must be a finite number
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn

__all__ = [
    "Form",
    "anything",
    "either",
    "fixed",
    "flag",
    "mapping",
    "nothing",
    "number",
    "record",
    "sequence",
    "text",
    "whole",
]

# Called with a value and its name; raises ValueError.
Form = Callable[[Any, str], None]
_LARGEST = 2**63 - 1


def _refuse(value: Any, where: str, wanted: str) -> NoReturn:
    # repr itself would fail on deep nests, and fill the screen with long texts.
    raise ValueError(f"{where} is {reprlib.repr(value)}; it must be {wanted}")


def anything(value: Any, where: str) -> None:
    pass


def whole(low: int = 0, high: int = _LARGEST) -> Form:
    wanted = f"a whole number of at least {low}" if high == _LARGEST else f"a whole number from {low} to {high}"

    def form(value: Any, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            _refuse(value, where, wanted)

    return form


def number(least: float = -math.inf) -> Form:
    wanted = "a finite number" + (f" of at least {least:g}" if math.isfinite(least) else "")

    def form(value: Any, where: str) -> None:
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        # A whole number may be beyond the largest float.
        if not plain or not -1.8e308 < value < 1.8e308 or value < least:
            _refuse(value, where, wanted)

    return form


def text(choices: Collection[str] | None = None) -> Form:
    def form(value: Any, where: str) -> None:
        if not isinstance(value, str) or (choices is not None and value not in choices):
            _refuse(value, where, "a text" if choices is None else f"one of {', '.join(sorted(choices))}")

    return form


def flag(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        _refuse(value, where, "true or false")


def nothing(value: Any, where: str) -> None:
    if value is not None:
        _refuse(value, where, "null")


def either(*forms: Form) -> Form:
    """Any of some forms; the last of them says what is wrong."""

    def form(value: Any, where: str) -> None:
        for each in forms[:-1]:
            try:
                each(value, where)
            except ValueError:
                continue
            return
        forms[-1](value, where)

    return form


def sequence(
    of: Form, *, length: int | None = None, least: int = 0, most: int | None = None, distinct: bool = False
) -> Form:
    """A list of things of one form."""
    least, most = (least, most) if length is None else (length, length)
    size = f" with {length} entries" if length is not None else ""

    def form(value: Any, where: str) -> None:
        if not isinstance(value, list):
            _refuse(value, where, f"a list{size}")
        if len(value) < least or (most is not None and len(value) > most):
            bounds = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            raise ValueError(f"{where} has {len(value)} entries; it must have {bounds}")
        for at, part in enumerate(value):
            of(part, f"{where}[{at}]")
        if distinct and len(set(value)) < len(value):
            again = next(part for at, part in enumerate(value) if part in value[:at])
            raise ValueError(f"{where} has {reprlib.repr(again)} twice; its entries must differ")

    return form


def fixed(*forms: Form) -> Form:
    """A list with a form for each entry."""

    def form(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) != len(forms):
            _refuse(value, where, f"a list with {len(forms)} entries")
        for at, (part, each) in enumerate(zip(value, forms, strict=True)):
            each(part, f"{where}[{at}]")

    return form


def mapping(of: Form) -> Form:
    """An object with any names."""

    def form(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _refuse(value, where, "an object")
        for name, part in value.items():
            of(part, f"{where}.{name}")

    return form


def record(forms: Mapping[str, Form], *, optional: Mapping[str, Form] | None = None, others: bool = False) -> Form:
    """An object with these names, perhaps with the optional ones, and with unknown ones if that is allowed."""
    known = {**forms, **(optional or {})}

    def form(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _refuse(value, where, f"an object with {', '.join(forms)}")
        lacking = next((name for name in forms if name not in value), None)
        if lacking is not None:
            raise ValueError(f"{where} has no {lacking}")
        for name, part in value.items():
            if name in known:
                known[name](part, f"{where}.{name}")
            elif not others:
                raise ValueError(f"{where} has an unknown {reprlib.repr(name)}")

    return form
