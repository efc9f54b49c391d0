"""k-medoids clustering of anything, with the answer that PAM would give.

Three floors, imports point down only::

    faces        estimator.py  functional.py  demo.py                 what people touch; no arithmetic
    algorithms   algorithms/ (one file an algorithm)  bandit/ (best-arm search)  assignment.py  initialization.py
    ground       distances/    engine/                                what a distance is; where blocks run
    beside       validation.py inputs.py (every check and message)  clustering.py (the result)
                 progress.py (what a fit says)
"""

from medoids._version import __version__
from medoids.clustering import Clustering, TraceRecord
from medoids.distances import available_metrics
from medoids.estimator import KMedoids
from medoids.functional import k_medoids

__all__ = ["Clustering", "KMedoids", "TraceRecord", "__version__", "available_metrics", "k_medoids"]
