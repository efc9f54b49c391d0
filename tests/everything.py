"""The algorithms that take any dissimilarity; those that need a metric have tests of their own."""

from medoids.algorithms import ALGORITHMS
from medoids.settings import METRIC_ALGORITHMS

ANY_METRIC = [name for name in ALGORITHMS if name not in METRIC_ALGORITHMS]
