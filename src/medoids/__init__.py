"""k-medoids clustering of anything, with the answer that PAM would give.

The tree shows the architecture. Imports point down only, and a test checks it::

    faces        estimator.py  loading.py  api.py (k_medoids)  dask.py  cli/  reporting/  plot.py  demo.py
                 reproduction/ (the paper's experiments)  datasets/ (its data)
    quality/     how good, and which k: silhouettes, certificates, paths over k
    pipeline.py  from X and settings to a result: the one way that all faces take
    cluster/     the search where no machine holds all rows
    algorithms/  one file each, named as in the literature
    exact/  paired/  bandit/  optimal/      what the algorithms share: the matrix; PairedPAM's and BanditPAM's searches;
                                            restarts, lower bounds and proofs on a matrix
    core/        the problem, the run, the nearest medoids of each point, how a search starts and descends
    settings.py  inputs.py  result.py       the keywords; what X may be; what a fit returns
    progress.py  callbacks.py  wording.py   what a fit says while it runs
    storage/     checkpoints, fingerprints of data, outputs, rows in Parquet and Zarr
    distances/   what a distance is; knows nothing of medoids
    engine/      where blocks of work run: threads, interrupts, compiled kernels, and every tuned constant

Names are imported when they are first used, so that ``medoids --help`` need not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from medoids._version import __version__

if TYPE_CHECKING:
    from medoids import plot
    from medoids.api import k_medoids
    from medoids.distances import available_metrics
    from medoids.estimator import KMedoids
    from medoids.loading import load
    from medoids.quality.certificate import Certificate, certify
    from medoids.quality.k_path import KPath, k_path
    from medoids.quality.silhouettes import Silhouette, medoid_silhouette, silhouette
    from medoids.quality.typical import ClusterMedoids, cluster_medoids
    from medoids.reporting import report
    from medoids.result import Clustering, Outlook, TraceRecord
    from medoids.storage.parquet_zarr import open_parquet, open_zarr

__all__ = [
    "Certificate",
    "ClusterMedoids",
    "Clustering",
    "KMedoids",
    "KPath",
    "Outlook",
    "Silhouette",
    "TraceRecord",
    "__version__",
    "available_metrics",
    "certify",
    "cluster_medoids",
    "k_medoids",
    "k_path",
    "load",
    "medoid_silhouette",
    "open_parquet",
    "open_zarr",
    "plot",
    "report",
    "silhouette",
]

_HOMES = {
    "Certificate": "medoids.quality.certificate",
    "ClusterMedoids": "medoids.quality.typical",
    "Clustering": "medoids.result",
    "KMedoids": "medoids.estimator",
    "KPath": "medoids.quality.k_path",
    "Outlook": "medoids.result",
    "Silhouette": "medoids.quality.silhouettes",
    "TraceRecord": "medoids.result",
    "available_metrics": "medoids.distances",
    "certify": "medoids.quality.certificate",
    "cluster_medoids": "medoids.quality.typical",
    "k_medoids": "medoids.api",
    "k_path": "medoids.quality.k_path",
    "load": "medoids.loading",
    "medoid_silhouette": "medoids.quality.silhouettes",
    "open_parquet": "medoids.storage.parquet_zarr",
    "open_zarr": "medoids.storage.parquet_zarr",
    "report": "medoids.reporting",
    "silhouette": "medoids.quality.silhouettes",
}


def __getattr__(name: str) -> Any:
    if name == "plot":
        return import_module("medoids.plot")
    if name not in _HOMES:
        raise AttributeError(f"module 'medoids' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
