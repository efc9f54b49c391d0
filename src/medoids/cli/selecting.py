"""Which columns of a file are features, names of rows, or weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medoids.cli.failures import WrongUsage

__all__ = ["Selection", "chosen_columns"]


@dataclass(frozen=True)
class Selection:
    """Options on columns."""

    columns: str | None = None
    ignore: str | None = None
    id: str | None = None
    weights: str | None = None


def chosen_columns(names: Sequence[str], selection: Selection, file: str) -> list[str]:
    """Return the columns of a file that are features."""
    for option in ("id", "weights"):
        name = getattr(selection, option)
        if name is not None and name not in names:
            raise WrongUsage(f"--{option} {name}: {file} has no such column; it has {', '.join(names)}")
    aside = [name for name in (selection.id, selection.weights) if name is not None]
    wanted = _expanded(selection.columns, names, "--columns", file) if selection.columns else list(names)
    ignored = _expanded(selection.ignore, names, "--ignore", file) if selection.ignore else []
    out = {*aside, *ignored}
    chosen = [name for name in wanted if name not in out]
    if not chosen:
        raise WrongUsage(f"no columns of {file} are left; it has {', '.join(names)}")
    return chosen


def _expanded(option: str, names: Sequence[str], flag: str, file: str) -> list[str]:
    """Names of columns from "a,b,d:g", where d:g is from d to g as they stand in the file."""
    found: dict[str, None] = {}
    for part in option.split(","):
        part = part.strip()
        ends = [part] if part in names else part.split(":")
        for name in ends:
            if name not in names:
                raise WrongUsage(f"{flag} {part}: {file} has no column {name!r}; it has {', '.join(names)}")
        first, last = names.index(ends[0]), names.index(ends[-1])
        if len(ends) > 2 or last < first:
            raise WrongUsage(f"{flag} {part}: a range is FIRST:LAST, in the order of the file")
        found |= dict.fromkeys(names[first : last + 1])
    return list(found)
