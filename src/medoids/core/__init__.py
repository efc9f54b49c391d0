"""What every algorithm works with.

- ``problem.py``: what is to be solved (frozen), and the solution.
- ``run.py``: one run: threads, counts, random numbers, trace, checkpoint. ``Run.step`` records a step.
- ``assignment.py``: the nearest and second nearest medoid of each point, and the one rule for accepting a swap.
- ``rows.py``: where rows of distances come from.
- ``initialization.py``, ``local_search.py``, ``cut_short.py``: how a search starts, descends and ends early.
- ``lowest_sums.py``: the members of a group with the lowest sums of distances.
- ``tree.py``, ``tree_kernels.py``: an order of points in which neighbours are near each other.
- ``shares.py``, ``sampling.py``: references of similar weight; samples with enough candidates.

Imports ``result``, ``storage``, ``distances`` and ``engine``, never an algorithm.
"""
