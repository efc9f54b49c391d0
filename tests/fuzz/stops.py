"""Signals at random moments: a fit that was stopped goes on to the same result, and no output is half there."""

from __future__ import annotations

import math
import re
import signal
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from everything import ANY_METRIC
from fuzz.children import STDERR, STDOUT, run_child
from fuzz.command import names_in
from fuzz.counts import COUNTS

SIGNALS = {"interrupt": signal.SIGINT, "kill": signal.SIGKILL, "terminate": signal.SIGTERM}
# Exit codes of a command that ended by itself or by a signal; SIGTERM may arrive before the command listens to it.
CODES = {"interrupt": (0, 130), "kill": (0, -signal.SIGKILL), "terminate": (0, 143, -signal.SIGTERM)}
OUTPUTS = ("labels.csv", "medoids.jsonl", "fit.model")


@dataclass(frozen=True)
class Stopped:
    """A fit of random points, and the signals it gets: which, and when as a share of its whole time."""

    algorithm: str
    seed: int
    n: int
    k: int
    stops: tuple[tuple[str, float], ...] = ()


@st.composite
def stopped(draw: st.DrawFn) -> Stopped:
    moment = st.integers(0, 110).map(lambda percent: percent / 100)
    # Few data sets, so that the uninterrupted result of most is known already.
    return Stopped(
        # "optimal" goes on from its medoids and its bound, but with another tree: nodes and bound may differ.
        algorithm=draw(st.sampled_from(("auto", *sorted(set(ANY_METRIC) - {"optimal"})))),
        seed=draw(st.integers(0, 1)),
        n=draw(st.sampled_from((150, 250))),
        k=draw(st.sampled_from((5, 12))),
        stops=tuple(draw(st.lists(st.tuples(st.sampled_from(list(SIGNALS)), moment), min_size=1, max_size=3))),
    )


def _arguments(job: Stopped) -> list[str]:
    outputs = ["-o", OUTPUTS[0], "--medoids", OUTPUTS[1], "--save", OUTPUTS[2]]
    fit = ["cluster", "points.npy", "-k", str(job.k), "--algorithm", job.algorithm, "--seed", str(job.seed), "--jobs=1"]
    return [*fit, *outputs, "--checkpoint", "fit.checkpoint", "--resume", "--quiet", "--json"]


def _write_data(job: Stopped, folder: Path) -> None:
    np.save(folder / "points.npy", np.random.RandomState(job.seed).normal(size=(job.n, 3)))


@cache
def _whole(job: Stopped) -> tuple[dict[str, str], str, float]:
    """Return what an uninterrupted fit writes and prints, and the seconds it takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_data(job, folder)
        code, seconds = run_child(folder, _arguments(job))
        assert code == 0, (folder / STDERR).read_text()
        return _outputs(folder), (folder / STDOUT).read_text(), seconds


def _outputs(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in OUTPUTS if (folder / name).exists()}


def alike(found: str, expected: str) -> bool:
    """Compare two texts: numbers to 1e-12, all else as it is.

    The last bit of a distance depends on the tile in which it was computed, and the checksum of a model on that bit.
    Times, counts of distances and steps differ where a fit was stopped.
    """
    found, expected = _DIFFERING.sub("", found), _DIFFERING.sub("", expected)
    if _NUMBER.sub("#", found) != _NUMBER.sub("#", expected):
        return False
    pairs = zip(_NUMBER.findall(found), _NUMBER.findall(expected), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-12, abs_tol=1e-12) for a, b in pairs)


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_DIFFERING = re.compile(r'"(?:sha256|seconds|n_evaluations)": [^,\n]*')


def check(job: Stopped) -> None:
    """Stop a fit, resume it until it ends, and fail if anything differs from the uninterrupted one."""
    subject = " ".join(name for name, _ in job.stops)
    try:
        files, printed, seconds = _whole(replace(job, stops=()))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _write_data(job, folder)
            killed = False
            for how, moment in job.stops:
                code, _ = run_child(folder, _arguments(job), SIGNALS[how], moment * seconds)
                killed |= how == "kill"
                _check_stop(folder, how, code, files, killed)
            code, _ = run_child(folder, _arguments(job))
            assert code == 0, f"exit code {code}: {(folder / STDERR).read_text()}"
            assert alike((folder / STDOUT).read_text(), printed), "the resumed fit prints another result"
            found = _outputs(folder)
            assert found.keys() == files.keys(), f"{files.keys() - found.keys()} missing"
            for name, content in found.items():
                assert alike(content, files[name]), f"{name} of the resumed fit differs"
            _check_drafts(folder)
    except BaseException:
        COUNTS.add("signals", subject, "failed")
        raise
    COUNTS.add("signals", subject, "passed")


def _check_stop(folder: Path, how: str, code: int, files: dict[str, str], killed: bool) -> None:
    said = (folder / STDERR).read_text()
    assert code in CODES[how], f"exit code {code} after {how}: {said}"
    assert "Traceback" not in said.partition("Exception ignored")[0], said
    for name, content in _outputs(folder).items():
        assert alike(content, files[name]), f"{name} is not whole after {how}"
    if not killed:  # what a killed process leaves is removed by the next one
        _check_drafts(folder)


def _check_drafts(folder: Path) -> None:
    drafts = names_in(folder) - {*OUTPUTS, "points.npy", "fit.checkpoint", STDOUT, STDERR}
    assert not drafts, f"{drafts} left behind"
