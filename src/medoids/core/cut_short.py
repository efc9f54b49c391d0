"""The result of a fit that ends early, by Ctrl-C or a limit: the best medoids so far, with an exact assignment.

While BUILD has chosen fewer than k medoids, the others are drawn as k-medoids++ draws them, from a sample if n is
large. The final assignment takes k n distances, and a limit on time or distances leaves enough for them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from medoids.core.assignment import Assignment, KeptRows
from medoids.core.initialization import complete
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.core.sampling import draw
from medoids.engine import interrupts
from medoids.engine.arrays import Rows
from medoids.engine.budget import DEAR_NS, MEDOIDS_PER_CHUNK, TIMED_DISTANCES

__all__ = ["DRAWING_SHARE", "cut_short", "distances_to_finish", "seconds_per_distance"]

# Rows, and rows for each medoid, of a sample from which medoids are drawn; all rows, unless there are this many times
# more.
_SAMPLE_ROWS, _SAMPLE_ROWS_PER_MEDOID, _LARGE_MULTIPLE = 1000, 10, 4
# Time for drawing medoids, as a share of that for the final assignment.
DRAWING_SHARE = 0.25


def cut_short(
    rows: RowSource, best: Solution | None, fallback: Rows | None = None, *, from_sample: bool
) -> tuple[Solution, int]:
    """Return the best solution of a run that was interrupted anywhere, and the number of medoids drawn at random.

    ``best`` is that of the starts before; ``fallback`` are medoids that stand in for a start that is not complete;
    ``from_sample`` allows drawing medoids from a sample.
    """
    problem, run = rows.problem, rows.run
    run.threads.interrupts.forget()
    run.allowance.lift()
    run.journal = None  # the checkpoint stays at the last step, from which the search can resume
    run.resume(rows.assign)  # a checkpoint that the algorithm did not get to
    if len(run.medoids) < problem.k:
        run.outlook = None
    if best is not None and len(run.medoids) < problem.k:
        return replace(best, converged=False), 0
    if fallback is not None and len(run.medoids) < problem.k:
        run.medoids, run.trace = tuple(fallback.tolist()), []
    solution, drawn = _finish(rows, from_sample=from_sample)
    if best is not None and best.assignment.loss <= solution.assignment.loss:
        run.outlook = None  # of other medoids
        return replace(best, converged=False), 0
    return solution, drawn


def _finish(rows: RowSource, *, from_sample: bool) -> tuple[Solution, int]:
    problem, run = rows.problem, rows.run
    drawn = 0
    if len(run.medoids) == problem.k:
        assignment = rows.assign(run.medoids)
        if not run.trace:
            run.step("build", assignment, references=problem.n, candidates=problem.k)
    else:
        given = problem.frozen if isinstance(problem.init, str) else problem.init.tolist()
        chosen = list(dict.fromkeys([*run.medoids, *given]))
        drawn, candidates = problem.k - len(chosen), problem.k - len(run.medoids)
        assignment = _quick_start(rows, chosen) if from_sample else complete(rows, chosen)
        run.step("build", assignment, references=problem.n, candidates=candidates)
    swaps = sum(step.phase == "swap" for step in run.trace)
    return Solution(assignment, swaps, converged=False, trace=run.trace), drawn


def _quick_start(rows: RowSource, chosen: list[int]) -> Assignment:
    """Complete some medoids by drawn ones."""
    problem, run = rows.problem, rows.run
    if (size := _sample_size(problem)) is None:
        return complete(rows, chosen)
    sample, weights = draw(problem, run.random, chosen, size)
    part = problem.part(sample, weights, init=problem.init, max_iter=0)
    drawn = complete(RowSource(part, run.part(part)), np.searchsorted(sample, chosen).tolist())
    return rows.assign(sample[drawn.medoids])


def _sample_size(problem: Problem) -> int | None:
    """Return the size of the sample from which medoids are drawn; None for all rows."""
    size = max(_SAMPLE_ROWS, _SAMPLE_ROWS_PER_MEDOID * problem.k)
    return size if problem.distance.threaded and problem.n > _LARGE_MULTIPLE * size else None


def distances_to_finish(problem: Problem, run: Run) -> int:
    """Return the number of distances that the end of the run may take now: the assignment, and warnings about it."""
    k = problem.k
    drawn = 0 if len(run.medoids) == k else k * (_sample_size(problem) or 0)
    between = 0 if problem.has_room(8) else 2 * k * k
    # Limits on sizes take the distances from all medoids once more.
    return k * problem.n * (1 if problem.sizes is None else 2) + drawn + between


def seconds_per_distance(problem: Problem, run: Run) -> float:
    """Time one small chunk of the final assignment: exact distances, and which medoid is nearest."""
    distance = run.distance
    cheap = distance.cost < DEAR_NS
    first = problem.candidates[: min(problem.k, MEDOIDS_PER_CHUNK) if cheap else 1]
    count = min(problem.n - 1, TIMED_DISTANCES["cheap" if cheap else "dear"])
    if count == 0:
        return 0.0
    trial = Assignment(problem.weights[1 : 1 + count], KeptRows(len(first), count))
    with run.phase("exact"):
        distance.exact_block(first, slice(0, 1))  # compile
        began = interrupts.clock()
        block = distance.exact_block(first, slice(1, 1 + count))
        for i, distances in zip(first.tolist(), block, strict=True):
            trial.add(i, distances)
    return (interrupts.clock() - began) / (block.size * (run.threads.n_jobs if distance.threaded else 1))
