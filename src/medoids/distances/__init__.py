"""What a distance is; this room knows nothing of medoids. It may import ``engine`` and nothing else of the package.

Everything above sees one protocol, blocks of distances between numbered objects::

    block(rows, columns)        to look for candidates
    exact_block(rows, columns)  to decide, in float64
    take(rows)                  the same distance among some of the objects
    cross(queries)              distances to new objects

Files:

    protocol.py       the protocol, and what only searches and clusters need
    registry.py       a name or a callable, and data -> a distance
    working_copy.py   vectors of which searches read a transformed copy; of these
    inner_product.py    euclidean, sqeuclidean, cosine, correlation: BLAS
    elementwise.py      manhattan, chebyshev, canberra and others: loops over coordinates
    transformed.py    seuclidean, mahalanobis, jensenshannon: others of these after a transformation of the rows
    encoded.py        objects that are translated into arrays first; of these
    booleans.py         rows of truth values: dice, yule and others
    known.py            euclidean where values are missing
    gower.py            tables of mixed columns, by the types of gower_types.py
    haversine.py        latitude and longitude
    series.py           dynamic time warping and its relatives
    sparse.py           CSR rows, and jaccard of sets
    strings.py          edit distances: rapidfuzz
    trees.py            tree edit distance
    precomputed.py    a matrix
    callables.py      the user's own f(a, b)
    calls.py          how a Python function is called: processes, and each pair once
    scaling.py        whether vectors need another unit, and which
    scaled.py         wraps a distance of vectors whose squares would leave the range of float64
    counting.py       wraps any distance and counts
    budgeted.py       wraps any distance and computes no more than a budget allows
    objects.py        rows of any kind of X
    kernels/          Numba kernels, one file for each kind
"""

from medoids.distances.budgeted import Allowance, Budgeted
from medoids.distances.calls import Calls
from medoids.distances.counting import Count, Counted, Tally
from medoids.distances.haversine import Degrees
from medoids.distances.objects import count_points, count_rows, take_rows
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
    restored,
    takes_gaps,
)
from medoids.distances.transformed import Scaling
from medoids.engine.budget import SMALL
from medoids.engine.mapped import is_mapped, release

__all__ = [
    "METRICS",
    "SMALL",
    "Allowance",
    "Budgeted",
    "Calls",
    "Count",
    "Counted",
    "Degrees",
    "Dissimilarity",
    "Facts",
    "Floats",
    "Index",
    "MetricInfo",
    "Scaling",
    "Tally",
    "available_metrics",
    "count_points",
    "count_rows",
    "dissimilarity",
    "find_metric",
    "is_mapped",
    "kind_of",
    "kinds_of",
    "names_of_kind",
    "release",
    "restored",
    "take_rows",
    "takes_gaps",
]
