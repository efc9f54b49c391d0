"""The algorithms, one file each, named as in the literature.

An algorithm is a function of a `Problem` (points, weights, k, limits) and a `Run` (threads, random numbers, trace, and
what is needed to resume) that returns a `Solution` (medoids, and whether it ended by its own rule). ``auto.py`` chooses
among them. Imports ``exact``, ``paired``, ``bandit``, ``optimal`` and what is below these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from medoids.algorithms.active import active
from medoids.algorithms.alternate import alternate
from medoids.algorithms.banditpam import banditpam
from medoids.algorithms.clara import clara
from medoids.algorithms.clarans import clarans
from medoids.algorithms.eager import eagerpam
from medoids.algorithms.fastermsc import fastermsc, fastmsc
from medoids.algorithms.fasterpam import fasterpam
from medoids.algorithms.fastpam1 import fastpam1
from medoids.algorithms.fastpam2 import fastpam
from medoids.algorithms.optimal import optimal
from medoids.algorithms.pairedpam import pairedpam
from medoids.algorithms.pam import pam
from medoids.algorithms.tabu import tabu
from medoids.core.problem import Problem, Solution
from medoids.core.run import Run

__all__ = ["ALGORITHMS", "RATIO_ALGORITHMS"]


def _paired_or_eager(problem: Problem, run: Run) -> Solution:
    """PairedPAM along PAM's path, or with eager swaps."""
    return eagerpam(problem, run) if problem.swap == "eager" else pairedpam(problem, run)


ALGORITHMS: dict[str, Callable[[Problem, Run], Solution]] = {
    "pairedpam": _paired_or_eager,
    "banditpam": banditpam,
    "banditpam+va": partial(banditpam, virtual=True),
    "banditpam+pic": partial(banditpam, cached=True),
    "banditpam++": partial(banditpam, virtual=True, cached=True),
    "pam": pam,
    "fastpam1": fastpam1,
    "fastpam": fastpam,
    "fasterpam": fasterpam,
    "alternate": alternate,
    "clara": clara,
    "clarans": clarans,
    "optimal": optimal,
    "tabu": tabu,
    "active": active,
}
# What some of them do with objective="medoid_silhouette".
RATIO_ALGORITHMS: dict[str, Callable[[Problem, Run], Solution]] = {
    "fasterpam": fastermsc,
    "fastpam1": fastmsc,
    "pam": fastmsc,
}
