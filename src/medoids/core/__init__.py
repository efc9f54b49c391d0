"""What every algorithm works with: the problem, the run, who is nearest to whom, and how a search starts and descends.

Imports ``distances``, ``storage`` and ``engine``, never an algorithm.
"""
