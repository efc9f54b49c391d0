"""What a distance is. The ground floor: knows nothing of medoids.

Everything above sees one protocol (``protocol.py``), blocks of distances between numbered objects::

    registry.py ─── a name or a callable, and data ──>  Dissimilarity
                                                          block(rows, columns)        to look for candidates
      inner_product.py   euclidean, cosine: BLAS          exact_block(rows, columns)  to decide, in float64
      elementwise.py     manhattan, ...: kernels.py       take(rows)                  among some of the objects
      sparse.py sets.py  CSR rows; jaccard of sets        cross(queries)              to new objects
      strings.py         edit distances: rapidfuzz
      series.py          dynamic time warping
      gower.py           tables of mixed columns
      trees.py           tree edit distance
      haversine.py       latitude and longitude
      precomputed.py     a matrix
      callables.py       the user's own f(a, b), as calls.py calls it
      counting.py        wraps any of them and counts blocks
      scaled.py          wraps one of vectors whose squares would leave float64

    vocabulary.py (numbers for tokens, labels, members)    objects.py (rows of whatever X is)
    mapped.py (arrays in files)

May import ``engine`` and nothing else of the package.
"""

from medoids.distances.calls import Calls
from medoids.distances.counting import Count, Counted, Tally
from medoids.distances.objects import count_rows, take_rows
from medoids.distances.protocol import Dissimilarity, Facts, Floats, Index
from medoids.distances.registry import (
    METRICS,
    MetricInfo,
    available_metrics,
    dissimilarity,
    find_metric,
    kind_of,
    kinds_of,
    names_of_kind,
)
from medoids.engine.budget import SMALL
from medoids.engine.mapped import is_mapped, release

__all__ = [
    "METRICS",
    "SMALL",
    "Calls",
    "Count",
    "Counted",
    "Dissimilarity",
    "Facts",
    "Floats",
    "Index",
    "MetricInfo",
    "Tally",
    "available_metrics",
    "count_rows",
    "dissimilarity",
    "find_metric",
    "is_mapped",
    "kind_of",
    "kinds_of",
    "names_of_kind",
    "release",
    "take_rows",
]
