"""Numba kernels of the distances, one file for each kind; imported when first needed, since Numba takes a second."""
