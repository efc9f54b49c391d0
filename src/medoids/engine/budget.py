"""Every chunk size, latency, threshold and cost that was tuned, once, each with what it was measured by.

Limits that follow from a number format (where squares overflow, say) stand beside the formula that needs them. Kernels
take constants from here when they are compiled: after a change, delete the compiled files in ``__pycache__``.

Times are of a shared machine with two cores and AVX-512; MNIST is 70,000 x 784, covertype 581,012 x 54.
``docs/notes/experiments.md`` lists the experiments.
"""

from typing import NamedTuple

__all__ = [
    "ARMS_PER_CHUNK",
    "BOUND_POINTS",
    "CHEAP_NS",
    "CHUNK_ENTRIES",
    "CHUNK_NS",
    "CONSTANT_SHARE",
    "COPY_SHARE",
    "COSTLY_NS",
    "COSTS",
    "DEAR_NS",
    "EAGER_ADVANTAGE",
    "EAGER_COUNTS",
    "FEW_PRODUCTS",
    "FEW_ROWS",
    "FINALISTS_PER_CHUNK",
    "KEPT_BYTES",
    "KEPT_SHARE",
    "MATRIX_ENTRIES",
    "MEDOIDS_PER_CHUNK",
    "MEMBERS_PER_BATCH",
    "NARROW_COLUMNS",
    "NEAR_DIFFERENCE",
    "NEAR_PRODUCT",
    "NEAR_SPARSE",
    "PAIRED_COUNTS",
    "PASS_SECONDS",
    "POINTS_PER_CHUNK",
    "POINTS_PER_UPDATE",
    "PROBE_ROWS",
    "PRODUCT_RUN",
    "RELEASE_CHUNKS",
    "REMEMBERED_SHARE",
    "ROWS_PER_QUERY",
    "SCIPY_COORDINATES",
    "SERIES_LANES",
    "SILHOUETTE_ENTRIES",
    "SMALL",
    "SMALL_DEAR",
    "SPARSE_TABLE",
    "SPILL_BYTES",
    "START_SECONDS",
    "STEP_SECONDS",
    "SUM_SECONDS",
    "SUM_TILE",
    "TASKS_PER_WORKER",
    "TASK_SECONDS",
    "TILE_COLUMNS",
    "TILE_COORDINATES",
    "TILE_EDGE",
    "TIMED_DISTANCES",
    "TRIAL_CALLS",
    "VECTOR_LANES",
    "Cost",
]

# --- Work per chunk: Ctrl-C and the time limit are checked between chunks ---------------------------------------------

# Nanoseconds of distances that one chunk computes: a key press should act within a few tenths of a second.
CHUNK_NS = 1.5e8
# Numbers of an array that one pass handles: 8 MB in float64, so that temporaries stay small.
CHUNK_ENTRIES = 1 << 20
# Bytes of a working copy on disk that are written after one sweep over X, each from front to back. Also the memory that
# this takes, so not measured: more means fewer sweeps.
SPILL_BYTES = 1 << 28
# Seconds of calls of a Python metric in one task of a worker process: a thousand times the 0.1 ms that sending a task
# takes. Fewer calls than this stay in this process.
TASK_SECONDS = 0.1
# Tasks that each worker is given before Ctrl-C is checked again: one second.
TASKS_PER_WORKER = 10
# Calls that are timed in this process before others are sent away.
TRIAL_CALLS = 16

# --- Which implementation takes over at what size ---------------------------------------------------------------------

# Up to this many points everything runs in float64 through NumPy and scipy: exact, and without the 0.7 s that importing
# Numba takes.
SMALL = 3_000
# Coordinates in n^2 distances from which on scipy's loops, at 0.2 to 1.8 ns each, take longer than importing Numba.
SCIPY_COORDINATES = 10**9
# Blocks of about this many rows are computed pair by pair. Exact distances from 16 rows to 20,000 x 784 take 91 ms so
# and 157 ms by a product, from 32 rows 317 and 196 ms; under manhattan, tiles win by a third at 16 rows of 54 columns.
FEW_ROWS = 16
# Up to this many rows are multiplied one by one: of 70,000 rows of MNIST one takes BLAS 6 ms, two together 17 and apart
# 10, four 15 and 14.
FEW_PRODUCTS = 3
# Constant columns are left out of products if they are at least this share of all, which is the time that it saves. On
# MNIST 20,000 they are 88 of 784, and a fit with k = 100 takes 3.7 to 4.2 s instead of 4.5 to 4.7.
CONSTANT_SHARE = 1 / 32

# --- Tile sizes: what caches and registers hold -----------------------------------------------------------------------

# Numbers that a kernel handles at a time: a cache line of float32, one AVX-512 register. Also sparse rows of a pass.
VECTOR_LANES = 16
# Series of one length that are compared with another at the same time. Each step of a path waits for the one before, so
# one series alone would leave the processor idle: a pair of length 100 takes 13 us, 171 with one lane, 11 with 64.
SERIES_LANES = 32
# Entries of the table that sparse rows are spread into: 16 MB for each thread, with fewer rows a pass for more columns.
SPARSE_TABLE = 1 << 21
# Columns summed side by side and coordinates of them: 32 KB in float32, a core's nearest cache. With 54 coordinates a
# pair then takes 4 ns instead of 14.
TILE_COLUMNS, TILE_COORDINATES = 256, 32
# Products finished before near pairs among them are looked for: a loop without a branch is four times as fast.
PRODUCT_RUN = 128

# --- Accuracy: below this share of the rows' norms, a distance is computed again from the original rows ---------------

# Up to this number of columns differences are faster than products: with 2 they take 0.3 ns instead of 1.1, with 4 as
# long. Among few columns many pairs are so near that products have lost their digits.
NARROW_COLUMNS = 3
# Of squared norms, by the size in bytes of the numbers. In float32, 0.005 leaves errors of 1e-6 of the norms; at 0.02,
# half a digit safer, a quarter of all time on covertype went into near pairs.
NEAR_PRODUCT = {4: 0.005, 8: 1e-5}
# Rounding a row to float32 moves it by 6e-8 of its norm: above this share, four digits of a distance remain.
NEAR_DIFFERENCE = 1e-3
# Of sums over nonzeros in float64: above this share, twelve digits of a difference remain.
NEAR_SPARSE = 1e-4

# --- Searches: work per chunk -----------------------------------------------------------------------------------------

# Points per chunk of exact distances: with 16 medoids, 512 KB of them.
POINTS_PER_CHUNK = 4096
# Medoids per chunk. Up to this many, `exact_block` sums directly instead of through BLAS, so the digits do not depend
# on batching.
MEDOIDS_PER_CHUNK = 16
# Chunks after which pages of a memory-mapped X are released: 262,144 rows, or fewer.
RELEASE_CHUNKS = 64
# Points whose nearest medoids are updated at a time, so that temporary arrays stay small beside the state.
POINTS_PER_UPDATE = 1 << 16
# Rows of new data that are compared with the medoids at a time.
ROWS_PER_QUERY = 1 << 18
# Arms per chunk: with BanditPAM's batch of 100 references it stays in a core's cache, and products are fast.
ARMS_PER_CHUNK = 1024
# Finalists whose rows are compared exactly at a time: 64 rows of 70,000 points are 36 MB.
FINALISTS_PER_CHUNK = 64
# Entries of the matrix that one chunk reads: 512 MB in float32, which memory delivers in well under a second.
MATRIX_ENTRIES = 1 << 27
# Largest number of rows of a tile of the matrix, which stays in a core's cache while it is computed and mirrored.
TILE_EDGE = 512
# Arms of a tile of carried sums, at least and at most, and tiles for each thread: the sums stay in cache while the
# references stream by.
SUM_TILE = (2048, 8192, 2)
# Entries of a block of distances for silhouettes: 32 MB in float64.
SILHOUETTE_ENTRIES = 1 << 22
# Members of a cluster whose sums are computed first, in the search for its medoid; batches then grow to 16 times that.
MEMBERS_PER_BATCH = 16
# Points per chunk of the distances that a lower bound rests on.
BOUND_POINTS = 256

# --- Searches: memory -------------------------------------------------------------------------------------------------

# Rows of distances from all medoids are kept up to this size, or up to this share of memory_limit if that is more.
KEPT_BYTES, KEPT_SHARE = 1 << 26, 8
# Share of memory_limit for remembered values of a callable, besides what an algorithm stores.
REMEMBERED_SHARE = 8
# The working copy of a memory-mapped X stays in memory up to this share of memory_limit.
COPY_SHARE = 4

# --- What "auto" takes: fitted to MNIST, letter and words, n = 1,000 to 70,000, k = 5 to 50 ---------------------------

# Nanoseconds below which a distance is computed again rather than stored and gathered, which takes about as long.
CHEAP_NS = 3.0
# Nanoseconds from which on searches save distances rather than sums: series under dtw take 862, words 300 and more.
COSTLY_NS = 100.0
# Nanoseconds from which on a distance is dear, such as a callable or an edit distance of long texts.
DEAR_NS = 1_000.0
# Seconds of reading an entry of the matrix and updating a sum, and of one step of the moments of a point.
PASS_SECONDS, STEP_SECONDS = 7e-10, 4e-6
# Eager swaps, from fits of eight tables: distances per point as a + b k, seconds of a sum over one, and of the start.
EAGER_COUNTS, SUM_SECONDS, START_SECONDS = (2500, 100), 1e-9, 0.1
# PAM's own path is left where it would take this many times as long.
EAGER_ADVANTAGE = 3.0
# PairedPAM's distances per point are a + b k, at a factor to their price: (a, b, factor) for cheap and dear distances,
# which come in smaller rounds.
PAIRED_COUNTS = {"cheap": (600, 110, 1.5), "dear": (250, 75, 1.0)}
# Rows of the block whose largest distance is looked at, and which is timed for a callable.
PROBE_ROWS = {"cheap": 256, "dear": 6}
# Up to this many objects, dear distances make a small matrix.
SMALL_DEAR = 300
# Distances that are timed to estimate how long the final assignment takes.
TIMED_DISTANCES = {"cheap": 4096, "dear": 16}

# --- Cost model -------------------------------------------------------------------------------------------------------


class Cost(NamedTuple):
    """Nanoseconds of one distance on one core: a part for the pair and a part for each element of it."""

    pair: float
    element: float = 0.0

    def of(self, elements: float) -> float:
        """Return the cost of a pair with this number of elements."""
        return self.pair + self.element * elements


# Rough on purpose, and mostly too high: costs set chunk sizes and the choice of an algorithm, which must not depend on
# the machine. The comments give the elements and what one core took.
COSTS = {
    "precomputed": Cost(1.0),
    "product": Cost(1.0, 0.02),  # columns, 12 ns for 784; a matrix product in float32
    "difference, float32": Cost(2.0, 0.065),  # columns, 17 ns for 784
    "difference, float64": Cost(2.0, 0.5),  # columns, 96 ns for 784
    "power": Cost(2.0, 20.0),  # columns, 167 ns for 50; |x - y|^p
    "boolean": Cost(10.0, 0.02),  # columns, 12 ns for 64; a matrix product and a formula
    "gower": Cost(5.0, 1.5),  # columns, 4 ns for 30
    "haversine": Cost(60.0),  # 18 ns
    "sparse": Cost(10.0, 0.6),  # nonzeros of a row, 23 ns for 100
    "warping": Cost(50.0, 0.2),  # cells of the table of paths, 7,200 ns for 22,500
    "bits": Cost(15.0, 0.05),  # pairs of characters, 160 ns for 3,600; edit distances by 64-bit words
    "cells": Cost(15.0, 2.0),  # pairs of characters, 310 ns for 64; edit distances cell by cell
    "trees": Cost(50.0, 2.0),  # pairs of forests, 11,600 ns for 2,500
    "callable": Cost(10_000.0),  # 1,500 ns for a line of NumPy
    "jitted": Cost(20.0, 10.0),  # columns, 1,000 ns for 784
}
