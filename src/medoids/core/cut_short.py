"""The result of a fit that ends early, by Ctrl-C or a time limit: the best medoids so far, with an exact assignment.

While BUILD has chosen fewer than k medoids, the others are drawn as k-medoids++ draws them. The final assignment takes
k n distances, and a time limit leaves time for them.
"""

from __future__ import annotations

from dataclasses import replace

from medoids.core.initialization import complete
from medoids.core.problem import Problem, Solution
from medoids.core.rows import RowSource
from medoids.core.run import Run
from medoids.engine import interrupts
from medoids.engine.budget import DEAR_NS, TIMED_DISTANCES

__all__ = ["cut_short", "seconds_per_distance"]


def cut_short(rows: RowSource, best: Solution | None) -> tuple[Solution, int]:
    """Return the best solution of a run that was interrupted anywhere, and the number of medoids drawn at random.

    ``best`` is that of the starts before.
    """
    problem, run = rows.problem, rows.run
    run.threads.interrupts.forget()
    run.journal = None  # the checkpoint stays at the last step, from which the search can resume
    run.resume(rows.assign)  # a checkpoint that the algorithm did not get to
    if best is not None and len(run.medoids) < problem.k:
        return replace(best, converged=False), 0
    solution, drawn = _finish(rows)
    if best is not None and best.assignment.loss <= solution.assignment.loss:
        return replace(best, converged=False), 0
    return solution, drawn


def _finish(rows: RowSource) -> tuple[Solution, int]:
    problem, run = rows.problem, rows.run
    drawn = 0
    if len(run.medoids) == problem.k:
        assignment = rows.assign(run.medoids)
    else:
        given = problem.frozen if isinstance(problem.init, str) else problem.init.tolist()
        chosen = list(dict.fromkeys([*run.medoids, *given]))
        drawn, candidates = problem.k - len(chosen), problem.k - len(run.medoids)
        assignment = complete(rows, chosen)
        run.step("build", assignment, references=problem.n, candidates=candidates)
    swaps = sum(step.phase == "swap" for step in run.trace)
    return Solution(assignment, swaps, converged=False, trace=run.trace), drawn


def seconds_per_distance(problem: Problem, run: Run) -> float:
    """Time one small chunk of exact distances, such as the final assignment consists of."""
    distance = run.distance
    first = problem.candidates[:1]
    count = min(problem.n - 1, TIMED_DISTANCES["cheap" if distance.cost < DEAR_NS else "dear"])
    if count == 0:
        return 0.0
    with run.phase("exact"):
        distance.exact_block(first, slice(0, 1))  # compile
        began = interrupts.clock()
        distance.exact_block(first, slice(1, 1 + count))
    return (interrupts.clock() - began) / (count * (run.threads.n_jobs if distance.threaded else 1))
