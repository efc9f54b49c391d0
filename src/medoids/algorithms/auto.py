"""Which algorithm ``auto`` takes, and which swaps: the cheapest way to PAM's answer, or to one as good for far less.

All prices are seconds on one core, for n points and k medoids:

    matrix     n^2 (or half of it) distances + n^2 PASS (ln k + 5)
    exact      n^2 max(PASS, distance / 2) (ln k + 5), where distances are cheap: without a matrix
    PairedPAM  n min(n, a + b k) distances * BLOCK + n 1.5 k STEP (1 + k / 60); n/4 more of them where they are dear
    eager      START + n min(n, a + b k) (distance + SUM)

A pass over the matrix reads an entry and updates a sum; BUILD takes ln k of them, the swaps about five. PairedPAM needs
more distances per point for more medoids, and takes about 1.5 k steps. Eager swaps need no certainty about which step
is best. They are taken where the best of the others would take more than three times as long: for rows of few columns.
The constants are in ``engine/budget.py``. A dear distance is a callable or the like; near-ties among words and strings
take more of them than among vectors.

The price of a distance is what its metric says for the size of the objects (``Dissimilarity.cost``), so that the same
data lead to the same algorithm on any machine. The cost of a Python callable is unknown, so some calls are timed.
"""

from __future__ import annotations

from math import floor, log, log10
from time import perf_counter

import numpy as np

from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.distances import SMALL
from medoids.engine.budget import (
    DEAR_NS,
    EAGER_ADVANTAGE,
    EAGER_COUNTS,
    PAIRED_COUNTS,
    PASS_SECONDS,
    PROBE_ROWS,
    SMALL_DEAR,
    START_SECONDS,
    STEP_SECONDS,
    SUM_SECONDS,
)
from medoids.exact.computed import computes
from medoids.exact.matrix import matrix_bytes

__all__ = ["choose", "choose_swap"]

# Distances whose squares, summed over many points, stay finite; those of one divided by it do not vanish.
_LARGEST_SQUARED = 1e140


def choose(problem: Problem, run: Run) -> tuple[str, str, str]:
    """Return the algorithm, which swaps it makes, and the reason, for `verbose` and the result."""
    n, need = problem.n, matrix_bytes(problem)
    size = f"{n:,} x {n:,} distance matrix"
    if need == 0:
        return "fastpam1", "best", f"the {size} is given: PAM's own path, exact"
    dear = problem.distance.cost >= DEAR_NS
    if n <= (SMALL_DEAR if dear else SMALL) and need <= problem.memory_limit:
        return "fastpam1", "best", f"the {size} is small: PAM's own path, exact"
    seconds, largest = _measure(run, PROBE_ROWS["dear" if dear else "cheap"])
    wrong = _unsuitable(problem, largest)
    if wrong and need <= problem.memory_limit:
        return "fastpam1", "best", f"{wrong}: PAM's own path, which needs none"
    timed = problem.distance.timed
    price = seconds if timed else 1e-9 * problem.distance.cost
    how = "by a timing of some calls, " if timed else ""
    computed = computes(problem)
    matrix = _matrix_seconds(problem, price, computed) if computed or need <= problem.memory_limit else np.inf
    paired, eager = _paired_seconds(problem, price), _eager_seconds(problem, price)
    if _takes_eager(problem, min(matrix, paired), eager):
        return "pairedpam", "eager", _eager_reason(problem, min(matrix, paired), eager)
    if matrix <= paired:
        what = "exact sums without a matrix are" if computed else f"the {size} is"
        prices = how + _compared(matrix, paired)
        return "fastpam1", "best", f"{what} cheaper than sampling ({prices}): PAM's own path, exact"
    if need > problem.memory_limit:
        reason = f"the {size} needs {need / 2**30:.1f} GiB, more than memory_limit: sampled distances"
        return "pairedpam", "best", reason
    prices = how + _compared(paired, matrix)
    what = "exact sums" if computed else f"the {size}"
    return "pairedpam", "best", f"sampled distances are cheaper than {what} ({prices})"


def choose_swap(problem: Problem) -> tuple[str, str]:
    """Return which swaps PairedPAM makes, and the reason."""
    price = 1e-9 * problem.distance.cost
    paired, eager = _paired_seconds(problem, price), _eager_seconds(problem, price)
    if _takes_eager(problem, paired, eager):
        return "eager", f"asked for; {_eager_reason(problem, paired, eager)}"
    return "best", "asked for"


def _takes_eager(problem: Problem, best: float, eager: float) -> bool:
    if problem.swap == "auto":
        return not problem.distance.timed and best > EAGER_ADVANTAGE * eager
    return problem.swap == "eager"


def _eager_reason(problem: Problem, best: float, eager: float) -> str:
    if problem.swap == "eager":
        return "eager swaps were asked for"
    return f"eager swaps are far cheaper than PAM's own path ({_compared(eager, best)})"


def _unsuitable(problem: Problem, largest: float) -> str:
    """Return why distances cannot be sampled; nothing if they can."""
    if largest > _LARGEST_SQUARED:
        return f"squares of distances as large as {largest:.0e} overflow"
    if 0 < largest < 1 / _LARGEST_SQUARED:
        return f"squares of distances as small as {largest:.0e} vanish"
    return "squares of distances may overflow or vanish" if problem.distance.wide_range else ""


def _matrix_seconds(problem: Problem, price: float, computed: bool) -> float:
    if computed:  # some out of reach
        return problem.n**2 * max(PASS_SECONDS, price / 2) * (log(problem.k) + 5)
    half = 0.5 if problem.distance.symmetric else 1.0
    return problem.n**2 * (half * price + PASS_SECONDS * (log(problem.k) + 5))


def _paired_seconds(problem: Problem, price: float) -> float:
    n, k, dear = problem.n, problem.k, problem.distance.cost >= DEAR_NS
    a, b, block = PAIRED_COUNTS["dear" if dear else "cheap"]
    count = min(n, a + b * k + (n / 4 if dear else 0))
    return n * count * price * block + n * 1.5 * k * STEP_SECONDS * (1 + k / 60)


def _eager_seconds(problem: Problem, price: float) -> float:
    a, b = EAGER_COUNTS
    return START_SECONDS + problem.n * min(problem.n, a + b * problem.k) * (price + SUM_SECONDS)


def _compared(less: float, more: float) -> str:
    """Write two times with as many digits as show which is less.

    >>> _compared(0.0432, 3.2), _compared(0.16, 0.2)
    ('about 0.04 against 3 core-seconds', 'about 0.16 against 0.20 core-seconds')
    >>> _compared(0.2116, 0.2117)
    'by a hair: both about 0.212 core-seconds'
    """
    for precision in range(1, 4):
        one, other = _seconds(less, precision), _seconds(more, precision)
        if one != other:
            return f"about {one} against {other} core-seconds"
    return f"by a hair: both about {one} core-seconds"


def _seconds(value: float, precision: int = 1) -> str:
    """Write a rough time as people do.

    >>> _seconds(0.0432), _seconds(3.2), _seconds(1234.5), _seconds(0.098)
    ('0.04', '3', '1,200', '0.1')
    """
    significant = max(precision, 1 + (value >= 10))
    rounded = float(f"{value:.{significant - 1}e}")
    return f"{rounded:,.{max(0, significant - 1 - floor(log10(rounded)))}f}"


def _measure(run: Run, rows: int) -> tuple[float, float]:
    """Seconds of one distance, and the largest, from one block of the first rows."""
    # Of a few rows, so that no working copy of all of X is made before it is known in which order it is wanted.
    distance = run.distance.take(slice(0, rows))
    distance.prepare()
    with run.phase("matrix"):
        distance.block(slice(0, 1), slice(0, 1))  # compile
        began = perf_counter()
        block = distance.block(slice(0, rows), slice(0, rows))
    return (perf_counter() - began) / block.size, float(block.max())
