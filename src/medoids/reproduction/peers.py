"""Other packages on the same data: each is fitted on one core and returns the rows of its medoids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

__all__ = ["PEERS", "Peer", "is_installed"]

_SCIKIT_LEARN_METRIC = {"l2": "euclidean", "l1": "manhattan", "cosine": "cosine"}


@dataclass(frozen=True)
class Peer:
    """A package and how it is called."""

    package: str  # the name for pip
    module: str
    title: str
    fit: Callable[[Any, int, str, int], Any]


def _banditpam(X: Any, k: int, metric: str, seed: int) -> Any:
    from banditpam import KMedoids

    model = KMedoids(n_medoids=k, algorithm="BanditPAM", parallelize=False)
    model.seed = seed
    model.fit(X, {"l2": "L2", "l1": "L1", "cosine": "cos"}[metric])
    return model.medoids


def _kmedoids(X: Any, k: int, metric: str, seed: int) -> Any:
    import kmedoids
    from sklearn.metrics import pairwise_distances

    return kmedoids.fasterpam(pairwise_distances(X, metric=metric), k, random_state=seed, n_cpu=1).medoids


def _onebatch(X: Any, k: int, metric: str, seed: int) -> Any:
    from onebatch import OneBatchPAM

    return OneBatchPAM(k, distance=_SCIKIT_LEARN_METRIC[metric], random_state=seed).fit(X).medoid_indices_


def _kmeans(X: Any, k: int, metric: str, seed: int) -> Any:
    """Return the rows nearest to the centres of k-means."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    centres = KMeans(k, n_init=1, random_state=seed).fit(X).cluster_centers_
    return pairwise_distances_argmin(centres, X, metric=_SCIKIT_LEARN_METRIC[metric])


PEERS = {
    "banditpam": Peer("banditpam", "banditpam", "banditpam", _banditpam),
    "kmedoids": Peer("kmedoids", "kmedoids", "kmedoids.fasterpam", _kmedoids),
    "onebatch": Peer("onebatch", "onebatch", "OneBatchPAM", _onebatch),
    "KMeans": Peer("scikit-learn", "sklearn", "KMeans(n_init=1)", _kmeans),
}


def is_installed(algorithm: str) -> bool:
    """Return whether an algorithm can be run here: ours always, a peer if its package is installed."""
    return algorithm not in PEERS or find_spec(PEERS[algorithm].module) is not None
