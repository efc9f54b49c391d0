"""The optimum, or the best medoids with a proved gap: PAM, restarts, the Lagrangian dual, and branch and bound.

The work is done in ``medoids.optimal``, on a float64 matrix. Every better solution, and every bound that is higher by
much, is a step of the trace, so that a fit that ends early has its best medoids and their gap, and one that was killed
resumes from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medoids.algorithms.fastpam1 import fastpam1
from medoids.core.problem import Problem, Solution
from medoids.core.run import Proof, Run
from medoids.exact.matrix import Matrix, MatrixRows, matrix_bytes

if TYPE_CHECKING:
    from medoids.optimal.solve import Progress

__all__ = ["optimal"]

# A bound is worth a step of the trace if it leaves at most this share of the gap before.
_NARROWER = 0.8


def optimal(problem: Problem, run: Run) -> Solution:
    from medoids.optimal.instance import instance_of  # imports Numba
    from medoids.optimal.solve import solve_exactly

    rows = MatrixRows(problem, run, exact=True)
    run.proof = Proof()
    start = fastpam1(problem, run)
    resumed: dict[str, Any] = run.position.get("proof", {})
    seed = resumed["seed"] if resumed else int(run.random.randint(2**31 - 1))
    instance = instance_of(problem, run, rows.matrix.by_reference, problem.weights)
    steps = _Steps(rows, start, seed)
    if run.stopped:
        return Solution(start.assignment, start.n_swaps, converged=False)
    try:
        found = solve_exactly(
            instance,
            np.array(start.assignment.medoids),
            gap=problem.gap,
            n_restarts=problem.n_restarts,
            seed=seed,
            max_iter=problem.max_iter,
            memory_limit=max(0, problem.memory_limit - _held(problem, rows.matrix, instance.by_point)),
            state=None if resumed.get("prices") is None else {**resumed, "medoids": start.assignment.medoids},
            progress=steps.tell,
        )
    except _Stopped:
        return Solution(steps.assignment, start.n_swaps, converged=False)
    run.proof = Proof(found.lower_bound, found.nodes, found.note)
    return Solution(steps.assignment, start.n_swaps + found.n_swaps, converged=found.proved)


def _held(problem: Problem, matrix: Matrix, by_point: Any) -> int:
    """Bytes of the matrix, and of a copy of it by point."""
    copied = 0 if np.may_share_memory(matrix.values, by_point) else by_point.nbytes
    return matrix_bytes(problem, exact=True) + int(copied)


class _Stopped(Exception):
    """The callback asked to stop."""


class _Steps:
    """Makes steps of the trace from the progress of the search."""

    def __init__(self, rows: MatrixRows, start: Solution, seed: int) -> None:
        self._rows, self._seed = rows, seed
        self.assignment = start.assignment
        self._gap = self._first = np.inf

    def tell(self, now: Progress) -> None:
        run, problem = self._rows.run, self._rows.problem
        restarts = now.stage == "restarts"
        if restarts:
            stage, share = f"restart {now.restart}/{problem.n_restarts}", now.restart / max(1, problem.n_restarts)
        else:
            self._first = now.gap if self._first == np.inf else self._first
            stage = "dual" if now.stage == "dual" else f"node {now.nodes}"
            share = 1 - now.gap / self._first if 0 < self._first < np.inf else 0.0
        run.proof = Proof(now.lower_bound, now.nodes, stage=stage, share=share)
        better = now.medoids != self.assignment.medoids
        if better:
            self.assignment = self._rows.assign(now.medoids)
        elif restarts or now.gap == np.inf or now.gap > _NARROWER * self._gap:
            return
        self._gap = now.gap
        run.step(
            "restart" if restarts else "proof",
            self.assignment,
            references=problem.n,
            candidates=now.restart if restarts else now.nodes,
            position={"proof": {**now.state(), "seed": self._seed}},
        )
        if run.stopped:
            raise _Stopped
