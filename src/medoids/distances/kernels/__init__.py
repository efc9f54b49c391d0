"""Numba kernels of the distances, one file a kind; imported when they are first needed, since Numba takes a second."""
