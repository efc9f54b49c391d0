"""k-medoids clustering of anything, with the answer that PAM would give.

Three floors, imports point down only::

    faces        estimator.py  functional.py  dask.py  cli/  reporting/  plot.py  demo.py      what people touch
    algorithms   algorithms/ (one file an algorithm)  bandit/ (best-arm search)  assignment.py  initialization.py
                 selection.py  silhouettes.py  certificate.py      which k; how good
                 sharded/ (the same search where nobody holds all rows)
    ground       distances/    engine/                                what a distance is; where blocks run
    experiments  experiments/  (the paper's tables and figures)       datasets/  (its data)
    beside       validation.py inputs.py (every check and message)  clustering.py (the result)
                 fitted.py (what any fit found, for those that look at it)
                 progress.py (what a fit says)  files.py (outputs: complete, and one writer at a time)
                 checkpoints.py saved.py fingerprints.py (to go on later)  stored.py (rows in files)
                 forms.py (what values from files must look like)

Names are imported when they are first used: ``medoids --help`` answers before scikit-learn would be loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from medoids._version import __version__

if TYPE_CHECKING:
    from medoids import plot
    from medoids.api import k_medoids
    from medoids.distances import available_metrics
    from medoids.estimator import KMedoids
    from medoids.quality.certificate import Certificate, certify
    from medoids.quality.k_path import KPath, k_path
    from medoids.quality.silhouettes import Silhouette, medoid_silhouette, silhouette
    from medoids.reporting import report
    from medoids.result import Clustering, TraceRecord
    from medoids.storage.parquet_zarr import open_parquet, open_zarr

__all__ = [
    "Certificate",
    "Clustering",
    "KMedoids",
    "KPath",
    "Silhouette",
    "TraceRecord",
    "__version__",
    "available_metrics",
    "certify",
    "k_medoids",
    "k_path",
    "medoid_silhouette",
    "open_parquet",
    "open_zarr",
    "plot",
    "report",
    "silhouette",
]

_HOMES = {
    "Certificate": "medoids.quality.certificate",
    "Clustering": "medoids.result",
    "KMedoids": "medoids.estimator",
    "KPath": "medoids.quality.k_path",
    "Silhouette": "medoids.quality.silhouettes",
    "TraceRecord": "medoids.result",
    "available_metrics": "medoids.distances",
    "certify": "medoids.quality.certificate",
    "k_medoids": "medoids.api",
    "k_path": "medoids.quality.k_path",
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
