"""One fit whose points are with the workers of a cluster: the search and the steps are those of one machine.

::

    driver   sharded.py  where the points are, for the search      survey.py   what is true of all rows together
             pool.py     asks all workers                          messages.py what is sent
             on_dask.py  workers of a Dask cluster                 channel.py  connections to them
    worker   worker.py   its rows, and a shard of them             host.py     own rows and copies of others
             reading.py  a partition as rows

A worker computes with the same `Shard` as a fit on one machine, and knows nothing of Dask. Of the size of the data, the
driver has a few numbers for each row: its weight, and its place in the order of the tree. May import ``algorithms`` and
what is below it.
"""
