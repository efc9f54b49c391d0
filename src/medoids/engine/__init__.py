"""How work runs: the lowest room, which imports nothing from the rest of the package.

arrays.py      types of arrays in signatures
budget.py      every tuned number: chunk sizes, tile sizes, thresholds, costs
callers.py     the line of the user's code that a warning belongs to
compile.py     how Numba compiles kernels
compiling.py   listeners that are called when a kernel is compiled
interrupts.py  Ctrl-C and the time limit, checked between chunks of work
mapped.py      arrays in files: pages given back, temporary files
threads.py     chunks of work over a pool of threads
"""
