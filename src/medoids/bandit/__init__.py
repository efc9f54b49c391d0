"""Best-arm search over arms that share references. Only the arms, and the cache of their distances, know of medoids.

Each arm i has a mean over the same finite set of references, and the search wants the arm with the lowest, looking at
as few references as it can. An arm may have several faces (the paper's *virtual arms*: one look at a reference serves
all of them); its lowest face counts. A search is two choices::

    (the caller)    which references, in which order       fresh draws | one fixed permutation, with a cache
    arms.py         what an arm is                         pairs | points with virtual arms

``bounds.py`` says when an arm may be dropped, and ``search.py`` has the loop: successive elimination by batches.
"""

from medoids.bandit.bounds import Independent
from medoids.bandit.search import Arms, Survivors, search

__all__ = ["Arms", "Independent", "Survivors", "search"]
