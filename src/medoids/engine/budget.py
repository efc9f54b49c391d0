"""Every chunk size, latency, threshold and cost that was tuned, once, each with what it was measured by."""

from __future__ import annotations

__all__ = [
    "ARMS_PER_CHUNK",
    "BOUND_POINTS",
    "CHUNK_NS",
    "COPY_SHARE",
    "DEAR_NS",
    "FINALISTS_PER_CHUNK",
    "KEPT_BYTES",
    "KEPT_SHARE",
    "MATRIX_ENTRIES",
    "MEDOIDS_PER_CHUNK",
    "PAIRED_COUNTS",
    "PASS_SECONDS",
    "POINTS_PER_CHUNK",
    "POINTS_PER_UPDATE",
    "PROBE_ROWS",
    "RELEASE_CHUNKS",
    "REMEMBERED_SHARE",
    "ROWS_PER_QUERY",
    "SILHOUETTE_ENTRIES",
    "SMALL_DEAR",
    "STEP_SECONDS",
    "SUM_TILE",
    "TILE_EDGE",
    "TIMED_DISTANCES",
]

# --- Searches: work per chunk -----------------------------------------------------------------------------------------

# Nanoseconds of distances that one chunk computes: a key press should act within a few tenths of a second.
CHUNK_NS = 1.5e8
# Points per chunk of exact distances: with 16 medoids, 512 KB of them.
POINTS_PER_CHUNK = 4096
# Medoids per chunk. Up to this many, `exact_block` sums directly instead of through BLAS, so the digits do not depend
# on batching.
MEDOIDS_PER_CHUNK = 16
# Chunks after which pages of a memory-mapped X are released: 262,144 rows.
RELEASE_CHUNKS = 64
# Points whose nearest medoids are updated at a time, so that temporary arrays stay small beside the state.
POINTS_PER_UPDATE = 1 << 16
# Rows of new data that are compared with the medoids at a time.
ROWS_PER_QUERY = 1 << 18
# Arms per chunk: with BanditPAM's batch of 100 references it stays in a core's cache.
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

# Nanoseconds from which on a distance is dear, such as a callable or an edit distance of long texts.
DEAR_NS = 1_000.0
# Seconds of reading an entry of the matrix and updating a sum, and of one step of the moments of a point.
PASS_SECONDS, STEP_SECONDS = 2e-9, 9e-6
# PairedPAM's distances per point are a + b k, at a factor to their price: (a, b, factor) for cheap and dear distances,
# which come in smaller rounds.
PAIRED_COUNTS = {"cheap": (600, 110, 1.5), "dear": (250, 75, 1.0)}
# Rows of the block whose largest distance is looked at, and which is timed for a callable.
PROBE_ROWS = {"cheap": 256, "dear": 6}
# Up to this many objects, dear distances make a small matrix.
SMALL_DEAR = 300
# Distances that are timed to estimate how long the final assignment takes.
TIMED_DISTANCES = {"cheap": 4096, "dear": 16}
