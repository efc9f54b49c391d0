"""PairedPAM's search: nested strata of references, bounds on means, and pivots; on one machine and on a cluster.

::

    search.py     the search: drops arms level by level              start.py    medoids of a sample, for eager swaps
    places.py     what a fit needs of where its points are           order.py    which points are references
    local.py      all points in one shard, called directly           medoid_rows.py  exact rows of the medoids
    shard.py      judges its arms, and sums over its points          view.py     references under the current medoids
    store.py      distances from arms to references                  kernels.py  the loops, and the formulas of bounds
    merging.py    equal points, taken as one

``search.py`` knows shards only by `Places`, so that ``cluster`` can put them elsewhere. Imports ``exact``, ``optimal``,
``core`` and what is below these.
"""
