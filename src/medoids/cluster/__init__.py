"""One fit over shards of the data: the search of ``algorithms`` where nobody holds all rows.

::

    driver   pairedpam.py   the steps and rules of PairedPAM            posing.py   what is true of all rows together
             search.py      arms, wherever they are                     guests.py   rows that every shard has copies of
             pool.py        asks all shards                             messages.py what is sent
    worker   shard.py       answers: its rows, their nearest medoids    host.py     own rows and copies of others
             arms.py        its arms against references from anywhere   reading.py  a partition as rows

A shard computes with the same levels, moments and kernels as a fit on one machine, and knows nothing of Dask; nothing
of the size of the data reaches the driver. May import ``algorithms`` and what is below it.
"""
