"""What a distance is. The ground floor: knows nothing of medoids.

Everything above sees one protocol (``protocol.py``), blocks of distances between numbered objects::

    registry.py ─── a name or a callable, and data ──>  Dissimilarity
                                                          block(rows, columns)        to look for candidates
      inner_product.py   euclidean, cosine: BLAS          exact_block(rows, columns)  to decide, in float64
      elementwise.py     manhattan, ...: kernels.py       take(rows)                  among some of the objects
      precomputed.py     a matrix                         cross(queries)              to new objects
      callables.py       the user's own f(a, b)
      counting.py        wraps any of them and counts blocks

May import ``engine`` and nothing else of the package.
"""

from medoids.distances.counting import Count, Counted, Tally
from medoids.distances.protocol import Dissimilarity, Floats, Index
from medoids.distances.registry import METRICS, SMALL, dissimilarity, find_metric, kind_of

__all__ = [
    "METRICS",
    "SMALL",
    "Count",
    "Counted",
    "Dissimilarity",
    "Floats",
    "Index",
    "Tally",
    "dissimilarity",
    "find_metric",
    "kind_of",
]
