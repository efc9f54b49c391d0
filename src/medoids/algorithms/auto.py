"""Which algorithm ``auto`` takes: the cheaper of the two that give PAM's answer, by a small cost model.

Both prices are seconds on one core:

    matrix     n^2 (or half of it) distances + n^2 PASS (ln k + 5)
    PairedPAM  n min(n, a + b k) distances * BLOCK + n 1.5 k STEP (1 + k / 60); n/4 more of them where they are dear

A pass over the matrix reads an entry and updates a sum; BUILD takes ln k of them, the swaps about five. PairedPAM needs
more distances per point for more medoids, in smaller blocks, and updates the moments of a point in about 1.5 k steps.
The constants are in ``engine/budget.py``. A dear distance is a callable or the like; near-ties among words and strings
take more of them than among vectors.

The price of a distance is what its metric says for the size of the objects (``Dissimilarity.cost``), so that the same
data lead to the same algorithm on any machine. The cost of a Python callable is unknown, so some calls are timed.
"""

from __future__ import annotations

from math import floor, log, log10
from time import perf_counter

from medoids.core.problem import Problem
from medoids.core.run import Run
from medoids.distances import SMALL
from medoids.engine.budget import DEAR_NS, PAIRED_COUNTS, PASS_SECONDS, PROBE_ROWS, SMALL_DEAR, STEP_SECONDS
from medoids.exact.matrix import matrix_bytes

__all__ = ["choose"]

# Distances whose squares, summed over many points, stay finite; those of one divided by it do not vanish.
_LARGEST_SQUARED = 1e140


def choose(problem: Problem, run: Run) -> tuple[str, str]:
    """Return the algorithm and the reason, for `verbose` and the result."""
    n, k, need = problem.n, problem.k, matrix_bytes(problem)
    size = f"{n:,} x {n:,} distance matrix"
    if need > problem.memory_limit:
        return "pairedpam", f"the {size} needs {need / 2**30:.1f} GiB, more than memory_limit: sampled distances"
    if need == 0:
        return "fastpam1", f"the {size} is given: PAM's own path, exact"
    dear = problem.distance.cost >= DEAR_NS
    kind = "dear" if dear else "cheap"
    if n <= (SMALL_DEAR if dear else SMALL):
        return "fastpam1", f"the {size} is small: PAM's own path, exact"
    seconds, largest = _measure(run, PROBE_ROWS[kind])
    timed = problem.distance.timed
    price = seconds if timed else 1e-9 * problem.distance.cost
    if largest > _LARGEST_SQUARED:
        return "fastpam1", f"squares of distances as large as {largest:.0e} overflow: PAM's own path, which needs none"
    if 0 < largest < 1 / _LARGEST_SQUARED:
        return "fastpam1", f"squares of distances as small as {largest:.0e} vanish: PAM's own path, which needs none"
    if problem.distance.wide_range:
        return "fastpam1", "squares of distances may overflow or vanish: PAM's own path, which needs none"
    half = 0.5 if problem.distance.symmetric else 1.0
    matrix = half * n**2 * price + n**2 * PASS_SECONDS * (log(k) + 5)
    a, b, block = PAIRED_COUNTS[kind]
    count = min(n, a + b * k + (n / 4 if dear else 0))
    paired = n * count * price * block + n * 1.5 * k * STEP_SECONDS * (1 + k / 60)
    how = "by a timing of some calls, " if timed else ""
    if matrix <= paired:
        prices = f"{how}about {_seconds(matrix)} against {_seconds(paired)} core-seconds"
        return "fastpam1", f"the {size} is cheaper than sampling ({prices}): PAM's own path, exact"
    prices = f"{how}about {_seconds(paired)} against {_seconds(matrix)} core-seconds"
    return "pairedpam", f"sampled distances are cheaper than the {size} ({prices})"


def _seconds(value: float) -> str:
    """Write a rough time as people do.

    >>> _seconds(0.0432), _seconds(3.2), _seconds(1234.5)
    ('0.04', '3', '1,200')
    """
    digits = (value >= 10) - floor(log10(value))
    return f"{round(value, digits):,.{max(0, digits)}f}"


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
