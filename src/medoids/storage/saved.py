"""The state of a fit between two steps: what a checkpoint holds, and what it must look like to go on from."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from medoids.distances import Count
from medoids.result import TraceRecord
from medoids.storage.forms import (
    Form,
    anything,
    either,
    fixed,
    flag,
    mapping,
    nothing,
    number,
    record,
    sequence,
    text,
    whole,
)

__all__ = ["Best", "Bounds", "Saved", "random_of", "state_of"]

# NumPy's generators of random bits; a file may name nothing else.
_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# Algorithms that write no step before they have all medoids.
_AT_ONCE = ("clara", "clarans")


@dataclass
class Best:
    """The best of the starts before this one."""

    medoids: list[int]
    n_swaps: int
    converged: bool
    trace: list[TraceRecord]


@dataclass(frozen=True)
class Bounds:
    """What a fit allows in a state that it goes on from.

    Attributes
    ----------
    n, k : int
        Rows and medoids.
    algorithms : collection of str
    starts : int
    build : bool
        Whether medoids are added one by one.
    frozen : tuple of int
        Rows that are medoids in any case.
    excluded : collection of int
        Rows that are never medoids.
    """

    n: int
    k: int
    algorithms: Collection[str]
    starts: int = 1
    build: bool = True
    frozen: tuple[int, ...] = ()
    excluded: Collection[int] = ()


@dataclass
class Saved:
    """What a fit needs to go on.

    Attributes
    ----------
    algorithm, reason : str
        What runs, and why.
    medoids : list of int
        By slot.
    trace : list of TraceRecord
        Of this start.
    counts : dict
        Distances so far, by phase.
    seconds : float
        So far.
    origin, random : dict
        The state of the random numbers when this start began, and now.
    position : dict
        Where in its own course the algorithm is.
    start : int
        Number of this start; those before it are done.
    best : Best or None
        Of those.
    """

    algorithm: str
    reason: str
    medoids: list[int]
    trace: list[TraceRecord]
    counts: dict[str, Count]
    seconds: float
    origin: dict[str, Any]
    random: dict[str, Any]
    position: dict[str, Any] = field(default_factory=dict)
    start: int = 0
    best: Best | None = None

    @classmethod
    def from_json(cls, state: Any, bounds: Bounds) -> Saved:
        """Return the state that a file holds.

        Raises
        ------
        ValueError
            Says which part is not what a fit within the bounds would have written.
        """
        try:
            _form(bounds)(state, "state")
            _check_course(state, bounds)
        except ValueError as error:
            raise ValueError(f"holds no state of this fit: {error}") from None
        best = state["best"]
        return cls(
            **{
                **state,
                "trace": _trace(state["trace"]),
                "counts": {phase: Count(**count) for phase, count in state["counts"].items()},
                "best": None if best is None else Best(**{**best, "trace": _trace(best["trace"])}),
            }
        )


def _trace(records: list[dict[str, Any]]) -> list[TraceRecord]:
    return [TraceRecord(**each) for each in records]


def _form(bounds: Bounds) -> Form:
    n, k, count = bounds.n, bounds.k, whole()
    row = whole(0, n - 1)
    medoids = sequence(row, length=k, distinct=True)
    step = record(
        {
            "phase": text(("build", "swap")),
            "medoid_in": either(nothing, row),
            "medoid_out": either(nothing, row),
            "loss": number(),
            "n_evaluations": count,
            "seconds": number(0),
            "references": count,
            "candidates": count,
        }
    )
    best = record({"medoids": medoids, "n_swaps": count, "converged": flag, "trace": sequence(step)})
    return record(
        {
            "algorithm": text(bounds.algorithms),
            "reason": text(),
            "medoids": sequence(row, least=1, most=k, distinct=True),
            "trace": sequence(step, least=1),
            "counts": mapping(record({"requested": count, "computed": count, "cached": count})),
            "seconds": number(0),
            "origin": _random_form,
            "random": _random_form,
            "position": _position_form(bounds),
            "start": whole(0, bounds.starts - 1),
            "best": either(nothing, best),
        }
    )


def _position_form(bounds: Bounds) -> Form:
    """What the algorithms write beside their medoids."""
    n, k, count = bounds.n, bounds.k, whole()
    row, candidate, slot = whole(0, n - 1), whole(0, n - len(bounds.excluded) - 1), whole(0, k - 1)
    medoids = sequence(row, length=k, distinct=True)
    return record(
        {"swaps": count},
        optional={
            "at": candidate,  # fasterpam: the next candidate
            "next": whole(0, k),  # alternate: the next slot
            "round": fixed(sequence(fixed(slot, row)), count, count),  # fastpam: proposals that are left
            "turn": fixed(count, count, flag),  # clara: the next sample
            "search": fixed(count, count, flag, count, either(nothing, medoids)),  # clarans
            "found": fixed(sequence(candidate), count, count),  # eager swaps: arms that are left
        },
    )


def _check_course(state: dict[str, Any], bounds: Bounds) -> None:
    """Refuse parts that are right on their own, but not together."""
    medoids, position, frozen = state["medoids"], state["position"], list(bounds.frozen)
    complete = [part["medoids"] for part in (state["best"],) if part is not None]
    complete += [kept for *_, kept in [position.get("search", [None])] if kept is not None]
    proposed = [i for _, i in position.get("round", [[]])[0]]
    excluded = {*medoids, *proposed, *(i for found in complete for i in found)} & set(bounds.excluded)
    if excluded:
        raise ValueError(f"state has row {min(excluded)} as a medoid, which has weight 0 and cannot be one")
    if (state["start"] > 0) != (state["best"] is not None):
        raise ValueError("state.best must be there from the second start on, and only then")
    building = (
        bounds.build
        and state["algorithm"] not in _AT_ONCE
        and position == {"swaps": 0}
        and all(step["phase"] == "build" for step in state["trace"])
    )
    if len(medoids) < bounds.k and not building:
        raise ValueError(f"state.medoids has {len(medoids)} entries; after BUILD it must have {bounds.k}")
    if len(medoids) < bounds.k:
        kept = medoids[: len(frozen)] == frozen[: len(medoids)]
    else:
        kept = all(set(frozen) <= set(found) for found in (medoids, *complete))
    if not kept:
        raise ValueError(f"state.medoids lacks frozen rows, which are {frozen}")


def state_of(random: np.random.RandomState) -> dict[str, Any]:
    """Return the state of random numbers in words that JSON knows.

    >>> random = np.random.RandomState(3)
    >>> state = state_of(random)
    >>> int(random.randint(1000)) == int(random_of(state).randint(1000))
    True
    """
    plain: dict[str, Any] = json.loads(json.dumps(random.get_state(legacy=False), default=_plain))
    return plain


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def random_of(state: dict[str, Any]) -> np.random.RandomState:
    """Return random numbers that go on from a state."""
    random = np.random.RandomState(getattr(np.random, state["bit_generator"])())
    random.set_state(_arrays(state))
    return random


def _arrays(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _arrays(value) for key, value in part.items()}
    return np.array(part, dtype=np.uint64) if isinstance(part, list) else part


def _random_form(value: Any, where: str) -> None:
    record({"bit_generator": text(_GENERATORS), "state": anything}, others=True)(value, where)
    if value["bit_generator"] == "MT19937":
        # NumPy reads beyond the key where pos is larger, and an empty key gives the same number for ever.
        key = sequence(whole(0, 2**32 - 1), length=624)
        record({"key": key, "pos": whole(0, 624)})(value["state"], f"{where}.state")
        if not any(value["state"]["key"][1:]):
            raise ValueError(f"{where}.state.key is all 0; no generator has that state")
    try:
        random_of(value)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError(f"{where} is not a state of random numbers: {error}") from None
