"""What the exact algorithms share.

- ``matrix.py``: the distance matrix, and its rows, exact where that matters.
- ``carried_sums.py``: losses of all additions and swaps, updated from step to step.
- ``computed.py``: the same without a matrix, where distances are cheap.
- ``start.py``: sums and the initial medoids.
- ``kernels.py``: the loops.

Imports ``core`` and what is below it.
"""
