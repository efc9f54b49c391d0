"""Medoids of the cells of an AnnData object; neither anndata nor scanpy is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from medoids.api import k_medoids
from medoids.result import Clustering

__all__ = ["kmedoids"]


def kmedoids(
    adata: Any, n_clusters: int, *, use_rep: str | None = None, key_added: str = "kmedoids", **settings: Any
) -> Clustering:
    """Cluster the observations of an AnnData object, and write the result into it.

    Parameters
    ----------
    adata : AnnData
        Gains ``obs[key_added]``, the cluster of each observation as a category; ``obs[key_added + "_distance"]``, the
        distance to its medoid; and ``uns[key_added]`` with the names (``medoids``) and rows (``medoid_indices``) of the
        medoids, ``loss``, ``algorithm`` and ``params``.
    n_clusters : int
    use_rep : str, optional
        What to compare: "X", a key of ``adata.obsm`` or, with ``metric="precomputed"``, of ``adata.obsp``. By default
        "X_pca" where there is one, else "X".
    key_added : str, default="kmedoids"
    **settings
        As for `k_medoids`, such as ``metric``, ``sample_weight`` or ``random_state``.

    Returns
    -------
    Clustering
    """
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "uns", "obs_names")):
        raise TypeError(f"kmedoids takes an AnnData object; got {type(adata).__name__}. Use k_medoids for other data")
    rep, X = _representation(adata, use_rep)
    found = k_medoids(X, n_clusters, **settings)
    from pandas import Categorical  # which anndata brings along

    categories = [str(cluster) for cluster in range(len(found.medoid_indices))]
    adata.obs[key_added] = Categorical([str(label) for label in found.labels], categories=categories)
    adata.obs[f"{key_added}_distance"] = found.distances
    adata.uns[key_added] = {
        "medoids": np.asarray(adata.obs_names)[found.medoid_indices].astype(str),
        "medoid_indices": found.medoid_indices,
        "loss": found.loss,
        "algorithm": found.algorithm,
        "params": {"n_clusters": n_clusters, "use_rep": rep, "metric": str(settings.get("metric", "euclidean"))},
    }
    return found


def _representation(adata: Any, use_rep: str | None) -> tuple[str, Any]:
    rep = ("X_pca" if "X_pca" in adata.obsm else "X") if use_rep is None else use_rep
    if rep == "X":
        if adata.X is None:
            raise ValueError(f"adata.X is None; pass use_rep, one of {[*adata.obsm, *adata.obsp]}")
        return rep, adata.X
    if rep in adata.obsm:
        return rep, adata.obsm[rep]
    if rep in adata.obsp:
        matrix = adata.obsp[rep]
        if hasattr(matrix, "toarray"):
            raise ValueError(
                f"adata.obsp[{rep!r}] is sparse: what is not stored has no distance; pass use_rep='X_pca' or another "
                "key of obsm"
            )
        return rep, matrix
    raise ValueError(f"use_rep={rep!r} is unknown; it must be 'X' or one of {[*adata.obsm, *adata.obsp]}")
