"""Where blocks of work run.

The ground floor, beside ``distances``: a thread pool that maps kernels over chunks, and the one Numba policy.
Imports nothing from the rest of the package.
"""
