"""The state of a fit between two steps: what a checkpoint stores, and the checks before a fit resumes from it."""

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

__all__ = ["Best", "Bounds", "Saved", "random_form", "random_of", "state_of"]

# The bit generators of NumPy; a file may name nothing else.
_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# Seconds of a fit: more than a century.
_LONGEST_FIT = 4e9
# Algorithms that record no step before they have all medoids.
_WITHOUT_BUILD_STEPS = ("clara", "clarans")


@dataclass
class Best:
    """The best result of the starts completed so far."""

    medoids: list[int]
    n_swaps: int
    converged: bool
    trace: list[TraceRecord]


@dataclass(frozen=True)
class Bounds:
    """What a fit accepts in a state that it resumes from.

    Attributes
    ----------
    n, k : int
        Numbers of rows and medoids.
    algorithms : collection of str
    starts : int
    build : bool
        Whether medoids are added one by one.
    frozen : tuple of int
        Rows that are always medoids.
    excluded : collection of int
        Rows that are never medoids.
    points : int, optional
        Number of points, if these are not the rows.
    """

    n: int
    k: int
    algorithms: Collection[str]
    starts: int = 1
    build: bool = True
    frozen: tuple[int, ...] = ()
    excluded: Collection[int] = ()
    points: int | None = None


@dataclass
class Saved:
    """What a fit needs to resume.

    Attributes
    ----------
    algorithm, swap, reason : str
        The algorithm that runs, the swaps that it makes, and why.
    medoids : list of int
        By slot.
    trace : list of TraceRecord
        The steps of this start.
    counts : dict
        Numbers of distances so far, by phase.
    seconds : float
        Time spent so far.
    origin, random : dict
        The random state at the beginning of this start, and now.
    position : dict
        What the algorithm must know beside its medoids to continue.
    start : int
        Number of this start; earlier ones are complete.
    best : Best or None
        The best of the earlier starts.
    """

    algorithm: str
    swap: str
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
            If some part is not what a fit within the bounds would have written.
        """
        try:
            _state_form(bounds)(state, "state")
            _check_consistency(state, bounds)
        except ValueError as error:
            raise ValueError(f"does not hold a state of this fit: {error}") from None
        state = {**state, "trace": _trace(state["trace"])}
        state["counts"] = {phase: Count(**count) for phase, count in state["counts"].items()}
        if state["best"] is not None:
            state["best"] = Best(**{**state["best"], "trace": _trace(state["best"]["trace"])})
        return cls(**state)


def _trace(records: list[dict[str, Any]]) -> list[TraceRecord]:
    return [TraceRecord(**each) for each in records]


def _state_form(bounds: Bounds) -> Form:
    n, k, count = bounds.n, bounds.k, whole()
    row, candidate, slot = whole(0, n - 1), whole(0, n - len(bounds.excluded) - 1), whole(0, k - 1)
    medoids = sequence(row, length=k, distinct=True)
    step = record(
        {
            "phase": text(("build", "swap", "restart", "proof", "silhouette")),
            "medoid_in": either(nothing, row),
            "medoid_out": either(nothing, row),
            "loss": number(),
            "n_evaluations": count,
            "seconds": number(0, _LONGEST_FIT),
            "references": count,
            "candidates": count,
            "lower_bound": either(nothing, number()),
        }
    )
    known = {"medoids": medoids, "lower_bound": either(nothing, number()), "seed": whole(0, 2**31 - 1)}
    prices = either(nothing, sequence(number(), length=bounds.points or n))
    best = record({"medoids": medoids, "n_swaps": count, "converged": flag, "trace": sequence(step)})
    position = record(
        {"swaps": count},
        optional={
            "at": candidate,  # fasterpam: the next candidate
            "next": whole(0, k),  # alternate: the next slot
            "round": fixed(sequence(fixed(slot, row)), count, count),  # fastpam: the remaining proposals
            "turn": fixed(count, count, flag),  # clara: the next sample
            "search": fixed(count, count, flag, count, either(nothing, medoids)),  # clarans
            "pool": fixed(sequence(row), count, text()),  # eager swaps: candidates, level, arms that are left
            "tabu": fixed(sequence(fixed(row, count)), count),  # rows that are barred, until which move; moves
            "proof": record({**known, "prices": prices}),  # optimal
        },
    )
    return record(
        {
            "algorithm": text(bounds.algorithms),
            "swap": text(("best", "eager")),
            "reason": text(),
            "medoids": sequence(row, least=1, most=k, distinct=True),
            "trace": sequence(step, least=1),
            "counts": mapping(record({"requested": count, "computed": count, "cached": count})),
            "seconds": number(0, _LONGEST_FIT),
            "origin": random_form,
            "random": random_form,
            "position": position,
            "start": whole(0, bounds.starts - 1),
            "best": either(nothing, best),
        }
    )


def _check_consistency(state: dict[str, Any], bounds: Bounds) -> None:
    """Refuse parts that are valid on their own, but not together."""
    medoids, position, frozen, best = state["medoids"], state["position"], list(bounds.frozen), state["best"]
    complete = [kept for kept in (best and best["medoids"], position.get("search", [None])[-1]) if kept]
    proposed = [row for _, row in position.get("round", [[]])[0]]
    if excluded := {*medoids, *proposed}.union(*complete) & set(bounds.excluded):
        raise ValueError(f"state has row {min(excluded)} as a medoid, but it is no candidate")
    swaps = sum(step["phase"] == "swap" for step in state["trace"])
    if position["swaps"] != swaps:
        raise ValueError(f"state.position.swaps is {position['swaps']}, but state.trace has {swaps}")
    if (state["start"] > 0) != (best is not None):
        raise ValueError("state.best must be present from the second start on, and only then")
    if len(medoids) == bounds.k:
        kept = all(set(frozen) <= set(found) for found in (medoids, *complete))
    else:
        building = bounds.build and state["algorithm"] not in _WITHOUT_BUILD_STEPS and position == {"swaps": 0}
        if not building or any(step["phase"] != "build" for step in state["trace"]):
            raise ValueError(f"state.medoids has {len(medoids)} entries; after BUILD it must have {bounds.k}")
        kept = medoids[: len(frozen)] == frozen[: len(medoids)]
    if not kept:
        raise ValueError(f"state.medoids lacks frozen rows, which are {frozen}")


def state_of(random: np.random.RandomState) -> dict[str, Any]:
    """Return the state of a random number generator as values that JSON can store.

    >>> random = np.random.RandomState(3)
    >>> state = state_of(random)
    >>> int(random.randint(1000)) == int(random_of(state).randint(1000))
    True
    """
    return dict(json.loads(json.dumps(random.get_state(legacy=False), default=lambda value: value.tolist())))


def random_of(state: dict[str, Any]) -> np.random.RandomState:
    """Return a random number generator in the given state."""
    random = np.random.RandomState(getattr(np.random, state["bit_generator"])())
    random.set_state(_arrays(state))
    return random


def _arrays(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _arrays(value) for key, value in part.items()}
    return np.array(part, dtype=np.uint64) if isinstance(part, list) else part


def random_form(value: Any, where: str) -> None:
    """The form of the state of a random number generator."""
    record({"bit_generator": text(_GENERATORS), "state": anything}, others=True)(value, where)
    if value["bit_generator"] == "MT19937":
        # NumPy reads beyond the key if pos is larger, and a key of zeros yields the same number forever.
        key = sequence(whole(0, 2**32 - 1), length=624)
        record({"key": key, "pos": whole(0, 624)})(value["state"], f"{where}.state")
        if not any(value["state"]["key"][1:]):
            raise ValueError(f"{where}.state.key is all 0, which is not a state of this generator")
    try:
        random_of(value)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError(f"{where} is not the state of a random number generator: {error}") from None
