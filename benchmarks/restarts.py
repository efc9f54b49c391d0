"""Restarts on data sets: their time beside PAM's, how near they come to the best of 1,000, and what is proved."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.datasets import FOLDER, letter, mnist
from benchmarks.measure import in_turns, seconds_of
from medoids import k_medoids

__all__ = ["restarts"]

_ROWS, _SECONDS, _LETTER_SECONDS = 2000, 60.0, 300.0


def restarts() -> str:
    """Restarts: time beside PAM's on MNIST 10,000, loss beside that of 1,000 restarts, and proofs."""
    return "\n\n".join([_times(), _losses(), _letter()])


def _times() -> str:
    X = mnist()[:10_000].copy()
    lines = [
        "| MNIST 10,000, medians of 5 | fastpam1, s | with 50 restarts, s | ratio | bar |",
        "|---|---|---|---|---|",
    ]
    for k in (10, 50):
        works = {
            count: lambda k=k, count=count: k_medoids(X, k, algorithm="fastpam1", n_restarts=count, random_state=0)
            for count in (0, 50)
        }
        works[50]()  # compile
        timed = in_turns(works, 5)
        (pam, _), (more, _) = timed[0], timed[50]
        lines.append(f"| k = {k} | {pam:.2f} | {more:.2f} | {more / pam:.2f} | 7, {_met(more / pam <= 7)} |")
    return "\n".join(lines)


def _losses() -> str:
    lines = [
        f"| {_ROWS:,} rows | k | PAM above the best | 50 restarts above the best of 1,000 | optimal, {_SECONDS:g} s |",
        "|---|---|---|---|---|",
    ]
    reached, proofs, cases = 0, 0, 0
    for name, X in _sets():
        for k in (5, 10):
            pam, some, many = (
                k_medoids(X, k, algorithm="fastpam1", n_restarts=count, random_state=0).loss for count in (0, 50, 1000)
            )
            seconds, found = seconds_of(lambda X=X, k=k: _optimal(X, k, _SECONDS))
            best = min(many, found.loss)
            above = 0.0 if some <= many * (1 + 1e-9) else some / many - 1
            proof = f"proved in {seconds:.1f} s" if found.proved else f"gap {100 * found.gap:.3f}%"
            lines.append(f"| {name} | {k} | {100 * (pam / best - 1):.3f}% | {100 * above:.4f}% | {proof} |")
            reached, proofs, cases = reached + (above == 0), proofs + bool(found.proved), cases + 1
    lines.append(f"| not above 1,000 restarts (bar: all, {_met(reached == cases)}) | | | {reached} of {cases} | |")
    lines.append(f"| proved | | | | {proofs} of {cases} |")
    return "\n".join(lines)


def _letter() -> str:
    X = letter()[np.random.RandomState(0).choice(20_000, 5000, replace=False)]
    seconds, found = seconds_of(lambda: _optimal(X, 10, _LETTER_SECONDS))
    word = "proved" if found.proved else "not proved"
    return "\n".join(
        [
            "| letter, 5,000 rows, k = 10 | |",
            "|---|---|",
            f"| gap after {seconds:.0f} s, {word}, {found.nodes} nodes | {100 * found.gap:.4f}% |",
            f"| bar: 0.4% after 300 s | {_met(found.gap <= 0.004)} |",
        ]
    )


def _optimal(X: np.ndarray, k: int, seconds: float):  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says what is not proved
        return k_medoids(X, k, algorithm="optimal", time_limit=seconds, random_state=0)


def _sets() -> Iterator[tuple[str, np.ndarray]]:
    from sklearn.datasets import load_digits

    yield "digits (1,797)", load_digits().data
    beans = np.load(FOLDER / "drybean_13611x16_float64.npz")["X"]
    beans = (beans - beans.mean(axis=0)) / beans.std(axis=0)
    for name, X in (("Dry Bean, standardised", beans), ("letter", letter()), ("MNIST", mnist())):
        yield name, X[np.random.RandomState(0).choice(len(X), _ROWS, replace=False)]


def _met(is_met: bool) -> str:
    return "met" if is_met else "not met"
